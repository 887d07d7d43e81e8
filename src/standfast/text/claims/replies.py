"""A few words that answer what an assistant asked: kept together with the question.

"Scotland. Dundee" says nothing by itself, and to "Are you in England?" it is no sentence either.
The question and the answer together say it, in any language. What only helps with the task at hand,
what is offered, and what is no answer are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from standfast.text.claims.answers import up_to_last_mark
from standfast.text.claims.referents import referent_in
from standfast.text.claims.sentences import Sentence
from standfast.text.trust import suspicion
from standfast.text.words import pattern

WORDS_MAX = 16  # of one part of an answer
AFTER_MAX = 5  # of another one behind it
PARTS_MAX = 4
SHORT_QUESTION = 6  # words: "Which database, SQLite?" is about theirs though it does not say so
QUESTIONS_MAX = 200  # characters

# A mark inside a number or a name ends no question: "on 1.20?"
_ASKED = re.compile(r"(?:[^.!?\n。！？]|\.(?=\w)){1,160}[?？]")
_STATES = re.compile(
    r"\b(?:I|my|we|our|me|he|she|it|they|you|your)\b|\b(?:is|are|was|has|have|do|does|can|will|let's)\b"
    r"|\w'(?:s|m|re|ve|ll|d)\b",
    re.IGNORECASE,
)


def questions_in(text: str) -> str:
    """All that the end of a message asks, in its words; "" if it asks nothing."""
    end = up_to_last_mark(text[-2 * QUESTIONS_MAX :])
    found = [one.strip(" \"'*_") for one in _ASKED.findall(end)]
    while len(found) > 1 and len(" ".join(found)) > QUESTIONS_MAX:
        found.pop(0)
    return " ".join(found)


def may_be_kept(question: str) -> bool:
    """Whether an answer may be kept with a question: not where something is offered, or asked that
    is so only now, nor a secret, nor what an assistant was made to say."""
    if pattern("replies.offers").match(question.strip(" ¿")):
        return False
    return not pattern("replies.secrets").search(question) and not suspicion(question)


def reply_in(questions: str, said: Sequence[Sentence]) -> str:
    """The words with which a message answers what was asked about how things are; "" where it
    does not, or says so in sentences of its own."""
    if not questions or not _asks_how_things_are(questions):
        return ""
    parts: list[str] = []
    for one in said[:PARTS_MAX]:
        longest = AFTER_MAX if parts else WORDS_MAX
        if one.question or len(one.text.split()) > longest or _STATES.search(one.text):
            break
        if pattern("replies.of_the_moment").search(one.text):
            break
        if pattern("replies.no_answer").fullmatch(one.text):
            return ""
        parts.append(one.text)
    told = [part for part in parts if not pattern("replies.only_yes_or_no").fullmatch(part)]
    return ". ".join(parts) if told else ""


def _asks_how_things_are(questions: str) -> bool:
    last = next(reversed(_ASKED.findall(questions)), "")
    if not last or not may_be_kept(last) or not may_be_kept(questions):
        return False
    if pattern("replies.of_the_moment").search(questions):
        return False
    short = len(questions.split()) <= SHORT_QUESTION
    return short or pattern("replies.about_somebody").search(questions) is not None


def of_whom(question: str, told: str) -> str:
    """Whom of theirs a question means by "she", by what they said before; "" if it says so itself,
    or they spoke of nobody."""
    pronoun = pattern("replies.pronoun").search(question)
    if pronoun is None or pattern("replies.names_whom").search(question):
        return ""
    return referent_in(told, pronoun[0].lower()).partition(" ")[2]
