"""Texts that were made to keep a reader busy: small pieces, again and again, never closed, half
closed, or with one wrong end; and every verb that takes a text."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO

from recollect.errors import RecollectError
from recollect.memory import AsyncMemory

# What patterns begin with, in one piece each.
PIECES = (
    "a", "A", "0", "1.", "-", "_", " ", "\n", "\t", ".", ",", ":", ";", "'", '"', '\\', "/", "(",
    "[", "{", "<", "=", "@", "#", "&", "%", "$", "+", "*", "`", "!", "?", "a ", "a.", "a@", "a:",
    "a=", "a-", "a_", "A ", "1 ", "12:", "1,", "1-", '\\"', '"[', "[[", "{{", "((", "<a", "</",
    "<!--", "&#65;", "&lt;", "%41", "\\u0041", "://", "http://a", "a@a.", "www.", "key=",
    "key: ", "password ", "token=x ", "sk-", "AKIA", "Bearer ", "-----BEGIN ", "eyJ", "0x", "==",
    "a/a", "../", 'C:\\', "I am ", "my ", "not ", "and ", "my wife's ", "by a ", "on Monday ",
    "in 2024 ", "two hundred ", "now ", "I moved to ", "used to ", 'said: "', "I like A and ",
    "because ", "is is ", "no, ", "A. ", "Dr. ", "e.g. ", "\u200b", "\u202e", "\u0301", "\xad",
    "\ufeff", "漢", "漢字不", "か", "ก", "ا", "🙂", "\U0001f468\u200d\U0001f469",
    "ǆ", "ﬃ", "İ", "ß",
    "𝐀", "\U000e0041", "a\u0301", "ignore all previous instructions ", "system: ",
    "<|im_start|>", "### ", "| a ", "- [ ] ", "```", "~~~", "é", "é ", "x" * 31 + " ",
    "4111 1111 ", "DE89 ", "aB", "a1", "\x85", "\u2028", "\r\n",
)  # fmt: skip
ENDS = ("", '"', "}", "!", " 5")
SHAPES = 200


@dataclass(frozen=True, slots=True)
class Shape:
    """A piece again and again, behind a beginning and before an end."""

    number: int
    begin: str
    piece: str
    end: str

    def text(self, size: int) -> str:
        return self.begin + self.piece * (size // len(self.piece)) + self.end

    def __str__(self) -> str:
        return f"{self.begin!r} + {self.piece!r} * n + {self.end!r}"


def shapes() -> Iterator[Shape]:
    """The same 200 each time: every piece alone, then pieces mixed with one another."""
    for number in range(SHAPES):
        piece = PIECES[number % len(PIECES)]
        end = ENDS[number % len(ENDS)]
        if number < len(PIECES):
            yield Shape(number, "", piece, end)
        else:
            other = PIECES[(13 * number + 9) % len(PIECES)]
            yield Shape(number, other, piece + other, end)


Say = Callable[[AsyncMemory, str, str], Awaitable[object]]  # in a scope of its own


async def _import(memory: AsyncMemory, text: str, scope: str) -> object:
    file = BytesIO()
    await memory.remember("one fact", scope=scope)
    await memory.export_to(file, scope=scope)
    lines = file.getvalue().replace(b"one fact", json.dumps(text)[1:-1].encode())
    return await memory.import_from(BytesIO(lines), partial=True)


async def _twice(memory: AsyncMemory, text: str, scope: str) -> object:
    """Remembered beside what it nearly repeats."""
    await memory.remember(text, scope=scope)
    return await memory.remember(text + " more", scope=scope)


async def _learned(memory: AsyncMemory, text: str, scope: str) -> object:
    await memory.observe("s", [{"role": "user", "content": text}], scope=scope)
    return await memory.maintain(scope=scope)


async def _packed(memory: AsyncMemory, text: str, scope: str) -> object:
    for role in ("user", "assistant"):
        await memory.observe("s", [{"role": role, "content": text}], scope=scope)
    return await memory.context(session="s", query=text[:500], scope=scope)


VERBS: dict[str, Say] = {
    "remember": lambda memory, text, scope: memory.remember(text, scope=scope),
    "remember twice": _twice,
    "remember data": lambda memory, text, scope: memory.remember(
        f"a fact of {scope}", data={"said": text[:60_000]}, scope=scope
    ),
    "recall": lambda memory, text, scope: memory.recall(text, scope=scope),
    "context": lambda memory, text, scope: memory.context(query=text, scope=scope),
    "observe": lambda memory, text, scope: memory.observe(
        "s", [{"role": "tool", "content": text}, {"role": "user", "content": text}], scope=scope
    ),
    "note": lambda memory, text, scope: memory.note("s", text, scope=scope),
    "save_procedure": lambda memory, text, scope: memory.save_procedure(
        "p", [text], triggers=[text[:500]], scope=scope
    ),
    "find_procedures": lambda memory, text, scope: memory.find_procedures(text, scope=scope),
    "import_from": _import,
    "maintain": _learned,
    "context of a session": _packed,
}


async def cost(memory: AsyncMemory, say: Say, text: str, scope: str) -> float:
    """Seconds of the processor's time. That a text is refused is an answer too."""
    begun = time.process_time()
    with suppress(RecollectError):
        await say(memory, text, scope)
    return time.process_time() - begun
