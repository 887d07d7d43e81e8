"""Raw text as people would write it: untokenised, and cut into sentences."""

from __future__ import annotations

import re

_WORDS = {
    "-lrb-": "(", "-rrb-": ")", "-LRB-": "(", "-RRB-": ")", "``": '"', "''": '"',
    "gon na": "gonna", "wan na": "wanna", "got ta": "gotta",
}  # fmt: skip
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


def untokenised(text: str) -> str:
    """ "It 's here , ( twice ) ." becomes "It's here, (twice)." """
    for token, plain in _WORDS.items():
        text = text.replace(token, plain)
    text = re.sub(r" ('(?:s|re|ve|ll|d|m)|n't)\b", r"\1", text)
    text = re.sub(r"\s+([.,!?;:%)\]])", r"\1", text)
    text = re.sub(r"([(\[$])\s+", r"\1", text)
    return " ".join(text.split())


def sentences(text: str) -> list[tuple[int, str]]:
    """Each with the place where it begins."""
    found = []
    start = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        part = text[start:end]
        if part.strip():
            found.append((start + len(part) - len(part.lstrip()), part.strip()))
        start = end
    return found
