"""Commands about the audit log: is it as it was written, and what does it say?"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

from standfast.errors import Invalid
from standfast.interfaces.cli.keys import with_engine
from standfast.interfaces.cli.output import UNSOUND, print_json, print_lines
from standfast.interfaces.render import as_json

if TYPE_CHECKING:
    from standfast.access.audit import AuditReport

KEPT_BYTES_MAX = 64 << 20


def verify(arguments: argparse.Namespace) -> int:
    from standfast.access.audit import verify_audit

    kept = _kept(arguments.kept) if arguments.kept else None
    report = with_engine(arguments, lambda engine: verify_audit(engine, arguments.scope, kept=kept))
    if arguments.json:
        print_json({**as_json(report), "sound": report.is_sound})
    else:
        told = f"{report.lines} lines, {report.seals} seals, {report.unsealed} not sealed yet"
        told += f", {report.lost} lost to a full buffer" if report.lost else ""
        ends = [f"last seal of {name}: {hash_}" for name, hash_ in report.heads.items()]
        verdict = "sound" if report.is_sound else f"{len(report.findings)} findings"
        print_lines([told, *report.findings, *ends, verdict])
    return 0 if report.is_sound else UNSOUND


def _kept(name: str) -> AuditReport:
    """What an earlier `audit verify --json` printed."""
    from standfast.access.audit import AuditReport

    try:
        with open(name, "rb") as file:
            said = json.loads(file.read(KEPT_BYTES_MAX))
        heads, until = (
            {str(k): str(v) for k, v in said[one].items()} for one in ("heads", "until")
        )
        if any(one and datetime.fromisoformat(one).tzinfo is None for one in until.values()):
            raise ValueError
    except OSError as error:
        raise Invalid(f"cannot read {name}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        raise Invalid(f"{name} is not what `standfast audit verify --json` printed") from None
    return AuditReport(lines=0, seals=0, unsealed=0, lost=0, findings=(), heads=heads, until=until)


def export(arguments: argparse.Namespace) -> int:
    async def written(engine: Any) -> None:
        from standfast.access.audit import audit_lines
        from standfast.types.invisible import spelled_out

        async for root, name, line in audit_lines(engine, arguments.scope):
            plain = {"root": root, "line": name, **line}
            print(spelled_out(json.dumps(plain, ensure_ascii=False)), file=sys.stdout)

    with_engine(arguments, written)
    return 0
