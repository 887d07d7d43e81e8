"""What a text hides: characters nobody sees, letters in disguise, and encoded passages.

Hiding is no proof of bad intent by itself: emoji are joined by invisible characters and mail
carries base64. So passages are decoded and read again, and only what ordinary text never does
counts without that.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Iterator
from urllib.parse import unquote

from standfast.text.normal import lookalikes_folded, plain_copy, straight
from standfast.text.words import alternatives, words

DECODED_CHARACTERS_MAX = 20_000
COMMENT_CHARACTERS_MAX = 4_000

_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n ?")
_BREAKS = re.compile(r"\n{3,}")
_EMPHASIS = re.compile(r"(?<!\w)[*_~`]{1,3}(?=\w)|(?<=\w)[*_~`]{1,3}(?!\w)")

# Letters of one word pulled apart: "i g n o r e", "i.g.n.o.r.e".
_SPACED = re.compile(r"(?<!\w)(?:\w[ .\-_*]){4,60}\w(?!\w)")
_LEET = str.maketrans("013457@$", "oieastas")
_LEET_WORD = re.compile(r"\b(?=\w*[a-z])[a-z]*[013457@$][a-z013457@$]{2,}", re.IGNORECASE)

_TAGS = re.compile("[\U000e0020-\U000e007e]{2,}")
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_INVISIBLE_BETWEEN_LETTERS = re.compile(
    "(?<=[A-Za-z])[\u200b-\u200d\u2060-\u2064\ufeff\u180e\u3164\u115f]+(?=[A-Za-z])"
)
_OVERRIDES = re.compile("[\u202d\u202e]")
_MIXED_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z]")
_DOUBLES = re.compile("[\u0370-\u058f]")  # Greek, Cyrillic and Armenian have many

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,}(?:\s?[A-Za-z0-9+/_-]{24,})*={0,2}")
_HEX = re.compile(
    r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9a-f]{2}[ ,:]?){16,}(?![0-9A-Za-z])", re.IGNORECASE
)
_PERCENT = re.compile(r"(?:%[0-9a-f]{2}|[A-Za-z0-9+]{1,2}){4,}", re.IGNORECASE)
_ESCAPES = re.compile(r"(?:\\u\{?[0-9a-f]{4,6}\}?|\\x[0-9a-f]{2}|[ ]){8,}", re.IGNORECASE)
_ENTITIES = re.compile(r"(?:&#x?[0-9a-f]{2,6};\s?){6,}", re.IGNORECASE)
_BINARY = re.compile(r"(?<!\d)(?:[01]{8}\s?){6,}(?!\d)")
_WORDS = re.compile(r"[^\W\d_]{2,}")
_READABLE_SHARE = 0.9

_MARKDOWN_COMMENT = re.compile(r"\[//\]:\s?#\s?[(\"\'](.{1,2000}?)[)\"\']")
_UNSEEN_STYLE = re.compile(
    r"<\w+[^>]{0,300}(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|opacity\s?:\s?0"
    r"(?![.\d])|color\s?:\s?(?:white|#fff(?:fff)?|transparent)\b)[^>]{0,300}>([^<]{1,2000})",
    re.IGNORECASE,
)


def folded(text: str) -> str:
    """As it is compared: plain letters, lower case, single blanks, no emphasis."""
    plain, _ = plain_copy(text)
    plain = _SPACES.sub(" ", plain)
    if "\n" in plain:
        plain = _BREAKS.sub("\n\n", _LINES.sub("\n", plain))
    return _EMPHASIS.sub("", straight(plain)).lower()


def disguised(text: str) -> Iterator[str]:
    """Other readings of a folded text: letters pulled apart, digits for letters, backwards."""
    if _SPACED.search(text):
        yield _SPACED.sub(_drawn_together, text)
    if _LEET_WORD.search(text):
        yield _LEET_WORD.sub(lambda match: match.group().translate(_LEET), text)
    if any(word[::-1] in text for word in words("trust.backwards")):
        yield text[::-1]
    if any(codecs.encode(word, "rot13") in text for word in words("trust.rotated")):
        yield codecs.decode(text, "rot13")


def _drawn_together(match: re.Match[str]) -> str:
    """Where the blanks between words went with those inside them, the words that matter are
    set apart again."""
    glued = re.sub(r"[^\w]|_", "", match.group())
    return re.sub(alternatives("trust.glued"), r" \g<0> ", glued)


def unseen(text: str) -> Iterator[str]:
    """Passages that a reader of the page would not see: comments, and text styled away."""
    yield from _comments(text)
    if "[//]" in text:
        for match in _MARKDOWN_COMMENT.finditer(text):
            yield match[1]
    if "style" in text.lower():
        for match in _UNSEEN_STYLE.finditer(text):
            yield match[1]


def _comments(text: str) -> Iterator[str]:
    """One that lost its end is read as far as comments usually go."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start)
        stop = end if end >= 0 else start + COMMENT_CHARACTERS_MAX
        yield text[start + 4 : min(stop, start + COMMENT_CHARACTERS_MAX)]
        start = text.find("<!--", stop)


def smuggled(text: str) -> str:
    """What invisible characters say by themselves; "" if there are none of that kind."""
    if text.isascii():
        return ""
    seen = _FLAG.sub("", text)
    tags = "".join(chr(ord(c) - 0xE0000) for run in _TAGS.finditer(seen) for c in run.group())
    selectors = "".join(chr(_byte_of(c)) for run in _SELECTORS.finditer(seen) for c in run.group())
    return tags or selectors


def _byte_of(selector: str) -> int:
    code = ord(selector)
    return code - 0xFE00 if code < 0xE0100 else code - 0xE0100 + 16


def tricks(text: str) -> str:
    """Which trick of writing a text plays that ordinary text does not; "" if none."""
    if text.isascii():
        return ""
    if len(_INVISIBLE_BETWEEN_LETTERS.findall(text)) >= 2:
        return "hides invisible characters inside words"
    if _OVERRIDES.search(text):
        return "turns the direction of letters round"
    if sum(1 for word in _MIXED_WORD.findall(text) if _is_disguised(word)) >= 2:
        return "mixes letters of several scripts inside words"
    return ""


def _is_disguised(word: str) -> bool:
    """A formula's letters are few; a word in disguise is mostly Latin."""
    mixed = _DOUBLES.search(word) is not None and len(_LATIN.findall(word)) >= 3
    return mixed and lookalikes_folded(word) != word


def decoded(text: str) -> Iterator[str]:
    """Readable text that stands encoded in a text, a bounded part of it."""
    for piece in _pieces(text):
        if _is_readable(piece):
            yield piece[:DECODED_CHARACTERS_MAX]


def _pieces(text: str) -> Iterator[str]:
    for match in _BASE64.finditer(text):
        yield _from_base64(re.sub(r"\s", "", match.group()))
    for match in _HEX.finditer(text):
        yield _from_hex(re.sub(r"0x|\\x|[^0-9a-fA-F]", "", match.group()))
    if text.count("%") >= 4:
        for match in _PERCENT.finditer(text):
            if match.group().count("%") >= 4:
                yield unquote(match.group(), errors="replace").replace("+", " ")
    if "\\u" in text or "\\x" in text:
        for match in _ESCAPES.finditer(text):
            yield _unescaped(match.group())
    if "&#" in text:
        for match in _ENTITIES.finditer(text):
            yield html.unescape(match.group())
    for match in _BINARY.finditer(text):
        bits = re.sub(r"\s", "", match.group())
        yield "".join(chr(int(bits[n : n + 8], 2)) for n in range(0, len(bits), 8))


def _from_base64(run: str) -> str:
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        raw = base64.b64decode(run + "=" * (-len(run) % 4))
        return raw.decode()
    except (binascii.Error, ValueError):
        return ""


def _from_hex(digits: str) -> str:
    try:
        return bytes.fromhex(digits[: len(digits) // 2 * 2]).decode()
    except ValueError:
        return ""


def _unescaped(text: str) -> str:
    found = re.findall(r"\\u\{?([0-9a-f]{4,6})\}?|\\x([0-9a-f]{2})|( )", text, re.IGNORECASE)
    codes = [int(long or short or "20", 16) for long, short, _ in found]
    return "".join(chr(code) for code in codes if code <= 0x10FFFF)


def _is_readable(text: str) -> bool:
    """Words, not the bytes of a picture or a key that happen to be letters."""
    if len(text) < 12 or not text.replace("\n", " ").replace("\t", " ").isprintable():
        return False
    letters = sum(len(word) for word in _WORDS.findall(text)) + text.count(" ")
    return letters >= _READABLE_SHARE * len(text) - 4 and len(_WORDS.findall(text)) >= 2
