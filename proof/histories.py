"""Whole lives: people talk, correct, forget, undo and decide; models misbehave; processes die."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from proof.family import ProofFamily, Trial
from standfast.stores.dict import DictStore
from tests.simulation import test_learning, test_sessions


def attempt(seed: int, folder: Path) -> Trial:
    """Seeds below 10,000 are the suite's own."""
    place = 10_000 + seed
    if seed % 2:
        test_sessions.run(place)
        return Trial(units=1, figures=(("of sessions", 1),))
    test_learning.run(place, folder)
    return Trial(units=1, figures=(("of learning", 1),))


@contextmanager
def forgetful_store() -> Iterator[None]:
    """A store that does not show the newest message of a longer session."""
    honest = DictStore.messages

    async def messages(self: DictStore, *args: Any, **kwargs: Any) -> Any:
        found = await honest(self, *args, **kwargs)
        return found[:-1] if len(found) > 3 else found

    with mock.patch.object(DictStore, "messages", messages):
        yield


FAMILY = ProofFamily(
    name="histories",
    promise="No message is lost and no belief goes wrong silently, whatever dies when.",
    unit="histories",
    target=20_000,
    attempt=attempt,
    mutant=forgetful_store,
    mutant_said="a store that hides the newest message of a longer session",
    share=3.0,
    parallel=True,
)
