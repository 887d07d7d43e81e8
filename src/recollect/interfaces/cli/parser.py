"""Which commands there are, and what they take."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, get_args

from recollect.interfaces.cli import agents, files, keys, lists, reviews, upkeep, workspaces
from recollect.interfaces.cli import commands as verbs
from recollect.types import Durability, Kind, RelationKind, Right, Shape, Source, Status, Type

EPILOG = """\
exit codes: 0 done, 1 internal error, 2 the request is wrong, 3 not found, 4 denied,
5 conflict, 6 store or service unavailable, 7 incompatible file or library, 8 doctor found
something, 9 some lines of a file could not be taken in, 130 interrupted
"""


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
    _add_listing(commands)
    _add_correcting(commands)
    _add_running(commands)
    _add_identity(commands)
    return parser


def _add_common(parser: argparse.ArgumentParser, *, top: bool = False) -> None:
    """The common options work before and after the command."""
    default: Any = None if top else argparse.SUPPRESS
    off: Any = False if top else argparse.SUPPRESS
    group = parser.add_argument_group("common")
    group.add_argument("--store", default=default, help="path or URL of the store")
    group.add_argument("--profile", default=default, help="default, otto, openmotoko, agtos, ...")
    group.add_argument("--embedder", default=default, help="auto, minilm, openai:..., ...")
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


def _group(commands: Any, name: str, help_: str) -> Any:
    """A command that has commands of its own."""
    return commands.add_parser(name, help=help_, description=help_)


def _add_writing(commands: Any) -> None:
    remember = _command(commands, "remember", verbs.remember, "keep one statement")
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

    observe = _command(commands, "observe", verbs.observe, "append messages to a session")
    observe.add_argument("session")
    observe.add_argument("file", nargs="?", default="-", help="JSON lines; - or nothing: stdin")
    observe.add_argument("--text", action="store_true", help="each line is something the user said")
    observe.add_argument("--scope")
    observe.add_argument("--channel", default="")
    observe.add_argument("--author", default="")
    observe.add_argument("--source", choices=get_args(Source))
    observe.add_argument("--pending", action="store_true")
    observe.add_argument("--expires-at", metavar="TIME")

    relate = _command(commands, "relate", verbs.relate, "link two records")
    relate.add_argument("source_id")
    relate.add_argument("kind", choices=get_args(RelationKind))
    relate.add_argument("target_id")

    note = _command(commands, "note", verbs.note, "add a short note to a session's block")
    note.add_argument("session")
    note.add_argument("text")
    note.add_argument("--role", default="agent")
    note.add_argument("--scope")

    end = _command(commands, "end", verbs.end, "end a session and keep what came of it")
    end.add_argument("session")
    end.add_argument("--scope")
    end.add_argument("--outcome")


def _add_reading(commands: Any) -> None:
    recall = _command(commands, "recall", verbs.recall, "find memories")
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
    choosing = recall.add_mutually_exclusive_group()
    choosing.add_argument(
        "--fast", action="store_true", default=None, help="no model chooses among the candidates"
    )
    choosing.add_argument(
        "--rerank",
        action="store_false",
        dest="fast",
        default=None,
        help="a model chooses, if one is configured",
    )

    context = _command(commands, "context", verbs.context, "one packet for the next model call")
    context.add_argument("query", nargs="?")
    context.add_argument("--session")
    context.add_argument("--scope", action="append")
    context.add_argument("--tokens", type=int)
    context.add_argument("--shape", choices=get_args(Shape), default="openai")
    context.add_argument("--now", metavar="TIME")
    context.add_argument("--confirm", action="store_true", help="consume its pending messages")

    get = _command(commands, "get", verbs.get, "show records by id")
    get.add_argument("ids", nargs="+", metavar="ID")

    history = _command(commands, "history", verbs.history, "what happened to a record, or lately")
    history.add_argument("id", nargs="?")
    history.add_argument("--scope")
    history.add_argument("--limit", type=int, default=50)


def _add_listing(commands: Any) -> None:
    records = _command(commands, "records", lists.records, "list records, page by page")
    _add_places(records)
    for name, dest, words in (
        ("--kind", "kinds", Kind),
        ("--type", "types", Type),
        ("--status", "statuses", Status),
        ("--source", "sources", Source),
    ):
        records.add_argument(name, action="append", default=[], dest=dest, choices=get_args(words))
    records.add_argument("--tag", action="append", default=[], dest="tags")
    records.add_argument("--author", action="append", default=[], dest="authors")
    records.add_argument("--session")
    records.add_argument("--since", metavar="TIME")
    records.add_argument("--until", metavar="TIME")
    records.add_argument("--newest", action="store_true", help="the newest first")
    _add_pages(records)

    sessions = _command(commands, "sessions", lists.sessions, "list sessions, page by page")
    _add_places(sessions)
    _add_pages(sessions)

    messages = _command(commands, "messages", lists.messages, "what was said in a session")
    messages.add_argument("session")
    messages.add_argument("--scope")
    messages.add_argument("--newest", action="store_true", help="from the last message back")
    _add_pages(messages)

    _add_places(_command(commands, "stats", lists.stats, "how much there is"))


def _add_places(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scope", help="this one and its parents; none: everywhere")
    parser.add_argument("--descend", action="store_true", help="also everything below the scope")


def _add_pages(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cursor", default="", help="where the page before ended")
    parser.add_argument("--limit", type=int, default=100)


def _add_correcting(commands: Any) -> None:
    forget = _command(commands, "forget", verbs.forget, "erase for good, with everything derived")
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

    _add_reviewing(commands)
    undo = _command(commands, "undo", verbs.undo, "take a change back")
    undo.add_argument("change")
    undo.add_argument("--scope")

    policy = _command(commands, "policy", verbs.policy, "opt out of persistence, or in again")
    policy.add_argument("--scope", required=True)
    policy.add_argument("--author", default="", help="only what this author says")
    choice = policy.add_mutually_exclusive_group(required=True)
    choice.add_argument("--opt-out", action="store_true")
    choice.add_argument("--opt-in", action="store_true")


def _add_reviewing(commands: Any) -> None:
    revoke = _command(commands, "revoke", reviews.revoke, "retire all that came from somewhere")
    revoke.add_argument("--id", action="append", default=[], dest="ids")
    revoke.add_argument("--session")
    revoke.add_argument("--scope")
    revoke.add_argument("--descend", action="store_true")
    revoke.add_argument("--author")
    revoke.add_argument("--source", choices=get_args(Source))
    revoke.add_argument("--since", metavar="TIME")
    revoke.add_argument("--until", metavar="TIME")
    revoke.add_argument("--dry-run", action="store_true")
    revoke.add_argument("--yes", action="store_true", help="do not ask")

    review = _command(commands, "review", reviews.list_, "what waits for a person to decide")
    review.add_argument("--scope", help="only this scope and all below it")
    review.add_argument("--limit", type=int, default=50)
    review.add_argument("--workspace", help="look into this workspace's store")
    actions = review.add_subparsers(dest="action", metavar="ACTION")
    for name, help_ in (
        ("approve", "it holds: a quarantined memory, one side of a dispute, a held change"),
        ("reject", "it does not hold"),
        ("edit", "put another text in its place"),
        ("merge", "another memory says it better"),
    ):
        action = _command(actions, name, reviews.decide, help_)
        action.add_argument("id", metavar="ID")
        action.add_argument("--workspace", default=argparse.SUPPRESS, help="whose store to use")
        if name == "edit":
            action.add_argument("--text", required=True)
        if name == "merge":
            action.add_argument("--into", metavar="ID", required=True)


def _add_running(commands: Any) -> None:
    maintain = _command(
        commands, "maintain", upkeep.maintain, "one round of upkeep, and consolidation now"
    )
    maintain.add_argument("--dry-run", action="store_true", help="only show what would change")
    maintain.add_argument("--scope", help="consolidate only this scope and all below it")
    maintain.add_argument("--force", action="store_true", help="however much it retires")
    maintain.add_argument("--retry", action="store_true", help="try again what is stuck")
    _add_procedures(commands)
    _command(commands, "reembed", verbs.reembed, "move the store to --embedder's vector space")
    model = _command(
        commands, "model", verbs.model, "get a local model, or look whether it is there"
    )
    model.add_argument("action", choices=("pull", "status"))
    model.add_argument("name", nargs="?", default="minilm")
    doctor = _command(commands, "doctor", files.doctor, "check the store file")
    doctor.add_argument("--rebuild", action="store_true", help="make every index anew from rows")
    doctor.add_argument("--workspace", help="check this workspace's store, repair its modes")
    _add_workspaces(commands)
    _add_files(commands)
    serve = _command(commands, "serve", verbs.serve, "run the server")
    serve.add_argument("--host")
    serve.add_argument("--port", type=int)
    mcp = _command(commands, "mcp", agents.mcp, "serve one agent over standard input and output")
    mcp.add_argument("--scope", help="whose memory; no tool can leave it")
    mcp.add_argument(
        "--tools",
        choices=("recollect", "reference"),
        default="recollect",
        help="reference: those of the reference MCP memory server",
    )

    proxy = _command(commands, "proxy", agents.proxy, "stand between a client and its model server")
    proxy.add_argument("--upstream", required=True, metavar="URL", help="the model server")
    proxy.add_argument("--port", type=int, default=4778)
    proxy.add_argument("--scope", help="whose memory")
    proxy.add_argument("--tokens", type=int, help="how large a packet may be")


def _add_procedures(commands: Any) -> None:
    about = _group(commands, "procedure", "how things are done")
    actions = about.add_subparsers(dest="action", required=True, metavar="ACTION")
    save = _command(actions, "save", upkeep.save_procedure, "keep steps under a name")
    save.add_argument("name")
    save.add_argument("--step", action="append", default=[], dest="steps")
    save.add_argument("--trigger", action="append", default=[], dest="triggers")
    save.add_argument("--text", default="", help="what it is about; default: its name")
    save.add_argument("--tag", action="append", default=[], dest="tags")
    save.add_argument("--scope")
    find = _command(actions, "find", upkeep.find_procedures, "procedures for a task")
    find.add_argument("query")
    find.add_argument("--scope", action="append")
    find.add_argument("--limit", type=int, default=5)
    used = _command(actions, "used", upkeep.procedure_used, "count that one was followed")
    used.add_argument("id_or_name", metavar="ID")
    used.add_argument("--failed", action="store_true", help="it did not work")
    used.add_argument("--note", default="", help="what happened")
    used.add_argument("--scope")


def _add_identity(commands: Any) -> None:
    about_keys = _group(commands, "keys", "who may connect to a server")
    actions = about_keys.add_subparsers(dest="action", required=True, metavar="ACTION")
    create = _command(actions, "create", keys.create, "make a key, which is shown once")
    create.add_argument("--scope", action="append", default=[], dest="scopes")
    rights = (*get_args(Right), "all")
    create.add_argument("--right", action="append", dest="rights", choices=rights)
    create.add_argument("--name", default="", help="whose it is")
    create.add_argument("--expires-at", metavar="TIME")
    _command(actions, "list", keys.list_, "show all keys, but not their secrets")
    revoke = _command(actions, "revoke", keys.revoke, "a key works no more")
    revoke.add_argument("id")

    about_devices = _group(commands, "devices", "whose a device is")
    actions = about_devices.add_subparsers(dest="action", required=True, metavar="ACTION")
    mapped = _command(actions, "map", keys.map_device, "what a device hears belongs to a scope")
    mapped.add_argument("device")
    mapped.add_argument("--scope", required=True)
    _command(actions, "list", keys.devices, "show all devices")


def _add_workspaces(commands: Any) -> None:
    new = _command(commands, "new", workspaces.new, "make a workspace of Markdown files")
    new.add_argument("workspace", help="the folder; what is there already is left alone")
    sync = _command(
        commands, "sync", workspaces.sync, "take edits of the files in, write changes out"
    )
    sync.add_argument("workspace", help="the folder")
    sync.add_argument("--scope", help="whose memories; default: user:default")
    sync.add_argument("--accept", action="store_true", help="retire what a drastic edit removed")
    sync.add_argument("--watch", action="store_true", help="keep going until stopped")


def _add_files(commands: Any) -> None:
    export = _command(commands, "export", files.export, "write everything as JSON lines")
    export.add_argument("file", help="the file to write; - writes to standard output")
    export.add_argument("--scope", action="append", help="only this one and all below it")

    import_ = _command(commands, "import", files.import_, "read an export in, or another program's")
    import_.add_argument("file", help="the file or folder to read; - reads from standard input")
    import_.add_argument("--from", dest="kind", metavar="KIND", help="whose it is: mem0, ...")
    import_.add_argument("--scope", help="where all of it goes; only with --from")
    import_.add_argument("--map", action="append", default=[], metavar="OURS=THEIRS", dest="fields")
    import_.add_argument("--learn", action="store_true", help="learn from conversations, too")
    import_.add_argument("--dry-run", action="store_true", help="only say what would happen")
    import_.add_argument("--partial", action="store_true", help="take a file that was cut off")

    backup = _command(commands, "backup", files.backup, "copy the store file while it is used")
    backup.add_argument("target", help="the file to write")
    backup.add_argument("--force", action="store_true", help="replace the file if it exists")

    restore = _command(commands, "restore", files.restore, "put a backup in the store's place")
    restore.add_argument("backup", help="the file to read")
    restore.add_argument("--yes", action="store_true", help="do not ask")
