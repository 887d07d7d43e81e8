"""What takes longer than a request should: 202, and a place to look."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from datetime import datetime
from typing import IO, Annotated, Any, Literal

import anyio.to_thread
from fastapi import Query, Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse

from standfast.access.shares import tenants_of
from standfast.access.spool import private_spool
from standfast.errors import Denied, Invalid, NotFound
from standfast.interfaces.caller import Caller
from standfast.interfaces.http import models
from standfast.interfaces.http.answers import answer, answer_beside
from standfast.interfaces.http.bodies import LINES, TEXT
from standfast.interfaces.http.examples import JOB
from standfast.interfaces.http.long_work import REVOKED_SECONDS, Job, Jobs, Work
from standfast.interfaces.http.openapi import about
from standfast.interfaces.http.routes.calls import Asking, router_of, takes
from standfast.interfaces.http.shapes import object_of
from standfast.types import Receipt, ReceiptItem

router = router_of("long work", "/v1")

READ_BYTES = 1 << 16
WAIT_SECONDS_MAX = 30.0

JobShape = object_of(
    "Job",
    id=str,
    operation=str,
    state=Literal["running", "done", "failed", "cancelled"],
    progress=int,
    begun_at=datetime,
    ended_at=datetime | None,
    receipt=Receipt | None,
    problem=dict[str, Any] | None,
    file=str | None,
)
_RUNNING = {**JOB, "state": "running", "ended_at": None, "receipt": None}
_WHERE = {"Location": {"schema": {"type": "string"}, "description": "where to look"}}
_BEGUN: dict[str, Any] = about(JobShape, _RUNNING, status=202)
_BEGUN["responses"][202]["headers"] = _WHERE
_LINES = {"description": "One JSON line each", "content": {LINES: {"schema": {"type": "string"}}}}
_EVENTS = {
    "description": "Events named progress, done, failed or cancelled; the data is the work",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


@router.post("/maintain", **_BEGUN)
@takes(asked=models.body_of("maintain"))
async def maintain(asked: Any, request: Request, caller: Asking) -> Response:
    """One round of upkeep and consolidation now. Needs the right `admin`."""
    caller.memory.engine.allow("admin")
    return await _begun(
        request, caller, "maintain", lambda _: caller.memory.maintain(**asked.given())
    )


@router.post("/reembed", **_BEGUN)
async def reembed(request: Request, caller: Asking) -> Response:
    """Move the store to the server's embedder. Needs the right `admin`."""
    caller.memory.engine.allow("admin")
    return await _begun(request, caller, "reembed", lambda job: caller.memory.reembed(job.advance))


@router.post("/doctor", **_BEGUN)
async def doctor(request: Request, caller: Asking) -> Response:
    """Read the whole store file and say what is wrong with it; nothing is changed. Needs a key
    with the right `admin` for every scope."""
    if not caller.is_master:
        raise Denied("the file belongs to all: this needs an admin key for every scope")
    file = request.app.state.file
    if file is None:
        raise Invalid("this server keeps no file; there is nothing to examine")

    async def work(_: Job) -> Receipt:
        from standfast.wiring.files import check_store

        report = await anyio.to_thread.run_sync(lambda: check_store(file, None, rebuild=False))
        found = tuple(
            ReceiptItem(id=one.part, status="failed", reason=one.text) for one in report.findings
        )
        told = f"{report.records:,} records, {report.messages:,} messages"
        said = "sound" if report.is_sound else f"{len(found)} findings"
        return Receipt(items=found, notes=(f"{said}: {told}",))

    return await _begun(request, caller, "doctor", work)


@router.post("/export", **_BEGUN)
@takes(asked=models.body_of("export_to"))
async def export(asked: Any, request: Request, caller: Asking) -> Response:
    """Write everything the key may see, or some scopes, as JSON lines, or all that is kept about
    one author as text for people to read; fetch it from the work's `file`."""
    caller.memory.engine.allow("export")

    async def work(job: Job) -> Receipt:
        job.file, said = _spool(), asked.given()
        job.media = TEXT if said.get("author") else LINES
        return await caller.memory.export_to(job.file, progress=job.counted, **said)

    return await _begun(request, caller, "export", work)


@router.post(
    "/import",
    operation_id="import",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {LINES: {"schema": {"type": "string"}, "example": '{"type":"end"}\n'}},
        }
    },
    **_BEGUN,
)
@takes(*models.query_parameters("import_from"))
async def import_(request: Request, caller: Asking, **said: Any) -> Response:
    """Read an export in. Doing it again changes nothing."""
    caller.memory.engine.allow("import")
    _jobs(request).check_room(caller)
    await caller.before_write()
    async with _jobs(request).uploads.taken(tenants_of(caller.engine)):
        spool = await _received(request)
    signed = {**said, "actor": caller.acting_for(said["actor"])}

    async def work(job: Job) -> Receipt:
        with spool:
            return await caller.memory.import_from(spool, progress=job.counted, **signed)

    return await _begun(request, caller, "import", work)


@router.get("/work", **about(object_of("Jobs", work=tuple[JobShape, ...]), {"work": [JOB]}))  # type: ignore[valid-type]
async def list_work(request: Request, caller: Asking) -> Response:
    """The work this key has begun lately; what a long receipt lists is told by the work itself."""
    found = await _jobs(request).all_of(caller)
    return await answer_beside({"work": [job.listed() for job in found]})


@router.get("/work/{id}", **about(JobShape, JOB))
async def work(
    id: str,
    request: Request,
    caller: Asking,
    wait: Annotated[float, Query(ge=0, le=WAIT_SECONDS_MAX)] = 0,
) -> Response:
    """How it stands; with `wait`, as soon as something changes."""
    jobs = _jobs(request)
    job = await jobs.get(caller, id)
    if wait and job.state == "running":
        job = await jobs.look_again(caller, job, wait)
    return await answer_beside(job.shown())


@router.delete("/work/{id}", **about(JobShape, {**JOB, "state": "cancelled", "receipt": None}))
async def cancel_work(id: str, request: Request, caller: Asking) -> Response:
    """End it where it is: what it has done stays, and it may be begun again."""
    return await answer_beside((await _jobs(request).cancel(caller, id)).shown())


@router.get("/work/{id}/events", response_class=StreamingResponse, responses={200: _EVENTS})
async def work_events(id: str, request: Request, caller: Asking) -> Response:
    """Watch it: server-sent events until it is over."""
    jobs = _jobs(request)
    job = await jobs.get(caller, id)
    return StreamingResponse(jobs.watch(caller, job), media_type="text/event-stream")


@router.get("/work/{id}/file", response_class=StreamingResponse, responses={200: _LINES})
async def work_file(id: str, request: Request, caller: Asking) -> Response:
    """What an export wrote."""
    file, media = await _jobs(request).file_of(caller, id)
    return StreamingResponse(_read(file, _jobs(request), caller), media_type=media)


def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


async def _begun(request: Request, caller: Caller, operation: str, work: Work) -> Response:
    job = await _jobs(request).begin(caller, operation, work)
    return answer(job.shown(), 202, {"Location": f"/v1/work/{job.id}"})


def _spool() -> Any:
    return private_spool()


async def _received(request: Request) -> IO[bytes]:
    """The whole body, in a file without a name; nothing is kept of half a body."""
    spool: IO[bytes] = _spool()
    try:
        async for part in request.stream():
            spool.write(part)
    except BaseException as error:
        spool.close()
        if isinstance(error, ClientDisconnect):
            raise NotFound("the body ended too early") from None  # nobody reads this
        raise
    spool.seek(0)
    return spool


async def _read(file: IO[bytes], jobs: Jobs, caller: Caller) -> AsyncIterator[bytes]:
    """Several may read at once: each keeps a place of its own. A key that was revoked meanwhile
    gets no further."""
    place, looked = 0, time.monotonic()
    while True:
        if time.monotonic() - looked > REVOKED_SECONDS:
            looked = time.monotonic()
            if not await jobs.may_go_on(caller):
                raise ConnectionAbortedError
        try:
            part = await anyio.to_thread.run_sync(_part, file, place)
        except ValueError:  # it was closed: something was forgotten, or others took its place
            raise ConnectionAbortedError from None
        if not part:
            return
        place += len(part)
        yield part


def _part(file: IO[bytes], place: int) -> bytes:
    file.seek(place)
    return file.read(READ_BYTES)
