"""The commands that stand beside an agent: tools over standard input and output, and the proxy."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING

from recollect.errors import Incompatible
from recollect.interfaces.cli import loading

if TYPE_CHECKING:
    from recollect.memory import AsyncMemory


def mcp(arguments: argparse.Namespace) -> int:
    import asyncio

    try:
        with loading():
            from recollect.interfaces.mcp import stdio
    except ModuleNotFoundError as error:
        raise Incompatible(
            f"`recollect mcp` needs the extra server ({error.name} is missing): "
            "pip install 'recollect[server]'"
        ) from None
    from recollect.access.rights import rights_in
    from recollect.memory.arguments import parse_scope
    from recollect.wiring import read_settings

    # What is wrong here stops the start; what is wrong with the store is told to whoever asks.
    settings = read_settings(profile=arguments.profile)
    scope = parse_scope(arguments.scope or settings.scope)

    async def open_memory() -> AsyncMemory:
        # The verbs take a moment to load; the client is answered meanwhile.
        module = await asyncio.to_thread(import_module, "recollect.memory")
        opened: AsyncMemory = await module.AsyncMemory.open(
            arguments.store,
            profile=arguments.profile,
            embedder=arguments.embedder,
            scope=scope,
            background=not arguments.no_background,
        )
        return opened

    actor = "mcp" if arguments.actor == "cli" else arguments.actor
    rights = rights_in(settings.mcp_rights, "RECOLLECT_MCP_RIGHTS")
    return stdio.run(
        open_memory, actor=actor, tools=arguments.tools, rights=rights, profile=settings.profile
    )


def proxy(arguments: argparse.Namespace) -> int:
    try:
        with loading():
            from recollect.adapters.proxy.server import run_proxy
    except ModuleNotFoundError as error:
        raise Incompatible(
            f"`recollect proxy` needs the extra proxy ({error.name} is missing): "
            "pip install 'recollect[proxy]'"
        ) from None
    from recollect.memory import AsyncMemory
    from recollect.memory.arguments import parse_scope
    from recollect.wiring import read_settings

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
            from recollect.interfaces.slack import bot
    except ModuleNotFoundError as error:
        raise Incompatible(
            f"`recollect slack` needs the extra slack ({error.name} is missing): "
            "pip install 'recollect[slack]'"
        ) from None
    from recollect.memory import AsyncMemory

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
