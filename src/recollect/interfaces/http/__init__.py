"""The HTTP server (extra ``server``)."""

from recollect.interfaces.http.app import build_app
from recollect.interfaces.http.serve import serve

__all__ = ["build_app", "serve"]
