"""Commands about the program itself: its server and its console."""

from __future__ import annotations

import argparse
import socket
import sys
from urllib.parse import urlsplit

from standfast.errors import Incompatible, install_command
from standfast.interfaces.cli import loading
from standfast.interfaces.cli.output import print_json


def serve(arguments: argparse.Namespace) -> int:
    try:
        with loading():
            from standfast.interfaces.http import serve
    except ImportError as error:
        raise Incompatible(f"the server needs {error.name}: {install_command('server')}") from None
    serve(
        store=arguments.store,
        profile=arguments.profile,
        embedder=arguments.embedder,
        host=arguments.host,
        port=arguments.port,
        workers=arguments.workers,
    )
    return 0


def console(arguments: argparse.Namespace) -> int:
    """A link with a one-time code to the console of the server that runs on this store."""
    from standfast.interfaces.cli.keys import with_memory

    try:
        from standfast.interfaces.http.first_start import console_link
        from standfast.interfaces.http.serve import address_of
    except ImportError as error:
        raise Incompatible(f"the console needs {error.name}: {install_command('server')}") from None
    from standfast.wiring import read_settings

    port = None if arguments.port is None else str(arguments.port)
    settings = read_settings(profile=arguments.profile, host=arguments.host, port=port)
    address = address_of(settings.host, settings.port)
    look = with_memory(arguments, lambda memory: console_link(memory, address))
    if arguments.json:
        return print_json({"console": look})
    print(f"{look}\nIt works once, for ten minutes, while `standfast serve` runs.")
    if not _listens(address):
        said = f"nothing listens at {address} now; --port says where the server is"
        print(f"standfast: warning: {said}", file=sys.stderr)
    return 0


def _listens(address: str) -> bool:
    where = urlsplit(address)
    try:
        socket.create_connection((where.hostname or "", where.port or 0), timeout=1).close()
    except OSError:
        return False
    return True
