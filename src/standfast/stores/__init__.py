"""Where memories are kept. Every store passes ``standfast.testing.StoreContract``."""
