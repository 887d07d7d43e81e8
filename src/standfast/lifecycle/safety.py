"""What was said about an allergy, a medicine, a dose, a diagnosis, an access need or an emergency
contact is ended by the person it is about, in a plain statement of their own. Whatever else would
end it needs review, and the statement stays active meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from standfast.engine import Engine
from standfast.lifecycle.settlement import Verdict
from standfast.lifecycle.status import disputed
from standfast.text.claim import SPEAKER, SUBJECT
from standfast.text.compare.names import holds_names
from standfast.text.compare.parts import read
from standfast.text.normal import caseless
from standfast.text.safety_slots import denies_slot, safety_slots
from standfast.text.words import word_set
from standfast.types import LIVE, PERSON_TRUST, Record, Relation

OF_VALUES = frozenset(("dose", "medicine", "emergency_contact"))  # slots
ENDS = "ends"  # where a record's ``data`` names the safety slots of what it ended
NEEDS_REVIEW = "a safety statement is ended by the person it is about, or after review"
_UNSURE = re.compile(
    r"[?？؟]|\b(?:maybe|perhaps|probably|possibly|might|thinks?|guess(?:es)?|if|joking)\b",
    re.IGNORECASE,
)
_OWN_CONTACT = re.compile(r"(?:(my)|(\w+)['\u2019]s) emergency contact\b", re.IGNORECASE)
_FIRST_WORD = re.compile(r"\w+")


def is_protected(record: Record) -> bool:
    """Whether it asserts something about a safety slot. Its denial is not protected: who says that
    there is an allergy after all is believed."""
    if record.kind != "semantic" or record.type == "turn" or not safety_slots(record.text):
        return False
    return not denies_slot(record.text)


def may_end(record: Record, known: Record, *, personal: bool) -> bool:
    """Whether a record may end what is known. ``personal``: see ``is_personal``."""
    return not is_protected(known) or (personal and _is_own_word(record, known))


def may_change(record: Record, known: Record) -> bool:
    """Whether the words of a record can end what is known at all: an allergy, a diagnosis or an
    access need ends with its denial alone; of a dose there may be another one."""
    if not is_protected(known) or denies_slot(record.text):
        return True
    return bool(safety_slots(record.text) & safety_slots(known.text) & OF_VALUES)


def share_slot(record: Record, known: Record) -> bool:
    return bool(safety_slots(record.text) & safety_slots(known.text))


def denies_other(record: Record, known: Record) -> bool:
    """Whether one denies what the other says of a safety slot, in the same words: that is closed,
    and no likeness of two sentences makes them the same."""
    if "semantic" not in (record.kind, known.kind) or not share_slot(record, known):
        return False
    if denies_slot(record.text) == denies_slot(known.text):
        return False
    said = read(record.text).content_set
    named = {one for one in read(known.text).content_set if not _is_amount(one)}
    return len(named - said) <= 1  # whose it is


def _is_amount(word: str) -> bool:
    """Who denies a medicine denies every dose of it."""
    return any(map(str.isdigit, word)) or safety_slots(word) == {"dose"}


def may_replace(engine: Engine, record: Record, known: Record) -> bool:
    """The same where the caller names what is to be replaced: a person may also say it with more
    words."""
    if may_end(record, known, personal=is_personal(engine, record)):
        return True
    return engine.holder == "person" and _says_more(record, known)


def _says_more(record: Record, known: Record) -> bool:
    more = read(known.text).content_set < read(record.text).content_set
    return more and is_protected(record) and holds_names(record.text, known.text)


def tells_end(text: str) -> bool:
    """Whether a text may end a safety statement, as far as its words tell."""
    return bool(safety_slots(text)) and denies_slot(text)


def needs_review(*known: Record) -> Verdict:
    """Of what may not replace safety statements."""
    kept = frozenset(one.id for one in known)
    return Verdict(kind="contradicts", targets=known, reason=NEEDS_REVIEW, kept=kept)


def denied_by(record: Record, known: Iterable[Record]) -> list[Record]:
    """The safety statements that a record may deny, as far as its words tell."""
    slots = safety_slots(record.text) if denies_slot(record.text) else frozenset()
    live = [one for one in known if one.status in LIVE and is_protected(one)]
    return [one for one in live if slots & safety_slots(one.text)]


def outweighs(record: Record, other: Record) -> bool:
    """Whether a safety statement stays active beside what speaks against it."""
    return is_protected(record) and not is_protected(other)


def with_doubt_about(record: Record, other: Record) -> Record:
    """A record as ``other`` makes it disputed."""
    if outweighs(record, other):
        return record
    return disputed(record, by=None if outweighs(other, record) else other)


def with_safety_note(record: Record, verdict: Verdict) -> Record:
    """What denies a safety statement is no core memory, and says what it ended."""
    against = [one for one in verdict.targets if is_protected(one)]
    kinds = ("supersedes", "ends", "contradicts")
    if verdict.kind not in kinds or not against or not denies_slot(record.text):
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
    if who != _author(record) or _about(known) != who:
        return False
    if record.author:
        return True
    return known.author == "" and known.scope == record.scope and _is_of_one_user(record.scope)


def _is_of_one_user(scope: str) -> bool:
    return scope.split(":")[-2] == "user"


def _author(record: Record) -> str:
    return caseless(record.author) if record.author else SPEAKER


def _about(record: Record) -> str:
    """Whom a record is about: a name, folded; SPEAKER: a speaker without a name; "" if that is not
    sure."""
    about = record.data.get(SUBJECT)
    if about == "me":
        return _author(record)
    if whose := _OWN_CONTACT.match(record.text):
        return _author(record) if whose[1] else caseless(whose[2])
    text = record.text.removeprefix("The ")
    first = _FIRST_WORD.search(text)
    if first is None or text[first.end() :].startswith(("'s ", "\u2019s ")):
        return ""
    said = caseless(first[0])
    return _author(record) if said in word_set("compare.first_person") else said
