"""From steps to rows: what a commit will hold, checked against the records as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from recollect.lifecycle.merge import replaced
from recollect.ports import NewId
from recollect.types import LIVE, Durability, Record, Relation, RelationKind
from recollect.upkeep.consolidate.steps import Step

STRENGTH: tuple[Durability, ...] = ("ephemeral", "standard", "core")
CHANGED = "it was changed meanwhile"


class Draft:
    """Collects the rows of some steps. ``new_id`` names what is kept of the past of a record
    that was true until another one replaced it."""

    def __init__(
        self,
        records: Iterable[Record],
        edges: Iterable[Relation],
        *,
        now: datetime,
        new_id: NewId,
    ) -> None:
        self._records = {record.id: record for record in records}
        self._edges: dict[tuple[str, str, str], Relation] = {
            (edge.source, edge.kind, edge.target): edge for edge in edges
        }
        self._now = now
        self._new_id = new_id
        self.records: dict[str, Record] = {}
        self.relations: dict[tuple[str, str, str], Relation] = {}

    def add(self, step: Step, expected: Mapping[str, int]) -> str:
        """Take the step in; or say why it cannot be done any more, and change nothing.
        ``expected`` are versions that our own earlier commits made of what was planned on."""
        record, why = self._current(step.id, step.version, expected)
        if record is None or why:
            return why
        kept: Record | None = None
        if step.other:
            kept, why = self._current(step.other, step.other_version, expected)
            if kept is None or why:
                return f"the other one: {why}"
        return self._write(step, record, kept)

    def _current(
        self, id_: str, version: int, expected: Mapping[str, int]
    ) -> tuple[Record | None, str]:
        record = self._records.get(id_)
        if record is None:
            return None, "it is gone"
        if record.version != expected.get(id_, version) or record.status not in LIVE:
            return record, CHANGED
        drafted = self.records.get(id_, record)
        return drafted, "" if drafted.status in LIVE else CHANGED

    def _put(self, record: Record) -> None:
        self.records[record.id] = record

    def _link(self, kept: Record, gone: Record, kind: RelationKind = "supersedes") -> None:
        key = (kept.id, kind, gone.id)
        known = self._edges.get(key)
        fresh = Relation(
            scope=kept.scope,
            source=kept.id,
            target=gone.id,
            kind=kind,
            learned_at=self._now,
            lineage=gone.lineage,
        )
        self.relations[key] = replace(known, retired_at=None) if known else fresh

    def _write(self, step: Step, record: Record, kept: Record | None) -> str:
        if step.what == "archive":
            self._put(replace(record, status="archived", retired_at=self._now))
        elif step.what == "importance":
            self._put(replace(record, importance=step.value))
        elif step.what == "settle" and record.status == "disputed":
            self._put(replace(record, status="active"))
        elif step.what == "supersede" and kept is not None and record.status == "disputed":
            for row in replaced((record,), kept, now=self._now, new_id=self._new_id):
                self._put(row)
            self._link(kept, record)
        elif step.what == "dispute" and kept is not None and _are_live(record, kept):
            self._put(_doubted(record, by=kept))
            self._put(_doubted(kept, by=record))
            self._link(record, kept, "contradicts")
        elif step.what == "merge" and kept is not None and _are_active(record, kept):
            self._put(replace(record, status="superseded", retired_at=self._now))
            self._put(joined(kept, record))
            self._link(kept, record)
        else:
            return CHANGED
        return ""


def _are_active(*records: Record) -> bool:
    return all(record.status == "active" for record in records)


def _are_live(*records: Record) -> bool:
    return all(record.status in ("active", "disputed") for record in records)


def _doubted(record: Record, *, by: Record) -> Record:
    """What is pinned as core is not put in doubt by somebody who is trusted less."""
    if record.durability == "core" and by.trust < record.trust:
        return record
    return replace(record, status="disputed")


def joined(kept: Record, gone: Record) -> Record:
    """What stays, with the tags and the weight of what goes."""
    return replace(
        kept,
        tags=tuple(sorted({*kept.tags, *gone.tags})),
        importance=max(kept.importance, gone.importance),
        confidence=max(kept.confidence, gone.confidence),
        durability=max(kept.durability, gone.durability, key=STRENGTH.index),
        trust=max(kept.trust, gone.trust),
        valid_from=_earlier(kept.valid_from, gone.valid_from),
    )


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    """Since when both held, as far as both say it."""
    return min(one, other) if one and other else one
