"""What the project is deployed with: the unit file, the image, the compose files."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from standfast.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.mark.parametrize("file", sorted(DEPLOY.iterdir()), ids=lambda file: file.name)
def test_C6_what_is_deployed_names_only_settings_there_are(file: Path) -> None:
    known = {f"STANDFAST_{field.name.upper()}" for field in fields(Settings)}
    named = set(re.findall(r"\bSTANDFAST_[A-Z_]+\b", file.read_text("utf-8")))
    assert named
    assert named <= known


def test_C6_the_unit_file_is_one(tmp_path: Path) -> None:
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("systemd-analyze is not on this machine")
    program = tmp_path / "standfast"
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    unit = tmp_path / "standfast.service"
    text = (DEPLOY / "standfast.service").read_text("utf-8")
    unit.write_text(text.replace("/opt/standfast/bin/standfast", str(program)), "utf-8")
    done = subprocess.run([tool, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_C6_the_image_runs_without_root_and_is_watched() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    assert text.rindex("USER standfast") > text.rindex("useradd")
    assert "HEALTHCHECK" in text
    assert "--require-hashes" in text


def test_C6_the_image_is_built_where_docker_is() -> None:
    tool = shutil.which("docker")
    if tool is None or subprocess.run([tool, "info"], capture_output=True, check=False).returncode:
        pytest.skip("no Docker engine runs on this machine")
    command = [tool, "build", "-q", "-f", str(DEPLOY / "Dockerfile"), str(DEPLOY.parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# The compose files work as they are printed: no engine is needed to see that the server's user may
# read what is mounted

COMPOSED = ("compose.yaml", "compose.postgres.yaml")
SERVER_USER = 10_001  # as the Dockerfile makes it


def composed(name: str) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    found: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text("utf-8"))
    return found


def set_up(name: str, folder: Path, umask: str) -> Path:
    """The folder with the secrets that the commands at the head of the file make, docker aside."""
    head = (DEPLOY / name).read_text("utf-8").partition("services:")[0]
    commands = [line[4:] for line in head.splitlines() if line.startswith("#   ")]
    assert commands[-1].startswith(f"docker compose -f deploy/{name} up")
    script = "\n".join((f"umask {umask}", *commands[:-1]))
    subprocess.run(["sh", "-euc", script], cwd=folder, check=True)
    return folder / "secrets"


@pytest.mark.skipif(os.name != "posix", reason="modes of files are of POSIX")
@pytest.mark.skipif(shutil.which("openssl") is None, reason="the commands need openssl")
@pytest.mark.parametrize("umask", ["002", "022", "077"])
@pytest.mark.parametrize("name", COMPOSED)
def test_C6_the_servers_user_may_read_the_secrets_and_nobody_else_here(
    name: str, umask: str, tmp_path: Path
) -> None:
    secrets = set_up(name, tmp_path, umask)
    set_up(name, tmp_path, umask)  # once more, for others
    files = {
        one: (DEPLOY / told["file"]).resolve().relative_to(DEPLOY.parent)
        for one, told in composed(name)["secrets"].items()
    }
    assert {secrets / path.name for path in files.values()} == {*secrets.iterdir()}
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700, "it keeps others of this machine out"
    for path in files.values():
        assert path.parent.name == "secrets"
        assert stat.S_IMODE((tmp_path / path).stat().st_mode) & 0o004
        assert len((tmp_path / path).read_text().strip()) >= 32


def test_C6_what_a_service_reads_is_mounted_into_it() -> None:
    for name in COMPOSED:
        whole = composed(name)
        for told in whole["services"].values():
            named = set(re.findall(r"/run/secrets/(\w+)", repr(told)))
            assert named == set(told["secrets"])
            assert named <= set(whole["secrets"])


def as_server(command: list[str]) -> list[str]:
    """As the user of the container, without its groups; where only root can."""
    if os.getuid():
        return command
    user = ["--reuid", str(SERVER_USER), "--regid", str(SERVER_USER), "--clear-groups"]
    return [
        shutil.which("setpriv") or pytest.skip("setpriv is not on this machine"),
        *user,
        *command,
    ]


@pytest.fixture
def world() -> Iterator[Path]:
    """A folder that every user may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are of POSIX")
@pytest.mark.skipif(shutil.which("openssl") is None, reason="the commands need openssl")
def test_C6_the_password_file_is_the_servers_own_and_as_libpq_wants_it(
    world: Path, tmp_path: Path
) -> None:
    secrets = set_up("compose.postgres.yaml", tmp_path, "077")
    mounted, memory, programs = world / "secrets", world / "tmp", world / "bin"
    shutil.copytree(secrets, mounted)  # with the modes that they have here, as a mount shows them
    mounted.chmod(0o755)
    for folder in (memory, programs):
        folder.mkdir()
    memory.chmod(0o1777)
    (programs / "standfast").write_text('#!/bin/sh\necho "$@"\n')
    (programs / "standfast").chmod(0o755)
    service = composed("compose.postgres.yaml")["services"]["standfast"]
    assert service["tmpfs"] == ["/tmp"], "it lies in memory only"
    script = service["entrypoint"][-1].replace("$$", "$")
    script = script.replace("/run/secrets", str(mounted)).replace("/tmp/pgpass", f"{memory}/pgpass")
    environment = {"PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run(
        as_server([*service["entrypoint"][:-1], script]),
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("serve\n", "")
    made = memory / "pgpass"
    assert made.stat().st_uid == (os.getuid() or SERVER_USER)
    assert stat.S_IMODE(made.stat().st_mode) == 0o600, "libpq ignores one that others may read"
    password = (secrets / "postgres_password").read_text().strip()
    assert made.read_text() == f"postgres:5432:standfast:standfast:{password}\n"
    store = urlsplit(service["environment"]["STANDFAST_STORE"])
    assert parse_qs(store.query)["passfile"] == ["/tmp/pgpass"]
    assert (store.username, store.hostname, store.path) == ("standfast", "postgres", "/standfast")


def test_C6_an_unreadable_secret_ends_the_container_at_once(tmp_path: Path) -> None:
    """And does not begin a server with an empty password."""
    entrypoint = composed("compose.postgres.yaml")["services"]["standfast"]["entrypoint"]
    script = entrypoint[-1].replace("$$", "$").replace("/run/secrets", str(tmp_path / "none"))
    script = script.replace("/tmp/pgpass", str(tmp_path / "pgpass"))
    done = subprocess.run([*entrypoint[:-1], script], capture_output=True, check=False)
    assert done.returncode
    assert not (tmp_path / "pgpass").exists()


def test_C6_the_image_is_made_of_what_is_pinned() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    bases = re.findall(r"^FROM (\S+)(?: AS (\w+))?", text, re.MULTILINE)
    stages = {name for _, name in bases if name}
    for base, _ in bases:
        assert base in stages or re.search(r"@sha256:[0-9a-f]{64}$", base), base
    for line in re.findall(r"pip install (.*)", text):
        assert "--require-hashes" in line or {"--no-deps", "--no-build-isolation"} <= {
            *line.split()
        }
    serve = (DEPLOY.parent / "requirements" / "serve.txt").read_text("utf-8")
    assert re.search(r"^flit-core==\S+ \\\n\s+--hash=sha256:", serve, re.MULTILINE), "what builds"


def test_C6_every_image_of_a_compose_file_is_pinned() -> None:
    for name in COMPOSED:
        for told in composed(name)["services"].values():
            if "image" in told:
                assert re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", told["image"])


def test_C6_secrets_are_neither_committed_nor_sent_to_the_builder() -> None:
    root = DEPLOY.parent
    assert "/secrets/" in (root / ".gitignore").read_text("utf-8").splitlines()
    allowed = (root / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in allowed
    copied = re.findall(r"^COPY ((?!--).+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    for name in " ".join(copied).split():
        assert f"!{name}" in allowed, f"the image needs {name}"
