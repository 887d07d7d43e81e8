"""The files of the console: what is vendored is what was published, nothing is loaded from
elsewhere, nothing runs that is written inside of a page."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from standfast.interfaces.console import POLICY, console_files
from tests.architecture.source import PACKAGE
from tests.serving import served

STATIC = PACKAGE / "interfaces" / "console" / "static"
# As the packages preact 11.2.0 and htm 3.1.1 have them.
PUBLISHED = {
    "preact.js": "bdcbd9abdf2c77c5c45326eab42191e949222d479d0d5f69467387a77040cb55",
    "hooks.js": "e862ab2973aa6455eaa0f77c5d832d2157d6be59a17c8ba546550a575b58c6b4",
    "htm.js": "ab33dd3f38059b9be4d5f5350128eefb2356639c4e0bbe9d9e8b3ba75847e9e4",
}
AXE = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878"
BYTES_MAX = 250_000
OURS = sorted(path for path in STATIC.rglob("*.*") if path.is_file() and "vendor" not in path.parts)


@pytest.mark.parametrize("name", PUBLISHED)
def test_X15_what_is_vendored_is_what_was_published(name: str) -> None:
    """But for one address: a browser cannot find a bare "preact"."""
    text = (STATIC / "vendor" / name).read_text("utf-8")
    published = text.replace('from"./preact.js"', 'from"preact"')
    assert hashlib.sha256(published.encode()).hexdigest() == PUBLISHED[name]
    assert PUBLISHED[name] in (STATIC / "vendor" / "licences.txt").read_text("utf-8")


def test_the_checker_of_accessibility_is_what_was_published() -> None:
    axe = Path(__file__).parent / "vendor" / "axe.min.js"
    assert hashlib.sha256(axe.read_bytes()).hexdigest() == AXE


def test_X15_the_console_is_small() -> None:
    assert sum(path.stat().st_size for path in STATIC.rglob("*") if path.is_file()) < BYTES_MAX


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_X15_no_file_reaches_out_or_makes_markup_of_data(path: Path) -> None:
    text = path.read_text("utf-8")
    foreign = [
        url
        for url in re.findall(r"(?:https?:)?//[\w.-]+\.[a-z]{2,}", text)
        if url != "http://www.w3.org"
    ]
    assert foreign == []
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                      "new Function", "localStorage", "EventSource("):  # fmt: skip
        assert forbidden not in text, forbidden
    if path.suffix == ".html":
        assert "style=" not in text
        assert not re.search(r"<script(?![^>]*\bsrc=)", text)
        assert not re.search(r"\son\w+=", text)


def test_X15_every_module_is_asked_for_at_once() -> None:
    """Else a browser finds them one behind the other."""
    page = (STATIC / "index.html").read_text("utf-8")
    named = set(re.findall(r'(?:href|src)="/console/([^"]+\.js)"', page))
    assert named == {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js")}


def test_X15_the_page_is_served_with_a_strict_policy_and_needs_no_key() -> None:
    httpx = pytest.importorskip("httpx2")
    with served() as server, httpx.Client(base_url=server.url) as client:
        server.key()
        page = client.get("/")
        assert page.status_code == 200
        assert page.headers["content-security-policy"] == POLICY
        assert "default-src 'self'" in POLICY
        assert "unsafe" not in POLICY
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["x-frame-options"] == "DENY"
        again = client.get("/", headers={"If-None-Match": page.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        for path, file in console_files().items():
            assert client.get(path).content == file.content
        for path in ("/console/", "/console/../pyproject.toml", "/console/%2e%2e/__init__.py",
                     "/console/__init__.py", "/index.html", "/v1/records"):  # fmt: skip
            assert client.get(path).status_code in (401, 404), path
