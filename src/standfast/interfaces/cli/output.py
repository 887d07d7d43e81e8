"""What every command shares: opening the memory, asking back, writing the answer."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from standfast.errors import Invalid, NotFound
from standfast.interfaces.answers import LIST_NAMES
from standfast.interfaces.render import Screen, as_json
from standfast.types import Answer, Packet, Receipt, ReceiptItem
from standfast.types.invisible import spelled_out
from standfast.types.pages import Due, Page, Stats

if TYPE_CHECKING:
    from standfast.memory.sync import Memory

NOTHING_IN_ROOT = (
    "nothing there; --scope says whose changes, `standfast scopes` lists whose there are"
)
LINES_MAX = 40  # a receipt of more things is summed up
UNSOUND = 8
UNAVAILABLE = 6


def open_memory(arguments: argparse.Namespace) -> Memory:
    from standfast.memory.sync import Memory

    check_store(arguments)
    return Memory.open(
        arguments.store,
        profile=arguments.profile,
        embedder=arguments.embedder,
        background=not arguments.no_background,
    )


def check_store(arguments: argparse.Namespace) -> None:
    """A look at a memory never makes one: a mistyped path would look like an empty memory."""
    from standfast.memory.arguments import verb_spec
    from standfast.wiring import file_of

    verb = getattr(arguments, "verb", None)
    if verb is None or verb_spec(verb).right not in ("read", "export", "audit"):
        return
    file = file_of(arguments.store, arguments.profile)
    if file is not None and not file.exists():
        raise NotFound(
            f"there is no store at {file}; check --store, or keep something first "
            "(standfast remember, observe, import)"
        )


def must_agree(arguments: argparse.Namespace, question: str) -> bool:
    """What cannot be taken back is asked for; where nobody can answer, it takes --yes."""
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        raise Invalid(f"{question} nobody can be asked here: say --yes, or look with --dry-run")
    return agreed(question)


def show_plan(arguments: argparse.Namespace, items: Sequence[ReceiptItem]) -> None:
    """What would go, beside the answer: on standard error."""
    screen = screen_for(arguments)
    for item in items[:LINES_MAX]:
        print("\n".join(screen.going(item)), file=sys.stderr)
    if len(items) > LINES_MAX:
        more = f"... and {len(items) - LINES_MAX:,} more; --dry-run lists all"
        print(more, file=sys.stderr)


def agreed(question: str) -> bool:
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def screen_for(arguments: argparse.Namespace) -> Screen:
    colour = sys.stdout.isatty() and not arguments.no_color and "NO_COLOR" not in os.environ
    return Screen(colour=colour, width=shutil.get_terminal_size((100, 24)).columns)


def show_receipt(arguments: argparse.Namespace, receipt: Receipt) -> int:
    if arguments.json:
        return print_json(as_json(receipt))
    return print_lines(_receipt_lines(arguments, receipt))


def _receipt_lines(arguments: argparse.Namespace, receipt: Receipt) -> Iterable[str]:
    """What happened; of very many things how many, and whatever went wrong. A dry run lists each
    text that would go."""
    screen = screen_for(arguments)
    if arguments.quiet:
        return screen.troubles(receipt)
    planned = any(item.text for item in receipt.items)
    many = len(receipt.items) > LINES_MAX and not planned
    return screen.summary(receipt) if many else screen.receipt(receipt)


def show(arguments: argparse.Namespace, found: Any) -> int:
    """Whatever a verb answers with."""
    name = LIST_NAMES.get(arguments.verb)
    if arguments.json:
        return print_json({name: as_json(found)} if name else as_json(found))
    screen = screen_for(arguments)
    if isinstance(found, Receipt):
        return print_lines(_receipt_lines(arguments, found))
    if isinstance(found, Answer):
        explain = getattr(arguments, "explain", True)
        return print_lines(screen.answer(found, explain=explain, notes=not arguments.quiet))
    if isinstance(found, Packet):
        return print_lines(screen.packet(found))
    if isinstance(found, Stats):
        return print_lines(screen.stats(found))
    if isinstance(found, Due):
        return print_lines(screen.due(found))
    items = found.items if isinstance(found, Page) else found
    print_lines(line for item in items for line in screen.item(item))
    if not items:
        print(NOTHING_IN_ROOT if _of_one_root(arguments) else "nothing there")
    if isinstance(found, Page) and found.next:
        print(f"more: --cursor {found.next}")
    return 0


def _of_one_root(arguments: argparse.Namespace) -> bool:
    """Was nobody's journal asked for by name, and so that of whoever writes without a scope?"""
    asked = getattr(arguments, "scope", None) or getattr(arguments, "id", None)
    return arguments.verb in ("changes", "history") and not asked


def print_json(value: Any) -> int:
    print(spelled_out(json.dumps(value, ensure_ascii=False, indent=2)))
    return 0


def print_lines(lines: Iterable[str]) -> int:
    for line in lines:
        print(line)
    return 0
