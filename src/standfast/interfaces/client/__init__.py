"""The Python client: a memory on a server, with the same verbs and the same results."""

from __future__ import annotations

from standfast.interfaces.client.connection import SECONDS, Connection
from standfast.interfaces.client.remote import RemoteMemory

__all__ = ["RemoteMemory", "connect"]


async def connect(url: str, key: str | None = None, *, timeout: float = SECONDS) -> RemoteMemory:
    """A memory on the server at ``url``; Unavailable if nobody answers there."""
    line = Connection(url, key, timeout)
    try:
        await line.reach()
    except BaseException:
        await line.close()
        raise
    return RemoteMemory(line)
