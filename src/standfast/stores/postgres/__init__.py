"""A PostgreSQL database, shared by any number of processes and machines."""

from standfast.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore", "open_address"]


async def open_address(address: str, *, cache_bytes: int) -> PostgresStore:
    """``postgresql://user:password@host:port/database``, with whatever libpq understands behind a
    question mark; several hosts with commas between them."""
    return await PostgresStore.open(address, cache_bytes=cache_bytes)
