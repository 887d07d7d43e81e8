"""Commands about the store file itself, and about files it is written to and read from."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from standfast.errors import Invalid
from standfast.interfaces.cli import INTERRUPTED
from standfast.interfaces.cli.options import given
from standfast.interfaces.cli.output import (
    UNSOUND,
    must_agree,
    open_memory,
    print_json,
    print_lines,
    screen_for,
    show_receipt,
)
from standfast.interfaces.cli.progress import Progress
from standfast.interfaces.cli.workspaces import print_findings, repair
from standfast.interfaces.render import as_json, visible
from standfast.types import Receipt

SOME_FAILED = 9


def doctor(arguments: argparse.Namespace) -> int:
    from standfast.wiring.files import check_store, heal_store

    if arguments.drop_lost and not arguments.heal:
        raise Invalid("--drop-lost goes with --heal: first it is tried to make them as they were")
    repaired = repair(arguments) if arguments.workspace else []
    if arguments.workspace and arguments.store is None:
        return print_findings(arguments, arguments.workspace, repaired)
    if arguments.heal:
        healing = heal_store(
            arguments.store, arguments.profile, arguments.backup, drop_lost=arguments.drop_lost
        )
        repaired += [f"{item.status} {item.id}: {item.reason}" for item in healing.items]
    report = check_store(arguments.store, arguments.profile, rebuild=arguments.rebuild)
    if arguments.json:
        print_json({**as_json(report), "sound": report.is_sound, "repaired": repaired})
    else:
        for line in repaired:
            print(visible(line))
        mode = f", mode {report.mode}" if report.mode else ""
        print(f"{report.path}: {report.engine} {report.library}{mode}")
        print(f"{report.records} records, {report.messages} messages")
        for finding in report.findings:
            print(visible(f"{finding.part}: {finding.text}"))
            print_lines(f"    {visible(id_)}" for id_ in finding.ids[:20])
        print("sound" if report.is_sound else f"{len(report.findings)} findings")
    return 0 if report.is_sound else UNSOUND


def export(arguments: argparse.Namespace) -> int:
    if arguments.file == "-" and arguments.recipients:
        raise Invalid("name a file: standard output is not encrypted")
    with (
        open_memory(arguments) as memory,
        _export_target(arguments) as target,
        Progress("exporting", shown=not arguments.quiet) as progress,
    ):
        receipt = memory.export_to(target, progress=progress, **given(arguments))
    if arguments.file != "-":
        return show_receipt(arguments, receipt)
    for line in screen_for(arguments).receipt(receipt):
        print(line, file=sys.stderr)
    return 0


@contextmanager
def _export_target(arguments: argparse.Namespace) -> Iterator[Any]:
    """Where the export goes: the file by its name, or a stream, which may encrypt."""
    if not arguments.recipients:
        yield sys.stdout.buffer if arguments.file == "-" else arguments.file
        return
    from standfast.access.envelope import sealed
    from standfast.memory.files import target_opened

    with target_opened(arguments.file) as into, sealed(into, arguments.recipients) as stream:
        yield stream


def import_(arguments: argparse.Namespace) -> int:
    from standfast.access.spool import private_spool

    if arguments.foreign:
        return _import_foreign(arguments)
    if arguments.scope or arguments.fields or arguments.learn:
        raise Invalid("--scope, --map and --learn belong to an import with --from")
    options = given(arguments)
    if options.get("trusted_key"):
        options["trusted_key"] = _text_of(options["trusted_key"])
    with ExitStack() as open_until, open_memory(arguments) as memory:
        if arguments.file == "-":  # it is read more than once
            source: Any = open_until.enter_context(private_spool())
            shutil.copyfileobj(sys.stdin.buffer, source)
        else:
            source = open_until.enter_context(_import_file(arguments))
        with Progress("importing", shown=not arguments.quiet) as progress:
            receipt = memory.import_from(source, progress=progress, **options)
    return _show_import(arguments, receipt)


def _text_of(file: str) -> str:
    try:
        return Path(file).read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"cannot read the key in {file}: {error}") from None


@contextmanager
def _import_file(arguments: argparse.Namespace) -> Iterator[Any]:
    """What is read in: the file by its name, or what is inside of an encrypted one."""
    if not arguments.identity:
        yield arguments.file
        return
    from standfast.access.envelope import opened
    from standfast.memory.files import source_opened

    with source_opened(arguments.file) as (file, _), opened(file, arguments.identity) as inside:
        yield inside


def _import_foreign(arguments: argparse.Namespace) -> int:
    from standfast.adapters.importers import import_foreign
    from standfast.wiring import read_settings

    fields = dict(_pair(one) for one in arguments.fields)
    bar = Progress("importing", shown=not arguments.quiet)
    with open_memory(arguments) as memory, bar as progress:
        receipt = import_foreign(
            memory,
            arguments.foreign,
            arguments.file,
            scope=arguments.scope,
            default_scope=read_settings(profile=arguments.profile).scope,
            dry_run=arguments.dry_run,
            partial=arguments.partial,
            learn=arguments.learn,
            fields=fields,
            actor="" if arguments.actor == "cli" else arguments.actor,
            progress=lambda _, done, total: progress(done, total),
        )
    return _show_import(arguments, receipt)


def _pair(text: str) -> tuple[str, str]:
    ours, sign, theirs = text.partition("=")
    if not sign or not ours or not theirs:
        raise Invalid(f"--map {text}: write OURS=THEIRS, such as text=note")
    return ours, theirs


def _show_import(arguments: argparse.Namespace, receipt: Receipt) -> int:
    """For people the numbers and what went wrong; every line only for machines."""
    failed = tuple(item for item in receipt.items if item.status == "failed")
    if arguments.json:
        show_receipt(arguments, receipt)
    elif failed or receipt.notes:
        shown = replace(receipt, items=failed)
        lines = screen_for(arguments).receipt(shown)
        print(*(line for line in lines if line != "nothing to do"), sep="\n")
    else:
        print("nothing to do")
    return SOME_FAILED if failed else 0


def migrate(arguments: argparse.Namespace) -> int:
    import asyncio

    from standfast.wiring.files import migrate_store

    with Progress("copying roots", shown=not arguments.quiet) as progress:
        receipt = asyncio.run(
            migrate_store(
                arguments.source,
                arguments.target,
                arguments.profile,
                embedder=arguments.embedder,
                progress=progress,
            )
        )
    return show_receipt(arguments, receipt)


def backup(arguments: argparse.Namespace) -> int:
    from standfast.wiring.files import backup_store

    with Progress("copying pages", shown=not arguments.quiet) as progress:
        report = backup_store(
            arguments.store,
            arguments.profile,
            arguments.target,
            force=arguments.force,
            progress=progress,
        )
    if arguments.json:
        return print_json(
            {"target": arguments.target, "records": report.records, "messages": report.messages}
        )
    print(f"{arguments.target}: {report.records} records, {report.messages} messages, sound")
    return 0


def rekey(arguments: argparse.Namespace) -> int:
    from standfast.wiring.files import rekey_store

    new = "" if arguments.plain else arguments.new_key_file
    report = rekey_store(arguments.store, arguments.profile, new)
    if arguments.json:
        return print_json({"records": report.records, "encrypted": bool(new)})
    now = f"encrypted; open it with --key-file {new} from now on" if new else "plain"
    print(f"{report.path}: {report.records} records, {now}")
    return 0


def restore(arguments: argparse.Namespace) -> int:
    import asyncio

    from standfast.wiring.files import restore_store

    question = f"replace the store by {arguments.backup}?"
    if not must_agree(arguments, question):
        return INTERRUPTED
    receipt = asyncio.run(restore_store(arguments.store, arguments.profile, arguments.backup))
    return show_receipt(arguments, receipt)
