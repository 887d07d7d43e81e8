"""Learning without a model: which turns are worth it, and what they say.

Rules read statements about people, places, tastes, plans, decisions and corrections, and write
each as a sentence that stands on its own. They rather learn nothing than something wrong.
Everything here is pure and works on any text in linear time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from standfast.text.claims.gate import gate

if TYPE_CHECKING:
    from standfast.text.claims.lessons import Extraction, Gated
    from standfast.text.claims.reader import TurnReading, claim_in, extract

__all__ = ["Extraction", "Gated", "TurnReading", "claim_in", "extract", "gate"]

_HOMES = {
    "Extraction": "lessons",
    "Gated": "lessons",
    "TurnReading": "reader",
    "claim_in": "reader",
    "extract": "reader",
}


def __getattr__(name: str) -> Any:
    """The rules are loaded where something is learned: who only searches needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
