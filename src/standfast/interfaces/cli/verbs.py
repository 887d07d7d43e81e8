"""The verbs as commands: which there are, what is said of them, and what runs them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

from standfast.errors import Invalid, NotFound
from standfast.interfaces.cli import INTERRUPTED, files, reviews
from standfast.interfaces.cli.nearby import answered
from standfast.interfaces.cli.options import Command, given
from standfast.interfaces.cli.output import (
    must_agree,
    open_memory,
    print_json,
    print_lines,
    screen_for,
    show,
    show_plan,
    show_receipt,
)
from standfast.interfaces.cli.progress import Progress
from standfast.interfaces.cli.workspaces import write_mirrors_anew
from standfast.interfaces.nearby import VERBS
from standfast.interfaces.render import as_json, authors_of, visible
from standfast.memory.arguments import Argument
from standfast.types import Answer, Receipt, ReceiptItem, Type

OBSERVED_PER_CALL = 500
MESSAGE_LINE = (
    'one message a line such as {"role": "user", "content": "..."}, or use --text for plain lines'
)
STATEMENT_LINE = 'one statement a line, as "..." or {"text": "...", "tags": ["..."]}'


def run(arguments: argparse.Namespace) -> int:
    """What most commands do: call the verb, show its answer."""
    if arguments.verb in VERBS and (found := answered(arguments)) is not None:
        return show(arguments, found)
    with open_memory(arguments) as memory:
        return show(arguments, getattr(memory, arguments.verb)(**given(arguments)))


def remember(arguments: argparse.Namespace) -> int:
    if (arguments.text is None) == (arguments.lines is None):
        raise Invalid("say what to remember: a text, or --lines with a file of statements")
    if arguments.lines is not None:
        return _remember_lines(arguments)
    if arguments.text == "-":
        arguments.text = _decoded(sys.stdin.buffer.read(), "standard input")
    return run(arguments)


def _remember_lines(arguments: argparse.Namespace) -> int:
    """Whoever is interrupted may begin again: what is known already is merged."""
    statements = list(_read_lines(arguments.lines, STATEMENT_LINE))
    bar = Progress("remembering", len(statements), shown=not arguments.quiet)
    with open_memory(arguments) as memory, bar as progress:
        arguments.text = _counted(statements, progress)
        receipt = memory.remember(**given(arguments))
    return show_receipt(arguments, receipt)


def _counted(many: Iterable[Any], progress: Progress) -> Iterator[Any]:
    for number, one in enumerate(many):
        progress(number)
        yield one


def observe(arguments: argparse.Namespace) -> int:
    messages = list(_read_messages(arguments))
    receipts: list[Receipt] = []
    bar = Progress("observing", len(messages), shown=not arguments.quiet)
    with open_memory(arguments) as memory, bar as progress:
        for start in range(0, len(messages), OBSERVED_PER_CALL):
            part = messages[start : start + OBSERVED_PER_CALL]
            receipts.append(memory.observe(messages=part, **given(arguments)))
            progress(start + len(part))
    whole = Receipt(
        items=tuple(item for receipt in receipts for item in receipt.items),
        change=receipts[0].change if len(receipts) == 1 else "",
        notes=tuple(dict.fromkeys(note for receipt in receipts for note in receipt.notes)),
    )
    return show_receipt(arguments, whole)


def _read_messages(arguments: argparse.Namespace) -> Iterable[Any]:
    return _read_lines(arguments.file, "" if arguments.text else MESSAGE_LINE)


def _read_lines(file: str, wanted: str) -> Iterable[Any]:
    """What each line holds: JSON, if ``wanted`` says how it looks; else the line as it is."""
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            raw = sys.stdin.buffer.read()
        else:
            with open(file, "rb") as opened:
                raw = opened.read()
    except OSError as error:
        raise Invalid(f"cannot read {name}: {error.strerror}") from None
    for number, line in enumerate(raw.split(b"\n"), start=1):
        text = _decoded(line, f"line {number} of {name}").strip("\r")
        if text.strip():
            yield _parsed(text, f"line {number} of {name}", wanted) if wanted else text


def _parsed(text: str, where: str, wanted: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Invalid(f"{where} is not JSON; write {wanted}") from None


def _decoded(raw: bytes, what: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(
            f"{what} is not UTF-8 (byte 0x{raw[error.start]:02x} at {error.start}); "
            "convert it first, for example with iconv"
        ) from None


def context(arguments: argparse.Namespace) -> int:
    if not arguments.confirm:
        return run(arguments)
    with open_memory(arguments) as memory:
        packet = memory.context(**given(arguments))
        memory.confirm(packet)
    return show(arguments, packet)


def get(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        records = memory.get(arguments.ids)
    show(arguments, records)
    missing = [id_ for id_ in arguments.ids if id_ not in {record.id for record in records}]
    for id_ in missing:
        print(f"standfast: there is no record {id_!r}", file=sys.stderr)
    return NotFound.exit_code if missing else 0


def choose(arguments: argparse.Namespace) -> int:
    """What chooses many at once lists them first, says by whom they are, and asks."""
    options = given(arguments)
    with open_memory(arguments) as memory:
        verb = getattr(memory, arguments.verb)
        if not (arguments.yes or arguments.dry_run):
            planned = verb(**{**options, "dry_run": True}).items
            going = [item for item in planned if item.status != "skipped"]
            if going and not _agreed_to(arguments, going):
                return INTERRUPTED
            if going and arguments.verb == "forget":
                options["several_authors"] = True  # the question named them
        receipt = verb(**options)
    show_receipt(arguments, receipt)
    if arguments.verb == "forget":
        write_mirrors_anew(arguments, receipt)
    lost = arguments.ids and all(item.status == "skipped" for item in receipt.items)
    return NotFound.exit_code if lost else 0


def _agreed_to(arguments: argparse.Namespace, going: Sequence[ReceiptItem]) -> bool:
    authors = authors_of(going)
    by = f" by {', '.join(map(visible, authors))}" if len(authors) > 1 else ""
    if sys.stdin.isatty():
        show_plan(arguments, going)
    return must_agree(arguments, QUESTIONS[arguments.verb].format(len(going), by))


def maintain(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory, Progress.ticking("upkeep", shown=not arguments.quiet):
        receipt = memory.maintain(**given(arguments))
    if arguments.dry_run and not arguments.json:
        return print_lines(_diff(receipt))
    return show_receipt(arguments, receipt)


def _diff(receipt: Receipt) -> Iterable[str]:
    from standfast.memory.shown import diff_line

    for item in receipt.items:
        yield visible(diff_line(item))
    if not receipt.items:
        yield "nothing to do"
    for note in receipt.notes:
        yield visible(f"# {note}")


def reembed(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        total = memory.stats(descend=True).records
        with Progress("embedding", total, shown=not arguments.quiet) as progress:
            receipt = memory.reembed(progress)
    return show_receipt(arguments, receipt)


def set_state(arguments: argparse.Namespace) -> int:
    text = arguments.state
    text = _decoded(sys.stdin.buffer.read(), "standard input") if text == "-" else text
    try:
        arguments.state = json.loads(text)
    except (ValueError, RecursionError):
        raise Invalid("the state is not JSON; write an object such as '{\"step\": 2}'") from None
    return run(arguments)


def find_procedures(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        answer: Answer = memory.find_procedures(**given(arguments))
    if arguments.json:
        return print_json(as_json(answer))
    lines = list(screen_for(arguments).answer(answer, explain=False))
    for number, hit in enumerate(answer.hits, start=1):
        steps = hit.record.data.get("steps")
        listed = steps if isinstance(steps, list) else []
        lines += [f"{number}.{place} {visible(str(s))}" for place, s in enumerate(listed, start=1)]
    return print_lines(lines)


def _add_statement(parser: Any, _: Argument) -> None:
    said = "the statement; - reads it from standard input"
    parser.add_argument("text", nargs="?", help=said)
    lines = "JSON lines, a statement each; - reads them from standard input"
    parser.add_argument("--lines", metavar="FILE", help=lines)


def _add_messages(parser: Any, _: Argument) -> None:
    parser.add_argument("file", nargs="?", default="-", help="JSON lines; - or nothing: stdin")
    parser.add_argument("--text", action="store_true", help="each line is something the user said")


def _add_fast(parser: Any, argument: Argument) -> None:
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--fast", action="store_true", default=None, help=argument.said)
    choice.add_argument(
        "--rerank",
        action="store_false",
        dest="fast",
        default=None,
        help="a model chooses, if one is configured",
    )


def _add_persist(parser: Any, _: Argument) -> None:
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--opt-out", action="store_false", dest="persist", help="keep nothing more")
    choice.add_argument("--opt-in", action="store_true", dest="persist", help="keep again")


def _add_success(parser: Any, _: Argument) -> None:
    parser.add_argument(
        "--failed", action="store_false", dest="success", default=True, help="it did not work"
    )


ASKS = {"--yes": {"action": "store_true", "help": "do not ask"}}
WORKSPACE = {"--workspace": {"help": "look into this workspace's store"}}
ITS_STORE = {"--workspace": {"default": argparse.SUPPRESS, "help": "whose store to use"}}
_TYPES = [word for word in get_args(Type) if word != "turn"]
_DECIDED = {"action": "the command is the action"}
_NO_TEXT = {"text": "only `edit` takes another text"}
_NO_INTO = {"into": "only `merge` takes another record"}

COMMANDS = (
    Command(
        words="remember",
        verb="remember",
        help="keep a statement, or a file of them",
        run=remember,
        own={
            "text": _add_statement,
            "type": {"choices": _TYPES},  # a turn is what observe makes
            "supersedes": {"metavar": "ID"},
        },
        left_out={"data": "JSON inside of a shell's quotes; --lines takes it"},
    ),
    Command(
        words="observe",
        verb="observe",
        help="append messages to a session",
        run=observe,
        own={"messages": _add_messages},
    ),
    Command(
        words="relate",
        verb="relate",
        help="link two records",
        own={"source": {"metavar": "source_id"}, "target": {"metavar": "target_id"}},
    ),
    Command(words="note", verb="note", help="add a short note to a session's block"),
    Command(words="end", verb="end", help="end a session and keep what came of it"),
    Command(words="recall", verb="recall", help="find memories", own={"fast": _add_fast}),
    Command(
        words="context",
        verb="context",
        help="one packet for the next model call",
        run=context,
        own={"query": {"flag": "query", "nargs": "?"}},
        more={"--confirm": {"action": "store_true", "help": "consume its pending messages"}},
    ),
    Command(
        words="get", verb="get", help="show records by id", run=get, own={"ids": {"metavar": "ID"}}
    ),
    Command(words="history", verb="history", help="what happened to a record, or lately"),
    Command(words="records", verb="records", help="list records, page by page"),
    Command(words="sessions", verb="sessions", help="list sessions, page by page"),
    Command(words="messages", verb="messages", help="what was said in a session"),
    Command(words="summaries", verb="summaries", help="what a session's messages were folded into"),
    Command(words="stats", verb="stats", help="how much there is"),
    Command(
        words="forget",
        verb="forget",
        help="erase for good, with everything derived",
        run=choose,
        more=ASKS,
    ),
    Command(
        words="revoke",
        verb="revoke",
        help="retire all that came from somewhere",
        run=choose,
        more=ASKS,
    ),
    Command(
        words="review",
        verb="review",
        help="what waits for a person to decide",
        run=reviews.list_,
        more=WORKSPACE,
    ),
    Command(
        words="review approve",
        verb="resolve",
        help="it holds: a quarantined memory, one side of a dispute, a held change",
        run=reviews.decide,
        left_out={**_DECIDED, **_NO_TEXT, **_NO_INTO},
        more=ITS_STORE,
    ),
    Command(
        words="review reject",
        verb="resolve",
        help="it does not hold",
        run=reviews.decide,
        left_out={**_DECIDED, **_NO_TEXT, **_NO_INTO},
        more=ITS_STORE,
    ),
    Command(
        words="review edit",
        verb="resolve",
        help="put another text in its place",
        run=reviews.decide,
        own={"text": {"required": True}},
        left_out={**_DECIDED, **_NO_INTO},
        more=ITS_STORE,
    ),
    Command(
        words="review merge",
        verb="resolve",
        help="another memory says it better",
        run=reviews.decide,
        own={"into": {"metavar": "ID", "required": True}},
        left_out={**_DECIDED, **_NO_TEXT},
        more=ITS_STORE,
    ),
    Command(words="edit", verb="edit", help="put another text in a record's place"),
    Command(words="pin", verb="pin", help="show records at every task, or no longer"),
    Command(words="dispute", verb="dispute", help="doubt a record; review decides"),
    Command(words="why-not", verb="why_not", help="why a record does not answer a question"),
    Command(words="scopes", verb="scopes", help="which scopes there are, and how much they hold"),
    Command(words="undo", verb="undo", help="take a change back"),
    Command(
        words="policy",
        verb="set_policy",
        help="opt out of persistence, or in again",
        own={
            "scope": {"flag": "--scope", "required": True},
            "persist": _add_persist,
        },
    ),
    Command(
        words="maintain",
        verb="maintain",
        help="one round of upkeep, and consolidation now",
        run=maintain,
    ),
    Command(
        words="procedure save",
        verb="save_procedure",
        help="keep steps under a name",
        own={
            "steps": {
                "flag": "--step",
                "action": "append",
                "default": [],
                "dest": "steps",
                "nargs": None,
            }
        },
    ),
    Command(
        words="procedure find",
        verb="find_procedures",
        help="procedures for a task",
        run=find_procedures,
    ),
    Command(
        words="procedure used",
        verb="procedure_used",
        help="count that one was followed",
        own={"id_or_name": {"metavar": "ID"}, "success": _add_success},
    ),
    Command(
        words="reembed",
        verb="reembed",
        help="move the store to --embedder's vector space",
        run=reembed,
        left_out={"progress": "a terminal shows it"},
    ),
    Command(
        words="export",
        verb="export_to",
        help="write everything as JSON lines",
        run=files.export,
        own={"path": {"flag": "file", "help": "the file to write; - writes to standard output"}},
        left_out={
            "descend": "whoever saves a scope means all of it",
            "progress": "a terminal shows it",
        },
        more={
            "--to": {
                "action": "append",
                "default": [],
                "dest": "recipients",
                "metavar": "AGE1...",
                "help": "encrypt the file for whoever has this age key",
            },
        },
    ),
    Command(
        words="import",
        verb="import_from",
        help="read an export in",
        run=files.import_,
        own={
            "path": {"flag": "file", "help": "what to read; - reads from standard input"},
            "trusted_key": {"help": "a file with the public key (PEM) that has signed it"},
        },
        more={
            "--from": {
                "dest": "foreign",
                "metavar": "KIND",
                "help": "read another program's file or folder in: mem0, chatgpt, markdown, ...",
            },
            "--scope": {"help": "where all of it goes; only with --from"},
            "--map": {
                "action": "append",
                "default": [],
                "dest": "fields",
                "metavar": "OURS=THEIRS",
                "help": "which column of a table holds what, such as text=note",
            },
            "--learn": {"action": "store_true", "help": "learn from conversations, too"},
            "--identity": {"metavar": "FILE", "help": "the age key that an encrypted file is for"},
        },
        left_out={"progress": "a terminal shows it"},
    ),
    Command(words="pending", verb="pending", help="messages that wait to be delivered"),
    Command(
        words="archive",
        verb="archive",
        help="retire records; undo takes it back",
        own={"ids": {"metavar": "ID"}},
    ),
    Command(words="usage", verb="usage", help="what models cost, day by day"),
    Command(words="due", verb="due", help="what upkeep has still to do, and what is stuck"),
    Command(
        words="state",
        verb="set_state",
        help="set the state of a session's task",
        run=set_state,
        own={"state": {"help": "a small JSON object; - reads it from standard input"}},
    ),
    Command(words="policies", verb="policies", help="who opted out, and where"),
    Command(words="relations", verb="relations", help="what a record is linked to"),
    Command(words="changes", verb="changes", help="the journal, page by page"),
)
QUESTIONS = {
    "forget": "erase {} things{} for good?",
    "revoke": "retire {} memories{}? undo takes it back",
}
GROUPS = {"procedure": "how things are done"}
# Verbs that no command calls, and why.
NO_COMMAND = {
    "confirm": "`standfast context --confirm` does it with the packet in hand",
}
