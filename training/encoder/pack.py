"""``python -m training.encoder.pack DATA BASE OUT``: stores as numbers, to train on elsewhere.

DATA holds ``train.jsonl.gz`` and ``check.jsonl.gz`` of ``training.prepare`` and
``parallel.jsonl.gz`` of ``training.encoder.parallel``; questions across languages
(``CLONES`` as the fourth argument: XQuAD, Tatoeba) and written ones are added here. BASE is what
``training.encoder.base`` wrote. OUT receives ``texts.npz`` and ``stores.json.gz``. Needs
``tokenizers``; training itself needs only torch and numpy.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from training import stores
from training.encoder.written import answered, asked_in_english
from training.examples import Library, spoken
from training.sources import across
from training.sources.mirror import Mirror
from training.stores import KINDS, Store

TOKENS_MAX = 190
ENCODED_AT_ONCE = 20_000
LANGUAGES = Path(__file__).parent.parent / "languages" / "data"


def gathered(data: Path, clones: Path) -> Iterator[tuple[Store, bool]]:
    """Each store, and whether it is for checking only."""
    for name in ("train", "check"):
        for store in stores.read(data / f"{name}.jsonl.gz"):
            yield store, name == "check"
    mirror, rng = Mirror(clones), random.Random("across")
    added: Iterable[Store] = (
        *stores.read(data / "parallel.jsonl.gz"),
        *across.questions(mirror, rng),
        *across.sentences(mirror, rng),
        *asked_in_english(LANGUAGES / "p3.jsonl", rng),
        *answered(rng),
    )
    for store in added:
        if (clean := stores.cleaned(store)) is not None:
            yield clean, False


def numbered(store: Store, library: Library, *, check: bool) -> dict[str, Any]:
    turns = [turn for session in store.sessions for turn in session]
    starts = np.concatenate([[0], np.cumsum([len(session) for session in store.sessions])])
    return {
        "source": store.source,
        "check": check,
        "plain": [library.number(turn.text) for turn in turns],
        "named": [library.number(spoken(*turn)) for turn in turns],
        "questions": [library.number(asked.text) for asked in store.questions],
        "kinds": [KINDS.index(asked.kind) for asked in store.questions],
        "evidence": [
            [int(starts[place.session]) + place.turn for place in asked.evidence]
            for asked in store.questions
        ],
    }


def tokens(texts: Sequence[str], base: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The pieces of each text, one after the other, with the marks of beginning and end."""
    from tokenizers import Tokenizer

    reader = Tokenizer.from_file(str(base / "pieces.json"))
    found: list[list[int]] = []
    for start in range(0, len(texts), ENCODED_AT_ONCE):
        some = list(texts[start : start + ENCODED_AT_ONCE])
        found += [
            [0, *one.ids[:TOKENS_MAX], 2]
            for one in reader.encode_batch(some, add_special_tokens=False)
        ]
    return {
        "pieces": np.array([piece for one in found for piece in one], np.uint32),
        "lengths": np.array([len(one) for one in found], np.uint8),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    named = [Path(one) for one in (sys.argv[1:] if arguments is None else arguments)]
    if len(named) != 4:
        print("error: say DATA, BASE, OUT and CLONES (see the docstring)", file=sys.stderr)
        return 2
    data, base, out, clones = named
    library = Library()
    found = [numbered(store, library, check=check) for store, check in gathered(data, clones)]
    out.mkdir(parents=True, exist_ok=True)
    with gzip.open(out / "stores.json.gz", "wt", encoding="utf-8") as file:
        json.dump(found, file)
    found_tokens = tokens(library.texts, base)
    np.savez_compressed(out / "texts.npz", **found_tokens)  # type: ignore[arg-type,unused-ignore]
    print(f"{len(found):,} stores, {len(library.texts):,} texts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
