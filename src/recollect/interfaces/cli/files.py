"""Commands about the store file itself, and about files it is written to and read from."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from recollect.access.envelope import opened, sealed
from recollect.access.signature import sign, signature_of, verified
from recollect.access.spool import private_spool
from recollect.errors import Invalid
from recollect.interfaces.cli.options import given
from recollect.interfaces.cli.output import (
    INTERRUPTED,
    UNSOUND,
    agreed,
    open_memory,
    print_json,
    screen_for,
    show_receipt,
)
from recollect.interfaces.cli.workspaces import print_findings, repair
from recollect.interfaces.render import as_json
from recollect.memory.files import source_opened, target_opened
from recollect.types import Receipt

SOME_FAILED = 9


def doctor(arguments: argparse.Namespace) -> int:
    from recollect.wiring.files import check_store, heal_store

    repaired = repair(arguments) if arguments.workspace else []
    if arguments.workspace and arguments.store is None:
        return print_findings(arguments, arguments.workspace, repaired)
    if arguments.heal:
        healing = heal_store(arguments.store, arguments.profile, arguments.backup)
        repaired += [f"{item.status} {item.id}: {item.reason}" for item in healing.items]
    report = check_store(arguments.store, arguments.profile, rebuild=arguments.rebuild)
    if arguments.json:
        print_json({**as_json(report), "sound": report.is_sound, "repaired": repaired})
    else:
        for line in repaired:
            print(line)
        print(f"{report.path}: SQLite {report.library}, mode {report.mode}")
        print(f"{report.records} records, {report.messages} messages")
        for finding in report.findings:
            print(
                f"{finding.part}: {finding.text}" + "".join(f"\n    {i}" for i in finding.ids[:20])
            )
        print("sound" if report.is_sound else f"{len(report.findings)} findings")
    return 0 if report.is_sound else UNSOUND


def export(arguments: argparse.Namespace) -> int:
    if arguments.file == "-" and (arguments.sign_with or arguments.recipients):
        raise Invalid("name a file: standard output is neither signed nor encrypted")
    with open_memory(arguments) as memory:
        if arguments.file != "-":
            with _export_file(arguments) as target:
                receipt = memory.export_to(target, **given(arguments))
            if arguments.sign_with:
                sign(arguments.file, arguments.sign_with)
            return show_receipt(arguments, receipt)
        receipt = memory.export_to(sys.stdout.buffer, **given(arguments))
    for line in screen_for(arguments).receipt(receipt):
        print(line, file=sys.stderr)
    return 0


@contextmanager
def _export_file(arguments: argparse.Namespace) -> Iterator[Any]:
    """Where the export goes: the file by its name, or a stream that encrypts."""
    if not arguments.recipients:
        yield arguments.file
        return
    with target_opened(arguments.file) as into, sealed(into, arguments.recipients) as stream:
        yield stream


def import_(arguments: argparse.Namespace) -> int:
    options = given(arguments)
    with open_memory(arguments) as memory:
        if arguments.file != "-":
            with _import_file(arguments) as source:
                return _show_import(arguments, memory.import_from(source, **options))
        with private_spool() as spool:  # it is read more than once
            shutil.copyfileobj(sys.stdin.buffer, spool)
            return _show_import(arguments, memory.import_from(spool, **options))


@contextmanager
def _import_file(arguments: argparse.Namespace) -> Iterator[Any]:
    """What is read in: the very bytes whose signature was compared, and what is inside of them."""
    if not (arguments.trusted_keys or arguments.identity):
        yield arguments.file
        return
    with source_opened(arguments.file) as (file, _):
        if arguments.trusted_keys:
            who = verified(file, signature_of(arguments.file), arguments.trusted_keys)
            print(f"signed by {who}", file=sys.stderr)
        if not arguments.identity:
            yield file
            return
        with opened(file, arguments.identity) as inside:
            yield inside


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


def backup(arguments: argparse.Namespace) -> int:
    from recollect.wiring.files import backup_store

    report = backup_store(
        arguments.store,
        arguments.profile,
        arguments.target,
        force=arguments.force,
        progress=_bar if sys.stderr.isatty() else None,
    )
    if arguments.json:
        return print_json(
            {"target": arguments.target, "records": report.records, "messages": report.messages}
        )
    print(f"{arguments.target}: {report.records} records, {report.messages} messages, sound")
    return 0


def _bar(done: int, total: int) -> None:
    bar = "#" * (30 * done // max(total, 1))
    end = "\n" if done == total else ""
    print(f"\r[{bar:<30}] {done}/{total} pages", end=end, file=sys.stderr, flush=True)


def rekey(arguments: argparse.Namespace) -> int:
    from recollect.wiring.files import rekey_store

    new = "" if arguments.plain else arguments.new_key_file
    report = rekey_store(arguments.store, arguments.profile, new)
    if arguments.json:
        return print_json({"records": report.records, "encrypted": bool(new)})
    now = f"encrypted; open it with --key-file {new} from now on" if new else "plain"
    print(f"{report.path}: {report.records} records, {now}")
    return 0


def restore(arguments: argparse.Namespace) -> int:
    import asyncio

    from recollect.wiring.files import restore_store

    question = f"replace the store by {arguments.backup}?"
    if not arguments.yes and sys.stdin.isatty() and not agreed(question):
        return INTERRUPTED
    receipt = asyncio.run(restore_store(arguments.store, arguments.profile, arguments.backup))
    return show_receipt(arguments, receipt)
