"""What did a change happen to, and is a known statement about that?

"From now on keep it short, I read this on the ward" changes how answers are written and nothing
about the ward; "Jean has given up the organ" ends the organ and not where Jean lives. Two
statements often share a word that says only where, for what or by whom something happened: "a new
chair for the desk", "my oven broke at the bakery", "Mr Ahmed replaced the boiler". What stands
beside a change, and who it happened to, is no reason to give up what is known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache

from standfast.lifecycle.merge.claims.clauses import expanded, reading
from standfast.lifecycle.merge.claims.fields import fields_of
from standfast.lifecycle.merge.claims.foreign import language_of
from standfast.lifecycle.merge.claims.topics import (
    generic_stems,
    is_single,
    people_words,
    values_in,
)
from standfast.lifecycle.merge.topic import Topic, shared_words, topic_of
from standfast.text.analysis import stem, words
from standfast.text.normal import fold
from standfast.text.words import counted, word_set

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
    if _is_the_thing_itself(clause, new, old):
        return True
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


def _is_the_thing_itself(clause: str, new: Topic, old: Topic) -> bool:
    """Whether what was moved, or went up, is what the known statement is about: "the exam was
    pushed to June" to when the exam is. Of people much else is known than what became of them."""
    before, cue, _ = clause.partition(new.change.cue)
    named = [word for word in _plain(before) if word not in _AUXILIARY] if cue else []
    if not named or named[-1] in people_words() | _people(new):
        return False
    return stem(named[-1]) == stem(next(reversed(_before_verb(old.said)), ""))


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
    """The words before those of the change; none where those were said and are not in the text."""
    return _stems(clause.partition(cue)[0]) if cue in clause else frozenset()


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


# The thing that was bought, changed or replaced, or that broke

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
    if is_further(new, old):
        return True
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


def is_further(new: Topic, old: Topic) -> bool:
    """A second cat is not the one that is called Olive."""
    counted_ = dict(old.values).get("number")
    return bool(_FURTHER.search(new.change.cue) and old.names and not counted_)


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
    return frozenset(map(stem, _before_verb(said)))


@lru_cache(maxsize=4000)
def _before_verb(said: str) -> tuple[str, ...]:
    found: list[str] = []
    for word in _plain(expanded(said))[:SUBJECT_WORDS_MAX]:
        if not found and word in _PERSONAL:
            return ()
        if found and _is_verb(word, found[-1]):
            return tuple(one for one in found if not _JOINTS.fullmatch(one))
        found.append(word)
    named = [one for one in found if not _JOINTS.fullmatch(one)]
    if named and (reading(named[0], "base", "past", "participle") or named[0].endswith("ed")):
        return ()  # "cut over to Postgres"
    return tuple(named[:1])  # no verb that is known: what it begins with


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
_TAKEN = re.compile(  # "the storm took the fence down" to what grows there
    r"(?:took|tore|knocked|chopped|cut|pulled|ripped|blew) (.+) (?:down|out|off|apart)\s*",
    re.IGNORECASE,
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
    given = _GIVEN.fullmatch(new.change.cue) or _TAKEN.fullmatch(new.change.cue)
    return given is not None and _is_unknown(_nouns(given[1]), old)


def is_of_a_part(new: Topic, shared: Collection[str]) -> bool:
    """ "The plugin index moved" to how plugins are signed: both name what it is the index of."""
    said = _plain(expanded(new.said))[:SUBJECT_WORDS_MAX]
    subject = [word for word in said if stem(word) in subject_of(new.said)]
    if said[:1] != ("the",) or len(subject) < 2 or subject[-1] in word_set("topics.aspects"):
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


def _parted(new: Topic) -> tuple[list[str], list[str], str, Sequence[str]]:
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


@lru_cache(maxsize=1000)
def _plain(text: str) -> tuple[str, ...]:
    found = [fold(word).strip("\"'()").removesuffix("'s") for word in text.split()]
    return tuple([word.strip(".,;:!?") for word in found if any(map(str.isalnum, word))])
