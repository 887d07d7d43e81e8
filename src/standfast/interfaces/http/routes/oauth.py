"""OAuth for MCP: programs register, people agree, codes become keys of an hour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from standfast.access import grants
from standfast.access.grants import AccessWish, GrantError, Issued
from standfast.access.rights import AGENT_RIGHTS
from standfast.errors import Denied, Invalid, StandfastError
from standfast.interfaces.http import consent
from standfast.interfaces.http.anonymous import AUTHORIZE, CONSENT, REGISTER, REVOKE, TOKEN
from standfast.interfaces.http.bodies import BODY
from standfast.interfaces.http.callers import MCP_METADATA, base_of

router = APIRouter(include_in_schema=False)

WELL_KNOWN = "/.well-known/oauth-"
FORMS = (AUTHORIZE, CONSENT, TOKEN, REVOKE)
OPEN_PATHS = (
    MCP_METADATA,
    f"{WELL_KNOWN}protected-resource",
    f"{WELL_KNOWN}authorization-server",
    REGISTER,
    *FORMS,
)
STATE_LENGTH_MAX = 4_096
ASKED = (
    "response_type", "client_id", "redirect_uri", "state", "code_challenge",
    "code_challenge_method", "scope", "resource",
)  # fmt: skip


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _engine(request: Request) -> Any:
    return request.app.state.memory.engine


# What there is


@router.get(MCP_METADATA)
@router.get(f"{WELL_KNOWN}protected-resource")
async def protected_resource(request: Request) -> Response:
    base = base_of(request)
    return JSONResponse(
        {
            "resource": f"{base}/mcp",
            "authorization_servers": [base],
            "scopes_supported": list(AGENT_RIGHTS),
            "bearer_methods_supported": ["header"],
            "resource_name": "standfast",
        }
    )


@router.get(f"{WELL_KNOWN}authorization-server")
async def authorization_server(request: Request) -> Response:
    base = base_of(request)
    return JSONResponse(
        {
            "issuer": base,
            "authorization_endpoint": f"{base}/oauth/authorize",
            "token_endpoint": f"{base}/oauth/token",
            "registration_endpoint": f"{base}/oauth/register",
            "revocation_endpoint": f"{base}/oauth/revoke",
            "scopes_supported": list(AGENT_RIGHTS),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
        }
    )


@router.post(REGISTER)
async def register(request: Request) -> Response:
    """RFC 7591. Whoever can reach the server may ask; that alone opens nothing."""
    try:
        told = await request.json()
    except (ValueError, RecursionError):
        told = None
    try:
        if not isinstance(told, dict):
            raise GrantError("invalid_client_metadata", "the body is no JSON object")
        client = await grants.register(_engine(request), told)
    except GrantError as error:
        return _refused(error)
    return JSONResponse(
        {
            "client_id": client.id,
            "client_name": client.name,
            "redirect_uris": list(client.redirects),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        },
        201,
    )


# A person agrees


@router.get(AUTHORIZE)
async def authorize(request: Request) -> Response:
    asked = _single(parse_qs(request.url.query, keep_blank_values=True))
    found = await _wish(request, asked)
    return found if isinstance(found, Response) else consent.ask_for_key(found, asked)


@router.post(AUTHORIZE)
async def identify(request: Request) -> Response:
    """The person shows a key, and is shown what it could give."""
    form = _single(_form(request))
    asked = {name: value for name, value in form.items() if name in ASKED}
    found = await _wish(request, asked)
    if isinstance(found, Response):
        return found
    engine = _engine(request)
    secret = form.get("key", "").strip()
    request.app.state.visitors.check_person(secret)
    try:
        ticket, key = await grants.ask(engine, found, secret, _address(request))
    except Denied as error:
        return consent.ask_for_key(found, asked, str(error))
    return consent.ask_for_consent(found, ticket, key, engine.default_scope)


@router.post(CONSENT)
async def decide(request: Request) -> Response:
    form = _form(request)
    allowed = form.get("decision") == ["allow"]
    try:
        wish, code = await grants.answer(
            _engine(request),
            _single(form).get("ticket", ""),
            rights=form.get("right", []) if allowed else [],
            scopes=[one.strip() for one in form.get("scope", []) if one.strip()] if allowed else [],
        )
    except StandfastError as error:
        return consent.refusal(str(error))
    if not code:
        return _back(request, wish.redirect, wish.state, error="access_denied")
    return _back(request, wish.redirect, wish.state, code=code)


async def _wish(request: Request, asked: Mapping[str, str]) -> AccessWish | Response:
    """What is asked for. Where to send an answer is known only once the program and its address
    are: until then a page says what is wrong."""
    redirect, state = asked.get("redirect_uri", ""), asked.get("state", "")
    try:
        client = await grants.client_named(_engine(request), asked.get("client_id", ""))
    except GrantError as error:
        return consent.refusal(str(error))
    if not client.may_be_called_at(redirect) or len(state) > STATE_LENGTH_MAX:
        return consent.refusal("the program names an address to come back to that is not its own")
    resource = f"{base_of(request)}/mcp"
    try:
        if asked.get("response_type") != "code":
            raise GrantError("unsupported_response_type", "only response_type=code is there")
        challenge = asked.get("code_challenge", "")
        grants.check_challenge(challenge, asked.get("code_challenge_method", ""))
        if not _is_same(asked.get("resource", resource), resource):
            raise GrantError("invalid_target", f"this server is {resource}")
        rights = grants.checked_rights(asked.get("scope", ""))
    except GrantError as error:
        return _back(request, redirect, state, error=error.code, error_description=str(error))
    return AccessWish(
        client=client,
        redirect=redirect,
        challenge=challenge,
        rights=rights,
        audience=resource,
        state=state,
    )


def _is_same(one: str, other: str) -> bool:
    return one.rstrip("/") in (other, other.removesuffix("/mcp"))


def _back(request: Request, redirect: str, state: str, **told: str) -> Response:
    """To the program, with what became of it."""
    said = {**told, **({"state": state} if state else {}), "iss": base_of(request)}
    mark = "&" if urlsplit(redirect).query else "?"
    return RedirectResponse(f"{redirect}{mark}{urlencode(said)}", 302)


# Codes become keys


@router.post(TOKEN)
async def token(request: Request) -> Response:
    form = _single(_form(request))
    engine = _engine(request)
    try:
        kind = form.get("grant_type", "")
        if kind == "authorization_code":
            audience = form.get("resource", "")
            resource = f"{base_of(request)}/mcp"
            issued = await grants.redeem(
                engine,
                code=form.get("code", ""),
                client=form.get("client_id", ""),
                redirect=form.get("redirect_uri", ""),
                verifier=form.get("code_verifier", ""),
                audience=resource if audience and _is_same(audience, resource) else audience,
            )
        elif kind == "refresh_token":
            issued = await grants.renew(
                engine,
                renewal=form.get("refresh_token", ""),
                client=form.get("client_id", ""),
                rights=form.get("scope", ""),
            )
        else:
            raise GrantError(
                "unsupported_grant_type", "authorization_code and refresh_token are there"
            )
    except GrantError as error:
        return _refused(error)
    return JSONResponse(_told(engine, issued), headers={"Pragma": "no-cache"})


def _told(engine: Any, issued: Issued) -> dict[str, Any]:
    ends = issued.key.expires_at
    assert ends is not None
    return {
        "access_token": issued.secret,
        "token_type": "Bearer",
        "expires_in": int((ends - engine.now()).total_seconds()),
        "refresh_token": issued.renewal,
        "scope": " ".join(issued.key.rights),
    }


@router.post(REVOKE)
async def revoke(request: Request) -> Response:
    form = _single(_form(request))
    await grants.give_up(_engine(request), form.get("token", ""), form.get("client_id", ""))
    return Response(status_code=200)


def _form(request: Request) -> dict[str, list[str]]:
    try:
        text = request.scope[BODY].decode("utf-8")
        return parse_qs(text, keep_blank_values=True, max_num_fields=100, errors="strict")
    except ValueError:
        raise Invalid("the body is no form in UTF-8") from None


def _single(form: Mapping[str, list[str]]) -> dict[str, str]:
    """Each name once: two of one kind mean that two readers may see two different requests."""
    for name in (*ASKED, "ticket", "key", "code", "code_verifier", "grant_type", "refresh_token"):
        if name != "scope" and len(form.get(name, ())) > 1:
            raise Invalid(f"{name} stands there twice")
    return {name: values[0] for name, values in form.items()}


def _refused(error: GrantError) -> Response:
    status = 401 if error.code == "invalid_client" else 400
    return JSONResponse({"error": error.code, "error_description": str(error)}, status)
