"""Cranfield: 1,400 abstracts on aerodynamics, 225 questions, judgements. One store."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from evaluation.cases import Case, DataError, DataSet, Question, Said, find
from evaluation.sets.reading import opened

DOCUMENTS = ("cran.all.1400.xml", "cran.all.1400", "cran.all")
QUERIES = ("cran.qry.xml", "cran.qry")
JUDGEMENTS = ("cranqrel.trec.txt", "cranqrel")
NOW = datetime(2000, 1, 1, tzinfo=UTC)


def files(folder: Path) -> Sequence[Path]:
    found = [find(folder, *names) for names in (DOCUMENTS, QUERIES, JUDGEMENTS)]
    return [paths[0] for paths in found] if all(found) else []


def load(paths: Sequence[Path]) -> Iterator[Case]:
    documents, queries, judgements = paths
    texts = _documents(documents)
    relevant = _judgements(judgements)
    messages = [
        Said(id=id_, session=f"document-{id_}", text=text, at=NOW)
        for id_, text in texts.items()
        if text.strip()
    ]
    known = {said.id for said in messages}
    questions = [
        _question(number, text, relevant.get(number, frozenset()) & known)
        for number, text in enumerate(_queries(queries), 1)  # judgements count the questions
    ]
    asked = [question for question in questions if question.gold]
    if not asked:
        raise DataError(f"{judgements} judges no document of {documents}")
    yield Case(id="cranfield", messages=messages, questions=asked)


def _question(number: int, text: str, gold: frozenset[str]) -> Question:
    sessions = frozenset(f"document-{id_}" for id_ in gold)
    return Question(
        id=str(number), text=text, category="abstracts", gold=gold, gold_sessions=sessions, now=NOW
    )


def _documents(path: Path) -> Mapping[str, str]:
    content = _content(path)
    if content.lstrip().startswith("<"):
        found = re.findall(r"<docno>\s*(\d+)\s*</docno>.*?<text>(.*?)</text>", content, re.DOTALL)
    else:
        found = re.findall(r"(?ms)^\.I (\d+)\n.*?^\.W\n(.*?)(?=^\.I |\Z)", content)
    if not found:
        raise DataError(f"{path} holds no documents: expected <doc> elements or .I/.W blocks")
    return {number: _joined(text) for number, text in found}


def _queries(path: Path) -> Sequence[str]:
    content = _content(path)
    if content.lstrip().startswith("<"):
        found = re.findall(r"<title>(.*?)</title>", content, re.DOTALL)
    else:
        found = re.findall(r"^\.W\n(.*?)(?=^\.I |\Z)", content, re.MULTILINE | re.DOTALL)
    if not found:
        raise DataError(f"{path} holds no questions: expected <top> elements or .I/.W blocks")
    return [_joined(text) for text in found]


def _judgements(path: Path) -> Mapping[int, frozenset[str]]:
    """`question 0 document grade`, or without the 0 in the original; grades above 0 count."""
    relevant: dict[int, set[str]] = {}
    for line in _content(path).splitlines():
        cells = line.split()
        if not cells:
            continue
        if len(cells) not in (3, 4) or not re.fullmatch(r"\d+", cells[0]):
            raise DataError(f"{path}: {line!r} is not `question 0 document grade`")
        if cells[-1].isdigit() and int(cells[-1]) > 0:
            relevant.setdefault(int(cells[0]), set()).add(cells[-2])
    return {question: frozenset(found) for question, found in relevant.items()}


def _content(path: Path) -> str:
    with opened(path) as file:
        return file.read()


def _joined(text: str) -> str:
    return " ".join(text.split())


SET = DataSet(
    name="cranfield",
    expected="cran.all.1400, cran.qry and cranqrel, or their TREC form (the Cranfield collection)",
    k=50,
    has_sessions=False,
    files=files,
    load=load,
)
