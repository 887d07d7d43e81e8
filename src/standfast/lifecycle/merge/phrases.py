"""The turns of phrase in which a new statement speaks of what a known one names.

"Left it for Leeds", "before it I was", "a new one for it": around what two statements share stand
the few words that say whether it has changed. So what is shared is written ``=``, and names,
numbers and people are written by what they are; what is left are runs of one to three words, which
``lifecycle.effect`` weighs.
"""

from __future__ import annotations

import re
from functools import lru_cache

from standfast.lifecycle.merge.claims.topics import people_words
from standfast.lifecycle.merge.topic import Topic
from standfast.text.analysis import stem
from standfast.text.normal import fold
from standfast.text.words import word_set

TOKENS_MAX = 60
RUN_MAX = 3
LETTERS_MIN = 3  # of what two statements share
SHARED, NAME, NUMBER, PERSON = "=", "@", "#", "&"
BEGIN, END = "<", ">"
WITH, WITHOUT = "+", "-"  # before a word, where anything is shared and where nothing is
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d[\d.,:]*|[,;!?]")
_I = frozenset(("i", "i'm", "i've", "i'd", "i'll"))


def phrases(new: Topic, old: Topic) -> frozenset[str]:
    """All runs of words in the new statement."""
    tokens = _tokens(new.said)
    shared = frozenset(
        place
        for place, (_, word, stemmed) in enumerate(tokens)
        if word and (stemmed in old.words or word in old.names)
    )
    return _runs(new.said, shared)


@lru_cache(maxsize=2000)
def _tokens(said: str) -> tuple[tuple[str, str, str], ...]:
    """Each word as it is written where it is not shared; then it and its stem, if it may be."""
    found: list[tuple[str, str, str]] = []
    for match in _TOKEN.finditer(said):
        if len(found) == TOKENS_MAX:
            break
        lowered = fold(match[0]).replace("’", "'")
        bare = lowered.removesuffix("'s")
        small = lowered in word_set("search.stop_words") or len(bare) < LETTERS_MIN
        if match[0][0].isdigit():
            written = NUMBER
        elif bare in people_words():
            written = PERSON
        elif found and match[0][0].isupper() and lowered not in _I:
            written = NAME
        else:
            written = lowered
        found.append((written, "" if small else bare, "" if small else stem(bare)))
    return tuple(found)


@lru_cache(maxsize=4000)
def _runs(said: str, shared: frozenset[int]) -> frozenset[str]:
    written = [BEGIN]
    for place, (word, _, _) in enumerate(_tokens(said)):
        one = SHARED if place in shared else word
        if one != written[-1]:  # a name of two words is one
            written.append(one)
    written.append(END)
    kind = WITH if shared else WITHOUT
    runs = {kind + one for one in written}
    for size in range(1, RUN_MAX + 1):
        runs.update(
            " ".join(written[start : start + size]) for start in range(len(written) - size + 1)
        )
    return frozenset(runs)
