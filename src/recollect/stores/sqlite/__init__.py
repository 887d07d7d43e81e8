"""One SQLite file, shared safely by several processes. SQL lives here and nowhere else."""

from recollect.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
