"""Counting tokens without a tokenizer, on the safe side.

A budget that is exceeded breaks a model call; one that is not quite used costs nothing. So the
default counter rounds up: what it calls 1,000 tokens is fewer for the usual tokenizers. Whoever
has the tokenizer of their model hands in its count instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from standfast.text.expressions import later
from standfast.types.frozen import frozen

TokenCount = Callable[[str], int]

# What a run of characters costs per character, by kind of script. Words of plain letters are
# counted apart: a short one is a token, a long one several.
_COSTS = (
    (later("[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0003ffff]+"), 1.65),
    (later("[\u3040-\u30ff\u31f0-\u31ff]+"), 1.2),
    (later("[\uac00-\ud7ff\u1100-\u11ff]+"), 1.7),
    (later("[\u0400-\u052f\u0370-\u03ff]+"), 0.65),
    (later("[\u0590-\u06ff\u0750-\u077f]+"), 0.9),
    (later("[\u0900-\u0fff\u1000-\u109f\u1780-\u17ff]+"), 1.6),
    (later("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]"), 2.5),
)
_WORD = later("[A-Za-z\u00c0-\u024f]+")
_DIGITS = later(r"\d+")
_REST = later(r"[^\sA-Za-z\d]|\n+|[ \t]{2,}")
# All of that in a text of plain letters, which most are: each match is one token.
_PLAIN = later(r"[A-Za-z]{1,4}|\d{1,2}|[^\sA-Za-z\d]|\n+|[ \t]{2,}")


@frozen
class Counter:
    """A way to count, and the name under which a packet reports it."""

    name: str
    count: TokenCount


def estimate(text: str) -> int:
    """An upper estimate of the tokens in a text of any script."""
    total = 2.0  # however short, a text has a seam at each end
    if text.isascii():
        return math.ceil(total + len(_PLAIN.findall(text)))
    for pattern, cost in _COSTS:
        runs = pattern.findall(text)
        if runs:
            total += cost * sum(map(len, runs))
            text = pattern.sub(" ", text)
    words = _WORD.findall(text)
    accented = [] if text.isascii() else [word for word in words if not word.isascii()]
    total += sum([(len(word) + 3) // 4 for word in words if word.isascii()])
    if accented:
        total += sum(1 + len(word) / 2.5 for word in accented)
        text = _WORD.sub(lambda word: word[0] if word[0].isascii() else " ", text)
    total += sum([(len(digits) + 1) // 2 for digits in _DIGITS.findall(text)])
    total += len(_REST.findall(text))
    return math.ceil(total)


ESTIMATE = Counter(name="estimate", count=estimate)
