"""Embedders behind HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module

from standfast.errors import Unavailable, install_command
from standfast.models.providers.embedding.dialects import dialect_of
from standfast.models.providers.embedding.names import Target
from standfast.models.providers.llm.names import Place
from standfast.ports import AnswerError, Limits, Rows

SECONDS = 30.0
BYTES_PER_NUMBER_MAX = 32
DIMENSIONS_USUAL_MAX = 4096
BYTES_BESIDE = 64 << 10


class RemoteEmbedder:
    """Implements ``ports.EmbeddingService``, and ``ports.Embedder`` for whoever needs no more. It
    keeps no connection between calls, so it belongs to no event loop and needs no closing. Its
    key never leaves it but in a request's header."""

    local = False

    def __init__(
        self, target: Target, *, key: str = "", key_hint: str = "", seconds: float = SECONDS
    ) -> None:
        """``key_hint`` says where a missing key should be."""
        self._target = target
        self._dialect = dialect_of(target)
        self._key = key.strip()
        self._key_hint = key_hint or "its key"
        self._seconds = seconds

    @property
    def place(self) -> Place:
        return self._target.place

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def space(self) -> str:
        return self._target.space

    @property
    def dimensions(self) -> int:
        return self._target.dimensions

    @property
    def limits(self) -> Limits:
        return self._dialect.limits

    def __repr__(self) -> str:
        return f"RemoteEmbedder({self.space!r})"

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector per text. Texts go as they are: keeping them short is the caller's part."""
        rows: list[Sequence[float]] = []
        for start in range(0, len(texts), self.limits.texts):
            part = texts[start : start + self.limits.texts]
            rows += (await self.ask(part, query=False)).rows
        return rows

    async def ask(self, texts: Sequence[str], *, query: bool) -> Rows:
        if self.place.own_address and not self._key:
            raise Unavailable(f"{self.name} needs a key: set {self._key_hint}", lasting=True)
        await asyncio.to_thread(_load_library)
        found: Rows | None = None
        failure: Exception | None = None
        try:
            async with asyncio.timeout(self._seconds):
                found = await self._sent(texts, query)
        except TimeoutError:
            said = f"{self.name} did not answer within {self._seconds:g} seconds"
            failure = Unavailable(said, outcome_unknown=True)
        except Exception as error:
            failure = self._explained(error)
        # Raised out here, so that no request with its key hangs on the error as its context.
        if found is None:
            raise failure or Unavailable(f"{self.name} gave no answer")
        self._check(found, len(texts))
        return found

    async def _sent(self, texts: Sequence[str], query: bool) -> Rows:
        from standfast.models.providers.embedding.request import post

        request = self._dialect.ask(self._target, self._key, texts, query)
        # Room for more than was asked for: a wrong size has an error of its own.
        numbers = len(texts) * max(self.dimensions, DIMENSIONS_USUAL_MAX)
        bytes_max = BYTES_BESIDE + numbers * BYTES_PER_NUMBER_MAX
        answer = await post(request, place=self.place, seconds=self._seconds, bytes_max=bytes_max)
        return self._dialect.read(answer)

    def _explained(self, error: Exception) -> Exception:
        from standfast.models.providers.embedding.request import explained

        return explained(error, self.name, self._key)

    def _check(self, found: Rows, count: int) -> None:
        if len(found.rows) != count:
            said = f"{self.name} answered with {len(found.rows)} vectors for {count} texts"
            raise AnswerError(said, usage=found.usage)
        others = {len(row) for row in found.rows} - {self.dimensions}
        if others:
            raise Unavailable(
                f"{self.name} answered with {min(others)} dimensions instead of "
                f"{self.dimensions}; open the store with the size that the model gives "
                f"({self.name}/{min(others)}) and move it there with standfast reembed",
                lasting=True,
                outcome_unknown=True,
            )


class AbsentEmbedder:
    """Stands for the embedder that a store was begun with and that cannot be made here: records
    wait for their vectors, and searches go by keyword and say why."""

    local = False

    def __init__(self, space: str, why: str) -> None:
        self.space = space
        size = space.rpartition("/")[2]
        self.dimensions = int(size) if size.isdigit() else 0  # 0: the name does not say
        self._why = why

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:  # noqa: ARG002
        raise Unavailable(self._why, lasting=True)


def _load_library() -> None:
    """Only when something is embedded, and in a thread."""
    try:
        import_module("standfast.models.providers.embedding.request")
    except ImportError as error:
        raise Unavailable(
            f"embedding services need {error.name}: {install_command('llm')}",
            lasting=True,
        ) from None
