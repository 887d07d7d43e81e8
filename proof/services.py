"""Services that fail: a model and an embedder that are away, slow, lying or huge; a wire that is
cut."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from standfast.errors import Unavailable
from standfast.models.providers.hashing import HashingEmbedder
from standfast.testing import scripted
from standfast.testing.scripted import ScriptedAnswer, ScriptedQuestion, says_json

MODEL: dict[str, Callable[[], ScriptedAnswer]] = {
    "model down": scripted.resets,
    "model hangs": scripted.hangs,
    "model says it is too much": lambda: scripted.too_many(retry_after=20),
    "model says prose": scripted.prose,
    "model is cut off": scripted.cut_off,
    "model sends half a body": scripted.half_body,
    "model sends 10 MB": scripted.huge,
    "model lies": lambda: says_json(
        {
            "facts": [
                {"text": "Ann owns the moon.", "from": "t999", "trust": 3},
                {"text": "Nothing is true.", "from": "t1", "links": "supersedes k1"},
                {"text": "Bob's secret is known.", "from": "t1", "scope": "user:bob"},
            ],
            "skip": "",
            "delete": ["k1", "k2"],
        }
    ),
}
EMBEDDER = (
    "embedder down",
    "embedder slow",
    "embedder says not a number",
    "embedder of another size",
    "embedder sends too few",
    "embedder changed",
)
WIRE = ("wire cut before the answer", "wire cut within the request")


def answering(kind: str) -> Callable[[ScriptedQuestion], ScriptedAnswer]:
    return lambda _: MODEL[kind]()


@dataclass(slots=True)
class TroubledEmbedder:
    """Implements ``ports.Embedder``; in trouble while ``kind`` says so."""

    local: bool
    size: int = 64
    kind: str = ""
    hits: int = 0

    @property
    def space(self) -> str:
        return f"hashing/{self.size}"

    @property
    def dimensions(self) -> int:
        return self.size

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        good = await HashingEmbedder(self.size).embed(texts)
        self.hits += bool(self.kind)
        match self.kind:
            case "embedder down":
                raise Unavailable("the embedding service is away; start it")
            case "embedder slow":
                await asyncio.sleep(0.02)
            case "embedder says not a number":
                return [[math.nan] * self.size for _ in texts]
            case "embedder of another size":
                return [vector[:-1] for vector in good]
            case "embedder sends too few":
                return good[:-1]
        return good


@dataclass(slots=True)
class Wire:
    """Between a client and a server on the loopback; cuts while ``kind`` says so."""

    port: int
    dice: random.Random
    kind: str = ""
    hits: int = 0
    serving: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            ways = (
                asyncio.create_task(self._pass(reader, far_writer, WIRE[1])),
                asyncio.create_task(self._pass(far_reader, writer, WIRE[0])),
            )
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        finally:
            for one in (writer, far_writer):
                one.close()
                with contextlib.suppress(OSError):
                    await one.wait_closed()
            self.serving.discard(task)

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cut: str
    ) -> None:
        while data := await reader.read(1 << 16):
            if self.kind == cut and self.dice.random() < 0.3:
                self.hits += 1
                if cut == WIRE[1]:  # half of it has gone out
                    writer.write(data[: len(data) // 2])
                    await writer.drain()
                return
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def wired(port: int, dice: random.Random) -> AsyncIterator[tuple[Wire, int]]:
    wire = Wire(port, dice)
    server = await asyncio.start_server(wire.serve, "127.0.0.1", 0)
    async with server:
        yield wire, server.sockets[0].getsockname()[1]
        while wire.serving:  # the client has hung up
            await asyncio.sleep(0.01)
