"""The commands that stand beside an agent: tools over standard input and output, and the proxy."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING

from standfast.errors import Incompatible, install_command
from standfast.interfaces.cli import loading

if TYPE_CHECKING:
    from standfast.memory import AsyncMemory


def mcp(arguments: argparse.Namespace) -> int:
    import asyncio

    try:
        with loading():
            from standfast.interfaces.mcp import stdio
    except ModuleNotFoundError as error:
        raise Incompatible(
            f"`standfast mcp` needs {error.name}: {install_command('server')}"
        ) from None
    from standfast.access.rights import rights_in
    from standfast.memory.arguments import parse_scope
    from standfast.wiring import read_settings

    # What is wrong here stops the start; what is wrong with the store is told to whoever asks.
    settings = read_settings(profile=arguments.profile)
    scope = parse_scope(arguments.scope or settings.scope)

    async def open_memory() -> AsyncMemory:
        # The verbs take a moment to load; the client is answered meanwhile.
        module = await asyncio.to_thread(import_module, "standfast.memory")
        opened: AsyncMemory = await module.AsyncMemory.open(
            arguments.store,
            profile=arguments.profile,
            embedder=arguments.embedder,
            scope=scope,
            background=not arguments.no_background,
        )
        return opened

    actor = "mcp" if arguments.actor == "cli" else arguments.actor
    rights = rights_in(settings.mcp_rights, "STANDFAST_MCP_RIGHTS")
    return stdio.run(
        open_memory, actor=actor, tools=arguments.tools, rights=rights, profile=settings.profile
    )


def proxy(arguments: argparse.Namespace) -> int:
    try:
        with loading():
            from standfast.adapters.proxy.server import run_proxy
    except ModuleNotFoundError as error:
        raise Incompatible(
            f"`standfast proxy` needs {error.name}: {install_command('proxy')}"
        ) from None
    from standfast.memory import AsyncMemory
    from standfast.memory.arguments import parse_scope
    from standfast.wiring import read_settings

    scope = parse_scope(arguments.scope or read_settings(profile=arguments.profile).scope)

    async def open_memory() -> AsyncMemory:
        return await AsyncMemory.open(
            arguments.store,
            profile=arguments.profile,
            embedder=arguments.embedder,
            scope=scope,
            background=not arguments.no_background,
        )

    return run_proxy(
        arguments.upstream, open_memory, scope=scope, port=arguments.port, tokens=arguments.tokens
    )


def slack(arguments: argparse.Namespace) -> int:
    import asyncio

    try:
        with loading():
            from standfast.interfaces.slack import bot
    except ModuleNotFoundError as error:
        raise Incompatible(
            f"`standfast slack` needs {error.name}: {install_command('slack')}"
        ) from None
    from standfast.memory import AsyncMemory

    async def run() -> None:
        for name in (bot.BOT_TOKEN, bot.SIGNING_SECRET if arguments.http else bot.APP_TOKEN):
            bot.secret_of(name)  # before a store is made
        async with await AsyncMemory.open(
            arguments.store,
            profile=arguments.profile,
            embedder=arguments.embedder,
            background=not arguments.no_background,
        ) as memory:
            if arguments.http:
                await bot.serve_events(memory, arguments.port)
            else:
                await bot.serve_socket(memory)

    asyncio.run(run())
    return 0
