"""What a change happened to: the thing that was bought, changed or replaced, or that broke.

Two statements often share a word that says only where, for what or by whom something happened: "a
new chair for the desk", "my oven broke at the bakery", "Mr Ahmed replaced the boiler". Whoever has
the desk, the bakery or the landlord still has them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from recollect.lifecycle.merge.topic import Topic
from recollect.text.analysis import stem
from recollect.text.claims.clauses import expanded, reading
from recollect.text.claims.fields import fields_of
from recollect.text.normal import fold
from recollect.text.words import word_set

SHORT = 4  # letters: "red" is no verb

# What ends the words for a thing: a preposition, a conjunction, a time.
_EDGE = re.compile(
    r"[,.;:!?()]|\b(?:about|after|and|around|as|at|because|before|but|by|during|for|from|in|into|near"
    r"|of|off|on|onto|outside|over|since|so|than|that|then|to|until|when|where|which|while|who|with"
    r"|again|ago|already|earlier|finally|instead|just|last|lately|next|now|recently|the other|this"
    r"|though|today|tomorrow|tonight|too|yesterday)\b",
    re.IGNORECASE,
)
_ON_A_THING = re.compile(
    r"(?:to )?(?:bought|changed|get|got|has|have|moved|ordered|painted|rearranged|replaced?"
    r"|swapped|updated|upgraded)(?: (?:a|an|another|my|our|some|the))*(?: new)?\s*\Z",
    re.IGNORECASE,
)
_BY_ITSELF = re.compile(
    r"\b(?:broke(?: down)?|burnt? down|closed|crashed|died|expired|moved (?:away|out))\Z",
    re.IGNORECASE,
)
_FURTHER = re.compile(r"\b(?:second|third|fourth|fifth)\b", re.IGNORECASE)
_BY_A_PERSON = re.compile(r"(?:joined|left|quit|resigned|retired)\b", re.IGNORECASE)
_LEADING = frozenset(
    "a an another and but because her his its my new our so some that the their these this those"
    " your has have had is was are were got just finally been also both all".split()
)
_SPEAKERS = frozenset("i we me us it he she they that this you there everyone somebody".split())


def is_another(new: Topic, old: Topic, shared: Collection[str]) -> bool:
    """Whether a change happened to something else than what the known statement is about, and
    what both name only stands beside it."""
    if not shared or new.kin or new.dense:
        return False
    before, thing, edge, after = _parted(new)
    if _BY_A_PERSON.match(new.change.cue) and _subject_is_another(before, old, shared):
        return True  # "our bassist left Moth", and I am its drummer
    if _FURTHER.search(new.change.cue) and old.names and not dict(old.values).get("number"):
        return True  # a second cat is not the one that is called Olive
    if not thing:
        by_itself = _BY_ITSELF.search(new.change.cue) is not None
        return by_itself and _subject_is_another(before, old, shared)
    if not _ON_A_THING.match(new.change.cue) or edge == "from":  # "moved all from Evernote"
        return False
    if _is_meant(thing[-1], old, shared) or (new.names - old.names) & set(after):
        return False
    beside = {word for word in thing[:-1] if _is_in(word, shared)}
    if beside or edge in ("of", "for"):  # "the wedding date", "a password for Netflix"
        return thing[-1] not in word_set("topics.aspects")
    return True


_PERSONAL = _SPEAKERS | frozenset("my our mine ours these those he's she's it's your".split())
_AUXILIARY = frozenset(
    "am are be can cannot could did do does had has have is may might must shall should was were"
    " will would".split()
)
_JOINTS = re.compile(
    r"\b(?:a|an|and|at|by|for|from|in|new|of|on|or|our|the|this|to|with)\b", re.IGNORECASE
)
_OURS = re.compile(r"\b(?:I|me|my|we|us|our)\b")
SUBJECT_WORDS_MAX = 8


def of_two_things(new: Topic, old: Topic) -> bool:
    """Whether two statements have subjects of their own, and each subject has a word that the
    other statement has not: what becomes of the docs site changes nothing of the blog."""
    ours, theirs = subject_of(new.said), subject_of(old.said)
    if not ours or not theirs or _OURS.search(new.said):  # "Facilities put us on the fifth"
        return False
    said, known = ({stem(word) for word in _plain(one.said)} for one in (new, old))
    return bool(ours - known) and bool(theirs - said)


@lru_cache(maxsize=4000)
def subject_of(said: str) -> frozenset[str]:
    """The stems of the words before the verb; empty for what somebody says of themselves."""
    found: list[str] = []
    for word in _plain(expanded(said))[:SUBJECT_WORDS_MAX]:
        if not found and word in _PERSONAL:
            return frozenset()
        if found and _is_verb(word, found[-1]):
            return frozenset(stem(one) for one in found if not _JOINTS.fullmatch(one))
        found.append(word)
    named = [one for one in found if not _JOINTS.fullmatch(one)]
    if named and (reading(named[0], "base", "past", "participle") or named[0].endswith("ed")):
        return frozenset()  # "cut over to Postgres"
    return frozenset(map(stem, named[:1]))  # no verb that is known: what it begins with


def subject_fields(topic: Topic) -> frozenset[str]:
    """The fields that the words before the verb belong to."""
    words = _plain(expanded(topic.said))[:SUBJECT_WORDS_MAX]
    return fields_of(" ".join(word for word in words if stem(word) in subject_of(topic.said)))


def _is_verb(word: str, before: str) -> bool:
    if word in _AUXILIARY or reading(word, "third", "past"):
        return True
    if word.endswith("ed") and len(word) > SHORT:
        return True
    return before.endswith("s") and bool(reading(word, "base"))


_MOVED = re.compile(r"(\w+) (.+) to\s*", re.IGNORECASE)  # "moved the frontend repo to"
_OF_WHAT = re.compile(r"\b(for|with|of) ((?:[\w'-]+ ?){1,4})", re.IGNORECASE)


_GIVEN = re.compile(
    r"(?:gave|handed|passed|moved|stuck|put) (.+) (?:to|into|onto|on)\s*", re.IGNORECASE
)
_ON_ITS_OWN = re.compile(
    r"(?:re(?:named|placed|designed|painted|wrote|written|built)|changed|up(?:graded|dated)|migrated"
    r"|g[ai]ven? up|quit|stopped|removed|hired)\Z",
    re.IGNORECASE,
)
_ANYTHING = _SPEAKERS | frozenset(
    "everything all them him her things stuff most one over back up down on off in out across"
    " ourselves myself itself themselves himself herself".split()
)


def has_its_own_thing(new: Topic, old: Topic) -> bool:
    """Whether a change names what changed, and the known statement says nothing of that: "gave up
    ballet" to how old she is."""
    if gives_its_own_thing(new, old):
        return True
    return bool(_ON_ITS_OWN.search(new.change.cue)) and _is_unknown(_parted(new)[1], old)


def gives_its_own_thing(new: Topic, old: Topic) -> bool:
    """ "Moved the loot table to the wiki" to who runs the wiki."""
    given = _GIVEN.fullmatch(new.change.cue)
    return given is not None and _is_unknown(_nouns(given[1]), old)


def is_of_a_part(new: Topic, shared: Collection[str]) -> bool:
    """ "The plugin index moved" to how plugins are signed: both name what it is the index of."""
    said = _plain(expanded(new.said))[:SUBJECT_WORDS_MAX]
    subject = [word for word in said if stem(word) in subject_of(new.said)]
    if said[:1] != ["the"] or len(subject) < 2 or subject[-1] in word_set("topics.aspects"):
        return False
    return not _is_in(subject[-1], shared) and any(_is_in(word, shared) for word in subject[:-1])


def _is_unknown(thing: list[str], old: Topic) -> bool:
    """Whether a statement neither has the words for a thing nor is of its field of a life."""
    if not thing or thing[0].endswith("ing") or set(thing) & _ANYTHING:
        return False
    if len(thing) == 1 and thing[0] in word_set("topics.aspects"):
        return False
    known = {stem(word) for word in _plain(old.said)}
    if any(stem(word) in known or _is_part_of(word, known) for word in thing):
        return False
    return not fields_of(" ".join(thing)) & (old.fields - _VAGUE)


_VAGUE = frozenset(("meeting", "price", "read", "plan", "taste"))  # half of all statements are


def _is_part_of(word: str, known: Collection[str]) -> bool:
    return len(word) > SHORT and any(one.startswith(word[: SHORT + 1]) for one in known)


def are_parallel(new: Topic, old: Topic) -> bool:
    """Whether both tell the same change of two things: "the kitchen light was switched off" and
    "the garage light was switched off", "Tailwind for styling" and "Playwright for tests"."""
    cue = new.change.cue.casefold()
    moved, before = (_MOVED.fullmatch(one.change.cue) for one in (new, old))
    if moved and before and fold(moved[1]) == fold(before[1]):
        return _tell_apart(moved[2], before[2])
    if not cue or cue != old.change.cue.casefold():
        return False
    ours, theirs = (expanded(one.said).casefold().partition(cue) for one in (new, old))
    who, whom = subject_of(new.said), subject_of(old.said)
    if who - whom and whom - who:
        return True
    of_ours, of_theirs = (dict(_OF_WHAT.findall(one[2])) for one in (ours, theirs))
    return any(_tell_apart(of_ours[one], of_theirs[one]) for one in of_ours.keys() & of_theirs)


def _tell_apart(ours: str, theirs: str) -> bool:
    """Whether each has a word that the other has not."""
    said, known = ({stem(word) for word in _nouns(one)} for one in (ours, theirs))
    said, known = said - _SPEAKERS, known - _SPEAKERS
    return bool(said - known) and bool(known - said)


def _subject_is_another(before: list[str], old: Topic, shared: Collection[str]) -> bool:
    """ "The people next door moved out": nobody said that of themselves."""
    return bool(
        before and before[-1] not in _SPEAKERS and not _is_meant(before[-1], old, shared, aspects=1)
    )


def _is_meant(word: str, old: Topic, shared: Collection[str], *, aspects: int = 0) -> bool:
    """Whether a word for what changed is about what is known: the same word, or the same field
    of a life ("a new job" and where somebody works)."""
    named = _is_in(word, shared) or stem(word) in old.words
    return (
        named
        or bool(fields_of(word) & old.fields)
        or bool(aspects and word in word_set("topics.aspects"))
    )


def _is_in(word: str, shared: Collection[str]) -> bool:
    return word in shared or stem(word) in shared


def _parted(new: Topic) -> tuple[list[str], list[str], str, list[str]]:
    """Who or what did it, or it happened to; the thing; the word behind that; the rest."""
    said = expanded(new.said)
    at = said.find(new.change.cue)
    if at < 0:
        return [], [], "", []
    end = at + len(new.change.cue)
    clause = re.split(r"[,.;:!?]", said[:at])[-1]
    if clause.strip() or new.change.cue.split()[0].casefold() not in _LEADING:
        who = clause
    else:  # the cue has its subject in it: "My oven broke"
        who = " ".join(new.change.cue.split()[:-1])
    edge = _EDGE.search(said, end)
    thing = said[end : edge.start()] if edge else said[end:]
    rest = said[edge.end() :] if edge else ""
    subject = _EDGE.split(who.strip(), maxsplit=1)[0]
    return _nouns(subject), _nouns(thing), edge[0].casefold() if edge else "", _plain(rest)


def _nouns(text: str) -> list[str]:
    return [word for word in _plain(text) if word not in _LEADING]


def _plain(text: str) -> list[str]:
    found = (fold(word).strip("\"'()").removesuffix("'s") for word in text.split())
    return [word.strip(".,;:!?") for word in found if any(map(str.isalnum, word))]
