"""Secrets that were broken: over lines, by emphasis, by line ends in HTML, or into two strings.

A broken secret is looked for in a copy of the text without what breaks it. Only secrets with a
beginning of their own are found that way: of others nobody could say where they go on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from standfast.text.redact.assignments import Span, entropy
from standfast.text.redact.kinds import Kind, compiled

_BREAK = re.compile(
    r"(?<=[\w./+=-])(?:\\?[ \t]{0,3}\r?\n[ \t>|#*]{0,8}|\*{1,3}|~~|`|<br[ ]?/?>|</?[bi]>"
    r"|[\"'][ \t]{0,3}[+.]?[ \t]{0,3}\\?(?:\r?\n)?[ \t]{0,8}[\"'])(?=[\w./+=-])"
)
_CONTINUED = re.compile(r"\r?\n[ \t>]{0,8}([\w./+=-]{8,200})(?=\r?\n|\Z)")
_ENTROPY_MIN = 3.0


def find_broken(
    text: str, kinds: Iterable[Kind], found: Collection[int]
) -> Iterator[tuple[int, int, str]]:
    """Secrets that only begin where nothing was ``found``: start, end and kind."""
    starts = {
        kind.name: {start for start in _beginnings(text, kind) if start not in found}
        for kind in kinds
    }
    wanted = [kind for kind in kinds if starts[kind.name]]
    if not wanted or not _BREAK.search(text, min(map(min, (starts[k.name] for k in wanted)))):
        return
    joined, places = _unbroken(text)
    for kind in wanted:
        for first, end in kind.find(joined):
            start, last = places[first], places[end - 1]
            if start in starts[kind.name] and last - start >= end - first:
                yield start, last + 1, kind.name


def _beginnings(text: str, kind: Kind) -> Iterator[int]:
    for match in compiled(kind.begins).finditer(text):
        if not text[match.start() - 1 : match.start()].isalnum():
            yield match.start()


def _unbroken(text: str) -> tuple[str, Sequence[int]]:
    """The text without breaks, and for each character its place in the text."""
    characters: list[str] = []
    places: list[int] = []
    position = 0
    for broken in _BREAK.finditer(text):
        characters.append(text[position : broken.start()])
        places.extend(range(position, broken.start()))
        position = broken.end()
    characters.append(text[position:])
    places.extend(range(position, len(text)))
    return "".join(characters), places


def continued(text: str, span: Span) -> Span:
    """A secret that fills the rest of its line may go on in the next ones: where they hold
    nothing but random letters and digits, they are part of it."""
    start, end = span
    while match := _CONTINUED.match(text, end):
        if not _is_rest(match[1]):
            break
        end = match.end(1)
    return start, end


def _is_rest(line: str) -> bool:
    mixed = any(c.isdigit() for c in line) and any(c.isalpha() for c in line)
    return mixed and entropy(line) >= _ENTROPY_MIN
