"""Counters for Prometheus: requests by route and status, and how long they took. A route's label is
its pattern, never what a caller wrote."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any, get_args

from standfast.types import WorkKind
from standfast.types.pages import Due, Spent

BOUNDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
NO_ROUTE = "none"


class Metrics:
    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()  # method, route, status
        self.slots: Counter[tuple[str, int]] = Counter()  # route, number of the bound
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.running = 0

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        self.requests[method, route, status] += 1
        slot = next((n for n, bound in enumerate(BOUNDS) if seconds <= bound), len(BOUNDS))
        self.slots[route, slot] += 1
        self.seconds[route] += seconds

    def lines(self) -> Iterator[str]:
        yield "# HELP standfast_requests_total Requests answered."
        yield "# TYPE standfast_requests_total counter"
        for (method, route, status), number in sorted(self.requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"standfast_requests_total{{{labels}}} {number}"
        yield "# HELP standfast_requests_running Requests being answered now."
        yield "# TYPE standfast_requests_running gauge"
        yield f"standfast_requests_running {self.running}"
        yield "# HELP standfast_request_seconds How long requests took."
        yield "# TYPE standfast_request_seconds histogram"
        for route in sorted(self.seconds):
            yield from self._histogram(route)

    def _histogram(self, route: str) -> Iterator[str]:
        name, total = "standfast_request_seconds", 0
        for slot, bound in enumerate(BOUNDS):
            total += self.slots[route, slot]
            yield f'{name}_bucket{{route="{route}",le="{bound:g}"}} {total}'
        total += self.slots[route, len(BOUNDS)]
        yield f'{name}_bucket{{route="{route}",le="+Inf"}} {total}'
        yield f'{name}_sum{{route="{route}"}} {self.seconds[route]:.6f}'
        yield f'{name}_count{{route="{route}"}} {total}'


def domain_lines(due: Due, spent: Iterable[Spent], unread: int) -> Iterator[str]:
    """The memory itself: what waits, what is stuck, what it costs."""
    waiting = Counter(work.kind for work in due.work)
    yield "# HELP standfast_due Work that upkeep has still to do, by kind (learning is fold)."
    yield "# TYPE standfast_due gauge"
    for kind in get_args(WorkKind):
        yield f'standfast_due{{kind="{kind}"}} {waiting[kind]}'
    yield "# HELP standfast_stuck Work that failed too often and waits for a person."
    yield "# TYPE standfast_stuck gauge"
    yield f"standfast_stuck {len(due.stuck)}"
    yield "# HELP standfast_unread_messages Messages at which every reader failed."
    yield "# TYPE standfast_unread_messages gauge"
    yield f"standfast_unread_messages {unread}"
    dollars: defaultdict[str, float] = defaultdict(float)
    tokens: Counter[str] = Counter()
    for one in spent:
        dollars[one.operation] += one.cost
        tokens[one.operation] += one.tokens_in + one.tokens_out
    yield "# HELP standfast_spend_dollars_today What models cost today (UTC), by operation."
    yield "# TYPE standfast_spend_dollars_today gauge"
    for operation in sorted(dollars):
        yield f'standfast_spend_dollars_today{{operation="{operation}"}} {dollars[operation]:.6f}'
    yield "# HELP standfast_tokens_today Tokens of models today (UTC), by operation."
    yield "# TYPE standfast_tokens_today gauge"
    for operation in sorted(tokens):
        yield f'standfast_tokens_today{{operation="{operation}"}} {tokens[operation]}'


def learning_lines(kept_as_said: Mapping[str, int]) -> Iterator[str]:
    """Texts of this process whose words had no origin, by the writer that composed them."""
    yield "# HELP standfast_kept_as_said_total Composed texts refused for words nobody said so."
    yield "# TYPE standfast_kept_as_said_total counter"
    for writer, number in sorted(kept_as_said.items()):
        yield f'standfast_kept_as_said_total{{writer="{writer}"}} {number}'


METHODS = frozenset(("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"))


def method_of(method: str) -> str:
    return method if method in METHODS else "other"


def route_of(scope: MutableMapping[str, Any]) -> str:
    if scope["path"] == "/mcp" or scope["path"].startswith("/mcp/"):
        return "/mcp"
    return getattr(scope.get("route"), "path", "") or NO_ROUTE
