"""What recollect is tested with, shipped for the authors of further stores."""

from recollect.testing.conformance import StoreContract

__all__ = ["StoreContract"]
