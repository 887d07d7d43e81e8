"""Tokens of an identity provider (OIDC): verified here, and turned into what a key would be.

The issuer, the audience, the times and the signature are checked, with keys that the settings
name. Claims say which scope the holder has; nothing in a token gives more rights than the settings
allow. Nobody can revoke a token here: let the issuer make them short.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any
from unicodedata import is_normalized
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from standfast.access.keys import TOKEN, UNKNOWN, Key
from standfast.access.rights import rights_in
from standfast.engine import Engine
from standfast.errors import Denied, Incompatible, Invalid, install_command
from standfast.scopes import make_scope
from standfast.settings import Settings
from standfast.text.inputs import one_of
from standfast.types import Holder, Right

# Signatures that only the issuer can make. None of these is checked with a shared secret.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
LEEWAY_SECONDS = 30
KEYS_SECONDS = 600.0
LOOK_AGAIN_SECONDS = 30.0
ANSWER_SECONDS = 5.0  # between two pieces of an answer, and for all of it
PIECE_BYTES = 1 << 16
KEYS_BYTES_MAX = 1 << 20
TOKEN_LENGTH_MAX = 16_000
LIFE_SECONDS_MAX = 24 * 3600
MOMENT_MAX = 1 << 53  # seconds; a number of a token may have any length

_SHAPE = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\Z")
_PAIR = re.compile(r"([a-z][a-z0-9_-]*)=(.+)\Z")
_CLAIM = re.compile(r"\{([A-Za-z0-9_.:/-]+)\}")


@dataclass(slots=True, kw_only=True)
class Tokens:
    """How tokens are checked, and what they become."""

    issuer: str
    audience: str
    jwks: str
    pairs: tuple[tuple[str, str], ...]
    rights: tuple[Right, ...]
    rights_claim: str
    holder: Holder
    _keys: dict[str, Any] = field(default_factory=dict)
    _read_at: float = float("-inf")  # when the set was asked for
    _held_at: float = float("-inf")  # when it was there
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def is_one(self, secret: str) -> bool:
        return len(secret) <= TOKEN_LENGTH_MAX and _SHAPE.match(secret) is not None

    async def with_token(self, engine: Engine, token: str) -> tuple[Key, Engine]:
        """The token as a key, and the engine as its holder may use it. Denied says no more."""
        claims = await self._claims(token, engine.now())
        try:
            key = self._key(claims)
        except (Invalid, KeyError, ValueError, OverflowError):
            raise Denied(UNKNOWN) from None
        narrowed = engine.narrowed(key.scopes, key.rights, key.holder)
        return key, replace(narrowed, key=key.id, until=key.expires_at)

    async def _claims(self, token: str, now: datetime) -> Mapping[str, Any]:
        import jwt

        try:
            header = jwt.get_unverified_header(token)
            key = await self._key_of(str(header.get("kid") or ""))
            if header.get("alg") not in ALGORITHMS or key.algorithm_name != header["alg"]:
                raise Denied(UNKNOWN)
            found: Mapping[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[header["alg"]],
                issuer=self.issuer,
                audience=self.audience,
                options={
                    "require": ["exp", "iss", "aud", "sub"],
                    "verify_exp": False,  # our own clock decides, below
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, RecursionError):
            raise Denied(UNKNOWN) from None
        _check_times(found, now.timestamp())
        return found

    async def _key_of(self, kid: str) -> Any:
        """A key that is not known yet may be new: then the set is read again, now and then. Who
        comes with a known one does not wait for that: anybody can name a key that there is not."""
        key = self._named(kid)
        if key is None or time.monotonic() - self._read_at > KEYS_SECONDS:
            async with self._lock:
                await self._look_again(kid)
                key = self._named(kid)
        if key is None:
            raise Denied(UNKNOWN)
        return key

    def _named(self, kid: str) -> Any:
        if not kid and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(kid)

    async def _look_again(self, kid: str) -> None:
        """Where the set cannot be read, the one before holds for as long as any token may live."""
        age = time.monotonic() - self._read_at
        if age <= (LOOK_AGAIN_SECONDS if self._named(kid) is None else KEYS_SECONDS):
            return
        self._read_at = time.monotonic()
        if found := await asyncio.to_thread(_read_keys, self.jwks):
            self._keys, self._held_at = found, time.monotonic()
        elif time.monotonic() - self._held_at > LIFE_SECONDS_MAX:
            self._keys = {}

    def _key(self, claims: Mapping[str, Any]) -> Key:
        scope = make_scope(*((name, _filled(value, claims)) for name, value in self.pairs))
        who = f"{claims['iss']}\0{claims['sub']}"
        return Key(
            id=TOKEN + hashlib.sha256(who.encode()).hexdigest()[:12],
            name="",
            scopes=(scope,),
            rights=self._rights(claims),
            created_at=datetime.fromtimestamp(claims.get("iat") or 0, UTC),
            expires_at=datetime.fromtimestamp(claims["exp"], UTC),
            holder=self.holder,
        )

    def _rights(self, claims: Mapping[str, Any]) -> tuple[Right, ...]:
        if not self.rights_claim:
            return self.rights
        said = claims.get(self.rights_claim) or ()
        named = said.split() if isinstance(said, str) else list(said)
        return tuple(right for right in self.rights if right in named)


def tokens_from(settings: Settings) -> Tokens | None:
    """None unless an issuer is named. Invalid: something that it needs is missing or wrong."""
    if not settings.oidc_issuer:
        return None
    try:
        import jwt  # noqa: F401  the start fails, and not the first request
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: F401
    except ModuleNotFoundError:
        raise Incompatible(
            f"STANDFAST_OIDC_ISSUER needs PyJWT: {install_command('oidc')}"
        ) from None
    for name in ("oidc_audience", "oidc_jwks"):
        if not getattr(settings, name):
            raise Invalid(f"STANDFAST_OIDC_ISSUER needs STANDFAST_{name.upper()} too")
    _check_place(settings.oidc_jwks)
    return Tokens(
        issuer=settings.oidc_issuer,
        audience=settings.oidc_audience,
        jwks=settings.oidc_jwks,
        pairs=_pairs(settings.oidc_scope),
        rights=rights_in(settings.oidc_rights, "STANDFAST_OIDC_RIGHTS"),
        rights_claim=settings.oidc_rights_claim,
        holder=one_of(settings.oidc_holder, Holder, "STANDFAST_OIDC_HOLDER"),
    )


def _pairs(template: str) -> tuple[tuple[str, str], ...]:
    """ "org={org} user={sub}": the pairs of a scope, with claims in braces."""
    found = [_PAIR.match(part) for part in template.split()]
    if not found or not all(found) or not _CLAIM.search(template):
        raise Invalid(f"STANDFAST_OIDC_SCOPE={template!r}: write pairs such as user={{sub}}")
    if any(len(_CLAIM.findall(match[2])) > 1 for match in found if match):
        raise Invalid(  # "a-b" and "c" would be the same as "a" and "b-c"
            f"STANDFAST_OIDC_SCOPE={template!r}: one claim for each pair, such as org={{org}} "
            "user={sub}"
        )
    return tuple((match[1], match[2]) for match in found if match)


def _filled(template: str, claims: Mapping[str, Any]) -> str:
    def claim(match: re.Match[str]) -> str:
        value = claims[match[1]]
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            raise Invalid(f"the claim {match[1]!r} is no name")
        # Scopes have one spelling of each letter: to the issuer another one is somebody else.
        if not is_normalized("NFC", str(value)):
            raise Invalid(f"the claim {match[1]!r} is spelled in another way than a scope")
        return str(value)

    return _CLAIM.sub(claim, template)


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    def moment(name: str, default: float) -> float:
        value = claims.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > MOMENT_MAX:
            raise Denied(UNKNOWN)
        return float(value)

    begins = max(moment("nbf", 0), moment("iat", 0))
    ends = moment("exp", 0)
    if not begins - LEEWAY_SECONDS <= now < ends + LEEWAY_SECONDS:
        raise Denied(UNKNOWN)
    if ends - now > LIFE_SECONDS_MAX:  # it cannot be revoked, so it must not live long
        raise Denied(UNKNOWN)


def _check_place(jwks: str) -> None:
    parts = urlsplit(jwks)
    here = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if parts.scheme == "http" and not here:
        raise Invalid("STANDFAST_OIDC_JWKS must be https: whoever changes the keys is anybody")
    if parts.scheme not in ("", "http", "https"):
        raise Invalid("STANDFAST_OIDC_JWKS is a file or an https address")


class _Stay(HTTPRedirectHandler):
    """Whoever can send us elsewhere could send us to their own keys."""

    def redirect_request(self, *_: Any, **__: Any) -> Request | None:
        return None


def _read_keys(jwks: str) -> dict[str, Any]:
    """By their ids; {} if they cannot be read now."""
    import jwt

    try:
        if urlsplit(jwks).scheme:
            raw = _fetched(jwks)
        else:
            raw = Path(jwks).expanduser().read_bytes()[:KEYS_BYTES_MAX]
        listed = jwt.PyJWKSet.from_dict(json.loads(raw)).keys
    except (OSError, HTTPException, ValueError, TypeError, AttributeError, RecursionError):
        return {}
    except jwt.PyJWTError:
        return {}
    return {str(one.key_id or ""): one for one in listed if one.algorithm_name in ALGORITHMS}


def _fetched(address: str) -> bytes:
    """The whole answer; OSError if it moved, is too long or comes too slowly."""
    ends = time.monotonic() + ANSWER_SECONDS
    raw = b""
    with build_opener(_Stay).open(address, timeout=ANSWER_SECONDS) as answer:
        while piece := answer.read1(PIECE_BYTES):
            raw += piece
            if len(raw) > KEYS_BYTES_MAX or time.monotonic() > ends:
                raise OSError("the set of keys is too long, or comes too slowly")
    return raw
