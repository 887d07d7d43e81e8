"""What the server writes down about its requests: who asked which route, with what success, and how
long it took. Never a query, a header, a body or a key: what somebody looks for is theirs."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

from standfast.errors import Invalid
from standfast.interfaces.caller import Caller
from standfast.interfaces.http.callers import CALLER
from standfast.interfaces.http.guards import App, Receive, Scope, Send
from standfast.interfaces.http.metrics import method_of, route_of
from standfast.settings import Settings

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("text", "json")
ACCESS = logging.getLogger("standfast.access")


def set_up(settings: Settings) -> None:
    """Where the lines go: to standard error, as text or as one JSON object each."""
    if settings.log_level not in LEVELS:
        raise Invalid(f"STANDFAST_LOG_LEVEL={settings.log_level!r}: write {_or(LEVELS)}")
    if settings.log_format not in FORMATS:
        raise Invalid(f"STANDFAST_LOG_FORMAT={settings.log_format!r}: write {_or(FORMATS)}")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if settings.log_format == "json" else TextLines())
    logger = logging.getLogger("standfast")
    logger.handlers = [handler]
    logger.setLevel(settings.log_level.upper())
    logger.propagate = False


def _or(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _moment(record: logging.LogRecord) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{whole}.{int(record.msecs):03}Z"


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return f"{_moment(record)} {record.levelname.lower()} {record.name}: {record.getMessage()}"


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line, ensure_ascii=False)


class AccessLog:
    """One line for each request, when it was answered. Costs a comparison where nobody reads."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not ACCESS.isEnabledFor(logging.INFO):
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 0

        async def sending(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            _write(scope, status, time.perf_counter() - begun)


def _key_of(scope: Scope) -> str:
    """The id of the key, which is no secret; "" for whoever has none or was refused."""
    caller: Caller | None = scope.get(CALLER)
    return caller.key.id if caller is not None and caller.key is not None else ""


def _write(scope: Scope, status: int, seconds: float) -> None:
    fields = {
        "method": method_of(scope["method"]),
        "route": route_of(scope),
        "status": status or 499,  # the caller went away before there was an answer
        "milliseconds": round(seconds * 1000, 1),
        "key": _key_of(scope),
        "from": (scope.get("client") or ("",))[0],
    }
    told = "{method} {route} {status} {milliseconds} ms key={key} from={from}".format(**fields)
    ACCESS.info("%s", told, extra={"fields": fields})
