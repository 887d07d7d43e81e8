"""What things are set to: "my locker is 118", and "I changed my locker to 204".

Any thing may have a value, also one that no slot knows. Where somebody says in so many words that
it has another one now, the one before is over. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from standfast.text.analysis import stem, words
from standfast.text.words import word_set

SAID_MAX = 200  # characters: what is longer says more than one thing
_OWNER = r"(?:my|our|the)"
_WORD = r"[^\W\d_][\w'-]*"
_THING = (
    rf"{_OWNER} (?P<thing>(?:{_WORD} ){{0,3}}?{_WORD})"
    r"(?: (?:for|of|at|in|with) (?P<of>(?:[\w'-]+ ){0,3}?[\w'-]+))?"
)
_VALUE = r"(?P<value>[^,;!?]{1,60}?)"
_SINCE = (
    r"(?: (?:now|from now on|these days|nowadays|instead|going forward|from \w+ on"
    r"|since (?:(?:the|my|our|last|this) )?\w+))"
)
_END = r"\W*\Z"
_LEAD = (
    r"\A\W*(?:(?:so|ok|okay|and|by the way|btw|fyi|heads up|update|note|please note(?: that)?"
    r"|just so you know|please)[,:]? )?"
)
_RENAMED = r"(?:changed|renamed|reset|switched|updated)"
NEW = "new"
_ANY = frozenset(("change", "changed", "rename", "renamed", "reset"))
_MOVED = r"(?:moved|shifted|pushed|brought|rescheduled|postponed|set)"
_MEASURED = (
    r"(?:raised|lowered|bumped|increased|reduced|cut|upped|dropped|extended|shortened|adjusted)"
)
_VERB = rf"(?P<verb>{_RENAMED}|{_MOVED}|{_MEASURED})(?: up| down| back| over| forward)?"
_TO = r"(?: from .{1,40}?)?(?: (?:up |down |back |over |forward )?(?:to|into|until|as)|:)"
_FROM_NOW = r"(?:going forward|from now on|from \w+ on|(?:as of|starting|effective)(?: \w+){1,3})"

_STATE = re.compile(
    rf"\A\W*{_THING} (?:is|are)(?: (?:set to|now))? {_VALUE}{_SINCE}?{_END}", re.IGNORECASE
)
_NEW = tuple(
    re.compile(f"{_LEAD}{form}{_END}", re.IGNORECASE)
    for form in (
        rf"(?:I|we|they|he|she)(?: have| has|'ve|'s)?(?: just| now| finally)? {_VERB}"
        rf" {_THING}{_TO} {_VALUE}{_SINCE}?",
        rf"{_THING} (?:was|were|got|is|are|has been|have been)(?: just| now)? {_VERB}"
        rf"{_TO} {_VALUE}{_SINCE}?",
        r"(?:let's |let us |can you |could you |we should )?"
        rf"(?P<verb>change|switch|set|update|rename|move) {_THING} (?:to|as) {_VALUE}{_SINCE}?",
        rf"{_FROM_NOW},? {_THING} (?:is|are|will be) {_VALUE}",
        rf"{_OWNER} (?P<verb>new) {_THING[len(_OWNER) + 1 :]} (?:is|are) {_VALUE}",
        rf"{_THING} (?:is|are) now {_VALUE}",
        rf"{_THING} (?:is|are|will be) {_VALUE}{_SINCE}",
    )
)
_MADE = re.compile(
    rf"{_LEAD}(?:let's |let us )?make {_OWNER} (?P<rest>[^,;!?]{{3,80}}?){_END}", re.IGNORECASE
)
_PARTY = r"[^,;!?]{2,40}?"
_GONE = rf"(?P<gone>{_PARTY})"
_EXCHANGED = tuple(
    re.compile(f"{_LEAD}{form}{_END}", re.IGNORECASE)
    for form in (
        rf"{_GONE} (?:was|were|got|is|are|has been|have been) (?:replaced|succeeded) (?:by|with)"
        rf" {_PARTY}",
        rf"{_PARTY} (?:has |have |just )?(?:replaced|succeeded|(?:took|taken) over from) {_GONE}",
        r"(?:I|we|they|he|she)(?: have| has|'ve|'s)?(?: just| finally)? (?:replaced|swapped"
        rf"|exchanged|traded(?: in)?) {_GONE}(?: in)? (?:with|for|by|against) {_PARTY}",
    )
)


class Value(NamedTuple):
    """``thing``: the stems of what has it, the last one is ``head``; ``of``: what that is for."""

    thing: frozenset[str]
    head: str
    of: frozenset[str]
    value: str
    verb: str = ""


@lru_cache(maxsize=4000)
def value_in(text: str) -> Value | None:
    """The value that a statement says a thing has."""
    found = _STATE.match(_with_verb(text)) if len(text) <= SAID_MAX else None
    return _value(found) if found else None


@lru_cache(maxsize=4000)
def new_values_in(text: str) -> tuple[Value, ...]:
    """The value that a statement says a thing has now, and had not before; several where it may
    be read in several ways."""
    text = _with_verb(text)
    for form in _NEW if len(text) <= SAID_MAX else ():
        if found := form.match(text):
            return (_value(found),)
    made = _MADE.match(text) if len(text) <= SAID_MAX else None
    return tuple(_made(made["rest"].split())) if made else ()


def _with_verb(text: str) -> str:
    """ "The mascot's an otter" as "the mascot is an otter"."""
    return _SHORT_IS.sub(" is ", text, count=1)


_SHORT_IS = re.compile(r"(?<=\w)['’]s (?=(?:an?|the|now|called|at|on|in)\b)", re.IGNORECASE)


def _value(found: re.Match[str]) -> Value:
    given = found.groupdict()
    said = [stem(word) for word in words(given["thing"])]
    value, called = _CALLED.subn("", given["value"], count=1)
    if called:  # "my cat is called Nala" gives the cat's name
        said.append("name")
    verb = (given.get("verb") or "").casefold()
    return Value(frozenset(said), said[-1] if said else "", _meant(given["of"] or ""), value, verb)


_CALLED = re.compile(r"\A(?:called|named) ", re.IGNORECASE)


def _made(rest: list[str]) -> Iterator[Value]:
    """ "The party budget 500": nothing says where the thing ends."""
    for at in range(1, min(len(rest), 5)):
        said = [stem(word) for part in rest[:at] for word in words(part)]
        value = " ".join(rest[at:])
        if said and (_shape(value) != "word" or at + 1 == len(rest)):
            yield Value(frozenset(said), said[-1], frozenset(), value)


def sets_anew(text: str, known: str) -> bool:
    """Whether a statement says that a thing has another value than the known one says."""
    told, gone = new_values_in(text), _exchanged_in(text)
    old = value_in(known) if told or gone else None
    if old is None:
        return False
    return any(_is_another(new, old) for new in told) or bool(gone and gone <= _meant(old.value))


@lru_cache(maxsize=4000)
def _exchanged_in(text: str) -> frozenset[str]:
    """What something else has taken the place of: "Professor Lin has been replaced by ..."."""
    forms = _EXCHANGED if len(text) <= SAID_MAX else ()
    found = next((match for form in forms if (match := form.match(text))), None)
    return _meant(found["gone"]) if found else frozenset()


def _meant(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(text))) - word_set("search.stop_words")


def is_elsewhere(text: str, known: str) -> bool:
    """Whether both say where the same thing is, and name two places: one of them is wrong, or over,
    though neither says so."""
    new, old = value_in(text), value_in(known)
    if new is None or old is None or (new.thing, new.of) != (old.thing, old.of):
        return False
    here, there = _NAMED_PLACE.match(new.value), _NAMED_PLACE.match(old.value)
    return bool(here and there) and not _meant(new.value) & _meant(old.value)


_NAMED_PLACE = re.compile(r"in [^\W\d_a-z]")


def leaves_alone(text: str, known: str) -> bool:
    """Whether a statement says something of another thing than a known one, though in part of the
    same words ("my new phone case" to "my phone"), or of the same thing, and nothing that could be
    its value: "my phone is broken now" says not which phone it is."""
    told = new_values_in(text) or ((one,) if (one := value_in(text)) else ())
    old = value_in(known) if told else None
    return old is not None and all(_is_beside(new, old) for new in told)


def _is_another(new: Value, old: Value) -> bool:
    if not _is_same(new, old) or _is_one_more(new):
        return False
    ours, theirs = (frozenset(map(stem, words(one.value))) for one in (new, old))
    if not ours or ours <= theirs or theirs <= ours:
        return False
    return _fits(new, old)


def _is_same(new: Value, old: Value) -> bool:
    """Whether both are of one thing; who names it again may leave out what it is for."""
    named = old.thing | old.of
    return bool(new.head) and new.head == old.head and new.thing <= named and new.of <= named


def _is_beside(new: Value, old: Value) -> bool:
    if not _is_same(new, old):
        parted = new.head == old.head and bool(new.of - old.of - old.thing)
        return parted or (new.head != old.head and bool(new.thing & old.thing))
    ours, theirs = _shape(new.value), _shape(old.value)
    if _is_one_more(new):
        return True
    if new.verb and new.verb != NEW:
        return theirs in ("kind", "name") and not _fits(new, old)
    if ours == "place":
        return theirs in ("kind", "name", "measure")
    return ours == "word" and _describes(new.value) and not _describes(old.value)


def _is_one_more(new: Value) -> bool:
    """A new friend does not end the one before."""
    return new.verb == NEW and new.head in _several()


@cache
def _several() -> frozenset[str]:
    return frozenset(map(stem, word_set("things.several")))


def _fits(new: Value, old: Value) -> bool:
    """Whether both are values of one kind: "my phone is broken now" says nothing of which it is."""
    ours, theirs = _shape(new.value), _shape(old.value)
    if re.fullmatch(_MEASURED, new.verb):
        return ours == theirs == "measure"
    if re.fullmatch(_MOVED, new.verb):
        return theirs in (("measure",) if ours == "measure" else ("place",))
    if new.verb in _ANY:
        return True  # who says so means a value
    if ours == theirs:
        return ours != "word" or not (_describes(new.value) or _describes(old.value))
    if new.verb in ("update", "updated"):
        return False
    return {ours, theirs} <= {"kind", "name", "thing"}


_MEASURE = re.compile(
    r"(?:at |on |by |around |about |until |for |to )?(?:the )?\W?"
    r"(?:\d|(?:next|this|last|early|late)\b|tomorrow|spring|summer|autumn|fall\b|winter"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|noon|midnight|jan|feb|march|apr|may\b|june|july|aug|sept|oct|nov|dec"
    r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)",
    re.IGNORECASE,
)
_LIKE = re.compile(
    r"an? (?=(?:bit|little|lot|mess|joy|pain|nightmare|disaster|good|great|bad|nice|real)\b)",
    re.IGNORECASE,
)
_SHAPES = (
    ("measure", _MEASURE),
    ("word", _LIKE),
    ("kind", re.compile(r"an? ", re.IGNORECASE)),
    ("place", re.compile(r"(?:at|behind|by|from|in|near|next|on|to|under|with) ", re.IGNORECASE)),
    ("name", re.compile(r"[^\W\d_a-z]")),
    ("thing", re.compile(r"(?:the|my|our) ", re.IGNORECASE)),
)


def _shape(value: str) -> str:
    bare = value.strip(" \"'(")
    return next((name for name, form in _SHAPES if form.match(bare)), "word")


_ENDINGS = ("ed", "ing", "able", "ible", "ful", "ous", "less", "ly")


def _describes(value: str) -> bool:
    """Whether a value is only what a thing is like."""
    if _LIKE.match(value):
        return True
    first = next(iter(words(value)), "")
    return first.endswith(_ENDINGS) or first in word_set("things.descriptions")
