"""Whose words are in a message? Only the speaker's own ones teach anything about them.

A message is cut at the places where somebody else begins to speak: a quotation, a mail, a chat, a
form, a text that is to be translated, a role. What is left are the speaker's own words. Where that
is unsure it is somebody else's: rather learn nothing than what another person said of themselves.
"""

from __future__ import annotations

import re
from functools import lru_cache

from standfast.text.words import cues, pattern

LEAD_WORDS_MAX = 30
QUOTE_WORDS_MIN = 3
FIELDS_MIN = 2  # lines "key: value" that make a form
LINES_READ_MAX = 400

_QUOTED = re.compile(
    r"\"[^\"\n]{1,4000}\"|“[^”\n]{1,4000}[”\"]|„[^“”\"\n]{1,4000}[“”\"]|«[^»\n]{1,4000}»"
    r"|「[^」\n]{1,4000}」|『[^』\n]{1,4000}』|(?<!\w)'[^'\n]{12,400}'(?!\w)|‘[^’\n]{12,400}’(?!\w)"
)
_CLOSED = re.compile(r"\W{0,8}(?:\"[^\"]+\"|“[^”]+”|„[^“”]+[“”]|«[^»]+»)\W{0,3}(?:[-–—].{0,40})?")
_UNCLOSED = re.compile(r"(?<=[:\s])[\"“„«](?=\S)[^\"”“»\n]{20,4000}\Z")
_POSTSCRIPT = re.compile(r"\W*P\.? ?S\b", re.IGNORECASE)
_SHOWN = "\ufffc"  # stands where a text was shown
_DENSE = re.compile("[\u3400-\u9fff]")
_FIELD = re.compile(
    r"[ \t]*[\w][\w /()'-]{0,30}(?<! \bI): \S|[ \t]*[\w][\w /()'-]{0,30}:[ \t]*_{2,}"
)
_BLANK_FORM = re.compile(r"_{3,}|\.{6,}|\[ {1,3}\]")
_PARAGRAPH = re.compile(r"\n[ \t]*\n+")
_INLINE_LEAD = re.compile(
    r"(?P<lead>[^:\n]{2,160}?)[ \u00a0]?(?::(?!\d)|：|->|→| - )\s*(?P<rest>\S)"
)
_OPENS = re.compile(r"[:：→]|->| - ")
_SENTENCE_END = re.compile(r"[.!?。！？]+[\"')\]]*(?:\s|\Z)|[。！？]")
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]* [^`\n]* [^`\n]*`", re.DOTALL)
_STAGE = re.compile(r"(?:\A|\s)\*[a-z][^*\n]{2,60}\*(?:\s|\Z)")
_TAG = re.compile(r"</?[a-z][a-z0-9]*(?: [^<>\n]{0,200})?/?>", re.IGNORECASE)
# A line that can only be code; beside one, what looks like a heading is a comment.
_CODE = re.compile(
    r"\s*(?:def \w+\(|class \w+[:(]|return\b|import \w|from \w+ import|(?:const|let|var) \w+ ?="
    r"|function \w*\(|SELECT\b.*\bFROM\b|#include\b|\w+\([^()]*\);?\s*\Z|\}\s*\Z)"
)
_REMARK = re.compile(r"\s*(?:#|//|--|/\*|\*|<!--)")
_CAPS_ROLE = re.compile(r"\b(?:ME|YOU|HIM|HER|[A-Z]{3,}): ")


class OwnWords(str):
    """What is left of a message when somebody has told its voices apart: no rule cuts it again."""

    __slots__ = ()


def own_words(text: str) -> str:
    """The message without what others said in it; empty if nothing is surely the speaker's."""
    return text if isinstance(text, OwnWords) else _cut(text)


@lru_cache(maxsize=200)
def _cut(text: str) -> str:
    if is_framed(text):
        return ""
    text = _FENCE.sub("\n", text) if "`" in text or "~~~" in text else text
    text = _before_paste(text)
    text = "\n".join(_own_lines(text))
    text = _without_quotations(text)
    return _before_inline(text)


def is_framed(text: str) -> bool:
    """Whether the whole message is a game, a joke, a puzzle or a document of somebody's."""
    return bool(
        pattern("voice.frame").match(text)
        or cues("voice.joke").search(text)
        or pattern("voice.document").match(text)
        or pattern("voice.puzzle").search(text)
        or _STAGE.search(text)
        or _BLANK_FORM.search(text)
        or cues("voice.sent_from").search(text)
        or len(_CAPS_ROLE.findall(text)) > 1
    )


# Paragraphs and lines


def _before_paste(text: str) -> str:
    """Up to where a mail, a forwarded message or a text that is shown begins."""
    if found := pattern("voice.forwarded").search(text):
        return text[: found.start()]
    if found := cues("voice.header").search(text):
        return text[: found.start()]
    parts = _PARAGRAPH.split(text.strip())
    signed = cues("voice.sign_off").search(text)
    if len(parts) > 1:
        first, last = parts[0], parts[-1]
        if _announces(first) or (signed and _is_short(first)):
            return "\n\n".join([_own_lead(first), *_behind_paste(parts[1:])])
        if cues("voice.task_about_this").search(last) and _is_short(last):
            return last
        if signed or any(pattern("voice.greeting").match(part) for part in parts[1:]):
            return first if not pattern("voice.greeting").match(first) else ""
    elif signed:
        return ""
    lines = text.strip().split("\n")
    if len(lines) > 1 and _announces(lines[0]):
        return "\n\n".join([_own_lead(lines[0]), *_behind_paste(parts[1:])])
    if len(lines) > 1 and pattern("voice.greeting").match(lines[1]):
        return lines[0]
    return text


def _own_lead(lead: str) -> str:
    """What stands above a pasted text, if somebody says it: not its headline."""
    return lead if pattern("voice.first_person").search(lead.lower()) else ""


def _behind_paste(parts: list[str]) -> list[str]:
    """The paragraphs in which the speaker goes on: behind what is quoted or signed from its first
    word to its last, or with words that one says to who helps ("For context: ...")."""
    ends = [place for place, part in enumerate(parts) if cues("voice.sign_off").search(part)]
    if ends:
        following = parts[ends[-1] + 1 :]
    elif parts and _CLOSED.fullmatch(parts[0].strip()):
        following = parts[1:]
    else:
        following = [one for one in parts[-1:] if pattern("voice.background").match(one)]
    if any(pattern("voice.greeting").match(one) or _POSTSCRIPT.match(one) for one in following):
        return []  # another letter, or more of it
    own = pattern("voice.first_person")
    return [one for one in following if _is_short(one) and own.search(one.lower())]


def _is_short(text: str) -> bool:
    return len(text.split()) <= LEAD_WORDS_MAX and len(text) <= 240


def _announces(lead: str) -> bool:
    """Whether a line says that what follows it is a text: to be worked on, or somebody's."""
    if not _is_short(lead):
        return False
    return bool(
        cues("voice.task_about_this").search(lead)
        or (cues("voice.lead").search(lead) and _ends_open(lead))
    )


def _ends_open(lead: str) -> bool:
    """A lead ends with a colon or a question, or it is a title without any end."""
    return lead.rstrip()[-1:] in ":：?？" or not re.search(r"[.!。！]\s*\Z", lead)


def _own_lines(text: str) -> list[str]:
    lines = text.split("\n")[:LINES_READ_MAX]
    spoken = [bool(pattern("voice.spoken_line").match(line)) for line in lines]
    fields = [bool(_FIELD.match(line)) for line in lines]
    chat = sum(spoken) > 1 or any(pattern("voice.log_line").match(line) for line in lines)
    form = sum(fields) >= FIELDS_MIN
    code = any(_CODE.match(line) for line in lines)
    own = []
    for line, is_spoken, is_field in zip(lines, spoken, fields, strict=True):
        if (chat and is_spoken) or (form and is_field):
            continue
        if (
            (code and (_CODE.match(line) or _REMARK.match(line)))
            or pattern("voice.log_line").match(line)
            or cues("voice.code_line").search(line)
            or _TAG.search(line)
        ):
            continue
        own.append(line)
    return own if len(own) == len(lines) or not (chat or form) else _addressed(own)


def _addressed(lines: list[str]) -> list[str]:
    """Beside a chat or a form only what is said to the assistant about it."""
    return [line for line in lines if pattern("voice.first_person").search(line) and "?" in line]


# Sentences


def _without_quotations(text: str) -> str:
    """Without the sentences that quote more than a name."""
    places = [found.span() for found in _QUOTED.finditer(text) if _is_speech(found[0])]
    if found := _UNCLOSED.search(text):
        places.append(found.span())
    for start, end in reversed(places):
        before, after = _sentence_start(text, start), _sentence_stop(text, end)
        lead = text[before:start]
        if _tells_before(lead, text[start:end]):
            before = start
        shown = _SHOWN if not lead.strip() or lead.rstrip().endswith(":") else ""
        text = f"{text[:before]}\n{shown}{text[after:]}"
    return text


def _tells_before(lead: str, quoted: str) -> bool:
    """ "I'm no native speaker, my language is Finnish: '...'": told before a text is shown."""
    words = lead.rstrip()
    told = words.endswith(":") and pattern("voice.telling").match(words)
    return bool(told) and not _hands_over(words[:-1], quoted)


def _is_speech(quoted: str) -> bool:
    words = quoted.split()
    if _DENSE.search(quoted):
        return len(quoted) > 8
    return len(words) >= QUOTE_WORDS_MIN


def _sentence_start(text: str, place: int) -> int:
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, place)]
    line = text.rfind("\n", 0, place) + 1
    return max([line, *ends])


def _sentence_stop(text: str, place: int) -> int:
    """The end of the sentence that the quotation stands in: it may close the sentence itself."""
    if re.match(r"[.!?。！？]", text[place - 2 : place - 1]) and text[place : place + 1] in (
        "",
        " ",
    ):
        following = text[place:].lstrip()[:1]
        if not following or following.isupper() or following in "¿¡":
            return place
    line = text.find("\n", place)
    line = len(text) if line < 0 else line
    found = _SENTENCE_END.search(text, place, line)
    return found.end() if found else line


def _before_inline(text: str) -> str:
    """Up to "translate this: ..." or "my neighbour writes: ..."."""
    own: list[str] = []
    lines = text.split("\n")
    for place, line in enumerate(lines):
        shown = any(one.startswith(_SHOWN) for one in lines[place + 1 :])
        cut = _inline_cut(line.removeprefix(_SHOWN), shown)
        if cut is not None:
            own.append(line.removeprefix(_SHOWN)[:cut])
            break
        own.append(line.removeprefix(_SHOWN))
    return "\n".join(own)


def _inline_cut(line: str, shown: bool) -> int | None:
    """Where the sentence begins that hands over to somebody else's words. ``shown``: "this" stands
    in quotation marks further on."""
    start = 0
    for found in _INLINE_LEAD.finditer(line) if _OPENS.search(line) else ():
        ends = [end.end() for end in _SENTENCE_END.finditer(line, 0, found.start("rest"))]
        start = max([start, *ends])
        lead = line[start : found.end("lead")]
        if _hands_over(lead, line[found.start("rest") :]):
            return start
    sentence = 0
    for end in _SENTENCE_END.finditer(line) if not shown else ():
        said = line[sentence : end.start()]
        if (
            pattern("voice.task").match(said)
            and cues("voice.task_about_this").search(said)
            and not pattern("voice.own_lead").match(said)
        ):
            return sentence
        sentence = end.end()
    return None


def _hands_over(lead: str, rest: str) -> bool:
    if pattern("voice.own_lead").match(lead):
        return False
    if (
        pattern("voice.task").match(lead)
        or cues("voice.attributed").search(lead)
        or cues("voice.lead").search(lead)
    ):
        return True
    return bool(pattern("voice.somebody").match(lead) and pattern("voice.first_person").match(rest))
