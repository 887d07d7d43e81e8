"""A language is a data file: read at first use, checked, and enough to teach every rule."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from standfast.errors import Invalid
from standfast.text import words

SHIPPED = Path(words.__file__).parent
CACHES = (words._texts, words._shape_texts, words._shapes, words._group, words.words)

# Nobody speaks it, so no other file has its words.
TOY = r"""
name = 'Toy'

[compare]
negators = 'nokku'

[dates]
months = '1 Unuary Duary Triary Kvary Kviny Sesy Sepy Okuary Nauary Dekary Elvary Tolvary'

[dates.days_away]
-1 = 'hieru'
1 = 'morgu'

[dates.relations]
since = 'ekde'

[secrets]
passwords = 'sekretvort'
are = 'estu'
"""

SPOKEN = """
import json, sys
from datetime import UTC, datetime
from pathlib import Path
from standfast.text import words
words.FOLDER = Path(sys.argv[1])
from standfast.text.compare.parts import read
from standfast.text.dates import time_spans
from standfast.text.redact import redact

at = datetime(2026, 5, 20, 12, tzinfo=UTC)
print(json.dumps({
    "negation": bool(read("bilo nokku tarra").negated) and not read("bilo tarra").negated,
    "dates": [str(span.start.date()) for span in time_spans("hieru, morgu, 3 Kvary 2025", at)],
    "since": [span.relation for span in time_spans("ekde Duary", at)],
    "secret": redact("Sekretvort estu Mango77!kiwi").text,
}))
"""


def spoken(folder: Path) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", SPOKEN, str(folder)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    answers: dict[str, object] = json.loads(done.stdout)
    return answers


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the language files, which the loader reads instead of the shipped ones."""
    copied = tmp_path / "words"
    shutil.copytree(SHIPPED, copied, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    monkeypatch.setattr(words, "FOLDER", copied)
    for cached in CACHES:
        cached.cache_clear()
    yield copied
    for cached in CACHES:
        cached.cache_clear()


def test_a_language_is_added_by_adding_a_file(folder: Path) -> None:
    unknown = spoken(folder)
    assert unknown["negation"] is False
    assert unknown["dates"] == []
    assert unknown["secret"] == "Sekretvort estu Mango77!kiwi"

    (folder / "toy.toml").write_text(TOY, "utf-8")
    assert spoken(folder) == {
        "negation": True,
        "dates": ["2026-05-19", "2026-05-21", "2025-04-03"],
        "since": ["since"],
        "secret": "Sekretvort estu [redacted:password]",
    }


def test_every_shipped_file_fits() -> None:
    words.check()
    assert words.languages("compare.negators")[:4] == ("en", "de", "fr", "es")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[compare]\nnegaters = 'nie'", "xx.toml: there is no section 'compare.negaters'"),
        ("[comparing]\nnegators = 'nie'", "xx.toml: there is no section 'comparing'"),
        ("language = 'xx'", "xx.toml: there is no section 'language'"),
        ("[compare]\nnegators = 3", "xx.toml: compare.negators must be words"),
        ("[compare]\nnegators = ['nie', 3]", "xx.toml: compare.negators must be words"),
        ("[dates]\nmonths = ['x']", "xx.toml: dates.months must be words in rising order"),
        ("[dates]\nunits = 'hora'", "xx.toml: dates.units must be a table"),
        ("[answers]\nasked = ['a']", "xx.toml: answers.asked must be a list of"),
        ("[answers]\ntold = ['a']", "xx.toml: answers.told must be a table"),
        ("order = 'first'", "xx.toml: order must be a number"),
        ("[compare]\nnegators = nie", "xx.toml is no TOML"),
        ("[compare]\nnegators = 'x'\n[ dates ]\nthe = 'x'", "xx.toml: write [dates] without"),
        ("[dates]\npast = '(x'", "xx.toml: dates.past is no regular expression"),
    ],
)
def test_a_file_that_does_not_fit_is_named_with_its_section(
    folder: Path, text: str, message: str
) -> None:
    (folder / "xx.toml").write_text(text, "utf-8")
    with pytest.raises(Invalid) as error:
        words.check()
    assert str(error.value).startswith(message)


def test_a_section_that_is_unknown_is_a_mistake_of_the_code() -> None:
    with pytest.raises(KeyError):
        words.words("compare.negaters")


def test_words_are_counted_from_the_number_before_them(folder: Path) -> None:
    (folder / "xx.toml").write_text("[compare]\nnumbers = '7 zep/zepu okt 20 dudek'", "utf-8")
    numbers = words.counted("compare.numbers", "xx")
    assert numbers == {"zep": 7, "zepu": 7, "okt": 8, "dudek": 20}


def test_every_name_of_a_key_or_token_holds_an_anchor() -> None:
    """Redaction looks for a name only where one of the anchors is in the text."""
    for kind in ("key", "token"):
        anchors = words.words(f"secrets.{kind}_anchors")
        for code in words.languages(f"secrets.{kind}s"):
            for name in words.alternatives(f"secrets.{kind}s", code).split("|"):
                assert any(anchor in name or name in anchor for anchor in anchors), name


def test_nothing_is_read_before_the_first_question() -> None:
    code = (
        "import standfast.memory, standfast.upkeep.learn\n"
        "from standfast.text import words\n"
        "print(words._texts.cache_info().misses, words._group.cache_info().misses)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["0", "0"]
