"""Embedding by a service with care: in batches that it takes, within a time, inside the budgets.

What fails stays without a vector, and the rest is kept: a record without a vector is found by
keyword and tried again by the next round of upkeep.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from standfast.errors import Invalid, Unavailable
from standfast.index.vectors import packed
from standfast.models.budgets import Booking, Price
from standfast.models.calls import CALLS_AT_ONCE, Calls, FailedCall, Gate, Patience, sum_of, within
from standfast.ports import AnswerError, EmbeddingService
from standfast.scopes import SYSTEM_ROOT
from standfast.text.tokens import estimate
from standfast.types import Usage, Vector
from standfast.types.frozen import frozen

log = logging.getLogger(__name__)

OPERATION = "embed"
# Somebody waits for a query: rather soon by keyword than late by meaning.
QUERY = Patience(tries=1, seconds=4.0)
QUERY_SECONDS = 5.0
DOCUMENTS = Patience(seconds=30.0)
DOCUMENTS_SECONDS = 120.0
# Nearly every model reads this much; what a service refuses is tried once more as short as this.
SHORT_TOKENS = 400
PROBE = "tea"
RECENT_VECTORS = 1000
CHARACTERS_PER_TOKEN_MAX = 16

GATE = Gate(CALLS_AT_ONCE)
# A gate of their own, so that a query never stands behind somebody's thousand documents.
QUERY_GATE = Gate(8)


@frozen
class Embedded:
    """A vector per text, None where there is none; ``trouble`` says why, ``usage`` what it cost.
    ``space`` is told of questions only."""

    vectors: list[Vector | None]
    trouble: str = ""
    space: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True, kw_only=True)
class _Run:
    root: str
    query: bool
    texts: list[str]
    vectors: list[Vector | None]
    troubles: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    works: bool | None = None  # does the service take anything at all? None: nobody asked


class CarefulEmbedder(Calls):
    """A service as an embedder. Unlike a local one it is told whose texts they are, because
    their root pays."""

    local = False

    def __init__(
        self,
        service: EmbeddingService,
        *,
        patience: Patience = DOCUMENTS,
        gate: Gate = GATE,
        **care: Any,
    ) -> None:
        """``care`` is what every ``Calls`` takes."""
        super().__init__(patience=patience, gate=gate, **care)
        self._service = service
        self._recent = _Recent(RECENT_VECTORS)

    @property
    def space(self) -> str:
        return self._service.space

    @property
    def dimensions(self) -> int:
        return self._service.dimensions

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """For whoever does not know whose texts they are: all or nothing, and nobody in
        particular pays."""
        found = await self.embedded(texts, root=SYSTEM_ROOT)
        if found.trouble:
            raise Unavailable(found.trouble)
        return [memoryview(vector or self.nothing).cast("f").tolist() for vector in found.vectors]

    async def embedded(self, texts: Sequence[str], *, root: str, query: bool = False) -> Embedded:
        """Never raises over a service: what it did not answer has no vector."""
        limits, most = self._service.limits, self.budgets.tokens_per_call
        each = min(limits.tokens_each, max(most, SHORT_TOKENS) if most else limits.tokens_each)
        clipped = [clip(text.strip(), each) for text in texts]
        known = [self._recent.get(text, query) if text else self.nothing for text in clipped]
        run = _Run(root=root, query=query, texts=clipped, vectors=known)
        open_ = [place for place, vector in enumerate(known) if vector is None]
        parts = batches(clipped, open_, limits.texts, min(limits.tokens, most or limits.tokens))
        seconds = QUERY_SECONDS if query else DOCUMENTS_SECONDS
        try:
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(self._fill(run, part) for part in parts))
        except TimeoutError:
            run.troubles.append(f"{self._service.name} took more than {seconds:g} seconds")
        trouble = run.troubles[0] if run.troubles else ""
        return Embedded(vectors=run.vectors, trouble=trouble, usage=run.usage)

    async def _fill(self, run: _Run, part: Sequence[int]) -> None:
        """Vectors for these places of the run, as far as they are to be had."""
        try:
            found = await self._ask(run, [run.texts[place] for place in part])
        except (AnswerError, FailedCall) as error:
            run.usage = sum_of(run.usage, error.usage)
            run.troubles.append(str(error))
        except Unavailable as error:
            run.troubles.append(str(error))
        except Invalid as error:
            await self._refused(run, part, str(error))
        else:
            for place, vector in zip(part, found, strict=True):
                run.vectors[place] = vector
                self._recent.put(run.texts[place], run.query, vector)

    async def _refused(self, run: _Run, part: Sequence[int], reason: str) -> None:
        """The service takes not these texts: look for the one that it means. If it does not even
        take the simplest text, it is not about the texts."""
        if run.query or not await self._takes_anything(run):
            run.troubles.append(reason)
        elif len(part) > 1:
            half = len(part) // 2
            await self._fill(run, part[:half])
            await self._fill(run, part[half:])
        elif (short := clip(run.texts[part[0]], SHORT_TOKENS)) != run.texts[part[0]]:
            run.texts[part[0]] = short
            await self._fill(run, part)
        else:
            log.warning("a record stays without a vector: %s", reason, extra={"action": "embed"})
            run.vectors[part[0]] = self.nothing

    async def _takes_anything(self, run: _Run) -> bool:
        if run.works is None:
            try:
                await self._ask(run, [PROBE])
                run.works = True
            except (Invalid, Unavailable):
                run.works = False
        return run.works

    @property
    def nothing(self) -> Vector:
        """For a text that has no meaning to this embedder, or none that may be sent to it."""
        return bytes(4 * self.dimensions)

    async def _ask(self, run: _Run, texts: Sequence[str]) -> list[Vector]:
        service, patience = self._service, QUERY if run.query else self._patience
        booking = Booking(
            root=run.root,
            operation=OPERATION,
            model=service.name,
            tokens_in=sum(map(estimate, texts)),
            tokens_out=0,
            price=await self._price(service.name) or Price(),
        )
        self._ledger.check_call(booking)

        async def once() -> tuple[list[Vector], Usage]:
            answer = service.ask(texts, query=run.query)
            found = await within(patience.seconds, service.name, answer)
            try:
                vectors = packed(found.rows, len(texts), service.dimensions)
            except Unavailable as error:
                raise AnswerError(f"{service.name}: {error}", usage=found.usage) from None
            told = found.usage.tokens_in
            return vectors, booking.actual(found.usage, "") if told else booking.expected

        gate = QUERY_GATE if run.query else self._gate
        vectors, spent = await self._tried(booking, once, patience=patience, gate=gate)
        run.usage = sum_of(run.usage, spent)
        return vectors


class _Recent:
    """The last few vectors, so that what is asked twice in a minute is paid once. It knows texts
    by their hash only, and is safe from several threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str, query: bool) -> Vector | None:
        with self._lock:
            return self._vectors.get(_key(text, query))

    def put(self, text: str, query: bool, vector: Vector) -> None:
        with self._lock:
            self._vectors[_key(text, query)] = vector
            if len(self._vectors) > self._limit:
                self._vectors.popitem(last=False)


def _key(text: str, query: bool) -> bytes:
    return blake2b(f"{query} {text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def batches(
    texts: Sequence[str], places: Iterable[int], texts_max: int, tokens_max: int
) -> Iterable[list[int]]:
    """Which of these places go together."""
    part: list[int] = []
    tokens = 0
    for place in places:
        cost = estimate(texts[place])
        if part and (len(part) == texts_max or tokens + cost > tokens_max):
            yield part
            part, tokens = [], 0
        part.append(place)
        tokens += cost
    if part:
        yield part


def clip(text: str, tokens: int) -> str:
    """The beginning of a text, of at most so many tokens on the safe side."""
    text = text[: tokens * CHARACTERS_PER_TOKEN_MAX]
    if estimate(text) <= tokens:
        return text
    fits, too_many = 0, len(text)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if estimate(text[:middle]) <= tokens:
            fits = middle
        else:
            too_many = middle
    return text[:fits]
