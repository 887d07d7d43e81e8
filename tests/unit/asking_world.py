"""A world for the tests of careful asking: a scripted model, and a clock that sleeping moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

import pytest

from standfast.errors import StandfastError
from standfast.models.budgets import NOTHING, Price
from standfast.models.careful import Careful, Gate
from standfast.ports import AnswerError, Prompt, Reply, Store
from standfast.stores.dict import DictStore
from standfast.types import Usage

ANN = "user:ann"
PROMPT = Prompt(operation="summarize", system="Be brief.", user="Tea at noon.", tokens_max=100)
USED = Usage(calls=1, tokens_in=40, tokens_out=10)
GOOD = Reply(text="Tea.", usage=USED)
NONSENSE = AnswerError("no JSON", usage=USED)
DOLLARS = Price(tokens_in=1.0, tokens_out=2.0)

Step = Reply | Exception | Callable[[], Awaitable[Reply]]


class Scripted:
    """A model that does what it is told, in order; the last step for ever."""

    def __init__(self, *steps: Step, name: str = "test:model") -> None:
        self.name = name
        self.steps = list(steps)
        self.asked = 0

    async def ask(self, prompt: Prompt) -> Reply:  # noqa: ARG002
        self.asked += 1
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Reply) else await step()


class World:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 15, 22, 0, tzinfo=UTC)
        self.slept: list[float] = []
        self._ids = count()
        self._name = uuid4()  # two worlds may meet in one store

    def clock(self) -> datetime:
        return self.now

    def new_id(self) -> str:
        return f"{self._name}-{next(self._ids)}"

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)

    def careful(self, model: Scripted, store: Store | None = None, **more: Any) -> Careful:
        given: dict[str, Any] = {
            "store": store or DictStore(),
            "clock": self.clock,
            "new_id": self.new_id,
            "chance": lambda: 1.0,
            "sleep": self.sleep,
            "gate": Gate(4),
            "price_of": lambda _: DOLLARS,
        }
        return Careful({"": model}, **{**given, **more})


def run(careful: Careful, prompt: Prompt = PROMPT, scope: str = ANN) -> Reply:
    return asyncio.run(careful.ask(prompt, scope=scope))


def failure(careful: Careful, prompt: Prompt = PROMPT, scope: str = ANN) -> StandfastError:
    with pytest.raises(StandfastError) as caught:
        run(careful, prompt, scope)
    return caught.value


def usage_in(store: Store, root: str = ANN, namespace: str = "usage") -> dict[str, Any]:
    """The books of a root: the total of each day ("budget"), or its parts ("usage")."""
    prefix = f"budget\t{root}\t"
    cells = asyncio.run(store.registry.list(prefix, now=datetime(2026, 11, 16, tzinfo=UTC)))
    days = {cell.key.removeprefix(prefix): cell.value for cell in cells}
    if namespace == "budget":
        return {day: {n: v[n] for n in NOTHING} for day, v in days.items()}
    return {f"{day}/{what}": spent for day, v in days.items() for what, spent in v["by"].items()}
