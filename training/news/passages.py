"""The passages of a message, each of which is somebody's words as a whole, and what stands around
each of them."""

from __future__ import annotations

import re

PASSAGES_MAX = 24  # that are read; of those behind them the rules decide
WORDS_MIN = 2
INTRODUCED_MIN = 4  # words before a colon and behind it

_PASSAGE = re.compile(r"\S.*?(?:[.!?。！？]+[\"'”’»)\]]*(?=\s)|(?=\n)|\Z)", re.DOTALL)
_MAY_SHOW = re.compile(r"[\n:\"“”„«»「『`]|(?<!\w)['‘]|(?:[.!?]\s.*){3}|\s[-–—]", re.DOTALL)
_COLON = re.compile(r":\s+")
_LINES = re.compile(r"\s*\n\s*")
_BLANKS = re.compile(r"\s+")

Place = tuple[int, int]
Placed = tuple[str, str, str]


def may_show(text: str) -> bool:
    """Whether a message has room for more than one voice: lines, marks of speech, or many
    sentences."""
    return bool(_MAY_SHOW.search(text.strip()))


def passages(text: str) -> list[Place]:
    """Where the sentences and lines of a text stand, and what a colon introduces in them."""
    return [place for one in _PASSAGE.finditer(text) for place in _introduced(text, one.span())]


def _introduced(text: str, place: Place) -> list[Place]:
    """ "Cut it by half: Dear all, we're in Bled": two of them; a field of a form is one."""
    start, end = place
    found = _COLON.search(text, start, end)
    if found is None:
        return [place]
    few = min(len(text[start : found.start()].split()), len(text[found.end() : end].split()))
    return [place] if few < INTRODUCED_MIN else [(start, found.start() + 1), (found.end(), end)]


def is_read(text: str) -> bool:
    """Whether a passage says enough for anybody to tell whose it is."""
    return len(text.split()) >= WORDS_MIN


def in_its_place(text: str, place: Place) -> Placed:
    """What stands before a passage, the passage, and what stands behind it; lines end with a
    bar."""
    start, end = place
    return (_in_line(text[:start]), _in_line(text[start:end]), _in_line(text[end:]))


def _in_line(text: str) -> str:
    return _BLANKS.sub(" ", _LINES.sub(" | ", text)).strip(" ")
