"""The models in the box: where they lie, and whether they are those that were shipped.

Their files are a package of their own, ``standfast_model``. Nothing is downloaded and nothing is
built: a graph is run as it lies there, if its SHA-256 is the one below.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from standfast.errors import StandfastError, install_command
from standfast.models.local.base import BaseFiles, shared_base
from standfast.models.local.files import INSTALL, ModelFiles, Status, verified

NAME = "recall-2"
NEWS = "news-1"  # beside it: what reads two statements at once
PACKAGE = "standfast_model"
GRAPH = f"{NAME}.onnx"
CALIBRATION = f"{NAME}.json"  # what its cosines say; see ``recall``
PIECES, WORDS = "pieces.json", "words.q4"  # the base, shared by all but news-1
TOKENIZER = "tokenizer.json"  # of news-1
SHA256: Mapping[str, str] = {
    GRAPH: "41e8deb910b7df126e52f2099ef60102b2b24abaf77fb0f20d88cf106055fdc0",
    CALIBRATION: "e74716060a0128faee920ec4b19b122ce0fff4e6e169136e7b8e6f947474ebc7",
    PIECES: "70466406fed8c49d68808fae871b03214798383668676c1fd94a419f9efc7565",
    WORDS: "1266697adf1ed774df6727f730f97b42a997b41f924efe03698d71226501b52c",
    f"{NEWS}.onnx": "0c6f2bc2e8a8cfeb0ec6874e277a52a0acbb47b859c8c7d0ab924f13e359e29c",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
LIBRARIES = ("onnxruntime", "tokenizers")
# Spaces of models that were in the box before: a store that has one moves on by itself.
BEFORE = ("recall-1/384",)

GET = install_command("model")
_DAMAGED = f"is damaged or changed; {GET}"
# Of a clone that is used without installing its packages: beside src/.
_CHECKOUT = Path(__file__).resolve().parents[4] / "model" / PACKAGE


def place() -> Path | None:
    """The folder with the files: of the installed package, else of this clone; None: nowhere."""
    spec = find_spec(PACKAGE)
    installed = list(spec.submodule_search_locations or ()) if spec else []
    folders = [*map(Path, installed), _CHECKOUT]
    return next((folder for folder in folders if (folder / GRAPH).is_file()), None)


def runs_here() -> bool:
    """Whether it can be used; quick, so its files are looked at only when they are loaded."""
    return place() is not None and all(find_spec(name) for name in LIBRARIES)


def load_files(folder: Path, name: str = NAME) -> BaseFiles:
    """A network of the base. Unavailable: there is none. Incompatible: it is not the one that was
    shipped."""
    graph, pieces = (_read(folder, file) for file in (f"{name}.onnx", PIECES))
    base = shared_base(pieces, folder / WORDS, SHA256[WORDS], _DAMAGED)
    return BaseFiles(onnx=graph, tokenizer=pieces, origin=PACKAGE, base=base)


def load_calibration(folder: Path) -> bytes:
    return _read(folder, CALIBRATION)


def load_news(folder: Path) -> ModelFiles:
    """The same for news-1, which has a tokenizer of its own."""
    graph, tokenizer = (_read(folder, file) for file in (f"{NEWS}.onnx", TOKENIZER))
    return ModelFiles(onnx=graph, tokenizer=tokenizer, origin=PACKAGE)


def _read(folder: Path, file: str) -> bytes:
    return verified(folder / file, SHA256[file], damaged=_DAMAGED, get=GET)


def status() -> Status:
    """Never raises: what is wrong is in ``detail``."""
    folder = place()
    if folder is None:
        return Status(_CHECKOUT, ready=False, detail=f"the model {NAME} is not here; {GET}")
    missing = [name for name in LIBRARIES if not find_spec(name)]
    if missing:
        return Status(folder, ready=False, detail=f"it needs {missing[0]}: {INSTALL}")
    try:
        size = sum(len(_read(folder, file)) for file in SHA256)
    except StandfastError as error:
        return Status(folder, ready=False, detail=str(error))
    return Status(folder, ready=True, detail="ready", origin=PACKAGE, size=size)
