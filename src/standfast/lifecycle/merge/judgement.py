"""What a new record is to the ones that are known: the guards in code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from standfast.lifecycle.merge.changes import (
    concern,
    denies,
    is_restated,
    is_touched,
    replaces,
    tells_bare_value,
)
from standfast.lifecycle.merge.claims.changes import change_in
from standfast.lifecycle.merge.claims.reader import claim_in
from standfast.lifecycle.merge.claims.values import is_elsewhere, leaves_alone, sets_anew
from standfast.lifecycle.merge.focus import in_common, is_partly
from standfast.lifecycle.merge.odds import LIKELY
from standfast.lifecycle.merge.texts import adds_words, clash, is_hedged, says_more
from standfast.lifecycle.merge.topic import said_by, share_topic
from standfast.text.analysis import words
from standfast.text.claim import (
    CHANGE,
    CHANGED_BY,
    SPEAKER,
    TOLD_AT,
    Claim,
    claim_as_data,
    claim_from_data,
)
from standfast.text.compare import are_long, difference
from standfast.text.compare.parts import canonical, read
from standfast.text.dates import told_times
from standfast.text.words import counted, pattern, word_set
from standfast.types import Record
from standfast.types.frozen import frozen

# "outdated": about an earlier time than a known record that has replaced it since.
VerdictKind = Literal["new", "duplicate", "enriches", "supersedes", "contradicts", "outdated"]


@frozen
class Known:
    """A record that is near the new one. ``similarity`` is their cosine, None if not compared.
    ``bears``: how far above what is likely the meaning of the new one says that this has changed
    (``lifecycle.effect``); 0 where it does not. ``denied``: it says that this has not changed,
    whatever words of change are in it. ``odds``: that it has, by who reads both together; None
    where nobody does."""

    record: Record
    similarity: float | None = None
    bears: float = 0.0
    denied: bool = False
    odds: float | None = None

    @property
    def agreed(self) -> bool:
        """Whether who reads both says that this has changed."""
        return self.odds is not None and self.bears > 0


@frozen
class Verdict:
    """What a new record is to the known ones; ``targets`` are those it concerns. ``stands``: only
    they are in doubt, and not the record itself. ``kept``: those of them that stay as they are,
    with the record alone in doubt."""

    kind: VerdictKind
    targets: tuple[Record, ...] = ()
    reason: str = ""
    stands: bool = False
    kept: frozenset[str] = frozenset()

    @property
    def target(self) -> Record | None:
        return self.targets[0] if self.targets else None


@frozen
class Named:
    """Known texts, by their hashes, that the speaker corrected, those that they may have, and
    those that a model says in other words; and what a model told about known records, by id."""

    corrected: frozenset[str] = frozenset()
    doubted: frozenset[str] = frozenset()
    reworded: frozenset[str] = frozenset()
    told: tuple[tuple[str, str], ...] = ()

    @property
    def hashes(self) -> tuple[str, ...]:
        return tuple(sorted(self.corrected | self.doubted | self.reworded))


NOBODY = Named()
DOUBTED_MAX = 2  # by one change that cannot be placed
AGAINST: tuple[VerdictKind, ...] = ("supersedes", "contradicts", "outdated")
_NEVER = 2.0  # above any cosine: then nothing is a duplicate


@frozen(kw_only=False)
class _Finding:
    """What the new record is to one known record."""

    kind: VerdictKind
    known: Record
    reason: str
    is_change: bool = False


def judge(
    record: Record,
    known: Sequence[Known],
    *,
    duplicate_above: float,
    corrects: bool = False,
    named: Named = NOBODY,
    wary: bool = False,
    refused: bool = False,
) -> Verdict:
    """New, duplicate, enriches, supersedes, contradicts or outdated.

    Among several known records an equal one wins. Where one of the guards fails nothing is
    replaced: everything that speaks against the record is disputed. ``corrects``: the speaker
    said outright that something known is wrong, so an equal time is late enough. ``wary``: a
    change that replaces nothing disputes what it is most likely about. ``refused``: the store has
    this very text already and keeps it once.
    """
    if not corrects:
        known = [one for one in known if not _is_left_alone(record, one.record)]
    found = [
        finding
        for one in known
        if (finding := _named(record, one.record, named))
        or (finding := _finding(record, one, duplicate_above, corrects=corrects))
        or (finding := _told(record, one.record, named))
    ]
    found = _focused(record, found, known)
    here = [one for one in found if one.known.scope == record.scope and one.kind == "duplicate"]
    if here and (refused or not _is_told_anew(record, here, found)):
        return Verdict(kind="duplicate", targets=(here[0].known,), reason=here[0].reason)
    found = [replace(one, kind="supersedes") if one in here else one for one in found]
    if outdated := _of_kind(found, "outdated"):
        # What was over before it was told neither replaces nor disputes anything now.
        return _verdict("outdated", outdated)
    against = [one for one in found if one.kind in ("contradicts", "supersedes")]
    if any(one.kind == "contradicts" for one in against):
        return _standing(_verdict("contradicts", against), record, known)
    if against:
        return _verdict("supersedes", [*against, *_of_kind(found, "enriches")])
    for kind in _BY_WEIGHT:
        if chosen := _of_kind(found, kind):
            return _verdict(kind, chosen)
    if wary and (doubted := _unplaced(record, known)):
        unsure = Verdict(kind="contradicts", targets=doubted, reason="it may say that this changed")
        return _standing(unsure, record, known)
    return by_meaning(record, known) if wary else Verdict(kind="new")


def _standing(verdict: Verdict, record: Record, known: Sequence[Known]) -> Verdict:
    """Where who reads both agrees that all of it has changed, only what was told before is in
    doubt: nothing speaks against the news."""
    agreed = {one.record.id for one in known if one.agreed}
    sure = all(one.id in agreed and one.trust <= record.trust for one in verdict.targets)
    return replace(verdict, stands=sure)


def _is_left_alone(record: Record, known: Record) -> bool:
    """Never of the same text, which the store keeps once: somebody has to say that it is known."""
    return (
        record.author == known.author
        and record.hash != known.hash
        and change_in(record.text).kind != "ends"
        and leaves_alone(said_by(record.text, record.author), said_by(known.text, known.author))
    )


def _is_told_anew(record: Record, here: Sequence[_Finding], found: Sequence[_Finding]) -> bool:
    """Whether something that it surely ends was told after the same was told before: who sold the
    car, has one again and sells that has not said the same thing twice."""
    if any(one.kind == "contradicts" for one in found):
        return False  # both would stay, and a text is kept once
    if any(one.known.trust > record.trust or one.known.author != record.author for one in here):
        return False
    if any(not set(one.known.lineage).isdisjoint(record.lineage) for one in here):
        return False  # the very same words, read twice
    happened = max(one.known.at for one in here)
    told = max(one.known.learned_at for one in here)  # "in August" may be told in March
    return any(
        one.is_change and one.known.at > happened and one.known.learned_at >= told for one in found
    )


def by_meaning(record: Record, known: Sequence[Known]) -> Verdict:
    """What has changed by its meaning alone is in doubt: nothing is replaced for that."""
    may = {
        one.id
        for one in _earlier(record, known)
        if not _of_two_slots(record, one) and not _is_left_alone(record, one)
    }
    found = [one for one in known if one.bears > 0 and one.record.id in may]
    if not found:
        return Verdict(kind="new")
    likeliest = max(found, key=lambda one: one.bears).record
    reason = "its meaning says that this may have changed"
    return Verdict(kind="contradicts", targets=(likeliest,), reason=reason, stands=True)


def _of_two_slots(record: Record, known: Record) -> bool:
    claim, other = _claims(record, known)
    return bool(claim and other) and not _same_matter(record, known)


# While so little is known of somebody, a change is likely about that.
FEW = 2


def _focused(record: Record, found: list[_Finding], known: Sequence[Known]) -> list[_Finding]:
    """Without what is only in the same field as a change, where something is known that it is
    about, or much is known: each further statement is one more that it may seem to be about."""
    changed = [one for one in found if one.is_change]
    if not changed:
        return found
    if anew := {one.known.id for one in changed if one.reason == ANEW}:
        return [one for one in found if not one.is_change or one.known.id in anew]
    touched = _closest(record, [one.known for one in changed if _is_touched(record, one.known)])
    if not touched and len(_own(record, known)) <= FEW:
        return found
    return [one for one in found if not one.is_change or one.known.id in touched]


def _closest(record: Record, known: Sequence[Record]) -> set[str]:
    """Without those that share less of its words than another one does: "withdrawn Chidi from
    Abeokuta" is about his school there, and not about his illness."""
    shared = {one.id: in_common(record.text, record.author, one.text, one.author) for one in known}
    return {
        id_
        for id_, words_ in shared.items()
        if not any(words_ < other for other in shared.values())
    }


def _is_touched(record: Record, known: Record) -> bool:
    return is_touched(record.text, record.author, known.text, known.author, cue_of(record))


def _is_restated(record: Record, known: Record) -> bool:
    claim, other = _claims(record, known)
    hours = claim and other and _HOUR.search(claim.value) and _HOUR.search(other.value)
    if claim and other and hours and _on_other_days(claim.value, other.value):
        return False  # an hour of two days: there may be two
    return is_restated(record.text, record.author, known.text, known.author)


def _own(record: Record, known: Sequence[Known]) -> list[Record]:
    """What its author has told of themselves and theirs."""
    return [
        one.record
        for one in known
        if one.record.author == record.author
        and one.record.kind == "semantic"
        and one.record.status == "active"
    ]


def cue_of(record: Record) -> str:
    """The words of a change that were said, where they are not in its text."""
    cue = record.data.get(CHANGE)
    return cue if isinstance(cue, str) else ""


def between(record: Record, other: Record) -> VerdictKind:
    """What a record is to another by what both say, however near their meanings are."""
    return judge(record, [Known(record=other)], duplicate_above=_NEVER).kind


def _unplaced(record: Record, known: Sequence[Known]) -> tuple[Record, ...]:
    """The known records that a change is most likely about, though that is not sure."""
    own = _earlier(record, known)
    denied = {one.record.id for one in known if one.denied}
    few, own = len(own) <= FEW, [one for one in own if one.id not in denied]
    bare = tells_bare_value(record)
    near = [one for one in own if bare or few or _is_touched(record, one)]
    likely = _likely(record, near)
    if bare and len(likely) > DOUBTED_MAX:
        return ()  # it may be a value of anything
    likely = likely or [one for one in own if _is_restated(record, one)]
    if not likely and not bare:
        # Much else is known that it may be about: nothing is replaced, nor kept in silence.
        likely = _likely(record, [one for one in own if _is_told_of(record, one)])[:1]
    return tuple(likely[:DOUBTED_MAX])


def _likely(record: Record, known: Sequence[Record]) -> list[Record]:
    """Those that a change is likely about, the likeliest first."""
    weights = {
        one.id: concern(record.text, record.author, one.text, one.author, cue_of(record))
        for one in known
    }
    found = [one for one in known if weights[one.id] >= LIKELY]
    return sorted(found, key=lambda one: -weights[one.id])


def _is_told_of(record: Record, known: Record) -> bool:
    """Whether it tells a change of a known one by its words."""
    claim, other = _claims(record, known)
    return bool(_changed(record, claim, known, other))


def _earlier(record: Record, known: Sequence[Known]) -> list[Record]:
    """What its author has told before it, and may be otherwise since. A guess of somebody who is
    trusted less puts nothing in doubt."""
    if record.kind != "semantic" or record.status == "quarantined":
        return []
    return [
        one
        for one in _own(record, known)
        if one.type != "user_request"
        and one.trust <= record.trust
        and _reached(record) > one.at
        and set(one.lineage).isdisjoint(record.lineage)
        and not _goes_on(record, one)
    ]


def _goes_on(record: Record, known: Record) -> bool:
    """ "I changed jobs": who goes on with "I work for the library now" says what to."""
    return record.session == known.session != "" and change_in(known.text).kind == "changes"


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
    if are_long(record.text, known.text):
        return None
    if record.status == "quarantined":
        return None  # what is held back is compared when it is approved
    if known.kind != record.kind or known.kind == "episodic" or not _share_time(record, known):
        return None
    against = _against(record, known)
    guessed = against.is_change and against.reason != ANEW and not _is_sure(record, known)
    if not against or (guessed and one.denied and not corrects):
        return _same(record, one, above)
    if known.status == "quarantined":
        return None
    fate = _fate(record, known, against, corrects=corrects, agreed=one.agreed)
    return _Finding(fate, known, against.reason, is_change=against.is_change)


def _is_sure(record: Record, known: Record) -> bool:
    """Whether a few words say an end, and little else: "my Volvo was stolen" to who drives one."""
    said = said_by(record.text, record.author)
    if len(said.split()) > FEW_WORDS or change_in(said).kind != "ends":
        return False
    found = concern(record.text, record.author, known.text, known.author, cue_of(record))
    return found >= SURE


def _named(record: Record, known: Record, named: Named) -> _Finding | None:
    """What the speaker pointed at themselves. No text corrects itself: said again after a doubt
    it is known already, and two that say the same can not both live."""
    if known.id == record.id or known.type == "turn" or known.hash not in named.hashes:
        return None
    if known.hash == record.hash:
        return None
    if record.author != known.author or known.status == "quarantined":
        return None
    if known.hash in named.reworded:
        return _Finding("enriches", known, "a model says it in other words")
    if known.hash in named.corrected and record.trust >= known.trust:
        return _Finding("supersedes", known, "its speaker corrected it")
    return _Finding("contradicts", known, "its speaker corrected something like it")


def _told(record: Record, known: Record, named: Named) -> _Finding | None:
    """What a model says that the record is to a known one: carried out where both are about the
    same, disputed where that is not sure."""
    kinds = {kind for kind, id_ in named.told if id_ == known.id}
    if not kinds or known.id == record.id or known.type == "turn" or known.kind != record.kind:
        return None
    if "quarantined" in (record.status, known.status) or not _same_speaker(record, known):
        return None
    claim, other = _claims(record, known)
    if claim and other and not same_slot(record, claim, known, other):
        return None  # a home is no allergy, whatever a model says
    same = _same_matter(record, known)
    if "duplicate" in kinds:
        if same and not difference(known.text, record.text):
            return _Finding("duplicate", known, "a model says that it is the same")
        kinds = kinds - {"duplicate"} or {"contradicts"} if same else kinds - {"duplicate"}
    if kinds & {"supersedes", "corrects"}:
        if same and record.trust >= known.trust and _reached(record) >= known.at:
            return _Finding("supersedes", known, "a model says that it replaces this")
        return _Finding("contradicts", known, "a model says that it replaces this")
    if "contradicts" in kinds and same:
        return _Finding("contradicts", known, "a model says that it contradicts this")
    return None


def _same_matter(record: Record, known: Record) -> bool:
    """Whether two records are about the same subject, as far as words tell."""
    claim, other = _claims(record, known)
    if claim is not None and other is not None:
        return same_slot(record, claim, known, other)
    return share_topic(record.text, record.author, known.text, known.author)


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


@frozen(kw_only=False)
class _Against:
    """``is_change``: the record tells a change, whatever the date of it."""

    reason: str
    is_same_slot: bool
    is_change: bool = False

    def __bool__(self) -> bool:
        return bool(self.reason)


def _against(record: Record, known: Record) -> _Against:
    """Why both cannot be true at once; empty if they can."""
    if record.kind != "semantic":
        return _Against("", is_same_slot=False)
    claim, other = _claims(record, known)
    if claim is not None and other is not None and same_slot(record, claim, known, other):
        if reason := conflict(claim, other):
            return _Against(reason, is_same_slot=True)
        if claim.value == other.value and denies(record.text) == denies(known.text):
            return _Against("", is_same_slot=False)
    if reason := _changed(record, claim, known, other):
        return _Against(reason, is_same_slot=True, is_change=True)
    apart = claim is not None and other is not None and _are_apart(record, claim, known, other)
    if apart:
        return _Against("", is_same_slot=False)
    reason = clash(record.text, known.text) if _same_speaker(record, known) else ""
    said = [said_by(one.text, one.author) for one in (record, known)]
    if not reason and record.author == known.author and is_elsewhere(*said):
        reason = "another place is known"
    return _Against(reason, is_same_slot=False)


def _are_apart(record: Record, claim: Claim, known: Record, other: Claim) -> bool:
    """Two slots, or one on two days."""
    return not same_slot(record, claim, known, other) or _on_other_days(claim.value, other.value)


def _changed(record: Record, claim: Claim | None, known: Record, other: Claim | None) -> str:
    """Why the record tells the end or a change of the known one; "" if it does not."""
    if record.author != known.author or "user_request" in (record.type, known.type):
        return ""
    if claim is not None and other is not None and {claim.slot, other.slot} in _BESIDE:
        return ""
    if sets_anew(said_by(record.text, record.author), said_by(known.text, known.author)):
        return ANEW
    return replaces(record.text, record.author, known.text, known.author, cue_of(record))


SURE, FEW_WORDS = 0.85, 6  # of a rule: no guess by meaning overrules it
ANEW = "it gives this another value"  # in so many words: no guess may overrule it

# A change of this long before a statement is still told as news.
RECENTLY = timedelta(days=62)

# Who changes their employer may still have their job.
_BESIDE: tuple[set[str], ...] = ({"job", "employer"}, {"job", "field"}, {"employer", "field"})


def _reached(record: Record) -> datetime:
    """When what the record tells had surely begun."""
    noted = _noted(record, CHANGED_BY)
    if noted is None and record.valid_from is None and (year := _past_year(record)):
        return year
    return max(record.at, noted or record.at)


def _past_year(record: Record) -> datetime | None:
    """The end of a year long past in which a text says that it happened, where nobody said when
    it was true: "sold my motorcycle in 2022" changes nothing that was told since."""
    if pattern("statements.now").search(record.text):
        return None
    for span in told_times(record.text[:DATED_MAX], record.at):
        if span.explicit_year and not span.relation and span.end < record.at - RECENTLY:
            return span.end
    return None


_HOUR = re.compile(r"\d")
_DEATH = re.compile(r"\b(?:died|passed away|is dead|was put (?:down|to sleep)|was killed)\b")
DATED_MAX = 400  # characters: what is longer tells more than one thing


def _noted(record: Record, name: str) -> datetime | None:
    told = record.data.get(name)
    try:
        moment = datetime.fromisoformat(told) if isinstance(told, str) else None
    except ValueError:
        return None
    return moment if moment and moment.tzinfo else None


def _is_overtaken(state: Record, change: Record) -> bool:
    """Was it told between a change shortly before and the report of that change? Who moved last
    month did not live elsewhere last week: the later word speaks against the earlier one."""
    told = _noted(change, TOLD_AT)
    if told is None or not state.at < told:
        return False
    return timedelta() <= state.at - _reached(change) <= RECENTLY


def _fate(
    record: Record, known: Record, against: _Against, *, corrects: bool, agreed: bool
) -> VerdictKind:
    """Replace it, dispute it, or file it behind what came later. ``agreed``: who reads both says
    that it is over."""
    if max(record.at, known.at) > max(record.learned_at, known.learned_at):
        return "new"  # one of them is not true yet: both hold
    reached = _reached(record)
    if against.is_change and reached <= known.at:
        # It tells of a time before; but who died then does not live now.
        return "contradicts" if _DEATH.search(record.text) else "new"
    if _is_overtaken(known, record) or _is_overtaken(record, known):
        return "contradicts"
    if record.trust < known.trust or not (against.is_same_slot or corrects or agreed):
        return "contradicts"
    if not corrects and is_partly(record.text, record.author, known.text, known.author):
        return "contradicts"
    if reached > known.at or (corrects and reached == known.at):
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
    claim, other = _claims(record, known)
    if claim is None or other is None:
        return True
    return same_slot(record, claim, known, other) and claim.negated == other.negated


def _same_speaker(record: Record, known: Record) -> bool:
    """ "I" of two authors are two people."""
    if record.author == known.author:
        return True
    persons = read(record.text).persons | read(known.text).persons
    return not persons & word_set("compare.first_person")


# The claims of records: when do two of them speak against each other?


def claim_of(record: Record) -> Claim | None:
    """The claim that a record carries, or that its text makes. Only facts make claims: an
    episode tells what happened once."""
    if record.kind != "semantic":
        return None
    return claim_from_data(record.data) or claim_in(record.text, speaker=record.author)


def _claims(record: Record, known: Record) -> tuple[Claim | None, Claim | None]:
    """Of both. They are compared with each other only: where the new record makes none, the known
    one is not read for its own."""
    claim = claim_of(record)
    return claim, claim_of(known) if claim is not None else None


def with_claim(record: Record, claim: Claim | None = None) -> Record:
    """The record with its claim in ``data``, where the stores find it by its slot. Fields of
    the same names that the caller put there are left alone."""
    made = claim or claim_of(record)
    if made is None or not {"subject", "slot", "value"}.isdisjoint(record.data):
        return record
    return replace(record, data={**record.data, **claim_as_data(made)})


def same_subject(record: Record, claim: Claim, known: Record, other: Claim) -> bool:
    """Speakers without a name are told apart by who wrote the record."""
    if claim.subject != other.subject:
        return False
    about_speaker = claim.subject == SPEAKER or claim.subject.startswith(f"{SPEAKER}'")
    return not about_speaker or record.author == known.author


def same_slot(record: Record, claim: Claim, known: Record, other: Claim) -> bool:
    return claim.slot == other.slot and same_subject(record, claim, known, other)


def conflict(claim: Claim, other: Claim) -> str:
    """Why two claims about the same slot cannot both hold; "" if they can."""
    named = claim.slot in _NAMING
    ours, theirs = _words_of(claim.value, named=named), _words_of(other.value, named=named)
    if ours == theirs:
        return "" if claim.negated == other.negated else "the opposite is known"
    # "hamburg" and "hamburg, near the port" are no two homes.
    if claim.negated or other.negated or ours <= theirs or theirs <= ours:
        return ""
    if _on_other_days(claim.value, other.value):
        return ""
    if claim.exclusive and other.exclusive:
        return f"another {claim.slot} is known"
    return ""


def _on_other_days(value: str, other: str) -> bool:
    """A standup at 9:30 on Monday and one at 10:30 on Tuesday are two. With a word that says a
    change they are not, but that is not for claims to say."""
    days = counted("dates.weekdays").keys()
    ours, theirs = days & set(value.split()), days & set(other.split())
    return bool(ours and theirs and ours != theirs)


# Their values are names, and a name has no other forms: Boots is not Boot.
_NAMING = frozenset(("employer", "home", "name"))


def _words_of(value: str, *, named: bool = False) -> frozenset[str]:
    found = words(value) if named else map(canonical, words(value))
    return frozenset(found) or frozenset({value})
