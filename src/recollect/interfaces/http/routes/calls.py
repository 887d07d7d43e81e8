"""What routes get handed: who asks, and a way to write that keeps to quotas and to
``Idempotency-Key``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from recollect.errors import Invalid
from recollect.interfaces.http.answers import answer
from recollect.interfaces.http.callers import Caller, caller_of
from recollect.interfaces.http.idempotency import Write, once
from recollect.interfaces.http.models import RecallBody
from recollect.types import Right

KEY_HEADER = "Idempotency-Key"
DeviceHeader = Annotated[
    str | None,
    Header(
        alias="X-Recollect-Device",
        description="narrows the key to the user that this device belongs to",
    ),
]
KeyHeader = Annotated[
    str | None,
    Header(
        alias=KEY_HEADER,
        description="sent again with the same body, the first answer comes again",
    ),
]


async def who_asks(request: Request, _device: DeviceHeader = None) -> Caller:
    """The door has looked at the headers already; naming them here documents them."""
    return caller_of(request.scope)


Asking = Annotated[Caller, Depends(who_asks)]


async def no_strangers(request: Request) -> None:
    """A name that is not known is refused, in a query as in a body: who writes ``scop`` must not
    be shown every scope."""
    if not request.query_params:
        return
    route: APIRoute = request.scope["route"]
    known = [field.alias for field in route.dependant.query_params]
    for name in request.query_params:
        if name not in known:
            there = f"; there is {', '.join(known)}" if known else ""
            raise Invalid(f"{name[:80]!r} is no parameter here{there}")


@dataclass(frozen=True, slots=True)
class CallWriting:
    """A write that was asked for."""

    request: Request
    caller: Caller
    key: str | None
    right: Right

    async def once(self, write: Write) -> Response:
        """Do it, or answer as before if the same was sent before."""
        self.caller.engine.allow(self.right)
        await self.caller.before_write()
        if self.key is None:
            return answer(await write(self.caller.memory))
        return await once(self.request, self.caller, self.key, write)

    def given(self, asked: RecallBody) -> dict[str, Any]:
        """The arguments, signed by whoever asked."""
        said = asked.given()
        return {**said, "actor": self.caller.acting_for(said.get("actor", ""))}


async def _write(request: Request, caller: Asking, key: KeyHeader = None) -> CallWriting:
    return CallWriting(request, caller, key, "write")


async def _erase(request: Request, caller: Asking, key: KeyHeader = None) -> CallWriting:
    return CallWriting(request, caller, key, "erase")


MayWrite = Annotated[CallWriting, Depends(_write)]
MayErase = Annotated[CallWriting, Depends(_erase)]
