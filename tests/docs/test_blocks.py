"""Every code block in the pages works: a page's blocks run in order, in a folder of their own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

from tests.commands import run_here
from tests.docs.pages import PAGES, PROJECT, Block, blocks_of, commands_of, matches

COMMAND_SECONDS_MAX = 60
COMMAND = """\
import sys
from standfast.interfaces.cli import main
sys.exit(main())
"""


def name_of(page: Path) -> str:
    return page.relative_to(PROJECT).as_posix()


def pages_that_run() -> list[Path]:
    return [
        page for page in PAGES if any(block.runs for block in blocks_of(page.read_text("utf-8")))
    ]


def blocks_that_do_not_run() -> list[tuple[str, str]]:
    return [
        (f"{name_of(page)}:{block.line}", block.not_run)
        for page in PAGES
        for block in blocks_of(page.read_text("utf-8"))
        if block.not_run
    ]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, a home, and `standfast` as a command."""
    for variable in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        folder = tmp_path / variable.lower()
        folder.mkdir()
        monkeypatch.setenv(variable, str(folder))
    commands = tmp_path / "bin"
    commands.mkdir()
    command = commands / "standfast"
    command.write_text(f"#!{sys.executable}\n{COMMAND}")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.mark.parametrize("page", pages_that_run(), ids=name_of)
def test_the_blocks_of_a_page_run(page: Path, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("page")  # a real module, so that dataclasses in a page work
    monkeypatch.setitem(sys.modules, "page", module)
    for block in blocks_of(page.read_text("utf-8")):
        if not block.runs:
            continue
        if block.language == "python":
            run_python(block, page, module)
        else:
            run_console(block, page, desk)


def run_python(block: Block, page: Path, module: types.ModuleType) -> None:
    padding = "\n" * (block.line - 1)  # so that a traceback names the line of the page
    exec(compile(padding + block.code, name_of(page), "exec"), module.__dict__)


def run_console(block: Block, page: Path, desk: Path) -> None:
    for command in commands_of(block.code):
        answer = run_command(command.line, desk)
        where = f"{name_of(page)}:{block.line}: $ {command.line}"
        assert answer.returncode == 0, f"{where}\n{answer.stdout}{answer.stderr}"
        if block.compares_output:
            assert matches(command.output, answer.stdout), f"{where}\n{answer.stdout}"


def run_command(line: str, desk: Path) -> subprocess.CompletedProcess[str]:
    """Here if that makes no difference: not a shell's work, nor a server on its descriptors."""
    if re.match(r"standfast (?!.*\bmcp\b)[^|<>&;$*`]*$", line):
        return run_here(shlex.split(line, comments=True)[1:])
    return subprocess.run(
        line,
        shell=True,
        cwd=desk,
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_SECONDS_MAX,
    )


@pytest.mark.parametrize(("where", "reason"), blocks_that_do_not_run())
def test_a_block_that_is_not_run_says_why(where: str, reason: str) -> None:
    pytest.skip(f"{where}: {reason}")


def test_the_readme_shows_the_library_and_the_command() -> None:
    languages = {
        block.language
        for block in blocks_of((PROJECT / "README.md").read_text("utf-8"))
        if block.runs
    }
    assert languages == {"python", "console"}
