"""Small talk: greetings, thanks and agreement, by which nothing is said or asked for."""

from __future__ import annotations

import re
from functools import cache

from standfast.text.words import alternatives, languages

CHARACTERS_MAX = 60


def is_small_talk(text: str) -> bool:
    return len(text) <= CHARACTERS_MAX and bool(_small_talk().match(text))


@cache
def _small_talk() -> re.Pattern[str]:
    spaced = alternatives("gate.small_talk")
    unmixed = [
        alternatives("gate.unmixed_small_talk", code)
        for code in languages("gate.unmixed_small_talk")
    ]
    return re.compile(
        rf"(?:[^\w\u3400-\u9fff]*\b(?:{spaced})\b)+[^\w\u3400-\u9fff]*\Z"
        + "".join(rf"|(?:[^\w]*(?:{words}))+[^\w]*\Z" for words in unmixed),
        re.IGNORECASE,
    )
