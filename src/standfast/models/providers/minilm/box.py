"""The model in the box: where it lies, and whether it is the one that was shipped.

Its files are a package of their own, ``standfast_model``, so that who needs no local model need
not carry it. Nothing is downloaded and nothing is built: the graph is run as it lies there, if its
SHA-256 is the one below.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from standfast.errors import StandfastError, install_command
from standfast.models.providers.minilm.weights import INSTALL, ModelFiles, Status, verified

NAME = "recall-1"
NEWS = "news-1"  # beside it: what reads two statements at once
PACKAGE = "standfast_model"
GRAPH = f"{NAME}.onnx"
TOKENIZER = "tokenizer.json"
SHA256: Mapping[str, str] = {
    GRAPH: "e3f3ebbf7af42d80190c41487a69dfcf31eb029eaf7fe7cf404503a8650b1bbd",
    f"{NEWS}.onnx": "0c6f2bc2e8a8cfeb0ec6874e277a52a0acbb47b859c8c7d0ab924f13e359e29c",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
LIBRARIES = ("onnxruntime", "tokenizers")
# Our models that were published, with their files. A store with vectors of a former one changes its
# vector space by itself: what comes in the box has changed, and nobody chose that model by name.
PUBLISHED: Mapping[str, Mapping[str, str]] = {
    "recall-1": {
        "recall-1.onnx": "e3f3ebbf7af42d80190c41487a69dfcf31eb029eaf7fe7cf404503a8650b1bbd",
        TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
}
FORMER = {name: files for name, files in PUBLISHED.items() if name != NAME}

GET = install_command("model")
_NOT_PUBLISHED = "is not what was published; remove its folder"
_NOT_WHOLE = "put it back, or remove its folder"
_DAMAGED = f"is damaged or changed; {GET}"
# Of a clone that is used without installing its packages: beside src/.
_CHECKOUT = Path(__file__).resolve().parents[5] / "model" / PACKAGE


def place() -> Path | None:
    """The folder with the files: of the installed package, else of this clone; None: nowhere."""
    spec = find_spec(PACKAGE)
    installed = list(spec.submodule_search_locations or ()) if spec else []
    folders = [*map(Path, installed), _CHECKOUT]
    return next((folder for folder in folders if (folder / GRAPH).is_file()), None)


def runs_here() -> bool:
    """Whether it can be used; quick, so its files are looked at only when they are loaded."""
    return place() is not None and all(find_spec(name) for name in LIBRARIES)


def load_files(folder: Path, name: str = NAME) -> ModelFiles:
    """Unavailable: there is none. Incompatible: it is not the one that was shipped."""
    graph, tokenizer = (
        verified(folder / file, SHA256[file], damaged=_DAMAGED, get=GET)
        for file in (f"{name}.onnx", TOKENIZER)
    )
    return ModelFiles(onnx=graph, tokenizer=tokenizer, origin=PACKAGE)


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
        sizes = [len(load_files(folder, name).onnx) for name in (NAME, NEWS)]
    except StandfastError as error:
        return Status(folder, ready=False, detail=str(error))
    return Status(folder, ready=True, detail="ready", origin=PACKAGE, size=sum(sizes))
