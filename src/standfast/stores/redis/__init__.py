"""The Redis store. ``open_address`` opens ``redis://``, ``rediss://`` and ``redis+cluster://``."""

from standfast.stores.redis.store import RedisStore, open_address

__all__ = ["RedisStore", "open_address"]
