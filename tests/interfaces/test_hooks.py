"""A coding agent's session with hooks: a real server, the commands as its settings name them."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from standfast.interfaces.hooks import client
from tests.interfaces.hook_world import Agent, run_client
from tests.interfaces.http.starts import started

SECRET = "sk-ant-api03-" + "Zk3vB9qL0xT7mW2rY5nH8cJ4dF6gA1sP" * 2
PROJECT = "user:default:project:git.example/ann/shop"


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    base = tmp_path_factory.mktemp("agent")
    project = base / "shop"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    (project / ".git" / "config").write_text(
        '[core]\n\tbare = false\n[remote "origin"]\n\turl = git@git.example:ann/shop.git\n'
    )
    home = base / "home"
    home.mkdir()
    return Agent(home, project)


RUN = Path("data", "standfast", "run")


@pytest.fixture(scope="module")
def server(agent: Agent) -> Iterator[Any]:
    own = {name: agent.env[name] for name in ("HOME", "XDG_DATA_HOME")}
    with started(agent.home.parent, "--embedder", "hashing", **own) as running:
        assert not (agent.home / RUN).exists(), "who has no hooks has no key for them"
        assert agent.standfast("hooks", "install", "claude-code").returncode == 0
        wait_for((agent.home / RUN / "server.json").exists)
        yield running


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not what():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def context_of(done: list[subprocess.CompletedProcess[str]]) -> str:
    (one,) = done
    assert (one.returncode, one.stderr) == (0, "")
    if not one.stdout:
        return ""
    told = json.loads(one.stdout)["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    return str(told["additionalContext"])


def silent(done: list[subprocess.CompletedProcess[str]]) -> None:
    assert [(one.returncode, one.stdout, one.stderr) for one in done] == [(0, "", "")]


def test_O8_a_session_is_remembered_brought_back_and_survives_compaction(
    agent: Agent, server: Any
) -> None:
    assert context_of(agent.fire("SessionStart", source="startup")) == ""
    prompt = "Remember: the tests of the shop run with `make check`, never with tox."
    silent(agent.fire("UserPromptSubmit", prompt=prompt))
    silent(
        agent.fire(
            "PostToolUse",
            tool_name="Bash",
            tool_use_id="toolu_1",
            tool_input={"command": "make check"},
            tool_response={"stdout": f"412 passed; key {SECRET}", "stderr": ""},
        )
    )
    agent.says("The zebra migration is done; 412 tests pass.", "11111111-aaaa")
    silent(agent.fire("Stop", stop_hook_active=False))
    silent(agent.fire("PreCompact", trigger="auto"))  # the same words: kept once
    after = context_of(agent.fire("SessionStart", source="compact"))
    assert "make check" in after
    assert "zebra migration" in after
    silent(agent.fire("SessionEnd", reason="prompt_input_exit"))

    stored = _stored(server)
    said = [m["text"] for m in stored["messages"]]
    assert sum("zebra migration" in text for text in said) == 1
    assert any(prompt in text for text in said)
    assert SECRET not in json.dumps(stored)
    assert [one["type"] for one in stored["records"] if one["type"] == "episode"] == ["episode"]
    assert {one["scope"] for one in stored["records"]} == {PROJECT}

    agent.session = "another-session"
    assert "make check" in context_of(agent.fire("SessionStart", source="startup"))


def _stored(server: Any) -> dict[str, Any]:
    """All that the server has, by its first key."""
    import httpx2

    headers = {"Authorization": f"Bearer {server.snippets['key']}"}
    with httpx2.Client(base_url=server.address, headers=headers, timeout=30) as asking:
        scope = {"scope": PROJECT}
        sessions = asking.get("/v1/sessions", params=scope).json()["items"]
        messages = [
            message
            for session in sessions
            for message in asking.get(
                "/v1/messages", params={**scope, "session": session["id"]}
            ).json()["items"]
        ]
        records = asking.get("/v1/records", params={**scope, "limit": 200}).json()["items"]
    return {"messages": messages, "records": records}


def test_O8_the_servers_file_is_its_owners_alone(agent: Agent, server: Any) -> None:
    folder = agent.home / "data" / "standfast" / "run"
    file = folder / "server.json"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600
    told = json.loads(file.read_text())
    assert told["address"] == server.address
    assert told["scope"] == "user:default"


@pytest.mark.usefixtures("server")
def test_O8_a_hook_is_quick_because_it_imports_next_to_nothing(agent: Agent) -> None:
    event = json.dumps(
        {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(agent.project),
         "prompt": "how long does it take?"}
    )  # fmt: skip
    loaded = subprocess.run(
        [sys.executable, "-IS", "-X", "importtime", client.__file__],
        input=event, env=agent.env, capture_output=True, text=True, timeout=60, check=True,
    ).stderr  # fmt: skip
    modules = {line.rpartition("|")[2].strip() for line in loaded.splitlines()}
    assert "http.client" in modules, "the hook has asked the server"
    heavy = ("typing", "asyncio", "subprocess", "argparse", "standfast", "numpy", "dataclasses")
    assert modules.isdisjoint(heavy)
    bare, hook = [], []
    for _ in range(7):
        begun = of_children()
        subprocess.run([sys.executable, "-IS", "-c", "pass"], check=True, timeout=60)
        bare.append(of_children() - begun)
        begun = of_children()
        done = run_client(event, agent.env)
        hook.append(of_children() - begun)
        assert (done.returncode, done.stdout) == (0, "")
    more = statistics.median(hook) - statistics.median(bare)
    assert more < 0.2, f"{more * 1000:.0f} ms of CPU more than `python -c pass`"


def of_children() -> float:
    """CPU of processes that have ended: a busy machine lengthens the time, not this."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


BAD = ["", "nonsense", "[]", "{}", '{"hook_event_name": "Stop"}', '{"hook_event_name": "Other"}',
       '{"hook_event_name": "PostToolUse", "session_id": "s"}', "\u0000", "9" * 5000]  # fmt: skip


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("told", BAD)
def test_O8_an_event_that_nobody_understands_stops_nothing(agent: Agent, told: str) -> None:
    done = run_client(told, agent.env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


EVENT = json.dumps(
    {"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/", "source": "startup"}
)


@pytest.mark.parametrize("written", [None, "", "{}", "[]", '{"address": "http://127.0.0.1:1"}'])
def test_O8_without_a_server_a_hook_is_silent(tmp_path: Path, written: str | None) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    folder = tmp_path / "data" / "standfast" / "run"
    if written is not None:
        folder.mkdir(parents=True)
        (folder / "server.json").write_text(written)
    done = run_client(EVENT, env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert written is not None or list(tmp_path.iterdir()) == [], "it made nothing either"


def test_O8_a_dead_servers_port_is_not_shown_the_key(tmp_path: Path) -> None:
    """Who took the port since must not be handed the key of the memory."""
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                          capture_output=True, text=True, check=True, timeout=60)  # fmt: skip
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(1)
        _announce(tmp_path, int(gone.stdout), listener.getsockname()[1])
        run_client(EVENT, {**os.environ, "XDG_DATA_HOME": str(tmp_path)})
        with pytest.raises(TimeoutError):
            heard.append(listener.accept()[0].recv(100))
    assert heard == []


def test_O8_a_server_that_hangs_delays_a_hook_by_seconds_only(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        _announce(tmp_path, os.getpid(), listener.getsockname()[1])
        begun = time.monotonic()
        done = run_client(EVENT, {**os.environ, "XDG_DATA_HOME": str(tmp_path)})
    assert (done.returncode, done.stdout) == (0, "")
    assert time.monotonic() - begun < client.SECONDS_MAX + 10


def _announce(folder: Path, pid: int, port: int) -> None:
    run = folder / "standfast" / "run"
    run.mkdir(parents=True)
    told = {"address": f"http://127.0.0.1:{port}", "pid": pid, "key": "k", "scope": "user:a"}
    (run / "server.json").write_text(json.dumps(told))


def test_O8_a_session_starts_the_server_only_where_the_user_allowed_it(tmp_path: Path) -> None:
    store = tmp_path / "own.db"
    env = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "STANDFAST_EMBEDDER": "hashing",
    }
    assert run_client(EVENT, env).returncode == 0
    assert not store.exists()
    threads = [
        threading.Thread(target=run_client, args=(EVENT, env, "--start", "--store", str(store)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    file = tmp_path / "data" / "standfast" / "run" / "server.json"
    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    told = json.loads(file.read_text())
    try:
        assert store.exists()
        with socket.create_connection(("127.0.0.1", int(told["address"].rpartition(":")[2]))):
            pass
    finally:
        os.kill(told["pid"], signal.SIGTERM)


@pytest.mark.parametrize(
    ("url", "project"),
    [
        ("git@git.example:ann/shop.git", "git.example/ann/shop"),
        ("https://git.example/ann/shop", "git.example/ann/shop"),
        ("https://ann:s3cret@Git.Example/ann/shop.git/", "git.example/ann/shop"),
        ("ssh://git@git.example:2222/ann/shop.git", "git.example/ann/shop"),
        ("../elsewhere", None),
        ("file:///srv/shop.git", None),
        ("", None),
    ],
)
def test_O8_the_project_is_its_repository_without_who_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, project: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    git = tmp_path / "code" / "shop" / ".git"
    git.mkdir(parents=True)
    (git / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
    below = tmp_path / "code" / "shop" / "a" / "b"
    below.mkdir(parents=True)
    assert client.project_of(str(below)) == (project or "~/code/shop")


def test_O8_a_work_tree_is_the_project_of_its_repository(tmp_path: Path) -> None:
    git = tmp_path / "main" / ".git"
    (git / "worktrees" / "other").mkdir(parents=True)
    (git / "config").write_text('[remote "origin"]\n\turl = https://git.example/a/b\n')
    (git / "worktrees" / "other" / "commondir").write_text("../..\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").write_text(f"gitdir: {git}/worktrees/other\n")
    assert client.project_of(str(other)) == "git.example/a/b"


@pytest.mark.parametrize("name", ["a:b", "100%", "x" * 500, "new\nline", "\u200b", "ünï/çødé"])
def test_O8_any_folder_makes_a_scope(name: str) -> None:
    from standfast.scopes import parse_scope

    parse_scope(f"user:default:project:{client._encoded(name)}")


def test_O8_uninstalled_nothing_is_left_and_the_key_is_revoked(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "home", tmp_path)
    agent.settings.parent.mkdir(parents=True)
    agent.settings.write_text('{"model": "opus"}')
    own = {name: agent.env[name] for name in ("HOME", "XDG_DATA_HOME")}
    with started(tmp_path, "--embedder", "hashing", **own) as running:
        assert agent.standfast("hooks", "install", "claude-code").returncode == 0
        file = agent.home / RUN / "server.json"
        wait_for(file.exists)
        secret = json.loads(file.read_text())["key"]
        assert _status(running, secret) == 200
        assert agent.standfast("hooks", "uninstall", "claude-code").returncode == 0
        assert not (agent.home / RUN).exists()
        wait_for(lambda: _status(running, secret) == 401)
    assert not (agent.home / RUN).exists()
    assert agent.settings.read_text() == '{"model": "opus"}'


def _status(running: Any, secret: str) -> int:
    import httpx2

    headers = {"Authorization": f"Bearer {secret}"}
    return int(httpx2.get(f"{running.address}/v1/stats", headers=headers).status_code)


@pytest.mark.proof
def test_O8_a_hook_answers_in_150_ms_at_20_000_messages(agent: Agent, server: Any) -> None:
    """Median and 95 % beside ``python -c pass`` in the same run."""
    import httpx2

    key = json.loads((agent.home / "data/standfast/run/server.json").read_text())["key"]
    with httpx2.Client(
        base_url=server.address, headers={"Authorization": f"Bearer {key}"}, timeout=120
    ) as sender:
        for start in range(0, 20_000, 500):
            messages = [
                {"role": "user", "content": f"note {n}: module {n % 97} depends on {n % 31}"}
                for n in range(start, start + 500)
            ]
            body = {"session": f"s{start // 2000}", "messages": messages, "scope": PROJECT}
            assert sender.post("/v1/observe", json=body).status_code == 200
        deadline = time.monotonic() + 200  # what upkeep makes of them is another matter
        while time.monotonic() < deadline and sender.get("/v1/due").json()["work"]:
            time.sleep(1)
    times: dict[str, list[float]] = {"pass": [], "UserPromptSubmit": [], "SessionStart": []}
    for _ in range(25):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True, timeout=60)
        times["pass"].append(time.perf_counter() - begun)
        for name in ("UserPromptSubmit", "SessionStart"):
            event = {"hook_event_name": name, "session_id": "s3", "cwd": str(agent.project),
                     "prompt": "what does module 12 depend on?", "source": "startup"}  # fmt: skip
            begun = time.perf_counter()
            run_client(json.dumps(event), agent.env)
            times[name].append(time.perf_counter() - begun)
    for name, found in times.items():
        ordered = sorted(found)
        print(f"{name}: median {ordered[12] * 1000:.0f} ms, p95 {ordered[23] * 1000:.0f} ms")
    # A machine that is busy is slow for both: `python -c pass` takes 15 ms where it is not.
    slower = max(1.0, statistics.median(times["pass"]) / 0.015)
    assert statistics.median(times["UserPromptSubmit"]) < 0.15 * slower
    assert statistics.median(times["SessionStart"]) < 0.15 * slower
