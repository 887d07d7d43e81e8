"""Who marks what messages say: the network in the box, wherever it can run."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from standfast.models.local import box
from standfast.models.local.files import INSTALL
from standfast.settings import Settings
from standfast.understanding.reading.reader import Reader


def why_no_reader() -> str:
    """Why no network can run here, in one line; "" if one can. Its files are looked at only when
    they are loaded."""
    return why_no_network(box.READER)


def why_no_network(name: str) -> str:
    """The same of a network of the box."""
    if missing := next((one for one in box.LIBRARIES if not find_spec(one)), ""):
        return f"{name} needs the package {missing}: {INSTALL}"
    folder = box.place()
    if folder is None or not (folder / f"{name}.onnx").is_file():
        return f"the model {name} is not here; {box.GET}"
    return ""


def reader_for(settings: Settings) -> Reader:
    from standfast.understanding.reading.network import NetworkReader, network_in

    folder = box.place() or Path()
    return NetworkReader(lambda: network_in(folder, settings.model_threads))


@cache
def boxed_reader() -> Reader:
    """For whoever measures: one for all of the process, on one thread."""
    return reader_for(replace(Settings(), model_threads=1))
