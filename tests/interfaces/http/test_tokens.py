"""Tokens of an identity provider: what is verified, and what their claims become."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from recollect.access.tokens import tokens_from
from recollect.errors import Invalid
from recollect.settings import Settings
from tests.interfaces.http.conftest import ServeApp, Served

ISSUER, AUDIENCE = "https://id.example", "recollect"
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
    ],
    ids=str,
)  # fmt: skip
def test_A10_wrong_settings_stop_the_start(tmp_path: Path, wrong: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        tokens_from(settings(tmp_path, **wrong))
