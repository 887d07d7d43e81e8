"""Commands about who may connect: keys, and the users that devices belong to."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from standfast.access.rights import AGENT_RIGHTS
from standfast.interfaces.cli.output import print_json, print_lines, screen_for
from standfast.interfaces.render import as_json, visible
from standfast.types import ALL_RIGHTS

if TYPE_CHECKING:  # loaded when a command needs it: every command waits for what stands here
    from standfast.access.keys import Key

T = TypeVar("T")


def with_engine(arguments: argparse.Namespace, work: Callable[[Any], Awaitable[T]]) -> T:
    return with_memory(arguments, lambda memory: work(memory.engine))


def with_memory(arguments: argparse.Namespace, work: Callable[[Any], Awaitable[T]]) -> T:
    """Do something with the store itself; whoever has the file may."""
    import asyncio

    from standfast.memory import AsyncMemory
    from standfast.wiring import audit_with

    async def opened() -> T:
        async with await AsyncMemory.open(
            arguments.store, profile=arguments.profile, embedder="none", background=False
        ) as memory:
            engine = memory.engine
            audit_with(engine)
            try:
                return await work(memory)
            finally:
                if engine.audit is not None:
                    await engine.audit.flush()

    return asyncio.run(opened())


def create(arguments: argparse.Namespace) -> int:
    from standfast.access import keys

    rights = arguments.rights or keys.DEFAULT_RIGHTS
    every = AGENT_RIGHTS if arguments.holder == "agent" else sorted(ALL_RIGHTS)
    key, secret = with_engine(
        arguments,
        lambda engine: keys.create_key(
            engine,
            name=arguments.name,
            scopes=arguments.scopes,
            rights=every if "all" in rights else rights,
            expires_at=arguments.expires_at,
            holder=arguments.holder,
            addresses=arguments.addresses,
            actor=arguments.actor,
        ),
    )
    return _shown_once(arguments, key, secret)


def rotate(arguments: argparse.Namespace) -> int:
    from standfast.access import keys

    key, secret = with_engine(
        arguments,
        lambda engine: keys.rotate_key(
            engine, arguments.id, overlap_hours=arguments.overlap_hours, actor=arguments.actor
        ),
    )
    return _shown_once(arguments, key, secret)


def _shown_once(arguments: argparse.Namespace, key: Key, secret: str) -> int:
    if arguments.json:
        return print_json({**as_json(key), "key": secret})
    return print_lines([secret, "this key is shown once; keep it safe", *_lines(arguments, [key])])


def list_(arguments: argparse.Namespace) -> int:
    from standfast.access import keys

    found = with_engine(arguments, keys.list_keys)
    if arguments.json:
        return print_json({"keys": as_json(found)})
    return print_lines(_lines(arguments, found) or ["no keys: only this machine may connect"])


def revoke(arguments: argparse.Namespace) -> int:
    from standfast.access import keys

    key = with_engine(
        arguments,
        lambda engine: keys.revoke_key(engine, arguments.id, actor=arguments.actor),
    )
    return print_json(as_json(key)) if arguments.json else print_lines(_lines(arguments, [key]))


def _lines(arguments: argparse.Namespace, keys: Any) -> list[str]:
    screen = screen_for(arguments)
    return [screen.paint(key.id, "1") + "  " + " · ".join(_about(key)) for key in keys]


def _about(key: Key) -> list[str]:
    parts = [visible(key.name)] if key.name else []
    parts += [key.holder] if key.holder != "person" else []
    parts += [", ".join(key.scopes) or "every scope", "+".join(key.rights)]
    parts += [f"made {key.created_at:%Y-%m-%d}"]
    parts += [f"until {key.expires_at:%Y-%m-%d %H:%M} UTC"] if key.expires_at else []
    parts += [f"from {', '.join(key.addresses)}"] if key.addresses else []
    parts += [f"made with {key.parent}"] if key.parent else []
    parts += [f"in the place of {key.succeeds}"] if key.succeeds else []
    parts += [f"used {key.last_used_at:%Y-%m-%d %H:%M} UTC"] if key.last_used_at else []
    parts += [f"revoked {key.revoked_at:%Y-%m-%d}"] if key.revoked_at else []
    return parts


def map_device(arguments: argparse.Namespace) -> int:
    from standfast.access import keys

    device = with_engine(
        arguments,
        lambda engine: keys.map_device(
            engine, arguments.device, arguments.scope, actor=arguments.actor
        ),
    )
    if arguments.json:
        return print_json(as_json(device))
    return print_lines([f"{visible(device.id)} belongs to {device.scope}"])


def devices(arguments: argparse.Namespace) -> int:
    from standfast.access import keys

    found = with_engine(arguments, keys.list_devices)
    if arguments.json:
        return print_json({"devices": as_json(found)})
    return print_lines([f"{visible(d.id)}  {d.scope}" for d in found] or ["no devices are mapped"])
