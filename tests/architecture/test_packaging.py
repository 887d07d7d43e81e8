"""The pins and the package: complete, hashed, and naming no place they came from."""

from __future__ import annotations

import re
import subprocess
import sysconfig
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest
from flit_core.wheel import make_wheel_in

from tests.architecture.source import PACKAGE, PROJECT
from tests.docs.pages import blocks_of

PINS = ("requirements/dev.txt", "requirements/serve.txt", "requirements/bench.txt")
PROOF_PINS = "requirements/proof.txt"  # a model for `make test-long`, in a folder of its own
ADDRESS = re.compile(r"://|--(?:index|extra-index|find-links|trusted-host)|@ |(?:^|\s)/\w")


def text_of(name: str) -> str:
    return (PROJECT / name).read_text("utf-8")


def pinned(name: str) -> dict[str, str]:
    """Package -> version, names in the registry's normal form."""
    return dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", text_of(name), re.MULTILINE))


def normal(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name, requirement
    return re.sub(r"[-_.]+", "-", name.group()).lower()


@pytest.mark.parametrize("name", [*PINS, PROOF_PINS, "pyproject.toml", "Makefile"])
def test_no_pin_names_an_address(name: str) -> None:
    lines = text_of(name).splitlines()
    if name == "Makefile":  # it says --no-emit-find-links, and paths begin with a variable
        lines = [line for line in lines if "://" in line]
    assert [line for line in lines if ADDRESS.search(line)] == []


@pytest.mark.parametrize("name", [*PINS, PROOF_PINS])
def test_every_pin_has_a_hash(name: str) -> None:
    blocks = re.split(r"^(?=[a-z0-9])", text_of(name), flags=re.MULTILINE)[1:]
    assert blocks
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize(
    ("name", "extras"),
    [
        (PINS[0], ("server", "dev", "local", "llm", "postgres")),
        (PINS[1], ("server", "local", "postgres")),
        (PINS[2], ("bench", "server")),
    ],
)
def test_everything_asked_for_is_pinned(name: str, extras: tuple[str, ...]) -> None:
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    asked = [*project["dependencies"]]
    for extra in extras:
        asked += project["optional-dependencies"][extra]
    missing = {normal(requirement) for requirement in asked} - set(pinned(name))
    assert not missing, "run `make pins`"


def test_the_pin_files_agree() -> None:
    dev, serve, bench = (pinned(name) for name in PINS)
    assert serve.items() <= dev.items(), "run `make pins`"
    assert bench.keys() - dev.keys() == {"sqlite-vec"}
    assert {(name, bench[name]) for name in bench.keys() & dev.keys()} <= dev.items()


def test_the_extras_of_the_design_exist() -> None:
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    assert set(project["optional-dependencies"]) == {
        "local", "llm", "client", "server", "redis", "surreal", "postgres", "slack", "bench", "dev",
        "anthropic", "google-adk", "langgraph", "llama-index", "openai-agents", "proxy",
        "pydantic-ai", "oidc", "encrypt",
    }  # fmt: skip


def test_the_package_is_typed_and_licensed() -> None:
    assert (PACKAGE / "py.typed").exists()
    assert "Apache License" in text_of("LICENSE")


def test_the_wheel_holds_the_language_files_and_the_prompts(tmp_path: Path) -> None:
    made = make_wheel_in(PROJECT / "pyproject.toml", tmp_path)
    packed = set(ZipFile(made.file).namelist())
    data = [*PACKAGE.glob("text/words/*.toml"), *PACKAGE.glob("models/prompts/*.md")]
    assert len(data) > 20
    assert {str(path.relative_to(PACKAGE.parent)) for path in data} <= packed


def test_the_wheel_runs_the_tutorial_in_a_clean_environment(tmp_path: Path) -> None:
    """Installed from the wheel, away from the source; only what it depends on is lent."""
    wheel = make_wheel_in(PROJECT / "pyproject.toml", tmp_path).file
    home = tmp_path / "environment"
    venv.create(home, with_pip=True, symlinks=True)
    python = home / "bin" / "python"
    install = [
        str(python),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        str(wheel),
    ]
    subprocess.run(install, check=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    (site / "lent.pth").write_text(f"{sysconfig.get_path('purelib')}\n", "utf-8")
    tutorial = text_of("docs/tutorial/first-session.md")
    code = "\n".join(block.code for block in blocks_of(tutorial) if block.language == "python")
    code += f"\nimport standfast; assert standfast.__file__.startswith({str(home)!r})"
    environ = {"PATH": f"{home / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path)}
    for command in ([str(python), "-c", code], [str(home / "bin" / "standfast"), "--version"]):
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_the_continuous_integration_runs_what_a_person_runs() -> None:
    script = PROJECT / ".ci" / "run"
    assert "make test" in script.read_text("utf-8")
    assert script.stat().st_mode & 0o111, "make .ci/run executable"


@pytest.mark.parametrize("pattern", ["*.md", "docs/**/*.md", "src/**/*.py", "scripts/**/*.py"])
def test_no_file_names_a_machine_path(pattern: str) -> None:
    home = re.compile(r"(?<![\w./:-])/(?:work|tmp|root|home|opt)/\w")
    guilty = [
        f"{path.relative_to(PROJECT)}: {line.strip()}"
        for path in sorted(Path(PROJECT).glob(pattern))
        for line in path.read_text("utf-8").splitlines()
        if home.search(line)
    ]
    assert guilty == []
