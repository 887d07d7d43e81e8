"""The verbs as commands."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any

from recollect.errors import Incompatible, Invalid
from recollect.interfaces.cli.output import (
    INTERRUPTED,
    UNAVAILABLE,
    agreed,
    given,
    loading,
    open_memory,
    print_json,
    print_lines,
    screen_for,
    show_receipt,
)
from recollect.interfaces.render import as_json
from recollect.types import Receipt

OBSERVED_PER_CALL = 500


def remember(arguments: argparse.Namespace) -> int:
    text = arguments.text
    if text == "-":
        text = _decoded(sys.stdin.buffer.read(), "standard input")
    options = given(
        arguments, "scope", "kind", "type", "tags", "importance", "confidence", "durability",
        "valid_from", "valid_to", "expires_at", "source", "author", "supersedes", "actor",
    )  # fmt: skip
    with open_memory(arguments) as memory:
        return show_receipt(arguments, memory.remember(text, **options))


def observe(arguments: argparse.Namespace) -> int:
    messages = list(_read_messages(arguments))
    options = given(
        arguments, "scope", "channel", "author", "source", "pending", "expires_at", "actor"
    )
    receipts: list[Receipt] = []
    with open_memory(arguments) as memory:
        for start in _progress(range(0, len(messages), OBSERVED_PER_CALL), len(messages)):
            part = messages[start : start + OBSERVED_PER_CALL]
            receipts.append(memory.observe(arguments.session, part, **options))
    whole = Receipt(
        items=tuple(item for receipt in receipts for item in receipt.items),
        change=receipts[0].change if len(receipts) == 1 else "",
        notes=tuple(dict.fromkeys(note for receipt in receipts for note in receipt.notes)),
    )
    return show_receipt(arguments, whole)


def _read_messages(arguments: argparse.Namespace) -> Iterable[Any]:
    name = "standard input" if arguments.file == "-" else arguments.file
    try:
        if arguments.file == "-":
            raw = sys.stdin.buffer.read()
        else:
            with open(arguments.file, "rb") as file:
                raw = file.read()
    except OSError as error:
        raise Invalid(f"cannot read {name}: {error.strerror}") from None
    for number, line in enumerate(raw.split(b"\n"), start=1):
        text = _decoded(line, f"line {number} of {name}").strip("\r")
        if not text.strip():
            continue
        yield text if arguments.text else _parsed(text, number, name)


def _parsed(text: str, number: int, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Invalid(
            f"line {number} of {name} is not JSON; write one message a line such as "
            '{"role": "user", "content": "..."}, or use --text for plain lines'
        ) from None


def _decoded(raw: bytes, what: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(
            f"{what} is not UTF-8 (byte 0x{raw[error.start]:02x} at {error.start}); "
            "convert it first, for example with iconv"
        ) from None


def _progress(steps: range, total: int) -> Iterable[int]:
    """A bar on standard error, for people only."""
    shown = sys.stderr.isatty() and len(steps) > 1
    for step in steps:
        yield step
        if shown:
            done = min(step + OBSERVED_PER_CALL, total)
            bar = "#" * (30 * done // total)
            print(f"\r[{bar:<30}] {done}/{total}", end="", file=sys.stderr, flush=True)
    if shown:
        print(file=sys.stderr)


def relate(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        receipt = memory.relate(
            arguments.source_id, arguments.kind, arguments.target_id, actor=arguments.actor
        )
        return show_receipt(arguments, receipt)


def recall(arguments: argparse.Namespace) -> int:
    options = given(
        arguments, "scope", "limit", "kinds", "types", "tags", "statuses", "since", "until",
        "as_of", "known_at", "now", "threshold", "descend", "explain", "fast",
    )  # fmt: skip
    with open_memory(arguments) as memory:
        answer = memory.recall(arguments.query, **options)
    if arguments.json:
        return print_json(as_json(answer))
    return print_lines(screen_for(arguments).answer(answer, explain=arguments.explain))


def context(arguments: argparse.Namespace) -> int:
    options = given(arguments, "query", "session", "scope", "tokens", "shape", "now")
    with open_memory(arguments) as memory:
        packet = memory.context(**options)
        if arguments.confirm:
            memory.confirm(packet)
    if arguments.json:
        return print_json(as_json(packet))
    return print_lines(screen_for(arguments).packet(packet))


def note(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        options = given(arguments, "role", "scope", "actor")
        return show_receipt(arguments, memory.note(arguments.session, arguments.text, **options))


def end(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        receipt = memory.end(arguments.session, **given(arguments, "scope", "outcome", "actor"))
        return show_receipt(arguments, receipt)


def get(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        records = memory.get(arguments.ids)
    if arguments.json:
        print_json({"records": as_json(records)})
    else:
        screen = screen_for(arguments)
        print_lines(line for record in records for line in screen.record(record))
    missing = [id_ for id_ in arguments.ids if id_ not in {record.id for record in records}]
    for id_ in missing:
        print(f"recollect: there is no record {id_!r}", file=sys.stderr)
    return 3 if missing else 0


def history(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        entries = memory.history(arguments.id, **given(arguments, "scope", "limit"))
    if arguments.json:
        return print_json({"entries": as_json(entries)})
    screen = screen_for(arguments)
    return print_lines(line for entry in entries for line in screen.entry(entry))


def forget(arguments: argparse.Namespace) -> int:
    options = given(
        arguments, "ids", "session", "scope", "descend", "author", "source", "since", "until",
        "sources", "actor",
    )  # fmt: skip
    with open_memory(arguments) as memory:
        if not (arguments.yes or arguments.dry_run) and sys.stdin.isatty():
            planned = memory.forget(**options, dry_run=True)
            if not agreed(f"erase {len(planned.items)} things for good?"):
                return INTERRUPTED
        receipt = memory.forget(**options, dry_run=arguments.dry_run)
    show_receipt(arguments, receipt)
    lost = arguments.ids and all(item.status == "skipped" for item in receipt.items)
    return 3 if lost else 0


def undo(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        receipt = memory.undo(arguments.change, scope=arguments.scope, actor=arguments.actor)
        return show_receipt(arguments, receipt)


def policy(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        receipt = memory.set_policy(
            arguments.scope,
            persist=arguments.opt_in,
            author=arguments.author,
            actor=arguments.actor,
        )
        return show_receipt(arguments, receipt)


def reembed(arguments: argparse.Namespace) -> int:
    def progress(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} records", end="", file=sys.stderr, flush=True)

    with open_memory(arguments) as memory:
        return show_receipt(arguments, memory.reembed(progress))


def model(arguments: argparse.Namespace) -> int:
    from recollect.wiring import model_status, pull_model

    if arguments.action == "pull":
        pull_model(arguments.name, lambda said: print(said, file=sys.stderr))
    status = model_status(arguments.name)
    if arguments.json:
        print_json({"ready": status.ready, "detail": status.detail, "origin": status.origin})
    else:
        print(f"{arguments.name}: {status.detail}")
    return 0 if status.ready else UNAVAILABLE


def serve(arguments: argparse.Namespace) -> int:
    try:
        with loading():
            from recollect.interfaces.http import serve
    except ImportError as error:
        raise Incompatible(
            f"the server needs {error.name}: pip install 'recollect[server]'"
        ) from None
    serve(
        store=arguments.store,
        profile=arguments.profile,
        embedder=arguments.embedder,
        host=arguments.host,
        port=arguments.port,
    )
    return 0
