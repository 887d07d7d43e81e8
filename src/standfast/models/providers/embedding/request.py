"""One request over HTTP: within a time and a size, its failures in our words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from standfast.errors import Invalid, StandfastError, Unavailable
from standfast.models.providers.embedding.dialects import Request
from standfast.models.providers.llm.limited import TooLargeError, new_client
from standfast.models.providers.llm.names import Place
from standfast.models.providers.llm.said import message_in, scrubbed
from standfast.ports import AnswerError
from standfast.types import Usage

REFUSED = frozenset({400, 413, 415, 422})  # these texts, not all
LASTING = frozenset({401, 402, 403, 404, 405, 410})  # until somebody changes something
# OpenAI says that an account is empty with the status of "slow down", Gemini that a key is
# wrong with that of a wrong question.
LASTING_CODES = frozenset({"insufficient_quota", "API_KEY_INVALID"})
NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


async def post(request: Request, *, place: Place, seconds: float, bytes_max: int) -> Any:
    """The answer as JSON. Raises httpx2's errors, and ``Refusal``s of the service."""
    proxies = not place.here
    async with new_client(seconds, proxies=proxies, bytes_max=bytes_max) as client:
        response = await client.post(request.url, headers=request.headers, json=request.body)
        if response.status_code != 200:
            raise RefusalError(response)
        return json.loads(response.content, parse_constant=_no_constant)


class RefusalError(Exception):
    """An answer with a status that means no. It hangs on no error that leaves this package,
    because the request with its key hangs on it."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(f"status {response.status_code}")
        self.status = response.status_code
        self.headers = response.headers
        try:
            self.body: Any = response.json()
        except ValueError:
            self.body = response.text


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def explained(error: Exception, name: str, key: str) -> StandfastError:
    """The same in our words, with nothing in it that was secret."""
    if isinstance(error, RefusalError):
        return _refused(error, name, key)
    if isinstance(error, TooLargeError):
        return AnswerError(f"{name}: {error}", usage=Usage(calls=1))
    if isinstance(error, ValueError | RecursionError):
        said = scrubbed(str(error), key)
        return AnswerError(f"{name} answered nonsense: {said}", usage=Usage(calls=1))
    if isinstance(error, NOT_SENT):
        return Unavailable(f"{name} cannot be reached: {_why(error, key)}")
    return Unavailable(f"{name} failed: {_why(error, key)}", outcome_unknown=True)


def _why(error: Exception, key: str) -> str:
    return scrubbed(f"{type(error).__name__}: {error}".rstrip(": "), key)


def _refused(error: RefusalError, name: str, key: str) -> StandfastError:
    said = scrubbed(message_in(error.body), key)
    told = f"{name} answered with status {error.status}" + (f": {said}" if said else "")
    lasting = error.status in LASTING or bool(_codes(error.body) & LASTING_CODES)
    if error.status in REFUSED and not lasting:
        return Invalid(told)
    return Unavailable(told, retry_after=_retry_after(error), lasting=lasting)


def _error_in(body: Any) -> Mapping[str, Any]:
    inner = body.get("error") if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {}


def _details_in(body: Any) -> list[Mapping[str, Any]]:
    details = _error_in(body).get("details")
    return [one for one in details if isinstance(one, dict)] if isinstance(details, list) else []


def _codes(body: Any) -> set[str]:
    told = [_error_in(body).get("code"), *(one.get("reason") for one in _details_in(body))]
    return {code for code in told if isinstance(code, str)}


def _retry_after(error: RefusalError) -> float | None:
    """From the header, in seconds or as a date; Gemini puts it into the body."""
    told = error.headers.get("retry-after", "")
    if told:
        seconds = _seconds(told)
        return _until(told) if seconds is None else seconds
    delays = [str(one.get("retryDelay", "")) for one in _details_in(error.body)]
    return next((_seconds(delay.removesuffix("s")) for delay in delays if delay), None)


def _seconds(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 <= found < float("inf") else None


def _until(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
