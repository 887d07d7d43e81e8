"""Cutting a text between characters as a reader sees them: grapheme clusters (UAX 29). Pure.

An accent stays on its letter, a Korean syllable and an emoji of several code points stay whole.
"""

from __future__ import annotations

import unicodedata

from standfast.text.expressions import later

_JOINER = "\u200d"
_MARKS = ("Mn", "Mc", "Me")
# What extends a character without being a mark: joiners, tones of skin, tags, half-width marks.
_EXTENDS = later("[\u200c\u200d\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_SYLLABLE = later("[\u1100-\u11ff\uac00-\ud7a3][\u1160-\u11ff]|[\u1100-\u115f]{2}")
_FLAGS = later("[\U0001f1e6-\U0001f1ff]*\\Z")  # regional indicators: two are one flag


def beginning(text: str, length: int) -> str:
    """At most so many code points. A single character that is longer is cut nevertheless."""
    if length >= len(text):
        return text
    place = length
    while place > 0 and not _is_boundary(text, place):
        place -= 1
    return text[: place or length]


def ending(text: str, length: int) -> str:
    """The same from the end."""
    place = first = max(0, len(text) - length)
    while place < len(text) and not _is_boundary(text, place):
        place += 1
    return text[place:] or text[first:]


def _is_boundary(text: str, place: int) -> bool:
    if place == 0:
        return True
    before, after = text[place - 1], text[place]
    if after.isascii():
        return before + after != "\r\n"
    if unicodedata.category(after) in _MARKS or _EXTENDS.match(after) or before == _JOINER:
        return False
    if _FLAGS.match(after):
        flags = _FLAGS.search(text, max(0, place - 100), place)
        return flags is None or len(flags.group()) % 2 == 0
    return not _SYLLABLE.match(before + after)
