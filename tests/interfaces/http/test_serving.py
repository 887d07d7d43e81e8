"""``standfast serve`` as it really runs: a process, a port, a key, a signal."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from standfast import Memory
from standfast.interfaces.http import build_app
from standfast.interfaces.http.first_start import Keeping, greeting, open_to_others
from standfast.interfaces.http.serve import Server, address_of, server_config
from standfast.types import ALL_RIGHTS
from tests.interfaces.http.starts import Start, environment_of, free_port, started


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def first(home: Path) -> Iterator[Start]:
    with started(home) as start:
        yield start


def headers(start: Start) -> dict[str, str]:
    return {"Authorization": f"Bearer {start.snippets['key']}"}


def test_X1_a_first_start_is_ready_soon_with_no_key_and_no_service(first: Start) -> None:
    assert first.seconds < 30, "about five seconds on a machine that does nothing else"
    answer = httpx2.get(f"{first.address}/health")
    counted = {"stuck": 0, "unread": 0, "kept_as_said": 0}
    assert answer.json() == {"status": "ok", "learning": "on", **counted}
    assert set(first.snippets) == {"key", "curl", "mcp", "python"}


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_A10_the_data_folder_is_for_its_owner_only(first: Start, home: Path) -> None:
    folder = home / "xdg_data_home" / "standfast"
    assert folder.stat().st_mode & 0o777 == 0o700
    inside = list(folder.iterdir())
    assert {one.stat().st_mode & 0o777 for one in inside if one.is_file()} == {0o600}
    assert {one.stat().st_mode & 0o777 for one in inside if one.is_dir()} == {0o700}
    assert first.process.poll() is None


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_X1_the_curl_line_works_as_it_is_printed(first: Start) -> None:
    done = subprocess.run(
        f"{first.snippets['curl']} -s", shell=True, capture_output=True, check=True, timeout=30
    )
    assert json.loads(done.stdout)["items"][0]["status"] in ("stored", "merged")


def test_X1_the_mcp_configuration_works_as_it_is_printed(first: Start) -> None:
    configured = json.loads(first.snippets["mcp"])["mcpServers"]["standfast"]
    assert configured["type"] == "http"

    async def listed() -> set[str]:
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        async with httpx2.AsyncClient(headers=configured["headers"], timeout=60) as http:
            transport = streamable_http_client(configured["url"], http_client=http)
            async with Client(transport) as client:
                return {tool.name for tool in (await client.list_tools()).tools}

    assert {"memory_save", "memory_search"} <= asyncio.run(listed())


def test_X1_the_python_snippet_works_as_it_is_printed(first: Start, tmp_path: Path) -> None:
    httpx2.post(
        f"{first.address}/v1/remember",
        json={"text": "Deploys go out on Tuesdays"},
        headers=headers(first),
    )
    done = subprocess.run(
        [sys.executable, "-c", first.snippets["python"]],
        env=environment_of(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "Deploys go out on Tuesdays" in done.stdout


def test_A10_the_first_key_may_all_and_without_it_nobody_may(first: Start) -> None:
    with httpx2.Client(base_url=first.address) as client:
        assert client.get("/v1/records").status_code == 401
        client.headers.update(headers(first))
        (key,) = client.get("/v1/keys").json()["keys"]
        assert (key["scopes"], key["rights"]) == ([], sorted(ALL_RIGHTS))
        assert client.post("/v1/remember", json={"text": "x", "scope": "org:a"}).status_code == 200


def test_a_later_start_shows_no_key_but_says_how_to_make_one(tmp_path: Path) -> None:
    with started(tmp_path) as start:
        secret = start.snippets["key"]
        code, said = start.end()
        assert (code, said) == (0, "")
    with started(tmp_path) as again:
        assert again.snippets == {}
        assert "rck_" not in again.printed
        assert "standfast keys create" in again.printed
        answer = httpx2.get(
            f"{again.address}/v1/records", headers={"Authorization": f"Bearer {secret}"}
        )
        assert answer.status_code == 200


def serve(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "standfast.interfaces.cli", *arguments],
        env=environment_of(home, **environment),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_A10_other_machines_are_let_in_only_when_a_key_works(tmp_path: Path) -> None:
    refused = serve(tmp_path, "serve", "--host", "0.0.0.0", "--port", str(free_port()))
    assert refused.returncode == 2
    assert "standfast keys create" in refused.stderr
    assert "Traceback" not in refused.stderr
    made = serve(tmp_path, "keys", "create", "--scope", "user:ann", "--json")
    key = json.loads(made.stdout)
    with started(tmp_path, "--host", "0.0.0.0") as start:
        answer = httpx2.get(
            f"{start.address}/v1/records", headers={"Authorization": f"Bearer {key['key']}"}
        )
        assert answer.status_code == 200
        assert start.snippets == {}
    serve(tmp_path, "keys", "revoke", key["id"])
    gone = serve(tmp_path, "serve", "--host", "0.0.0.0", "--port", str(free_port()))
    assert gone.returncode == 2


def test_a_taken_port_is_told_and_makes_no_key(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = serve(tmp_path, "serve", "--port", port)
    assert done.returncode == 6
    assert "--port" in done.stderr
    assert not (tmp_path / "xdg_data_home").exists()


def test_a_host_that_is_none_is_told(tmp_path: Path) -> None:
    done = serve(tmp_path, "serve", "--host", "no such host", "--port", str(free_port()))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['fastapi'] = None; from standfast.interfaces.cli import main"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; sys.exit(main(['serve']))"],
        env=environment_of(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 7
    assert "standfast[server]" in done.stderr


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_X2_a_signal_lets_running_requests_end_and_closes_the_store(
    tmp_path: Path, sig: signal.Signals
) -> None:
    """What was begun before the signal is answered, and what was recalled is counted."""
    store = tmp_path / "memory.db"
    with started(tmp_path, "--store", str(store), "--embedder", "hashing") as start:
        key = headers(start)
        with httpx2.Client(base_url=start.address, headers=key, timeout=30) as client:
            client.post("/v1/remember", json={"text": "Ann likes tea", "scope": "user:ann"})
            client.post("/v1/recall", json={"query": "tea"})
            answers = _slow_request(start, key, sig)
        code, said = start.end(0)
    assert code == 0, said
    assert "Traceback" not in said
    assert answers == [200]
    assert not store.with_name("memory.db-wal").exists(), "the store was closed"
    with Memory.open(str(store), embedder="hashing", background=False) as memory:
        texts = {r.text: r.uses for r in memory.records().items}
    assert texts["Ann likes tea"] == 1
    assert "sent while the server was told to end" in texts


def _slow_request(start: Start, key: dict[str, str], sig: signal.Signals) -> list[int]:
    """A request whose body is on its way when the signal comes."""
    answers: list[int] = []
    body = json.dumps({"text": "sent while the server was told to end"}).encode()

    def parts() -> Iterator[bytes]:
        yield body[:10]
        time.sleep(0.3)
        start.process.send_signal(sig)
        time.sleep(0.7)
        yield body[10:]

    def send() -> None:
        answer = httpx2.post(
            f"{start.address}/v1/remember",
            content=parts(),
            headers={**key, "Content-Type": "application/json"},
            timeout=30,
        )
        answers.append(answer.status_code)

    thread = threading.Thread(target=send)
    thread.start()
    thread.join(30)
    return answers


def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    with started(tmp_path, "--store", "dict:") as start:
        connection = socket.create_connection(("127.0.0.1", int(start.address.rpartition(":")[2])))
        with connection:
            connection.sendall(
                b"POST /v1/remember HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                + f"Authorization: Bearer {start.snippets['key']}\r\n".encode()
                + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
            )
            time.sleep(0.3)
            start.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            assert start.process.poll() is None, "it waits for the request"
            begun = time.monotonic()
            code, _ = start.end()
            assert time.monotonic() - begun < 5
            assert code == 128 + signal.SIGTERM


def test_upkeep_runs_in_the_background(tmp_path: Path) -> None:
    with (
        started(tmp_path, "--store", "dict:", "--embedder", "hashing") as start,
        httpx2.Client(base_url=start.address, headers=headers(start)) as client,
    ):
        soon = time.time() + 1
        client.post("/v1/remember", json={"text": "soon gone", "expires_at": soon})
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline:
            due: Any = client.get("/v1/due").json()
            if time.time() > soon and not due["work"]:
                return
            time.sleep(0.3)
        raise AssertionError(f"nothing was swept: {due}")


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", "http://127.0.0.1:1"), ("::1", "http://[::1]:1"), ("::", "http://[::1]:1"),
     ("0.0.0.0", "http://127.0.0.1:1"), ("box.lan", "http://box.lan:1")],
)  # fmt: skip
def test_the_address_that_is_shown_can_be_used(host: str, address: str) -> None:
    assert address_of(host, 1) == address


def test_a_port_that_is_none_is_told(tmp_path: Path) -> None:
    """The system would take 99999 for 34463."""
    done = serve(tmp_path, "serve", "--port", "99999")
    assert done.returncode == 2
    assert "65535" in done.stderr


def test_A10_a_lost_admin_key_can_be_replaced_as_it_is_said(tmp_path: Path) -> None:
    store = tmp_path / "my memory.db"
    with started(tmp_path, "--store", str(store), "--embedder", "none") as start:
        assert "my memory.db" in start.printed
    with started(tmp_path, "--store", str(store), "--embedder", "none") as start:
        assert start.process.stdout is not None
        said = start.process.stdout.readline().partition("Lost the admin key? ")[2]
        program, *arguments = shlex.split(said)
        assert program.endswith("standfast")
        made = serve(tmp_path, *arguments, "--json")
        key = {"Authorization": f"Bearer {json.loads(made.stdout)['key']}"}
        for method, path in (("GET", "/v1/keys"), ("GET", "/v1/records")):
            answer = httpx2.request(method, f"{start.address}{path}", headers=key)
            assert answer.status_code == 200, path


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_A10_what_others_could_open_is_said(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    file.touch(0o600)
    tmp_path.chmod(0o700)
    said = partial(open_to_others, file)
    assert list(said(own_folder=True)) == []
    tmp_path.chmod(0o755)
    assert list(said(own_folder=False)) == []
    (told,) = said(own_folder=True)
    assert f"chmod 700 {tmp_path}" in told
    tmp_path.chmod(0o777)
    (told,) = said(own_folder=False)
    assert "replace" in told
    file.chmod(0o644)
    assert f"chmod 600 {file}" in next(said(own_folder=False))
    tmp_path.chmod(0o700)


def test_a_store_below_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = serve(tmp_path, "--store", str(tmp_path / "file" / "memory.db"), "keys", "list")
    assert done.returncode == 6
    assert "its folder is a file" in done.stderr


def test_X2_a_signal_during_the_start_ends_it_without_a_trace() -> None:
    app = build_app("dict:", embedder="none")
    server = Server(server_config(app), app, lambda: None)
    server.handle_exit(signal.SIGTERM, None)
    assert server.should_exit


def test_A10_a_key_is_not_printed_into_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard output may be a log that others read."""
    keeping = Keeping(tmp_path / "memory.db", "", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with (tmp_path / "log").open("w") as log:
        monkeypatch.setattr(sys, "stdout", log)
        said = "\n".join(greeting("http://127.0.0.1:1", "rck_secret", keeping))
        monkeypatch.undo()
    assert "rck_secret" not in said
    [kept] = tmp_path.glob("standfast-admin-key-*")
    assert str(kept) in said
    assert kept.read_text() == "rck_secret\n"
    assert kept.stat().st_mode & 0o777 == 0o600
    read, write = os.pipe()
    with open(read, "rb"), open(write, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        said = "\n".join(greeting("http://127.0.0.1:1", "rck_secret", keeping))
        monkeypatch.undo()
    assert "    rck_secret" in said
