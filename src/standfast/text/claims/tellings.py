"""What a message tells, sentence by sentence, and what its questions tell by themselves."""

from __future__ import annotations

import re
from functools import lru_cache

from standfast.text.analysis import words
from standfast.text.claims.changes import change_in
from standfast.text.claims.clauses import Speaker
from standfast.text.claims.fields import fields_of
from standfast.text.claims.foreign import foreign_findings, language_of
from standfast.text.claims.keepsakes import before_remark, parts_of
from standfast.text.claims.permanence import (
    is_lasting,
    is_ruled_out,
    is_tiding,
    is_vital,
    spelled,
)
from standfast.text.claims.sentences import Sentence, sentences
from standfast.text.claims.statements import is_unreal
from standfast.text.claims.topics import people_words
from standfast.text.words import word_set

# "I moved to Leeds, how do I register with a doctor?" Not "how many": that is a sum.
_ASKS = (
    r"(?:how|what|where|when|why|which|who|can|could|should|would|will|do|does|did|is|are|am|any|may"
    r"|shall)(?:'s)? (?!if\b)[^,]+\Z"
)
_ASKED_AFTER = re.compile(
    rf"(?:,(?: so| and| but)?|;| [-–—]|\.\.\.|…|(?<!,) so|,? and I wonder) (?={_ASKS})",
    re.IGNORECASE,
)
# "I want to learn Czech, where do I start": no mark says that it asks.
_ASKED_UNMARKED = re.compile(
    r"[,;] (?:so |and |but )?(?:how|what|where|which|who|when) (?:\w+ )?"
    r"(?:do|should|can|could|would|shall) (?:i|we)\b[^,]*\Z",
    re.IGNORECASE,
)
_GROUNDS = r"(?:since|as|because|given(?: that)?|considering(?: that)?|seeing (?:as|that)|now that)"
_GROUND_BEFORE = re.compile(rf"\W*{_GROUNDS} (?=(?:I|we|my|our)\b)", re.IGNORECASE)
_GROUND_AFTER = re.compile(
    rf",? {_GROUNDS} (?P<told>(?:I|we|my|our)\b[^,?]+)\??\s*\Z", re.IGNORECASE
)
_ASKS_FIRST = re.compile(rf"\W*{_ASKS.partition(' ')[0]} ", re.IGNORECASE)
# "I was born yesterday, is that what you think?"
_DOUBTED = re.compile(r"(?:is|are|do|does) (?:that what |you )", re.IGNORECASE)
_OF_WHOM = re.compile(r", (?:who|which|whose)\b")  # "my brother, who quit school, can he ...?"


# Behind a statement, and no part of it.
_ASIDE = re.compile(
    r"(?<=\w\w),? (?:by the way|btw|fyi|just so you know|in case you wonder(?:ed)?|lol|haha|tbh"
    r"|as you (?:may |might |already )?know|(?:so )?nice to meet you(?: too)?|pleased to meet you"
    r"|glad to meet you|thank you(?: (?:so|very) much| for \w+(?: \w+)?)?|if that helps|if it helps"
    r"|for what it's worth)\W*\Z",
    re.IGNORECASE,
)


@lru_cache(maxsize=200)  # a message is looked at from several sides, and before the ones after it
def said_apart(text: str) -> tuple[Sentence, ...]:
    """The sentences, and what a question tells by itself, where it changes something or lasts: what
    is only so while somebody asks ("I have a chicken, what can I cook?") stays part of it."""
    found: list[Sentence] = []
    for one in sentences(text):
        if not one.question:
            one = one._replace(text=_ASKED_UNMARKED.sub("", one.text))
        told, asked = _told_and_asked(one.text) if one.question else ("", "")
        if told and not _OF_WHOM.search(told):
            standing = _standing(told, asked)
            found += (Sentence(part, False, False) for part in standing)
            one = one._replace(text=asked) if standing else one
        found.append(one)
    return tuple(one._replace(text=_ASIDE.sub("", one.text)) for one in found)


def _told_and_asked(text: str) -> tuple[str, str]:
    """What a question says, and what it asks; "" where it only asks."""
    if language_of(text):
        told, _, asked = text.replace("，", ",").partition(",")
        return (told, asked) if asked else ("", "")
    after = _ASKED_AFTER.search(text)
    if after and not _ASKS_FIRST.match(text) and not _DOUBTED.match(text, after.end()):
        return _GROUND_BEFORE.sub("", text[: after.start()], count=1), text[after.end() :]
    if ground := _GROUND_AFTER.search(text):
        return ground["told"], text[: ground.start()]
    return "", ""


def _standing(told: str, asked: str) -> list[str]:
    """What is told beside a question and does not pass with it: all of it, or some of its parts."""
    if _turns(told) or _stands(told, asked):
        return [told]
    if language_of(told) or is_unreal(told):
        return []
    parts = parts_of(told)
    if any(map(is_ruled_out, parts)):
        head = before_remark(told)
        return [head] if head and _stands(head, asked) else []
    return [part for part in parts if _stands(part, asked)]


def _turns(told: str) -> bool:
    return change_in(told).kind in ("ends", "changes", "turns") and is_tiding(told)


def _stands(told: str, asked: str) -> bool:
    """ "I'm allergic to nuts, what can I order?": so whatever is asked. What somebody has, is at or
    is doing may be so only while they ask about it, but for whom and what people live with."""
    if language_of(told):
        return any(True for _ in foreign_findings(told, _SOMEBODY))
    if is_vital(told):
        return True
    if not is_lasting(told) or is_ruled_out(told) or _WHILE_ASKED.match(spelled(told)):
        return False
    if not _HAS.match(spelled(told)):
        return True
    lives = fields_of(told) & word_set("fields.lived_with") or people_words() & set(words(told))
    return bool(lives) and not _COOKED.search(asked)


_SOMEBODY = Speaker()
_WHILE_ASKED = re.compile(
    r"(?:I|we) (?:am|are) (?:\w+ing|in|at|on|by|near|with|off|out|here|there|back)\b"
    r"|(?:I|we) (?:need|want|got|see|think|feel|try|know|hear|found|made|took|just)\b"
    r"|(?:it|this|that|there|here|these|those|he|she|they|you|people|(?:some|any|every|no)(?:one|body))\b",
    re.IGNORECASE,
)
_HAS = re.compile(r"(?:I|we) have\b", re.IGNORECASE)
_COOKED = re.compile(
    r"\b(?:cook|roast|recipe|dinner|meal|eat|freeze|grill|bake|make)", re.IGNORECASE
)
