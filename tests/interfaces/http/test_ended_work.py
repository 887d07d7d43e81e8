"""What became of long work: said for every way in which it can end, also by the next server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from standfast.engine import Engine
from standfast.errors import NotFound
from standfast.interfaces.http import build_app
from standfast.interfaces.http.long_work import KEPT, Job, Jobs
from standfast.memory import AsyncMemory
from standfast.memory.workbook import ALIVE
from standfast.types import ALL_RIGHTS, Receipt, ReceiptItem
from tests.interfaces.http.conftest import served
from tests.interfaces.http.test_long_work import begun, finished

SECRET_REASON = "Ann likes tea"


@dataclass
class Somebody:
    name: str = "ann"
    is_master: bool = False
    key: None = None

    @property
    def engine(self) -> Any:
        return SimpleNamespace(bound=())


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 5, 3, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def with_engine(
    work: Callable[[Engine, Clock], Awaitable[None]], store: str = "dict:", **options: Any
) -> None:
    async def opened() -> None:
        clock = Clock()
        memory = await AsyncMemory.open(store, embedder="none", background=False, clock=clock)
        async with memory:
            await work(memory._engine, clock)

    asyncio.run(opened(), **options)


async def never(_: Job) -> Receipt:
    await asyncio.Event().wait()
    raise AssertionError


async def done(_: Job) -> Receipt:
    item = ReceiptItem(id="1", status="stored", reason=SECRET_REASON)
    return Receipt(items=(item,), change="c1")


async def ended(jobs: Jobs, id_: str, caller: Any) -> Job:
    job = await jobs.get(caller, id_)
    while job.state == "running":
        job = await jobs.look_again(caller, job, 5)
    return job


@pytest.mark.parametrize("ending", [asyncio.CancelledError, GeneratorExit])
def test_X12_work_that_is_made_to_end_does_not_run_for_ever(ending: type[BaseException]) -> None:
    async def dies(_: Job) -> Receipt:
        await asyncio.sleep(0)
        raise ending

    async def scenario(engine: Engine, _: Clock) -> None:
        jobs, ann = Jobs(AsyncMemory(engine)), Somebody()
        job = await ended(jobs, (await jobs.begin(ann, "maintain", dies)).id, ann)  # type: ignore[arg-type]
        assert job.state == "failed"
        assert job.ended_at is not None
        assert job.problem is not None
        assert "begin again" in job.problem["detail"]
        jobs.check_room(ann)  # type: ignore[arg-type]
        await jobs.close()

    with_engine(scenario)


def test_X12_work_that_was_stopped_before_its_first_step_has_ended() -> None:
    async def scenario(engine: Engine, _: Clock) -> None:
        jobs, ann = Jobs(AsyncMemory(engine)), Somebody()
        job = await jobs.begin(ann, "maintain", never)  # type: ignore[arg-type]
        await jobs.close()
        assert job.state == "failed"
        assert (await Jobs(AsyncMemory(engine)).get(ann, job.id)).state == "failed"  # type: ignore[arg-type]

    with_engine(scenario)


def test_X12_the_server_after_a_kill_says_what_became_of_work() -> None:
    """The first one is not closed, as if it had been killed."""

    async def scenario(engine: Engine, clock: Clock) -> None:
        ann: Any = Somebody()
        first, second = Jobs(AsyncMemory(engine)), Jobs(AsyncMemory(engine))
        running = await first.begin(ann, "reembed", never)
        over = await first.begin(ann, "import", done)
        await ended(first, over.id, ann)
        await settled(second, ann, over.id)

        job = await second.get(ann, over.id)
        assert (job.state, job.problem) == ("done", None)
        assert job.receipt["change"] == "c1"
        assert "1 stored" in job.receipt["notes"][0]
        assert SECRET_REASON not in str(job.shown()), "it may be forgotten meanwhile"
        assert (await second.get(ann, running.id)).state == "running", "for all we know"
        clock.now += ALIVE + timedelta(seconds=1)
        job = await second.get(ann, running.id)
        assert job.state == "failed"
        assert job.problem is not None
        assert "begin again" in job.problem["detail"]
        assert [j.id for j in await second.all_of(ann)] == sorted((running.id, over.id))
        for stranger in (Somebody("bob"), Somebody("")):
            assert await second.all_of(stranger) == []  # type: ignore[arg-type]
            with pytest.raises(NotFound):
                await second.get(stranger, over.id)  # type: ignore[arg-type]
        clock.now += KEPT
        assert await second.all_of(ann) == []
        await first.close()

    with_engine(scenario)


async def settled(jobs: Jobs, caller: Any, id_: str) -> None:
    """Until the workbook has the end of it too."""
    for _ in range(100):
        if (await jobs.get(caller, id_)).state != "running":
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it was not written down")


def test_work_that_goes_on_says_so() -> None:
    """A second server on the same file sees that the first one is still at it."""

    async def scenario(engine: Engine, clock: Clock) -> None:
        ann: Any = Somebody()
        first, second = Jobs(AsyncMemory(engine)), Jobs(AsyncMemory(engine))
        job = await first.begin(ann, "reembed", never)
        clock.now += ALIVE - timedelta(seconds=1)
        await first._note(job)
        clock.now += ALIVE - timedelta(seconds=1)
        assert (await second.get(ann, job.id)).state == "running"
        await first.close()
        assert (await second.get(ann, job.id)).state == "failed"

    with_engine(scenario)


def test_X12_a_server_that_is_started_again_answers_at_the_same_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = str(tmp_path / "memory.db")

    async def waits(*_: Any, **__: Any) -> Receipt:
        return await never(None)  # type: ignore[arg-type]

    with served(build_app(store, embedder="none")) as first:
        secret = first.key("admin", rights=tuple(ALL_RIGHTS))
        with first.client("admin") as client:
            client.post("/v1/remember", json={"text": "Ann likes tea", "scope": "user:ann"})
            exported = begun(client.post("/v1/export", json={}))
            lines = client.get(finished(client, exported)["file"]).content
            headers = {"Content-Type": "application/x-ndjson"}
            imported = begun(client.post("/v1/import", content=lines, headers=headers))
            finished(client, imported)
            monkeypatch.setattr(AsyncMemory, "maintain", waits)
            stopped = begun(client.post("/v1/maintain", json={}))
    with served(build_app(store, embedder="none")) as second:
        second.keys["admin"] = secret
        with second.client("admin") as client:
            assert client.get(imported).json()["state"] == "done"
            for address in (stopped, exported):
                job = client.get(address).json()
                assert job["state"] == "failed"
                assert job["problem"]["error"] == "Unavailable"
                assert "begin again" in job["problem"]["detail"]
                with client.stream("GET", f"{address}/events") as events:
                    assert b"event: failed" in events.read()
            assert client.get(f"{exported}/file").status_code == 404
            assert len(client.get("/v1/work").json()["work"]) == 3
        with httpx2.Client(base_url=second.address) as nobody:
            assert nobody.get(imported).status_code == 401
