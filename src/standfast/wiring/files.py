"""The file of a store: examined, copied, and put back."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from standfast.engine import WANTED_SPACE, begun_space
from standfast.errors import Invalid, NotFound, Unavailable
from standfast.forgotten import backup_cell
from standfast.ports import Cell
from standfast.types import Receipt, ReceiptItem
from standfast.types.arguments import StorePath
from standfast.verbs.migrate import moved
from standfast.verbs.restore import bury_again
from standfast.wiring import (
    address_of,
    file_of,
    open_engine,
    open_store,
    place_of,
    read_settings,
    unlock_file,
)
from standfast.wiring.stores import factory_of, scheme_of

if TYPE_CHECKING:
    from standfast.engine import Engine
    from standfast.stores.report import DoctorReport


def heal_store(
    store: StorePath | None,
    profile: str | None,
    backup: StorePath | None,
    *,
    drop_lost: bool = False,
) -> Receipt:
    """Make damaged rows of the store file as they were: from a backup, or from what they were made
    of. ``drop_lost``: remove those for which nothing fits."""
    from standfast.stores.sqlite.heal import heal

    done = heal(_file_of(store, profile), backup, drop_lost=drop_lost)
    healed = [ReceiptItem(id=id_, status="restored", reason="as written") for id_ in done.healed]
    why = "neither its sources nor a backup have it as it was"
    lost = [ReceiptItem(id=id_, status="failed", reason=why) for id_ in done.lost]
    dropped = [ReceiptItem(id=id_, status="erased", reason=why) for id_ in done.dropped]
    return Receipt(items=(*healed, *lost, *dropped))


def check_store(store: StorePath | None, profile: str | None, *, rebuild: bool) -> DoctorReport:
    """Examine the store; with ``rebuild`` make its indexes anew first."""
    address = address_of(store, profile)
    if scheme_of(address) in ("postgresql", "postgres"):
        factory_of("postgresql")  # says what is missing, if its driver is
        from standfast.stores.postgres import doctor as database

        if rebuild:
            database.rebuild(address)
        return database.check(address)
    from standfast.stores.sqlite import doctor

    file = _file_of(store, profile)
    if rebuild:
        doctor.rebuild(file)
    return doctor.check(file)


def _file_of(store: StorePath | None, profile: str | None) -> Path:
    file = file_of(store, profile)
    if file is None and place_of(store, profile):
        raise Invalid(
            f"{place_of(store, profile)} is no file; back it up with the tools of its engine (such "
            "as pg_dump and pg_restore), or with standfast export and import"
        )
    if file is None:
        raise Invalid("this needs a store file; a dict: store is gone with its process")
    unlock_file(file, read_settings(profile=profile))
    return file


def rekey_store(store: StorePath | None, profile: str | None, new_key: str) -> DoctorReport:
    """Encrypt the store file with the key in this place (see ``Settings.key_file``); "" leaves it
    plain."""
    from standfast.stores.sqlite.rekey import rekey
    from standfast.wiring.cipher import key_from

    return rekey(_file_of(store, profile), key_from(new_key))


def backup_store(
    store: StorePath | None,
    profile: str | None,
    target: StorePath,
    *,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> DoctorReport:
    """Copy the store file while others use it; the answer is the doctor's report on the copy."""
    from standfast.stores.sqlite.backup import backup

    file = _file_of(store, profile)
    report = backup(file, target, force=force, progress=progress)
    _note_backup(file, target, datetime.now(UTC))
    return report


def _note_backup(file: Path, copy: StorePath, at: datetime) -> None:
    """Let receipts of forget name the copy. In a file that cannot be written nothing is forgotten
    either."""
    from standfast.stores.sqlite.registry import put_cell

    with suppress(Unavailable):
        put_cell(str(file), backup_cell(copy, at), at)


async def restore_store(store: StorePath | None, profile: str | None, backup: StorePath) -> Receipt:
    """Put a backup in the place of the store file, without what was forgotten since."""
    from standfast.stores.sqlite.backup import discard, prepare_restore, state_of, swap_in

    file = _file_of(store, profile)
    copy = await asyncio.to_thread(prepare_restore, backup, file)
    try:
        if file.exists():  # bringing an old file up to date is no change of somebody's
            await (await open_store(str(file), read_settings(profile=profile))).close()
        state = state_of(file)
        erased = await _forget_again(copy, file, profile) if file.exists() else Receipt(items=())
        aside = await asyncio.to_thread(swap_in, copy, file, state)
    finally:
        discard(copy)
    _note_backup(file, backup, datetime.fromtimestamp(os.path.getmtime(backup), UTC))
    if aside:
        _note_backup(file, aside, datetime.now(UTC))
    notes = [f"the replaced file is {aside}"] if aside else []
    if erased.items:
        notes.append(f"{backup} itself still holds what was forgotten since; make a new backup")
    done = ReceiptItem(id=str(file), status="restored", reason=f"from {backup}")
    return Receipt(items=(done, *erased.items), notes=(*notes, *erased.notes))


async def _forget_again(copy: str, file: Path, profile: str | None) -> Receipt:
    current = await open_store(str(file), read_settings(profile=profile))
    try:
        restored = await open_engine(copy, embedder="none", profile=profile)
        try:
            return await bury_again(restored, current)
        finally:
            await restored.store.close()
            await restored.volatile.close()
    finally:
        await current.close()


async def _carry_space(source: Engine, target: str, profile: str | None) -> None:
    """A store without vectors goes on with the embedder of the one that is copied into it, unless
    somebody names another."""
    settings, now = read_settings(profile=profile), source.now()
    space = await begun_space(source.store, now)
    store = await open_store(target, settings)
    try:
        if space and not await begun_space(store, now):
            await store.registry.put(Cell(key=WANTED_SPACE, value=space), now=now)
    finally:
        await store.close()


async def migrate_store(
    source: str,
    target: str,
    profile: str | None,
    *,
    embedder: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Receipt:
    """Copy all of one store into another, and compare. What is interrupted goes on where it was."""
    if source == target:
        raise Invalid("source and target are the same store; name another one")
    file = file_of(source, profile)
    if file is not None and not file.exists():
        raise NotFound(f"there is no file {file}")
    reading = await open_engine(source, embedder="none", profile=profile)
    try:
        await _carry_space(reading, target, profile)
        writing = await open_engine(target, embedder=embedder, profile=profile)
        try:
            return await moved(reading, writing, progress or (lambda _, __: None))
        finally:
            await writing.store.close()
            await writing.volatile.close()
    finally:
        await reading.store.close()
        await reading.volatile.close()
