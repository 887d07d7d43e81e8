"""Is a sentence that no rule reads a lasting statement about the speaker's life or work?

Whatever says for itself that it passes, jokes, asks, supposes or talks about the talk is not. What
is left must look like a statement: a subject that belongs to the speaker, and a verb in a tense
that tells how things are, or how they changed.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from recollect.text.claims.changes import change_in
from recollect.text.claims.clauses import expanded, reading, without_opening
from recollect.text.claims.foreign import language_of
from recollect.text.claims.lasting_words import (
    BEING,
    CONVERSATION,
    ENGLISH,
    FOREIGN_OWN,
    FOREIGN_PASSING,
    FOREIGN_TIMED,
    HYPOTHETICAL,
    IMPERATIVE,
    KIN,
    LASTING_PAST,
    LASTING_VERBS,
    MOODS,
    NOT_VERBS,
    NUMBERS,
    PASSING,
    PASSING_NOUNS,
    PASSING_VERBS,
    STANDING,
    TALK_VERBS,
    TIMED,
    WORK_IN_HAND,
    is_figurative,
)
from recollect.text.words import pattern, word_set

WORDS_MIN, WORDS_MAX = 2, 45

_LOWER_I = re.compile(r"(?<![\w.])i(?='|\b)(?!\.)")
_CHAT = {
    "im": "I'm", "ive": "I've", "id": "I'd", "dont": "don't", "doesnt": "doesn't", "cant": "can't",
    "wont": "won't", "isnt": "isn't", "didnt": "didn't", "shes": "she's", "hes": "he's",
    "theyre": "they're", "thats": "that's", "bf": "boyfriend", "gf": "girlfriend", "mom's": "Mom's",
}  # fmt: skip
_CHAT_WORD = re.compile(rf"(?<![\w'])(?:{'|'.join(_CHAT)})(?![\w'])")
_QUESTION = re.compile(
    r"(?:what|who|whose|which|how|why|when|where|is|are|do|does|did|can|could|would|should|will|am"
    r"|was|were|has|have|had|may|shall|isn't|aren't|don't|doesn't|won't|wouldn't)\b(?! (?:i|we) )",
    re.IGNORECASE,
)
_HAVE_FIRST = re.compile(r"(?:have|had|has) (?:a|an|the|my|our|to|two|three|\d)", re.IGNORECASE)
_YOU = re.compile(r"\b(?:you|your|yours|yourself|u|ur|y'all|ya)\b(?! know\b| see\b)", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:I|we|We|my|My|our|Our|me|us|mine|ours|myself|ourselves)\b")
_SPEAKER = re.compile(r"(?P<who>I|[Ww]e)(?: both| all| guys| two)? (?P<rest>.+)", re.DOTALL)
_OWN = re.compile(
    r"(?:[Mm]y|[Oo]ur)(?: own)? (?P<what>(?:[\w'.&/-]+ ){0,6}?[\w'.&/-]+),?"
    r"(?:'s)? (?P<rest>(?:is|are|was|were|has|have|had|does|do|did|can|will|only|always|never|still"
    r"|just|also|both|all|lives?|works?|goes|gets?|got|[a-z]+s|[a-z]+ed|uses?|takes?|runs?|left"
    r"|went|broke|sold|bought|began|came|died|put|let|took|gave|lost|won|made)\b.*)",
    re.DOTALL,
)
_NAMED = re.compile(
    r"(?P<what>[A-ZÀ-Ý][\w'&.-]*(?:,? (?:and |& |of |the )?[A-ZÀ-Ý][\w'&.-]*){0,3}|[A-ZÀ-Ý][\w-]+"
    r" [a-z]+s?),?(?:'s)? (?P<rest>(?:is|are|was|were|has|have|had|does|do|did|[a-z]+s|[a-z]+ed|left"
    r"|went|let|got|died|broke|dropped|cut|put|sold|came|took|gave|and I|and i)\b.*)",
    re.DOTALL,
)
_ANY_NAME = re.compile(r"(?P<what>[A-ZÀ-Ý][\w'-]+) (?P<rest>[a-z]+\b.*)", re.DOTALL)
_THE = re.compile(
    r"(?:the|these|both|all|two|three|four|that) (?P<what>(?:[\w'.&/-]+ ){0,6}?[\w'.&/-]+)"
    r"(?:'s)? (?P<rest>(?:is|are|was|were|has|have|had|[a-z]+s|[a-z]+ed|went|got|came|slipped"
    r"|left|cut|ran|runs|lives?|meets?|starts?)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_DURATION = re.compile(
    r"\b(?:since|for (?:\w+ ){0,2}(?:years?|months?|decades?|weeks)|all my life|always|never|ever"
    r" since|my whole life|for good|from now on|years?|each|every|ago|when I was)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?:he|she|they|it|this|that|these|those|there|one|some|his|her|their|its|him|them|here)\b",
    re.IGNORECASE,
)
_PROGRESSIVE = re.compile(r"(?:am|is|are|was|were|be|been) (?:\w+ly |just |still |now |also )*([a-z]+ing)\b")
_FIGURE = re.compile(rf"\d|[A-ZÀ-Ý]\w+|\b{NUMBERS}\b")
_LEAD = re.compile(
    r"(?:[^:,]{1,50}: |(?:after|by|in|on|at|since|during|for|until|from|with|before|over|as|most|all"
    r"|every|each) [^,.;:]{1,45}?,? )(?=(?:I|[Ww]e|[Mm]y|[Oo]ur|I'm|[Ii]t's (?:just|only))\b)",
    re.IGNORECASE,
)
_ONLY_US = re.compile(r"(?:it|there) is (?:just|only) (?:me|us|my|the two|the three)\b", re.IGNORECASE)
_THEY = re.compile(r"(?:they|somebody|someone) (?:have |has |had |just )?\w+.*\b(?:me|us|my|our|the)\b")
_DENSE = re.compile("[\u3400-\u9fff]")


@lru_cache(maxsize=1000)
def is_lasting(text: str) -> bool:
    """Whether a sentence, or a part of one, is worth keeping in the speaker's own words."""
    english = len(set(ENGLISH.findall(text.casefold())))
    if language_of(text) or (FOREIGN_OWN.search(text) and not english):
        return _foreign(text)
    words = spelled(text)
    if english < 2 and not ENGLISH.match(text) and change_in(text).kind in ("ends", "changes"):
        return _elliptic(words, True) or _foreign(text)
    return _may_be(words) and _is_statement(words)


def is_unreal_part(text: str) -> bool:
    """Whether a part jokes or gives roles, so that nothing else in the sentence is meant."""
    return is_figurative(text) or bool(_ROLE.search(text))


_ROLE = re.compile(r"\b(?:you're|you are|you play) (?:a|an|the|my)\b", re.IGNORECASE)


@lru_cache(maxsize=1000)
def is_ruled_out(text: str) -> bool:
    """Whether a part supposes, jokes or speaks to somebody, so that nothing around it is sure."""
    if language := language_of(text):
        return bool(pattern("claims.unreal", language).search(text) or is_figurative(text))
    words = spelled(text)
    return bool(HYPOTHETICAL.search(words) or is_figurative(words) or _YOU.search(words))


def spelled(text: str) -> str:
    """Chat spelling as it is read: "i", "im", "ive" as "I", "I am", "I have"."""
    text = _CHAT_WORD.sub(lambda found: _CHAT[found[0]], _LOWER_I.sub("I", text))
    return without_opening(expanded(text).strip(" ,;:-–—\"'*()"))


def _may_be(words: str) -> bool:
    """Nothing in it says that it passes, asks, supposes, jokes, or talks about this talk."""
    count = len(words.split())
    if not WORDS_MIN <= count <= WORDS_MAX or words.endswith("?"):
        return False
    if _QUESTION.match(words) and not _HAVE_FIRST.match(words):
        return False
    if _YOU.search(words) or HYPOTHETICAL.search(words) or is_figurative(words):
        return False
    if CONVERSATION.search(words) or WORK_IN_HAND.search(words) or _is_imperative(words):
        return False
    changes = change_in(words).kind in ("ends", "changes")
    return changes or not (PASSING.search(words) or PASSING_NOUNS.search(words))


def _is_imperative(words: str) -> bool:
    first = re.match(r"(?:please |pls |just |then |now |so )*([A-Za-z']+)", words)
    order = bool(first and IMPERATIVE.match(first[1]))
    return order and not re.match(r"\w+ [a-z]+ (?:is|are|meets|starts|has|was)\b", words)


def _is_statement(words: str) -> bool:
    if found := _LEAD.match(words):
        return _is_statement(words[found.end() :])
    if _PRONOUN.match(words):
        told = _THEY.match(words.lower()) and change_in(words).kind in ("ends", "changes")
        return bool(told or _ONLY_US.match(words))
    if found := _SPEAKER.match(words):
        return _said_of_speaker(found["rest"])
    if found := _OWN.match(words):
        strong = change_in(words).kind in ("ends", "changes")
        if _REPORTED.match(found["rest"]):
            return bool(_PROFESSIONAL.match(found["what"]))
        return _said_of_other(found["rest"], strong)
    if (found := KIN.match(words)) and (rest := words[found.end() :].strip(" ,")):
        return _said_of_other(re.sub(r"\A's ", "is ", rest), change_in(words).kind in ("ends", "changes"))
    strong = change_in(words).kind in ("ends", "changes")
    if found := _NAMED.match(words) or (strong and _ANY_NAME.match(words)):
        return _said_of_named(words, found["rest"], strong)
    if found := _THE.match(words):
        return _said_of_thing(words, found["what"], found["rest"], strong)
    return _elliptic(words, strong)


@cache
def _adverbs() -> frozenset[str]:
    return word_set("clauses.adverbs") | {"do", "did", "mostly", "now", "then"}


def _after_adverbs(rest: str) -> list[str]:
    parts = rest.split()
    while parts and parts[0].lower().strip(",") in _adverbs():
        if parts[0] in ("do", "did") and not (len(parts) > 1 and reading(parts[1].lower(), "base")):
            break
        parts = parts[1:]
    return parts


def _said_of_speaker(rest: str) -> bool:
    parts = _after_adverbs(rest)
    if not parts:
        return False
    verb = parts[0].lower().strip(",.")
    tail = parts[1:]
    if verb in ("am", "are"):
        return _being(" ".join(tail))
    if verb in ("was", "were"):
        return _been(" ".join(tail))
    if verb in ("have", "has", "had") and tail[:1] == ["to"] and not _DURATION.search(rest):
        return change_in(rest).kind in ("ends", "changes")
    if verb in ("have", "has", "had"):
        ends = change_in(" ".join(tail)).kind == "ends"
        return _having(" ".join(tail), verb) or (ends and len(tail) > 2)
    if verb in ("not", "never", "cannot", "can", "must", "need", "will"):
        return _modal(verb, tail)
    if verb == "do":
        return bool(tail) and not (tail[0] == "not" and _modal("not", tail[1:]) is False)
    if verb in NOT_VERBS or verb in TALK_VERBS:
        return False
    if verb == "no" and tail[:1] == ["longer"]:
        return len(tail) > 1 and tail[1].lower() not in TALK_VERBS
    past = reading(verb, "past", "participle") and not reading(verb, "base")
    if past or (verb.endswith("ed") and not reading(verb, "base")) or verb == "cut":
        return _past(verb, " ".join(tail))
    if verb in ("let", "put", "quit") and change_in(rest).kind in ("ends", "changes"):
        return bool(tail)
    if verb in ("used",) and tail[:1] == ["to"]:
        return True
    if verb in LASTING_VERBS:
        return bool(tail) or verb in _ALONE
    told = TIMED.search(rest) or re.search(r"\d", rest) or _HABIT.search(rest)
    return verb not in PASSING_VERBS and bool(told) and bool(tail)


_ALONE = frozenset("smoke drink drive swim cycle commute freelance volunteer sing dance paint knit run".split())
_HABIT = re.compile(r"\b(?:always|usually|often|mostly|only|never|all (?:my|our)|for (?:a|the) living|twice|both)\b")


def _being(tail: str) -> bool:
    tail = re.sub(r"\A(?:also|still|now|just|both|really|not|currently|actually|already|so|very|pretty|quite|all|officially|mostly|only|originally|basically|kind of|sort of|a bit|proudly) ", "", tail)
    if found := re.match(r"([a-z]+ing)\b", tail):
        named = "called" in tail or change_in(tail).kind in ("ends", "changes")
        return (found[1] in _LASTING_ING or named) and len(tail.split()) > 1
    first = tail.split(" ", 1)[0].strip(",.").lower()
    if not tail or first == "dead" or (first in MOODS and change_in(f"is {tail}").kind not in ("ends", "changes")):
        return False
    if first in MOODS:
        return True
    if re.match(r"(?:an?|the|our|my|one|two|three|four|five|six|seven|eight|nine|ten|\d|in|at|on|with|from|of|under|near|into|by|part|based|married|based)\b", tail, re.I):
        return True
    return bool(BEING.match(tail)) or tail[:1].isupper()


_LASTING_ING = frozenset(
    "working living studying training learning building saving raising fostering writing teaching"
    " volunteering restoring renovating developing running managing leading coaching dating seeing"
    " renting leasing moving planning preparing expecting recovering taking migrating replacing caring"
    " sharing homeschooling retraining hosting sponsoring mentoring commuting selling growing becoming"
    " adopting switching undergoing suffering designing organizing organising apprenticing interning"
    " doing rebuilding converting transitioning translating editing composing majoring specializing"
    " specialising freelancing subletting farming breeding keeping collecting applying".split()
)


def _been(tail: str) -> bool:
    if re.match(r"(?:born|raised|adopted|diagnosed|brought up|named after|married|in the|a |an |the )", tail):
        return bool(_DURATION.search(tail) or re.match(r"(?:born|raised|adopted|diagnosed|brought|named)", tail) or _FIGURE.search(tail))
    return change_in(f"was {tail}").kind in ("ends", "changes")


def _having(tail: str, verb: str) -> bool:
    first = tail.split(" ", 1)[0].strip(",").lower() if tail else ""
    if not first:
        return False
    if first in ("to", "no idea", "been", "never", "always", "not", "lived", "worked", "known", "had", "got"):
        if first == "to":
            return verb != "had" or change_in(f"had {tail}").kind in ("ends", "changes")
        if first == "got":
            return len(tail.split()) > 1
        return bool(_DURATION.search(tail)) and not re.match(r"(?:been|never|always) (?:told|heard|seen|thinking|wondering|trying|looking|asked|waiting)\b", tail)
    if reading(first, "participle") and first not in ("cut", "set", "put", "let", "run", "read", "hurt"):
        return change_in(f"have {tail}").kind in ("ends", "changes") or bool(
            re.search(r"\b(?:since|for \w+ (?:years|months))\b", tail)
        )
    return verb != "had" or bool(_DURATION.search(tail))


def _modal(verb: str, tail: list[str]) -> bool:
    if verb == "will":
        return False
    if tail[:1] == ["not"]:
        tail, verb = tail[1:], "not"
    if not tail:
        return False
    main = tail[0].lower()
    if verb in ("need", "must"):
        return bool(re.search(r"\b(?:every|each|always|daily|weekly|glasses|a wheelchair|insulin|step-free|subtitles|quiet)\b", " ".join(tail)))
    if verb == "can":
        return bool(re.match(r"(?:speak|read|write|play|swim|drive|sew|code|cook|ride|sign|sing|type|knit|ski)\b", main))
    return main == "stand" or (
        main not in TALK_VERBS and main not in PASSING_VERBS and main not in ("be", "lie")
    )


def _past(verb: str, tail: str) -> bool:
    if change_in(f"{verb} {tail}").kind in ("ends", "changes"):
        return bool(tail) and not re.match(r"(?:it|that|this|them|him|her)\b", tail)
    if re.match(r"(?:it|that|this|them|him|her)\b", tail):
        return False
    return bool(LASTING_PAST.match(verb)) and len(tail.split()) >= 2 and not PASSING.search(tail)


_REPORTED = re.compile(r"(?:says?|said|told|tells|thinks?|thought|claims?|claimed|believes?|asked|asks|wrote|writes)\b")
_PROFESSIONAL = re.compile(r"(?:doctor|vet|dentist|gp|surgeon|consultant|midwife|physio|allergist|specialist|hospital|therapist)\b")


def _said_of_other(rest: str, strong: bool) -> bool:
    """About somebody or something that belongs to the speaker."""
    if _REPORTED.match(rest) and not strong:
        return False
    if found := _PROGRESSIVE.search(rest):
        if not strong and found[1] not in _LASTING_ING:
            return False
    first = rest.split(" ", 1)[0].lower()
    if first in ("was", "were", "had", "did") or reading(first, "past") and not reading(first, "base"):
        return strong or bool(_BEGAN.search(rest)) or (
            first in ("was", "were") and bool(re.match(r"\w+ (?:an?|the) [a-z]", rest))
        )
    tail = rest.partition(" ")[2]
    mood = first in ("is", "are") and tail.split(" ", 1)[0].strip(",.").lower() in MOODS
    if mood and not strong and not TIMED.search(rest):
        return False
    return bool(tail or strong) and ("says" not in rest[:20] or strong)


_BEGAN = re.compile(r"\b(?:born|started|began|finished|passed|for \w+ years)\b")


def _said_of_named(words: str, rest: str, strong: bool) -> bool:
    if not (_FIRST.search(words) or strong or TIMED.search(rest)):
        return False
    if re.match(r"(?:says?|said|told|asked|thinks?|thought|claims?|claimed|wrote|writes)\b", rest):
        return False
    return _said_of_other(rest, strong)


def _said_of_thing(words: str, what: str, rest: str, strong: bool) -> bool:
    if _REPORTED.match(rest):
        return strong and bool(_PROFESSIONAL.match(what))
    if _PROGRESSIVE.search(rest) and not strong:
        return False
    standing = bool(STANDING.search(what)) or bool(_FIRST.search(words))
    told = bool(TIMED.search(words) or _FIGURE.search(rest)) or strong or bool(_FIRST.search(words))
    return standing and told and _said_of_other(rest, strong)


_ELLIPTIC = re.compile(
    r"(?:sold|switched|swapped|moved|changed|turned|quit|dropped|bumped|raised|lowered|cut|cancel+ed"
    r"|stopped|started|joined|got (?:promoted|married|engaged|divorced|fired|laid|a new|rid)|gave up"
    r"|left|renamed|replaced|upgraded|had to (?:give|put|stop|sell|cancel|quit|drop|move)|retired"
    r"|down to|no more|no longer|back (?:in|at|to)|new|since|now|home is|finally|born|bought|adopted"
    r"|signed|broke up|split|postponed|rescheduled|passed|graduated|no \w+ing|traded|sacked|fired)\b",
    re.IGNORECASE,
)


def _elliptic(words: str, strong: bool) -> bool:
    """ "Sold the flat in March": the speaker is who did it. Without any verb at all it must say
    how often or since when."""
    if _ELLIPTIC.match(words):
        return (strong or bool(_FIGURE.search(words))) and len(words.split()) >= 2
    if strong and _FIRST.search(words):
        return True
    return bool(_FIRST.search(words) and TIMED.search(words))


# Other languages


def _foreign(text: str) -> bool:
    if FOREIGN_PASSING.search(text) or text.rstrip().endswith(("?", "？")) or is_figurative(text):
        return False
    if _DENSE.search(text):
        strong = change_in(text).kind in ("ends", "changes")
        return len(text) >= 4 and (strong or bool(FOREIGN_OWN.search(text) or FOREIGN_TIMED.search(text)))
    strong = change_in(text).kind in ("ends", "changes")
    count = len(text.split())
    return 2 <= count <= WORDS_MAX and (strong or bool(FOREIGN_OWN.search(text) or FOREIGN_TIMED.search(text)))
