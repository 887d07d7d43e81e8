"""Commands about upkeep, and about the procedures that come of it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from recollect.interfaces.cli.output import (
    given,
    open_memory,
    print_json,
    print_lines,
    screen_for,
    show_receipt,
)
from recollect.interfaces.render import as_json, visible
from recollect.types import Receipt


def maintain(arguments: argparse.Namespace) -> int:
    options = given(arguments, "dry_run", "scope", "force", "retry")
    with open_memory(arguments) as memory:
        receipt = memory.maintain(**options)
    if arguments.dry_run and not arguments.json:
        return print_lines(_diff(receipt))
    return show_receipt(arguments, receipt)


def _diff(receipt: Receipt) -> Iterable[str]:
    from recollect.upkeep.consolidate.steps import diff_line

    for item in receipt.items:
        yield visible(diff_line(item))
    if not receipt.items:
        yield "nothing to do"
    for note in receipt.notes:
        yield visible(f"# {note}")


def save_procedure(arguments: argparse.Namespace) -> int:
    options = given(arguments, "triggers", "text", "tags", "scope", "actor")
    with open_memory(arguments) as memory:
        receipt = memory.save_procedure(arguments.name, arguments.steps, **options)
        return show_receipt(arguments, receipt)


def find_procedures(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        answer = memory.find_procedures(arguments.query, **given(arguments, "scope", "limit"))
    if arguments.json:
        return print_json(as_json(answer))
    screen = screen_for(arguments)
    lines = list(screen.answer(answer, explain=False))
    for number, hit in enumerate(answer.hits, start=1):
        steps = hit.record.data.get("steps")
        listed = steps if isinstance(steps, list) else []
        lines += [f"{number}.{place} {visible(str(s))}" for place, s in enumerate(listed, start=1)]
    return print_lines(lines)


def procedure_used(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        receipt = memory.procedure_used(
            arguments.id_or_name,
            success=not arguments.failed,
            **given(arguments, "scope", "note", "actor"),
        )
        return show_receipt(arguments, receipt)
