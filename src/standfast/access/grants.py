"""What people allow programs to do for them: OAuth 2.1 as the specification of MCP wants it.

A program registers, a person with a key says what it may reach, and the program trades the code it
gets for a key of an hour and a word to renew it with. Everything is bound: the code to the program,
its address and the secret behind its challenge, the keys to the person's key, to scopes and rights,
and to the one address they were asked for. A code or a word that comes a second time was stolen
from somebody: the whole grant ends.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from standfast import compat
from standfast.access import keys
from standfast.access.keys import Key
from standfast.access.rights import AGENT_RIGHTS
from standfast.engine import Engine
from standfast.errors import Conflict, Denied, Invalid, NotFound, StandfastError
from standfast.ports import Cell, cell_key
from standfast.types import Right
from standfast.types.frozen import frozen

CLIENTS, CONSENTS, CODES, GRANTS = compat.OAUTH_CELLS
RENEWAL = compat.RENEWAL_PREFIX
KEY_LIFE = timedelta(hours=1)
CODE_LIFE = timedelta(minutes=2)
CONSENT_LIFE = timedelta(minutes=10)
GRANT_LIFE = timedelta(days=30)
CLIENT_LIFE = timedelta(days=90)
CLIENT_LIFE_UNUSED = timedelta(days=1)  # anybody may register: what nobody agreed to does not stay
CLIENTS_MAX = 1_000
REDIRECTS_MAX = 10
NAME_LENGTH_MAX = 80
ADDRESS_LENGTH_MAX = 2_000
DEFAULT_RIGHTS: tuple[Right, ...] = ("read", "write")
LOOPBACK = ("127.0.0.1", "::1", "localhost")
# Programs that are called back through the system, by a scheme of their own.
OWN_SCHEMES = ("cursor", "vscode", "vscode-insiders", "windsurf", "zed")

ENDED: dict[str, Any] = {}  # in the place of a grant that ended before it began

ANSWERED = "this took too long, or was answered before; go back to the program"

_CLIENT = re.compile(r"[0-9a-f]{32}\Z")
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}\Z")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}\Z")
_RENEWAL = re.compile(rf"{RENEWAL}([0-9a-f]{{16}})([0-9a-f]{{64}})\Z")


class GrantError(StandfastError):
    """Refused in the words of RFC 6749: ``code`` is one of its errors."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@frozen
class OAuthClient:
    """A program that asks people for access."""

    id: str
    name: str
    redirects: tuple[str, ...]

    def may_be_called_at(self, address: str) -> bool:
        """One of its own addresses; on this machine at any port, which a program learns when it
        starts."""
        return any(_same_place(address, own) for own in self.redirects)


@frozen
class AccessWish:
    """What a program asks a person for."""

    client: OAuthClient
    redirect: str
    challenge: str
    rights: tuple[Right, ...]
    audience: str
    state: str = ""


@frozen
class Issued:
    """A key, and the word that brings the next one."""

    key: Key
    secret: str
    renewal: str


# Programs


async def register(engine: Engine, told: Mapping[str, Any]) -> OAuthClient:
    """A new program. Its name is its own claim, and shown as one."""
    addresses = told.get("redirect_uris")
    if not isinstance(addresses, list) or not 0 < len(addresses) <= REDIRECTS_MAX:
        raise GrantError("invalid_redirect_uri", f"redirect_uris takes 1 to {REDIRECTS_MAX}")
    for address in addresses:
        _check_redirect(address)
    await _make_room(engine)
    client = OAuthClient(
        id=engine.new_secret()[:32],
        name=_plain_name(told.get("client_name")),
        redirects=tuple(dict.fromkeys(addresses)),
    )
    value = {"name": client.name, "redirects": list(client.redirects)}
    await _put(engine, Cell(key=cell_key(CLIENTS, client.id), value=value), CLIENT_LIFE_UNUSED)
    return client


async def _make_room(engine: Engine) -> None:
    """Where the places are taken, who registered first and was never allowed anything goes: a
    stranger who registers without end must not keep out the programs that people use."""
    prefix = cell_key(CLIENTS, "")
    known = await engine.store.registry.list(prefix, now=engine.now(), limit=CLIENTS_MAX)
    if len(known) < CLIENTS_MAX:
        return
    unused = [(cell.expires_at or engine.now(), cell.key) for cell in known if not _is_used(cell)]
    if not unused:
        raise GrantError("temporarily_unavailable", "too many programs are registered here")
    oldest = min(unused)[1]
    await _remove(engine, next(cell for cell in known if cell.key == oldest))


def _is_used(client: Cell) -> bool:
    return bool(client.value.get("used"))


async def client_named(engine: Engine, id_: str) -> OAuthClient:
    cell = await _cell(engine, CLIENTS, id_) if _CLIENT.match(id_) else None
    if cell is None:
        raise GrantError("invalid_client", "this program is not registered here; register again")
    return OAuthClient(id=id_, name=cell.value["name"], redirects=tuple(cell.value["redirects"]))


def _plain_name(name: object) -> str:
    text = name if isinstance(name, str) else ""
    seen = "".join(c for c in text if c.isprintable()).strip()
    return seen[:NAME_LENGTH_MAX] or "a program without a name"


def _check_redirect(address: object) -> None:
    wrong = GrantError(
        "invalid_redirect_uri",
        "an address to come back to is https, or http on this machine, without a fragment",
    )
    if not isinstance(address, str) or not 0 < len(address) <= ADDRESS_LENGTH_MAX:
        raise wrong
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise wrong from None
    if not _is_plain(address) or parts.fragment:
        raise wrong
    web = parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)
    own = parts.scheme in OWN_SCHEMES or "." in parts.scheme
    if not (web and host and not parts.username) and not own:
        raise wrong


def _is_plain(address: str) -> bool:
    """Without what a reader of addresses passes over."""
    return address.isascii() and address.isprintable() and " " not in address


def _same_place(address: str, own: str) -> bool:
    if address == own:
        return True
    if not _is_plain(address):
        return False
    try:
        one, other = urlsplit(address), urlsplit(own)
        _ = one.port
    except ValueError:
        return False
    return (
        one.scheme == other.scheme == "http"
        and one.hostname == other.hostname
        and one.hostname in LOOPBACK
        and "@" not in one.netloc
        and (one.path, one.query, one.fragment) == (other.path, other.query, other.fragment)
    )


# What a person agrees to


def checked_rights(text: str) -> tuple[Right, ...]:
    """The rights that a program asks for by the names of scopes in OAuth; none: the usual ones."""
    named = [name for name in text.split() if name != "offline_access"]
    if unknown := [name for name in named if name not in AGENT_RIGHTS]:
        raise GrantError(
            "invalid_scope", f"there is no scope {unknown[0][:40]!r}; there is {_listed()}"
        )
    return tuple(right for right in AGENT_RIGHTS if right in (named or DEFAULT_RIGHTS))


def _listed() -> str:
    return ", ".join(AGENT_RIGHTS)


def check_challenge(challenge: str, method: str) -> None:
    if method != "S256" or not _CHALLENGE.match(challenge):
        raise GrantError("invalid_request", "a code_challenge with the method S256 is needed")


async def ask(engine: Engine, wish: AccessWish, secret: str, address: str) -> tuple[str, Key]:
    """A ticket for the person's answer, and what their key could give. Denied: the key is none,
    or no person's."""
    key, _ = await keys.with_key(engine, secret, address)
    if key.holder != "person" or key.audience:
        raise Denied(
            "only a person may allow this: use a person's key, not an agent's or a service's"
        )
    ticket = engine.new_secret()
    value = {
        "client": wish.client.id,
        "redirect": wish.redirect,
        "challenge": wish.challenge,
        "rights": list(wish.rights),
        "audience": wish.audience,
        "state": wish.state,
        "person": _digest(secret),
    }
    await _put(engine, Cell(key=cell_key(CONSENTS, _digest(ticket)), value=value), CONSENT_LIFE)
    return ticket, key


async def answer(
    engine: Engine, ticket: str, *, rights: Iterable[str], scopes: Sequence[str]
) -> tuple[AccessWish, str]:
    """What was asked for, and a code if the person gave anything; "" if not. An answer counts
    once."""
    cell = await _cell(engine, CONSENTS, _digest(ticket))
    if cell is None:
        raise Invalid(ANSWERED)
    asked = cell.value
    client = await client_named(engine, asked["client"])
    wish = AccessWish(
        client=client,
        redirect=asked["redirect"],
        challenge=asked["challenge"],
        rights=tuple(asked["rights"]),
        audience=asked["audience"],
        state=asked["state"],
    )
    given = [right for right in wish.rights if right in set(rights)]
    if given and scopes:
        _, person = await keys.with_digest(engine, asked["person"])
        for right in given:
            person.allow(right)
        reached = [person.write_scope(scope) for scope in scopes]
    if not await _remove(engine, cell):
        raise Invalid(ANSWERED)
    if not given or not scopes:
        return wish, ""
    code = engine.new_secret()
    until = (engine.now() + CODE_LIFE).isoformat()
    value = {**asked, "rights": given, "scopes": reached, "grant": "", "until": until}
    # Kept as long as what it brings, to know it when it comes again.
    await _put(engine, Cell(key=cell_key(CODES, _digest(code)), value=value), GRANT_LIFE)
    return wish, code


# Codes and words become keys


async def redeem(
    engine: Engine, *, code: str, client: str, redirect: str, verifier: str, audience: str
) -> Issued:
    cell = await _cell(engine, CODES, _digest(code))
    if cell is None or cell.value["client"] != client:
        raise GrantError("invalid_grant", "this code is not known, or is another program's")
    asked = cell.value
    if asked["grant"]:
        await end(engine, asked["grant"])
        raise GrantError("invalid_grant", "this code was used before; its keys work no more")
    late = asked["until"] <= engine.now().isoformat()
    proof = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    proven = _VERIFIER.match(verifier) and hmac.compare_digest(proof, asked["challenge"])
    fits = asked["redirect"] == redirect and audience in ("", asked["audience"])
    if late or not proven or not fits:
        await _remove(engine, cell)  # who guesses has one try
        raise GrantError(
            "invalid_grant", "this code has expired, or does not belong to this request"
        )
    grant = engine.new_secret()[:16]
    try:
        await _put(engine, replace(cell, value={**asked, "grant": grant}), GRANT_LIFE)
    except Conflict:
        won = await _cell(engine, CODES, _digest(code))
        if won is not None and won.value["grant"]:  # two at once: nobody knows who is the thief
            await end(engine, won.value["grant"])
        raise GrantError("invalid_grant", "this code was used before") from None
    return await _issue(engine, grant, {**asked, "key": "", "renewal": ""}, version=0)


async def renew(engine: Engine, *, renewal: str, client: str, rights: str = "") -> Issued:
    """The next key for the word; the key before works no more, and the word neither."""
    found = _RENEWAL.match(renewal)
    cell = await _cell(engine, GRANTS, found[1]) if found else None
    if found is None or cell is None or cell.value.get("client") != client:
        raise GrantError("invalid_grant", "this grant is not known, has ended or was revoked")
    if not hmac.compare_digest(cell.value["renewal"], _digest(renewal)):
        await end(engine, found[1])
        raise GrantError("invalid_grant", "this word was used before; the grant has ended")
    value = cell.value
    if not await keys.still_works(engine, value["key"], expired=True):
        await end(engine, found[1])
        raise GrantError("invalid_grant", "access was taken back")
    if rights:
        wanted = checked_rights(rights)
        if beyond := [right for right in wanted if right not in value["rights"]]:
            raise GrantError("invalid_scope", f"{beyond[0]} was not granted")
    issued = await _issue(engine, found[1], value, cell.version, only=rights)
    with suppress(NotFound):
        await keys.revoke_key(engine, value["key"], actor="renewed")
    return issued


async def _issue(
    engine: Engine, grant: str, value: Mapping[str, Any], version: int, only: str = ""
) -> Issued:
    client = await client_named(engine, value["client"])
    try:
        _, person = await keys.with_digest(engine, value["person"])
        key, secret = await keys.lend_key(
            person,
            name=client.name,
            scopes=value["scopes"],
            rights=[r for r in value["rights"] if not only or r in only.split()],
            expires_at=engine.now() + KEY_LIFE,
            audience=value["audience"],
            kept_until=engine.now() + GRANT_LIFE + KEY_LIFE,
        )
    except (Denied, Invalid):
        raise GrantError("invalid_grant", "who agreed to this may no longer do it") from None
    renewal = f"{RENEWAL}{grant}{engine.new_secret()}"
    told = {name: value[name] for name in ("client", "person", "scopes", "rights", "audience")}
    cell = Cell(
        key=cell_key(GRANTS, grant),
        value={**told, "key": key.id, "renewal": _digest(renewal)},
        version=version,
    )
    try:
        await _put(engine, cell, GRANT_LIFE)
    except Conflict:
        await keys.revoke_key(engine, key.id, actor="renewed twice")
        raise GrantError("invalid_grant", "this word was used before") from None
    known = await _cell(engine, CLIENTS, client.id)
    if known is not None:
        with suppress(Conflict):
            used = replace(known, value={**known.value, "used": True})
            await _put(engine, used, CLIENT_LIFE)  # a program in use is not forgotten
    return Issued(key=key, secret=secret, renewal=renewal)


async def give_up(engine: Engine, token: str, client: str) -> None:
    """A key or a word works no more. One that is not known is given up already."""
    if found := _RENEWAL.match(token):
        cell = await _cell(engine, GRANTS, found[1])
        if cell is not None and cell.value.get("client") == client:
            await end(engine, found[1])
        return
    with suppress(Denied, NotFound):
        key, _ = await keys.with_key(engine, token)
        if key.audience:  # a person's own key is not a program's to give up
            await keys.revoke_key(engine, key.id, actor="given up")


async def end(engine: Engine, grant: str) -> None:
    """All that came of a grant works no more, nor what is on its way: who is first takes the place
    of a grant that is not there yet, and who would write it finds that out."""
    cell = await _cell(engine, GRANTS, grant)
    if cell is None:
        ended = Cell(key=cell_key(GRANTS, grant), value=ENDED)
        with suppress(Conflict):
            await _put(engine, ended, CODE_LIFE)
            return
        cell = await _cell(engine, GRANTS, grant)
    if cell is None or cell.value == ENDED:
        return
    with suppress(NotFound):
        await keys.revoke_key(engine, cell.value["key"], actor="grant ended")
    await _remove(engine, cell)


# Cells


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def _cell(engine: Engine, kind: str, name: str) -> Cell | None:
    found = await engine.store.registry.get((cell_key(kind, name),), now=engine.now())
    return found[0] if found else None


async def _put(engine: Engine, cell: Cell, life: timedelta) -> None:
    kept = replace(cell, expires_at=engine.now() + life)
    await engine.store.registry.put(kept, now=engine.now())


async def _remove(engine: Engine, cell: Cell) -> bool:
    """A cell that has expired is removed; False: somebody else was first."""
    try:
        await engine.store.registry.put(replace(cell, expires_at=engine.now()), now=engine.now())
    except Conflict:
        return False
    return True
