"""The gates of names, sizes, commits and prose hold today, and notice what breaks them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.gates import commits, prose, sizes, vocabulary
from scripts.gates.project import BUDGETS, budgets, flattened


def module(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_every_name_is_made_of_words_of_the_field() -> None:
    assert vocabulary.problems() == []


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("chunking", False),  # no ban on gerunds
        ("ranking", False),
        ("HTTPServer", False),
        ("parse_reply", False),
        ("embed", False),
        ("speed", False),
        ("heard", True),
        ("Apart", True),
        ("beside", True),
        ("weighted", True),
        ("weighted_sum", False),
        ("is_third_party", False),
        ("keepsakery", True),
        ("FluxomatReader", True),
    ],
)
def test_a_name_is_judged_by_its_words(name: str, refused: bool) -> None:
    assert vocabulary.is_offender(name) is refused


def test_a_planted_name_is_found(tmp_path: Path) -> None:
    module(tmp_path, "__init__.py", "")
    module(
        tmp_path, "rooms/zorbling.py", "class Heard: ...\ndef weighed(): ...\ndef _told(): ...\n"
    )
    assert vocabulary.offenders(tmp_path) == {"zorbling", "Heard", "weighed"}


def test_the_words_of_our_own_are_few_and_in_order() -> None:
    own = vocabulary.listed(vocabulary.OWN)
    assert 0 < len(own) <= vocabulary.OWN_WORDS_MAX
    known = vocabulary.known_offenders()
    assert vocabulary.OFFENDERS.read_text("utf-8").split() == sorted(known)


def test_nothing_is_larger_than_its_budget() -> None:
    assert sizes.problems() == []


def test_the_budgets_hold_every_measure() -> None:
    names = {name.partition(".")[0] for name, _ in flattened(budgets())}
    assert names == {"package", "regex", "words", "surface", "prose", "steps"}


def test_growth_and_an_unused_budget_are_noticed(tmp_path: Path) -> None:
    module(tmp_path, "__init__.py", "")
    module(tmp_path, "rooms/one.py", "import re\nA = re.compile('abc')\n")
    module(tmp_path, "rooms/words/german.py", "WORDS = ('und',)\n")
    assert sizes.packages(tmp_path)["rooms"] == {"lines": 3, "statements": 3, "files": 2}
    assert sizes.expressions(tmp_path) == {"count": 1, "length": 3}
    assert sizes.word_list_lines(tmp_path) == 1
    assert list(sizes.compared({"a": 11}, {"a": 10})) != []
    assert list(sizes.compared({"a": 10}, {"a": 10})) == []
    assert list(sizes.compared({"a": 10}, {"a": 500})) != []
    assert list(sizes.compared({"new": 1}, {})) != []
    assert list(sizes.compared({}, {"gone": 1})) != []


def test_commits_since_the_gate_say_what_they_do() -> None:
    assert commits.problems() == []


@pytest.mark.parametrize(
    ("subject", "good"),
    [
        ("forget: never follow an aggregate upwards", True),
        ("http/auth: address the login form by its id", True),
        ("Merge branch 'main'", True),
        ("Readers read anew what they had seen", False),
        ("forget: never followed", True),
        ("forget: followed nothing", False),
        ("docs: adding a page", False),
        ("docs: adds a page", False),
        ("docs: say " + "x" * 70, False),
    ],
)
def test_a_subject_is_an_area_and_an_imperative(subject: str, good: bool) -> None:
    assert (commits.subject_problem(subject) is None) is good


def test_a_budget_is_raised_with_a_reason_only(tmp_path: Path) -> None:
    def git(*command: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *command], check=True)

    relative = BUDGETS.relative_to(commits.ROOT)
    git("init", "-q")
    for value, message in (
        (1, "tests: start"),
        (2, "tests: grow"),
        (3, "tests: grow\n\nBudget: x"),
    ):
        module(tmp_path, str(relative), f"[regex]\ncount = {value}\n")
        git("add", ".")
        git("commit", "-q", "-m", message)
    # Without the baseline the newest commit alone is read; it says why.
    assert commits.problems(tmp_path) == []
    git("reset", "-q", "--hard", "HEAD^")
    assert any("raises regex.count" in problem for problem in commits.problems(tmp_path))


def test_long_sentences_and_private_words_are_counted() -> None:
    text = "# Title\n\n" + "word " * 31 + ". Short one.\n\n| a | table |\n\n`packet` packet anew.\n"
    assert len(prose.long_sentences(text)) == 1
    assert prose.private_words(text) == ["anew", "packet"]
