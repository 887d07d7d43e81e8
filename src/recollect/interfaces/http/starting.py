"""The first start: a key for whoever started the server, and three ways to connect."""

from __future__ import annotations

import json
from collections.abc import Iterator

from recollect import identity
from recollect.engine import Engine
from recollect.errors import Invalid
from recollect.interfaces.http.callers import is_loopback
from recollect.types import ALL_RIGHTS

FIRST_KEY = "first start"


async def check_and_admit(engine: Engine, host: str) -> str:
    """The secret of the first key, or "" if there are keys. Invalid if others could connect and
    nobody has a key that works."""
    if not is_loopback(host) and not await identity.any_key_works(engine):
        raise Invalid(
            f"{host} can be reached from other machines, and no key works; make one first: "
            "recollect keys create --scope user:ann (or --right admin for all scopes), "
            "or listen on 127.0.0.1"
        )
    if await identity.any_key_was_made(engine):
        return ""
    _, secret = await identity.create_key(
        engine, name=FIRST_KEY, rights=sorted(ALL_RIGHTS), actor="serve"
    )
    return secret


def greeting(address: str, secret: str) -> Iterator[str]:
    """What the person who started it reads."""
    yield f"recollect listens on {address}"
    if not secret:
        yield "Keys exist; make another: recollect keys create --scope user:ann"
        return
    yield ""
    yield "Your admin key, for every scope. It is shown once; keep it safe:"
    yield ""
    yield f"    {secret}"
    yield ""
    yield "Connect with curl:"
    yield ""
    yield from _indented(curl_line(address, secret))
    yield ""
    yield "Connect an MCP client:"
    yield ""
    yield from _indented(mcp_configuration(address, secret))
    yield ""
    yield "Connect from Python:"
    yield ""
    yield from _indented(python_snippet(address, secret))
    yield ""
    yield "Make keys for others: recollect keys create --scope user:ann"


def curl_line(address: str, secret: str) -> str:
    return (
        f"curl {address}/v1/remember -H 'Authorization: Bearer {secret}' "
        """-H 'Content-Type: application/json' -d '{"text": "Deploys go out on Tuesdays"}'"""
    )


def mcp_configuration(address: str, secret: str) -> str:
    server = {
        "type": "http",
        "url": f"{address}/mcp",
        "headers": {"Authorization": f"Bearer {secret}"},
    }
    return json.dumps({"mcpServers": {"recollect": server}}, indent=2)


def python_snippet(address: str, secret: str) -> str:
    return "\n".join(
        (
            "from recollect import Memory",
            "",
            f'with Memory.connect("{address}", key="{secret}") as memory:',
            '    print(memory.recall("when do we deploy?"))',
        )
    )


def _indented(text: str) -> Iterator[str]:
    yield from (f"    {line}" if line else "" for line in text.split("\n"))
