"""Is a sentence that no rule reads a lasting statement about the speaker's life or work?

Whatever says for itself that it passes, jokes, asks, supposes or talks about the talk is not. What
is left must look like a statement: a subject that belongs to the speaker, and a verb in a tense
that tells how things are, or how they changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from standfast.text.claims.changes import change_in, is_turn
from standfast.text.claims.clauses import expanded, reading, without_opening
from standfast.text.claims.foreign import language_of
from standfast.text.claims.values import new_values_in
from standfast.text.words import cues, pattern, word_set

WORDS_MIN, WORDS_MAX = 2, 45

_LOWER_I = re.compile(r"(?<![\w.])i(?='|\b)(?!\.)")
_CHAT = {
    "im": "I'm", "ive": "I've", "id": "I'd", "dont": "don't", "doesnt": "doesn't", "cant": "can't",
    "wont": "won't", "isnt": "isn't", "didnt": "didn't", "shes": "she's", "hes": "he's",
    "theyre": "they're", "thats": "that's", "bf": "boyfriend", "gf": "girlfriend", "mom's": "Mom's",
}  # fmt: skip
_CHAT_WORD = re.compile(rf"(?<![\w'])(?:{'|'.join(_CHAT)})(?![\w'])")
_CHAT_START = re.compile(r"(?:im|ive|cant|dont) [a-z]")
_FIGURE_IN = re.compile(r"\d|[A-ZÀ-Ý]\w+")
_ANY_NAME = re.compile(r"(?P<what>[A-ZÀ-Ý][\w'-]+) (?P<rest>[a-z]+\b.*)", re.DOTALL)
_MEASURED = re.compile(r"(?:takes?|costs?|holds?|seats?|weighs?|runs?|has|have|is|are) .*\d")
_REPORTS = re.compile(r"\b(?:article|book|film|movie|post|paper|study|show|character)s?\b")
_DENSE = re.compile("[\u3400-\u9fff]")


@lru_cache(maxsize=2000)
def is_figurative(text: str) -> bool:
    """Whether a text says something that nobody means as it is said."""
    return cues("lasting.figurative").search(text) is not None


@lru_cache(maxsize=1000)
def is_lasting(text: str) -> bool:
    """Whether a sentence, or a part of one, is worth keeping in the speaker's own words."""
    english = len(set(pattern("lasting.english").findall(text.casefold())))
    english += _CHAT_START.match(text) is not None
    if language_of(text) or (cues("lasting.foreign_own").search(text) and not english):
        return _foreign(text)
    words = spelled(text)
    if pattern("lasting.asks").match(words):
        return False
    if english < 2 and not pattern("lasting.english").match(text) and is_turn(text):
        supposed = cues("lasting.hypothetical").search(words) or is_figurative(words)
        return not (supposed or is_once(words)) and (_elliptic(words, True) or _foreign(text))
    affected = pattern("lasting.affects").match(words) is not None
    return _may_be(words, vital=affected) and (affected or _is_statement(words))


def may_last(text: str, *, answers: bool = False) -> bool:
    """Whether nothing in an English sentence says that it passes, asks, supposes or jokes, though
    no form of it says that it lasts. ``answers``: a question says what is listed."""
    if language_of(text) or pattern("lasting.asks").match(spelled(text)):
        return False
    part = not answers and (_is_listed(text) or _HANGING.fullmatch(text))
    return _may_be(spelled(text)) and not (is_ruled_out(text) or part)


def _is_listed(text: str) -> bool:
    return bool(_LISTED.match(text)) and not cues("lasting.tells").search(text)


# "With paper walls": of what was said before it, and nothing without it.
_HANGING = re.compile(
    r"\W*(?:with|without|like|of|over|behind|in an?)(?: (?-i:[a-z]+)){1,4}\W*",
    re.IGNORECASE,
)
# "3 eggs, 200 g flour", "font: arial, size: big": what somebody has at hand or looks at. Who tells
# of themselves so is read before (``portraits``).
_LISTED = re.compile(
    r"\W*(?:\d+|an?|one|two|three|four|five|six) (?:[a-z]+ ){0,2}[a-z]+,"
    r" (?:(?:\d+|an?|one|two|three) )?[a-z]+|\W*[a-z]+(?: [a-z]+)?: (?-i:[a-z]+(?: [a-z]+)?,)",
    re.IGNORECASE,
)


def may_be_news(text: str) -> bool:
    """Whether an English sentence tells something, if only of a moment: "Miso got run over last
    night" says nothing that lasts, and that something else has not."""
    if language_of(text) or pattern("lasting.asks").match(spelled(text)):
        return False
    return _may_be(spelled(text), passing=True) and not is_ruled_out(text)


@lru_cache(maxsize=1000)
def is_vital(text: str) -> bool:
    """Whether it tells what somebody must not be given or needs to be well: never too little to
    keep, whatever its form."""
    if language_of(text):
        return False
    words = spelled(text)
    if len(words.split()) > WORDS_MAX or _REPORTS.search(words):
        return False
    if not cues("lasting.health").search(words):
        return False
    whose = pattern("lasting.somebody").search(words) or pattern("lasting.kin").match(words)
    return bool(whose) and _may_be(words, vital=True)


@lru_cache(maxsize=2000)
def is_once(text: str) -> bool:
    """Whether a text tells of one time, whatever else it says."""
    return cues("lasting.once").search(text) is not None


def is_tiding(text: str) -> bool:
    """Whether a text tells a change of something, in words that are a statement of some kind."""
    if language_of(text) or cues("lasting.foreign_own").search(text):
        return False
    words = spelled(text)
    if not WORDS_MIN <= len(words.split()) <= WORDS_MAX or pattern("lasting.asks").match(words):
        return False
    if pattern("lasting.question").match(words) and not pattern("lasting.have_first").match(words):
        return False
    if new_values_in(words):
        return True
    if _is_imperative(words) and not _is_change(words):
        return False
    kind = change_in(words).kind
    if kind in ("ends", "changes", "turns") or cues("changes.done").search(words):
        return True
    return bool(kind) and not cues("changes.happens").search(words)


def is_unreal_part(text: str) -> bool:
    """Whether a part jokes or gives roles, so that nothing else in the sentence is meant."""
    return is_figurative(text) or bool(pattern("lasting.role").search(text))


@lru_cache(maxsize=1000)
def is_ruled_out(text: str) -> bool:
    """Whether a part supposes, jokes or speaks to somebody, so that nothing around it is sure."""
    if language := language_of(text):
        return bool(pattern("claims.unreal", language).search(text) or is_figurative(text))
    words = spelled(text)
    return bool(
        cues("lasting.hypothetical").search(words)
        or is_figurative(words)
        or pattern("lasting.addressed").search(words)
    )


@lru_cache(maxsize=1000)
def spelled(text: str) -> str:
    """Chat spelling as it is read: "i", "im", "ive" as "I", "I am", "I have"."""
    text = _CHAT_WORD.sub(lambda found: _CHAT[found[0]], _LOWER_I.sub("I", text))
    return without_opening(expanded(text).strip(" ,;:-–—\"'*()"))


def _may_be(words: str, *, vital: bool = False, passing: bool = False) -> bool:
    """Nothing in it says that it passes, asks, supposes, jokes, or talks about this talk. A rash
    passes, but not what brings one on. ``passing``: it may."""
    count = len(words.split())
    if not WORDS_MIN <= count <= WORDS_MAX or words.endswith("?"):
        return False
    if pattern("lasting.question").match(words) and not pattern("lasting.have_first").match(words):
        return False
    if (
        pattern("lasting.addressed").search(words)
        or is_once(words)
        or cues("lasting.hypothetical").search(words)
        or is_figurative(words)
    ):
        return False
    if (
        cues("lasting.conversation").search(words)
        or cues("lasting.work_in_hand").search(words)
        or _is_imperative(words)
    ):
        return False
    return (
        passing
        or is_turn(words)
        or not (
            cues("lasting.passing").search(words)
            or (not vital and cues("lasting.passing_nouns").search(words))
        )
    )


def _is_imperative(words: str) -> bool:
    first = re.match(r"(?:please |pls |just |then |now |so )*([A-Za-z']+)", words)
    order = bool(first and pattern("lasting.imperative").match(first[1]))
    return order and not re.match(r"\w+ [a-z]+ (?:is|are|meets|starts|has|was)\b", words)


def _is_change(words: str) -> bool:
    return is_turn(words)


def _is_statement(words: str) -> bool:
    if found := pattern("lasting.setting").match(words):
        return _is_statement(words[found.end() :])
    if _PORTRAYED.match(words):
        return True
    strong = _is_change(words)
    if pattern("lasting.pronoun").match(words):
        told = strong and pattern("lasting.they").match(words.lower())
        return bool(told or pattern("lasting.only_us").match(words))
    if found := pattern("lasting.speaker").match(words):
        if _UNFINISHED.match(found["rest"]):
            return False
        passes = _AT_IT.match(found["rest"]) or _is_under_way(found["rest"])
        return _said_of_speaker(found["rest"]) or (not passes and _is_telling(words))
    if found := pattern("lasting.own").match(words):
        if pattern("lasting.reported").match(found["rest"]):
            return bool(pattern("lasting.professional").match(found["what"]))
        return _said_of_other(found["rest"], strong)
    found = pattern("lasting.kin").match(words)
    if found and (rest := words[found.end() :].strip(" ,")):
        return _said_of_other(re.sub(r"\A's ", "is ", rest), strong)
    found = pattern("lasting.named").match(words)
    if found is None and strong:
        found = _ANY_NAME.match(words)
    if found:
        return _said_of_named(words, found["rest"], strong)
    if found := pattern("lasting.thing").match(words):
        return _said_of_thing(words, found["what"], found["rest"], strong) or _is_telling(words)
    return _elliptic(words, strong) or _is_telling(words)


_PORTRAYED = re.compile(r"About (?:me|us|my [\w -]+|our family): \S")  # as ``portraits`` writes it

# What somebody is at, has to do or has just done.
_AT_IT = re.compile(
    r"(?:\w+ )?(?:need|want|will|have to|have got to|have (?:just )?\w+(?:ed|en))\b"
)
# "I still can't write a decent report", "I have 30 slides to do". Not "I still can't stand fish".
_UNFINISHED = re.compile(
    r"still (?:can not|cannot) (?!stand\b)"
    r"|(?:\w+ )?have (?:\d+|an?|two|three|four|five|six|ten|twenty|some) [^,]{1,40}? "
    r"(?:to (?:do|write|finish|read|answer|mark|grade|pack|fix)|left|to go)\W*\Z"
)
_VALUE = re.compile(r"\d|(?<=[a-z,] )[A-ZÀ-Ý][\w-]+")
_THE = re.compile(r"(?:the|an?|this|that|these|those|your)\b", re.IGNORECASE)


def _is_under_way(rest: str) -> bool:
    found = pattern("lasting.progressive").match(rest)
    return found is not None and found[1] not in word_set("lasting.going_on")


def _is_telling(words: str) -> bool:
    """A plain statement of the present with a number, a name or a time in it."""
    if pattern("lasting.pronoun").match(words) or pattern("lasting.anybody").match(words):
        return False
    timed = cues("lasting.timed").search(words)
    if pattern("lasting.texts").match(words) or (_THE.match(words) and not timed):
        return False  # "the recipe needs two eggs", "the Eiffel Tower is 330 metres tall"
    return bool(timed or _VALUE.search(words)) and cues("lasting.tells").search(words) is not None


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
    if (
        verb in ("have", "has", "had")
        and tail[:1] == ["to"]
        and not pattern("lasting.duration").search(rest)
    ):
        return is_turn(rest)
    if verb in ("have", "has", "had"):
        ends = change_in(" ".join(tail)).kind == "ends"
        return _having(" ".join(tail), verb) or (ends and len(tail) > 2)
    if verb in ("not", "never", "cannot", "can", "must", "need", "will"):
        return _modal(verb, tail)
    if verb == "do":
        return bool(tail) and not (tail[0] == "not" and _modal("not", tail[1:]) is False)
    if verb in word_set("lasting.not_verbs") or verb in word_set("lasting.talk_verbs"):
        return False
    if verb == "no" and tail[:1] == ["longer"]:
        return len(tail) > 1 and tail[1].lower() not in word_set("lasting.talk_verbs")
    past = reading(verb, "past", "participle") and not reading(verb, "base")
    if past or (verb.endswith("ed") and not reading(verb, "base")) or verb == "cut":
        return _past(verb, " ".join(tail))
    if verb in ("let", "put", "quit") and is_turn(rest):
        return bool(tail)
    if verb == "used" and tail[:1] == ["to"]:
        return True
    if verb in word_set("lasting.verbs"):
        return bool(tail) or verb in word_set("lasting.alone")
    told = (
        cues("lasting.timed").search(rest)
        or re.search(r"\d", rest)
        or pattern("lasting.habit").search(rest)
    )
    if verb in word_set("lasting.passing_verbs") and not (_LONG.match(rest) or _RATE.search(rest)):
        return False
    return bool(tail) and (bool(told) or _is_usual(verb, tail))


_RATE = re.compile(r"\d.* (?:an?|each|every|per) (?:day|week|fortnight|month|quarter|year)\b")
_LONG = re.compile(
    r"(?:look after|care for|rely on|put aside|set aside|split) (?!it\b|that\b|this\b)"
)
_VERB = re.compile(r"[a-z]+(?:-[a-z]+)?(?<!ing)(?<![^e]ed)(?:(?<!ly)|(?<=pply)|(?<=fly)|(?<=rely))")
_POINTED_AT = re.compile(r"(?:it|that|this|these|those|them|him|there|up|off|out|the)\b")


def _is_usual(verb: str, tail: Sequence[str]) -> bool:
    """ "I nurse on a stroke unit": what somebody says of themselves in the plain present is so
    as a rule, but for what is done by saying it or within a moment."""
    if _LONG.match(f"{verb} {' '.join(tail)}"):
        return True
    if not _VERB.fullmatch(verb) or verb in word_set("lasting.momentary"):
        return False
    if reading(verb, "past", "participle") or _POINTED_AT.match(tail[0].lower()):
        return False
    return verb not in word_set("search.stop_words")


_ABOUT = re.compile(r"\A(?:about|around|roughly) (?=[A-Z]?\d)")


def _being(tail: str) -> bool:
    tail = pattern("lasting.being_adverbs").sub("", tail)
    tail = _ABOUT.sub("", tail)
    if pattern("lasting.going_off").match(tail):
        return False
    if found := re.match(r"([a-z]+ing)\b", tail):
        named = "called" in tail or is_turn(tail) or pattern("lasting.going_on_with").match(tail)
        going_on = found[1] in word_set("lasting.going_on") or bool(named)
        return going_on and len(tail.split()) > 1
    first = tail.split(" ", 1)[0].strip(",.").lower()
    if (
        not tail
        or first == "dead"
        or (first in word_set("lasting.moods") and not is_turn(f"is {tail}"))
    ):
        return False
    if first in word_set("lasting.moods"):
        return True
    if pattern("lasting.being_at").match(tail):
        return bool(_FIGURE_IN.search(tail) or cues("lasting.being_there").search(tail))
    if pattern("lasting.being_something").match(tail):
        return True
    return bool(pattern("lasting.being").match(tail)) or tail[:1].isupper()


def _been(tail: str) -> bool:
    if re.match(
        r"(?:born|raised|adopted|diagnosed|brought up|named after|married|in the|a |an |the )", tail
    ):
        return bool(
            pattern("lasting.duration").search(tail)
            or re.match(r"(?:born|raised|adopted|diagnosed|brought|named)", tail)
            or pattern("lasting.figure").search(tail)
        )
    return is_turn(f"was {tail}")


def _having(tail: str, verb: str) -> bool:
    first = tail.split(" ", 1)[0].strip(",").lower() if tail else ""
    if not first:
        return False
    if first in (
        "to",
        "no idea",
        "been",
        "never",
        "always",
        "not",
        "lived",
        "worked",
        "known",
        "had",
        "got",
    ):
        if first == "to":
            return verb != "had" or is_turn(f"had {tail}")
        if first == "got":
            return len(tail.split()) > 1
        return bool(pattern("lasting.duration").search(tail)) and not pattern(
            "lasting.been_told"
        ).match(tail)
    if reading(first, "participle") and first not in (
        "cut",
        "set",
        "put",
        "let",
        "run",
        "read",
        "hurt",
    ):
        return is_turn(f"have {tail}") or bool(
            re.search(r"\b(?:since|for \w+ (?:years|months))\b", tail)
        )
    return verb != "had" or bool(pattern("lasting.duration").search(tail))


def _modal(verb: str, tail: list[str]) -> bool:
    if verb == "will":
        return False
    if tail[:1] == ["not"]:
        tail, verb = tail[1:], "not"
    if not tail:
        return False
    main = tail[0].lower()
    if verb in ("need", "must"):
        return bool(pattern("lasting.needs").search(" ".join(tail)))
    if verb == "can":
        return bool(pattern("lasting.skills").match(main))
    return main == "stand" or (
        main not in word_set("lasting.talk_verbs")
        and main not in word_set("lasting.passing_verbs")
        and main not in ("be", "lie")
    )


def _past(verb: str, tail: str) -> bool:
    if is_turn(f"{verb} {tail}"):
        return bool(tail) and not re.match(r"(?:it|that|this|them|him|her)\b", tail)
    if re.match(r"(?:it|that|this|them|him|her)\b", tail):
        return False
    return (
        bool(pattern("lasting.lasting_past").match(verb))
        and len(tail.split()) >= 2
        and not cues("lasting.passing").search(tail)
    )


def _said_of_other(rest: str, strong: bool) -> bool:
    """About somebody or something that belongs to the speaker."""
    if pattern("lasting.reported").match(rest) and not strong:
        return False
    going_on = pattern("lasting.progressive").search(rest)
    if going_on and not strong and going_on[1] not in word_set("lasting.going_on"):
        return False
    first = rest.split(" ", 1)[0].lower()
    past = reading(first, "past") and not reading(first, "base")
    if past or first in ("was", "were", "had", "did"):
        return (
            strong
            or bool(pattern("lasting.began").search(rest))
            or (first in ("was", "were") and bool(re.match(r"\w+ (?:an?|the) [a-z]", rest)))
        )
    tail = rest.partition(" ")[2]
    mood = first in ("is", "are") and tail.split(" ", 1)[0].strip(",.").lower() in word_set(
        "lasting.moods"
    )
    mood = mood and not _TOPIC.match(tail)
    if mood and not strong and not cues("lasting.timed").search(rest):
        return False
    alone = first.rstrip(".!").removesuffix("s") in word_set("lasting.alone")
    return bool(tail or strong or alone) and ("says" not in rest[:20] or strong)


_TOPIC = re.compile(r"about (?!to\b|an?\b|\d)")  # "my thesis is about reefs"


def _said_of_named(words: str, rest: str, strong: bool) -> bool:
    if not (
        pattern("lasting.first_person").search(words)
        or strong
        or cues("lasting.timed").search(rest)
        or _MEASURED.match(rest)
    ):
        return False
    if re.match(r"(?:says?|said|told|asked|thinks?|thought|claims?|claimed|wrote|writes)\b", rest):
        return False
    return _said_of_other(rest, strong)


# "The twins share a bedroom": of whom and what everybody at home has one of, the plain present.
_HOUSEHOLD = re.compile(
    r"\b(?:twins|kids|girls|boys|children|baby|dogs?|cats?|hens|chickens|horse|bins?|car|van)\Z"
)
_PLAIN = re.compile(
    r"(?!(?:is|was|keeps|needs|wants|seems|looks|says|has (?:been|just|got|gone|had|\w+ed))\b)"
    r"(?:[a-z]+s|share|sleep|go|eat|attend|have|use)\b"
)


def _said_of_thing(words: str, what: str, rest: str, strong: bool) -> bool:
    if pattern("lasting.reported").match(rest):
        return strong and bool(pattern("lasting.professional").match(what))
    if pattern("lasting.progressive").search(rest) and not strong:
        return False
    standing = bool(cues("lasting.standing").search(what)) or bool(
        pattern("lasting.first_person").search(words)
    )
    told = (
        bool(cues("lasting.timed").search(words) or pattern("lasting.figure").search(rest))
        or strong
        or bool(pattern("lasting.first_person").search(words))
        or bool(_HOUSEHOLD.search(what) and _PLAIN.match(rest))
    )
    return standing and told and _said_of_other(rest, strong)


def _elliptic(words: str, strong: bool) -> bool:
    """ "Sold the flat in March": the speaker is who did it. Without any verb at all it must say
    how often or since when."""
    if pattern("lasting.elliptic").match(words):
        return (strong or bool(pattern("lasting.figure").search(words))) and len(words.split()) >= 2
    if strong and pattern("lasting.first_person").search(words):
        return True
    return bool(
        pattern("lasting.first_person").search(words) and cues("lasting.timed").search(words)
    )


# Other languages


def _foreign(text: str) -> bool:
    if (
        pattern("lasting.foreign_passing").search(text)
        or text.rstrip().endswith(("?", "？"))
        or is_figurative(text)
    ):
        return False
    if _DENSE.search(text):
        strong = is_turn(text)
        return len(text) >= 4 and (
            strong
            or bool(
                cues("lasting.foreign_own").search(text)
                or pattern("lasting.foreign_timed").search(text)
            )
        )
    strong = is_turn(text)
    count = len(text.split())
    return 2 <= count <= WORDS_MAX and (
        strong
        or bool(
            cues("lasting.foreign_own").search(text)
            or pattern("lasting.foreign_timed").search(text)
        )
    )
