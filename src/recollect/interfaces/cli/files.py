"""Commands about the store file itself, and about files it is written to and read from."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import replace

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
from recollect.types import Receipt

SOME_FAILED = 9


def doctor(arguments: argparse.Namespace) -> int:
    from recollect.wiring.files import check_store

    repaired = repair(arguments) if arguments.workspace else []
    if arguments.workspace and arguments.store is None:
        return print_findings(arguments, arguments.workspace, repaired)
    report = check_store(arguments.store, arguments.profile, rebuild=arguments.rebuild)
    if arguments.json:
        print_json({**as_json(report), "sound": report.is_sound, "repaired": repaired})
    else:
        for line in repaired:
            print(line)
        mode = f", mode {report.mode}" if report.mode else ""
        print(f"{report.path}: {report.engine} {report.library}{mode}")
        print(f"{report.records} records, {report.messages} messages")
        for finding in report.findings:
            print(
                f"{finding.part}: {finding.text}" + "".join(f"\n    {i}" for i in finding.ids[:20])
            )
        print("sound" if report.is_sound else f"{len(report.findings)} findings")
    return 0 if report.is_sound else UNSOUND


def export(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        if arguments.file != "-":
            receipt = memory.export_to(arguments.file, **given(arguments))
            return show_receipt(arguments, receipt)
        receipt = memory.export_to(sys.stdout.buffer, **given(arguments))
    for line in screen_for(arguments).receipt(receipt):
        print(line, file=sys.stderr)
    return 0


def import_(arguments: argparse.Namespace) -> int:
    options = given(arguments)
    with open_memory(arguments) as memory:
        if arguments.file != "-":
            return _show_import(arguments, memory.import_from(arguments.file, **options))
        with tempfile.TemporaryFile() as spool:  # it is read more than once
            shutil.copyfileobj(sys.stdin.buffer, spool)
            return _show_import(arguments, memory.import_from(spool, **options))


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

    from recollect.wiring.files import migrate_store

    receipt = asyncio.run(
        migrate_store(
            arguments.source,
            arguments.target,
            arguments.profile,
            embedder=arguments.embedder,
            progress=_roots_bar if sys.stderr.isatty() else None,
        )
    )
    return show_receipt(arguments, receipt)


def _roots_bar(done: int, total: int) -> None:
    _show_bar(done, total, "roots")


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
    _show_bar(done, total, "pages")


def _show_bar(done: int, total: int, what: str) -> None:
    bar = "#" * (30 * done // max(total, 1))
    end = "\n" if done == total else ""
    print(f"\r[{bar:<30}] {done}/{total} {what}", end=end, file=sys.stderr, flush=True)


def restore(arguments: argparse.Namespace) -> int:
    import asyncio

    from recollect.wiring.files import restore_store

    question = f"replace the store by {arguments.backup}?"
    if not arguments.yes and sys.stdin.isatty() and not agreed(question):
        return INTERRUPTED
    receipt = asyncio.run(restore_store(arguments.store, arguments.profile, arguments.backup))
    return show_receipt(arguments, receipt)
