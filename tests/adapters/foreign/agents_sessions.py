"""A pytest plugin that puts our session in the place of the OpenAI Agents SDK's SQLite session.

    PYTHONPATH=src:. python -m pytest -p tests.adapters.foreign.agents_sessions \\
        --rootdir CHECKOUT CHECKOUT/tests/memory/test_session.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import agents
import agents.memory

from standfast import Memory
from standfast.adapters.openai_agents import StandfastSession

_opened: dict[str, Memory] = {}


class SessionStandIn(StandfastSession):
    """Made like ``SQLiteSession``; sessions on one path share a memory."""

    def __init__(
        self, session_id: str, db_path: str | Path = ":memory:", session_settings: Any = None
    ) -> None:
        path = "dict:" if str(db_path) == ":memory:" else f"{db_path}.standfast"
        if path == "dict:" or path not in _opened:
            _opened[path] = Memory.open(path, background=False, embedder="none")
        super().__init__(session_id, _opened[path], session_settings=session_settings)

    def close(self) -> None:
        """Others may use the memory."""


agents.SQLiteSession = SessionStandIn  # type: ignore[misc,assignment]
agents.memory.SQLiteSession = SessionStandIn  # type: ignore[misc,assignment]
