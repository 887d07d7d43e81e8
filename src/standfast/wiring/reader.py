"""Who marks what messages say: the network in the box, wherever it can run."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.util import find_spec

from standfast.errors import install_command
from standfast.settings import Settings
from standfast.understanding.reading.reader import Reader

NETWORK = "standfast.models.local"


def why_no_reader() -> str:
    """Why no network can run here, in one line; "" if one can. Its files are looked at only when
    they are loaded."""
    return "" if find_spec(NETWORK) else f"the model read-1 is not here; {install_command('model')}"


def reader_for(settings: Settings) -> Reader:
    raise NotImplementedError(settings)


@cache
def boxed_reader() -> Reader:
    """For whoever measures: one for all of the process, on one thread."""
    return reader_for(replace(Settings(), model_threads=1))
