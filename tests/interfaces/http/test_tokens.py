"""Tokens of an identity provider: what is verified, and what their claims become."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from standfast.access import tokens
from standfast.access.tokens import tokens_from
from standfast.errors import Denied, Invalid
from standfast.settings import Settings
from tests.interfaces.http.conftest import ServeApp, Served

ISSUER, AUDIENCE = "https://id.example", "standfast"
KEY = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))


def jwks(tmp_path: Path) -> str:
    raw = KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    x = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    shared = {"kty": "oct", "kid": "shared", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}
    key = {"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "kid": "one", "x": x}
    file = tmp_path / "jwks.json"
    file.write_text(json.dumps({"keys": [key, shared]}))
    return str(file)


def settings(tmp_path: Path, **more: Any) -> Settings:
    given = {"oidc_issuer": ISSUER, "oidc_audience": AUDIENCE, "oidc_jwks": jwks(tmp_path)}
    return Settings(**{**given, **more})


def token(key: Any = KEY, kid: str = "one", algorithm: str = "EdDSA", **claims: Any) -> str:
    now = int(time.time())
    said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + 600, **claims}
    said = {name: value for name, value in said.items() if value is not None}
    return jwt.encode(said, key, algorithm=algorithm, headers={"kid": kid})


def asked(server: Served, secret: str, **more: str) -> Any:
    import httpx2

    headers = {"Authorization": f"Bearer {secret}", **more}
    return httpx2.get(f"{server.address}/v1/records", headers=headers)


def test_A10_a_token_becomes_its_users_scope_and_no_more(
    serve_app: ServeApp, tmp_path: Path
) -> None:
    import httpx2

    server = serve_app(settings=settings(tmp_path))
    with httpx2.Client(
        base_url=server.address, headers={"Authorization": f"Bearer {token()}"}
    ) as ann:
        assert ann.post("/v1/remember", json={"text": "Ann likes tea"}).status_code == 200
        [record] = ann.get("/v1/records").json()["items"]
        assert record["scope"] == "user:ann"
        assert ann.get("/v1/records", params={"scope": "user:bob"}).status_code == 403
        assert ann.get("/v1/keys").status_code == 403
        assert ann.post("/v1/export", json={}).status_code == 403
    assert asked(server, token(sub="bob")).json()["items"] == []
    import httpx2 as plain

    assert plain.get(f"{server.address}/v1/records").status_code == 401


@pytest.mark.parametrize(
    "bad",
    [
        {"iss": "https://evil.example"}, {"aud": "other"}, {"aud": None}, {"exp": None},
        {"sub": None}, {"sub": ""}, {"sub": True}, {"exp": int(time.time()) - 600},
        {"nbf": int(time.time()) + 86_400}, {"exp": int(time.time()) + 10**7}, {"exp": "soon"},
        {"exp": 10**400}, {"nbf": 10**400},
        {"key": OTHER}, {"kid": "two"}, {"kid": ""},
        {"key": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "kid": "shared", "algorithm": "HS256"},
        {"key": None, "algorithm": "none"},
        {"key": ec.generate_private_key(ec.SECP256R1()), "algorithm": "ES256"},
    ],
    ids=lambda one: "-".join(one),  # not their values: keys and times differ by process
)  # fmt: skip
def test_A10_a_token_that_is_not_right_is_nobodys(
    serve_app: ServeApp, tmp_path: Path, bad: dict[str, Any]
) -> None:
    server = serve_app("dict:", settings=settings(tmp_path))
    good = asked(server, token())
    assert good.status_code == 200
    secret = token(**bad) if bad.get("sub") is not True else _odd_subject()
    # The set has two keys, of which one is never used: a token without a name finds the other.
    assert asked(server, secret).status_code == (200 if bad == {"kid": ""} else 401)


@pytest.mark.parametrize(
    ("known", "twin"), [("K", "\u212a"), ("\u00e9", "e\u0301"), ("\u00c5", "\u212b")]
)
def test_A10_who_is_spelled_alike_is_somebody_else(
    serve_app: ServeApp, tmp_path: Path, known: str, twin: str
) -> None:
    """To the issuer they are two names; a scope had one for both."""
    more = {"oidc_scope": "user={name}"}
    server = serve_app("dict:", settings=settings(tmp_path, **more))
    assert asked(server, token(name=known)).status_code == 200
    assert asked(server, token(name=twin)).status_code == 401


def test_A10_what_has_to_be_understood_and_is_not_is_refused(
    serve_app: ServeApp, tmp_path: Path
) -> None:
    server = serve_app("dict:", settings=settings(tmp_path))
    now = int(time.time())
    said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + 600}
    headers = {"kid": "one", "crit": ["only-for-others"], "only-for-others": True}
    secret = jwt.encode(said, KEY, algorithm="EdDSA", headers=headers)
    assert asked(server, secret).status_code == 401


def _odd_subject() -> str:
    now = int(time.time())
    said = {"iss": ISSUER, "aud": AUDIENCE, "sub": True, "iat": now, "exp": now + 600}
    signed = jwt.api_jws.encode(
        json.dumps(said).encode(), KEY, algorithm="EdDSA", headers={"kid": "one"}
    )
    return str(signed)


def test_A10_claims_say_the_scope_and_narrow_the_rights(
    serve_app: ServeApp, tmp_path: Path
) -> None:
    chosen = settings(
        tmp_path,
        oidc_scope="org={org} user={sub}",
        oidc_rights="read write",
        oidc_rights_claim="can",
        oidc_holder="agent",
    )
    server = serve_app("dict:", settings=chosen)
    one = token(org="acme", can=["write", "admin"])
    import httpx2

    headers = {"Authorization": f"Bearer {one}"}
    body = {"text": "Acme pays Eve", "source": "user"}
    done = httpx2.post(f"{server.address}/v1/remember", json=body, headers=headers)
    assert done.status_code == 200
    [record] = server.run(server.app.state.memory.records(scope="org:acme:user:ann")).items
    assert (record.source, record.trust) == ("assistant", 2)
    assert asked(server, one).status_code == 403
    assert asked(server, token(org="acme", can="read")).status_code == 200
    assert asked(server, token()).status_code == 401


@pytest.mark.parametrize(
    "wrong",
    [
        {"oidc_audience": ""}, {"oidc_jwks": ""}, {"oidc_jwks": "http://id.example/keys"},
        {"oidc_scope": "user:ann"}, {"oidc_scope": "user=ann"}, {"oidc_rights": "fly"},
        {"oidc_holder": "ghost"}, {"oidc_jwks": "ftp://id.example/keys"},
        {"oidc_scope": "user={org}-{sub}"},
    ],
    ids=str,
)  # fmt: skip
def test_A10_wrong_settings_stop_the_start(tmp_path: Path, wrong: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        tokens_from(settings(tmp_path, **wrong))


@pytest.mark.parametrize(
    "header", [b"[" * 11_000, b'{"kid":' * 1_900, b"null", b"\xff\xfe"], ids=len
)
def test_A10_a_header_that_nobody_can_read_is_nobodys(
    serve_app: ServeApp, tmp_path: Path, header: bytes
) -> None:
    server = serve_app("dict:", settings=settings(tmp_path))
    parts = (base64.urlsafe_b64encode(one).decode().rstrip("=") for one in (header, b"{}", b"x"))
    assert asked(server, ".".join(parts)).status_code == 401


@contextmanager
def issuer(answers: list[bytes], pause: float = 0.0) -> Iterator[str]:
    """An address that gives these answers, one after the other, piece by piece."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for answer in answers:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(4096)
                    try:
                        for start in range(0, len(answer), 400 if pause else len(answer)):
                            connection.sendall(answer[start : start + 400 if pause else None])
                            time.sleep(pause)
                    except OSError:
                        return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/keys"


def answer(body: bytes, status: str = "200 OK", *more: str) -> bytes:
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *more)
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def test_A10_keys_are_not_taken_from_where_the_issuer_did_not_name(tmp_path: Path) -> None:
    """A redirect may lead from https to anybody on the way."""
    keys = Path(jwks(tmp_path)).read_bytes()
    with (
        issuer([answer(keys)]) as evil,
        issuer([answer(b"", "302 x", f"Location: {evil}")]) as here,
    ):
        assert tokens._read_keys(here) == {}
        assert list(tokens._read_keys(evil)) == ["one"], "nobody had asked there"


@pytest.mark.parametrize("body", [b" " * (2 << 20) + b"{}", b"[" * 100_000, b"[]", b"1", b"{"])
def test_A10_a_set_of_keys_that_is_none_is_no_set(body: bytes) -> None:
    with issuer([answer(body)]) as here:
        assert tokens._read_keys(here) == {}


def test_A10_who_names_an_unknown_key_keeps_nobody_else_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The set is asked for anew, and its issuer answers drop by drop."""
    monkeypatch.setattr(tokens, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(tokens, "LOOK_AGAIN_SECONDS", 0.0)
    keys = Path(jwks(tmp_path)).read_bytes()
    slow = answer(keys + b" " * 40_000)

    async def main(here: str) -> tuple[float, float]:
        chosen = tokens_from(settings(tmp_path))
        assert chosen is not None
        await chosen._key_of("one")
        chosen.jwks = here
        begun = time.monotonic()
        unknown = asyncio.create_task(chosen._key_of("nobody"))
        await asyncio.sleep(0.05)
        await chosen._key_of("one")
        waited = time.monotonic() - begun
        with pytest.raises(Denied):
            await unknown
        return waited, time.monotonic() - begun

    with issuer([slow], pause=0.1) as here:
        waited, all_of_it = asyncio.run(main(here))
    assert waited < 0.4
    assert all_of_it < 5, "a set that comes for ten seconds is not waited for"


def test_A10_keys_that_cannot_be_read_again_end_with_the_longest_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = tokens_from(settings(tmp_path))
    assert chosen is not None
    asyncio.run(chosen._key_of("one"))
    Path(chosen.jwks).unlink()
    later = time.monotonic() + tokens.KEYS_SECONDS + 1
    monkeypatch.setattr("standfast.access.tokens.time.monotonic", lambda: later)
    assert asyncio.run(chosen._key_of("one"))
    later += tokens.LIFE_SECONDS_MAX
    with pytest.raises(Denied):
        asyncio.run(chosen._key_of("one"))
