"""Outside bytes: whatever comes in, a parser answers or refuses, in our own words and in time."""

from __future__ import annotations

import io
import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from proof.family import Broken, ProofFamily, Trial
from recollect.errors import RecollectError
from recollect.interfaces.markdown import pages
from recollect.scopes import parse_scope
from recollect.text import dates, inputs
from recollect.text import redact as redaction
from recollect.text.dialects import bodies_of
from recollect.types.serial import TYPES, from_plain
from recollect.verbs.import_.file import lines_of, survey

PER_TRIAL = 2_000
SECONDS_MAX = 2.0  # for one input of at most a few kilobytes
NOW = datetime(2026, 5, 3, 10, tzinfo=UTC)

_SEEDS: tuple[Any, ...] = (
    {"role": "user", "content": "I moved to Berlin on 3 May"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function",
     "function": {"name": "look", "arguments": "{\"q\": 1}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "found"},
    {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image", "source": {}}]},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
    {"role": "model", "parts": [{"text": "hi"}, {"functionCall": {"name": "f", "args": {}}}]},
    {"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}"},
    {"type": "human", "content": "hello"},
    {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]},
    {"type": "record", "id": "1", "scope": "user:ann", "text": "x", "tags": ["a"]},
    {"format": "recollect", "version": 1, "scopes": ["user:ann"]},
)  # fmt: skip
_TEXTS = (
    "# Facts\n\n- Ann lives in Berlin <!-- id: 1 -->\n- [ ] buy tea\n\n```\ncode\n```\n",
    "meet me on the 3rd of May at 5pm, or last tuesday, or 2026-13-45",
    "my key is sk-abcdefghijklmnopqrstuvwxyz0123456789 and my card 4111 1111 1111 1111",
    "user:ann:agent:coder%3A", "\ud83d\ude00 \u202e right to left \u0000", "a" * 300 + "!" * 300,
)  # fmt: skip
_ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1e308,
    float("nan"),
    "",
    "\x00",
    [],
    {},
    [[]],
    "a" * 999,
)


def attempt(seed: int, _: Path) -> Trial:
    dice = random.Random(seed)
    refused = 0
    for number in range(PER_TRIAL):
        parser = PARSERS[number % len(PARSERS)]
        begun = time.perf_counter()
        try:
            parser(dice)
        except (RecollectError, UnicodeDecodeError):
            refused += 1
        spent = time.perf_counter() - begun
        if spent > SECONDS_MAX:
            raise Broken(f"{parser.__name__} took {spent:.1f} s")
    return Trial(units=PER_TRIAL, figures=(("refused in our own words", refused),))


def _value(dice: random.Random, value: Any, depth: int = 0) -> Any:
    """The value with some parts replaced, dropped, doubled or nested."""
    if dice.random() < 0.08:
        return dice.choice((*_ODD, *_TEXTS))
    if isinstance(value, dict):
        pairs = [(key, _value(dice, one, depth + 1)) for key, one in value.items()]
        pairs = [pair for pair in pairs if dice.random() > 0.06]
        if dice.random() < 0.1:
            pairs.append((dice.choice(("content", "role", "type", "parts", "id", "x")), "y"))
        return dict(pairs)
    if isinstance(value, list):
        found = [_value(dice, one, depth + 1) for one in value]
        return found * dice.choice((1, 1, 1, 2)) if depth < 4 else found
    return _text(dice, value) if isinstance(value, str) else value


def _text(dice: random.Random, text: str) -> str:
    letters = list(text)
    for _ in range(dice.choice((0, 0, 1, 3, 9))):
        at = dice.randrange(len(letters) + 1)
        change = dice.choice(("in", "out", "double"))
        if change == "in":
            letters.insert(at, chr(dice.choice((0, 9, 10, 34, 92, 0x202E, 0x1F600, 0xD800, 65))))
        elif letters and change == "out":
            del letters[min(at, len(letters) - 1)]
        elif letters:
            letters[at:at] = letters[: dice.randrange(1, 30)]
    return "".join(letters)[:4000]


def _message(dice: random.Random) -> None:
    value = _value(dice, dice.choice(_SEEDS))
    if isinstance(value, dict):
        bodies_of(value)


def _page(dice: random.Random) -> None:
    pages.parse(_text(dice, dice.choice(_TEXTS)))


def _lines(dice: random.Random) -> None:
    values = [_value(dice, one) for one in dice.sample(_SEEDS, 3)]
    raw = b"\n".join(json.dumps(one).encode("utf-8", "replace") for one in values)
    cut = dice.randrange(len(raw) + 1)
    file = io.BytesIO(raw[:cut] + bytes(dice.randrange(256) for _ in range(dice.choice((0, 0, 3)))))
    survey(file, "the file")
    for _ in lines_of(file):
        pass


def _serial(dice: random.Random) -> None:
    value = _value(dice, dice.choice(_SEEDS))
    if isinstance(value, dict):
        from_plain(TYPES[dice.choice(sorted(TYPES))], value)


def _date(dice: random.Random) -> None:
    dates.time_spans(_text(dice, dice.choice(_TEXTS)), NOW)


def _moment(dice: random.Random) -> None:
    inputs.moment(_text(dice, "2026-05-03T10:00:00+02:00"), "since")


def _scope(dice: random.Random) -> None:
    parse_scope(_text(dice, "user:ann:agent:coder"))


def _secret(dice: random.Random) -> None:
    redaction.redact(_text(dice, dice.choice(_TEXTS)))


PARSERS: tuple[Callable[[random.Random], None], ...] = (
    _message, _page, _lines, _serial, _date, _moment, _scope, _secret,
)  # fmt: skip


@contextmanager
def careless_parser() -> Iterator[None]:
    """Trusts that what it is given has the shape it expects."""
    import proof.fuzz as here

    def careless(raw: dict[str, Any]) -> Any:
        return raw["content"].strip()

    with mock.patch.object(here, "bodies_of", careless):
        yield


FAMILY = ProofFamily(
    name="fuzz",
    promise="A parser of outside bytes answers or refuses in one line: no crash, no hang.",
    unit="inputs",
    target=1_000_000,
    attempt=attempt,
    mutant=careless_parser,
    mutant_said="a parser of messages that trusts their shape",
    mutant_tries=3,
)
