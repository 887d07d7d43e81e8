"""The console: a page that looks into a memory, served from files inside of the package.

It has no rights of its own. It asks the same ``/v1`` as everybody with the key of whoever looks, so
what it can do, curl can do. The pages bring their own scripts and styles; a browser is told to load
nothing from anywhere else and to run nothing that is written inside of a page.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PREFIX = "/console/"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "font-src 'none'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-src 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-cache",
}


class StaticFile(NamedTuple):
    """A file of the page; the tag changes with what is in it."""

    content: bytes
    kind: str
    tag: str


@cache
def console_files() -> dict[str, StaticFile]:
    """By address: every file there is, read once. Nothing else is ever served."""
    found = {PREFIX + name: _read(file) for name, file in _below(files(__name__) / "static", "")}
    return {"/": found[f"{PREFIX}index.html"], **found}


def _below(folder: Traversable, inside: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for file in folder.iterdir():
        if file.is_dir():
            found += _below(file, f"{inside}{file.name}/")
        elif "." + file.name.rpartition(".")[2] in TYPES:
            found.append((inside + file.name, file))
    return sorted(found, key=lambda one: one[0])


def _read(file: Traversable) -> StaticFile:
    content = file.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return StaticFile(content, TYPES["." + file.name.rpartition(".")[2]], tag)


def console_routes() -> list[Route]:
    return [Route(path, _serve, methods=["GET"]) for path in console_files()]


async def _serve(request: Request) -> Response:
    file = console_files()[request.url.path]
    headers = {**HEADERS, "ETag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers={**headers, "Content-Type": file.kind})
