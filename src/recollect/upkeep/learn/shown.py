"""What a model is shown: messages and known memories under short handles, never an id. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.text.claims import Gated
from recollect.types import Message, Record

CHARACTERS_MAX = 6000  # of a message that may teach something
CONTEXT_CHARACTERS_MAX = 300  # of one that is there to make sense of the others
KNOWN_CHARACTERS_MAX = 300
EARLIER_MAX = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Handles and what they stand for. ``new`` are the ids of messages not learned from yet."""

    messages: Mapping[str, Message]
    known: Mapping[str, Record]
    new: frozenset[str]


def show(messages: Sequence[Message], earlier: Sequence[Message], known: Sequence[Record]) -> Shown:
    """Give handles to everything worth a model's look; what says nothing has none."""
    before = [message for message in earlier if _is_talk(message)][-EARLIER_MAX:]
    listed = [*before, *(message for message in messages if _is_talk(message))]
    return Shown(
        messages={f"t{number}": message for number, message in enumerate(listed, 1)},
        known={f"k{number}": record for number, record in enumerate(known, 1)},
        new=frozenset(message.id for message in messages),
    )


def _is_talk(message: Message) -> bool:
    return bool(message.text.strip()) and message.role not in ("system", "developer")


def messages_as_text(shown: Shown, gates: Mapping[str, Gated]) -> str:
    return "\n".join(
        _line(handle, message, _length(message, shown, gates))
        for handle, message in shown.messages.items()
    )


def _length(message: Message, shown: Shown, gates: Mapping[str, Gated]) -> int:
    gated = gates.get(message.id)
    teaches = message.id in shown.new and gated is not None and not (gated.skip and gated.sure)
    return CHARACTERS_MAX if teaches else CONTEXT_CHARACTERS_MAX


def _line(handle: str, message: Message, length: int) -> str:
    speaker = message.role.upper() if message.source != "web" else "WEB"
    name = f" {_one_line(message.author)}" if message.author else ""
    when = f"{message.at:%a %Y-%m-%d %H:%M %z}"
    return f"[{handle}] {when} {speaker}{name}: {_indented(message.text, length)}"


def _indented(text: str, length: int) -> str:
    """No line of a message can look like the beginning of another one."""
    cut = text if len(text) <= length else text[:length] + " [...]"
    return "\n    ".join(cut.splitlines())


def _one_line(text: str) -> str:
    return " ".join(text.split())


def known_as_text(shown: Shown) -> str:
    return "\n".join(
        f"[{handle}] {record.at:%Y-%m-%d} {record.type}: "
        f"{_one_line(record.text)[:KNOWN_CHARACTERS_MAX]}"
        for handle, record in shown.known.items()
    )
