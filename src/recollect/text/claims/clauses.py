"""English clauses: who it is about, and what is said.

Nothing here knows about slots. A clause is cut into its subject ("I", "my sister Eva",
"Bob's birthday") and its predicate (a verb with tense and negation, and the words after it).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from recollect.text.claims.lessons import SPEAKER
from recollect.text.claims.verbs import READINGS, Form, reading, third_person
from recollect.text.claims.words import (
    ACQUAINTANCES,
    ADVERBS,
    FAMILY,
    HEDGES,
    IN_LAWS,
    OPENING_PHRASES,
    OPENINGS,
    OTHER_ADJECTIVES,
    PETS,
    POSSESSIONS,
    STANDING_NOUNS,
    TELLING,
)

SubjectKind = Literal["speaker", "related", "named", "thing"]
Tense = Literal["present", "past", "perfect", "future", "former", "conditional", "modal"]


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who says a text. Without a name they are "the user"."""

    name: str = ""

    @property
    def written(self) -> str:
        return self.name or "The user"

    @property
    def key(self) -> str:
        return folded(self.name) or SPEAKER


@dataclass(frozen=True, slots=True)
class Subject:
    """``written`` as a sentence begins with it, ``key`` as claims name it. ``attribute``: it is
    not about the person but about something they have: "birthday", "favourite colour"."""

    kind: SubjectKind
    written: str
    key: str
    attribute: str = ""
    relation: str = ""
    name: str = ""
    plural: bool = False


@dataclass(frozen=True, slots=True)
class Predicate:
    """``words`` is the verb group in the third person, ``tail`` what follows it."""

    verb: str
    tense: Tense
    words: str
    tail: str
    negated: bool = False
    hedged: bool = False
    progressive: bool = False
    passive: bool = False
    adverbs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clause:
    subject: Subject
    predicate: Predicate


def folded(text: str) -> str:
    """Lower case, one blank between words."""
    return " ".join(text.casefold().split())


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_CONTRACTED = {
    "i'm": "I am", "i've": "I have", "i'll": "I will", "i'd": "I would", "im": "I am",
    "ive": "I have", "we're": "we are", "we've": "we have", "we'll": "we will",
    "we'd": "we would", "don't": "do not", "dont": "do not", "doesn't": "does not",
    "didn't": "did not", "can't": "can not", "cannot": "can not", "won't": "will not",
    "isn't": "is not", "aren't": "are not", "wasn't": "was not", "weren't": "were not",
    "haven't": "have not", "hasn't": "has not", "hadn't": "had not", "couldn't": "could not",
    "wouldn't": "would not", "shouldn't": "should not", "gonna": "going to",
    "wanna": "want to", "they're": "they are", "he's": "he is", "she's": "she is",
    "they've": "they have",
}  # fmt: skip
_CONTRACTION = re.compile(rf"\b(?:{_any(_CONTRACTED)})\b", re.IGNORECASE)
_HAD = re.compile(r"\b(I|we) would (?=been|had|got|gone|always wanted)", re.IGNORECASE)
_HAVE_GOT = re.compile(r"\b(have|has) got (?=(?:an?|two|three|four|my|some|no|\d+) )")
_IS_OR_HAS = re.compile(
    r"(?<=\w)'s (?=(?P<been>been |moved |got |become |started )|a |an |the |not |from |allergic "
    r"|called |named |(?:work|study|liv|mov|gett|com|visit|learn|go|plann|start|stay)ing )"
)

_OPENING = re.compile(
    rf"(?:(?:{_any(OPENINGS)}|{OPENING_PHRASES})(?:\s*[,!.:;-]+\s*|\s+(?=(?:I|we|my|our)\b))"
    r"|that's why (?=(?:I|we)\b)|that is why (?=(?:I|we)\b)"
    r"|(?:(?:hey|hi|hello|thanks|yeah|oh),? )?(?!yesterday|today|tomorrow|tonight)[A-Z]\w+[,!] "
    r"(?=(?:I|[Ww]e|[Mm]y|[Oo]ur)\b))",
    re.IGNORECASE,
)
_CAPITAL = r"[^\W\d_a-z][\w\-.]*"
_NAME = rf"{_CAPITAL}(?: {_CAPITAL}){{0,2}}"
_LOOSE_NAME = r"[\w.@\-]+(?: [\w.@()\-]+){0,2}?"
_RELATION = _any([*FAMILY, *IN_LAWS, *ACQUAINTANCES, *PETS, *POSSESSIONS])
_ADJECTIVE = _any([*TELLING, *OTHER_ADJECTIVES])
_OWNED_RE = (
    rf"(?P<adjectives>(?:(?:{_ADJECTIVE}) ){{0,2}})(?P<relation>{_RELATION})\b"
    rf"(?P<comma>,)?(?: (?P<called>{_CAPITAL}(?: {_CAPITAL})?)(?P<comma2>,)?)?"
    r"(?:'s? (?P<attr>[a-z][\w\-]*(?: [a-z][\w\-]*){0,3}?)(?= (?:is|are|was)\b))?"
)
_OWN_RELATION = re.compile(rf"(?P<own>[Mm]y|[Oo]ur) {_OWNED_RE}(?=[ '])")
_THEIR_RELATION = re.compile(rf"(?P<owner>[Tt]he user|{_NAME})'s? {_OWNED_RE}(?=[ '])")
_OWN_ATTRIBUTE = re.compile(
    r"(?:[Mm]y|[Oo]ur) (?P<attr>[a-z][\w\-]*(?: [a-z][\w\-]*){0,3}?)(?= (?:is|are|was)\b)"
)
_THEIR_ATTRIBUTE = re.compile(
    rf"(?P<owner>[Tt]he user|{_NAME})'s? (?P<attr>[a-z][\w\-]*(?: [a-z][\w\-]*){{0,3}}?)"
    r"(?= (?:is|are|was)\b)"
)
_FIRST = re.compile(r"(?:I|i|We|we)(?= )")
_TOGETHER = re.compile(
    rf"(?P<others>(?:[Mm]y|[Oo]ur|Some|A|The|Two|Three)(?: [\w'\-]+){{1,3}}?"
    rf"|{_NAME}) and I(?= [a-z])"
)
_USER = re.compile(r"[Tt]he user(?= )")
_NAMED = re.compile(rf"(?P<name>{_NAME})(?= )")
_LOOSE = re.compile(rf"(?P<name>{_LOOSE_NAME})(?= )")
_THING = re.compile(
    rf"(?P<det>the|our) (?P<noun>(?:[\w\-]+ ){{0,2}}(?:{_any(STANDING_NOUNS)}))(?= )",
    re.IGNORECASE,
)
_NOT_NAMES = frozenset(
    "it this that these those there here he she they you what who how when where why which the a an"
    " if so my our your his her their its everyone everything nothing something someone nobody"
    " today yesterday tomorrow not no yes please some all most many one two three people life"
    " and or but as at in on for to with from by let just maybe monday tuesday wednesday thursday"
    " friday saturday sunday being having last next i both since after before when while"
    " also".split()
)
_SECOND_VERB = re.compile(
    r",? and (?:also |now |just |recently |then )?(?P<verb>[a-z]+) (?P<next>[\w']+)"
)
_AFTER_VERB = frozenset(
    "a an the at in on for as with to my our from two three one into near about every this that"
    " some another up out off".split()
)
_OBJECTS = frozenset("me us him her them it you".split())
_RELATIVE = re.compile(r"\b(?:who|that|which|where)\b")
_PLAIN_VERBS = frozenset("live work have love like enjoy hate prefer own play".split())


def expanded(text: str) -> str:
    """Contractions written out: "I'm" as "I am"."""
    if "'" not in text and "nn" not in text and "ont" not in text and " im" not in text.lower():
        return text
    text = _CONTRACTION.sub(lambda found: _CONTRACTED[found[0].lower()], text)
    text = _HAD.sub(r"\1 had ", text)
    text = _HAVE_GOT.sub(r"\1 ", text)
    return _IS_OR_HAS.sub(lambda found: " has " if found["been"] else " is ", text)


def without_opening(text: str) -> str:
    """The statement without "yeah, well, " before it."""
    for _ in range(4):
        found = _OPENING.match(text)
        if not found or found.end() >= len(text):
            break
        text = text[found.end() :].lstrip()
    return text


def clause_in(text: str, speaker: Speaker, *, loose: bool = False) -> Clause | None:
    """The clause that a text begins with. ``loose``: also subjects in lower case, for texts
    that are known to be statements."""
    for subject, end in _subjects(text, speaker, loose):
        predicate = predicate_in(text[end:], subject)
        if predicate is not None:
            return Clause(subject, predicate)
    return None


def coordinated(predicate: Predicate) -> tuple[str, str] | None:
    """The words before and after an "and" that joins a second verb: "live in Rome" + "work at
    Eni"."""
    if predicate.tense not in ("present", "past"):
        return None
    form: Form = (
        "ing" if predicate.progressive else "base" if predicate.tense == "present" else "past"
    )
    tail = f" {predicate.tail}"
    for found in _SECOND_VERB.finditer(tail):
        if _RELATIVE.search(tail, 0, found.start()):
            break
        verb = reading(found["verb"], form) or reading(found["verb"], "third")
        plain = verb in _PLAIN_VERBS and verb != predicate.verb and found["next"] not in _OBJECTS
        if verb and (plain or found["next"] in _AFTER_VERB):
            first = tail[: found.start()].strip()
            listed, comma, last = first.rpartition(", ")
            first = listed if comma and reading(last, form) else first
            return first, tail[found.start("verb") :]
    return None


def _subjects(text: str, speaker: Speaker, loose: bool) -> list[tuple[Subject, int]]:
    """The ways to read the beginning of a text as a subject, the most telling first."""
    if found := together_in(text):
        return [(_together(found, speaker), found.end())]
    if found := _FIRST.match(text):
        return [(Subject("speaker", speaker.written, speaker.key), found.end())]
    if (found := _THING.match(text)) and found["det"].lower() == "our":
        return [_thing(found)]
    if found := _OWN_RELATION.match(text):
        return [(_related(found, speaker.written, speaker.key), found.end())]
    if found := _OWN_ATTRIBUTE.match(text):
        return [(_attribute(found["attr"], speaker.written, speaker.key), found.end())]
    if found := _USER.match(text):
        return [(Subject("speaker", "The user", SPEAKER), found.end())]
    ways: list[tuple[Subject, int]] = []
    for pattern in (_THEIR_RELATION, _THEIR_ATTRIBUTE):
        if (found := pattern.match(text)) and not _is_plain_word(found["owner"], user=True):
            owner = found["owner"]
            key = SPEAKER if owner.lower() == "the user" else folded(owner)
            owner = "The user" if key == SPEAKER else owner
            if pattern is _THEIR_RELATION:
                ways.append((_related(found, owner, key), found.end()))
            else:
                ways.append((_attribute(found["attr"], owner, key), found.end()))
    if found := _THING.match(text):
        ways.append(_thing(found))
    elif found := (_LOOSE if loose else _NAMED).match(text):
        ways.extend(_named(text, found, loose))
    return ways


def together_in(text: str, start: int = 0) -> re.Match[str] | None:
    """ "My mom and I" at this place of a text; not "my mom called and I"."""
    found = _TOGETHER.match(text, start)
    if found is None or any(reading(word, "past") for word in found["others"].split()):
        return None
    return found


def _together(found: re.Match[str], speaker: Speaker) -> Subject:
    """ "My mom and I": the speaker, with somebody."""
    others = re.sub(r"\A(?:[Mm]y|[Oo]ur)\b", "their", found["others"])
    others = others[:1].lower() + others[1:] if others.split(" ")[0] in _OPEN else others
    return Subject("speaker", f"{speaker.written} and {others}", speaker.key, plural=True)


_OPEN = frozenset(("Some", "A", "The", "Two", "Three"))


def _is_plain_word(name: str, *, user: bool = False) -> bool:
    if user and name.lower() == "the user":
        return False
    return name.split(" ", 1)[0].lower() in _NOT_NAMES


def _thing(found: re.Match[str]) -> tuple[Subject, int]:
    noun = found["noun"]
    return Subject("thing", f"The {noun}", folded(noun)), found.end()


def _named(text: str, found: re.Match[str], loose: bool) -> list[tuple[Subject, int]]:
    """Names of one to three words; the shortest that leaves a verb is the one."""
    if not loose:
        name = found["name"]
        if (
            _is_plain_word(name)
            or " I" in name
            or name.lower().endswith("ing")
            or name.lower() in READINGS
        ):
            return []
        return [(Subject("named", name, folded(name)), found.end())]
    ways = []
    words = text.split(" ", 4)[:3]
    for count in range(1, len(words) + 1):
        name = " ".join(words[:count])
        if not _is_plain_word(name):
            ways.append((Subject("named", name, folded(name)), len(name)))
    return ways


def _related(found: re.Match[str], owner: str, owner_key: str) -> Subject:
    relation = found["relation"]
    telling = [word for word in found["adjectives"].split() if word in TELLING]
    name = found["called"] or ""
    if found["comma"] and not (name and found["comma2"]):
        name = ""
    key = " ".join([f"{owner_key}'s", *telling, relation, *([folded(name)] if name else [])])
    written = f"{owner}'s {found['adjectives']}{relation}" + (f" {name}" if name else "")
    plural = (relation.endswith("s") and relation != "boss") or relation == "children"
    return Subject(
        "related", written, key, attribute=found["attr"] or "", relation=relation, name=name,
        plural=plural,
    )  # fmt: skip


def _attribute(attribute: str, owner: str, owner_key: str) -> Subject:
    return Subject("related", owner, owner_key, attribute=attribute)


_FINITE_BE: Mapping[str, Tense] = {
    "am": "present",
    "is": "present",
    "are": "present",
    "was": "past",
    "were": "past",
}
_MODALS: Mapping[str, Tense] = {
    "will": "future", "shall": "future", "can": "modal", "must": "modal", "would": "conditional",
    "could": "conditional", "should": "conditional", "may": "conditional", "might": "conditional",
}  # fmt: skip
_SINGULAR = {"am": "is", "are": "is", "were": "was", "have": "has", "do": "does"}
_AUX_WORDS_MAX = 9


class _Group:
    """The verb group while it is being read, word by word."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.tense: Tense | None = None
        self.words: list[str] = []
        self.adverbs: list[str] = []
        self.negated = self.hedged = self.be = self.perfect = self.did = False

    def add(self, word: str, tense: Tense | None = None) -> None:
        if tense is not None and self.tense is None:
            self.tense = tense
            if self.subject.kind == "speaker" and not self.subject.plural:
                word = _SINGULAR.get(word.lower(), word)
        self.words.append(word)

    def said(self) -> str:
        """The words of the group without those that only fill."""
        return " ".join(word for word in self.words if word not in _FILLERS)


_FILLERS = frozenset("just also even actually both all then only finally too so".split())


def predicate_in(text: str, subject: Subject) -> Predicate | None:
    """What a text says about the subject before it; None if its verb is unknown."""
    words = text.split()
    group = _Group(subject)
    index = 0
    while index < len(words) and index < _AUX_WORDS_MAX:
        step = _auxiliary(words, index, group)
        if step == 0:
            break
        index += step
    if index >= len(words):
        return None
    return _main(words, index, group)


def _auxiliary(words: list[str], index: int, group: _Group) -> int:
    """How many words from here on belong to the verb group before its main verb."""
    word = words[index].lower().strip(",")
    following = words[index + 1].lower().strip(",") if index + 1 < len(words) else ""
    if word in ("not", "never") or (word == "no" and following == "longer"):
        group.negated = True
        group.words.append("no longer" if word == "no" else word)
        return 2 if word == "no" else 1
    if word in HEDGES and word not in _MODALS:
        group.hedged = True
        return 1
    if word in ("kind", "sort") and following == "of":
        return 2
    if word in ADVERBS and not (group.be and following == "" and word in ("so", "very")):
        if group.be and word in ("so", "very", "super", "pretty", "quite", "too", "all", "both"):
            return 0
        group.adverbs.append(word)
        group.words.append(word)
        return 1
    return _verb_part(word, following, group)


def _verb_part(word: str, following: str, group: _Group) -> int:
    if group.be and word == "going" and following == "to":
        group.tense = "future" if group.tense == "present" else "conditional"
        group.words += ["going", "to"]
        group.be = False
        group.did = True
        return 2
    if group.tense is None and word == "used" and following == "to":
        group.tense, group.did = "former", True
        group.words += ["used", "to"]
        return 2
    if group.tense is None and word in _FINITE_BE:
        group.add(word, _FINITE_BE[word])
        group.be = True
        return 1
    if group.tense is None and word in _MODALS:
        group.add(word, _MODALS[word])
        group.did = True
        return 1
    if group.tense is None and word in ("do", "does", "did") and _leads_to(following, "base"):
        group.add(word, "past" if word == "did" else "present")
        group.did = True
        return 1
    if word in ("have", "has", "had") and _leads_to(following, "participle", "past"):
        group.add(word, "past" if word == "had" else "perfect")
        group.perfect = True
        return 1
    if word in ("been", "being", "be") and (group.perfect or group.did or group.be):
        group.add(word)
        group.be = True
        return 1
    return 0


def _leads_to(word: str, *forms: Form) -> bool:
    return word in ADVERBS or word in ("not", "never") or bool(reading(word, *forms))


def _main(words: list[str], index: int, group: _Group) -> Predicate | None:
    word = words[index].lower().rstrip(",!.")
    tail = " ".join(words[index + 1 :]) if not words[index].endswith(",") else ""
    if group.be:
        if verb := reading(word, "ing"):
            group.add(word)
            return _finished(group, verb, tail, progressive=True)
        verb = reading(word, "participle", "past")
        if verb and word in _PASSIVES:
            group.add(word)
            return _finished(group, verb, tail, passive=True)
        return _finished(group, "be", " ".join(words[index:]))
    if group.did or group.perfect:
        verb = reading(word, "base") if group.did else reading(word, "participle", "past")
        if not verb:
            return None
        group.add(word)
        return _finished(group, verb, tail)
    return _finite(word, tail, group)


_PASSIVES = frozenset(
    "promoted hired fired diagnosed accepted admitted selected invited chosen awarded asked told"
    " offered fixed deployed merged released completed finished cancelled canceled scheduled"
    " stolen broken damaged injured robbed bitten written published built founded launched"
    " raised rejected approved migrated rolled moved postponed delayed".split()
)


def _finite(word: str, tail: str, group: _Group) -> Predicate | None:
    plural = group.subject.kind == "speaker" or group.subject.plural
    if group.subject.kind == "speaker" and (verb := reading(word, "third")) and not tail:
        return None
    if verb := reading(word, "third"):
        if group.subject.kind == "speaker" and group.subject.written != "The user":
            return None
        group.add(word, "present")
        return _finished(group, verb, tail)
    if plural and (verb := reading(word, "base")):
        past = reading(word, "past")
        group.tense = "past" if past and past != "read" else "present"
        keep = past or group.subject.kind != "speaker" or group.subject.plural
        group.words.append(word if keep else third_person(verb))
        return _finished(group, verb, tail)
    if verb := reading(word, "past"):
        group.add(word, "past")
        return _finished(group, verb, tail)
    return None


def _finished(group: _Group, verb: str, tail: str, **more: bool) -> Predicate:
    return Predicate(
        verb=verb,
        tense=group.tense or "present",
        words=group.said(),
        tail=tail,
        negated=group.negated,
        hedged=group.hedged,
        adverbs=tuple(group.adverbs),
        progressive=more.get("progressive", False),
        passive=more.get("passive", False),
    )
