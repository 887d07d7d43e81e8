"""Commands about the store file itself, and about files it is written to and read from."""

from __future__ import annotations

import argparse

from recollect.interfaces.cli.output import UNSOUND, print_json
from recollect.interfaces.rendering import as_json


def doctor(arguments: argparse.Namespace) -> int:
    from recollect.wiring import check_store

    report = check_store(arguments.store, arguments.profile, rebuild=arguments.rebuild)
    if arguments.json:
        print_json({**as_json(report), "sound": report.is_sound})
    else:
        print(f"{report.path}: SQLite {report.library}, mode {report.mode}")
        print(f"{report.records} records, {report.messages} messages")
        for finding in report.findings:
            print(
                f"{finding.part}: {finding.text}" + "".join(f"\n    {i}" for i in finding.ids[:20])
            )
        print("sound" if report.is_sound else f"{len(report.findings)} findings")
    return 0 if report.is_sound else UNSOUND
