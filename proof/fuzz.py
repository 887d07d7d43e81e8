"""Outside bytes: whatever comes in, a parser answers or refuses, in our own words and in time."""

from __future__ import annotations

import io
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from proof.family import Broken, ProofFamily, Trial
from proof.sockets import Desk, body_of, desk
from standfast.adapters.importers import import_foreign
from standfast.errors import StandfastError
from standfast.interfaces.markdown import pages
from standfast.interfaces.markdown.config import read_config
from standfast.scopes import parse_scope
from standfast.text import dates, inputs
from standfast.text import redact as redaction
from standfast.text.dialects import bodies_of
from standfast.types.serial import TYPES, from_plain
from standfast.verbs.import_.file import lines_of, survey

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
    {"format": "standfast", "version": 1, "scopes": ["user:ann"]},
)  # fmt: skip
_TEXTS = (
    "# Facts\n\n- Ann lives in Berlin <!-- id: 1 -->\n- [ ] buy tea\n\n```\ncode\n```\n",
    "meet me on the 3rd of May at 5pm, or last tuesday, or 2026-13-45",
    "my key is sk-abcdefghijklmnopqrstuvwxyz0123456789 and my card 4111 1111 1111 1111",
    "user:ann:agent:coder%3A", "\ud83d\ude00 \u202e right to left \u0000", "a" * 300 + "!" * 300,
)  # fmt: skip
_YAML = (
    "agents:\n  defaults:\n    memory_window: 50  # messages\n",
    "# nothing\nagents:\n  defaults: {}\nother: [1, 2]\n",
    "a: &x b\nc: *x\n? d\n: e\n--- !!python/object:os.system x\n",
)
_FOREIGN: dict[str, Any] = {
    "mem0": {"results": [{"id": "1", "memory": "likes tea", "user_id": "ann", "created_at": "x"}]},
    "memory-json": '{"type":"entity","name":"Ann","entityType":"p","observations":["tea"]}\n',
    "markdown": _TEXTS[0],
    "chatgpt": [{"title": "t", "create_time": 1.7e9, "mapping": {"a": {"id": "a", "parent": None,
        "children": [], "message": {"author": {"role": "user"}, "content": {"parts": ["hi"]}}}}}],
    "claude": [{"uuid": "1", "name": "t", "chat_messages": [{"sender": "human", "text": "hi"}]}],
    "letta": {"agents": [{"id": "a", "messages": [], "core_memory": [{"label": "h"}]}]},
    "graphiti": {"nodes": [{"uuid": "1", "name": "Ann"}], "edges": [{"uuid": "2", "fact": "tea"}]},
    "csv": "text,at\nlikes tea,2025-03-01\n\"a, b\",x\n",
    "jsonl": '{"text": "likes tea", "at": "2025-03-01"}\n{"text": 1}\n',
}  # fmt: skip
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("remember", {"text": "tea", "scope": "user:ann", "tags": ["a"], "importance": 0.5}),
    ("observe", {"session": "s", "messages": [{"role": "user", "content": "hi", "id": "1"}]}),
    ("recall", {"query": "tea", "limit": 5, "since": "2026-01-01", "types": ["fact"]}),
    ("context", {"query": "tea", "session": "s", "tokens": 500, "shape": "openai"}),
    ("forget", {"ids": ["1"], "scope": "user:ann", "dry_run": True}),
    ("resolve", {"id": "1", "action": "approve", "text": "x"}),
    ("save_procedure", {"name": "n", "steps": ["a", "b"], "triggers": ["t"]}),
    ("set_state", {"session": "s", "state": {"a": [1, {"b": None}]}}),
)
_TOOLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_save", {"text": "tea", "tags": ["a"]}),
    ("memory_search", {"query": "tea", "limit": 3}),
    ("session_log", {"session": "s", "messages": [{"role": "user", "content": "hi"}]}),
    ("procedure_save", {"name": "n", "steps": ["a"]}),
)
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


def attempt(seed: int, folder: Path) -> Trial:
    dice = random.Random(seed)
    figures: Counter[str] = Counter()
    with desk(folder) as table:
        for _ in range(PER_TRIAL):
            parser = dice.choices(PARSERS, OFTEN)[0]
            figures[f"to {parser.__name__.strip('_')}"] += 1
            # Of processors, the server's too: an answer that never comes has a limit of its own.
            begun = time.process_time()
            try:
                parser(dice, table)
            except (StandfastError, UnicodeDecodeError) as error:
                figures["refused in our own words"] += 1
                if "\n" in str(error):
                    raise Broken(
                        f"{parser.__name__} refuses in more than a line: {error}"
                    ) from None
            spent = time.process_time() - begun
            if spent > SECONDS_MAX:
                raise Broken(f"{parser.__name__} took {spent:.1f} s")
    return Trial(units=PER_TRIAL, figures=tuple(figures.items()))


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


def _message(dice: random.Random, _: Desk) -> None:
    value = _value(dice, dice.choice(_SEEDS))
    if isinstance(value, dict):
        bodies_of(value)


def _page(dice: random.Random, _: Desk) -> None:
    pages.parse(_text(dice, dice.choice(_TEXTS)))


def _lines(dice: random.Random, _: Desk) -> None:
    values = [_value(dice, one) for one in dice.sample(_SEEDS, 3)]
    raw = b"\n".join(json.dumps(one).encode("utf-8", "replace") for one in values)
    cut = dice.randrange(len(raw) + 1)
    file = io.BytesIO(raw[:cut] + bytes(dice.randrange(256) for _ in range(dice.choice((0, 0, 3)))))
    survey(file, "the file")
    for _ in lines_of(file):
        pass


def _serial(dice: random.Random, _: Desk) -> None:
    value = _value(dice, dice.choice(_SEEDS))
    if isinstance(value, dict):
        from_plain(TYPES[dice.choice(sorted(TYPES))], value)


def _date(dice: random.Random, _: Desk) -> None:
    dates.time_spans(_text(dice, dice.choice(_TEXTS)), NOW)


def _moment(dice: random.Random, _: Desk) -> None:
    inputs.moment(_text(dice, "2026-05-03T10:00:00+02:00"), "since")


def _scope(dice: random.Random, _: Desk) -> None:
    parse_scope(_text(dice, "user:ann:agent:coder"))


def _secret(dice: random.Random, _: Desk) -> None:
    redaction.redact(_text(dice, dice.choice(_TEXTS)))


def _settings(dice: random.Random, _: Desk) -> None:
    read_config(_text(dice, dice.choice(_YAML)))


def _import(dice: random.Random, table: Desk) -> None:
    kind = dice.choice(tuple(_FOREIGN))
    held = _FOREIGN[kind]
    file = table.folder / f"export{'.md' if kind == 'markdown' else '.json'}"
    raw = _text(dice, held) if isinstance(held, str) else json.dumps(_value(dice, held))
    file.write_bytes(raw.encode("utf-8", "replace")[: dice.choice((40, 99_999, 99_999))])
    import_foreign(table.memory, kind, file, scope="user:ann", dry_run=True)


def _body(dice: random.Random, table: Desk) -> None:
    """Of a verb, over HTTP."""
    verb, held = dice.choice(_CALLS)
    raw = body_of(_value(dice, held))
    if dice.random() < 0.2:
        raw = _bytes(dice, raw)
    table.post(f"/v1/{verb}", raw)


def _request(dice: random.Random, table: Desk) -> None:
    """The bytes of a request themselves."""
    head = b"POST /v1/recall HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    head += b"Content-Type: application/json\r\nContent-Length: 15\r\n\r\n"
    table.send(_bytes(dice, head + b'{"query":"tea"}'))


def _frame(dice: random.Random, table: Desk) -> None:
    """Of MCP, over HTTP."""
    name, held = dice.choice(_TOOLS)
    call = {"name": name, "arguments": held}
    frame = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    table.post("/mcp", body_of(_value(dice, frame)))


def _bytes(dice: random.Random, raw: bytes) -> bytes:
    held = bytearray(raw)
    for _ in range(dice.choice((1, 1, 2, 8))):
        at = dice.randrange(len(held) + 1)
        match dice.choice(("in", "out", "flip")):
            case "in":
                held[at:at] = dice.choice((b"\x00", b"\xff", b"\r\n", b'"', b"{", b"9" * 20))
            case "out":
                del held[at : at + dice.choice((1, 4))]
            case _ if held:
                held[at % len(held)] ^= 1 << dice.randrange(8)
    return bytes(held)


# The pure ones are quick and see most; those over a connection see what only bytes can do.
PARSERS: tuple[Callable[[random.Random, Desk], None], ...] = (
    _message, _page, _lines, _serial, _date, _moment, _scope, _secret, _settings,
    _import, _body, _request, _frame,
)  # fmt: skip
OFTEN = (10, 10, 10, 10, 10, 10, 10, 10, 10, 3, 2, 1, 1)


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
    parallel=True,
)
