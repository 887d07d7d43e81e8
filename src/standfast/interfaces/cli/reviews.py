"""Commands for what waits for a person to decide, and for taking trust back."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable

from standfast.errors import Invalid
from standfast.interfaces.cli.options import given
from standfast.interfaces.cli.output import (
    open_memory,
    print_json,
    print_lines,
    screen_for,
    show_receipt,
)
from standfast.interfaces.render import Screen, as_json, visible
from standfast.types import Receipt, Record, ReviewItem

KIND_COLOURS = {"disputed": "33", "quarantined": "31", "held": "36", "stuck": "35"}


def list_(arguments: argparse.Namespace) -> int:
    _use_workspace(arguments)
    with open_memory(arguments) as memory:
        items = memory.review(scope=arguments.scope, limit=arguments.limit)
    if arguments.json:
        return print_json({"items": [as_json(item) for item in items]})
    return print_lines(_listed(screen_for(arguments), items, arguments.limit))


def _listed(screen: Screen, items: tuple[ReviewItem, ...], limit: int) -> Iterable[str]:
    for item in items:
        yield from _shown(screen, item)
        yield ""
    if not items:
        yield "nothing waits for a decision"
        return
    yield screen.paint("decide with: standfast review approve|reject|edit|merge ID", "2")
    if len(items) == limit:
        yield screen.paint("there may be more: --limit shows more of them", "2")


def _shown(screen: Screen, item: ReviewItem) -> Iterable[str]:
    kind = screen.paint(f"{item.kind:<11}", KIND_COLOURS[item.kind])
    since = f" · since {item.since:%Y-%m-%d %H:%M}" if item.since else ""
    yield f"{kind} {visible(item.why)}"
    if item.record is not None and item.kind != "held":
        yield from _record(screen, item.record, ">")
    else:
        yield f"    > {screen.paint(visible(item.id), '1')}"
    if item.kind == "held" and item.touches:
        yield screen.paint("    it would touch:", "2")
    for record in item.touches:
        yield from _record(screen, record, "-")
    yield screen.paint(f"    {item.scope}{since} · {', '.join(item.actions)}", "2")


def _record(screen: Screen, record: Record, mark: str) -> Iterable[str]:
    for number, line in enumerate(screen.wrapped(f'"{record.text}"', 6)):
        yield f"    {mark if number == 0 else ' '} {line}"
    about = f"{record.type}, from {record.source}, {record.at:%Y-%m-%d}"
    yield f"      {screen.paint(visible(record.id), '1')}  {screen.paint(about, '2')}"


def decide(arguments: argparse.Namespace) -> int:
    import asyncio

    _use_workspace(arguments)
    if arguments.action == "approve":
        receipt = asyncio.run(_approved(arguments))
        return show_receipt(arguments, receipt)
    with open_memory(arguments) as memory:
        return show_receipt(arguments, memory.resolve(**given(arguments)))


async def _approved(arguments: argparse.Namespace) -> Receipt:
    """An update of MEMORY.md is applied here: the library knows nothing of Markdown files."""
    from standfast.interfaces.markdown.proposals import approve_update, held_update
    from standfast.memory import AsyncMemory

    async with await AsyncMemory.open(
        arguments.store,
        profile=arguments.profile,
        embedder=arguments.embedder,
        background=False,
    ) as memory:
        item = await held_update(memory.engine, arguments.id)
        if item is not None:
            return await approve_update(memory.engine, item, arguments.actor)
        return await memory.resolve(arguments.id, "approve", actor=arguments.actor)


def _use_workspace(arguments: argparse.Namespace) -> None:
    """A workspace has a store of its own, and its own profile."""
    if arguments.workspace is None:
        return
    from standfast.interfaces.markdown.watch import PROFILE
    from standfast.interfaces.markdown.workspace import Workspace

    if arguments.store is not None:
        raise Invalid("--workspace names the store already; leave --store out")
    store = Workspace.at(arguments.workspace).store
    if not os.path.lexists(store):
        raise Invalid(f"{arguments.workspace} has no store of its own; use --store")
    arguments.store = store
    arguments.profile = arguments.profile or PROFILE
