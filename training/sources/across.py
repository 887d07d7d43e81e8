"""Questions in one language about texts in another, from the sources that have both."""

from __future__ import annotations

import random
from collections.abc import Iterator

from training.groups import batched
from training.sources.encyclopedia import LANGUAGES, TURNS, XQUAD, paragraphs
from training.sources.mirror import Mirror
from training.sources.translations import TATOEBA
from training.sources.translations import TURNS as SENTENCES
from training.stores import TOPIC, Asked, Place, Session, Store, Turn, joined

MORE = ("jpn", "kor")


def questions(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    """XQuAD has the same questions about the same sentences in every language."""
    found = {
        one: list(paragraphs(mirror.json(XQUAD, f"xquad.{one}.json")["data"], rng))
        for one in LANGUAGES
    }
    others = [one for one in LANGUAGES if one != "en"]
    for told, asked in [(one, "en") for one in others] + [("en", one) for one in others]:
        sessions = [
            Session(
                ours.turns,
                [
                    Asked(theirs.text, question.evidence)
                    for question, theirs in zip(ours.questions, other.questions, strict=True)
                ],
            )
            for ours, other in zip(found[told], found[asked], strict=True)
        ]
        yield from joined(f"across-{told}-{asked}", sessions, TURNS)


def sentences(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    """Tatoeba's Japanese and Korean, half of the questions in English."""
    for language in MORE:
        theirs, ours = (
            mirror.lines(TATOEBA, f"data/tatoeba/v1/tatoeba.{language}-eng.{side}")
            for side in (language, "eng")
        )
        pairs = [pair for pair in zip(theirs, ours, strict=True) if all(pair)]
        rng.shuffle(pairs)
        for number, group in enumerate(batched(pairs, SENTENCES)):
            asked, told = (0, 1) if number % 2 else (1, 0)
            yield Store(
                f"tatoeba-{language}",
                [[Turn("", pair[told]) for pair in group]],
                [Asked(pair[asked], [Place(0, place)], TOPIC) for place, pair in enumerate(group)],
            )
