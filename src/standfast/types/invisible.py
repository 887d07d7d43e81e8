"""Invisible and control characters in text that is shown to a model or a person. Pure.

What is stored keeps them; what is rendered does not, because an instruction can hide in them and
a terminal obeys them. Invisible characters (zero width, bidirectional controls, tags, surplus
variation selectors) are left out. Control characters, line separators and private use characters
are written as escapes. A joiner or selector that a script or an emoji needs stays where it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_HAN = "\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MONGOLIAN = "\u1820-\u18aa"
# Arabic and the scripts that spread from it, and those of India and South-East Asia.
_JOINING = (
    "\u0620-\u085f\u0870-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u18aa\u1a20-\u1cff"
    "\ua840-\ua877\ua8e0-\uaaff\uabc0-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_ESCAPED = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef"
    "\ufffe\uffff\U000f0000-\U0010ffff"
)
_NEEDED = "|".join(
    (
        # The flags of England, Scotland and Wales.
        "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067"
        "|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f",
        f"(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])",
        f"(?<=[{_JOINING}])\u200d(?![{_INVISIBLE}])",
        f"(?<=[{_JOINING}])\u200c(?=[{_JOINING}])",
        f"(?<=[{_EMOJI}0-9#*])[\ufe0e\ufe0f]",
        f"(?<=[\u2200-\u23ff\u2a00-\u2aff\u1000-\u109f\ua840-\ua877\uff01-\uff60{_HAN}])[\ufe00-\ufe02]",
        f"(?<=[{_HAN}])[\U000e0100-\U000e011f]",
        f"(?<=[{_MONGOLIAN}])[\u180b-\u180f]",
        "\u115f(?=[\u1160-\u11a7])|(?<=[\u1100-\u115f])\u1160",
    )
)


@cache
def _hidden() -> re.Pattern[str]:
    """Compiled when it is first needed: most texts of a command have plain letters."""
    return re.compile(f"{_NEEDED}|(?P<invisible>[{_INVISIBLE}]+)")


@cache
def _control() -> re.Pattern[str]:
    return re.compile(f"[{_ESCAPED}]")


def without_invisible(text: str) -> str:
    """The text as a reader sees it; control characters stay."""
    return text if text.isascii() else _hidden().sub(_seen, text)


def shown(text: str) -> str:
    """Text for a model or a person: no invisible character, and control characters, except tabs
    and line breaks, as escapes."""
    return with_escapes(without_invisible(text))


def with_escapes(text: str) -> str:
    """Control characters as JSON escapes, in text or in a JSON document."""
    return _control().sub(lambda found: json_escape(found[0]), text)


def spelled_out(text: str, escape: Callable[[str], str] | None = None) -> str:
    """Nothing is left out: invisible characters are escapes too. In a JSON document they are
    read back as they were."""
    write = escape or json_escape

    def spelled(found: re.Match[str]) -> str:
        return "".join(map(write, found[0])) if found.lastgroup else found[0]

    seen = text if text.isascii() else _hidden().sub(spelled, text)
    return _control().sub(lambda found: write(found[0]), seen)


def json_escape(character: str) -> str:
    """As JSON writes it: beyond the basic plane, two surrogates."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _seen(found: re.Match[str]) -> str:
    return "" if found.lastgroup else found[0]
