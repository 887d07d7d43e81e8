"""The claims of records: when do two of them speak against each other?"""

from __future__ import annotations

from dataclasses import replace

from recollect.text.analysis import words
from recollect.text.claims import claim_in
from recollect.text.claims.lessons import SPEAKER, Claim, claim_as_data, claim_from_data, slot_tag
from recollect.text.compare.parts import canonical
from recollect.text.words import counted
from recollect.types import Record

__all__ = ["claim_of", "conflict", "same_slot", "same_subject", "slot_tag", "with_claim"]


def claim_of(record: Record) -> Claim | None:
    """The claim that a record carries, or that its text makes. Only facts make claims: an
    episode tells what happened once."""
    if record.kind != "semantic":
        return None
    return claim_from_data(record.data) or claim_in(record.text, speaker=record.author)


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
    ours, theirs = _words_of(claim.value), _words_of(other.value)
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


def _words_of(value: str) -> frozenset[str]:
    return frozenset(map(canonical, words(value))) or frozenset({value})
