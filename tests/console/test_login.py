"""From a one-time code to a key that works in one browser, and to nothing when one logs out."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from standfast.access.codes import make_code
from standfast.interfaces.http import first_start
from standfast.interfaces.http.first_start import Keeping, admit, console_link, greeting
from standfast.interfaces.http.secret_files import delete_expired, delete_used, write_secret
from standfast.settings import Settings
from standfast.types import ALL_RIGHTS
from tests.serving import Served, served

httpx = pytest.importorskip("httpx2")


class Clock:
    now = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(clock: Clock) -> Iterator[Served]:
    with served(clock=clock) as running:
        running.key()  # the door is closed to whoever has none
        yield running


def browser(server: Served) -> Any:
    return httpx.Client(base_url=server.url)


def log_in(server: Served, client: Any, **rights: Any) -> dict[str, str]:
    code = server.run(lambda engine: make_code(engine, **rights))
    made = client.post("/v1/login", json={"code": code})
    assert made.status_code == 201, made.text
    return {"Authorization": f"Bearer {made.json()['key']}"}


def test_X15_a_code_opens_once(server: Served) -> None:
    code = server.run(make_code)
    with browser(server) as one, browser(server) as other:
        assert one.post("/v1/login", json={"code": code}).status_code == 201
        refused = other.post("/v1/login", json={"code": code})
        assert refused.status_code == 401
        assert "standfast console" in refused.json()["detail"]


def test_X15_a_code_lasts_ten_minutes(server: Served, clock: Clock) -> None:
    early, late = server.run(make_code), server.run(make_code)
    with browser(server) as client:
        clock.now += timedelta(minutes=9, seconds=59)
        assert client.post("/v1/login", json={"code": early}).status_code == 201
        clock.now += timedelta(seconds=2)
        assert client.post("/v1/login", json={"code": late}).status_code == 401


def test_X15_the_key_works_in_its_browser_only(server: Served) -> None:
    with browser(server) as own, browser(server) as stranger:
        headers = log_in(server, own)
        cookie = own.cookies.jar
        assert own.get("/v1/me", headers=headers).json()["rights"] == sorted(ALL_RIGHTS)
        assert stranger.get("/v1/me", headers=headers).status_code == 401, "the page's half alone"
        assert own.get("/v1/me").status_code == 401, "the browser's half alone"
        (half,) = [one.value for one in cookie]
        forged = {"Authorization": f"Bearer rck_{half}"}
        assert stranger.get("/v1/me", headers=forged).status_code == 401


def test_X15_the_browsers_half_is_out_of_reach_of_scripts_and_other_sites(server: Served) -> None:
    code = server.run(make_code)
    with browser(server) as client:
        said = client.post("/v1/login", json={"code": code}).headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=strict" in said


def test_X15_a_second_tab_leaves_the_first_logged_in(server: Served) -> None:
    with browser(server) as client:
        first, second = log_in(server, client), log_in(server, client)
        assert client.get("/v1/me", headers=first).status_code == 200
        assert client.get("/v1/me", headers=second).status_code == 200


def test_X15_logging_out_revokes_the_key_and_no_other(server: Served) -> None:
    with browser(server) as client:
        first = log_in(server, client)
        second = log_in(server, client, scopes=("user:ann",), rights=("read",))
        assert client.post("/v1/logout", headers=second).status_code == 200
        assert client.get("/v1/me", headers=second).status_code == 401
        assert client.get("/v1/me", headers=first).status_code == 200


def test_X15_a_narrow_code_makes_a_narrow_key(server: Served) -> None:
    with browser(server) as client:
        headers = log_in(server, client, scopes=("user:ann",), rights=("read",))
        assert client.get("/v1/me", headers=headers).json()["scopes"] == ["user:ann"]
        refused = client.post("/v1/remember", headers=headers, json={"text": "x"})
        assert refused.status_code == 403


def test_X15_guessing_codes_is_slowed_down(server: Served) -> None:
    with browser(server) as client:
        codes = [
            client.post("/v1/login", json={"code": f"guess {n}"}).status_code for n in range(40)
        ]
    assert {*codes[:30]} == {401}
    assert {*codes[30:]} <= {401, 429}
    assert codes.count(429) >= 6


def test_X15_logging_in_often_is_no_guessing(server: Served) -> None:
    with browser(server) as client:
        for _ in range(40):
            log_in(server, client)


def test_X15_without_a_terminal_the_link_goes_into_a_private_file(
    server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    told = server.run(lambda _: console_link(server.memory, "http://127.0.0.1:4777"))
    assert "code=" not in told
    (file,) = tmp_path.iterdir()
    assert str(file) in told
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text().startswith("http://127.0.0.1:4777/#code=")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go, with some that are no business of ours."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "target").write_text("#code=")
    (tmp_path / "standfast-console-link.txt").symlink_to(tmp_path / "target")
    (tmp_path / "standfast-notes.txt").write_text("#code=")
    return tmp_path


def written(folder: Path) -> set[str]:
    """What lies there beside what is no business of ours."""
    return {one.name for one in folder.iterdir()} - {
        "target",
        "standfast-console-link.txt",
        "standfast-notes.txt",
    }


def test_X15_the_file_with_the_link_is_deleted_when_it_is_used(
    server: Served, temporary: Path
) -> None:
    for _ in range(2):
        server.run(lambda _: console_link(server.memory, "http://127.0.0.1:4777"))
    names = written(temporary)
    assert len(names) == 2
    used = (temporary / min(names)).read_text().strip().partition("#code=")[2]
    with browser(server) as client:
        assert client.post("/v1/login", json={"code": "x" + used}).status_code == 401
        assert written(temporary) == names, "nobody has used it"
        assert client.post("/v1/login", json={"code": used}).status_code == 201
    assert written(temporary) == {max(names)}
    assert len([*temporary.iterdir()]) == 4, "the others' are left alone"


def test_X15_files_with_secrets_are_deleted_when_they_have_expired(temporary: Path) -> None:
    link, key = (
        Path(write_secret("console", "http://127.0.0.1:4777/#code=x")),
        Path(write_secret("admin-key", "rck_x")),
    )
    for path in (link, key, temporary / "standfast-notes.txt"):
        os.utime(path, (time.time() - 601,) * 2)
    delete_expired()
    assert written(temporary) == {key.name}
    os.utime(key, (time.time() - 86_401,) * 2)
    with served():
        deadline = time.monotonic() + 10
        while written(temporary) and time.monotonic() < deadline:
            time.sleep(0.02)
    assert not written(temporary), "a server deletes them by itself"
    assert len([*temporary.iterdir()]) == 3, "the others' are left alone"


def test_X15_the_file_with_the_admin_key_is_deleted_when_it_is_used(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_start, "_is_logged", lambda: True)
    with served() as server, browser(server) as client:
        secret = server.run(lambda _: admit(server.memory, Settings()))
        other = server.key("user:ann")
        lines = [*greeting("http://127.0.0.1:4777", secret, Keeping(None, ""))]
        (name,) = written(temporary)
        assert any(name in line for line in lines)
        assert not any(secret in line for line in lines)
        for key, left in ((other, {name}), (secret, set()), (secret, set())):
            headers = {"Authorization": f"Bearer {key}"}
            assert client.get("/v1/me", headers=headers).status_code == 200
            assert written(temporary) == left


def test_X15_under_systemd_the_admin_key_goes_to_the_units_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else sees a unit's private /tmp, and many may read the journal."""
    state = tmp_path / "state"
    state.mkdir()
    reading, writing = os.pipe()
    out = os.fstat(writing)
    monkeypatch.setenv("STATE_DIRECTORY", str(state))
    monkeypatch.setenv("JOURNAL_STREAM", f"{out.st_dev}:{out.st_ino}")
    with open(writing, "w") as journal:
        monkeypatch.setattr("sys.stdout", journal)
        lines = [*greeting("http://127.0.0.1:4777", "rck_secret", Keeping(None, ""))]
        (name,) = written(state)
        assert any(str(state / name) in line for line in lines)
        assert not any("rck_secret" in line for line in lines)
        delete_used("rck_secret")
        assert not written(state)
    os.close(reading)


def test_X15_a_terminal_is_shown_the_link(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    told = server.run(lambda _: console_link(server.memory, "http://127.0.0.1:4777"))
    assert told.startswith("http://127.0.0.1:4777/#code=")


@pytest.mark.parametrize(
    ("public", "host", "secure"),
    [
        ("https://memory.example", "memory.example", True),
        ("https://memory.example", "127.0.0.1", False),
        ("http://memory.example", "memory.example", False),
        ("", "127.0.0.1", False),
    ],
)
def test_X15_behind_tls_the_browsers_half_is_sent_by_tls_only(
    public: str, host: str, secure: bool
) -> None:
    settings = Settings(public_url=public, hosts="memory.example")
    with served(app={"settings": settings}) as server, browser(server) as client:
        code = server.run(make_code)
        made = client.post("/v1/login", json={"code": code}, headers={"Host": host})
        assert ("; secure" in made.headers["set-cookie"].lower()) is secure
