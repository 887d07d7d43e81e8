"""The same sentence in two languages: what it means stays, whatever it is written in."""

from __future__ import annotations

import random
from collections.abc import Iterator

from training.groups import batched
from training.sources.mirror import Mirror, Pin
from training.stores import TOPIC, Asked, Place, Store, Turn

TATOEBA = Pin(
    "facebookresearch/LASER", "74bc6ae7ffb7cba670fe0f428d0ede9f666fb821", "CC BY 2.0 FR (Tatoeba)"
)
LANGUAGES = ("fra", "deu", "spa", "ita", "por", "nld", "pol", "rus", "cmn", "tur")
TURNS = 80


def tatoeba(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    """Half of the questions are in English, half of what they find."""
    for language in LANGUAGES:
        theirs, ours = (
            mirror.lines(TATOEBA, f"data/tatoeba/v1/tatoeba.{language}-eng.{side}")
            for side in (language, "eng")
        )
        pairs = [pair for pair in zip(theirs, ours, strict=True) if all(pair)]
        rng.shuffle(pairs)
        for number, group in enumerate(batched(pairs, TURNS)):
            asked, told = (0, 1) if number % 2 else (1, 0)
            turns = [Turn("", pair[told]) for pair in group]
            questions = [
                Asked(pair[asked], [Place(0, place)], TOPIC) for place, pair in enumerate(group)
            ]
            yield Store(f"tatoeba-{language}", [turns], questions)
