"""Commands that look around: what there is, page by page."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.interfaces.cli.output import (
    given,
    open_memory,
    print_json,
    print_lines,
    screen_for,
)
from recollect.interfaces.render import as_json, visible
from recollect.types import Message, Record, Session

if TYPE_CHECKING:
    from recollect.types.pages import Page, Stats

T = TypeVar("T")


def records(arguments: argparse.Namespace) -> int:
    options = given(
        arguments, "scope", "descend", "kinds", "types", "tags", "statuses", "sources", "authors",
        "session", "since", "until", "newest", "cursor", "limit",
    )  # fmt: skip
    screen = screen_for(arguments)

    def lines(record: Record) -> Iterable[str]:
        return screen.record(record)

    with open_memory(arguments) as memory:
        return _shown(arguments, memory.records(**options), lines)


def sessions(arguments: argparse.Namespace) -> int:
    options = given(arguments, "scope", "descend", "cursor", "limit")

    def lines(session: Session) -> Iterator[str]:
        when = f"{session.started_at:%Y-%m-%d %H:%M}" if session.started_at else "?"
        over = ", ended" if session.ended_at else ""
        yield f"{session.scope}  {visible(session.id)}  {when}, {session.last_seq} messages{over}"

    with open_memory(arguments) as memory:
        return _shown(arguments, memory.sessions(**options), lines)


def messages(arguments: argparse.Namespace) -> int:
    options = given(arguments, "scope", "newest", "cursor", "limit")
    screen = screen_for(arguments)

    def lines(message: Message) -> Iterator[str]:
        yield screen.paint(f"{message.at:%Y-%m-%d %H:%M}  {visible(_speaker(message))}", "1")
        yield from (f"    {visible(line)}" for line in message.text.split("\n"))

    with open_memory(arguments) as memory:
        return _shown(arguments, memory.messages(arguments.session, **options), lines)


def _speaker(message: Message) -> str:
    return f"{message.role} ({message.author})" if message.author else message.role


def stats(arguments: argparse.Namespace) -> int:
    with open_memory(arguments) as memory:
        found = memory.stats(**given(arguments, "scope", "descend"))
    return print_json(as_json(found)) if arguments.json else print_lines(_counts(found))


def _counts(found: Stats) -> Iterator[str]:
    yield f"{found.records:,} record{'' if found.records == 1 else 's'}"
    for name, numbers in (
        ("kind", found.kinds),
        ("type", found.types),
        ("status", found.statuses),
    ):
        if numbers:
            yield f"    by {name}: {_listed(numbers)}"
    sessions = f"{found.sessions:,} session{'' if found.sessions == 1 else 's'}"
    yield sessions if found.complete else f"at least {sessions}"


def _listed(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in numbers.items())


def _shown(
    arguments: argparse.Namespace, page: Page[T], lines: Callable[[T], Iterable[str]]
) -> int:
    if arguments.json:
        return print_json(as_json(page))
    print_lines(line for item in page.items for line in lines(item))
    return print_lines(_behind(page))


def _behind(page: Page[Any]) -> Iterator[str]:
    if not page.items:
        yield "nothing there"
    if page.next:
        yield f"more: --cursor {page.next}"
