"""What was said about an allergy, a medicine, a dose, a diagnosis, an access need or an emergency
contact is ended by the person it is about, in a plain statement of their own. Whatever else would
end it needs review, and the statement stays active meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from standfast.engine import Engine
from standfast.lifecycle.merge import AGAINST, Known, Verdict, claim_of, judge
from standfast.lifecycle.merge.changes import denies
from standfast.lifecycle.merge.claims.changes import change_in
from standfast.lifecycle.merge.texts import says_more
from standfast.lifecycle.merge.topic import said_by
from standfast.lifecycle.status import disputed
from standfast.text.claim import SPEAKER, Claim
from standfast.text.normal import caseless
from standfast.text.safety_slots import denies_slot, safety_slots
from standfast.text.words import word_set
from standfast.types import LIVE, PERSON_TRUST, Record, Relation

ENDS = "ends"  # where a record's ``data`` names the safety slots of what it ended
NEEDS_REVIEW = "a safety statement is ended by the person it is about, or after review"
_UNSURE = re.compile(
    r"[?？؟]|\b(?:maybe|perhaps|probably|possibly|might|think|guess|if|joking)\b", re.IGNORECASE
)
_MOMENT = timedelta(microseconds=1)
_OF_SPEAKER = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b", re.IGNORECASE)
_OWN_CONTACT = re.compile(r"(?:(my)|(\w+)['\u2019]s) emergency contact\b", re.IGNORECASE)
_FIRST_WORD = re.compile(r"\w+")


def is_protected(record: Record) -> bool:
    """Whether it asserts something about a safety slot. Its denial is not protected: who says that
    there is an allergy after all is believed."""
    if record.kind != "semantic" or record.type == "turn" or not safety_slots(record.text):
        return False
    return not _denies(record)


def may_end(record: Record, known: Record, *, personal: bool) -> bool:
    """Whether a record may end what is known. ``personal``: see ``is_personal``."""
    return not is_protected(known) or (personal and _is_own_word(record, known))


def may_replace(engine: Engine, record: Record, known: Record) -> bool:
    """The same where the caller names what is to be replaced: a person may also say it with more
    words."""
    if may_end(record, known, personal=is_personal(engine, record)):
        return True
    return engine.holder == "person" and says_more(record.text, known.text)


def tells_end(text: str) -> bool:
    """Whether a text may end a safety statement, as far as its words tell."""
    return bool(safety_slots(text)) and (denies(text) or change_in(text).kind == "ends")


def guarded(record: Record, verdict: Verdict, known: Sequence[Known], *, personal: bool) -> Verdict:
    """The verdict, but that nobody else ends a safety statement: then the record is disputed and
    what is known stays as it is."""
    if verdict.kind == "enriches":
        return _without(verdict, [one for one in verdict.targets if _is_anothers(record, one)])
    if verdict.kind == "duplicate" and record.status != "quarantined":
        return _confirmed(record, verdict, known, personal=personal)
    if record.status == "quarantined" or verdict.kind in ("duplicate", "outdated"):
        return verdict  # it is compared when it is approved, or ends nothing
    ended = verdict.targets if verdict.kind in ("supersedes", "contradicts") else ()
    if verdict.stands:  # a guess by meaning alone
        verdict = _without(verdict, [one for one in ended if not _is_touched(record, one)])
        ended = verdict.targets
    others = [one.record for one in known if one.record not in ended]
    changed = [one.record for one in known if _would_change(record, one)]
    ended = (*ended, *denied_by(record, others), *(one for one in changed if one in others))
    kept = [one for one in ended if is_protected(one)]
    ends = verdict.kind == "supersedes"
    if all(ends and may_end(record, one, personal=personal) for one in kept):
        return verdict
    targets = {one.id: one for one in (*verdict.targets, *kept)}
    return Verdict(
        kind="contradicts",
        targets=tuple(targets.values()),
        reason=NEEDS_REVIEW,
        kept=frozenset(one.id for one in kept),
    )


def needs_review(*known: Record) -> Verdict:
    """Of what may not replace safety statements."""
    kept = frozenset(one.id for one in known)
    return Verdict(kind="contradicts", targets=known, reason=NEEDS_REVIEW, kept=kept)


def denied_by(record: Record, known: Iterable[Record]) -> list[Record]:
    """The safety statements that a record denies."""
    return [one for one in known if _may_deny_unnamed(record, one)]


def _confirmed(
    record: Record, verdict: Verdict, known: Sequence[Known], *, personal: bool
) -> Verdict:
    """What somebody else denied before, in the same words, is carried out when the person it is
    about says so."""
    target = verdict.target
    if target is None or target.status != "disputed" or target.scope != record.scope:
        return verdict
    ended = [
        one.record
        for one in known
        if _may_deny_unnamed(record, one.record)
        and may_end(record, one.record, personal=personal)
        and record.at > one.record.at
    ]
    if not ended:
        return verdict
    return Verdict(kind="supersedes", targets=(target, *ended), reason=verdict.reason)


def outweighs(record: Record, other: Record) -> bool:
    """Whether a safety statement stays active beside what speaks against it."""
    return is_protected(record) and not is_protected(other)


def with_doubt_about(record: Record, other: Record) -> Record:
    """A record as ``other`` makes it disputed."""
    if outweighs(record, other):
        return record
    return disputed(record, by=None if outweighs(other, record) else other)


def unprotected(verdict: Verdict) -> Verdict:
    """The verdict without what it would put in doubt for its meaning alone."""
    return _without(verdict, [one for one in verdict.targets if is_protected(one)])


def with_safety_note(record: Record, verdict: Verdict) -> Record:
    """What denies a safety statement is no core memory, and says what it ended."""
    against = [one for one in verdict.targets if is_protected(one)]
    if verdict.kind not in ("supersedes", "contradicts") or not against or not _denies(record):
        return record
    usual = replace(record, durability="standard") if record.durability == "core" else record
    if verdict.kind == "contradicts":
        return usual
    slots = sorted({slot for one in against for slot in safety_slots(one.text)})
    return replace(usual, data={**record.data, ENDS: slots})


def ended_by(
    record: Record, edges: Iterable[Relation], records: Iterable[Record]
) -> frozenset[str]:
    """The safety slots that a record has ended. Its data only says where to look: anybody may write
    that, but not the edges to statements that are retired."""
    targets = {
        edge.target
        for edge in edges
        if edge.source == record.id and edge.kind == "supersedes" and edge.retired_at is None
    }
    return frozenset(
        slot
        for one in records
        if one.id in targets and (one.type == "turn" or _has_ended(one)) and ENDS in record.data
        for slot in safety_slots(one.text)
    )


def _has_ended(known: Record) -> bool:
    return known.status not in LIVE and is_protected(known)


def is_personal(engine: Engine, record: Record) -> bool:
    """Whether a person said it for themselves: in a message of theirs, or with a key that a person
    holds for nothing but their own scope. Who calls with another key, or without one, may be any
    program."""
    if record.session and record.lineage:
        return record.source == "user"
    own = engine.bound == (record.scope,) and _is_of_one_user(record.scope)
    return record.source == "user" and own and bool(engine.key) and engine.holder == "person"


def _is_own_word(record: Record, known: Record) -> bool:
    if record.trust < max(PERSON_TRUST, known.trust) or _UNSURE.search(record.text):
        return False
    who = _about(record)
    named = caseless(record.author) if record.author else SPEAKER
    if who != named or _about(known) != who:
        return False
    if record.author:
        return True
    return known.author == "" and known.scope == record.scope and _is_of_one_user(record.scope)


def _is_of_one_user(scope: str) -> bool:
    return scope.split(":")[-2] == "user"


def _about(record: Record) -> str:
    """Whom a record is about: a name, folded; SPEAKER: a speaker without a name; "" if that is not
    sure."""
    claim = claim_of(record)
    named = caseless(record.author) if record.author else SPEAKER
    if claim is not None:
        return named if claim.subject == SPEAKER else caseless(claim.subject)
    said = said_by(record.text, record.author)
    if whose := _OWN_CONTACT.match(said):
        return named if whose[1] else caseless(whose[2])
    first = _FIRST_WORD.search(said)
    if first is None or said[first.end() :].startswith(("'s ", "\u2019s ")):
        return ""
    return named if caseless(first[0]) in (*word_set("compare.first_person"), named) else ""


def _denies(record: Record) -> bool:
    claim = claim_of(record)
    if claim is not None:
        return claim.negated
    return denies_slot(record.text) or change_in(record.text).kind == "ends"


def _is_anothers(record: Record, known: Record) -> bool:
    """More words may say less: "allergic to nuts in cakes"."""
    return is_protected(known) and (_denies(record) or record.author != known.author)


def _is_touched(record: Record, known: Record) -> bool:
    """Whether a guess by meaning has a word to lean on."""
    if not is_protected(known):
        return True
    return bool(safety_slots(record.text) & safety_slots(known.text))


def _may_deny_unnamed(record: Record, known: Record) -> bool:
    """ "I am not allergic to nuts", by nobody knows whom, may be about Ann."""
    claim = claim_of(record)
    if claim is None or not claim.negated or not is_protected(known) or known.status not in LIVE:
        return False
    other = claim_of(known)
    return other is not None and _is_opposite(claim, other) and _may_be_same(record, known)


def _would_change(record: Record, known: Known) -> bool:
    """Whether it would change a safety statement of another author, had that one said it: "her
    emergency contact is Carl now"."""
    safe = known.record
    if record.author == safe.author or safe.status not in LIVE or not is_protected(safe):
        return False
    said = said_by(record.text, record.author)
    if not safety_slots(said) & safety_slots(safe.text) or _OF_SPEAKER.search(said):
        return False
    own = replace(record, author=safe.author, text=said)
    if own.at == safe.at:  # the later one of the same moment
        own = replace(own, learned_at=own.learned_at + _MOMENT, valid_from=None)
    met = Known(record=safe, similarity=known.similarity)
    return judge(own, [met], duplicate_above=1.0).kind in AGAINST


def _is_opposite(claim: Claim, other: Claim) -> bool:
    return (claim.slot, claim.value) == (other.slot, other.value) and not other.negated


def _may_be_same(record: Record, known: Record) -> bool:
    who, other = _about(record), _about(known)
    return who == other or SPEAKER in (who, other)


def _without(verdict: Verdict, dropped: Sequence[Record]) -> Verdict:
    if not dropped:
        return verdict
    ids = {one.id for one in dropped}
    left = tuple(one for one in verdict.targets if one.id not in ids)
    return replace(verdict, targets=left) if left else Verdict(kind="new")
