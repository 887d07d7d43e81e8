"""OAuth for remote MCP: the whole way by a real client, and what must not get through."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import html
import re
import secrets
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from standfast.access import grants, keys
from standfast.access.shares import REFUSAL_SECONDS
from standfast.interfaces.http import build_app
from standfast.interfaces.http.anonymous import TRIES_PER_MINUTE, Visitors
from standfast.settings import Settings
from tests.interfaces.http.conftest import Served, served

CALLBACK = "http://127.0.0.1:4321/callback"
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = tmp_path_factory.mktemp("oauth") / "memory.db"
    with served(build_app(str(store), embedder="hashing", settings=Settings(rate=0))) as running:
        running.key("admin", rights=("read", "write", "erase", "admin"))
        running.key("ann", "user:ann", "org:acme:user:ann", rights=("read", "write", "erase"))
        running.key("reader", "user:rita", rights=("read",))
        yield running


_open: list[httpx2.Client] = []


@pytest.fixture(autouse=True)
def no_waiting(server: Served) -> Iterator[None]:
    """Tests try more often than a stranger may."""
    server.app.state.visitors = Visitors()
    yield
    while _open:
        _open.pop().close()


def client_of(server: Served) -> httpx2.Client:
    """Closed when the test is over."""
    _open.append(httpx2.Client(base_url=server.address, timeout=30))
    return _open[-1]


# A person at a browser, and a program that knows no library


class Browser:
    def __init__(self, server: Served, key: str) -> None:
        self.http = client_of(server)
        self.key = key
        self.pages: list[httpx2.Response] = []

    def agree(self, address: str, **changed: Any) -> dict[str, str]:
        """Follow the link, show the key, allow all that is offered; what the program is told."""
        page = self.http.get(address)
        self.pages.append(page)
        if page.status_code != 200:
            return self._told(page)
        form = {**_hidden(page.text), "key": self.key}
        page = self.http.post("/oauth/authorize", data=form)
        self.pages.append(page)
        if page.status_code != 200 or 'name="ticket"' not in page.text:
            return self._told(page)
        form = {**_hidden(page.text), **_boxes(page.text), "decision": "allow", **changed}
        return self._told(self.http.post("/oauth/consent", data=form))

    def _told(self, answer: httpx2.Response) -> dict[str, str]:
        self.pages.append(answer)
        if answer.status_code != 302:
            return {"status": str(answer.status_code), "page": answer.text}
        to = answer.headers["location"]
        return {"to": to, **{k: v[0] for k, v in parse_qs(urlsplit(to).query).items()}}


def _hidden(page: str) -> dict[str, str]:
    found = re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', page)
    return {html.unescape(name): html.unescape(value) for name, value in found}


def _boxes(page: str) -> dict[str, Any]:
    boxes: dict[str, Any] = {}
    for name, value in re.findall(r'type="checkbox" name="(\w+)" value="([^"]*)"', page):
        boxes.setdefault(name, []).append(html.unescape(value))
    if text := re.search(r'name="scope" type="text" value="([^"]*)"', page):
        boxes["scope"] = html.unescape(text[1])
    return boxes


class Program:
    def __init__(self, server: Served, **told: Any) -> None:
        self.server = server
        self.http = client_of(server)
        body = {"client_name": "Notes", "redirect_uris": [CALLBACK], **told}
        self.registered = self.http.post("/oauth/register", json=body)
        self.id = self.registered.json().get("client_id", "")

    def link(self, **changed: Any) -> str:
        asked = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": CALLBACK,
            "state": "xyz",
            "code_challenge": CHALLENGE.decode(),
            "code_challenge_method": "S256",
            "scope": "read write",
            "resource": f"{self.server.address}/mcp",
            **changed,
        }
        return "/oauth/authorize?" + urlencode({k: v for k, v in asked.items() if v is not None})

    def redeem(self, code: str, **changed: str) -> httpx2.Response:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": self.id,
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
            **changed,
        }
        return self.http.post("/oauth/token", data=form)

    def renew(self, word: str, **changed: str) -> httpx2.Response:
        form = {"grant_type": "refresh_token", "refresh_token": word, "client_id": self.id}
        return self.http.post("/oauth/token", data={**form, **changed})

    def tools(self, token: str) -> int:
        """The status of a call to MCP with this token."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json, text/event-stream",
        }
        return self.http.post("/mcp", json=body, headers=headers).status_code


@pytest.fixture
def ann(server: Served) -> Browser:
    return Browser(server, server.keys["ann"])


def granted(program: Program, browser: Browser, **asked: Any) -> dict[str, Any]:
    told = browser.agree(program.link(**asked))
    answer = program.redeem(told["code"])
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


# The way of the specification, by the client that everybody uses


class Kept(TokenStorage):
    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def test_O8_a_real_mcp_client_comes_in_by_a_persons_consent(server: Served, ann: Browser) -> None:
    kept, told = Kept(), {}

    async def open_browser(address: str) -> None:
        told.update(await asyncio.to_thread(ann.agree, address))

    async def called_back() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=told["code"], state=told["state"], iss=told.get("iss"))

    async def session(work: Any) -> Any:
        auth = OAuthClientProvider(
            server_url=f"{server.address}/mcp",
            client_metadata=OAuthClientMetadata(
                client_name="Example", redirect_uris=[AnyUrl(CALLBACK)], scope="read write"
            ),
            storage=kept,
            redirect_handler=open_browser,
            callback_handler=called_back,
        )
        async with (
            httpx2.AsyncClient(auth=auth, timeout=30) as http,
            streamable_http_client(f"{server.address}/mcp", http_client=http) as (read, write, *_),
            ClientSession(read, write) as client,
        ):
            await client.initialize()
            return await work(client)

    async def save(client: ClientSession) -> Any:
        said = {"text": "Ann's bicycle is green.", "scope": "user:ann"}
        return await client.call_tool("memory_save", said)

    saved = asyncio.run(session(save))
    assert not saved.is_error, saved
    assert kept.tokens is not None
    assert kept.tokens.scope == "read write"
    first = kept.tokens.access_token

    # The next session uses the same token; an hour later the client renews it by itself.
    asked = len(ann.pages)
    asyncio.run(session(lambda client: client.list_tools()))
    assert len(ann.pages) == asked, "nobody was asked again"
    before = server.engine.clock
    server.engine.clock = lambda: before() + timedelta(hours=2)
    try:
        asyncio.run(session(lambda client: client.list_tools()))
        assert kept.tokens.access_token != first
    finally:
        server.engine.clock = before

    found = server.run(keys.list_keys(server.engine))
    lent = [key for key in found if key.name == "Example"]
    assert {(key.holder, key.scopes, key.rights) for key in lent} == {
        ("agent", ("user:ann", "org:acme:user:ann"), ("read", "write"))
    }
    ann_key = next(key for key in found if key.name == "ann")
    assert {key.parent for key in lent} == {ann_key.id}


def test_O8_the_page_says_what_will_be_reachable_and_runs_no_script(
    server: Served, ann: Browser
) -> None:
    program = Program(server, client_name="<script>alert(1)</script>")
    ann.agree(program.link(scope="read erase"))
    shown = ann.pages[-2]
    for part in ("user:ann", "org:acme:user:ann", "read: ", "erase: ", "127.0.0.1:4321"):
        assert part in shown.text
    assert "write: " not in shown.text, "it was not asked for"
    for page in ann.pages[:2]:
        assert "<script" not in page.text
        rules = page.headers["content-security-policy"]
        assert "default-src 'none'" in rules
        assert "frame-ancestors 'none'" in rules
        assert "form-action 'self' http://127.0.0.1:4321" in rules
        assert page.headers["x-frame-options"] == "DENY"
        assert server.keys["ann"] not in page.text


def test_O8_a_stranger_at_mcp_is_told_where_to_ask(server: Served) -> None:
    with httpx2.Client(base_url=server.address) as http:
        refused = http.post("/mcp", json={})
        assert refused.status_code == 401
        where = re.search(r'resource_metadata="([^"]+)"', refused.headers["www-authenticate"])
        assert where
        told = http.get(where[1]).json()
        assert told["resource"] == f"{server.address}/mcp"
        assert told == http.get("/.well-known/oauth-protected-resource").json()
        (base,) = told["authorization_servers"]
        issuer = http.get(f"{base}/.well-known/oauth-authorization-server")
        assert issuer.json()["code_challenge_methods_supported"] == ["S256"]
        elsewhere = http.get("/v1/stats").headers["www-authenticate"]
        assert elsewhere == refused.headers["www-authenticate"], "every door says the same"


def test_O8_a_token_is_good_for_mcp_only(server: Served, ann: Browser) -> None:
    program = Program(server)
    token = granted(program, ann)["access_token"]
    assert program.tools(token) == 200
    headers = {"Authorization": f"Bearer {token}"}
    assert program.http.get("/v1/stats", headers=headers).status_code == 401
    assert program.http.get("/v1/keys", headers=headers).status_code == 401
    port = server.port
    elsewhere = httpx2.post(
        f"http://localhost:{port}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "ping"},
        headers=headers,
    )
    assert elsewhere.status_code == 401, "its audience is another address"


@pytest.mark.parametrize("verifier", ["w" * 64, "", "v" * 42, CHALLENGE.decode()])
def test_O8_a_wrong_verifier_gets_nothing_and_has_one_try(
    server: Served, ann: Browser, verifier: str
) -> None:
    program = Program(server)
    code = ann.agree(program.link())["code"]
    answer = program.redeem(code, code_verifier=verifier)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    assert program.redeem(code).status_code == 400


def test_O8_a_code_that_comes_again_ends_all_that_came_of_it(server: Served, ann: Browser) -> None:
    program = Program(server)
    code = ann.agree(program.link())["code"]
    first = program.redeem(code).json()
    assert program.tools(first["access_token"]) == 200
    again = program.redeem(code)
    assert again.json()["error"] == "invalid_grant"
    assert program.tools(first["access_token"]) == 401
    assert program.renew(first["refresh_token"]).status_code == 400


def test_O8_a_code_is_one_programs_and_one_addresss(server: Served, ann: Browser) -> None:
    program, other = Program(server), Program(server, client_name="Other")
    code = ann.agree(program.link())["code"]
    assert other.redeem(code).json()["error"] == "invalid_grant"
    assert program.redeem(code, redirect_uri=f"{CALLBACK}/x").json()["error"] == "invalid_grant"


def test_O8_a_code_ends_after_minutes(server: Served, ann: Browser) -> None:
    program = Program(server)
    code = ann.agree(program.link())["code"]
    before = server.engine.clock
    server.engine.clock = lambda: before() + timedelta(minutes=3)
    try:
        assert program.redeem(code).json()["error"] == "invalid_grant"
    finally:
        server.engine.clock = before


FOREIGN = [
    "https://evil.example/callback", "http://127.0.0.1:4321/other", "http://127.0.0.1.evil/callback",
    "http://a@127.0.0.1:4321/callback", "http://127.0.0.1:4321/callback?x=1", "javascript:alert(1)",
    "", f"{CALLBACK}#x", "http://localhost:4321/callback",
]  # fmt: skip


@pytest.mark.parametrize("redirect", FOREIGN)
def test_O8_a_foreign_redirect_gets_a_page_and_no_redirect(
    server: Served, ann: Browser, redirect: str
) -> None:
    told = ann.agree(Program(server).link(redirect_uri=redirect))
    assert told["status"] == "400"
    assert "address" in told["page"]


def test_O8_on_this_machine_any_port_will_do(server: Served, ann: Browser) -> None:
    program = Program(server)
    other = CALLBACK.replace("4321", "9876")
    code = ann.agree(program.link(redirect_uri=other))["code"]
    assert program.redeem(code, redirect_uri=other).status_code == 200


@pytest.mark.parametrize(
    "redirects",
    [None, [], ["http://evil.example/cb"], ["javascript:alert(1)"], ["data:text/html,x"],
     ["https://a.example/#x"], ["https://u:p@a.example/"], [7], ["https://[bad/"], ["x"] * 11],
)  # fmt: skip
def test_O8_an_address_that_could_leak_a_code_is_not_registered(
    server: Served, redirects: Any
) -> None:
    answer = Program(server, redirect_uris=redirects).registered
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"scope": "read admin"}, "invalid_scope"),
        ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
    ],
)
def test_O8_what_is_wrong_with_a_request_is_told_to_the_program(
    server: Served, ann: Browser, changed: dict[str, Any], error: str
) -> None:
    told = ann.agree(Program(server).link(**changed))
    assert told["to"].startswith(CALLBACK)
    assert (told["error"], told["state"], told["iss"]) == (error, "xyz", server.address)


def test_O8_a_renewed_key_takes_the_old_ones_place(server: Served, ann: Browser) -> None:
    program = Program(server)
    first = granted(program, ann)
    second = program.renew(first["refresh_token"]).json()
    assert program.tools(second["access_token"]) == 200
    assert program.tools(first["access_token"]) == 401
    stolen = program.renew(first["refresh_token"])
    assert stolen.json()["error"] == "invalid_grant"
    assert program.tools(second["access_token"]) == 401, "a word that comes twice ends the grant"
    assert program.renew(second["refresh_token"]).status_code == 400


def test_O8_an_expired_key_is_refused(server: Served, ann: Browser) -> None:
    program = Program(server)
    token = granted(program, ann)["access_token"]
    before = server.engine.clock
    server.engine.clock = lambda: before() + grants.KEY_LIFE
    try:
        assert program.tools(token) == 401
    finally:
        server.engine.clock = before


@pytest.mark.parametrize("what", ["access_token", "refresh_token"])
def test_O8_a_program_gives_up_its_access(server: Served, ann: Browser, what: str) -> None:
    program = Program(server)
    found = granted(program, ann)
    done = program.http.post("/oauth/revoke", data={"token": found[what], "client_id": program.id})
    assert done.status_code == 200
    assert program.tools(found["access_token"]) == 401
    assert program.renew(found["refresh_token"]).status_code == 400
    nobody = program.http.post("/oauth/revoke", data={"token": "rck_x", "client_id": "x"})
    assert nobody.status_code == 200
    persons = {"token": server.keys["ann"], "client_id": program.id}
    program.http.post("/oauth/revoke", data=persons)
    assert ann.agree(program.link()).get("code"), "a person's own key is not a program's to end"


def test_O8_revoking_the_persons_key_or_the_lent_one_ends_it(server: Served) -> None:
    secret = server.key("temp", "user:temp")
    program, browser = Program(server), Browser(server, secret)
    found, other = granted(program, browser), granted(program, browser)
    lent, _ = server.run(keys.with_key(server.engine, found["access_token"]))
    server.run(keys.revoke_key(server.engine, lent.id))
    assert program.tools(found["access_token"]) == 401
    assert program.renew(found["refresh_token"]).status_code == 400, "access was taken back"
    assert program.tools(other["access_token"]) == 200
    server.run(keys.revoke_key(server.engine, lent.parent))
    assert program.tools(other["access_token"]) == 401
    assert program.renew(other["refresh_token"]).json()["error"] == "invalid_grant"


def test_O8_a_person_gives_less_than_was_asked_for(server: Served, ann: Browser) -> None:
    program = Program(server)
    told = ann.agree(program.link(scope="read write erase"), right=["read"], scope=["user:ann"])
    found = program.redeem(told["code"]).json()
    assert found["scope"] == "read"
    key, _ = server.run(keys.with_key(server.engine, found["access_token"]))
    assert (key.scopes, key.rights, key.audience) == (
        ("user:ann",), ("read",), f"{server.address}/mcp",
    )  # fmt: skip
    wider = program.renew(found["refresh_token"], scope="read write")
    assert wider.json()["error"] == "invalid_scope"


@pytest.mark.parametrize(
    "changed", [{"scope": ["user:bob"]}, {"right": ["admin"]}, {"right": ["erase"]}]
)
def test_O8_a_forged_form_gives_no_more_than_the_key_has(
    server: Served, ann: Browser, changed: dict[str, Any]
) -> None:
    told = ann.agree(Program(server).link(), **changed)
    assert "code" not in told


def test_O8_a_key_without_a_right_cannot_give_it(server: Served) -> None:
    reader = Browser(server, server.keys["reader"])
    found = granted(Program(server), reader)
    assert found["scope"] == "read"


def test_O8_a_key_for_everything_names_what_it_gives(server: Served) -> None:
    admin = Browser(server, server.keys["admin"])
    found = granted(Program(server), admin)
    key, _ = server.run(keys.with_key(server.engine, found["access_token"]))
    assert (key.scopes, key.rights) == (("user:default",), ("read", "write"))


def test_O8_only_a_person_agrees(server: Served, ann: Browser) -> None:
    program = Program(server)
    token = granted(program, ann)["access_token"]
    for secret in (token, "rck_" + secrets.token_urlsafe(32), "", "nonsense"):
        told = Browser(server, secret).agree(program.link())
        assert told["status"] == "401"
        assert 'role="alert"' in told["page"]


def test_O8_refusing_sends_the_program_away_and_a_ticket_counts_once(
    server: Served, ann: Browser
) -> None:
    told = ann.agree(Program(server).link(), decision="deny")
    assert told["error"] == "access_denied"
    form = {**_hidden(ann.pages[1].text), **_boxes(ann.pages[1].text), "decision": "allow"}
    assert ann.http.post("/oauth/consent", data=form).status_code == 400


def test_O8_strangers_cannot_try_for_ever(server: Served) -> None:
    program = Program(server)
    answers = [program.renew("rcr_" + "0" * 80).status_code for _ in range(40)]
    assert answers[0] == 400
    assert_slowed_down(answers, 400)


def assert_slowed_down(answers: list[int], as_usual: int) -> None:
    """After so many tries of a minute there are few more: as many as the time brought."""
    assert {*answers} == {as_usual, 429}
    assert {*answers[: TRIES_PER_MINUTE - 1]} == {as_usual}  # one may have gone before
    assert answers.count(as_usual) <= TRIES_PER_MINUTE + 4


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/oauth/token", b"\xff=\xff", "application/x-www-form-urlencoded"),
        ("/oauth/token", b'{"grant_type": "x"}', "application/json"),
        ("/oauth/token", b"code=a&code=b", "application/x-www-form-urlencoded"),
        ("/oauth/token", b"", "application/x-www-form-urlencoded"),
        ("/oauth/register", b"[]", "application/json"),
        ("/oauth/register", b"{", "application/json"),
        ("/oauth/consent", b"ticket=%00", "application/x-www-form-urlencoded"),
    ],
)
def test_O8_nonsense_gets_one_clear_line(server: Served, path: str, body: bytes, kind: str) -> None:
    answer = httpx2.post(server.address + path, content=body, headers={"Content-Type": kind})
    assert answer.status_code in (400, 415)
    assert "Traceback" not in answer.text


def test_O8_behind_a_proxy_the_public_name_counts(tmp_path: Path) -> None:
    settings = Settings(public_url="https://memory.example/", hosts="memory.example")
    with served(
        build_app(str(tmp_path / "m.db"), embedder="hashing", settings=settings)
    ) as running:
        told = httpx2.get(f"{running.address}/.well-known/oauth-authorization-server").json()
        assert told["issuer"] == "https://memory.example"
        assert told["token_endpoint"] == "https://memory.example/oauth/token"


def test_X12_a_stranger_who_registers_without_end_keeps_nobody_out(
    server: Served, ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = Program(server)
    granted(used, ann)
    waiting = Program(server, client_name="was first, never allowed")
    known = len(server.run(server.engine.store.registry.list(
        f"{grants.CLIENTS}\t", now=server.engine.now(), limit=1000)))  # fmt: skip
    monkeypatch.setattr(grants, "CLIENTS_MAX", known + 2)
    for _ in range(known + 6):
        assert Program(server).registered.status_code == 201
        server.app.state.visitors = Visitors()
    assert used.http.get(used.link()).status_code == 200, "people use it"
    assert waiting.http.get(waiting.link()).status_code == 400


def test_O8_of_two_who_bring_a_code_at_once_neither_keeps_a_key(
    server: Served, ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(server)
    code = ann.agree(program.link())["code"]
    issue = grants._issue
    seconds: list[int] = []

    async def late(engine: Any, grant: str, *rest: Any, **more: Any) -> Any:
        if not seconds:
            seconds.append(0)
            with pytest.raises(grants.GrantError):
                await grants.redeem(
                    engine, code=code, client=program.id, redirect=CALLBACK,
                    verifier=VERIFIER, audience="",
                )  # fmt: skip
        return await issue(engine, grant, *rest, **more)

    monkeypatch.setattr(grants, "_issue", late)
    answer = program.redeem(code)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


@pytest.mark.parametrize(
    "where", ["http://127.0.0.1:99/call\nback", "http://127.0.0.1:99/\tcallback"]
)
def test_O8_an_address_with_what_readers_pass_over_is_another(server: Served, where: str) -> None:
    program = Program(server)
    assert program.http.get(program.link(redirect_uri=where)).status_code == 400


@pytest.mark.parametrize("name", ["\0", "x\ty", "é" * 40, "0" * 31, "0" * 33, "%"])
def test_O8_what_is_no_name_of_a_program_is_looked_up_nowhere(server: Served, name: str) -> None:
    program = Program(server)
    assert program.http.get(program.link(client_id=name)).status_code == 400
    assert program.redeem("x", client_id=name).status_code == 400


def test_X12_a_person_is_asked_so_often_and_no_more(server: Served, ann: Browser) -> None:
    """Each time writes something, and nobody waits in turn there."""
    page = ann.http.get(Program(server).link())
    form = {**_hidden(page.text), "key": ann.key}
    answers = [ann.http.post("/oauth/authorize", data=form).status_code for _ in range(40)]
    assert_slowed_down(answers, 200)


def test_X12_guessing_tickets_is_slowed_down(ann: Browser) -> None:
    form = {"ticket": "x" * 64, "decision": "allow", "scope": "user:ann", "right": "read"}
    answers = [ann.http.post("/oauth/consent", data=form).status_code for _ in range(40)]
    assert_slowed_down(answers, 400)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_X12_a_program_that_is_not_known_counts_and_then_nothing_is_looked_up(
    server: Served, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    named = grants.client_named

    async def counted(engine: Any, id_: str) -> Any:
        looked_up.append(id_)
        return await named(engine, id_)

    monkeypatch.setattr(grants, "client_named", counted)
    asked = {"client_id": "0" * 32, "response_type": "code"}
    with httpx2.Client(base_url=server.address) as stranger:
        how: dict[str, Any] = {"params": asked} if method == "GET" else {"data": asked}
        answers = [
            stranger.request(method, "/oauth/authorize", **how).status_code for _ in range(40)
        ]
    assert_slowed_down(answers, 400)
    assert len(looked_up) == answers.count(400)


def test_X12_what_works_costs_no_try(server: Served, ann: Browser) -> None:
    """A household behind one address logs in and connects as often as it likes."""
    program = Program(server)
    pages = [program.http.get(program.link()).status_code for _ in range(2 * TRIES_PER_MINUTE)]
    assert {*pages} == {200}
    granted(program, ann)


@pytest.mark.parametrize(
    "sent",
    [
        {"method": "POST", "url": "/health", "json": {}},
        {"method": "POST", "url": "/v1/login", "content": b"{" * 20_000},
        {"method": "PUT", "url": "/openapi.json", "json": {}},
    ],
    ids=["method", "too long", "other method"],
)
def test_X12_nonsense_at_an_open_path_is_a_try_too(server: Served, sent: dict[str, Any]) -> None:
    with httpx2.Client(base_url=server.address) as stranger:
        answers = [stranger.request(**sent).status_code for _ in range(40)]
        assert_slowed_down(answers, answers[0])
        assert stranger.get("/health").status_code == 200, "pages are not refused"


def test_X12_who_is_refused_at_the_threshold_again_and_again_is_answered_late(
    server: Served,
) -> None:
    with httpx2.Client(base_url=server.address, headers={"Host": "elsewhere.example"}) as stranger:
        for _ in range(TRIES_PER_MINUTE + 1):
            assert stranger.get("/").status_code == 421
        begun = time.monotonic()
        assert stranger.get("/").status_code == 421
        assert time.monotonic() - begun >= REFUSAL_SECONDS / 2
