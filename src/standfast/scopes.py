"""Who a memory belongs to: ``org:acme:agent:cto`` is the pair ``agent:cto`` below ``org:acme``.

The first pair is the root (the tenant). A caller sees the scopes it names and their parents.
Ids are NFC; ``:`` and ``%`` inside an id are percent-encoded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from standfast.errors import Invalid

SYSTEM_ROOT = "system:store"  # the store's own items; no memory lives there
PAIRS_MAX = 8
ID_LENGTH_MAX = 256

_KIND = re.compile(r"[a-z][a-z0-9_-]{0,31}\Z")
_ENCODED = re.compile(r"%(?:25|3A)")


def make_scope(*pairs: tuple[str, str]) -> str:
    """Build a scope from plain ids, encoding what needs it: make_scope(("user", "a:b"))."""
    encoded = (f"{kind}:{id_.replace('%', '%25').replace(':', '%3A')}" for kind, id_ in pairs)
    return parse_scope(":".join(encoded))


def parse_scope(text: str) -> str:
    """The canonical form of a scope, or Invalid with the reason."""
    if not isinstance(text, str) or not text:
        raise Invalid('a scope is text such as "user:ann" or "org:acme:agent:cto"')
    parts = unicodedata.normalize("NFC", text).split(":")
    if len(parts) % 2:
        raise Invalid(
            f"scope {text!r} is not made of kind:id pairs; "
            'write "user:ann", and a colon inside an id as %3A'
        )
    if len(parts) > 2 * PAIRS_MAX:
        raise Invalid(f"scope {text[:80]!r}... has more than {PAIRS_MAX} pairs")
    for kind, id_ in zip(parts[::2], parts[1::2], strict=True):
        if not _KIND.match(kind):
            raise Invalid(
                f"scope {text[:200]!r}: {kind[:40]!r} is no kind; "
                "use lower-case letters, digits, _ and -"
            )
        _check_id(id_, text)
    if parts[0] == "system":
        raise Invalid(f"scope {text!r}: the kind 'system' is reserved")
    return ":".join(parts)


def _check_id(id_: str, text: str) -> None:
    if not id_.strip():
        raise Invalid(f"scope {text[:200]!r} has an empty id")
    if len(id_) > ID_LENGTH_MAX:
        raise Invalid(f"scope {text[:80]!r}... has an id longer than {ID_LENGTH_MAX} characters")
    if id_ != id_.strip():
        raise Invalid(f"scope {text[:200]!r} has an id that begins or ends with a blank")
    for character in id_:
        # Control, format (zero-width, direction marks), surrogate, private and unassigned.
        if unicodedata.category(character)[0] == "C" or character in "\u2028\u2029":
            raise Invalid(
                f"scope {text[:200]!r} has an invisible or control character "
                f"(U+{ord(character):04X}) in an id; leave it out"
            )
    if id_.count("%") != len(_ENCODED.findall(id_)):
        raise Invalid(f"scope {text[:200]!r}: write % inside an id as %25 and : as %3A")


def root_of(scope: str) -> str:
    """The tenant a canonical scope belongs to."""
    return ":".join(scope.split(":", 2)[:2])


def parents(scope: str) -> tuple[str, ...]:
    """The scopes above a canonical scope, the root first, itself excluded."""
    parts = scope.split(":")
    return tuple(":".join(parts[:end]) for end in range(2, len(parts), 2))


def visible_from(scopes: Iterable[str]) -> frozenset[str]:
    """The named scopes and everything above them."""
    return frozenset(seen for scope in scopes for seen in (*parents(scope), scope))


def is_within(scope: str, ancestor: str) -> bool:
    """Is it this scope, or below it?"""
    return scope == ancestor or scope.startswith(ancestor + ":")


def is_visible(scope: str, scopes: Iterable[str], *, descend: bool, exact: bool) -> bool:
    """May a query that names ``scopes`` see ``scope``?"""
    for named in scopes:
        if scope == named:
            return True
        if not exact and is_within(named, scope):
            return True
        if descend and is_within(scope, named):
            return True
    return False
