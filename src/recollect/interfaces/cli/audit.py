"""Commands about the audit log: is it as it was written, and what does it say?"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from recollect.interfaces.cli.keys import with_engine
from recollect.interfaces.cli.output import UNSOUND, print_json, print_lines
from recollect.interfaces.render import as_json


def verify(arguments: argparse.Namespace) -> int:
    from recollect.access.audit import verify_audit

    report = with_engine(arguments, lambda engine: verify_audit(engine, arguments.scope))
    if arguments.json:
        print_json({**as_json(report), "sound": report.is_sound})
    else:
        told = f"{report.lines} lines, {report.seals} seals, {report.unsealed} not sealed yet"
        told += f", {report.lost} lost to a full buffer" if report.lost else ""
        ends = [f"last seal of {name}: {hash_}" for name, hash_ in report.heads.items()]
        verdict = "sound" if report.is_sound else f"{len(report.findings)} findings"
        print_lines([told, *report.findings, *ends, verdict])
    return 0 if report.is_sound else UNSOUND


def export(arguments: argparse.Namespace) -> int:
    async def written(engine: Any) -> None:
        from recollect.access.audit import audit_lines

        async for root, name, line in audit_lines(engine, arguments.scope):
            plain = {"root": root, "line": name, **line}
            print(json.dumps(plain, ensure_ascii=False), file=sys.stdout)

    with_engine(arguments, written)
    return 0
