"""Structure of a message: the ranges that are surely not the speaker's own words.

What a program puts around a text is a closed set: code fences, marks of quoted lines, headers of
mails, time stamps of logs and chats, quotation marks. Everything else is for the reader to tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from standfast.text.expressions import later

Range = tuple[int, int]

QUOTED_CHARACTERS_MIN = 12  # between quotation marks: a shorter stretch is a name or a term
RUN_MIN = 2  # lines of one form that make a log, a chat or the head of a mail

_FENCE = later(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_QUOTATION = later(r"\"[^\"\n]+\"|“[^”\n]+[”\"]|„[^“”\n]+[“”]|«[^»\n]+»|「[^」\n]+」|『[^』\n]+』")
_QUOTED_LINE = later(r"[ \t]*>")
# The words of mail programs in English, German, French, Spanish, Portuguese and Italian.
_HEADS = """From To Cc Sent Date Subject Von An Gesendet Betreff De À Envoyé Objet Para Enviado
Asunto Da A Inviato Oggetto"""
_MAIL_HEAD = later(rf"[ \t*]*(?:{'|'.join(_HEADS.split())})\*{{0,2}}[ \t]?:")
_FORWARDED = later(r"[ \t]*-{3,}.{0,60}[^\W\d_].{0,60}-{3,}[ \t]*$")
_STAMP = later(r"^[ \t]*\[?(?:\d{4}-\d\d-\d\d[T ,]|\d{1,2}[/.]\d{1,2}[/.]\d{2,4},? )?\d\d:\d\d:\d\d")
_CHAT = later(r"^[ \t]*\[(?:[\d/.-]{6,10},? )?\d{1,2}:\d\d(?: ?[AaPp][Mm])?\] ?\S")
_LOG_LEVEL = later(r"^[ \t]*\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b")
_TRACE = later(r"^[ \t]*(?:Traceback \(|File \"|at [\w.$<>]+\(|\.\.\. \d+ more|Caused by:)")
_DIFF = later(r"^(?:diff --git |@@ |\+\+\+ |--- [ab]/)")
_MACHINE = (_LOG_LEVEL, _TRACE, _DIFF)
_CODE_END = later(r"[{};]\s*$|^\s*[\]})][\]}),;]*\s*$|^\s*\"[\w-]+\": ")


def foreign_ranges(text: str) -> tuple[Range, ...]:
    """The ranges in order; no two overlap."""
    found = [
        *_fences(text),
        *_lines(text),
        *(
            one.span()
            for one in _QUOTATION.finditer(text)
            if len(one[0]) >= QUOTED_CHARACTERS_MIN + 2 and " " in one[0]
        ),
    ]
    return _joined(sorted(found))


def is_foreign(start: int, end: int, ranges: Sequence[Range]) -> bool:
    """Whether most of a stretch lies in these ranges."""
    inside = sum(max(0, min(end, stop) - max(start, first)) for first, stop in ranges)
    return inside * 2 > end - start


def _joined(ranges: Sequence[Range]) -> tuple[Range, ...]:
    kept: list[Range] = []
    for first, stop in ranges:
        if kept and first < kept[-1][1]:
            kept[-1] = kept[-1][0], max(stop, kept[-1][1])
        else:
            kept.append((first, stop))
    return tuple(kept)


def _fences(text: str) -> Iterator[Range]:
    if "```" in text or "~~~" in text:
        yield from (one.span() for one in _FENCE.finditer(text))


def _lines(text: str) -> Iterator[Range]:
    """Quoted lines, and runs of lines of one form."""
    lines = list(_places(text))
    yield from (place for place, line in lines if _QUOTED_LINE.match(line))
    if len(lines) < RUN_MIN:
        return
    if (head := _mail_start(lines)) is not None:
        yield head, len(text)
    for forms in ((_STAMP,), (_CHAT,), _MACHINE, (_CODE_END,)):
        yield from _runs(lines, [any(one.search(line) for one in forms) for _, line in lines])


def _places(text: str) -> Iterator[tuple[Range, str]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield (start, start + len(line)), line
        start += len(line)


def _mail_start(lines: Sequence[tuple[Range, str]]) -> int | None:
    """Where a mail begins that is shown: it goes on to the end of the message."""
    heads = 0
    for number, ((start, _), line) in enumerate(lines):
        if _FORWARDED.match(line) and number + 1 < len(lines):
            return start
        heads = heads + 1 if _MAIL_HEAD.match(line) else 0
        if heads == RUN_MIN:
            return lines[number - RUN_MIN + 1][0][0]
    return None


def _runs(lines: Sequence[tuple[Range, str]], matched: Sequence[bool]) -> Iterator[Range]:
    """From the first to the last line of a run; a line of another form may stand within it."""
    begin = last = -1
    for number, is_one in enumerate((*matched, False, False)):
        if is_one:
            begin, last = (number if begin < 0 else begin), number
        elif begin >= 0 and number - last > 1:
            if sum(matched[begin : last + 1]) >= RUN_MIN:
                yield lines[begin][0][0], lines[last][0][1]
            begin = -1
