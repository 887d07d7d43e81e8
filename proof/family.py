"""A family: one promise, how it is tried once, and a mutant that breaks it on purpose."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

HIGHEST = "(highest)"  # ends the name of a figure that is not added up


class Broken(Exception):
    """A promise that was not kept; says which and how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What one trial did: how many of the family's units, and other figures worth telling."""

    units: int
    figures: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofFamily:
    """``attempt`` is given a seed and an empty folder and raises Broken (or fails an assertion) if
    the promise is not kept. ``mutant`` breaks the code that keeps it, in this process; within
    ``mutant_tries`` seeds the family must notice. ``target`` counts units."""

    name: str
    promise: str
    unit: str
    target: int
    attempt: Callable[[int, Path], Trial]
    mutant: Callable[[], AbstractContextManager[None]]
    mutant_said: str
    mutant_tries: int = 20
    share: float = 1.0  # of the time, beside the other families
    parallel: bool = False  # trials may run beside each other: they need nothing but a processor
    not_promised: tuple[tuple[str, str], ...] = ()  # what is left out, and why
