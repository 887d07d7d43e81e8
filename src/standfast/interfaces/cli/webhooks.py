"""Commands about webhooks: programs elsewhere that are told of changes."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from standfast.interfaces.cli.keys import with_engine
from standfast.interfaces.cli.output import print_json, print_lines
from standfast.interfaces.render import as_json, visible

if TYPE_CHECKING:
    from standfast.memory import AsyncMemory
    from standfast.memory.webhooks import Webhook

T = TypeVar("T")


def _with_memory(arguments: argparse.Namespace, work: Callable[[AsyncMemory], Awaitable[T]]) -> T:
    async def opened(engine: Any) -> T:
        from standfast.memory import AsyncMemory

        return await work(AsyncMemory(engine))

    return with_engine(arguments, opened)


def add(arguments: argparse.Namespace) -> int:
    from standfast.memory.webhooks import add_webhook

    hook, secret = _with_memory(
        arguments,
        lambda memory: add_webhook(
            memory, arguments.url, scope=arguments.scope, text=arguments.text
        ),
    )
    if arguments.json:
        return print_json({**as_json(hook), "secret": secret})
    return print_lines([secret, "this secret is shown once; the receiver needs it", _line(hook)])


def list_(arguments: argparse.Namespace) -> int:
    from standfast.memory.webhooks import list_webhooks

    found = _with_memory(arguments, list_webhooks)
    if arguments.json:
        return print_json({"webhooks": as_json(found)})
    return print_lines([_line(hook) for hook in found] or ["no webhooks"])


def remove(arguments: argparse.Namespace) -> int:
    from standfast.memory.webhooks import remove_webhook

    gone = _with_memory(arguments, lambda memory: remove_webhook(memory, arguments.id))
    if arguments.json:
        return print_json(as_json(gone))
    return print_lines([f"{gone.id} is told nothing more"])


def _line(hook: Webhook) -> str:
    state = f"{hook.delivered:,} delivered"
    if hook.failing:
        state += f"; the next one was tried {hook.failing} times: {hook.trouble}"
    text = "with text" if hook.text else "without text"
    return f"{hook.id}  {visible(hook.url)}  {hook.scope}  {text}  {state}"
