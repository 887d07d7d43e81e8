"""Who asks, over whichever interface: the memory as the caller may use it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from standfast.access.rights import AGENT_RIGHTS
from standfast.types import Right
from standfast.types.frozen import frozen

if TYPE_CHECKING:  # the verbs take a moment to load, and the first answer needs none
    from standfast.access.keys import Key
    from standfast.memory import AsyncMemory


class Counting(Protocol):
    """Counts the writes of roots, and raises if there were too many."""

    async def take(self, roots: Iterable[str]) -> None: ...


@frozen
class Caller:
    """Whoever sent a request. Never close its ``memory``: it shares its process's store. ``via``
    is what the journal says of somebody who has no key, because none was made yet or none is
    needed."""

    memory: AsyncMemory
    via: str
    key: Key | None = None
    quotas: Counting | None = None

    @property
    def engine(self) -> Any:
        return self.memory.engine

    @property
    def name(self) -> str:
        """For whatever belongs to one caller: its key's id."""
        return self.key.id if self.key else ""

    @property
    def actor(self) -> str:
        """For the journal: which key it was."""
        if self.key is None:
            return self.via
        return f"key:{self.key.id}" + (f" {self.key.name}" if self.key.name else "")

    def acting_for(self, said: str) -> str:
        """The same with the actor that the request names; only a key can be relied on."""
        if self.key is None:
            return said or self.actor
        return f"{self.actor} for {said}" if said else self.actor

    def for_tools(self, more: Iterable[Right] = ()) -> Caller:
        """The same for a model that calls tools, whoever's key it uses: its words are an agent's,
        and it decides nothing unless whoever runs the server opted in to ``more`` rights."""
        engine = self.engine
        rights = engine.rights & {*AGENT_RIGHTS, *more}
        narrowed = engine.narrowed(None, rights, "agent")
        return replace(self, memory=type(self.memory)(narrowed))

    async def before_write(self) -> None:
        """Counts a write; TooMany if those whose key this is have written too much today."""
        if self.key is not None and self.quotas is not None:
            from standfast.access.shares import tenants_of

            await self.quotas.take(tenants_of(self.engine))

    @property
    def is_master(self) -> bool:
        """May see what belongs to no scope, such as the work of other keys."""
        return "admin" in self.engine.rights and not self.engine.bound
