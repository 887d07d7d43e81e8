"""``standfast proxy``: the proxy on a port of this machine, until it is told to stop."""

from __future__ import annotations

import logging
import socket
import sys

import uvicorn

from standfast.adapters.proxy.app import DRAIN_SECONDS, OpenMemory, Proxy
from standfast.errors import Unavailable

HOST = "127.0.0.1"


def run_proxy(
    upstream: str, open_memory: OpenMemory, *, scope: str, port: int, tokens: int | None
) -> int:
    """Serve the loopback alone: whoever connects spends the keys that clients send."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="standfast: %(message)s")
    listener = _listening(port)
    app = Proxy(upstream, open_memory, scope=scope, tokens=tokens)
    config = uvicorn.Config(
        app,
        lifespan="on",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    port = listener.getsockname()[1]  # 0 asks for any free one
    print(f"standfast proxy: http://{HOST}:{port} -> {upstream} (memory of {scope})", flush=True)
    with listener:
        uvicorn.Server(config).run(sockets=[listener])
    return 0


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()  # before its address is told: whoever connects at once waits, unrefused
    except (OSError, OverflowError) as error:
        listener.close()
        raise Unavailable(
            f"cannot listen on {HOST}:{port}: {error}; another port: --port"
        ) from None
    return listener
