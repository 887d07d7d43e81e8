"""The HTTP server (extra ``server``)."""

from standfast.interfaces.http.app import build_app
from standfast.interfaces.http.serve import serve

__all__ = ["build_app", "serve"]
