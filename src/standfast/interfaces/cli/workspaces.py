"""Commands about a workspace: the folder of Markdown files that mirrors a store."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from standfast.errors import StandfastError
from standfast.interfaces.cli.output import print_json, show_receipt
from standfast.interfaces.render import visible
from standfast.types import MIRRORED, Receipt

if TYPE_CHECKING:
    from standfast.interfaces.markdown.sync import Mirror

SOME_FAILED = 9


def new(arguments: argparse.Namespace) -> int:
    from standfast.interfaces.markdown.workspace import Workspace

    workspace = Workspace.at(arguments.workspace)
    done = workspace.create()
    if arguments.store is None:
        from standfast.memory.sync import Memory

        with Memory.open(workspace.store, profile=_profile(arguments), background=False):
            done.append(f"{workspace.store} opened")
    done += workspace.repair()
    return print_findings(arguments, str(workspace.path), done)


def repair(arguments: argparse.Namespace) -> list[str]:
    """For the doctor, who looks at its store next, if it has one: what was wrong with the modes
    of a workspace and is put right."""
    from standfast.interfaces.markdown.workspace import Workspace

    workspace = Workspace.at(arguments.workspace)
    if arguments.store is None and os.path.lexists(workspace.store):
        arguments.store = workspace.store
    return workspace.repair()


def print_findings(arguments: argparse.Namespace, path: str, done: list[str]) -> int:
    if arguments.json:
        return print_json({"workspace": path, "done": done})
    for line in done:
        print(visible(line))
    return 0


def sync(arguments: argparse.Namespace) -> int:
    import asyncio

    receipt = asyncio.run(_sync(arguments))
    show_receipt(arguments, receipt)
    return SOME_FAILED if _has_failed(receipt) else 0


def _has_failed(receipt: Receipt) -> bool:
    return any(item.status == "failed" for item in receipt.items)


def _profile(arguments: argparse.Namespace) -> str:
    from standfast.interfaces.markdown.watch import PROFILE

    return str(arguments.profile or PROFILE)


async def _sync(arguments: argparse.Namespace) -> Receipt:
    from standfast.interfaces.markdown.watch import opened_mirror

    async with opened_mirror(
        arguments.workspace,
        scope=arguments.scope,
        store=arguments.store,
        profile=arguments.profile,
        embedder=arguments.embedder,
    ) as mirror:
        if not arguments.watch:
            return await mirror.sync(accept=arguments.accept)
        await _watch(arguments, mirror)
        return Receipt(items=())


async def _watch(arguments: argparse.Namespace, mirror: Mirror) -> None:
    """Rounds until somebody stops it. What fails is said, once, and tried again."""
    from standfast.interfaces.markdown.watch import seen_now, until_something_changes

    complained = ""
    while True:
        seen = await seen_now(mirror)
        try:
            receipt = await mirror.sync(accept=arguments.accept)
            complained = ""
            if receipt.items or receipt.change:
                show_receipt(arguments, receipt)
                sys.stdout.flush()
        except StandfastError as error:
            if str(error) != complained:
                print(f"standfast: {error}", file=sys.stderr, flush=True)
            complained = str(error)
        await until_something_changes(mirror, seen)


def write_mirrors_anew(arguments: argparse.Namespace, receipt: Receipt) -> None:
    """Markdown files do not keep what was forgotten until somebody happens to sync them."""
    import asyncio

    for note in receipt.notes:
        folder = note.removeprefix(MIRRORED)
        if folder == note:
            continue
        wanted = argparse.Namespace(
            workspace=folder,
            scope=None,
            store=arguments.store,
            profile=None,
            embedder=arguments.embedder,
            watch=False,
            accept=False,
        )
        try:
            asyncio.run(_sync(wanted))
            print(f"the files in {folder} were written anew", file=sys.stderr)
        except StandfastError as error:
            print(f"standfast: {folder} still holds it: {error}", file=sys.stderr)
