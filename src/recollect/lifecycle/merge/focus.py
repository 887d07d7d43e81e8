"""Which words of a statement tell what changed, and is a known statement about those?

"From now on keep it short, I read this on the ward" changes how answers are written and nothing
about the ward; "Jean has given up the organ" ends the organ and not where Jean lives. What stands
beside a change, and who it happened to, is no reason to give up what is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from recollect.lifecycle.merge.topic import Topic, shared_words, topic_of
from recollect.text.analysis import stem, words
from recollect.text.claims.clauses import expanded
from recollect.text.claims.fields import fields_of
from recollect.text.claims.foreign import language_of
from recollect.text.claims.topics import generic_stems, is_single, values_in
from recollect.text.normal import fold
from recollect.text.words import counted, word_set

_END = re.compile(r"[,;:.!?](?=\s|$)|\s-\s|\b(?:but|because|so)\b")
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<!^)(?<!\W )\b[A-ZÀ-Ý]\w")
# What somebody once did for the speaker stays so, whatever becomes of them.
_GIFT = re.compile(r"\b(?:brought|bought|gave|got|lent|made|sent|showed|taught|told) (?:me|us)\b")
_OF_MINE = re.compile(r"\W*(?:my|our|the) ([\w-]+) (?:is|are|was|were)\b", re.IGNORECASE)
_BELONGS = re.compile(
    r"(?:above|around|at|behind|below|by|close|for|from|in|just|mostly|near|next|off|on|opposite|right"
    r"|since|until|usually|where|which|who|with)\b",
    re.IGNORECASE,
)
_JOINT = re.compile(r"[,;]\s|\s(?:and|but)\s")
# What is told of hours says nothing of where somebody works, nor of where they live.
_NARROW = {"hours": frozenset({"work", "home", "meeting"})}


def touches(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    """Whether what changed is what the known statement is about, as far as words tell."""
    if new.dense or language_of(new.said) or not new.change.cue:
        return True
    clause = _clause(new.said, new.change.cue)
    subject = _subject(clause, new.change.cue)
    if _is_of_another(new, old, subject):
        return False
    said, who = _stems(clause), _people(new) | subject
    about = {word for word in shared if word in said or stem(word) in said} - _units() - _times()
    told_of = {old.subject, old.begins, stem(old.subject), stem(old.begins)}
    behind = _stems(clause.partition(new.change.cue)[2])
    if about - who - new.names or (about - told_of) & behind:
        return True  # what both name is a thing, or what the change is done to
    rest = said - who - about - _stems(new.change.cue) - _units() - _times()
    values = frozenset() if new.change.kind == "ends" else frozenset(values_in(clause))
    if about and not rest and not values:  # "Rui retired": nothing else is said to have ended
        return not _GIFT.search(old.said)
    named = {name for name in new.names if name in said} - who - about - _times()
    if (named and not old.names - who - about) or (
        values and about and not _of_one_type(values, old)
    ):
        return False  # of a place, a price or a day, where none is known
    if about and (named or _is_of_one_unit(clause, old.said)):
        return True
    if not about and (thing := _OF_MINE.match(clause)) and stem(fold(thing[1])) not in old.words:
        return False  # "my flight is on 3 January now" to whose birthday is then
    return is_single(_narrowed(fields_of(clause) | new.events) & _without_work(old.fields))


def _is_of_one_unit(text: str, known: str) -> bool:
    """Whether both say when, or count the same."""
    ours, theirs = ({what for what, _ in _counted(one)} for one in (text, known))
    return bool(ours & theirs or _kinds(text) & _kinds(known))


def _is_of_another(new: Topic, old: Topic, subject: frozenset[str]) -> bool:
    """Whether it is told of somebody by name, and the known statement does not name them."""
    who = new.names & subject
    if not who or new.change.kind == "may change":
        return False
    return not (who & (old.names | old.words) or new.kin & (old.kin | old.mentions))


def _subject(clause: str, cue: str) -> frozenset[str]:
    """The words before those of the change."""
    return _stems(clause.partition(cue)[0])


def _of_one_type(values: frozenset[tuple[str, str]], old: Topic) -> bool:
    return bool({kind for kind, _ in values} & {kind for kind, _ in old.values})


def in_common(text: str, speaker: str, known: str, known_speaker: str) -> frozenset[str]:
    """The words that two statements share."""
    return shared_words(topic_of(text, speaker), topic_of(known, known_speaker))


def is_partly(text: str, speaker: str, known: str, known_speaker: str) -> bool:
    """Whether a known statement says several things, of which a change concerns only some:
    "Peter is in Toronto and Michael in Bath" is not over when Michael moves."""
    new, old = topic_of(text, speaker), topic_of(known, known_speaker)
    if new.dense or old.dense or language_of(old.said):
        return False
    parts = [
        part
        for part in _JOINT.split(old.said)
        if _says_something(part) and not _BELONGS.match(part)  # "in Berlin, near the zoo"
    ]
    said = _stems(new.said) - _units()
    left = [part for part in parts if not _concerns(part, said, new)]
    return 0 < len(left) < len(parts)


def _says_something(part: str) -> bool:
    return len(_stems(part)) > 1 or bool(_NUMBER.search(part) or _NAME.search(part))


def _concerns(part: str, said: frozenset[str], new: Topic) -> bool:
    if _stems(part) & said or fields_of(part) & new.fields:
        return True
    return bool({kind for kind, _ in values_in(part)} & {kind for kind, _ in new.values})


_COUNTED = re.compile(r"(?:(\w+) )?(\d[\d.,]*)(?: ?([^\W\d_]+))?")


def restates(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    """Whether a statement gives another day, time or number where the known one has one, and most
    of what it says of it is said there too: "the bowls is on Tuesdays" to Thursdays."""
    if new.dense or old.dense or language_of(new.said) or not shared or old.pending:
        return False
    if _is_of_another(new, old, new.names & _stems(" ".join(new.said.split()[:2]))):
        return False
    for part in _END.split(expanded(new.said)):
        said = _stems(part) - _units() - _times() - _people(new)
        if not said & shared or len(said & shared) * 2 < len(said - shared):
            continue
        if _counted(part) & _counted(old.said):
            return False  # the same number of the same is in both
        if _is_of_one_unit(part, old.said):
            return True
    return False


def _kinds(text: str) -> frozenset[str]:
    """The kinds of values that say when."""
    return frozenset(kind for kind, _ in values_in(text) if kind in ("day", "time"))


def _counted(text: str) -> frozenset[tuple[str, str]]:
    """Numbers with what they count, or what has them: "8 units", "port 5433"."""
    return frozenset(
        (stem(fold(word)), number.rstrip(".,"))
        for before, number, behind in _COUNTED.findall(text)
        for word in (before, behind)
        if word and word not in word_set("search.stop_words")
    )


def _clause(said: str, cue: str) -> str:
    """The clause that has the words of the change, and the next one where it says nothing else."""
    text = expanded(said)
    at = text.find(cue)
    if at < 0:
        return text
    ends = [found.start() for found in _END.finditer(text)]
    start = max((end + 1 for end in ends if end < at), default=0)
    behind = [end for end in ends if end >= at + len(cue)]
    clause = text[start : behind[0]] if behind else text[start:]
    if behind and not _stems(clause) - _stems(cue):
        clause = text[start : behind[1]] if len(behind) > 1 else text[start:]
    return clause


@lru_cache(maxsize=4000)
def _stems(text: str) -> frozenset[str]:
    """Of the words that mean something."""
    plain = (word.removesuffix("'s") for word in words(text))
    found = {
        form
        for word in plain
        if word not in word_set("search.stop_words") and not _NUMBER.search(word)
        for form in (word, stem(word))
    }
    return frozenset(found - generic_stems())


def _people(new: Topic) -> frozenset[str]:
    named = {name for name in (new.begins, new.subject) if name}
    return frozenset({*named, *map(stem, named), *new.kin, *map(stem, new.kin)})


@cache
def _units() -> frozenset[str]:
    return _formed(word_set("topics.units"))


@cache
def _times() -> frozenset[str]:
    """When something happened is not what happened."""
    return _formed(
        {*counted("dates.weekdays"), *counted("dates.months"), *word_set("topics.times")}
    )


def _formed(listed: Iterable[str]) -> frozenset[str]:
    return frozenset(form for word in listed for form in (fold(word), stem(fold(word))))


def _without_work(fields: frozenset[str]) -> frozenset[str]:
    """Where somebody studies is no job, though both begin and end alike."""
    return fields - {"work"} if "study" in fields else fields


def _narrowed(fields: frozenset[str]) -> frozenset[str]:
    dropped = (wider for narrow, wider in _NARROW.items() if narrow in fields)
    return fields.difference(*dropped)
