"""HISTORY.md as text: one line an entry, with its time, two to five sentences and its id. Pure.

    [2025-01-15 10:30] The user wanted: deploy it. Decided: use Docker. <!-- standfast:summary:1 -->

The id stands at the end, so a line that has one is complete.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime

from standfast.interfaces.markdown.pages import MARKER, comment, escaped, read_id
from standfast.interfaces.markdown.workspace import session_file
from standfast.text.summary import WEIGHTS, short
from standfast.types import Record, Summary
from standfast.types.frozen import frozen

SENTENCES_MIN = 2
SENTENCES_MAX = 5
SENTENCE_CHARACTERS_MAX = 300

_SAID = {
    "intent": "The user wanted",
    "decision": "Decided",
    "error": "Error",
    "outcome": "Outcome",
    "tool": "Tools",
    "user": "The user said",
    "said": "The assistant said",
}
_LABELLED = re.compile(rf"- ({'|'.join(WEIGHTS)}): (.+)")
_END = re.compile(r"(?<=[.!?。！？])\s+")
_BEGUN = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d\]")
_STAMP = re.compile(r"\s*\[?\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?\]?\s*:?\s*")


@frozen
class HistoryEntry:
    id: str  # "summary:..." or "episode:..."
    at: datetime
    text: str

    @property
    def line(self) -> str:
        stamp = f"[{self.at.astimezone(UTC):%Y-%m-%d %H:%M}]"
        return f"{stamp} {escaped(self.text)} {comment(self.id)}\n"


def without_stamp(told: str) -> str:
    """An account without the time that a model put before it."""
    return _STAMP.sub("", told, count=1)


def ids_in(text: str) -> list[str]:
    """The entries that are there, complete ones only."""
    found = [id_of_entry(line) for line in text.split("\n")]
    return [id_ for id_ in found if id_]


def without(text: str, gone: Collection[str]) -> str:
    """The log without some entries; everything else stays byte by byte."""
    lines = text.split("\n")
    return "\n".join(line for line in lines if id_of_entry(line) not in gone)


def torn_end(text: str, entries: Iterable[HistoryEntry]) -> str:
    """The end of the log, if a killed writer left part of one of these entries there."""
    end = text[text.rfind("\n") + 1 :]
    return end if end and any(entry.line.startswith(end) for entry in entries) else ""


def without_torn_end(text: str) -> str:
    """The log without a last line that was begun like an entry and never finished."""
    start = text.rfind("\n") + 1
    end = text[start:]
    return text[:start] if _BEGUN.match(end) and not id_of_entry(end) else text


def id_of_entry(line: str) -> str:
    """What a line of the log stands for; "" if it is none of ours, or torn."""
    if not line.startswith("["):
        return ""
    markers = list(MARKER.finditer(line))
    return read_id(markers[-1][1]) if markers and markers[-1].end() == len(line.rstrip()) else ""


def entry_of_summary(
    summary: Summary, before: str = "", *, told: str = "", said_at: datetime | None = None
) -> HistoryEntry:
    """``before`` is the summary that this one builds on: the entry tells what is new. ``told``
    is a model's own account, if there is one; ``said_at`` when its last message was said."""
    where = f"From messages {summary.from_seq} to {summary.to_seq} of session {_name(summary)}."
    sentences = _sentences(without_stamp(told)) if told else _news(summary.text, before)
    if len(sentences) < SENTENCES_MIN or not told:
        sentences = [*sentences[: SENTENCES_MAX - 1], where]
    text = " ".join(sentences[:SENTENCES_MAX])
    return HistoryEntry(id=f"summary:{summary.id}", at=said_at or summary.learned_at, text=text)


def entry_of_episode(record: Record, said_at: datetime | None = None) -> HistoryEntry:
    end = f"End of session {_file_stem(record.session)}." if record.session else "Kept as episode."
    sentences = [*_sentences(record.text)[: SENTENCES_MAX - 1], end]
    return HistoryEntry(
        id=f"episode:{record.id}", at=said_at or record.at, text=" ".join(sentences)
    )


def _name(summary: Summary) -> str:
    return _file_stem(summary.session)


def _file_stem(session: str) -> str:
    return session_file(session).removesuffix(".jsonl")


def _news(text: str, before: str) -> list[str]:
    """The weightiest lines that the earlier summary did not have, in their order."""
    old = set(before.split("\n"))
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    fresh = [line for line in lines if line not in old] or lines
    labelled = [found for line in fresh if (found := _LABELLED.match(line))]
    if not labelled:
        return _sentences("\n".join(fresh))
    order = sorted(range(len(labelled)), key=lambda place: -WEIGHTS[labelled[place][1]])
    chosen = sorted(order[: SENTENCES_MAX - 1])
    return [_sentence(f"{_SAID[labelled[n][1]]}: {labelled[n][2]}") for n in chosen]


def _sentences(text: str) -> list[str]:
    parts = [part.strip(" -") for line in text.split("\n") for part in _END.split(line)]
    return [_sentence(part) for part in parts if part]


def _sentence(text: str) -> str:
    """One sentence, whatever it is made of."""
    joined = short("; ".join(part.rstrip(".。") for part in _END.split(text.strip())), _LONGEST)
    return joined if joined.endswith(("!", "?", "。", "！", "？", "...")) else joined + "."


_LONGEST = SENTENCE_CHARACTERS_MAX
