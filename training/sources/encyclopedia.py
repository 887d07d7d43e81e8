"""Questions about encyclopedic text, each with the sentence that answers it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from training.groups import batched
from training.invented.people import NAMES
from training.sources.mirror import Mirror, Pin
from training.sources.sentences import sentences, untokenised
from training.stores import Asked, Place, Session, Store, joined, voiced

SQUAD = Pin("xinyadu/nqg", "8211129a3e97d29f3e4563e35f65e4a892f70ef0", "CC BY-SA 4.0 (SQuAD)")
SELQA = Pin("emorynlp/selqa", "fef3d6ac6944e2d4237165d90e5f859c71676bdd", "Apache-2.0")
QAMR = Pin("uwnlp/qamr", "956b0eb2d5857f4aafa1af257ba06fa6cb683b99", "MIT")
XQUAD = Pin("google-deepmind/xquad", "7d30520c717524000f0d9d2f9c10a069acd9d285", "CC BY-SA 4.0")
CMRC = Pin("ymcui/cmrc2018", "c0eb1b6ba219847457e6af3180da722bbeb656af", "CC BY-SA 4.0")

TURNS = 140  # of a store
LANGUAGES = ("en", "de", "es", "ro", "tr", "ru", "zh", "vi", "el")
QUESTIONS_PER_SENTENCE = 5
WORDS_MIN = 5  # shorter questions of QAMR fit everywhere


def squad(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    """Sentences in the order of their articles; the text is in lower case."""
    for part in ("dev", "test"):
        texts, asked = (
            list(map(untokenised, mirror.lines(SQUAD, f"data/processed/{side}-{part}.txt")))
            for side in ("src", "tgt")
        )
        by_text: dict[str, list[str]] = {}
        for text, question in zip(texts, asked, strict=True):
            if text and question:
                by_text.setdefault(text, []).append(question)
        sessions = [_session(group, by_text, rng) for group in batched(by_text, 12)]
        yield from joined("squad", sessions, TURNS)


def _session(
    texts: tuple[str, ...], by_text: Mapping[str, list[str]], rng: random.Random
) -> Session:
    questions = [
        Asked(question, [Place(0, number)])
        for number, text in enumerate(texts)
        for question in by_text[text]
    ]
    return Session(voiced(texts, NAMES, rng), questions)


def selqa(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    sessions = []
    for part in ("dev", "test"):
        for row in mirror.json(SELQA, f"ass/selqa-ass-{part}.json"):
            evidence = [Place(0, number) for number in row["answers"] if number < 40]
            turns = voiced(row["candidates"][:40], NAMES, rng)
            sessions.append(Session(turns, [Asked(row["question"], evidence)]))
    rng.shuffle(sessions)
    return joined("selqa", sessions, TURNS)


def qamr(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    """Many questions about each sentence, one for each of its facts."""
    rows = (line.split("\t") for line in mirror.lines(QAMR, "data/wiki-sentences.tsv"))
    texts = {row[0]: untokenised(row[1]) for row in rows if len(row) > 1}
    asked: dict[str, list[str]] = {}
    for part in ("dev", "test"):
        for line in mirror.lines(QAMR, f"data/filtered/{part}.tsv"):
            cells = line.split("\t")
            if len(cells) > 6 and cells[0] in texts and len(cells[5].split()) >= WORDS_MIN:
                asked.setdefault(texts[cells[0]], []).append(untokenised(cells[5]))
    for text, questions in asked.items():
        some = list(dict.fromkeys(questions))
        asked[text] = rng.sample(some, min(len(some), QUESTIONS_PER_SENTENCE))
    sessions = [_session(group, asked, rng) for group in batched(sorted(asked), 6)]
    return joined("qamr", sessions, TURNS)


def xquad(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    """The same questions in many languages; each store is of one."""
    for language in LANGUAGES:
        found = mirror.json(XQUAD, f"xquad.{language}.json")["data"]
        yield from joined(f"xquad-{language}", paragraphs(found, rng), TURNS)


def cmrc(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    """Chinese."""
    for part in ("dev", "trial"):
        found = mirror.json(CMRC, f"squad-style-data/cmrc2018_{part}.json")["data"]
        yield from joined("cmrc", paragraphs(found, rng), TURNS)


def paragraphs(articles: list[Any], rng: random.Random) -> Iterator[Session]:
    for article in articles:
        for paragraph in article["paragraphs"]:
            parts = sentences(paragraph["context"])
            starts = [start for start, _ in parts]
            questions = []
            for asked in paragraph["qas"]:
                at = asked["answers"][0]["answer_start"]
                place = max((n for n, start in enumerate(starts) if start <= at), default=0)
                questions.append(Asked(asked["question"], [Place(0, place)]))
            yield Session(voiced([text for _, text in parts], NAMES, rng), questions)
