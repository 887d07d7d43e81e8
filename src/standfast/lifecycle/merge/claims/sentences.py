"""A message cut into sentences, without what nobody said: code, quotes, pictures in letters."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from standfast.text.summary import is_abbreviated

SENTENCE_CHARACTERS_MAX = 400

_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\|).*$", re.MULTILINE)
# Whole sentences between quotes are somebody else's, or a draft.
_DRAFT = re.compile(r"(?<![\w.,!?])\"(?=\S)[^\"\n]{20,}\"(?!\w)")
_SENTENCE_MARK = re.compile(r"[.!?]")
_INLINE_CODE = re.compile(r"`[^`\n]{1,200}`")
_MARKUP = re.compile(r"\*\*|__|^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+|^#{1,6}[ \t]+", re.MULTILINE)
_CURLY = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "…": "..."})
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_PICTURES = re.compile(
    "[\u2190-\u21ff\u2300-\u23ff\u2500-\u27bf\u2900-\u2bff\U0001f000-\U0001faff\U0001fb00-\U0001ffff]+"
    r"|(?<!\w)[:;=][-']?[()DPpO/]+(?!\w)"
)
_END = re.compile(
    r"(?P<mark>[.!?]+[\"')\]]*)(?=\s|\Z)|(?P<dense>[。！？；]+[」』\"”]?)|(?P<line>\n+)"
)
_BLANKS = re.compile(r"[ \t\r\f\v\u00a0\u3000]+")


class Sentence(NamedTuple):
    text: str  # without its closing mark
    question: bool
    trailing_off: bool  # closed by "..."


@lru_cache(maxsize=200)  # a message is looked at from several sides
def plain(text: str, *, marked: bool = False) -> str:
    """Compatibility forms, one kind of quotes, no code, no quoted lines, no emoji. ``marked``:
    with its asterisks, which mark a correction."""
    text = unicodedata.normalize("NFC", text).translate(_CURLY)
    text = _INVISIBLE.sub("", text)
    if "`" in text or "~~~" in text:
        text = _INLINE_CODE.sub(lambda code: code[0].strip("`"), _FENCED.sub("\n", text))
    text = _QUOTED_LINE.sub("", text)
    if '"' in text:
        text = _DRAFT.sub(lambda said: " " if _SENTENCE_MARK.search(said[0]) else said[0], text)
    text = text if marked else _MARKUP.sub("", text)
    return _BLANKS.sub(" ", _PICTURES.sub(" ", text)).strip()


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text that went through ``plain``; over-long ones are left out."""
    found: list[Sentence] = []
    start = 0
    for end in _END.finditer(text):
        mark = end["mark"]
        if mark == "." and is_abbreviated(text[max(start, end.start() - 7) : end.end()]):
            continue
        closing = '"' if mark and '"' in mark else ""
        _take(found, text[start : end.start()] + closing, end[0])
        start = end.end()
    _take(found, text[start:], "")
    return found


def _take(found: list[Sentence], words: str, mark: str) -> None:
    words = words.strip(" \t\n'")
    if words.startswith('"') and words.endswith('"') and words.count('"') == 2:
        words = words.strip('"')
    if words and len(words) <= SENTENCE_CHARACTERS_MAX:
        asks = "?" in mark or "？" in mark or words.startswith("¿")
        found.append(Sentence(words, asks, "..." in mark))
