"""Nothing is said twice: what a packet says already, in whatever form it said it. Pure.

A memory repeats another if it is the same record or a copy, if it reads the same but for case and
punctuation, if it was made of what is shown, or if what is shown was made of it and contains its
content words: a fact that was learned from a message may hold only a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from standfast.text.analysis import asks
from standfast.text.coverage import covers
from standfast.text.normal import fold
from standfast.types import Message, Record, SessionKey

_WORDS = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s*")
# Shorter texts stand inside of longer ones by chance.
CONTAINED_LEAST = 12
COVERED = "what was learned from it is shown and contains its words"


def normal(text: str) -> str:
    """A text by its words alone."""
    return " ".join(_WORDS.findall(fold(text)))


def only_asks(text: str) -> bool:
    """Is it nothing but questions? What was asked is not what is known."""
    if not asks(text):  # its last sentence is none, as of most texts
        return False
    sentences = [one for one in _SENTENCE_END.split(text.strip()) if one.strip()]
    return bool(sentences) and all(asks(one) for one in sentences)


class Said:
    """What stands in the packet so far. ``read`` is for several of one packet: what one has read,
    the others need not read again."""

    def __init__(self, read: dict[str, str] | None = None) -> None:
        self._names: set[str] = set()
        self._texts: set[str] = set()
        self._long = "\n"  # every text that others may stand in, a line each
        self._messages: set[tuple[SessionKey, str]] = set()
        # What is shown, by the messages and the records that it was made of.
        self._made_of: dict[tuple[SessionKey, str] | str, list[str]] = {}
        self._read = {} if read is None else read  # texts by their words

    def _normal(self, text: str) -> str:
        found = self._read.get(text)
        if found is None:
            found = self._read[text] = normal(text)
        return found

    def hear(self, messages: Iterable[Message]) -> None:
        """Messages that the packet shows themselves."""
        for message in messages:
            self._messages.add((SessionKey(message.scope, message.session), message.id))
            self._texts.add(self._normal(message.text))

    def tell(self, text: str) -> None:
        """A text that is no memory, such as the session's summary."""
        if text:
            self._long += f" {self._normal(text)} \n"

    def add(self, record: Record) -> None:
        self._names |= _names(record)
        text = self._normal(record.text)
        self._texts.add(text)
        if record.kind == "episodic":
            self._long += f" {text} \n"
        origins: set[tuple[SessionKey, str] | str] = {*_sources(record), *record.derived_from}
        for origin in origins:
            self._made_of.setdefault(origin, []).append(record.text)

    def repeats(self, record: Record) -> str:
        """Why it would say something twice; "" if it would not."""
        if _names(record) & self._names:
            return "said already"
        text = self._normal(record.text)
        if text in self._texts:
            return "said already, in the same words"
        sources = _sources(record)
        if sources and sources <= self._messages:
            return "the messages that it was made of are shown"
        if record.type == "turn" and len(text) >= CONTAINED_LEAST and f" {text} " in self._long:
            return "an episode that is shown tells it"
        if self._is_covered(record, sources):
            return COVERED
        if record.derived_from and self._names >= set(record.derived_from):
            return "what it was made of is shown"
        return ""

    def _is_covered(self, record: Record, sources: set[tuple[SessionKey, str]]) -> bool:
        origins: tuple[tuple[SessionKey, str] | str, ...]
        origins = (record.id, *(sources if record.type == "turn" else ()))
        shown = [text for origin in origins for text in self._made_of.get(origin, ())]
        return bool(shown) and covers(shown, record.text)


def _names(record: Record) -> set[str]:
    return {name for name in (record.id, record.origin, record.hash) if name}


def _sources(record: Record) -> set[tuple[SessionKey, str]]:
    if not record.lineage:
        return set()
    session = record.session_key
    return {(session, id_) for id_ in record.lineage}
