"""What speaks for and against it that one statement tells a change of another, as numbers.

Where the rules of ``changes`` decide nothing, ``lifecycle.effect`` weighs these together with the
vectors of both. Nothing is weighed where one of the guards holds: what is said to be so as well,
what is only planned, what is told of other people, and what is over already.
"""

from __future__ import annotations

import re

from standfast.lifecycle.merge.aside import is_brief
from standfast.lifecycle.merge.changes import (
    NOT_ONLY,
    happens_beside,
    is_of_a_stranger,
    is_of_hours,
    is_only_elsewhere,
    is_over,
    is_planned,
    is_told_of_it,
    same_people,
)
from standfast.lifecycle.merge.claims.foreign import language_of
from standfast.lifecycle.merge.focus import is_further, of_two_things, restates, subject_of, touches
from standfast.lifecycle.merge.odds import features
from standfast.lifecycle.merge.topic import DONE, Topic, shared_words
from standfast.text.words import pattern

WORDS_MANY = 12
_IT = re.compile(r"\W*(?:it|that)\b", re.IGNORECASE)
_THEY = re.compile(r"\W*they\b", re.IGNORECASE)
_OWN = re.compile(r"\W*(?:I|we)\b", re.IGNORECASE)


def traits(new: Topic, old: Topic) -> dict[str, float]:
    """Empty where a guard holds."""
    shared = shared_words(new, old)
    if _is_guarded(new, old, shared):
        return {}
    tells = bool(new.change.cue)
    found = {
        "no cue": not tells,
        "done": new.change.cue == DONE,
        "beside": happens_beside(new, old),
        "other people": not same_people(new, old, shared),
        "told of it": tells and is_told_of_it(new, old, shared),
        "two things": of_two_things(new, old),
        "same subject": bool(subject_of(new.said) & subject_of(old.said)),
        "touches": tells and touches(new, old, shared),
        "restates": restates(new, old, shared),
        "tells a change itself": old.change.kind in ("ends", "changes"),
        "he or she": bool(new.pronoun),
        "it": bool(_IT.match(new.said)),
        "they": bool(_THEY.match(new.said)),
        "both mine": bool(_OWN.match(new.said) and _OWN.match(old.said)),
        "length": min(len(new.said.split()) / WORDS_MANY, 2.0),
    }
    return features(new, old) | {name: float(value) for name, value in found.items() if value}


def is_foreign(new: Topic, old: Topic) -> bool:
    """Whether one of them is not in English, which is what all of this was fitted on."""
    return bool(new.dense or old.dense or language_of(new.said) or language_of(old.said))


def _is_guarded(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    if is_foreign(new, old) or is_over(old):
        return True
    if pattern("changes.too").search(new.said) or NOT_ONLY.search(new.said) or is_brief(new):
        return True
    if is_planned(new) and not old.pending:
        return True
    if (new.kin or old.kin) and not same_people(new, old, shared):
        return True
    if new.change.cue and (is_only_elsewhere(new, old) or is_further(new, old)):
        return True
    return not shared and (is_of_a_stranger(new) or is_of_hours(new, old))
