"""The command line ``recollect``: arguments in, one verb, a readable or JSON answer out."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, get_args

from recollect.errors import Invalid, RecollectError
from recollect.interfaces.rendering import Screen, as_json
from recollect.shapes import Shape
from recollect.types import Durability, Kind, Receipt, RelationKind, Source, Status, Type

if TYPE_CHECKING:
    from recollect.sync import Memory

OBSERVED_PER_CALL = 500
INTERRUPTED = 130
UNSOUND = 8

EPILOG = """\
exit codes: 0 done, 1 internal error, 2 the request is wrong, 3 not found, 4 denied,
5 conflict, 6 store or service unavailable, 7 incompatible file or library, 8 doctor found
something, 130 interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    _tolerant_output()
    arguments = build_parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except RecollectError as error:
        _complain(arguments, error)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read us went away (head, less): no more to say, and nowhere to say it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _tolerant_output() -> None:
    """An emoji in a memory must not crash a terminal that cannot show it."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _complain(arguments: argparse.Namespace, error: RecollectError) -> None:
    kind = type(error).__name__
    if arguments.json:
        print(json.dumps({"error": kind, "message": str(error)}, ensure_ascii=False))
    print(f"recollect: {error}", file=sys.stderr)


# The parser


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="recollect",
        description="A memory for AI agents: local, honest, in one file.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_common(parser, top=True)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_writing(commands)
    _add_reading(commands)
    _add_correcting(commands)
    _add_running(commands)
    return parser


def _add_common(parser: argparse.ArgumentParser, *, top: bool = False) -> None:
    """The common options work before and after the command."""
    default: Any = None if top else argparse.SUPPRESS
    off: Any = False if top else argparse.SUPPRESS
    group = parser.add_argument_group("common")
    group.add_argument("--store", default=default, help="path or URL of the store")
    group.add_argument("--profile", default=default, help="default, otto, openmotoko, agtos, ...")
    group.add_argument("--embedder", default=default, help="hashing or none")
    group.add_argument("--json", action="store_true", default=off, help="answer in JSON")
    group.add_argument("--no-color", action="store_true", default=off, help="no colours")
    group.add_argument("--no-background", action="store_true", default=off, help="no upkeep")
    group.add_argument(
        "--actor", default="cli" if top else argparse.SUPPRESS, help="for the journal"
    )


def _command(commands: Any, name: str, run: Callable[..., int], help_: str) -> Any:
    parser = commands.add_parser(name, help=help_, description=help_)
    parser.set_defaults(run=run)
    _add_common(parser)
    return parser


def _add_writing(commands: Any) -> None:
    remember = _command(commands, "remember", _remember, "keep one statement")
    remember.add_argument("text", help="the statement; - reads it from standard input")
    remember.add_argument("--scope")
    remember.add_argument("--kind", choices=get_args(Kind))
    remember.add_argument("--type", choices=[t for t in get_args(Type) if t != "turn"])
    remember.add_argument("--tag", action="append", default=[], dest="tags")
    remember.add_argument("--importance", type=float)
    remember.add_argument("--confidence", type=float, default=1.0)
    remember.add_argument("--durability", choices=get_args(Durability))
    remember.add_argument("--valid-from", metavar="TIME")
    remember.add_argument("--valid-to", metavar="TIME")
    remember.add_argument("--expires-at", metavar="TIME")
    remember.add_argument("--source", choices=get_args(Source), default="user")
    remember.add_argument("--author", default="")
    remember.add_argument("--supersedes", metavar="ID")

    observe = _command(commands, "observe", _observe, "append messages to a session")
    observe.add_argument("session")
    observe.add_argument("file", nargs="?", default="-", help="JSON lines; - or nothing: stdin")
    observe.add_argument("--text", action="store_true", help="each line is something the user said")
    observe.add_argument("--scope")
    observe.add_argument("--channel", default="")
    observe.add_argument("--author", default="")
    observe.add_argument("--source", choices=get_args(Source))
    observe.add_argument("--pending", action="store_true")
    observe.add_argument("--expires-at", metavar="TIME")

    relate = _command(commands, "relate", _relate, "link two records")
    relate.add_argument("source_id")
    relate.add_argument("kind", choices=get_args(RelationKind))
    relate.add_argument("target_id")


def _add_reading(commands: Any) -> None:
    recall = _command(commands, "recall", _recall, "find memories")
    recall.add_argument("query")
    recall.add_argument("--scope", action="append", help="may be repeated; none: everywhere")
    recall.add_argument("--limit", type=int)
    recall.add_argument("--kind", action="append", default=[], dest="kinds", choices=get_args(Kind))
    recall.add_argument("--type", action="append", default=[], dest="types", choices=get_args(Type))
    recall.add_argument("--tag", action="append", default=[], dest="tags")
    recall.add_argument("--status", action="append", dest="statuses", choices=get_args(Status))
    for name in ("--since", "--until", "--as-of", "--known-at", "--now"):
        recall.add_argument(name, metavar="TIME")
    recall.add_argument("--threshold", type=float)
    recall.add_argument("--descend", action="store_true", help="also everything below the scopes")
    recall.add_argument("--explain", action="store_true", help="how each score came about")

    context = _command(commands, "context", _context, "one packet for the next model call")
    context.add_argument("query", nargs="?")
    context.add_argument("--session")
    context.add_argument("--scope", action="append")
    context.add_argument("--tokens", type=int)
    context.add_argument("--shape", choices=get_args(Shape), default="openai")
    context.add_argument("--now", metavar="TIME")

    get = _command(commands, "get", _get, "show records by id")
    get.add_argument("ids", nargs="+", metavar="ID")

    history = _command(commands, "history", _history, "what happened to a record, or lately")
    history.add_argument("id", nargs="?")
    history.add_argument("--scope")
    history.add_argument("--limit", type=int, default=50)


def _add_correcting(commands: Any) -> None:
    forget = _command(commands, "forget", _forget, "erase for good, with everything derived")
    forget.add_argument("--id", action="append", default=[], dest="ids")
    forget.add_argument("--session")
    forget.add_argument("--scope")
    forget.add_argument("--descend", action="store_true")
    forget.add_argument("--author")
    forget.add_argument("--source", choices=get_args(Source))
    forget.add_argument("--since", metavar="TIME")
    forget.add_argument("--until", metavar="TIME")
    forget.add_argument("--sources", action="store_true", help="sources and copies too")
    forget.add_argument("--dry-run", action="store_true")
    forget.add_argument("--yes", action="store_true", help="do not ask")

    undo = _command(commands, "undo", _undo, "take a change back")
    undo.add_argument("change")
    undo.add_argument("--scope")

    policy = _command(commands, "policy", _policy, "opt out of persistence, or in again")
    policy.add_argument("--scope", required=True)
    policy.add_argument("--author", default="", help="only what this author says")
    choice = policy.add_mutually_exclusive_group(required=True)
    choice.add_argument("--opt-out", action="store_true")
    choice.add_argument("--opt-in", action="store_true")


def _add_running(commands: Any) -> None:
    _command(commands, "maintain", _maintain, "one round of upkeep")
    _command(commands, "reembed", _reembed, "move the store to --embedder's vector space")
    doctor = _command(commands, "doctor", _doctor, "check the store file")
    doctor.add_argument("--rebuild", action="store_true", help="make every index anew from rows")
    serve = _command(commands, "serve", _serve, "run the server")
    serve.add_argument("--host")
    serve.add_argument("--port", type=int)


# The commands


def _open(arguments: argparse.Namespace) -> Memory:
    from recollect.sync import Memory

    return Memory.open(
        arguments.store,
        profile=arguments.profile,
        embedder=arguments.embedder,
        background=not arguments.no_background,
    )


def _given(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in names}


def _remember(arguments: argparse.Namespace) -> int:
    text = arguments.text
    if text == "-":
        text = _decoded(sys.stdin.buffer.read(), "standard input")
    options = _given(
        arguments, "scope", "kind", "type", "tags", "importance", "confidence", "durability",
        "valid_from", "valid_to", "expires_at", "source", "author", "supersedes", "actor",
    )  # fmt: skip
    with _open(arguments) as memory:
        return _show_receipt(arguments, memory.remember(text, **options))


def _observe(arguments: argparse.Namespace) -> int:
    messages = list(_read_messages(arguments))
    options = _given(
        arguments, "scope", "channel", "author", "source", "pending", "expires_at", "actor"
    )
    receipts: list[Receipt] = []
    with _open(arguments) as memory:
        for start in _progress(range(0, len(messages), OBSERVED_PER_CALL), len(messages)):
            part = messages[start : start + OBSERVED_PER_CALL]
            receipts.append(memory.observe(arguments.session, part, **options))
    whole = Receipt(
        items=tuple(item for receipt in receipts for item in receipt.items),
        change=receipts[0].change if len(receipts) == 1 else "",
        notes=tuple(dict.fromkeys(note for receipt in receipts for note in receipt.notes)),
    )
    return _show_receipt(arguments, whole)


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


def _relate(arguments: argparse.Namespace) -> int:
    with _open(arguments) as memory:
        receipt = memory.relate(
            arguments.source_id, arguments.kind, arguments.target_id, actor=arguments.actor
        )
        return _show_receipt(arguments, receipt)


def _recall(arguments: argparse.Namespace) -> int:
    options = _given(
        arguments, "scope", "limit", "kinds", "types", "tags", "statuses", "since", "until",
        "as_of", "known_at", "now", "threshold", "descend", "explain",
    )  # fmt: skip
    with _open(arguments) as memory:
        answer = memory.recall(arguments.query, **options)
    if arguments.json:
        return _print_json(as_json(answer))
    return _print(_screen(arguments).answer(answer, explain=arguments.explain))


def _context(arguments: argparse.Namespace) -> int:
    options = _given(arguments, "query", "session", "scope", "tokens", "shape", "now")
    with _open(arguments) as memory:
        packet = memory.context(**options)
    if arguments.json:
        return _print_json(as_json(packet))
    return _print(_screen(arguments).packet(packet))


def _get(arguments: argparse.Namespace) -> int:
    with _open(arguments) as memory:
        records = memory.get(arguments.ids)
    if arguments.json:
        _print_json({"records": as_json(records)})
    else:
        screen = _screen(arguments)
        _print(line for record in records for line in screen.record(record))
    missing = [id_ for id_ in arguments.ids if id_ not in {record.id for record in records}]
    for id_ in missing:
        print(f"recollect: there is no record {id_!r}", file=sys.stderr)
    return 3 if missing else 0


def _history(arguments: argparse.Namespace) -> int:
    with _open(arguments) as memory:
        entries = memory.history(arguments.id, **_given(arguments, "scope", "limit"))
    if arguments.json:
        return _print_json({"entries": as_json(entries)})
    screen = _screen(arguments)
    return _print(line for entry in entries for line in screen.entry(entry))


def _forget(arguments: argparse.Namespace) -> int:
    options = _given(
        arguments, "ids", "session", "scope", "descend", "author", "source", "since", "until",
        "sources", "actor",
    )  # fmt: skip
    with _open(arguments) as memory:
        if not (arguments.yes or arguments.dry_run) and sys.stdin.isatty():
            planned = memory.forget(**options, dry_run=True)
            if not _agreed(f"erase {len(planned.items)} things for good?"):
                return INTERRUPTED
        receipt = memory.forget(**options, dry_run=arguments.dry_run)
    _show_receipt(arguments, receipt)
    lost = arguments.ids and all(item.status == "skipped" for item in receipt.items)
    return 3 if lost else 0


def _agreed(question: str) -> bool:
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _undo(arguments: argparse.Namespace) -> int:
    with _open(arguments) as memory:
        receipt = memory.undo(arguments.change, scope=arguments.scope, actor=arguments.actor)
        return _show_receipt(arguments, receipt)


def _policy(arguments: argparse.Namespace) -> int:
    with _open(arguments) as memory:
        receipt = memory.set_policy(
            arguments.scope,
            persist=arguments.opt_in,
            author=arguments.author,
            actor=arguments.actor,
        )
        return _show_receipt(arguments, receipt)


def _maintain(arguments: argparse.Namespace) -> int:
    with _open(arguments) as memory:
        return _show_receipt(arguments, memory.maintain())


def _reembed(arguments: argparse.Namespace) -> int:
    def progress(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} records", end="", file=sys.stderr, flush=True)

    with _open(arguments) as memory:
        return _show_receipt(arguments, memory.reembed(progress))


def _doctor(arguments: argparse.Namespace) -> int:
    from recollect.wiring import check_store

    report = check_store(arguments.store, arguments.profile, rebuild=arguments.rebuild)
    if arguments.json:
        _print_json({**as_json(report), "sound": report.is_sound})
    else:
        print(f"{report.path}: SQLite {report.library}, mode {report.mode}")
        print(f"{report.records} records, {report.messages} messages")
        for finding in report.findings:
            print(
                f"{finding.part}: {finding.text}" + "".join(f"\n    {i}" for i in finding.ids[:20])
            )
        print("sound" if report.is_sound else f"{len(report.findings)} findings")
    return 0 if report.is_sound else UNSOUND


def _serve(arguments: argparse.Namespace) -> int:
    from recollect.interfaces.http import serve

    serve(
        store=arguments.store,
        profile=arguments.profile,
        embedder=arguments.embedder,
        host=arguments.host,
        port=arguments.port,
    )
    return 0


# Output


def _screen(arguments: argparse.Namespace) -> Screen:
    colour = sys.stdout.isatty() and not arguments.no_color and "NO_COLOR" not in os.environ
    return Screen(colour=colour, width=shutil.get_terminal_size((100, 24)).columns)


def _show_receipt(arguments: argparse.Namespace, receipt: Receipt) -> int:
    if arguments.json:
        return _print_json(as_json(receipt))
    return _print(_screen(arguments).receipt(receipt))


def _print_json(value: Any) -> int:
    print(json.dumps(value, ensure_ascii=False, indent=2))
    return 0


def _print(lines: Iterable[str]) -> int:
    for line in lines:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
