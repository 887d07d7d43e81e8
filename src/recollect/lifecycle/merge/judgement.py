"""What a new record is to the ones that are known: the guards in code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from recollect.lifecycle.merge.claims import claim_of, conflict, same_slot
from recollect.lifecycle.merge.texts import adds_words, clash, is_hedged, says_more
from recollect.text.compare import difference
from recollect.text.compare.parts import read
from recollect.text.words import word_set
from recollect.types import Record

# "outdated": about an earlier time than a known record that has replaced it since.
VerdictKind = Literal["new", "duplicate", "enriches", "supersedes", "contradicts", "outdated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A record that is near the new one. ``similarity`` is their cosine, None if not compared."""

    record: Record
    similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a new record is to the known ones; ``targets`` are those it concerns."""

    kind: VerdictKind
    targets: tuple[Record, ...] = ()
    reason: str = ""

    @property
    def target(self) -> Record | None:
        return self.targets[0] if self.targets else None


AGAINST: tuple[VerdictKind, ...] = ("supersedes", "contradicts", "outdated")
_NEVER = 2.0  # above any cosine: then nothing is a duplicate


@dataclass(frozen=True, slots=True)
class _Finding:
    """What the new record is to one known record."""

    kind: VerdictKind
    known: Record
    reason: str


def judge(
    record: Record, known: Sequence[Known], *, duplicate_above: float, corrects: bool = False
) -> Verdict:
    """New, duplicate, enriches, supersedes, contradicts or outdated.

    Among several known records an equal one wins. Where one of the guards fails nothing is
    replaced: everything that speaks against the record is disputed. ``corrects``: the speaker
    said outright that something known is wrong, so an equal time is late enough.
    """
    found = [
        finding
        for one in known
        if (finding := _finding(record, one, duplicate_above, corrects=corrects))
    ]
    here = [one for one in found if one.known.scope == record.scope and one.kind == "duplicate"]
    if here:
        return Verdict(kind="duplicate", targets=(here[0].known,), reason=here[0].reason)
    if outdated := _of_kind(found, "outdated"):
        # What was over before it was told neither replaces nor disputes anything now.
        return _verdict("outdated", outdated)
    against = [one for one in found if one.kind in ("contradicts", "supersedes")]
    if any(one.kind == "contradicts" for one in against):
        return _verdict("contradicts", against)
    if against:
        return _verdict("supersedes", [*against, *_of_kind(found, "enriches")])
    for kind in _BY_WEIGHT:
        if chosen := _of_kind(found, kind):
            return _verdict(kind, chosen)
    return Verdict(kind="new")


def between(record: Record, other: Record) -> VerdictKind:
    """What a record is to another by what both say, however near their meanings are."""
    return judge(record, [Known(record=other)], duplicate_above=_NEVER).kind


_BY_WEIGHT: tuple[VerdictKind, ...] = ("enriches", "duplicate")


def _of_kind(found: Iterable[_Finding], kind: VerdictKind) -> list[_Finding]:
    return [one for one in found if one.kind == kind]


def _verdict(kind: VerdictKind, found: Sequence[_Finding]) -> Verdict:
    if kind == "outdated":  # the first change after it is what ended it
        found = [min(found, key=lambda one: one.known.at)]
    targets = {one.known.id: one.known for one in found}
    reason = next(one.reason for one in found if one.kind == kind)
    return Verdict(kind=kind, targets=tuple(targets.values()), reason=reason)


def _finding(record: Record, one: Known, above: float, *, corrects: bool) -> _Finding | None:
    known = one.record
    if known.id == record.id or known.type == "turn":
        return None
    if record.hash and known.hash == record.hash:
        return _Finding("duplicate", known, "the same text is known")
    if record.status == "quarantined":
        return None  # what is held back is compared when it is approved
    if known.kind != record.kind or known.kind == "episodic" or not _share_time(record, known):
        return None
    against = _against(record, known)
    if not against:
        return _same(record, one, above)
    if known.status == "quarantined":
        return None
    return _Finding(_fate(record, known, against, corrects=corrects), known, against.reason)


def _share_time(record: Record, known: Record) -> bool:
    """Is there a time at which both are said to be true?"""
    ends = [
        one.valid_to is not None
        and other.valid_from is not None
        and other.valid_from >= one.valid_to
        for one, other in ((record, known), (known, record))
    ]
    return not any(ends)


# Speaking against it


@dataclass(frozen=True, slots=True)
class _Against:
    reason: str
    is_same_slot: bool

    def __bool__(self) -> bool:
        return bool(self.reason)


def _against(record: Record, known: Record) -> _Against:
    """Why both cannot be true at once; empty if they can."""
    if record.kind != "semantic":
        return _Against("", is_same_slot=False)
    claim, other = claim_of(record), claim_of(known)
    if claim is not None and other is not None:
        if not same_slot(record, claim, known, other):
            return _Against("", is_same_slot=False)
        if reason := conflict(claim, other):
            return _Against(reason, is_same_slot=True)
    reason = clash(record.text, known.text) if _same_speaker(record, known) else ""
    return _Against(reason, is_same_slot=False)


def _fate(record: Record, known: Record, against: _Against, *, corrects: bool) -> VerdictKind:
    """Replace it, dispute it, or file it behind what came later."""
    if max(record.at, known.at) > max(record.learned_at, known.learned_at):
        return "new"  # one of them is not true yet: both hold
    if record.trust < known.trust or not (against.is_same_slot or corrects):
        return "contradicts"
    if record.at > known.at or (corrects and record.at == known.at):
        return "supersedes"
    dated = record.valid_from is not None and known.valid_from is not None
    if dated and against.is_same_slot and record.at < known.at:
        return "outdated"
    return "contradicts"


# Saying the same


def _same(record: Record, one: Known, above: float) -> _Finding | None:
    """Merging keeps the known text, so a text that adds something takes its place instead; if
    it may not do that, both stay."""
    known = one.record
    if not _same_speaker(record, known) or not _claims_fit(record, known):
        return None
    near = one.similarity is not None and one.similarity > above
    # Cosine alone never decides: a number, a name or a "not" makes two statements of two
    # alike sentences.
    alike = near and known.valid_to == record.valid_to and not difference(known.text, record.text)
    adds = alike and adds_words(record.text, known.text)
    if alike and not adds:
        said = f"says the same as a known one (cosine {one.similarity:.2f})"
        return _Finding("duplicate", known, said)
    if record.trust < known.trust or "quarantined" in (record.status, known.status):
        return None
    if says_more(record.text, known.text) or (adds and not is_hedged(record.text, known.text)):
        return _Finding("enriches", known, "says more than a known one")
    return None


def _claims_fit(record: Record, known: Record) -> bool:
    claim, other = claim_of(record), claim_of(known)
    if claim is None or other is None:
        return True
    return same_slot(record, claim, known, other) and claim.negated == other.negated


def _same_speaker(record: Record, known: Record) -> bool:
    """ "I" of two authors are two people."""
    if record.author == known.author:
        return True
    persons = read(record.text).persons | read(known.text).persons
    return not persons & word_set("compare.first_person")
