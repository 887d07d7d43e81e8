"""What judging takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recollect.types import Record

# "outdated": about an earlier time than a known record that has replaced it since.
VerdictKind = Literal["new", "duplicate", "enriches", "supersedes", "contradicts", "outdated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A record that is near the new one. ``similarity`` is their cosine, None if not compared."""

    record: Record
    similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Known texts, by their hashes, that the speaker corrected, and those that they may have."""

    corrected: frozenset[str] = frozenset()
    doubted: frozenset[str] = frozenset()

    @property
    def hashes(self) -> tuple[str, ...]:
        return tuple(sorted(self.corrected | self.doubted))


NOBODY = Named()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a new record is to the known ones; ``targets`` are those it concerns."""

    kind: VerdictKind
    targets: tuple[Record, ...] = ()
    reason: str = ""

    @property
    def target(self) -> Record | None:
        return self.targets[0] if self.targets else None
