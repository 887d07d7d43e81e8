"""``Memory``: the verbs of ``AsyncMemory`` for code that does not await, on a loop of its own."""

from __future__ import annotations

import asyncio
import atexit
import inspect
import threading
import weakref
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import cache, wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from standfast.errors import Unavailable
from standfast.memory import AsyncMemory

P = ParamSpec("P")
R = TypeVar("R")


def verb(
    method: Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Memory, P], R]:
    """The blocking form of an asynchronous verb, with the same signature and docstring. By name:
    the memory may be one on a server, which does it in its own way."""
    name = method.__name__

    @wraps(method)
    def blocking(self: Memory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        done: R = self._loop.run(getattr(self._memory, name)(*args, **kwargs))
        return done

    return blocking


def _way_in(
    method: Callable[P, Coroutine[Any, Any, AsyncMemory]],
) -> Callable[Concatenate[type[Memory], P], Memory]:
    """The blocking form of a way to get a memory, with the same parameters."""

    @wraps(method)
    def blocking(cls: type[Memory], /, *args: P.args, **kwargs: P.kwargs) -> Memory:
        loop = BackgroundLoop()
        try:
            return cls(loop.run(method(*args, **kwargs)), loop)
        except BaseException:
            loop.stop()
            raise

    signature = inspect.signature(method)
    cls = inspect.Parameter("cls", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    blocking.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[cls, *signature.parameters.values()]
    )
    return blocking


class Memory:
    """A memory for agents::

        with Memory.open("memory.db") as memory:
            memory.remember("Deploys go out on Tuesdays", scope="org:acme")
            memory.recall("when do we deploy?", scope="org:acme").hits

    Thread-safe. ``AsyncMemory`` has the same verbs for asynchronous code.
    """

    def __init__(self, memory: AsyncMemory, loop: BackgroundLoop) -> None:
        self._memory = memory
        self._loop = loop
        self._leaving = loop.adopt(self, memory)

    open = classmethod(_way_in(AsyncMemory.open))
    connect = classmethod(_way_in(AsyncMemory.connect))

    observe = verb(AsyncMemory.observe)
    remember = verb(AsyncMemory.remember)
    recall = verb(AsyncMemory.recall)
    context = verb(AsyncMemory.context)
    confirm = verb(AsyncMemory.confirm)
    set_state = verb(AsyncMemory.set_state)
    end = verb(AsyncMemory.end)
    note = verb(AsyncMemory.note)
    relate = verb(AsyncMemory.relate)
    save_procedure = verb(AsyncMemory.save_procedure)
    procedure_used = verb(AsyncMemory.procedure_used)
    find_procedures = verb(AsyncMemory.find_procedures)
    forget = verb(AsyncMemory.forget)
    revoke = verb(AsyncMemory.revoke)
    review = verb(AsyncMemory.review)
    resolve = verb(AsyncMemory.resolve)
    history = verb(AsyncMemory.history)
    archive = verb(AsyncMemory.archive)
    undo = verb(AsyncMemory.undo)
    edit = verb(AsyncMemory.edit)
    pin = verb(AsyncMemory.pin)
    dispute = verb(AsyncMemory.dispute)
    why_not = verb(AsyncMemory.why_not)
    get = verb(AsyncMemory.get)
    records = verb(AsyncMemory.records)
    relations = verb(AsyncMemory.relations)
    sessions = verb(AsyncMemory.sessions)
    messages = verb(AsyncMemory.messages)
    summaries = verb(AsyncMemory.summaries)
    pending = verb(AsyncMemory.pending)
    changes = verb(AsyncMemory.changes)
    usage = verb(AsyncMemory.usage)
    due = verb(AsyncMemory.due)
    stats = verb(AsyncMemory.stats)
    scopes = verb(AsyncMemory.scopes)
    policies = verb(AsyncMemory.policies)
    set_policy = verb(AsyncMemory.set_policy)
    export_to = verb(AsyncMemory.export_to)
    import_from = verb(AsyncMemory.import_from)
    maintain = verb(AsyncMemory.maintain)
    reembed = verb(AsyncMemory.reembed)

    def close(self) -> None:
        """Write what is buffered, learn for a moment from what was said to it, and let go of the
        store. Closing twice is fine."""
        if self._leaving is not None:  # it would hold the memory for as long as this process lives
            self._leaving.detach()
        self._loop.close(self._memory)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


_OPEN: weakref.WeakSet[Memory] = weakref.WeakSet()


def _close_all() -> None:
    """A short program that ends without closing its memory has said something all the same."""
    for memory in list(_OPEN):
        with suppress(Exception):
            memory.close()


@cache
def _close_at_exit() -> None:
    """Once, and before the pools of threads are shut that a store works with: they are told so
    earlier than ``atexit`` is, in the reverse order of their coming."""
    import concurrent.futures.thread  # comes first, so it goes last

    assert concurrent.futures.thread
    getattr(threading, "_register_atexit", atexit.register)(_close_all)


class BackgroundLoop:
    """An event loop in a daemon thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._work, name="standfast", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        if not self.running:
            work.close()
            raise Unavailable("this memory is closed; open it again")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            # Ctrl-C in the caller must not leave the work running unseen.
            future.cancel()
            raise

    def adopt(self, facade: Memory, memory: AsyncMemory) -> weakref.finalize[Any, Any] | None:
        """Close the memory with its facade, however that ends."""
        _OPEN.add(facade)
        _close_at_exit()
        # Whoever forgets to close it must not keep a thread for ever.
        leaving = weakref.finalize(facade, self.leave, memory)
        leaving.atexit = False
        return leaving

    def close(self, memory: AsyncMemory) -> None:
        """Close the memory, wait for it, and end."""
        if self.running:
            try:
                self.run(memory.close())
            finally:
                self.stop()

    def leave(self, memory: AsyncMemory) -> None:
        """Close the memory and end, without waiting for it: this may be any thread."""

        async def last() -> None:
            try:
                with suppress(Exception):
                    await memory.close()
            finally:
                self._loop.stop()

        if self.running:
            self._loop.call_soon_threadsafe(lambda: self._tasks.add(self._loop.create_task(last())))

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
