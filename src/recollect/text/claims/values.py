"""What the gate and the rules answer with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.text.claims.lessons import Lesson


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """Is a message worth learning from? ``skip`` says why not, in words that hold none of the
    message's text; it is empty if the message passes. ``sure`` False: a helper model may decide
    otherwise. ``importance`` is between 0 and 1."""

    skip: str = ""
    sure: bool = True
    importance: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The lessons in some messages, and why the other messages gave none (by message id)."""

    lessons: tuple[Lesson, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
