"""One-time codes: how a person's browser gets a key without anybody copying one.

A code is 256 random bits, works once and for ten minutes; the store keeps its SHA-256. What it is
exchanged for works in one browser only: the browser keeps half of the key in a cookie that no
script can read, the page keeps the other half, and neither is of any use by itself.
"""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from datetime import timedelta

from standfast import compat
from standfast.access.keys import PREFIX, Key, create_key
from standfast.engine import Engine
from standfast.errors import Conflict, Denied, Invalid
from standfast.ports import Cell, cell_key
from standfast.types import ALL_RIGHTS, Right

CODES = compat.LOGIN_CODE_CELLS
CODE_LASTS = timedelta(minutes=10)
KEY_LASTS = timedelta(hours=24)
HALF_PREFIX = compat.BROWSER_KEY_PREFIX

_LETTERS = re.compile(r"[A-Za-z0-9_-]{43}\Z")
_USED = (
    "this is no key that works, and no code that is known, unused and younger than ten minutes; "
    "`standfast console` makes one"
)


async def make_code(
    engine: Engine, *, scopes: Iterable[str] = (), rights: Iterable[Right] = ALL_RIGHTS
) -> str:
    """A code for a key with these scopes and rights; without scopes it reaches all of them."""
    engine.allow("admin")
    reached = [engine.write_scope(scope) for scope in scopes]
    granted = sorted(rights)
    if not reached and "admin" not in granted:
        raise Invalid('a code needs a scope such as "user:ann"; only an admin reaches all')
    code = _letters(bytes.fromhex(engine.new_secret()))
    value = {"scopes": reached, "rights": granted}
    until = engine.now() + CODE_LASTS
    name = cell_key(CODES, _digest(code))
    await engine.store.registry.put(Cell(key=name, value=value, expires_at=until), now=engine.now())
    return code


async def redeem(engine: Engine, code: str, *, browser: str) -> tuple[Key, str]:
    """The key that a code stands for, once: what the page keeps of it. ``browser`` is the other
    half, as the cookie has it. Denied says no more than that."""
    name = cell_key(CODES, _digest(code))
    found = await engine.store.registry.get((name,), now=engine.now())
    if not found:
        raise Denied(_USED)
    (cell,) = found
    try:  # whoever takes it away has it: of two at once, one
        gone = Cell(key=name, value=None, expires_at=engine.now(), version=cell.version)
        await engine.store.registry.put(gone, now=engine.now())
    except Conflict:
        raise Denied(_USED) from None
    key, secret = await create_key(
        engine,
        name="console",
        scopes=cell.value["scopes"],
        rights=cell.value["rights"],
        expires_at=engine.now() + KEY_LASTS,
        actor="console",
    )
    return key, HALF_PREFIX + _mixed(secret.removeprefix(PREFIX), browser)


def new_browser(engine: Engine) -> str:
    """A half for a browser that has none."""
    return _letters(bytes.fromhex(engine.new_secret()))


def is_half(text: str) -> bool:
    return bool(_LETTERS.match(text))


def whole_key(half: str, browser: str) -> str:
    """The key of which a page sends one half and its browser the other. Denied: one is none."""
    page = half.removeprefix(HALF_PREFIX)
    if not is_half(page) or not is_half(browser):
        raise Denied("this key belongs to a browser, and this is another one; log in again")
    return PREFIX + _mixed(page, browser)


def _mixed(one: str, other: str) -> str:
    pairs = zip(urlsafe_b64decode(one + "="), urlsafe_b64decode(other + "="), strict=True)
    return _letters(bytes(a ^ b for a, b in pairs))


def _letters(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()
