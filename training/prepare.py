"""``python -m training.prepare CLONES OUT``: public data and invented memories become stores.

CLONES is a folder with clones of the repositories in ``PINS`` (``--list`` prints the commands that
make them). OUT receives ``train.jsonl.gz`` and, from subjects and texts that training never sees,
``check.jsonl.gz``. The same clones and seed give the same bytes.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from training import stores
from training.invented.lives import Filler, lives
from training.invented.wishes import wishes
from training.sources import assistance, conversations, encyclopedia, tales, translations
from training.sources.mirror import Mirror, Pin, SourceError
from training.stores import Store

SEED = 11
CHECK_EVERY = 25  # of so many stores of a source, one is kept for checking
CHECK_FIRST = 5  # which one: early, so that each source has one

Source = Callable[[Mirror, random.Random], Iterable[Store]]

PINS: tuple[Pin, ...] = (
    encyclopedia.SQUAD,
    encyclopedia.SELQA,
    encyclopedia.QAMR,
    encyclopedia.XQUAD,
    encyclopedia.CMRC,
    translations.TATOEBA,
    tales.TALES,
    conversations.QMSUM,
    conversations.MOLWENI,
    conversations.IRC,
    conversations.CHAT,
    assistance.SGD,
    assistance.FAQ,
    assistance.OASST,
    assistance.CLINC,
)
SOURCES: tuple[Source, ...] = (
    encyclopedia.squad,
    encyclopedia.selqa,
    encyclopedia.qamr,
    encyclopedia.xquad,
    encyclopedia.cmrc,
    translations.tatoeba,
    tales.tales,
    conversations.qmsum,
    conversations.molweni,
    conversations.irc,
    assistance.sgd,
    assistance.faq,
    assistance.open_talk,
)


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.prepare", description=__doc__)
    add = parser.add_argument
    add("clones", type=Path, nargs="?", metavar="CLONES", help="the folder with the clones")
    add("out", type=Path, nargs="?", metavar="OUT", help="where the stores are written")
    add("--list", action="store_true", help="print what to clone, and end")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(f"{pin.commands}  # {pin.licence}" for pin in PINS))
        return 0
    if options.out is None:
        parser.error("name the folder with the clones and the one to write to")
    try:
        mirror = Mirror(options.clones)
        for pin in PINS:
            mirror.check(pin)
        train, check = split(everything(mirror))
    except SourceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for name, found in (("train", train), ("check", check)):
        stores.write(found, options.out / f"{name}.jsonl.gz")
        print(counts(name, found))
    return 0


def everything(mirror: Mirror) -> Iterator[tuple[Store, bool]]:
    """Each store, and whether it is for checking only."""
    for source in SOURCES:
        rng = random.Random(f"{SEED} {source.__name__}")
        yield from _some_kept(source(mirror, rng))
    requests = assistance.requests(mirror)
    filler = Filler(conversations.small_talk(mirror), requests)
    yield from _some_kept(lives(random.Random(f"{SEED} lives"), filler))
    intents = assistance.intents(mirror)
    for kept in (False, True):
        rng = random.Random(f"{SEED} wishes {kept}")
        for store in wishes(rng, intents, requests, kept=kept):
            yield store, kept


def _some_kept(found: Iterable[Store]) -> Iterator[tuple[Store, bool]]:
    seen = Counter[str]()
    for store in found:
        seen[store.source] += 1
        yield store, seen[store.source] % CHECK_EVERY == CHECK_FIRST


def split(found: Iterable[tuple[Store, bool]]) -> tuple[list[Store], list[Store]]:
    train: list[Store] = []
    check: list[Store] = []
    for store, kept in found:
        if (clean := stores.cleaned(store)) is not None:
            (check if kept else train).append(clean)
    return train, check


def counts(name: str, found: Sequence[Store]) -> str:
    questions, turns, number = Counter[str](), Counter[str](), Counter[str]()
    for store in found:
        number[store.source] += 1
        turns[store.source] += store.turns
        questions[store.source] += len(store.questions)
    rows = [
        f"  {source:<16}{number[source]:>7,}{turns[source]:>9,}{questions[source]:>10,}"
        for source in number
    ]
    head = f"{name}: {len(found):,} stores, {questions.total():,} questions"
    return "\n".join([head, f"  {'source':<16}{'stores':>7}{'turns':>9}{'questions':>10}", *rows])


if __name__ == "__main__":
    sys.exit(main())
