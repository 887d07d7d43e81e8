"""What somebody has: pets, relatives, illnesses, things."""

from __future__ import annotations

import re
from typing import NamedTuple

from recollect.text.claims.clauses import Predicate, Subject
from recollect.text.claims.findings import Finding, finding
from recollect.text.claims.slot_values import cut
from recollect.text.claims.words import CONDITIONS, FAMILY, PETS, POSSESSIONS

_HAVING = re.compile(
    r"(?:got )?(?:(?P<count>an?|one|two|three|four|five|six|seven|\d{1,2}|several|some|no|my"
    r"|another) )?(?P<adjectives>(?:[\w\-]+ ){0,3}?)(?P<noun>[\w\-]+),?\Z"
)
_ALLERGY = re.compile(r"(?:an?|some|several)? ?(?:\w+ )?allerg(?:y|ies) to (?P<what>.+)")


def having_in(subject: Subject, predicate: Predicate) -> Finding | None:
    tail = predicate.tail
    if predicate.tense not in ("present", "perfect"):
        return None
    if found := _ALLERGY.match(tail):
        what = cut(found["what"])
        return finding(subject.key, "allergy", what, negated=predicate.negated, items=what)
    for phrase in _noun_phrases(tail):
        result = _possession(subject, phrase, predicate.negated)
        if result is not None:
            return result
    return None


class _Phrase(NamedTuple):
    """ "a big brown dog named Rex"."""

    number: str
    adjectives: str
    noun: str
    name: str


def _noun_phrases(tail: str) -> list[_Phrase]:
    """The readings of the words after "have", with the noun at each of the first words."""
    words = tail.split(" ")
    phrases = []
    for count in range(1, min(6, len(words)) + 1):
        if found := _HAVING.match(" ".join(words[:count])):
            named = _NAMED_AFTER.match(" " + " ".join(words[count:]))
            name = named["name"] if named else ""
            noun = found["noun"].lower()
            phrases.append(_Phrase(found["count"] or "", found["adjectives"], noun, name))
    return phrases


_NAMED_AFTER = re.compile(
    r"(?: |, )(?:named|called|whose names? (?:is|are)) "
    r"(?P<name>[A-Z][\w\-]*(?:(?:, |,? and | & )[A-Z][\w\-]*){0,4})"
)


def _possession(subject: Subject, phrase: _Phrase, negated: bool) -> Finding | None:
    who, noun = subject.key, phrase.noun
    negated = negated or phrase.number == "no"
    if noun in PETS and "love" not in phrase.adjectives:
        return finding(who, "pet", f"{PETS[noun]} {phrase.name}", negated=negated)
    if noun in FAMILY and noun not in ("family", "ex"):
        value = phrase.name or {"a": "one", "an": "one"}.get(phrase.number, phrase.number) or noun
        return finding(who, _SINGULARS.get(noun, noun), value, negated=negated)
    return _thing_owned(who, phrase, negated)


_SINGULARS = {
    "kids": "child", "kid": "child", "children": "child", "sons": "son", "daughters": "daughter",
    "sisters": "sister", "brothers": "brother", "siblings": "sibling", "cousins": "cousin",
    "twins": "child",
}  # fmt: skip


def _thing_owned(who: str, phrase: _Phrase, negated: bool) -> Finding | None:
    if phrase.noun in CONDITIONS:
        return finding(who, "condition", phrase.noun, negated=negated)
    if phrase.noun in POSSESSIONS and phrase.number in ("a", "an", "two", "my", "one", "no"):
        return finding(who, "owns", f"{phrase.adjectives}{phrase.noun}", negated=negated)
    return None


def adopted_in(subject: Subject, predicate: Predicate) -> Finding | None:
    """A pet that came into a home: got, bought, adopted."""
    if predicate.tense not in ("past", "perfect") or predicate.negated:
        return None
    for phrase in _noun_phrases(predicate.tail):
        if phrase.noun in PETS and phrase.number in ("a", "an", "another", "two", "three"):
            return _possession(subject, phrase, False)
    return None
