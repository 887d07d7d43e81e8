"""A rehearsal before the first request: what is loaded at first use is loaded beside the loop.

Modules, words and patterns are read when a text first needs them: a command that answers one
question is quick by that. A server would do it on the loop that everybody shares, for a fifth of a
second. So a conversation is played through the verbs, in a thread and on a store of its own in
memory, and requests wait for its end; every pattern that it did not need is compiled behind it.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain

from standfast.memory import AsyncMemory
from standfast.settings import Settings
from standfast.text import expressions, words

log = logging.getLogger(__name__)

SAID = (
    "Hi! I'm Ann, I moved to Berlin last Tuesday, and I am allergic to nuts.",
    "Actually, I no longer work at Acme; since 3 May 2021 I have been with Initech.",
    "Please always answer in English. My password is hunter2, the PIN 4711, api_key=x; token: y.",
    "If it rains I might stay; my sister thinks that the meeting on Monday moved to 5 pm.",
    "Ich wohne jetzt in Köln. Je préfère le thé. Vivo en Madrid. Я живу в Москве. 我住在北京。",
)
FOUND = "According to the page, the museum opens at ten; a ticket costs 12 EUR."
ASKED = ("Where did Ann work before May 2021?", "How do I deploy, and when is the meeting?")


class Rehearsal:
    """One for a process. ``modules``: what else it loads."""

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._modules = modules
        self._ready = asyncio.Event()
        self._stopped = False

    async def over(self) -> None:
        """When a request finds loaded what it needs."""
        await self._ready.wait()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Begun now; it ends with the server."""
        playing = asyncio.create_task(self._run())
        try:
            yield
        finally:
            self._stopped = True
            await playing

    async def _run(self) -> None:
        ready = partial(asyncio.get_running_loop().call_soon_threadsafe, self._ready.set)
        try:
            await asyncio.to_thread(asyncio.run, self._play(ready))
            await asyncio.to_thread(self._compile)
        except Exception as error:  # requests load the same without it, only later
            log.warning("the rehearsal failed: %s", error, extra={"action": "start"})
        finally:
            self._ready.set()

    async def _play(self, ready: Callable[[], object]) -> None:
        for name in self._modules:
            importlib.import_module(name)
        opened = await AsyncMemory.open(
            "dict:", embedder="hashing", settings=Settings(), background=False
        )
        async with opened as memory:
            async for _ in _requests(memory):
                if self._stopped:
                    return
            ready()
            await memory.maintain()  # learns, for half as long as all the others take

    def _compile(self) -> None:
        """What nobody has needed so far."""
        for _ in chain(expressions.compiled(), words.compiled()):
            if self._stopped:
                return
        gc.freeze()  # all of this stays: nobody need look through it again


async def _requests(memory: AsyncMemory) -> AsyncIterator[object]:
    """Each verb that reads texts, one after the other."""
    first = await memory.remember(SAID[0])
    yield first
    yield await memory.remember(SAID[1])
    for query in ASKED:
        yield await memory.recall(query)
        yield await memory.context(query=query, session="rehearsal")
    for text in SAID:
        yield await memory.observe("rehearsal", text)
    yield await memory.observe("rehearsal", {"role": "tool", "content": FOUND})
    yield await memory.end("rehearsal")
    yield await memory.observe("greeting", "Hello, how are you?")
    yield await memory.end("greeting")
    yield await memory.remember(FOUND, source="tool")
    id_ = first.items[0].id
    yield await memory.why_not(id_, ASKED[0])
    yield await memory.edit(id_, "I'm Ann, and I moved to Bonn")
    yield await memory.save_procedure("deploy", ["Build it", "Ship it"])
    yield await memory.find_procedures(ASKED[1])
    yield await memory.revoke(author="nobody", dry_run=True)
    yield await memory.forget(ids=[id_])
    yield await memory.review()
    yield await memory.changes()
