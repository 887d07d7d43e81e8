"""Lota's four search functions under the names that its description gives them.

They take a ``Memory`` or an ``AsyncMemory`` and answer with what its verbs answer: an ``Answer`` or
a ``Packet``, to be awaited where the memory is asynchronous.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast.scopes import make_scope

if TYPE_CHECKING:
    from standfast.memory import AsyncMemory
    from standfast.memory.sync import Memory


class MemoryService:
    """``MemoryService(memory).searchOrganizationMemories("acme", "deploys")``."""

    def __init__(self, memory: Memory | AsyncMemory) -> None:
        self._memory: Any = memory

    def searchOrganizationMemories(self, orgId: str, query: str, limit: int = 6) -> Any:  # noqa: N802, N803
        """What the organisation knows; nothing that belongs to one of its agents alone."""
        return self._memory.recall(query, scope=make_scope(("org", orgId)), limit=limit)

    def searchAgentMemories(self, orgId: str, agentName: str, query: str, limit: int = 6) -> Any:  # noqa: N802, N803
        """What one agent knows, the organisation's memories included."""
        return self._memory.recall(query, scope=_agent(orgId, agentName), limit=limit)

    def searchAllMemoriesBatched(  # noqa: N802
        self,
        orgId: str,  # noqa: N803
        agentName: str,  # noqa: N803
        query: str,
        fastMode: bool = False,  # noqa: N803
        limit: int = 6,
    ) -> Any:
        """Both scopes in one question; without ``fastMode`` a model chooses, if there is one."""
        scopes = [make_scope(("org", orgId)), _agent(orgId, agentName)]
        return self._memory.recall(query, scope=scopes, fast=fastMode, limit=limit)

    def getTopMemories(self, orgId: str, agentName: str | None = None) -> Any:  # noqa: N802, N803
        """The core memories that stand in every context, without a query: a packet whose
        ``stable_text`` is the section ``<pre-seeded-memories>``."""
        scope = _agent(orgId, agentName) if agentName else make_scope(("org", orgId))
        return self._memory.context(query="", scope=scope)


def _agent(organisation: str, name: str) -> str:
    return make_scope(("org", organisation), ("agent", name))
