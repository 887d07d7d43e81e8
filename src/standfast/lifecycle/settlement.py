"""From a verdict to what is written: rows, edges and what to tell the caller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from standfast.lifecycle.status import disputed, past, released, superseded
from standfast.ports import NewId
from standfast.scopes import is_within
from standfast.types import LIVE, Durability, ItemStatus, Record, Relation, RelationKind
from standfast.types.arguments import TAGS_MAX
from standfast.types.frozen import frozen
from standfast.understanding.judging.decisions import Action

# "outdated": about an earlier time than a known record that has replaced it since.
VerdictKind = Literal[
    "new", "duplicate", "enriches", "supersedes", "ends", "contradicts", "outdated"
]  # fmt: skip
STRENGTH: tuple[Durability, ...] = ("ephemeral", "standard", "core")


@frozen
class Verdict:
    """What a new record is to the known ones; ``targets`` are those it concerns. ``stands``: only
    they are in doubt, and not the record itself; ``kept``: those of them that stay as they are,
    with the record alone in doubt. ``doubted``: known ones that are in doubt beside what else
    happens."""

    kind: VerdictKind
    targets: tuple[Record, ...] = ()
    reason: str = ""
    stands: bool = False
    kept: frozenset[str] = frozenset()
    doubted: tuple[Record, ...] = ()

    @property
    def target(self) -> Record | None:
        return self.targets[0] if self.targets else None


def verdict_of(decided: Sequence[tuple[Record, Action]]) -> Verdict:
    """One verdict of what is to be done about each known record. A record that is in doubt itself
    ends nothing: what it would have ended stays as it is."""
    by: dict[Action, list[Record]] = {}
    for known, action in decided:
        by.setdefault(action, []).append(known)
    same, changed = by.get("merge", []), _changed(by)
    if same and not _is_told_anew(same, changed):
        return Verdict(kind="duplicate", targets=tuple(same), reason="it is known")
    if later := by.get("file"):
        first = min(later, key=lambda one: one.at)  # the first change after it is what ended it
        return Verdict(kind="outdated", targets=(first,), reason="it is of an earlier time")
    known_only, both = by.get("question_known", []), by.get("question_both", [])
    if by.get("question_new") or both:
        kept = [*by.get("question_new", []), *changed]
        targets = (*kept, *both, *known_only)
        return _against(targets, kept=frozenset(one.id for one in kept))
    if not changed:
        return _against(tuple(known_only), stands=True) if known_only else Verdict(kind="new")
    kinds: tuple[tuple[Action, VerdictKind], ...] = (
        ("supersede", "supersedes"), ("end", "ends"), ("enrich", "enriches"),
    )  # fmt: skip
    kind = next(kind for action, kind in kinds if by.get(action))
    reason = "says more than a known one" if kind == "enriches" else ""
    targets = (*changed, *same)
    return Verdict(kind=kind, targets=targets, reason=reason, doubted=tuple(known_only))


def _changed(by: Mapping[Action, list[Record]]) -> list[Record]:
    return [*by.get("supersede", []), *by.get("end", []), *by.get("enrich", [])]


def _is_told_anew(same: Sequence[Record], changed: Sequence[Record]) -> bool:
    """Whether something that it ends was told after the same was told before: who sold the car,
    has one again and sells that has not said the same thing twice."""
    return any(
        all(one.at > other.at and one.trust >= other.trust for other in same) for one in changed
    )


def _against(
    targets: tuple[Record, ...], *, stands: bool = False, kept: frozenset[str] = frozenset()
) -> Verdict:
    reason = "both cannot be true as they stand"
    return Verdict(kind="contradicts", targets=targets, reason=reason, stands=stands, kept=kept)


@frozen
class Outcome:
    """What became of a record. ``id`` names the one that now says it; ``records`` and
    ``relations`` belong into one commit."""

    kind: VerdictKind = "new"
    status: ItemStatus
    id: str
    reason: str = ""
    records: tuple[Record, ...] = ()
    relations: tuple[Relation, ...] = ()


def copies(record: Record, scopes: Iterable[str], new_id: NewId) -> tuple[Record, ...]:
    """One copy of a record for each scope, itself where it is at home; all of one origin."""
    origin = record.origin or record.id
    return tuple(
        replace(record, origin=origin)
        if scope == record.scope
        else replace(record, id=new_id(), scope=scope, origin=origin, version=0)
        for scope in dict.fromkeys(scopes)
    )


def settle(
    record: Record,
    verdict: Verdict,
    *,
    now: datetime,
    new_id: NewId,
    copies: Sequence[Record] = (),
    turns: Sequence[Record] = (),
) -> Outcome:
    """What to write for a verdict. ``copies`` are the live copies of the targets in other
    scopes, ``turns`` those in which the targets were said. What lies above the record's own
    scope is never changed from below: it only gets an edge. ``new_id`` names closed copies."""
    concerned = {one.id: one for one in (*verdict.targets, *copies) if one.status in LIVE}
    within = [one for one in concerned.values() if is_within(one.scope, record.scope)]
    above = [one for one in concerned.values() if is_within(record.scope, one.scope)]
    above = [one for one in above if one.scope != record.scope]
    if verdict.kind == "duplicate":
        return _merged(record, verdict, within)
    if verdict.kind == "enriches":
        outcome = _enriched(record, verdict, within, above, now=now, new_id=new_id)
        return _with_doubts(outcome, verdict.doubted, now)
    if verdict.kind in ("supersedes", "ends"):
        outcome = _superseding(record, verdict, within, above, now=now, new_id=new_id)
        said = _edges(outcome.records[-1], "supersedes", turns, now)
        outcome = replace(outcome, relations=(*outcome.relations, *said))
        return _with_doubts(outcome, verdict.doubted, now)
    if verdict.kind == "contradicts":
        return _disputed(record, verdict, within, above, now=now)
    if verdict.kind == "outdated" and verdict.target is not None:
        return _filed(record, verdict.target, now=now)
    return Outcome(status=_fate_of(record), id=record.id, records=(record,))


def _fate_of(record: Record) -> ItemStatus:
    if record.status == "quarantined" or record.status == "disputed":
        return record.status
    return "stored"


def _merged(record: Record, verdict: Verdict, within: Sequence[Record]) -> Outcome:
    target = verdict.target
    assert target is not None
    if target.scope != record.scope:  # seen from here, but not ours to change
        copy = replace(record, origin=target.origin or target.id)
        if record.status == "active" and target.status == "disputed":
            copy = disputed(copy, by=target)
        reason = "a copy of it is visible from here already"
        return Outcome(status=_fate_of(copy), id=copy.id, reason=reason, records=(copy,))
    changed = [(one, repeated(one, record)) for one in within]
    return Outcome(
        kind="duplicate",
        status="merged",
        id=target.id,
        reason=verdict.reason,
        records=tuple(after for before, after in changed if after != before),
    )


def joined_tags(kept: Record, other: Record) -> tuple[str, ...]:
    """Those of a record, and of another's as many as it may have beside them: else who repeats a
    statement often enough makes it as large as they like."""
    fresh = sorted({*other.tags} - {*kept.tags})[: max(TAGS_MAX - len(kept.tags), 0)]
    return tuple(sorted({*kept.tags, *fresh}))


def repeated(known: Record, record: Record) -> Record:
    """What was said again adds its tags and, if it is believed no less, its weight; the text
    stays as it was first said. A held-back record that somebody more trusted says too is held
    back no longer."""
    if record.status == "quarantined":
        return known
    tagged = replace(known, tags=joined_tags(known, record))
    if record.trust < known.trust:
        return tagged
    confirmed = known.status == "quarantined" and record.trust > known.trust
    begins = [one for one in (known.valid_from, record.valid_from) if one is not None]
    return replace(
        released(tagged) if confirmed else tagged,
        importance=max(known.importance, record.importance),
        confidence=max(known.confidence, record.confidence),
        durability=max(known.durability, record.durability, key=STRENGTH.index),
        trust=record.trust,
        valid_from=min(begins, default=None),
        valid_to=known.valid_to or record.valid_to,
        expires_at=known.expires_at
        and record.expires_at
        and max(known.expires_at, record.expires_at),
    )


def _enriched(
    record: Record,
    verdict: Verdict,
    within: Sequence[Record],
    above: Sequence[Record],
    *,
    now: datetime,
    new_id: NewId,
) -> Outcome:
    """The richer record takes the place of the poorer one and says what it was made from."""
    targets = (*within, *above)
    begins = [one.valid_from for one in targets if one.valid_from is not None]
    richer = replace(
        record,
        derived_from=tuple(dict.fromkeys((*record.derived_from, *(one.id for one in targets)))),
        valid_from=record.valid_from or min(begins, default=None),
    )
    return Outcome(
        kind="enriches",
        status="merged",
        id=record.id,
        reason=f"{verdict.reason}: {_named(verdict.targets)}",
        records=(*replaced(within, richer, now=now, new_id=new_id), richer),
        relations=_edges(richer, "supersedes", targets, now),
    )


def _superseding(
    record: Record,
    verdict: Verdict,
    within: Sequence[Record],
    above: Sequence[Record],
    *,
    now: datetime,
    new_id: NewId,
) -> Outcome:
    """A change begins to be true when it was said, unless it says otherwise: so ``as_of`` an
    earlier day still finds what was true until then."""
    dated = replace(record, valid_from=record.at)
    return Outcome(
        kind=verdict.kind,
        status="stored",
        id=record.id,
        reason=f"{verdict.kind} {_named(verdict.targets)}",
        records=(*replaced(within, dated, now=now, new_id=new_id), dated),
        relations=_edges(dated, "supersedes", (*within, *above), now),
    )


def replaced(
    olds: Iterable[Record], new: Record, *, now: datetime, new_id: NewId
) -> tuple[Record, ...]:
    """The old records, retired. Where the new one says since when it is true, the old one was
    true until then: a closed copy keeps that, so ``as_of`` an earlier day still finds it, while
    ``known_at`` an earlier day finds what we believed then."""
    written: list[Record] = []
    for old in olds:
        written.append(superseded(old, now))
        if new.valid_from and (old.valid_from is None or old.valid_from < new.valid_from):
            written.append(_closed(old, new.valid_from, now=now, id_=new_id()))
    return tuple(written)


def _closed(old: Record, end: datetime, *, now: datetime, id_: str) -> Record:
    until = min(end, old.valid_to) if old.valid_to else end
    begun = old.valid_from
    if begun is None and old.learned_at < until:
        begun = old.learned_at  # nobody said since when: it was so when it was told
    return replace(
        past(old, until),
        id=id_,
        learned_at=now,
        valid_from=begun,
        derived_from=(old.id,),
        uses=0,
        used_at=None,
        version=0,
    )


def _disputed(
    record: Record,
    verdict: Verdict,
    within: Sequence[Record],
    above: Sequence[Record],
    *,
    now: datetime,
) -> Outcome:
    """Both stay, marked for a person to decide; but not the one that is trusted more, and only
    the known ones where nothing speaks against what is new but that it may have put an end to
    them."""
    most = max((*within, *above), key=lambda one: one.trust, default=None)
    doubted = record if verdict.stands else disputed(record, by=None if verdict.kept else most)
    active = [one for one in within if one.status == "active" and one.id not in verdict.kept]
    known = [after for one in active if (after := disputed(one, by=record)) is not one]
    return Outcome(
        kind="contradicts",
        status=_fate_of(doubted),
        id=record.id,
        reason=f"contradicts {_named(verdict.targets)}: {verdict.reason}",
        records=(*known, doubted),
        relations=_edges(doubted, "contradicts", (*within, *above), now),
    )


def _with_doubts(outcome: Outcome, doubted: Sequence[Record], now: datetime) -> Outcome:
    """Who says what replaces one statement may speak against another, too."""
    record = outcome.records[-1]
    within = [one for one in doubted if is_within(one.scope, record.scope)]
    marked = [after for one in within if (after := disputed(one, by=record)) is not one]
    edges = _edges(record, "contradicts", doubted, now)
    records = (*marked, *outcome.records)
    return replace(outcome, records=records, relations=(*outcome.relations, *edges))


def _filed(record: Record, later: Record, *, now: datetime) -> Outcome:
    """About an earlier time than what is known: kept as what was true until then."""
    filed = past(record, later.valid_from)
    edge = Relation(
        scope=later.scope, source=later.id, target=filed.id, kind="supersedes", learned_at=now
    )
    return Outcome(
        kind="outdated",
        status="superseded",
        id=filed.id,
        reason=f"{later.id} is known to have replaced it",
        records=(filed,),
        relations=(edge,),
    )


def _edges(
    record: Record, kind: RelationKind, targets: Iterable[Record], now: datetime
) -> tuple[Relation, ...]:
    return tuple(
        Relation(
            scope=record.scope,
            source=record.id,
            target=target.id,
            kind=kind,
            learned_at=now,
            lineage=record.lineage,
        )
        for target in targets
    )


def _named(targets: Iterable[Record]) -> str:
    return ", ".join(target.id for target in targets)
