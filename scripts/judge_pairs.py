"""How well duplicates and contradictions are told apart, on labelled pairs of sentences.

    python scripts/judge_pairs.py FOLDER [--embedder hashing minilm]

FOLDER holds ``nli/sick_*.csv`` (entailment, neutral, contradiction), ``mrpc/msr_paraphrase_*.txt``
(1 = paraphrase) and ``stsb/stsb-en-*.csv`` (0 to 5). Each pair is judged as a known record and a
new one; a model is asked for its vectors only, never for its opinion.

Ends with 1 if a promise is broken on SICK, the only one that labels contradictions: of the pairs
that are merged at most 2 % contradict each other, and at least 60 % of the true duplicates that
plain cosine finds are merged. The others are shown beside it. Many of their pairs that somebody
called the same differ in a number, a date or a name (MRPC), which is never merged here, or in
words that only a dictionary could match.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from standfast.lifecycle.merge import Known, judge
from standfast.models.providers.hashing import HashingEmbedder
from standfast.models.providers.minilm.model import MiniLmEmbedder
from standfast.ports import Embedder
from standfast.profiles import Profile
from standfast.text.compare import text_hash
from standfast.types import Record
from standfast.wiring.models import model_folder

Label = Literal["same", "other", "contradiction"]

CONTRADICTIONS_MAX = 0.02
KEPT_MIN = 0.6
SAME_FROM = 4.5  # STS-B: nearer to "completely equivalent" than to "details differ"
BATCH = 64
ABOVE = Profile(name="default").duplicate_above
WHEN = datetime(2026, 1, 1, tzinfo=UTC)

_SICK: Mapping[str, Label] = {"entailment": "same", "contradiction": "contradiction"}


@dataclass(frozen=True, slots=True)
class Pair:
    first: str
    second: str
    label: Label


@dataclass(slots=True)
class Tally:
    """Pairs by label: all, those that cosine alone would merge, and each verdict."""

    pairs: Counter[Label] = field(default_factory=Counter)
    cosine: Counter[Label] = field(default_factory=Counter)
    verdicts: dict[str, Counter[Label]] = field(default_factory=dict)

    def of(self, verdict: str) -> Counter[Label]:
        return self.verdicts.setdefault(verdict, Counter())

    def merged(self) -> Counter[Label]:
        """What takes the place of the other record: all of it repeats or enriches."""
        return self.of("duplicate") + self.of("enriches")

    def contradicting(self) -> float:
        merged = self.merged()
        return merged["contradiction"] / max(merged.total(), 1)

    def kept(self) -> float:
        return self.of("near")["same"] / max(self.cosine["same"], 1)

    def holds(self) -> bool:
        """No promise is made where contradictions are not labelled."""
        if not self.pairs["contradiction"]:
            return True
        return self.contradicting() <= CONTRADICTIONS_MAX and self.kept() >= KEPT_MIN


def sick(folder: Path) -> Iterator[Pair]:
    for path in sorted((folder / "nli").glob("sick_*.csv")):
        with path.open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                label = _SICK.get(row["label"].lower(), "other")
                yield Pair(row["premise"], row["hypothesis"], label)


def mrpc(folder: Path) -> Iterator[Pair]:
    for path in sorted((folder / "mrpc").glob("msr_paraphrase_*.txt")):
        for line in path.read_text("utf-8-sig").splitlines()[1:]:
            parts = line.split("\t")
            if len(parts) == 5:
                yield Pair(parts[3], parts[4], "same" if parts[0] == "1" else "other")


def stsb(folder: Path) -> Iterator[Pair]:
    for path in sorted((folder / "stsb").glob("stsb-en-*.csv")):
        with path.open(encoding="utf-8") as lines:
            for first, second, score in csv.reader(lines):
                yield Pair(first, second, "same" if float(score) >= SAME_FROM else "other")


def embedder_named(name: str) -> Embedder:
    return MiniLmEmbedder(model_folder(name)) if name == "minilm" else HashingEmbedder(384)


async def cosines(pairs: Sequence[Pair], embedder: Embedder) -> list[float]:
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.first, pair.second)))
    vectors: dict[str, Sequence[float]] = {}
    for start in range(0, len(texts), BATCH):
        some = texts[start : start + BATCH]
        vectors |= zip(some, await embedder.embed(some), strict=True)
    return [_cosine(vectors[pair.first], vectors[pair.second]) for pair in pairs]


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    product = sum(x * y for x, y in zip(a, b, strict=True))
    lengths = sum(x * x for x in a) * sum(y * y for y in b)
    return float(product / lengths**0.5) if lengths else 0.0


def count(pairs: Sequence[Pair], similarities: Sequence[float]) -> Tally:
    tally = Tally()
    for pair, similarity in zip(pairs, similarities, strict=True):
        near = similarity > ABOVE
        tally.pairs[pair.label] += 1
        tally.cosine[pair.label] += near
        known = Known(record=_record("known", pair.first), similarity=similarity)
        verdict = judge(_record("new", pair.second), [known], duplicate_above=ABOVE).kind
        tally.of(verdict)[pair.label] += 1
        tally.of("near")[pair.label] += near and verdict in ("duplicate", "enriches")
    return tally


def _record(id_: str, text: str) -> Record:
    return Record(
        id=id_,
        scope="user:pairs",
        kind="semantic",
        type="fact",
        text=text,
        learned_at=WHEN,
        hash=text_hash(text),
    )


def table(rows: Sequence[tuple[str, str, Tally]]) -> str:
    head = (
        "| pairs | embedder | same/other/contra | cosine > 0.9 | merged | contradicting | kept"
        " | called contradictions |\n|---|---|---|---|---|---|---|---|"
    )
    lines = [
        f"| {name} | {embedder} | {_counts(tally.pairs)} | {_counts(tally.cosine)} |"
        f" {_counts(tally.merged())} | {tally.contradicting():.2%} | {tally.kept():.1%} |"
        f" {_counts(tally.of('contradicts') + tally.of('supersedes'))} |"
        for name, embedder, tally in rows
    ]
    return "\n".join((head, *lines))


def _counts(found: Counter[Label]) -> str:
    return f"{found['same']}/{found['other']}/{found['contradiction']}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedder", nargs="+", choices=("hashing", "minilm"), default=["hashing"])
    asked = parser.parse_args(arguments)
    rows: list[tuple[str, str, Tally]] = []
    for name, read in (("SICK", sick), ("MRPC", mrpc), ("STS-B", stsb)):
        pairs = list(read(asked.folder))
        for embedder in asked.embedder:
            similarities = asyncio.run(cosines(pairs, embedder_named(embedder)))
            rows.append((name, embedder, count(pairs, similarities)))
    print(table(rows))
    return 0 if all(tally.holds() for _, _, tally in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
