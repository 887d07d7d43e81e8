"""What somebody is and has: "I am ..." in all its meanings, pets, relatives, illnesses, things."""

from __future__ import annotations

import re
from typing import NamedTuple

from standfast.lifecycle.merge.claims.clauses import Predicate, Subject
from standfast.lifecycle.merge.claims.findings import (
    Finding,
    bare,
    birthday_in,
    cut,
    finding,
    is_nameable,
    place,
)
from standfast.text.normal import caseless
from standfast.text.words import meanings, pattern, word_set


def being_in(subject: Subject, predicate: Predicate) -> Finding | None:
    """ "I am ...": of the past only where somebody was born."""
    tail, who, negated = predicate.tail, subject.key, predicate.negated
    if tail.startswith("born"):
        return _born(subject, tail)
    if predicate.tense not in ("present", "perfect"):
        return None
    short = cut(tail)
    if short.startswith("interested") and word_set("slots.asking") & set(predicate.adverbs):
        return None
    for read in (_being, _being_related, _being_known):
        found = read(subject, tail, short, negated)
        if found is not None:
            return found
    return _profession(who, short, negated)


def _born(subject: Subject, tail: str) -> Finding | None:
    if found := pattern("slots.born_in").match(tail):
        return finding(subject.key, "birthplace", place(found["where"]))
    return finding(subject.key, "birthday", birthday_in(tail))


def _being(subject: Subject, tail: str, short: str, negated: bool) -> Finding | None:
    who = subject.key
    if found := pattern("slots.old").match(short):
        return finding(who, "age", found["age"], negated=negated)
    if tail.startswith("allergic to "):
        value = cut(tail[12:])
        return finding(who, "allergy", value, negated=negated, items=value)
    if short.lower().endswith("intolerant"):
        return finding(who, "allergy", short[:-10].strip(" -"), negated=negated)
    word = bare(short)
    if diet := meanings("claims.diets").get(word):
        return finding(who, "diet", diet, negated=negated)
    if found := pattern("slots.ill").match(short):
        return finding(who, "condition", found["what"], negated=negated)
    if re.match(r"(?:originally )?from [A-Z]", tail):
        return finding(who, "origin", place(tail.split("from ", 1)[1]), negated=negated)
    if re.match(r"(?:based|located|living) in [A-Z]", tail):
        return finding(who, "home", place(tail.split(" in ", 1)[1]), negated=negated)
    return None


def _being_related(subject: Subject, tail: str, short: str, negated: bool) -> Finding | None:
    who = subject.key
    if (found := pattern("slots.taste").match(short)) and _is_taste(found["how"], found["what"]):
        slot = "likes" if found["how"].split()[0] not in word_set("slots.interests") else "interest"
        return finding(who, slot, found["what"], negated=negated, items=found["what"])
    if (found := pattern("slots.to_whom").match(tail)) and found["status"] in (
        "married",
        "engaged",
    ):
        return finding(who, "partner", found["who"], negated=negated)
    status = bare(short).removeprefix("happily ")
    if status in word_set("slots.statuses"):
        return finding(who, "status", status, negated=negated)
    return None


def _is_taste(how: str, what: str) -> bool:
    """ "Interested in learning more" is about this talk, not about a life."""
    if not how.startswith("interested"):
        return is_nameable(what)
    curious = pattern("slots.curious").match(what)
    return is_nameable(what) and not (curious or what.split()[0].endswith("ing"))


def _being_known(subject: Subject, tail: str, short: str, negated: bool) -> Finding | None:
    who = subject.key
    if found := pattern("slots.national").match(short):
        return finding(who, "nationality", found["who"], negated=negated)
    if subject.kind == "speaker" and caseless(short) == who:
        return finding(who, "name", short)
    if re.match(r"(?:called|named) [A-Z]", tail):
        return finding(who, "name", cut(tail.split(" ", 1)[1]), negated=negated)
    if subject.relation and re.match(r"[A-Z]\w+(?: [A-Z]\w+)?\Z", short):
        return finding(who, "name", short, negated=negated)
    if re.match(r"(?:afraid|scared|terrified) of ", tail):
        return finding(who, "fears", cut(tail.split(" of ", 1)[1]), negated=negated)
    if found := re.match(r"(right|left)-handed", tail):
        return finding(who, "handed", found[1], negated=negated)
    return None


def _profession(who: str, short: str, negated: bool) -> Finding | None:
    found = pattern("slots.profession").match(short)
    if found is None or found["noun"].lower() not in word_set("slots.professions"):
        return None
    if pattern("slots.no_profession").match(found["job"]):
        return None
    return finding(who, "job", found["job"], negated=negated)


def having_in(subject: Subject, predicate: Predicate) -> Finding | None:
    tail = predicate.tail
    if predicate.tense not in ("present", "perfect"):
        return None
    if found := pattern("slots.allergy").match(tail):
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
        if found := pattern("slots.having").match(" ".join(words[:count])):
            named = pattern("slots.named_after").match(" " + " ".join(words[count:]))
            name = named["name"] if named else ""
            noun = found["noun"].lower()
            phrases.append(_Phrase(found["count"] or "", found["adjectives"], noun, name))
    return phrases


def _possession(subject: Subject, phrase: _Phrase, negated: bool) -> Finding | None:
    who, noun = subject.key, phrase.noun
    negated = negated or phrase.number == "no"
    pet = meanings("claims.pets", "en").get(noun)
    if pet and "love" not in phrase.adjectives:
        return finding(who, "pet", f"{pet} {phrase.name}", negated=negated)
    if noun in word_set("clauses.family") and noun not in ("family", "ex"):
        value = phrase.name or {"a": "one", "an": "one"}.get(phrase.number, phrase.number) or noun
        return finding(who, meanings("slots.singulars").get(noun, noun), value, negated=negated)
    return _thing_owned(who, phrase, negated)


def _thing_owned(who: str, phrase: _Phrase, negated: bool) -> Finding | None:
    if phrase.noun in word_set("slots.conditions"):
        return finding(who, "condition", phrase.noun, negated=negated)
    one = phrase.number in ("a", "an", "two", "my", "one", "no")
    if one and phrase.noun in word_set("clauses.possessions"):
        return finding(who, "owns", f"{phrase.adjectives}{phrase.noun}", negated=negated)
    return None


def adopted_in(subject: Subject, predicate: Predicate) -> Finding | None:
    """A pet that came into a home: got, bought, adopted."""
    if predicate.tense not in ("past", "perfect") or predicate.negated:
        return None
    pets = meanings("claims.pets", "en")
    for phrase in _noun_phrases(predicate.tail):
        if phrase.noun in pets and phrase.number in ("a", "an", "another", "two", "three"):
            return _possession(subject, phrase, False)
    return None
