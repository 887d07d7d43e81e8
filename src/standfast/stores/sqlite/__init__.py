"""One SQLite file, shared safely by several processes. SQL lives here and nowhere else."""

from pathlib import Path

from standfast.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "open_address"]


async def open_address(address: str, *, cache_bytes: int) -> SqliteStore:
    """``sqlite:///path``, or a path."""
    path = Path(address.removeprefix("sqlite:").removeprefix("//")).expanduser()
    return await SqliteStore.open(path, cache_bytes=cache_bytes)
