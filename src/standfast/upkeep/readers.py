"""Who reads what was said: a language model, the network in the box, or nobody."""

from __future__ import annotations

from standfast.engine import Engine
from standfast.ports import Store


def has_model(engine: Engine, store: Store) -> bool:
    """What somebody wants forgotten with this process is never shown to a model."""
    if engine.models is None or engine.rules_only or store is engine.volatile:
        return False
    return engine.models.model_for("extract") is not None


def why_not(engine: Engine, store: Store) -> str:
    """Why nothing is learned here, in one line; "" if something is."""
    if engine.reader is not None or has_model(engine, store):
        return ""
    return f"nothing is learned without a language model: {engine.no_reader}"


def why_not_judged(engine: Engine) -> str:
    """Why new statements change nothing that is known, in one line; "" if they do."""
    trouble = engine.change_judge.trouble if engine.change_judge else engine.no_judge
    if not trouble:
        return ""
    return f"degraded: equal statements merge, all others stay side by side: {trouble}"
