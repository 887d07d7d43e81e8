"""Which commands there are, and what they take."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any, get_args

from standfast import __version__
from standfast.interfaces.cli import (
    agents,
    audit,
    configuration,
    files,
    hooks,
    keys,
    models,
    webhooks,
    workspaces,
)
from standfast.interfaces.cli import commands as program
from standfast.interfaces.cli.mistakes import PlainParser
from standfast.interfaces.cli.options import add_options
from standfast.interfaces.cli.times import human_time
from standfast.interfaces.cli.verbs import COMMANDS, GROUPS, run
from standfast.types import Holder, Right

EPILOG = """\
exit codes: 0 done, 1 internal error, 2 the request is wrong, 3 not found, 4 denied,
5 conflict, 6 store or service unavailable, 7 incompatible file or library, 8 doctor found
something, 9 some lines of a file could not be taken in, 130 interrupted
"""


def build_parser() -> PlainParser:
    """What each command takes is made when it is asked for; ``whole()`` makes all of it."""
    parser = PlainParser(
        prog="standfast",
        description="A memory for AI agents: local, honest, in one file.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"standfast {__version__}")
    _add_common(parser, top=True)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_verbs(commands)
    _add_running(commands)
    _add_slack(commands)
    _add_hooks(commands)
    _add_webhooks(commands)
    _add_identity(commands)
    return parser


def _add_common(parser: argparse.ArgumentParser, *, top: bool = False) -> None:
    """The common options work before and after the command."""
    default: Any = None if top else argparse.SUPPRESS
    off: Any = False if top else argparse.SUPPRESS
    group = parser.add_argument_group("common")
    group.add_argument("--store", default=default, help="path or URL of the store")
    group.add_argument("--key-file", default=default, help="where the key of the store is")
    group.add_argument("--profile", default=default, help="default, otto, openmotoko, agtos, ...")
    group.add_argument(
        "--embedder", default=default, help="auto, recall-2, minilm, openai:..., ..."
    )
    group.add_argument("--config", default=default, help="file of settings; see `config`")
    group.add_argument("--json", action="store_true", default=off, help="answer in JSON")
    group.add_argument("--quiet", action="store_true", default=off, help="only what was asked for")
    group.add_argument("--no-color", action="store_true", default=off, help="no colours")
    group.add_argument("--no-background", action="store_true", default=off, help="no upkeep")
    group.add_argument(
        "--actor", default="cli" if top else argparse.SUPPRESS, help="for the journal"
    )


def _command(commands: Any, name: str, run: Callable[..., int], help_: str) -> Any:
    parser = commands.add_parser(name, help=help_, description=help_)
    parser.set_defaults(run=run)
    parser.later(lambda: _add_common(parser))
    return parser


def _group(commands: Any, name: str, help_: str) -> Any:
    """A command that has commands of its own."""
    return commands.add_parser(name, help=help_, description=help_)


def _add_verbs(commands: Any) -> None:
    inside: dict[str, Any] = {}
    for command in COMMANDS:
        group, _, name = command.words.rpartition(" ")
        if group and group not in inside:
            about = commands.choices.get(group) or _group(commands, group, GROUPS[group])
            required = group in GROUPS
            inside[group] = about.add_subparsers(dest="action", required=required, metavar="ACTION")
        parser = _command(
            inside[group] if group else commands, name, command.run or run, command.help
        )
        parser.set_defaults(verb=command.verb)
        parser.later(partial(add_options, parser, command))


def _add_running(commands: Any) -> None:
    model = _command(
        commands,
        "model",
        models.model,
        "get a local model, or check how well a language model does",
    )
    model.add_argument("action", choices=("pull", "status", "check"))
    model.add_argument("name", nargs="?", help="recall-2, minilm; to check: openai:..., ollama:...")
    doctor = _command(commands, "doctor", files.doctor, "check the store file")
    doctor.add_argument("--rebuild", action="store_true", help="make every index anew from rows")
    doctor.add_argument("--heal", action="store_true", help="make damaged rows as they were")
    doctor.add_argument("--backup", help="with --heal: a backup that may have them")
    doctor.add_argument(
        "--drop-lost", action="store_true", help="with --heal: remove what nothing can heal"
    )
    doctor.add_argument("--workspace", help="check this workspace's store, repair its modes")
    _add_workspaces(commands)
    _add_files(commands)
    config = _command(commands, "config", configuration.show, "settings in force, and from where")
    config.add_argument("--init", action="store_true", help="write a file with all settings in it")
    completion = _command(
        commands, "completion", configuration.completion, "print completions for a shell"
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    completion.set_defaults(whole=lambda: build_parser().whole())
    serve = _command(commands, "serve", program.serve, "run the server")
    serve.add_argument("--host", help="address to listen on; default: this machine only")
    serve.add_argument("--port", type=int, help="port to listen on")
    serve.add_argument("--workers", type=int, default=1, help="how many processes; default: 1")
    console = _command(commands, "console", program.console, "a link that opens the console once")
    console.add_argument("--host", help="where the server listens; default: this machine")
    console.add_argument("--port", type=int, help="the server's port")
    mcp = _command(commands, "mcp", agents.mcp, "serve one agent over standard input and output")
    mcp.add_argument("--scope", help="whose memory; no tool can leave it")
    mcp.add_argument(
        "--tools",
        choices=("standfast", "reference"),
        default="standfast",
        help="reference: those of the reference MCP memory server",
    )

    proxy = _command(commands, "proxy", agents.proxy, "stand between a client and its model server")
    proxy.add_argument("--upstream", required=True, metavar="URL", help="the model server")
    proxy.add_argument("--port", type=int, default=4778)
    proxy.add_argument("--scope", help="whose memory")
    proxy.add_argument("--tokens", type=int, help="how large a packet may be")


def _add_slack(commands: Any) -> None:
    slack = _command(commands, "slack", agents.slack, "remember what is said in Slack")
    slack.add_argument("--http", action="store_true", help="signed events instead of a socket")
    slack.add_argument("--port", type=int, default=4779, help="for --http, on this machine")


def _add_hooks(commands: Any) -> None:
    about = _group(commands, "hooks", "a memory for coding agents")
    actions = about.add_subparsers(dest="action", required=True, metavar="ACTION")
    install = _command(actions, "install", hooks.install, "into an agent's settings, or print how")
    uninstall = _command(actions, "uninstall", hooks.uninstall, "the settings are as before")
    for parser in (install, uninstall):
        parser.add_argument("agent", choices=hooks.AGENTS)
        parser.add_argument("--project", action="store_true", help="of the project in this folder")
    install.add_argument("--start", action="store_true", help="a session may start the server")


def _add_webhooks(commands: Any) -> None:
    about = _group(commands, "webhooks", "programs elsewhere that are told of changes")
    actions = about.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = _command(actions, "add", webhooks.add, "tell an address of every change from now on")
    add.add_argument("url", help="https://...")
    add.add_argument("--scope", help="whose changes, and of all below it")
    add.add_argument("--text", action="store_true", help="with what memories say")
    _command(actions, "list", webhooks.list_, "show all, and how delivery goes")
    remove = _command(actions, "remove", webhooks.remove, "it is told nothing more")
    remove.add_argument("id")


def _add_identity(commands: Any) -> None:
    about_keys = _group(commands, "keys", "who may connect to a server")
    actions = about_keys.add_subparsers(dest="action", required=True, metavar="ACTION")
    create = _command(actions, "create", keys.create, "make a key, which is shown once")
    create.add_argument("--scope", action="append", default=[], dest="scopes")
    rights = (*get_args(Right), "all")
    create.add_argument("--right", action="append", dest="rights", choices=rights)
    create.add_argument("--name", default="", help="whose it is")
    create.add_argument("--expires-at", metavar="TIME", type=human_time)
    create.add_argument(
        "--holder",
        "--class",
        dest="holder",
        choices=get_args(Holder),
        default="person",
        help="who uses it; what an agent writes is never trusted like a person's word",
    )
    create.add_argument(
        "--address",
        action="append",
        default=[],
        dest="addresses",
        help="where it may be used from, such as 10.0.0.0/8",
    )
    rotate = _command(actions, "rotate", keys.rotate, "make a key that takes another's place")
    rotate.add_argument("id")
    rotate.add_argument(
        "--overlap-hours", type=float, default=24.0, help="how long the old one works on"
    )
    _command(actions, "list", keys.list_, "show all keys, but not their secrets")
    revoke = _command(actions, "revoke", keys.revoke, "a key and those it made work no more")
    revoke.add_argument("id")

    about_audit = _group(commands, "audit", "who did what, as far as it is written down")
    actions = about_audit.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, run_, said in (
        ("verify", audit.verify, "is the log as it was written?"),
        ("export", audit.export, "print the log as JSON lines"),
    ):
        about = _command(actions, name, run_, said)
        about.add_argument("--scope", help="only of this root")
        if name == "verify":
            about.add_argument("--kept", help="what `verify --json` printed before: is it there?")

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
    migrate = _command(commands, "migrate", files.migrate, "copy a whole store into another")
    migrate.add_argument("source", help="path or URL of the store to read")
    migrate.add_argument("target", help="path or URL of the store to write")

    backup = _command(commands, "backup", files.backup, "copy the store file while it is used")
    backup.add_argument("target", help="the file to write")
    backup.add_argument("--force", action="store_true", help="replace the file if it exists")

    rekey = _command(commands, "rekey", files.rekey, "encrypt the store file with another key")
    new = rekey.add_mutually_exclusive_group(required=True)
    new.add_argument("--new-key-file", metavar="FILE", help="the key that it gets")
    new.add_argument("--plain", action="store_true", help="it gets none")

    restore = _command(commands, "restore", files.restore, "put a backup in the store's place")
    restore.add_argument("backup", help="the file to read")
    restore.add_argument("--yes", action="store_true", help="do not ask")
