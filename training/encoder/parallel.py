"""``python -m training.encoder.parallel FOLDER OUT``: English texts with their translations.

FOLDER holds, of Debian releases, ``RELEASE-LANGUAGE.bz2`` (``Translation-LANGUAGE.bz2`` of their
package lists) and, in ``LANGUAGE/``, the unpacked packages ``libreoffice-help-LANGUAGE`` (MPL-2.0).
OUT receives stores as ``training.stores`` writes them: half of the questions are in English.
"""

from __future__ import annotations

import bz2
import html
import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from training.groups import batched
from training.stores import TOPIC, Asked, Place, Store, Turn, write

# language -> its names in package lists, its name among the packages of help
LANGUAGES: Mapping[str, tuple[Sequence[str], str]] = {
    **{one: ((one,), one) for one in "de fr es it nl pl tr ru ja ko".split()},
    "pt": (("pt", "pt_BR"), "pt-br"),
    "zh": (("zh_CN",), "zh-cn"),
}
RELEASES = ("bookworm", "trixie", "sid")
TURNS = 64
DESCRIPTIONS_MAX, HELP_LEAST = 3600, 1200  # pairs of a language
CHARACTERS = range(12, 301)
SEED = 5

_FIELD = re.compile(r"Description-(?!md5)\w+: (.*)", re.DOTALL)
_DIGEST = re.compile(r"Description-md5: (\w+)")
_PARAGRAPH = re.compile(r'<(?:p|h\d)[^>]*id="(\w+)"[^>]*>(.*?)</(?:p|h\d)>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")

Texts = dict[str, list[str]]


def descriptions(folder: Path, names: Iterable[str]) -> Texts:
    """Digest of a package description -> its paragraphs in that language."""
    found: Texts = {}
    for path in (folder / f"{release}-{name}.bz2" for name in names for release in RELEASES):
        if path.exists():
            for block in bz2.decompress(path.read_bytes()).decode("utf-8").split("\n\n"):
                digest, field = _DIGEST.search(block), _FIELD.search(block)
                if digest and field:
                    found[digest[1]] = list(_paragraphs(field[1].split("\n")))
    return found


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    yield lines[0]
    words: list[str] = []
    for line in lines[1:]:
        if line.strip() == ".":
            yield " ".join(words)
            words = []
        else:
            words.append(line.strip())
    yield " ".join(words)


def help_texts(folder: Path) -> dict[tuple[str, str], str]:
    """Page and paragraph -> its text."""
    found = {}
    for root in folder.glob("usr/share/libreoffice/help/*/text"):
        for page in sorted(root.rglob("*.html")):
            for id_, raw in _PARAGRAPH.findall(page.read_text("utf-8", "replace")):
                text = " ".join(html.unescape(_TAG.sub("", raw)).split())
                if len(text) in CHARACTERS:
                    found[str(page.relative_to(root)), id_] = text
    return found


def pairs_of(folder: Path, language: str, english: Texts, rng: random.Random) -> list[list[str]]:
    """English and the other language, each English text once."""
    names, help_name = LANGUAGES[language]
    theirs = descriptions(folder, names)
    both = {
        ours: other
        for digest, texts in theirs.items()
        if len(english.get(digest, ())) == len(texts)
        for ours, other in zip(english[digest], texts, strict=True)
        if len(ours) in CHARACTERS and ours != other
    }
    some = _sample(both, DESCRIPTIONS_MAX, rng)
    ours_help, help_there = help_texts(folder / "en-us"), help_texts(folder / help_name)
    helped = {ours_help[key]: text for key, text in help_there.items() if key in ours_help}
    helped = {ours: other for ours, other in helped.items() if ours != other}
    return some + _sample(helped, max(HELP_LEAST, DESCRIPTIONS_MAX - len(some)), rng)


def _sample(pairs: Mapping[str, str], most: int, rng: random.Random) -> list[list[str]]:
    found = [list(pair) for pair in sorted(pairs.items())]
    rng.shuffle(found)
    return found[:most]


def stores(folder: Path) -> Iterator[Store]:
    rng = random.Random(SEED)
    english = descriptions(folder, ("en",))
    for language in LANGUAGES:
        pairs = pairs_of(folder, language, english, rng)
        for number, group in enumerate(batched(pairs, TURNS)):
            asked, told = (0, 1) if number % 2 else (1, 0)
            turns = [Turn("", pair[told]) for pair in group]
            questions = [
                Asked(pair[asked], [Place(0, place)], TOPIC) for place, pair in enumerate(group)
            ]
            yield Store(f"parallel-{language}", [turns], questions)


def main(arguments: Sequence[str] | None = None) -> int:
    named = sys.argv[1:] if arguments is None else arguments
    if len(named) != 2:
        print("error: say the folder with the files, and the file to write", file=sys.stderr)
        return 2
    write(stores(Path(named[0])), Path(named[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
