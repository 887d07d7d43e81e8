"""How likely does one statement say that another is no longer so?

Rules decide where they are sure (``changes.replaces``). Where they are not, a small logistic model
over what both statements have in common weighs it: nothing is replaced by it, but what is likely
to have changed is disputed, for a person to decide. The weights are fitted by
``python -m evaluation.learning.fitting`` on the sets for tuning. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from standfast.lifecycle.merge.topic import Topic, shared_dense, shared_words
from standfast.text.analysis import stem
from standfast.text.normal import fold
from standfast.text.words import pattern, word_set

LIKELY = 0.65  # from here on it is disputed

UNLIKELY = 0.1  # below this nothing is replaced, whatever the rules say

WEIGHTS: Mapping[str, float] = {
    "always": -0.48,
    "changes": 0.53,
    "done": -3.37,
    "ends": -0.39,
    "ends it": 2.94,
    "gets new": -2.81,
    "happens": -1.11,
    "kin alone": -1.72,
    "may": 0.28,
    "negation": 1.08,
    "new thing": -1.1,
    "no name shared": -0.93,
    "nothing shared": -1.05,
    "object": 0.26,
    "only a place": -0.47,
    "other field": -2.31,
    "other kin": -3.41,
    "other name": 1.37,
    "other value": 0.03,
    "other value there": 1.34,
    "own subject": -0.51,
    "owner": 0.13,
    "pending": 0.5,
    "placed": 0.6,
    "same field": 0.24,
    "same frame": 1.11,
    "same kin": 0.58,
    "share of the old": -2.89,
    "shared name": 1.46,
    "shared words": 3.25,
    "single field": 1.14,
    "subject": -0.1,
    "told of it": -3.62,
    "turns": -0.91,
    "turns another": 0.64,
    "turns its field": 2.04,
}

_WORDS_NEAR = 4
_PLACED = re.compile(r"\b(?:in|at|to|on|with|for) (?:the )?[A-ZÀ-Ý]")
_AT = re.compile(r"\b(?:in|at|from|near|of|to|for) (?:the |my |our )?([\w'-]+)")
_GETS_NEW = re.compile(
    r"\b(?:has|have|had|got|gets|getting|ordered|bought|buy|found|needs?|planted|started|opened|released|hired|added)"
    r" (?:\w+ ){0,4}?new\b"
)
_NEW_THING = re.compile(r"\b(?:a|an|some|got) (?:\w+ )?new\b|\bnew \w+ (?:for|of|called|named)\b")


def weighed(found: Mapping[str, float]) -> float:
    """How likely it is by what was found, between 0 and 1."""
    score = WEIGHTS.get("always", 0.0)
    score += sum(WEIGHTS.get(name, 0.0) * value for name, value in found.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def features(new: Topic, old: Topic) -> dict[str, float]:
    """What two statements have in common and what tells a change, as numbers around 1."""
    shared = shared_words(new, old) or shared_dense(new.dense, old.dense)
    names = new.names & old.names
    fields = new.fields & old.fields
    kind = new.change.kind
    ours, theirs = dict(new.values - old.values), dict(old.values - new.values)
    plain = shared - names
    found = {
        "ends": kind == "ends",
        "changes": kind == "changes",
        "may": kind == "may change",
        "turns": kind == "turns",
        "turns its field": bool(new.events & old.fields),
        "turns another": bool(new.events) and not new.events & old.fields,
        "shared words": min(len(plain), 3) / 2,
        "shared name": bool(names),
        "no name shared": bool(old.names) and not names,
        "share of the old": len(shared) / max(len(old.words | old.names), 1),
        "same field": bool(fields),
        "single field": bool(fields & word_set("fields.single")),
        "other field": bool(new.fields) and bool(old.fields) and not fields,
        "other value": bool(ours.keys() & theirs.keys()),
        "other name": bool(new.names - old.names) and bool(old.names - new.names),
        "same kin": bool(new.kin) and new.kin == old.kin,
        "other kin": _is_other(new, old),
        "same frame": _frame(new.said, old.said) / 3,
        "object": is_beside(new, shared),
        "placed": _told(new.said).placed and _told(old.said).placed,
        "negation": new.negated != old.negated,
        "new thing": _told(new.said).new_thing,
        "gets new": _told(new.said).gets_new,
        "owner": _owns(new, shared),
        "only a place": _is_only_place(new, shared),
        "subject": not shared.isdisjoint(_told(new.said).stems[:3]),
        "own subject": new.said.startswith(("I ", "We ", "My ", "Our ")) and not new.kin,
        "happens": _told(new.said).happens,
        "too": _told(new.said).too,
        "pending": old.pending,
        "nothing shared": not shared and not fields,
    }
    found["ends it"] = (kind == "ends") * (found["object"] or found["share of the old"])
    found["other value there"] = found["other value"] * (bool(shared) or bool(fields))
    return {name: float(value) for name, value in found.items() if value}


def _stemmed(word: str) -> str:
    return stem(fold(word).strip('.,;:!?"()').removesuffix("'s"))


class _Wording(NamedTuple):
    """What the words of one statement tell, whatever it is held against."""

    stems: tuple[str, ...]  # of its words
    owners: frozenset[str]
    spots: frozenset[str]  # where something is
    placed: bool
    new_thing: bool
    gets_new: bool
    happens: bool
    too: bool


@lru_cache(maxsize=2000)  # one statement is compared with each that is known
def _told(said: str) -> _Wording:
    written = said.split()
    return _Wording(
        stems=tuple(map(_stemmed, written)),
        owners=frozenset(_stemmed(word) for word in written if "'s" in word),
        spots=frozenset(_stemmed(found[1]) for found in _AT.finditer(said)),
        placed=bool(_PLACED.search(said)),
        new_thing=bool(_NEW_THING.search(said)),
        gets_new=bool(_GETS_NEW.search(said)),
        happens=bool(pattern("changes.happens").search(said)),
        too=bool(pattern("changes.too").search(said)),
    )


def _owns(new: Topic, shared: frozenset[str]) -> bool:
    return not shared.isdisjoint(_told(new.said).owners)


def _is_only_place(new: Topic, shared: frozenset[str]) -> bool:
    """Whether what both name is only where something else happens."""
    here = shared.intersection(_told(new.said).stems)
    return bool(here) and here <= _told(new.said).spots


def _is_other(new: Topic, old: Topic) -> bool:
    """Whether they are about two people."""
    neutral = word_set("topics.neutral")
    ours, theirs = new.kin - neutral, old.kin - neutral
    if ours and theirs:
        family = any(
            "parents" in several and some <= word_set("topics.parents")
            for several, some in ((ours, theirs), (theirs, ours))
        )
        return not (ours & theirs or family)
    if new.names & old.names or ours & old.mentions or theirs & new.mentions:
        return False
    if new.pronoun:
        return not is_meant(new.pronoun, old)
    return bool(ours or theirs)


def is_meant(pronoun: str, old: Topic) -> bool:
    """Whether "he" or "she" may be whom a known statement is about."""
    if not old.kin:
        return ("pet" in old.fields and not old.said.startswith("I ")) or bool(old.begins)
    others = word_set("topics.women") if pronoun == "he" else word_set("topics.men")
    return not old.kin & others and not old.kin & _SEVERAL


_SEVERAL = frozenset(("parents", "child", "twins", "colleagues", "neighbours", "friends"))


def is_beside(new: Topic, shared: frozenset[str]) -> bool:
    """Whether what both name stands beside the words of the change, and is not only the owner of
    what changed ("upgraded the server's disks")."""
    at = new.said.find(new.change.cue) if new.change.cue else -1
    if at < 0 or not shared:
        return False
    end = at + len(new.change.cue)
    before = new.said[:at].split()[-_WORDS_NEAR:] if new.change.kind == "ends" else []
    around = (*before, *new.said[at:end].split(), *new.said[end:].split()[:_WORDS_NEAR])
    said = [fold(word).strip('.,;:!?"()') for word in around]
    return any(word in shared or stem(word) in shared for word in said if not word.endswith("'s"))


def _frame(said: str, known: str) -> int:
    """How many words both begin with, at most three."""
    pairs = zip(said.casefold().split()[:3], known.casefold().split()[:3], strict=False)
    count = 0
    for one, other in pairs:
        if one.strip(".,!") != other.strip(".,!"):
            break
        count += 1
    return count
