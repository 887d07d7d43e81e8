"""Files that exports are written to and imports are read from, for whoever moves them elsewhere."""

from __future__ import annotations

from standfast.verbs.export import target_opened
from standfast.verbs.import_ import source_opened

__all__ = ["source_opened", "target_opened"]
