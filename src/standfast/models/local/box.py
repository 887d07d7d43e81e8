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
READER = "read-1"  # what marks the clauses of a message
JUDGE = "judge-1"  # what tells what a new statement does to a known one
PACKAGE = "standfast_model"
GRAPH = f"{NAME}.onnx"
CALIBRATION = f"{NAME}.json"  # what its cosines say; see ``recall``
PIECES, WORDS = "pieces.json", "words.q4"  # the base, shared by all of them
TOKENIZER = "tokenizer.json"  # of former models
SHA256: Mapping[str, str] = {
    GRAPH: "41e8deb910b7df126e52f2099ef60102b2b24abaf77fb0f20d88cf106055fdc0",
    CALIBRATION: "e74716060a0128faee920ec4b19b122ce0fff4e6e169136e7b8e6f947474ebc7",
    PIECES: "70466406fed8c49d68808fae871b03214798383668676c1fd94a419f9efc7565",
    WORDS: "1266697adf1ed774df6727f730f97b42a997b41f924efe03698d71226501b52c",
    f"{READER}.onnx": "2868e17381ebc71e35a63bec704b215f558a6e2f7413858b8f69b03c6ae6fb74",
    f"{READER}.json": "83ab37b701ace95aa5bb87103a47ef1260a154d7d4c827864c6efa979ebec6a4",
    f"{JUDGE}.onnx": "35614f46c416e0dff2ceb4998a80a6fcc55807f7ce9ad6254f58c8b48f2cb8f0",
    f"{JUDGE}.json": "f77f996bb90040c87b676af1d0bb3f2560beee52c5f216a62afe58341dc2bf17",
}
LIBRARIES = ("onnxruntime", "tokenizers")
# Models that were in the box before, with their files. A store with vectors of one changes its
# vector space by itself: what comes in the box has changed, and nobody chose that model by name.
FORMER: Mapping[str, Mapping[str, str]] = {
    "recall-1": {
        "recall-1.onnx": "e3f3ebbf7af42d80190c41487a69dfcf31eb029eaf7fe7cf404503a8650b1bbd",
        TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
}

GET = install_command("model")
_NOT_PUBLISHED = "is not what was published; remove its folder"
_NOT_WHOLE = "put it back, or remove its folder"
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
    graph, pieces = (read_file(folder, file) for file in (f"{name}.onnx", PIECES))
    base = shared_base(pieces, folder / WORDS, SHA256[WORDS], _DAMAGED)
    return BaseFiles(onnx=graph, tokenizer=pieces, origin=PACKAGE, base=base)


def load_calibration(folder: Path) -> bytes:
    return read_file(folder, CALIBRATION)


def read_file(folder: Path, file: str) -> bytes:
    """A file of the box, checked."""
    return verified(folder / file, SHA256[file], damaged=_DAMAGED, get=GET)


def load_former(folder: Path, name: str) -> ModelFiles:
    """The files of a former model, where somebody has kept them."""
    graph, tokenizer = (
        verified(folder / file, FORMER[name][file], damaged=_NOT_PUBLISHED, get=_NOT_WHOLE)
        for file in (f"{name}.onnx", TOKENIZER)
    )
    return ModelFiles(onnx=graph, tokenizer=tokenizer, origin=str(folder))


def status() -> Status:
    """Never raises: what is wrong is in ``detail``."""
    folder = place()
    if folder is None:
        return Status(_CHECKOUT, ready=False, detail=f"the model {NAME} is not here; {GET}")
    missing = [name for name in LIBRARIES if not find_spec(name)]
    if missing:
        return Status(folder, ready=False, detail=f"it needs {missing[0]}: {INSTALL}")
    try:
        size = sum(len(read_file(folder, file)) for file in SHA256)
    except StandfastError as error:
        return Status(folder, ready=False, detail=str(error))
    return Status(folder, ready=True, detail="ready", origin=PACKAGE, size=size)
