"""Who may do what: keys, bound to scopes and rights, and the users that devices belong to.

A key is 256 random bits. The store keeps its SHA-256 only, so whoever reads the file cannot use
it, and it is shown once. There is nothing to guess slowly: a fast hash of a random key is enough.
A key may always be looked at anew, so revoking one takes effect with the next request.

A key knows the one it was made with: it lives no longer, its holder is trusted no more, and it is
revoked with it. A key that takes another's place inherits what that one has made.
"""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network
from typing import Any

from standfast import compat
from standfast.access.rights import AGENT_RIGHTS
from standfast.engine import Engine
from standfast.errors import Conflict, Denied, Invalid, NotFound, Unavailable
from standfast.ports import Cell, Store, cell_key
from standfast.scopes import parse_scope, root_of
from standfast.text.inputs import When, clean_name, expiry, one_of, several_of
from standfast.types import ALL_RIGHTS, Holder, Right
from standfast.types.frozen import frozen

PREFIX = compat.API_KEY_PREFIX
TOKEN = compat.TOKEN_PREFIX  # how the id of somebody begins who came with an issuer's token
KEYS, DEVICES, USES = compat.KEY_CELLS, compat.DEVICE_CELLS, compat.KEY_USE_CELLS
MOVES = compat.DEVICE_MOVE_CELLS  # held by who maps one that may be another root's
MOVE_LASTS = timedelta(seconds=30)
ID_LENGTH = 12
OVERLAP_HOURS_MAX = 24 * 90
USES_EVERY = timedelta(minutes=1)
LOGIN_EVERY = timedelta(minutes=10)  # whoever was away for so long comes in again
ADDRESSES_MAX = 20
PAGE = 500
DEFAULT_RIGHTS: tuple[Right, ...] = ("read", "write")

_SECRET = re.compile(r"[A-Za-z0-9_-]{32,200}\Z")  # ours, or one that an operator chose
UNKNOWN = "this key is not known, has expired or was revoked; ask for a new one"


@frozen
class Key:
    """What is known of a key; the key itself is not. No scopes: all of them; no addresses: from
    everywhere. ``parent`` is the key it was made with, ``succeeds`` the one whose place it
    takes, ``audience`` the only address that it is good for."""

    id: str
    name: str
    scopes: tuple[str, ...]
    rights: tuple[Right, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    holder: Holder = "person"
    parent: str = ""
    succeeds: str = ""
    addresses: tuple[str, ...] = ()
    audience: str = ""
    last_used_at: datetime | None = None

    def works_at(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def works_from(self, address: str) -> bool:
        """A socket of this machine that has no address is as good as the loopback."""
        if not self.addresses:
            return True
        try:
            found = ip_address(address or "127.0.0.1")
        except ValueError:
            return False
        plain = getattr(found, "ipv4_mapped", None) or found
        return any(plain in ip_network(one) for one in self.addresses)


@frozen
class Device:
    """A device and the scope that what it hears belongs to."""

    id: str
    scope: str


async def create_key(
    engine: Engine,
    *,
    name: str = "",
    scopes: Iterable[str] = (),
    rights: Iterable[str] | None = None,
    expires_at: When | None = None,
    holder: str = "person",
    addresses: Iterable[str] = (),
    actor: str = "",
) -> tuple[Key, str]:
    """A new key and its secret, which nobody can show again. Without scopes it reaches all of
    them, which only a key with the right ``admin`` may."""
    engine.allow("admin")
    wanted = DEFAULT_RIGHTS if rights is None else rights
    granted: tuple[Right, ...] = several_of(wanted, Right, "right")
    reached = tuple(dict.fromkeys(map(engine.write_scope, _listed(scopes))))
    if not granted:
        raise Invalid(f"a key needs at least one right: {', '.join(sorted(ALL_RIGHTS))}")
    for right in granted:
        engine.allow(right)  # nobody hands out what they do not have
    if not reached and "admin" not in granted:
        raise Invalid('a key needs a scope such as "user:ann"; only an admin key reaches all')
    if not reached and engine.bound:
        reached = engine.bound
    until, _ = expiry(expires_at, engine.now())
    whose: Holder = one_of(holder, Holder, "holder")
    key = Key(
        id="",
        name=clean_name(name, "name") if name else "",
        scopes=reached,
        rights=tuple(sorted(set(granted))),
        created_at=engine.now(),
        expires_at=min(filter(None, (until, engine.until)), default=None),
        holder="agent" if engine.holder == "agent" else whose,
        parent=engine.key,
        addresses=_networks(addresses),
    )
    return await _made(engine, key, actor)


async def ensure_key(engine: Engine, secret: str, *, name: str, actor: str = "") -> bool:
    """A key of every right with a secret that the operator chose, made if the store has none with
    it; whether it was made. One that was revoked stays so."""
    engine.allow("admin")
    if not _SECRET.match(secret):
        raise Invalid(
            "the admin key must have 32 to 200 letters, digits, - or _: openssl rand -hex 32"
        )
    wanted = cell_key(KEYS, _digest(secret))
    if await engine.store.registry.get((wanted,), now=engine.now()):
        return False
    rights = tuple(sorted(ALL_RIGHTS))
    key = Key(id="", name=name, scopes=(), rights=rights, created_at=engine.now(), expires_at=None)
    await _made(engine, key, actor, secret=secret)
    return True


async def lend_key(
    engine: Engine,
    *,
    name: str,
    scopes: Iterable[str],
    rights: Iterable[Right],
    expires_at: datetime,
    audience: str,
    kept_until: datetime,
) -> tuple[Key, str]:
    """A key for an agent, made with the one that this handle is for, as its holder agreed to. It
    can do no more than that one, and is good for one address. What is known of it is gone after
    ``kept_until``."""
    granted = tuple(sorted(set(rights) & set(AGENT_RIGHTS)))
    for right in granted:
        engine.allow(right)
    reached = tuple(dict.fromkeys(map(engine.write_scope, _listed(scopes))))
    if not granted or not reached:
        raise Invalid("a key needs a right and a scope")
    key = Key(
        id="",
        name=clean_name(name, "name"),
        scopes=reached,
        rights=granted,
        created_at=engine.now(),
        expires_at=min(filter(None, (expires_at, engine.until))),
        holder="agent",
        parent=engine.key,
        audience=audience,
    )
    return await _made(engine, key, name, kept_until)


async def _made(
    engine: Engine,
    key: Key,
    actor: str,
    kept_until: datetime | None = None,
    *,
    secret: str = "",
) -> tuple[Key, str]:
    if not secret:
        drawn = bytes.fromhex(engine.new_secret())
        secret = PREFIX + urlsafe_b64encode(drawn).decode().rstrip("=")
    digest = _digest(secret)
    made = replace(key, id=digest[:ID_LENGTH])
    value = {**_plain(made), "created_by": actor}
    name = cell_key(KEYS, digest)
    cell = await _put(engine, Cell(key=name, value=value, expires_at=kept_until))
    _audited(engine, "create_key", made.scopes, made.id)
    for maker in filter(None, (engine.key, made.parent)):
        # It may have been revoked meanwhile, by somebody who did not see this one yet.
        if not await still_works(engine, maker, expired=True):
            await _revoke(engine, cell, actor)
            raise Denied(UNKNOWN)
    return made, secret


def _audited(engine: Engine, verb: str, scopes: Iterable[str], id_: str) -> None:
    if engine.audit is not None:
        engine.audit.note(engine, "admin", verb, scopes=scopes, ids=[id_])


async def rotate_key(
    engine: Engine, id_: str, *, overlap_hours: float = 24.0, actor: str = ""
) -> tuple[Key, str]:
    """A key that takes another's place, with the same scopes, rights and end. The old one works
    for so many hours more, so that whoever uses it can change over."""
    engine.allow("admin")
    if not 0 <= overlap_hours <= OVERLAP_HOURS_MAX:
        raise Invalid(f"the overlap is 0 to {OVERLAP_HOURS_MAX} hours, not {overlap_hours!r}")
    cell, old = await _named(engine, id_)
    now = engine.now()
    if not old.works_at(now):
        raise Invalid(f"key {old.id!r} works no more; make a new one")
    for right in old.rights:
        engine.allow(right)
    made, secret = await _made(
        engine, replace(old, created_at=now, succeeds=old.id, last_used_at=None), actor
    )
    ends = now + timedelta(hours=overlap_hours)
    until = min(ends, old.expires_at) if old.expires_at else ends
    await _put(engine, replace(cell, value={**cell.value, "expires_at": until.isoformat()}))
    return made, secret


async def list_keys(engine: Engine) -> tuple[Key, ...]:
    """All keys that this handle may see, the oldest first, revoked and expired ones too."""
    engine.allow("admin")
    used = {cell.key.split("\t", 1)[1]: cell.value for cell in await _cells(engine, USES)}
    keys = [_key(cell) for cell in await _cells(engine, KEYS)]
    seen = [
        replace(key, last_used_at=datetime.fromisoformat(used[key.id])) if key.id in used else key
        for key in keys
        if _is_ours(engine, key)
    ]
    return tuple(sorted(seen, key=lambda key: (key.created_at, key.id)))


async def revoke_key(engine: Engine, id_: str, *, actor: str = "") -> Key:
    """The key works no more, from the next request on, and neither do those that were made with
    it. Revoking it twice changes nothing."""
    engine.allow("admin")
    cell, _ = await _named(engine, id_)
    await _revoke_below(engine, _key(cell).id, actor)  # first: who is stopped here begins again
    revoked = await _revoke(engine, cell, actor)
    await _revoke_below(engine, _key(cell).id, actor)  # what it made while we were at it
    return _key(revoked)


async def _revoke_below(engine: Engine, id_: str, actor: str) -> None:
    cells = {_key(one).id: one for one in await _cells(engine, KEYS)}
    known = {one: _key(cell) for one, cell in cells.items()}
    for below in _descendants(known, id_):
        await _revoke(engine, cells[below], actor)


async def _revoke(engine: Engine, cell: Cell, actor: str) -> Cell:
    if cell.value["revoked_at"]:
        return cell
    said = {"revoked_at": engine.now().isoformat(), "revoked_by": actor}
    revoked = replace(cell, value={**cell.value, **said})
    await _put(engine, revoked)
    _audited(engine, "revoke_key", _key(cell).scopes, _key(cell).id)
    return revoked


def _descendants(keys: Mapping[str, Key], id_: str) -> list[str]:
    """What a key has made, and what those have; also what was made with a key whose place it or
    one of them took. The deepest first."""
    found: dict[str, None] = {}
    waiting = [id_]
    while waiting:
        makers = {waiting.pop()}
        while more := {keys[one].succeeds for one in makers if one in keys} - makers - {""}:
            makers |= more
        made = [key.id for key in keys.values() if key.parent in makers and key.id not in found]
        found |= dict.fromkeys(made)
        waiting += made
    return [one for one in reversed(found) if one != id_]


async def _named(engine: Engine, id_: str) -> tuple[Cell, Key]:
    """A key by its id, or by the beginning of it."""
    wanted = clean_name(id_, "the key's id")
    prefix = cell_key(KEYS, wanted[:ID_LENGTH])
    for cell in await engine.store.registry.list(prefix, now=engine.now(), limit=2):
        key = _key(cell)
        if key.id == wanted and _is_ours(engine, key):
            return cell, key
    raise NotFound(f"there is no key {wanted!r}; `standfast keys list` shows them")


async def with_key(engine: Engine, secret: str, address: str | None = None) -> tuple[Key, Engine]:
    """The key and the engine as its holder may use it. Denied says no more than that.
    ``address`` is where they come from; None: nobody asks."""
    if not _SECRET.match(secret):
        raise Denied(UNKNOWN)
    return await with_digest(engine, _digest(secret), address)


async def with_digest(
    engine: Engine, digest: str, address: str | None = None
) -> tuple[Key, Engine]:
    """The same by the digest of the secret, for whoever has seen the key before."""
    wanted = cell_key(KEYS, digest)
    found = await engine.store.registry.get((wanted,), now=engine.now())
    if not found or not (key := _key(found[0])).works_at(engine.now()):
        raise Denied(UNKNOWN)
    if address is not None and not key.works_from(address):
        raise Denied(UNKNOWN)
    narrowed = engine.narrowed(key.scopes or None, key.rights, key.holder)
    return key, replace(narrowed, key=key.id, until=key.expires_at)


async def still_works(engine: Engine, id_: str, *, expired: bool = False) -> bool:
    """May who began something with this key go on with it? ``expired``: one that merely ended in
    time counts as well."""
    if id_.startswith(TOKEN):
        return True  # it was good when the work began, and nobody can revoke it
    prefix = cell_key(KEYS, id_)
    cells = await engine.store.registry.list(prefix, now=engine.now(), limit=1)
    if not cells:
        return False
    key = _key(cells[0])
    return key.revoked_at is None if expired else key.works_at(engine.now())


class KeyUses:
    """When each key was used last, written down a few seconds late."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seen: dict[str, datetime] = {}
        self._written: dict[str, datetime] = {}

    def note(self, key: Key) -> None:
        now, before = self._engine.now(), self._seen.get(key.id)
        if self._engine.audit is not None and (before is None or abs(now - before) > LOGIN_EVERY):
            self._engine.audit.note(self._engine, "login", "", scopes=key.scopes, who=key.id)
        self._seen[key.id] = now

    async def flush(self) -> None:
        """Once a minute for a key is enough."""
        for id_, at in list(self._seen.items()):
            if id_ in self._written and abs(at - self._written[id_]) < USES_EVERY:
                continue
            name, now = cell_key(USES, id_), self._engine.now()
            known = await self._engine.store.registry.get((name,), now=now)
            cell = Cell(key=name, value=at.isoformat(), version=known[0].version if known else 0)
            with suppress(Conflict, Unavailable):  # another process saw it too, or later
                await self._engine.store.registry.put(cell, now=now)
                self._written[id_] = at


async def any_key_was_made(engine: Engine) -> bool:
    """Until somebody makes a key, only this machine may connect, and needs none."""
    prefix = cell_key(KEYS, "")
    return bool(await engine.store.registry.list(prefix, now=engine.now(), limit=1))


async def any_key_works(engine: Engine) -> bool:
    """Is there a key with which anybody could come in?"""
    return any(_key(cell).works_at(engine.now()) for cell in await _cells(engine, KEYS))


async def carry_identity(engine: Engine, current: Store) -> tuple[str, ...]:
    """Who may connect is a question of today: keys and devices of another store of the same
    memories are as they are there. What is worth telling of it."""
    told: list[str] = []
    for kind in (KEYS, DEVICES):
        known = {cell.key: cell for cell in await _cells(engine, kind)}
        changed = 0
        for cell in await _cells_of(current, kind, engine.now()):
            ours = known.get(cell.key)
            if ours is None or ours.value != cell.value:
                await _put(engine, replace(cell, version=ours.version if ours else 0))
                changed += 1
        if changed:
            told.append(f"{changed} {kind}s are as they were before, not as in the backup")
    return tuple(told)


async def map_device(engine: Engine, device: str, scope: str, *, actor: str = "") -> Device:
    """What this device hears belongs to that scope from now on. A name is one of the scope's root:
    what other tenants call their devices is nobody's concern. Conflict: somebody else who may do
    so maps it at this moment."""
    engine.allow("admin")
    mapped = Device(id=clean_name(device, "the device"), scope=engine.write_scope(scope))
    async with _alone_with(engine, mapped.id):
        await _map(engine, mapped, actor)
    _audited(engine, "map_device", (mapped.scope,), mapped.id)
    return mapped


async def _map(engine: Engine, mapped: Device, actor: str) -> None:
    key = cell_key(DEVICES, root_of(mapped.scope), mapped.id)
    known = {cell.key: cell for cell in await _named_device(engine, mapped.id)}
    own = known.pop(key, None)
    if own and not engine.may_change(_scope_in(own)):
        raise Denied(f"device {mapped.id!r} cannot be mapped here; give it another name")
    value = {"scope": mapped.scope, "mapped_by": actor}
    await _put(engine, Cell(key=key, value=value, version=own.version if own else 0))
    for other in known.values():  # last: who is stopped before leaves it mapped twice, not nowhere
        if engine.may_change(_scope_in(other)):  # it was somebody else's, or an older program's
            await _put(engine, replace(other, expires_at=engine.now()))


@asynccontextmanager
async def _alone_with(engine: Engine, device: str) -> AsyncIterator[None]:
    """Moving a device from one root to another changes two cells, so two who reach the same roots
    take turns. Who reaches one root changes one cell, and its version is enough. Those who reach
    other roots are never waited for: a name that is busy would be one that they use."""
    roots = sorted(set(map(root_of, engine.bound)))
    if len(roots) == 1:
        yield
        return
    until = engine.now() + MOVE_LASTS
    name = cell_key(MOVES, _digest("\n".join(roots)), device)
    known = await engine.store.registry.get((name,), now=engine.now())
    # One that lasts longer than any does was taken by a clock that was wrong.
    wrong = [one.version for one in known if one.expires_at and one.expires_at - until > MOVE_LASTS]
    cell = Cell(key=name, value=engine.key, expires_at=until, version=max(wrong, default=0))
    held = await _put(engine, cell)
    try:
        yield
    finally:
        with suppress(Conflict, Unavailable):  # it runs out by itself
            await _put(engine, replace(held, expires_at=engine.now()))


async def list_devices(engine: Engine) -> tuple[Device, ...]:
    engine.allow("admin")
    devices = [
        Device(id=_device_name(cell), scope=_scope_in(cell))
        for cell in await _cells(engine, DEVICES)
    ]
    return tuple(device for device in devices if engine.may_change(device.scope))


async def scope_of_device(engine: Engine, device: str) -> str:
    """Whose device it is. One that nobody mapped, or that somebody else owns, is not found."""
    cells = await _named_device(engine, clean_name(device, "the device"))
    scopes = {_scope_in(cell) for cell in cells if engine.may_change(_scope_in(cell))}
    if len(scopes) > 1:
        raise Invalid(f"device {device!r} is one of several roots; use a key of one of them")
    if not scopes:
        raise NotFound(f"device {device!r} belongs to nobody here; map it to a scope first")
    return parse_scope(scopes.pop())


async def _named_device(engine: Engine, device: str) -> list[Cell]:
    """Cells of this name: of the roots that the handle is bound to, or of all. Older programs had
    one for the whole store."""
    roots = dict.fromkeys(map(root_of, engine.bound))
    if not roots:
        return [cell for cell in await _cells(engine, DEVICES) if _device_name(cell) == device]
    wanted = [cell_key(DEVICES, root, device) for root in roots]
    known = await engine.store.registry.get((*wanted, cell_key(DEVICES, device)), now=engine.now())
    return [cell for cell in known if root_of(_scope_in(cell)) in roots]


def _device_name(device: Cell) -> str:
    """The last part of its key; the one before is its root, if it has one."""
    return device.key.rpartition("\t")[2]


def _scope_in(device: Cell) -> str:
    return str(device.value["scope"])


def _networks(addresses: Iterable[str]) -> tuple[str, ...]:
    given = [addresses] if isinstance(addresses, str) else list(addresses)
    if len(given) > ADDRESSES_MAX:
        raise Invalid(f"a key has at most {ADDRESSES_MAX} addresses")
    try:
        return tuple(dict.fromkeys(str(ip_network(one, strict=False)) for one in given))
    except (ValueError, TypeError):
        raise Invalid(
            'an address is one such as "10.1.2.3", or a range such as "10.0.0.0/8"'
        ) from None


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
        "holder": key.holder,
        "parent": key.parent,
        "succeeds": key.succeeds,
        "addresses": list(key.addresses),
        "audience": key.audience,
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
        rights=_rights(value),
        created_at=datetime.fromisoformat(value["created_at"]),
        expires_at=moments["expires_at"],
        revoked_at=moments["revoked_at"],
        holder=value.get("holder", "person"),
        parent=value.get("parent", ""),
        succeeds=value.get("succeeds", ""),
        addresses=tuple(value.get("addresses", ())),
        audience=value.get("audience", ""),
    )


def _rights(value: Mapping[str, Any]) -> tuple[Right, ...]:
    """A key from before there were holders: its admin could do everything, others lose what has
    a right of its own by now."""
    if "holder" not in value and "admin" in value["rights"]:
        return tuple(sorted(ALL_RIGHTS))
    return tuple(right for right in value["rights"] if right in ALL_RIGHTS)


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


async def _put(engine: Engine, cell: Cell) -> Cell:
    try:
        return await engine.store.registry.put(cell, now=engine.now())
    except Conflict:
        kind = cell.key.split("\t")[0]
        raise Conflict(f"the {kind} was changed meanwhile; try again", kind="cell") from None
