"""What somebody is: "I am ..." in all its meanings."""

from __future__ import annotations

import re

from recollect.text.claims.clauses import Predicate, Subject, folded
from recollect.text.claims.findings import Finding, finding
from recollect.text.claims.slot_values import bare, birthday_in, cut, is_nameable, place
from recollect.text.claims.words import DIETS, PROFESSIONS, STATUSES

_OLD = re.compile(
    r"(?P<age>\d{1,3})(?: years?(?: |-)old)?(?: now| today| already)?\Z", re.IGNORECASE
)
_PROFESSION = re.compile(
    r"(?:an?|the) (?P<job>(?:[\w\-]+ ){0,3}?(?P<noun>[\w\-]+))"
    r"(?: (?:at|for|with|in|by|from|on|here|now|and|who|specializing)\b.*)?\Z",
    re.IGNORECASE,
)
_TASTE = re.compile(
    r"(?:really |very |so |super |totally |pretty |quite |a |an |such a )*"
    r"(?P<how>(?:huge |big |massive |great )?(?:fan of|lover of)|fond of|crazy about|in love with"
    r"|into|interested in|keen on|passionate about|obsessed with) (?P<what>.+)"
)
_TO_WHOM = re.compile(r"(?P<status>[a-z]+) to (?P<who>[A-Z]\w+(?: [A-Z]\w+)?)")
_BORN_IN = re.compile(r"born (?:and raised )?in (?P<where>[A-Z][\w\- ]*)")
_NATIONAL = re.compile(
    r"(?:originally )?(?P<who>American|British|German|French|Spanish|Italian|Chinese|Japanese"
    r"|Indian"
    r"|Canadian|Australian|Swedish|Norwegian|Danish|Dutch|Polish|Mexican|Brazilian|Korean|Irish"
    r"|Scottish|Swiss|Austrian|Portuguese|Turkish|Greek|Russian|Ukrainian|Vietnamese|Nigerian)\Z"
)
_ILL = re.compile(
    r"(?:a |type \d )*(?P<what>diabetic|asthmatic|dyslexic|colou?r[- ]?blind|deaf|epileptic)\b"
)


def being_in(subject: Subject, predicate: Predicate) -> Finding | None:
    """ "I am ...": of the past only where somebody was born."""
    tail, who, negated = predicate.tail, subject.key, predicate.negated
    if tail.startswith("born"):
        return _born(subject, tail)
    if predicate.tense not in ("present", "perfect"):
        return None
    short = cut(tail)
    if short.startswith("interested") and _ASKING & set(predicate.adverbs):
        return None
    for read in (_being, _being_related, _being_known):
        found = read(subject, tail, short, negated)
        if found is not None:
            return found
    return _profession(who, short, negated)


# "I am particularly interested in ..." narrows a question down.
_ASKING = frozenset("particularly especially mostly mainly primarily also currently".split())


def _born(subject: Subject, tail: str) -> Finding | None:
    if found := _BORN_IN.match(tail):
        return finding(subject.key, "birthplace", place(found["where"]))
    return finding(subject.key, "birthday", birthday_in(tail))


def _being(subject: Subject, tail: str, short: str, negated: bool) -> Finding | None:
    who = subject.key
    if found := _OLD.match(short):
        return finding(who, "age", found["age"], negated=negated)
    if tail.startswith("allergic to "):
        value = cut(tail[12:])
        return finding(who, "allergy", value, negated=negated, items=value)
    if short.lower().endswith("intolerant"):
        return finding(who, "allergy", short[:-10].strip(" -"), negated=negated)
    word = bare(short)
    if word in DIETS:
        return finding(who, "diet", DIETS[word], negated=negated)
    if found := _ILL.match(short):
        return finding(who, "condition", found["what"], negated=negated)
    if re.match(r"(?:originally )?from [A-Z]", tail):
        return finding(who, "origin", place(tail.split("from ", 1)[1]), negated=negated)
    if re.match(r"(?:based|located|living) in [A-Z]", tail):
        return finding(who, "home", place(tail.split(" in ", 1)[1]), negated=negated)
    return None


def _being_related(subject: Subject, tail: str, short: str, negated: bool) -> Finding | None:
    who = subject.key
    if (found := _TASTE.match(short)) and _is_taste(found["how"], found["what"]):
        slot = "likes" if found["how"].split()[0] not in _INTERESTS else "interest"
        return finding(who, slot, found["what"], negated=negated, items=found["what"])
    if (found := _TO_WHOM.match(tail)) and found["status"] in ("married", "engaged"):
        return finding(who, "partner", found["who"], negated=negated)
    if bare(short).removeprefix("happily ") in STATUSES:
        return finding(who, "status", bare(short).removeprefix("happily "), negated=negated)
    return None


def _is_taste(how: str, what: str) -> bool:
    """ "Interested in learning more" is about this talk, not about a life."""
    if not how.startswith("interested"):
        return is_nameable(what)
    return is_nameable(what) and not (_CURIOUS.match(what) or what.split()[0].endswith("ing"))


_CURIOUS = re.compile(
    r"(?:learning|knowing|finding|hearing|getting|seeing|exploring|trying|using|checking|reading)"
    r"(?: out)?(?: more| about| some| what| how| the|$)|(?:more|both|either|one|an?|the) "
)
_INTERESTS = frozenset(("into", "interested", "keen", "passionate", "obsessed"))


def _being_known(subject: Subject, tail: str, short: str, negated: bool) -> Finding | None:
    who = subject.key
    if found := _NATIONAL.match(short):
        return finding(who, "nationality", found["who"], negated=negated)
    if subject.kind == "speaker" and folded(short) == who:
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
    found = _PROFESSION.match(short)
    if found is None or found["noun"].lower() not in PROFESSIONS:
        return None
    if re.match(
        r"(?:great|good|bad|big|real|natural|better|terrible|amazing|awesome)\b", found["job"]
    ):
        return None
    return finding(who, "job", found["job"], negated=negated)
