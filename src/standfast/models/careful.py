"""Asking a model with care: see ``standfast.models.calls`` for how a call is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from standfast.errors import Unavailable
from standfast.models.budgets import Booking, Price
from standfast.models.calls import CALLS_AT_ONCE, Breaker, Calls, Gate, Patience, within
from standfast.ports import Model, Prompt, Reply
from standfast.scopes import root_of
from standfast.text.tokens import estimate
from standfast.types import Usage

__all__ = ["GATE", "Breaker", "Careful", "Gate", "Patience", "Persists"]

GATE = Gate(CALLS_AT_ONCE)


class Persists(Protocol):
    """May anything of this scope, or by these authors, be kept? ``Engine.persists`` is one."""

    async def __call__(self, scope: str, authors: Iterable[str] = ()) -> bool: ...


class Careful(Calls):
    """The models of a memory by operation, asked with care; "" is the model for all others."""

    def __init__(
        self,
        models: Mapping[str, Model],
        *,
        persists: Persists | None = None,
        gate: Gate = GATE,
        **care: Any,
    ) -> None:
        """``care`` is what every ``Calls`` takes."""
        super().__init__(gate=gate, **care)
        self._models = dict(models)
        self._persists = persists

    def model_for(self, operation: str) -> Model | None:
        return self._models.get(operation) or self._models.get("")

    async def ask(self, prompt: Prompt, *, scope: str, authors: Iterable[str] = ()) -> Reply:
        """The model's fitting answer; its usage counts every try.

        Unavailable: no model, opted out, over budget, left alone after failures, or every try
        failed (``retry_after`` says when to come again, if that is known). AnswerError: the last
        try was answered, but not with what was asked for. Invalid: the model refuses this
        question, which is too long for it, for example.
        """
        model = self.model_for(prompt.operation)
        if model is None:
            raise Unavailable(f"no model to {prompt.operation} with; set STANDFAST_MODEL")
        if self._persists is not None and not await self._persists(scope, authors):
            raise Unavailable(f"{scope} opted out: nothing of theirs is shown to a model")
        price = await self._price(model.name)
        booking = Booking(
            root=root_of(scope),
            operation=prompt.operation,
            model=model.name,
            tokens_in=estimate(prompt.system) + estimate(prompt.user) + _of_schema(prompt),
            tokens_out=prompt.tokens_max,
            price=price or Price(),
        )
        self._ledger.check_call(booking)

        async def once() -> tuple[Reply, Usage]:
            reply = await within(self._patience.seconds, model.name, model.ask(prompt))
            return reply, booking.actual(reply.usage, reply.text)

        reply, spent = await self._tried(booking, once)
        notes = () if price else (f"the price of {model.name} is not known: counted as 0",)
        return replace(reply, usage=spent, notes=(*_note(reply.usage, reply.notes), *notes))


def _of_schema(prompt: Prompt) -> int:
    return estimate(str(dict(prompt.schema))) if prompt.schema else 0


def _note(told: Usage, notes: tuple[str, ...]) -> tuple[str, ...]:
    if told.tokens_in or told.tokens_out:
        return notes
    return (*notes, "the model did not say what it used: tokens are estimated")
