"""``python -m training.news.examples FILE``: what news-1 learns from, as rows of JSON.

Three questions are asked of the network. *Changes*: a known statement and a later message of the
same person; does the statement no longer hold as it was told? *Lasts*: a sentence alone; does it
tell something that is worth knowing for months? *Own*: a passage in a message; are they the words
of who sent it, or are they only shown? All texts are invented and in this repository, in the open
parts of ``evaluation/learning``; nothing that is held back there is read here.

The message stands as it was said, and once more as the rules keep it; the statement as the rules
keep it, and once more as it was said. Beside what it is told of, each change is paired with
statements of others, of which it says nothing.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Literal

from evaluation.learning import effects
from evaluation.learning.cases import FOLDER, START, SetName
from evaluation.learning.matching import matches_any
from evaluation.learning.sequels import NEWS, PLAIN, SEQUELS
from evaluation.learning.sequels import OPEN as SEQUELS_OPEN
from standfast.lifecycle.merge.topic import said_by
from training.news import lasting
from training.news.passages import PASSAGES_MAX, in_its_place, is_read, may_show, passages

Task = Literal["changes", "lasts", "own"]
LATER = timedelta(days=31)
OTHERS = 2  # statements of other people beside each change
# What changes nothing, by where it comes from; what changes something counts 1, and all changes
# together half as much as the rest.
WEIGHT = {"harmless": 1.5, "block": 1.2, "life": 0.5, "others": 0.4}
OWN_MAX = 1500  # messages of blocks that are asked for whose words they are
OWN_WEIGHT = 5.0  # there are few of them
BESIDE_WEIGHT = 8.0  # and of what somebody tells beside something that they show still fewer
AGAIN = 0.5  # a pair that is there in another form already
SEED = 5
CASES: tuple[tuple[SetName, bool], ...] = (
    ("pairs", True),
    ("corrections", True),
    ("harmless", False),
)
_LIFE = re.compile(r"(?:(?P<number>\d+)|> (?P<changes>\S+)) (?P<said>.+)")


@dataclass(frozen=True, slots=True)
class Example:
    """``known`` is empty where the sentence is asked about alone, and what stands before a passage
    that is followed by what is ``behind`` it. ``group``: what is never on both
    sides of a fold; ``message``: one of its pairs is enough to see the change."""

    task: Task
    known: str
    said: str
    answer: bool
    kind: str
    group: str
    message: str
    behind: str = ""
    again: bool = False
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Message:
    """A message after a statement, both as they were said."""

    known: str
    said: str
    changes: bool
    kind: str
    group: str
    author: str

    def examples(self, olds: Sequence[str], news: Sequence[str]) -> Iterator[Example]:
        """``olds`` and ``news``: as the rules keep them."""
        about = f"{self.group}\n{self.said}"
        first = Example("changes", "", self.said, self.changes, self.kind, self.group, about)
        for old in dict.fromkeys(said_by(one, self.author) for one in olds):
            yield replace(first, known=old)
            for new in dict.fromkeys(said_by(one, self.author) for one in news):
                if new != self.said:
                    yield replace(first, known=old, said=new, again=True)
        if self.known:
            yield replace(first, known=self.known, again=True)


def _read(found: Message) -> Iterator[Example]:
    olds = effects.statements_of(found.known, found.author, START)
    return found.examples(olds, effects.statements_of(found.said, found.author, START + LATER))


def _of_blocks(file: Path, kind: str) -> Iterator[Message]:
    author, known = "", ""
    for line in file.read_text("utf-8").splitlines():
        mark, text = line[0], line[2:]
        if mark == "=":
            known, author = text, "" if author else "Ann"
            continue
        changes = mark == "+"
        yield Message(known, text, changes, kind, known, author)


def _of_cases() -> Iterator[Example]:
    for name, changes in CASES:
        for case, olds, news in effects.open_cases(name):
            told = [turn.text for turn in case.turns if turn.role == "user"]
            gone = [old for old in olds if not changes or matches_any(case.gone, old)]
            found = Message("", told[-1], changes, name, case.id, case.author)
            yield from found.examples(gone, news)


def _beside() -> Iterator[Message]:
    for line in (FOLDER / "beside.jsonl").read_text("utf-8").splitlines():
        given = json.loads(line)
        yield Message(given["known"], given["said"], False, "harmless", given["known"], "")


def _of_marked_lives() -> Iterator[Example]:
    for name, who, said, before in effects.marked_lives():
        for olds, changes in before:
            yield from Message("", said, changes, "life", name, who).examples(olds, ())


def _of_numbered_lives() -> Iterator[Example]:
    """Forty statements, and later messages with the numbers of those that they change."""
    for place, file in enumerate(sorted((NEWS / "lives").glob("*.txt"))):
        known: dict[str, list[str]] = {}
        author = "Ann" if place % 2 else ""
        for line in file.read_text("utf-8").splitlines():
            found = _LIFE.fullmatch(line)
            if found is None:
                raise ValueError(f"{file.name}: {line!r} is no line of a life")
            said = found["said"]
            if number := found["number"]:
                known[number] = effects.statements_of(said, author, START)
                continue
            gone = found["changes"].split(",")
            for number, olds in known.items():
                message = Message("", said, number in gone, "life", file.stem, author)
                yield from message.examples(olds, ())


def _of_others(found: Sequence[Example], dice: random.Random) -> Iterator[Example]:
    changing = [one for one in found if one.answer and not one.again and one.kind != "life"]
    for one in changing:
        for other in dice.choices(changing, k=OTHERS):
            if other.group != one.group:
                yield replace(one, known=other.known, answer=False, kind="others")


def _lasting(blocks: Iterable[Path]) -> Iterator[Example]:
    for one in lasting.examples():
        yield Example("lasts", "", one.text, one.lasts, "sets", one.group, one.text)
    for file in blocks:
        group = ""
        for line in file.read_text("utf-8").splitlines():
            mark, text = line[0], line[2:]
            group = text if mark == "=" else group
            parts = lasting.statements(text)
            if mark != "+" and (mark == "-" or len(parts) == 1):
                for part in parts:
                    yield Example("lasts", "", part, mark != "-", "block", group, part)
    for file in sorted((NEWS / "lasting").glob("*.txt")):
        yield from _contrasted(file)


def _contrasted(file: Path) -> Iterator[Example]:
    """Lasting statements (``=``, ``+``) and, behind them, what sounds like them and is none."""
    group = ""
    for line in file.read_text("utf-8").splitlines():
        mark, text = line[0], line[2:]
        group = text if mark == "=" else group
        parts = lasting.statements(text)
        if mark == "-" or len(parts) == 1:  # of several only some may last
            for part in parts:
                yield Example("lasts", "", part, mark != "-", "contrast", group, part)


_I = re.compile(r"\b(?:I|my|we|our|I'm|I've|im)\b", re.IGNORECASE)
_SHOWN = re.compile("⟦(.*?)⟧", re.DOTALL)


def marked_voices(message: str) -> tuple[str, list[bool]]:
    """A message without its marks, and which of its characters somebody else said."""
    text, others = "", []
    for place, part in enumerate(_SHOWN.split(message)):
        text += part
        others += [place % 2 == 1] * len(part)
    return text, others


def _of_voices(file: Path, statements: Sequence[str], dice: random.Random) -> Iterator[Example]:
    """Each message, and once more with something that its sender tells at one end of it."""
    for message in file.read_text("utf-8").strip().removesuffix("====").split("\n====\n"):
        text, others = marked_voices(message.strip())
        yield from _told_apart(text, others)
        told = dice.choice(statements).rstrip(".") + "."
        if any(others) and not others[0]:
            yield from _told_apart(f"{told} {text}", [False] * (len(told) + 1) + others)
        if any(others) and not others[-1]:
            text = text if text[-1] in ".!?" else f"{text}."
            yield from _told_apart(f"{text} {told}", others + [False] * (len(told) + 2))


def _told_apart(text: str, others: Sequence[bool]) -> Iterator[Example]:
    for place in passages(text)[:PASSAGES_MAX]:
        before, said, behind = in_its_place(text, place)
        share = sum(others[slice(*place)]) / (place[1] - place[0])
        if is_read(said) and not 0.2 < share < 0.8:  # of two voices nothing is told
            own = share < 0.5
            kind = "beside" if own and any(others) and _I.search(said) else "voices"
            about = f"{text}\n{place[0]}"
            yield Example("own", before, said, own, kind, text, about, behind)


def _own(blocks: Iterable[Path], dice: random.Random) -> Iterator[Example]:
    """Whose words a passage is. What people say in blocks is their own."""
    lines = [line for file in blocks for line in file.read_text("utf-8").splitlines()]
    plainly = [line[2:] for line in lines if line[0] == "=" and not may_show(line[2:])]
    statements = [line for line in plainly if _I.search(line) and "?" not in line]
    for file in sorted((NEWS / "voices").glob("*.txt")):
        yield from _of_voices(file, statements, dice)
    told = [line[2:] for line in lines if may_show(line[2:]) and '"' not in line]
    for text in dice.sample(told, OWN_MAX):
        yield from _told_apart(text, [False] * len(text))


def examples() -> list[Example]:
    blocks = sorted(NEWS.glob("*.txt"))
    messages = [
        *(one for file in blocks for one in _of_blocks(file, "block")),
        *_of_blocks(FOLDER / "effects.txt", "effects"),
        *_of_blocks(SEQUELS / SEQUELS_OPEN, "sequels"),
        *_of_blocks(SEQUELS / PLAIN, "plain"),
        *_beside(),
    ]
    found = [*(pair for one in messages for pair in _read(one)), *_of_cases()]
    found += [*_of_marked_lives(), *_of_numbered_lives()]
    found += _of_others(found, random.Random(SEED))
    own = list(_own(blocks, random.Random(SEED)))
    few = [
        replace(one, weight=one.weight * (BESIDE_WEIGHT if one.kind == "beside" else OWN_WEIGHT))
        for one in weighed(own)
    ]
    return [*weighed(found), *weighed(list(_lasting(blocks))), *few]


def weighed(found: Sequence[Example]) -> Iterator[Example]:
    """A message of many pairs counts little more than one of few."""
    unique = list(dict.fromkeys(found))
    many = Counter((one.message, one.answer, one.again) for one in unique)
    raw = [
        (1.0 if one.answer else WEIGHT.get(one.kind, 1.0))
        * (AGAIN if one.again else 1.0)
        / (1.0 if one.kind == "life" else math.sqrt(many[one.message, one.answer, one.again]))
        for one in unique
    ]
    sums = [
        sum(w for w, one in zip(raw, unique, strict=True) if one.answer == a) for a in (False, True)
    ]
    more = sums[0] / 2 / sums[1]
    mean = 1.5 * sums[0] / len(unique)
    for weight, one in zip(raw, unique, strict=True):
        yield replace(one, weight=round(weight * (more if one.answer else 1.0) / mean, 4))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.news.examples", description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE", help="where they are written, gzipped")
    options = parser.parse_args(arguments)
    found = examples()
    with gzip.open(options.file, "wt", encoding="utf-8") as written:
        written.writelines(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in found)
    for (task, kind, answer), count in sorted(
        Counter((one.task, one.kind, one.answer) for one in found).items()
    ):
        print(f"{task:8} {kind:9} {'yes' if answer else 'no':4} {count:7,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
