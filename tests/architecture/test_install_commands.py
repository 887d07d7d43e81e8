"""No text tells anybody to install this project from an index: there it may be another's."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from standfast.errors import install_command
from tests.architecture.source import PACKAGE, PROJECT

TEXTS = (
    "*.md",
    "Makefile",
    "deploy/*",
    "model/**/*.md",
    "model/**/*.py",
    *(f"docs/**/*.{kind}" for kind in ("md", "svg", "json")),
    *(f"src/**/*.{kind}" for kind in ("py", "md", "html", "js", "toml")),
    *(f"{folder}/**/*.py" for folder in ("scripts", "bench", "evaluation", "proof", "training")),
)
# An installer, at most six arguments, and the name, with an extra or without: on one line or two.
FROM_AN_INDEX = re.compile(
    r"""\b(?:uvx|pipx\s+run|(?:pip3?|pipx|uv|poetry|pdm|conda)\s+(?:pip\s+|tool\s+)?(?:install|add|run))
        (?P<options>(?:\s+[^\s`&;|]+){0,6}?)
        \s+["'\\]*standfast(?:[-_]model)?(?![\w/-])""",
    re.VERBOSE,
)
SPELLED = re.compile(r"pip install[^\n]*(?:\.\[|\./model|standfast|--find-links)")


def from_an_index(text: str) -> Iterator[str]:
    for found in FROM_AN_INDEX.finditer(text):
        if "--find-links" not in found["options"]:
            yield " ".join(found.group().split())


def texts(root: Path) -> Iterator[Path]:
    return (path for pattern in TEXTS for path in sorted(root.glob(pattern)) if path.is_file())


def test_no_text_installs_from_an_index() -> None:
    files = list(texts(PROJECT))
    assert len(files) > 500
    guilty = [
        f"{path.relative_to(PROJECT)}: {line}"
        for path in files
        for line in from_an_index(path.read_text("utf-8"))
    ]
    assert guilty == [], "say what works from a clone or from built wheels"


@pytest.mark.parametrize(
    "text",
    [
        "pip install standfast",
        "pip install -U 'standfast[server]'",
        'run `pip install "standfast[local]" standfast-model`',
        "pip install standfast-model",
        "pip3 install numpy standfast",
        "python -m pip install\n    --upgrade standfast",
        "uv add standfast",
        "uv pip install 'standfast[llm]'",
        "uv tool install standfast",
        "uvx --from 'standfast[server]' standfast mcp",
        "pipx install standfast",
        "pipx run standfast",
        r"print('pip install \'standfast[slack]\'')",
    ],
)
def test_a_planted_line_is_found(text: str) -> None:
    assert list(from_an_index(text))


@pytest.mark.parametrize(
    "text",
    [
        "pip install '.[server]' ./model && standfast serve",
        "pip install --find-links dist 'standfast[server]' standfast-model",
        "pip install --no-index --find-links dist standfast",
        "pip install keyring; standfast serve",
        "/opt/standfast/bin/pip install --no-deps . ./model",
        "uv run python -m build",
    ],
)
def test_what_works_without_an_index_is_not_found(text: str) -> None:
    assert not list(from_an_index(text))


def test_one_helper_spells_how_to_install() -> None:
    modules = [
        str(path.relative_to(PACKAGE))
        for path in sorted(PACKAGE.rglob("*.py"))
        if SPELLED.search(path.read_text("utf-8"))
    ]
    assert modules == ["errors.py"], "use standfast.errors.install_command"


def test_every_extra_that_an_error_names_exists() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    named = {
        extra
        for path in PACKAGE.rglob("*.py")
        for extra in re.findall(r"""install_command\(["']([\w-]+)["']\)""", path.read_text("utf-8"))
    }
    assert {"server", "client", "encrypt", "llm", "local", "model"} <= named
    assert named - {"model"} <= project["optional-dependencies"].keys()


def test_the_command_is_for_a_clone_and_for_wheels() -> None:
    assert install_command("redis") == (
        "pip install '.[redis]' in a clone, or with wheels: "
        "pip install --find-links dist 'standfast[redis]'"
    )
    assert install_command("model") == (
        "pip install ./model in a clone, or with wheels: "
        "pip install --find-links dist standfast-model"
    )
