"""What standfast is tested with, shipped for the authors of further stores."""

from standfast.testing.conformance import StoreContract

__all__ = ["StoreContract"]
