"""``python -m training.overlap DATA FOLDER...``: does training data share text with anything there?

DATA is a file that ``training.prepare`` wrote. Every text of it is compared with every file below
the folders: thirteen words in a row that are the same, whatever their case and punctuation, are an
overlap (a letter counts as a word where a script has no blanks). Of JSON files every string is
read, of other files all they hold. Ends with 0 (nothing shared), 1 (something) or 2 (cannot run).
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training import stores

WORDS = 13
SHOWN = 5
FACTOR = np.uint64(0x9E3779B97F4A7C15)

Grams = NDArray[np.uint64]
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.overlap", description=__doc__)
    add = parser.add_argument
    add("data", type=Path, metavar="DATA", help="train.jsonl.gz")
    add("folders", type=Path, nargs="+", metavar="FOLDER", help="folders with texts of any kind")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    missing = [one for one in (options.data, *options.folders) if not one.exists()]
    if missing:
        print(f"error: there is no {missing[0]}", file=sys.stderr)
        return 2
    sources, texts = _training(options.data)
    lengths, grams = _grams_of_each(texts)
    owner = np.repeat(np.arange(len(texts)), lengths)
    print(f"{options.data.name}: {len(texts):,} texts, {len(grams):,} rows of {WORDS} words")
    found = False
    for folder in options.folders:
        files, theirs = _grams_below(folder)
        shared = np.isin(grams, theirs)
        hit = np.unique(owner[shared])
        print(
            f"{folder.name}: {files:,} files, {len(theirs):,} rows of {WORDS} words; "
            f"{len(np.unique(grams[shared])):,} of them in {len(hit):,} texts of training"
        )
        for source, count in Counter(sources[number] for number in hit).most_common():
            print(f"  {source}: {count:,}")
        for number in hit[:SHOWN]:
            print(f"    {sources[number]}: {texts[number][:100]}")
        found |= bool(len(hit))
    return 1 if found else 0


def _training(path: Path) -> tuple[list[str], list[str]]:
    """Every text once, with the first source that has it."""
    first: dict[str, str] = {}
    for store in stores.read(path):
        for session in store.sessions:
            for turn in session:
                first.setdefault(turn.text, store.source)
        for asked in store.questions:
            first.setdefault(asked.text, store.source)
    return list(first.values()), list(first)


def grams_of(text: str) -> Grams:
    """A number for every thirteen words in a row."""
    words = np.array([hash(word) for word in _WORD.findall(text.casefold())], dtype=np.int64)
    if len(words) < WORDS:
        return np.zeros(0, np.uint64)
    rows = np.lib.stride_tricks.sliding_window_view(words.view(np.uint64), WORDS)
    found = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        found = (found ^ column) * FACTOR
        found ^= found >> np.uint64(29)
    return found


def _grams_of_each(texts: Iterable[str]) -> tuple[list[int], Grams]:
    parts = [grams_of(text) for text in texts]
    return [len(part) for part in parts], np.concatenate([np.zeros(0, np.uint64), *parts])


def _grams_below(folder: Path) -> tuple[int, Grams]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    parts = [np.unique(_grams_of_each(_strings(path))[1]) for path in files]
    return len(files), np.unique(np.concatenate([np.zeros(0, np.uint64), *parts]))


def _strings(path: Path) -> Iterator[str]:
    raw = path.read_bytes()
    if path.suffix == ".gz":
        raw = gzip.decompress(raw)
    text = raw.decode("utf-8", "replace")
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    try:
        if kind == "json":
            yield from _leaves(json.loads(text))
            return
        if kind == "jsonl":
            for line in filter(str.strip, text.split("\n")):
                yield from _leaves(json.loads(line))
            return
    except ValueError:
        pass  # not what its name says: read as it is
    yield text


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _leaves(one)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)


if __name__ == "__main__":
    sys.exit(main())
