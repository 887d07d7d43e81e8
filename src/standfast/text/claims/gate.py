"""Is a turn worth learning from? Quick heuristics, before anything is read closely."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from standfast.text.claims.lessons import Gated
from standfast.text.expressions import later
from standfast.text.words import alternatives, cues, languages
from standfast.types import Message

LONG_PASTE_CHARACTERS = 6000
SHORT_CHARACTERS = 60
NO_WORDS = "no words"
QUESTION = "question"

_LETTER = later(r"[^\W\d_]")
_CODE_LINE = later(
    r"^\s*(?:[{}()\[\];]+|(?:def|class|import|from|return|if|for|while|const|let|var|function"
    r"|public|private|static"
    r"|#include|package|func|fn|use|using|SELECT|INSERT|UPDATE|CREATE|export|async|await|try|catch"
    r"|else|elif)\b.*"
    r"[:;{}()=]\s*|.*[;{}]\s*|<[^>]+>.*|\s*at [\w.$<>]+\(.*|File \".*|Traceback.*|[\w.]*(?:Error"
    r"|Exception)\b:.*"
    r"|\$ .*|>>> .*|\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE)\b.*"
    r"|[+\-]{1,3} ?[\w/.]+.*|\"[\w\-]+\": .*)$",
    re.MULTILINE,
)
_FENCED = later(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKS = later(r"[.!。！\n]")


def gate(message: Message) -> Gated:
    """Whether to learn from the message. Corrections, tastes, requests and facts pass; what is
    no statement of a person does not. See ``Gated``."""
    return _gate(_not_a_person(message), message.role, message.text)


@lru_cache(maxsize=200)
def _gate(not_a_person: str, role: str, said: str) -> Gated:
    """A message is looked at when it comes and again before the ones after it."""
    reason = not_a_person or _no_text(said)
    if reason:
        return Gated(skip=reason, importance=0.0)
    text = said.strip()
    if is_small_talk(text):
        return Gated(skip="small talk", importance=0.0)
    if len(text) > LONG_PASTE_CHARACTERS:
        return Gated(skip="long paste", sure=False, importance=0.2)
    if _is_code(text):
        return Gated(skip="code or log", importance=0.1)
    if _is_only_question(text):
        return Gated(skip=QUESTION, sure=not cues("gate.of_self").search(text), importance=0.2)
    if role == "assistant":
        return Gated(sure=False, importance=0.3)
    return Gated(sure=bool(cues("gate.of_self").search(text)), importance=_importance(text))


def _not_a_person(message: Message) -> str:
    if message.role in ("system", "developer"):
        return "instructions of the application"
    if message.role in ("tool", "function") or message.source in ("tool", "web", "file"):
        return "not said by a person"
    return ""


def _no_text(text: str) -> str:
    if not text.strip():
        return "empty"
    return "" if _LETTER.search(text[:LONG_PASTE_CHARACTERS]) else NO_WORDS


def is_small_talk(text: str) -> bool:
    """A greeting, thanks, agreement: nothing is said by it."""
    return len(text) <= SHORT_CHARACTERS and bool(_small_talk().match(text))


@cache
def _small_talk() -> re.Pattern[str]:
    spaced = alternatives("gate.small_talk")
    unmixed = [
        alternatives("gate.unmixed_small_talk", code)
        for code in languages("gate.unmixed_small_talk")
    ]
    return re.compile(
        rf"(?:[^\w\u3400-\u9fff]*\b(?:{spaced})\b)+[^\w\u3400-\u9fff]*\Z"
        + "".join(rf"|(?:[^\w]*(?:{words}))+[^\w]*\Z" for words in unmixed),
        re.IGNORECASE,
    )


def _is_code(text: str) -> bool:
    prose = _FENCED.sub("", text) if "```" in text else text
    if not _LETTER.search(prose):
        return True
    lines = [line for line in prose.splitlines() if line.strip()]
    if len(lines) < 3:
        return False
    code = sum(1 for line in lines[:200] if len(line) < 500 and _CODE_LINE.match(line))
    return code * 2 > min(len(lines), 200)


def _is_only_question(text: str) -> bool:
    """One question and nothing else."""
    return text.endswith(("?", "？")) and not _MARKS.search(text.rstrip("?？!"))


def _importance(text: str) -> float:
    if cues("gate.weighty").search(text):
        return 0.8
    return 0.5 if cues("gate.of_self").search(text) else 0.3
