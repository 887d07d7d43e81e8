"""Importers: what people have elsewhere, read in.

A reader turns the files of one program into statements and conversations; the spool makes an
export of them; the import of exports does the rest. Nothing is written before the whole file has
been understood. The same file again changes nothing, so an import that was killed is simply
started again.

Other packages bring readers by entry point, and are then named like the built-in ones:

    [project.entry-points."standfast.importers"]
    mine = "my_package:read_mine"

``read_mine(wish)`` gets a ``ReaderWish`` and yields what ``values`` describes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial as bind
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import cast

from standfast.adapters.importers.spool import ImportPlan, Spool
from standfast.adapters.importers.values import Foreign, ReaderWish
from standfast.adapters.shelf import utc_now
from standfast.errors import Incompatible, Invalid, NotFound
from standfast.memory.sync import Memory
from standfast.scopes import parse_scope
from standfast.settings import Settings
from standfast.types import Receipt, ReceiptItem

GROUP = "standfast.importers"

# What is said on the command line -> the reader.
READERS: Mapping[str, str] = {
    name: f"standfast.adapters.importers.{place}"
    for name, place in {
        "mem0": "mem0:read_mem0",
        "langgraph": "langgraph:read_langgraph",
        "memory-json": "memory_json:read_memory_json",
        "markdown": "markdown:read_markdown",
        "chatgpt": "chatgpt:read_chatgpt",
        "claude": "claude:read_claude",
        "letta": "letta:read_letta",
        "graphiti": "graphiti:read_graphiti",
        "csv": "tables:read_csv",
        "jsonl": "tables:read_jsonl",
    }.items()
}
Reader = Callable[[ReaderWish], Iterator[Foreign]]

# What a reader stumbles over in a file that is made quite differently.
ODD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

# What is done ("reading", "writing"), how far, and of how much; 0 where nobody can know.
Progress = Callable[[str, int, int], None]


def import_foreign(
    memory: Memory,
    kind: str,
    path: str | Path,
    *,
    scope: str | None = None,
    default_scope: str = "",
    dry_run: bool = False,
    partial: bool = False,
    learn: bool = False,
    fields: Mapping[str, str] | None = None,
    actor: str = "",
    progress: Progress | None = None,
) -> Receipt:
    """Read a file or folder of another program in.

    With ``scope`` all of it goes there. Without, it goes to whoever it belonged to, where the file
    says so, and to ``default_scope`` otherwise. ``learn``: upkeep is to learn from conversations
    too, which costs calls where a model is set up. ``fields`` says where a table has what.
    """
    reader = _reader(kind)
    found = Path(path).expanduser()
    if not found.exists():
        raise NotFound(f"there is no file {found}")
    now = utc_now()
    plan = ImportPlan(
        kind=kind,
        now=now,
        written=min(datetime.fromtimestamp(found.stat().st_mtime, UTC), now),
        default=parse_scope(default_scope or Settings().scope),
        scope=parse_scope(scope) if scope is not None else None,
        learn=learn,
    )
    spool = Spool(plan=plan)
    try:
        wish = ReaderWish(path=found, partial=partial, fields=fields or {})
        try:
            spool.take(reader(wish), _reporting(progress))
        except ODD as error:
            why = f"{type(error).__name__}: {error}".partition("\n")[0][:120]
            raise Invalid(f"{found} is not shaped like a file of {kind} ({why})") from error
        if not spool.counts:
            return _report(Receipt(items=()), spool)
        with spool.export() as file:
            receipt = memory.import_from(
                file,
                dry_run=dry_run,
                actor=actor or f"import {kind}",
                progress=None if progress is None else bind(progress, "writing"),
            )
        return _report(receipt, spool)
    finally:
        spool.close()


def _reader(kind: str) -> Reader:
    """Imported only now: most of them are never needed."""
    place = READERS.get(kind) or _brought().get(kind)
    if place is None:
        names = ", ".join([*READERS, *sorted(_brought())])
        raise Invalid(f"there is no importer for {kind!r}; use one of {names}")
    module, _, name = place.partition(":")
    try:
        return cast("Reader", getattr(import_module(module.strip()), name.strip()))
    except (ImportError, AttributeError) as error:
        raise Incompatible(f"the importer for {kind!r} cannot be loaded: {error}") from None


def _brought() -> dict[str, str]:
    """What installed packages bring; what is built in cannot be replaced."""
    found = {point.name: point.value for point in entry_points(group=GROUP)}
    return {name: place for name, place in found.items() if name not in READERS}


def _reporting(progress: Progress | None) -> Callable[[int], None] | None:
    return None if progress is None else lambda done: progress("reading", done, 0)


def _report(receipt: Receipt, spool: Spool) -> Receipt:
    """What was stored, merged and skipped by the import, and what the reader left out."""
    left = [ReceiptItem(id=one.what, status="skipped", reason=one.why) for one in spool.left_out]
    notes = [f"left out: {count} ({why})" for why, count in spool.reasons.most_common()]
    if not spool.counts:
        notes.append("there was nothing in it to import")
    return replace(receipt, items=(*receipt.items, *left), notes=(*receipt.notes, *notes))
