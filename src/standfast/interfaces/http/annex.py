"""The annex: helpers in processes of their own, for requests that are too large for the loop that
everybody shares. A thread would share its interpreter, and could not be stopped.

Helpers are started when they are needed and go when nobody needs them. A request that takes too
long ends with its helper: the process is killed. Those who wait are let in by turns, one tenant
after the other, however many requests each has sent.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from standfast.access.shares import Company, FairTurns
from standfast.errors import Unavailable
from standfast.interfaces.http.frames import frame, read_frame
from standfast.memory import AsyncMemory
from standfast.memory.beside import keep_beside

START_SECONDS = 60.0
IDLE_SECONDS = 60.0
STREAM_BYTES = 1 << 20


@dataclass(slots=True)
class Helper:
    """One process."""

    process: asyncio.subprocess.Process
    used_at: float = 0.0

    @classmethod
    async def started(cls, options: Mapping[str, Any], *, upkeep: bool) -> Helper:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from standfast.interfaces.http.worker import main; main()",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=STREAM_BYTES,
            start_new_session=True,  # who presses Ctrl-C stops the server, which stops its helpers
        )
        helper = cls(process)
        try:
            async with asyncio.timeout(START_SECONDS):
                said, _ = await helper.ask({**options, "upkeep": upkeep}, b"")
        except BaseException as error:
            await helper.stop()
            if isinstance(error, Exception):
                raise Unavailable(f"a helper of the server does not start: {error}") from None
            raise
        if "trouble" in said:
            await helper.stop()
            raise Unavailable(said["trouble"])
        return helper

    async def ask(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(frame(header, body))
        await self.process.stdin.drain()
        return await read_frame(self.process.stdout)

    @property
    def is_alive(self) -> bool:
        return self.process.returncode is None

    async def stop(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()


class Annex:
    """At most ``size`` helpers; ``options`` are those of ``AsyncMemory.open``."""

    def __init__(self, options: Mapping[str, Any], size: int, seconds: float) -> None:
        self._options = dict(options)
        self._seconds = seconds or None
        self._free: list[Helper] = []
        self._size = size
        self._turns = FairTurns(size)
        self._store: object = None

    @asynccontextmanager
    async def running(self, memory: AsyncMemory, company: Company) -> AsyncIterator[Annex]:
        """As long as the server runs, with those who use it. Upkeep has a helper for itself; what
        only the server sees is done here."""
        self._turns = FairTurns(self._size, company=company)
        self._store = memory.engine.store
        work = (self._keep(), self._sweep(), keep_beside(memory))
        tasks = [asyncio.create_task(one) for one in work]
        try:
            yield self
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.gather(*(helper.stop() for helper in self._free))

    async def answer(
        self, tenant: str, header: dict[str, Any], body: bytes
    ) -> tuple[dict[str, Any], bytes]:
        """What a helper answers. Unavailable if it takes too long or dies of it."""
        async with self._turns.turn(tenant):
            helper = await self._helper()
            done = False
            try:
                async with asyncio.timeout(self._seconds):
                    answered = await helper.ask(header, body)
                done = True
                return answered
            except TimeoutError:
                raise too_slow(self._seconds or 0, header["method"]) from None
            except (asyncio.IncompleteReadError, ConnectionError):
                raise Unavailable(
                    "the helper that did this died of it; ask for less at once",
                    outcome_unknown=header["method"] != "GET",
                ) from None
            finally:
                helper.used_at = asyncio.get_running_loop().time()
                if done and helper.is_alive:
                    self._free.append(helper)
                else:  # whatever it still does, it does no longer
                    await asyncio.shield(helper.stop())

    async def _helper(self) -> Helper:
        while self._free:
            helper = self._free.pop()
            if helper.is_alive:
                return helper
        return await self._started(upkeep=False)

    async def _started(self, *, upkeep: bool) -> Helper:
        """A new helper opens what has the store's name now. Where that is no longer the server's
        own file it must not: what it acknowledged would be in another store."""
        self._check()
        helper = await Helper.started(self._options, upkeep=upkeep)
        try:
            self._check()
        except Unavailable:
            await helper.stop()
            raise
        return helper

    def _check(self) -> None:
        if trouble := getattr(self._store, "trouble", ""):
            raise Unavailable(trouble, lasting=True)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(IDLE_SECONDS / 4)
            now = asyncio.get_running_loop().time()
            old = [one for one in self._free if now - one.used_at > IDLE_SECONDS]
            self._free = [one for one in self._free if one not in old]
            for helper in old:
                await helper.stop()

    async def _keep(self) -> None:
        """One helper does the upkeep; another takes its place if it dies."""
        pause = 1.0
        while True:
            helper: Helper | None = None
            try:
                helper = await self._started(upkeep=True)
                pause = 1.0
                await helper.process.wait()
            except Unavailable:
                pause = min(pause * 2, 300.0)
            finally:
                if helper is not None:
                    await asyncio.shield(helper.stop())
            await asyncio.sleep(pause)


def too_slow(seconds: float, method: str) -> Unavailable:
    return Unavailable(
        f"this took longer than the {seconds:g} seconds that one request may take, and was "
        "stopped; ask for less at once (STANDFAST_REQUEST_SECONDS)",
        outcome_unknown=method not in ("GET", "HEAD"),
    )
