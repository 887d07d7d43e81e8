"""Structure of a message that code can know: quotations, blocks, lines and paragraphs.

A tokenizer of pieces drops line breaks, so the reader gets these marks beside the pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

QUOTATION, BLOCK, LINE, PARAGRAPH = 1, 2, 4, 8
MARKS = 16  # combinations of the four

CLOSING = {
    '"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "‹": "›",
}  # fmt: skip
FENCES = ("```", "~~~")
HEADER_NAME_MAX = 16
QUOTATION_MAX = 2000  # characters: a mark that is never closed costs no more

Range = tuple[int, int]


def marks_of(text: str, offsets: Sequence[Range]) -> list[int]:
    """The marks of each piece of a text, by where it stands."""
    quoted = _inside(list(quotations(text)), offsets)
    blocked = _inside(list(blocks(text)), offsets)
    found, previous_end = [], 0
    for (start, end), quote, block in zip(offsets, quoted, blocked, strict=True):
        breaks = text[previous_end:start].count("\n")
        mark = (LINE if breaks else 0) | (PARAGRAPH if breaks > 1 else 0)
        found.append(mark | QUOTATION * quote | BLOCK * block)
        previous_end = end
    return found


def _inside(ranges: Sequence[Range], offsets: Sequence[Range]) -> Iterator[bool]:
    """Which pieces touch one of the ranges; both are in order."""
    at = 0
    for start, end in offsets:
        while at < len(ranges) and ranges[at][1] <= start:
            at += 1
        yield at < len(ranges) and ranges[at][0] < end


def quotations(text: str) -> Iterator[Range]:
    """Pairs of quotation marks with what they hold; an open one holds nothing."""
    at = 0
    while at < len(text):
        limit = at + QUOTATION_MAX
        ends = [text.find(mark, at + 1, limit) for mark in CLOSING.get(text[at], "")]
        end = min((one for one in ends if one >= 0), default=-1)
        if end >= 0:
            yield at, end + 1
        at = max(at, end) + 1


def blocks(text: str) -> Iterator[Range]:
    """Fenced lines, lines quoted with ">", and runs of header lines (``Name: value``)."""
    lines = list(_lines(text))
    fenced = _fenced([line for _, _, line in lines])
    headers = [_is_header(line) for _, _, line in lines]
    for number, (start, end, line) in enumerate(lines):
        beside = headers[max(0, number - 1) : number + 2]
        if fenced[number] or line.startswith(">") or (headers[number] and sum(beside) > 1):
            yield start, end


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line), line.strip()
        start += len(line)


def _fenced(lines: Sequence[str]) -> list[bool]:
    found, is_open = [], False
    for line in lines:
        fence = line.startswith(FENCES)
        found.append(is_open or fence)
        is_open ^= fence
    return found


def _is_header(line: str) -> bool:
    name, colon, value = line.replace("：", ": ").partition(":")
    named = 0 < len(name) <= HEADER_NAME_MAX and name.replace("-", "").isalpha()
    return bool(colon) and named and value.startswith(" ")
