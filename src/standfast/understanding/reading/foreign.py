"""The ranges of a message that are surely not the speaker's own words.

What a program puts around a text is a closed set: code fences, marks of quoted lines, headers of
mails, time stamps of logs and chats, quotation marks. Everything else is for the reader to tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from standfast.text.expressions import later
from standfast.understanding.reading.structure import FENCES, Range, quotations

Line = tuple[Range, str]  # its characters, and what it says

OWN_CHARACTERS_MAX = 24_000  # of one message are read
READ_CHARACTERS_MAX = 32_000  # in all
QUOTED_CHARACTERS_MIN = 12  # between quotation marks: a shorter stretch is a name or a term
RUN_MIN = 2  # lines of one form that make a log, a chat or the head of a mail

# The words of mail programs in English, German, French, Spanish, Portuguese and Italian.
_HEADS = """From To Cc Sent Date Subject Von An Gesendet Betreff De À Envoyé Objet Para Enviado
Asunto Da A Inviato Oggetto"""
_MAIL_HEAD = later(rf"[ \t*]*(?:{'|'.join(_HEADS.split())})\*{{0,2}}[ \t]?:")
_FORWARDED = later(r"[ \t]*-{3,}.{0,60}[^\W\d_].{0,60}-{3,}[ \t]*$")
_STAMP = later(
    r"^[ \t]*\[?(?:\d{4}-\d\d-\d\d[T ,]|\d{1,2}[/.]\d{1,2}[/.]\d{2,4},? )?\d\d:\d\d:\d\d"
)
_CHAT = later(r"^[ \t]*\[(?:[\d/.-]{6,10},? )?\d{1,2}:\d\d(?: ?[AaPp][Mm])?\] ?\S")
_LOG_LEVEL = later(r"^[ \t]*\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b")
_TRACE = later(r"^[ \t]*(?:Traceback \(|File \"|at [\w.$<>]+\(|\.\.\. \d+ more|Caused by:)")
_DIFF = later(r"^(?:diff --git |@@ |\+\+\+ |--- [ab]/)")
_MACHINE = (_LOG_LEVEL, _TRACE, _DIFF)
_CODE_END = later(r"[{};]\s*$|^\s*[\]})][\]}),;]*\s*$|^\s*\"[\w-]+\": ")


def foreign_ranges(text: str) -> tuple[Range, ...]:
    """The ranges in order; no two overlap."""
    quoted = (one for one in quotations(text) if _is_speech(text, *one))
    lines = list(_places(text))
    return _joined(sorted([*_blocks(lines), *_runs_of_lines(lines, len(text)), *quoted]))


def read_until(text: str, ranges: Sequence[Range]) -> int:
    """Up to where a text is read: so many characters of the speaker's own, in bounded time."""
    end, last = OWN_CHARACTERS_MAX, 0
    for first, stop in ranges:
        if first > end:
            break
        end, last = end + stop - max(first, last), stop
    return min(end, READ_CHARACTERS_MAX, len(text))


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


def _is_speech(text: str, start: int, end: int) -> bool:
    """Whether marks hold more than a name or a term, and are no inches."""
    said = text[start + 1 : end - 1]
    opens = not text[start - 1 : start].isalnum() and not said[:1].isspace()
    is_dense = any(mark > "\u3000" for mark in said)
    return opens and len(said) >= QUOTED_CHARACTERS_MIN and (" " in said or is_dense)


def _blocks(lines: Sequence[Line]) -> Iterator[Range]:
    """Lines between fences, and lines that begin with ">"."""
    is_open = False
    for place, line in lines:
        is_fence = line.lstrip().startswith(FENCES)
        if is_open or is_fence or line.lstrip().startswith(">"):
            yield place
        is_open ^= is_fence


def _runs_of_lines(lines: Sequence[Line], size: int) -> Iterator[Range]:
    if len(lines) < RUN_MIN:
        return
    if (head := _mail_start(lines)) is not None:
        yield head, size
    for forms in ((_STAMP,), (_CHAT,), _MACHINE, (_CODE_END,)):
        yield from _runs(lines, [any(one.search(line) for one in forms) for _, line in lines])


def _places(text: str) -> Iterator[Line]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield (start, start + len(line)), line
        start += len(line)


def _mail_start(lines: Sequence[Line]) -> int | None:
    """Where a mail begins that is shown: it goes on to the end of the message."""
    heads = 0
    for number, ((start, _), line) in enumerate(lines):
        if _FORWARDED.match(line) and number + 1 < len(lines):
            return start
        heads = heads + 1 if _MAIL_HEAD.match(line) else 0
        if heads == RUN_MIN:
            return lines[number - RUN_MIN + 1][0][0]
    return None


def _runs(lines: Sequence[Line], matched: Sequence[bool]) -> Iterator[Range]:
    """From the first to the last line of a run; a line of another form may stand within it."""
    begin = last = -1
    for number, is_one in enumerate((*matched, False, False)):
        if is_one:
            begin, last = (number if begin < 0 else begin), number
        elif begin >= 0 and number - last > 1:
            if sum(matched[begin : last + 1]) >= RUN_MIN:
                yield lines[begin][0][0], lines[last][0][1]
            begin = -1
