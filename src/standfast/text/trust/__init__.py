"""Trust: how far a text may be believed, and whether it tries to steer a model. Pure.

Signs do not stop an attack by themselves, and are not meant to: what standfast recalls is quoted
data with its trust beside it, and a derived record is believed no more than the least of its
sources. They keep what was plainly written for a model out of sight until a person has looked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from standfast.text.trust.hidden import decoded, disguised, folded, smuggled, tricks, unseen
from standfast.text.trust.recalled import PREFACE, without_recalled
from standfast.text.trust.signs import sign_in
from standfast.types import PERSON_TRUST, TRUST_OF_SOURCE, Message

__all__ = [
    "PREFACE",
    "SUSPICION",
    "derived_trust",
    "doubt_about",
    "heard",
    "strong_suspicion",
    "suspicion",
    "texts_in",
    "without_recalled",
]

READ_CHARACTERS_MAX = 100_000
SUSPICION = "suspicion"  # where a quarantined record's ``data`` says why


def derived_trust(values: Iterable[int]) -> int:
    """A derived record is believed no more than the least believed thing it was made from."""
    return min(values, default=0)


def suspicion(text: str) -> str:
    """Why a text looks like an instruction to a model, names tools to call, or hides encoded
    text; "" if it does not. For statements of anybody but the user."""
    return _reason(text, strong=False) or _hiding(text)


def strong_suspicion(text: str) -> str:
    """The same, but only for what tools and pages do not ordinarily say."""
    return _reason(text, strong=True)


def doubt_about(message: Message) -> str:
    """Why nothing may be made of a message before a person has looked; "" if it may. What a
    person or the assistant said in a conversation is never doubted as such."""
    return strong_suspicion(_fresh(message)) if _is_from_outside(message) else ""


def _is_from_outside(message: Message) -> bool:
    """Also what somebody says in another's name: of a person, but not heard from them."""
    claims = message.role in ("user", "system", "developer") and message.trust < PERSON_TRUST
    return message.trust < TRUST_OF_SOURCE["assistant"] or claims


def _fresh(message: Message) -> str:
    """Without recalled memories; of what comes from outside, no more than can be looked at."""
    text = without_recalled(message.text)
    return text[:READ_CHARACTERS_MAX] if _is_from_outside(message) else text


def heard(messages: Iterable[Message], retired: Collection[str] = ()) -> list[Message]:
    """Messages as somebody may read them who makes something of them: without recalled
    memories, and without a word of those that are doubted or ``retired``."""
    return [_as_heard(message, message.id in retired) for message in messages]


def _as_heard(message: Message, retired: bool) -> Message:
    text = "" if retired or doubt_about(message) else _fresh(message)
    return message if text == message.text else replace(message, text=text)


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON-like value, the names of fields apart."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for below in value.values():
            yield from texts_in(below)
    elif isinstance(value, list | tuple):
        for below in value:
            yield from texts_in(below)


def _reason(text: str, *, strong: bool) -> str:
    if message := smuggled(text):
        said = _said(message, strong=False)
        return f"hides text in invisible characters{f', which {said}' if said else ''}"
    if said := _said(text, strong=strong):
        return said
    for passage in unseen(text):
        if said := _said(passage, strong=False):
            return f"{said}, where a reader does not see it"
    for passage in decoded(text):
        if said := _said(passage, strong=strong):
            return f"{said}, in encoded text"
    return ""


def _said(text: str, *, strong: bool) -> str:
    plain = folded(text)
    for reading in (plain, *disguised(plain)):
        if sign := sign_in(reading, strong=strong):
            return sign.reason
    return ""


def _hiding(text: str) -> str:
    """Hiding without anything to fear in it is still no way to state a fact."""
    if trick := tricks(text):
        return trick
    return "hides encoded text" if any(decoded(text)) else ""
