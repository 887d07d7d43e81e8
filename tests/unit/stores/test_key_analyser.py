"""Redis and SurrealDB keep which version of the analyser made their words."""

from __future__ import annotations

from pathlib import Path

import pytest

from standfast import Memory
from standfast.errors import Incompatible
from standfast.text import analysis
from tests.redis import fresh_address


@pytest.mark.parametrize("engine", ["redis", "surrealkv"])
def test_X16_words_of_another_analyser_are_refused(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = fresh_address() if engine == "redis" else f"surrealkv://{tmp_path}/memory"
    with Memory.open(address, embedder="none", background=False) as memory:
        memory.remember("Ann keeps bees", scope="user:ann")
    with monkeypatch.context() as patch:
        patch.setattr(analysis, "ANALYSER_VERSION", analysis.ANALYSER_VERSION + 1)
        with pytest.raises(Incompatible, match="export with that version"):
            Memory.open(address, embedder="none", background=False)
    with Memory.open(address, embedder="none", background=False) as memory:
        assert memory.recall("bees", scope="user:ann").hits
