"""Who may do what: keys, bound to scopes and rights, and the users that devices belong to.

A key is 256 random bits. The store keeps its SHA-256 only, so whoever reads the file cannot use
it, and it is shown once. There is nothing to guess slowly: a fast hash of a random key is enough.
A key may always be looked at anew, so revoking one takes effect with the next request.
"""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.engine import Engine
from recollect.errors import Conflict, Denied, Invalid, NotFound
from recollect.ports import Cell, Store, cell_key
from recollect.scopes import parse_scope
from recollect.text.inputs import When, clean_name, expiry, several_of
from recollect.types import ALL_RIGHTS, Right

PREFIX = "rck_"
KEYS, DEVICES = "key", "device"
ID_LENGTH = 12
PAGE = 500
DEFAULT_RIGHTS: tuple[Right, ...] = ("read", "write")

_SECRET = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}\Z")
_UNKNOWN = "this key is not known, has expired or was revoked; ask for a new one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What is known of a key; the key itself is not. No scopes: all of them."""

    id: str
    name: str
    scopes: tuple[str, ...]
    rights: tuple[Right, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def works_at(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device and the scope that what it hears belongs to."""

    id: str
    scope: str


async def create_key(
    engine: Engine,
    *,
    name: str = "",
    scopes: Iterable[str] = (),
    rights: Iterable[str] = DEFAULT_RIGHTS,
    expires_at: When | None = None,
    actor: str = "",
) -> tuple[Key, str]:
    """A new key and its secret, which nobody can show again. Without scopes it reaches all of
    them, which only a key with the right ``admin`` may."""
    engine.allow("admin")
    now = engine.now()
    granted: tuple[Right, ...] = several_of(rights, Right, "right")
    reached = tuple(dict.fromkeys(map(engine.write_scope, _listed(scopes))))
    until, _ = expiry(expires_at, now)
    if not granted:
        raise Invalid("a key needs at least one right: read, write, erase or admin")
    for right in granted:
        engine.allow(right)  # nobody hands out what they do not have
    if not reached and "admin" not in granted:
        raise Invalid('a key needs a scope such as "user:ann"; only an admin key reaches all')
    if not reached and engine.bound:
        reached = engine.bound
    secret = PREFIX + urlsafe_b64encode(bytes.fromhex(engine.new_secret())).decode().rstrip("=")
    digest = _digest(secret)
    key = Key(
        id=digest[:ID_LENGTH],
        name=clean_name(name, "name") if name else "",
        scopes=reached,
        rights=tuple(sorted(granted)),
        created_at=now,
        expires_at=until,
    )
    value = {**_plain(key), "created_by": actor}
    await _put(engine, Cell(key=cell_key(KEYS, digest), value=value))
    return key, secret


async def list_keys(engine: Engine) -> tuple[Key, ...]:
    """All keys that this handle may see, the oldest first, revoked and expired ones too."""
    engine.allow("admin")
    keys = [_key(cell) for cell in await _cells(engine, KEYS)]
    seen = [key for key in keys if _is_ours(engine, key)]
    return tuple(sorted(seen, key=lambda key: (key.created_at, key.id)))


async def revoke_key(engine: Engine, id_: str, *, actor: str = "") -> Key:
    """The key works no more, from the next request on. Revoking it twice changes nothing."""
    engine.allow("admin")
    wanted = clean_name(id_, "the key's id")
    for cell in await _cells(engine, KEYS):
        key = _key(cell)
        if key.id != wanted or not _is_ours(engine, key):
            continue
        if key.revoked_at is None:
            said = {"revoked_at": engine.now().isoformat(), "revoked_by": actor}
            cell = replace(cell, value={**cell.value, **said})
            await _put(engine, cell)
        return _key(cell)
    raise NotFound(f"there is no key {wanted!r}; `recollect keys list` shows them")


async def with_key(engine: Engine, secret: str) -> tuple[Key, Engine]:
    """The key and the engine as its holder may use it. Denied says no more than that."""
    if not _SECRET.match(secret):
        raise Denied(_UNKNOWN)
    wanted = cell_key(KEYS, _digest(secret))
    found = await engine.store.registry.get((wanted,), now=engine.now())
    if not found or not (key := _key(found[0])).works_at(engine.now()):
        raise Denied(_UNKNOWN)
    return key, engine.narrowed(key.scopes or None, key.rights)


async def any_key_was_made(engine: Engine) -> bool:
    """Until somebody makes a key, only this machine may connect, and needs none."""
    prefix = cell_key(KEYS, "")
    return bool(await engine.store.registry.list(prefix, now=engine.now(), limit=1))


async def any_key_works(engine: Engine) -> bool:
    """Is there a key with which anybody could come in?"""
    return any(_key(cell).works_at(engine.now()) for cell in await _cells(engine, KEYS))


async def carry_revocations(engine: Engine, current: Store) -> None:
    """What was revoked in another store of the same keys is revoked here too."""
    known = {cell.key: cell for cell in await _cells(engine, KEYS)}
    for cell in await _cells_of(current, KEYS, engine.now()):
        ours = known.get(cell.key)
        if cell.value["revoked_at"] and ours is not None and not ours.value["revoked_at"]:
            await _put(engine, replace(ours, value=cell.value))


async def map_device(engine: Engine, device: str, scope: str, *, actor: str = "") -> Device:
    """What this device hears belongs to that scope from now on."""
    engine.allow("admin")
    mapped = Device(id=clean_name(device, "the device"), scope=engine.write_scope(scope))
    known = await _device_cell(engine, mapped.id)
    if known is not None and not engine.may_change(_scope_in(known)):
        raise Denied(f"device {mapped.id!r} belongs to somebody else")
    value = {"scope": mapped.scope, "mapped_by": actor}
    version = known.version if known else 0
    await _put(engine, Cell(key=cell_key(DEVICES, mapped.id), value=value, version=version))
    return mapped


async def list_devices(engine: Engine) -> tuple[Device, ...]:
    engine.allow("admin")
    devices = [
        Device(id=cell.key.split("\t", 1)[1], scope=_scope_in(cell))
        for cell in await _cells(engine, DEVICES)
    ]
    return tuple(device for device in devices if engine.may_change(device.scope))


async def scope_of_device(engine: Engine, device: str) -> str:
    """Whose device it is. One that nobody mapped, or that somebody else owns, is not found."""
    cell = await _device_cell(engine, clean_name(device, "the device"))
    if cell is None or not engine.may_change(_scope_in(cell)):
        raise NotFound(f"device {device!r} belongs to nobody here; map it to a scope first")
    return parse_scope(_scope_in(cell))


def _listed(scopes: Iterable[str]) -> list[str]:
    return [scopes] if isinstance(scopes, str) else list(scopes)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _is_ours(engine: Engine, key: Key) -> bool:
    """An admin of some scopes does not see the keys of others."""
    if not engine.bound:
        return True
    return bool(key.scopes) and all(map(engine.may_change, key.scopes))


def _plain(key: Key) -> dict[str, Any]:
    return {
        "name": key.name,
        "scopes": list(key.scopes),
        "rights": list(key.rights),
        "created_at": key.created_at.isoformat(),
        "expires_at": key.expires_at and key.expires_at.isoformat(),
        "revoked_at": None,
    }


def _key(cell: Cell) -> Key:
    value = cell.value
    moments = {
        name: datetime.fromisoformat(value[name]) if value[name] else None
        for name in ("expires_at", "revoked_at")
    }
    return Key(
        id=cell.key.removeprefix(cell_key(KEYS, ""))[:ID_LENGTH],
        name=value["name"],
        scopes=tuple(value["scopes"]),
        rights=tuple(right for right in value["rights"] if right in ALL_RIGHTS),
        created_at=datetime.fromisoformat(value["created_at"]),
        expires_at=moments["expires_at"],
        revoked_at=moments["revoked_at"],
    )


async def _device_cell(engine: Engine, device: str) -> Cell | None:
    wanted = cell_key(DEVICES, device)
    found = await engine.store.registry.get((wanted,), now=engine.now())
    return found[0] if found else None


def _scope_in(device: Cell) -> str:
    return str(device.value["scope"])


async def _cells(engine: Engine, kind: str) -> list[Cell]:
    return await _cells_of(engine.store, kind, engine.now())


async def _cells_of(store: Store, kind: str, now: datetime) -> list[Cell]:
    found: list[Cell] = []
    prefix = cell_key(kind, "")
    while page := await store.registry.list(
        prefix, now=now, after=found[-1].key if found else "", limit=PAGE
    ):
        found += page
    return found


async def _put(engine: Engine, cell: Cell) -> None:
    try:
        await engine.store.registry.put(cell, now=engine.now())
    except Conflict:
        kind = cell.key.split("\t")[0]
        raise Conflict(f"the {kind} was changed meanwhile; try again", kind="cell") from None
