"""A step, a plan, and how both are said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from standfast.types import ItemStatus, ReceiptItem, UpkeepStep
from standfast.types.frozen import frozen

RETIRING: frozenset[UpkeepStep] = frozenset({"archive", "supersede", "merge"})
SHOWN_CHARACTERS = 80

# What -> the sign of the diff, the word for what will happen, that for what has happened.
_SAID: Mapping[UpkeepStep, tuple[str, str, str, ItemStatus]] = {
    "archive": ("-", "archive", "archived", "stored"),
    "supersede": ("-", "supersede", "superseded", "superseded"),
    "settle": ("~", "settle", "settled", "stored"),
    "dispute": ("?", "dispute", "disputed", "disputed"),
    "merge": ("=", "merge", "merged", "merged"),
    "importance": ("~", "importance", "importance", "stored"),
    "profile": ("+", "profile", "profile", "stored"),
    "procedure": ("+", "procedure", "procedure", "stored"),
}


@frozen
class Step:
    """One thing to do to the record ``id``, as long as it still has ``version``.

    ``other`` is the record that stays: the one merged into, or the side of a dispute that won;
    of a new dispute it is the other side.
    ``value`` is a new importance. ``text`` begins what the record says; it is shown and never
    stored with the step.
    """

    what: UpkeepStep
    id: str
    version: int = 0
    other: str = ""
    other_version: int = 0
    value: float = 0.0
    because: str = ""
    text: str = ""

    @property
    def retires(self) -> bool:
        return self.what in RETIRING


@frozen
class Plan:
    """Steps in the order they are applied, and how many memories (turns apart) are live."""

    steps: tuple[Step, ...] = ()
    live: int = 0

    @property
    def retired(self) -> int:
        return sum(1 for step in self.steps if step.retires)

    def is_too_much(self, share: float, least: int) -> bool:
        """Would it retire more than this share? Up to ``least`` are fine in any store."""
        return self.retired > max(least, share * self.live)


def shown(text: str) -> str:
    """The beginning of a memory, on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= SHOWN_CHARACTERS else flat[: SHOWN_CHARACTERS - 3] + "..."


def diff_line(item: ReceiptItem) -> str:
    """An item of a dry run's receipt as a line of a diff."""
    if item.step is None:
        return f"! {item.id} {item.reason}"
    sign, verb, _, _ = _SAID[item.step]
    told = item.reason.removeprefix(_would(item.step))
    return f"{sign} {verb} {item.id} {told}".rstrip()


def planned_item(step: Step) -> ReceiptItem:
    """What it would do, for the receipt of a dry run."""
    reason = _would(step.what) + _told(step)
    return ReceiptItem(id=step.id, status="pending", reason=reason, step=step.what)


def _would(what: UpkeepStep) -> str:
    return f"would {_verb(what)}: "


def done_words(step: Step) -> tuple[ItemStatus, str]:
    """What it did, for a receipt."""
    _, _, done, status = _SAID[step.what]
    return status, f"{done}: {step.because}" if step.because else done


def _verb(what: UpkeepStep) -> str:
    if what == "importance":
        return "move importance"
    return f"add a {what}" if what in ("profile", "procedure") else what


def _told(step: Step) -> str:
    if step.what == "importance":
        return step.because
    quoted = f'"{step.text}"' if step.text else ""
    words = {"merge": "into", "dispute": "with"}
    into = f"{words[step.what]} {step.other}" if step.what in words else ""
    because = f"({step.because})" if step.because else ""
    return " ".join(part for part in (into, quoted, because) if part)


def plain_step(step: Step) -> dict[str, Any]:
    """The step as JSON, without any text of a memory."""
    plain: dict[str, Any] = {"what": step.what, "id": step.id, "version": step.version}
    if step.other:
        plain |= {"other": step.other, "other_version": step.other_version}
    if step.what == "importance":
        plain["value"] = step.value
    return {**plain, "because": step.because}


def step_from(plain: Any) -> Step | None:
    """The step that somebody stored; None if it is none of ours."""
    if not isinstance(plain, Mapping) or plain.get("what") not in get_args(UpkeepStep):
        return None
    texts = [plain.get(name, "") for name in ("id", "other", "because")]
    numbers = [plain.get(name, 0) for name in ("version", "other_version")]
    value = plain.get("value", 0.0)
    sound = (
        all(isinstance(text, str) for text in texts)
        and all(isinstance(number, int) for number in numbers)
        and isinstance(value, int | float)
        and 0 <= value <= 1
        and bool(texts[0])
    )
    if not sound:
        return None
    return Step(
        what=plain["what"],
        id=texts[0],
        version=numbers[0],
        other=texts[1],
        other_version=numbers[1],
        value=float(value),
        because=texts[2],
    )
