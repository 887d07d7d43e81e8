"""Where memories are kept. Every store passes ``recollect.testing.StoreContract``."""
