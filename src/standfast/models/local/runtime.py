"""Running an ONNX graph on texts: the libraries for it, batches, a session that is checked, and one
loaded network for all of a process."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from standfast.errors import Incompatible, Unavailable
from standfast.models.local.files import INSTALL, ModelFiles

# Far beyond 256 tokens of any real text: spares the tokenizer a megabyte to throw it away.
CHARACTERS_MAX = 32_768
BATCH_TEXTS_MAX = 16
BATCH_TOKENS_MAX = 256  # what a core keeps at hand: 1,024 take a fifth longer for each text

Libraries = tuple[Any, Any]


def libraries() -> Libraries:
    """onnxruntime and the tokenizer class."""
    # Read when it is imported: it would write a file at home and report to its maker otherwise.
    os.putenv("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as error:
        raise Unavailable(
            f"a model in this process needs the package {error.name}: {INSTALL}"
        ) from error
    return onnxruntime, Tokenizer


def batches(lengths: Sequence[int]) -> Generator[list[int], None, None]:
    """Places of texts to run together: of similar length, so that little is padding, and few
    enough to stay small in memory. Texts of length 0 are left out."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not lengths[index]:
            continue
        full = (len(batch) + 1) * lengths[index] > BATCH_TOKENS_MAX
        if batch and (full or len(batch) == BATCH_TEXTS_MAX):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def readable(text: str) -> str:
    """Cut, and with half characters (lone surrogates) replaced: the tokenizer takes UTF-8."""
    return text[:CHARACTERS_MAX].encode("utf-8", "replace").decode()


def session(onnxruntime: Any, content: bytes, threads: int, width: int) -> Any:
    """``width``: how many numbers it must give for each text."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # its warnings speak of the graph, not of anything to do
    # Threads that wait actively would take the processor from the rest of this process.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        loaded = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own classes derive from nothing more exact
        raise Incompatible(f"onnxruntime cannot load the model: {error}") from error
    *_, size = loaded.get_outputs()[0].shape
    if size != width:
        raise Incompatible(f"the model has {size} dimensions, not {width}")
    return loaded


class LoadedNetwork:
    """A tokenizer and an ONNX session, which any number of threads may use."""

    width: int  # how many numbers it gives for each text

    def __init__(self, files: Any, threads: int) -> None:
        onnxruntime, reader = libraries()
        self.session = session(onnxruntime, files.onnx, threads, self.width)
        self.tokenizer = reader.from_str(files.tokenizer.decode())

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # At the end of the process the names of this module may be gone already.
        self.session = self.tokenizer = None
        if not is_finalizing():
            _return_freed_memory()


N = TypeVar("N", bound=LoadedNetwork)

_loaded: WeakValueDictionary[tuple[type, str, int], LoadedNetwork] = WeakValueDictionary()


def _new_loader() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="standfast-model")


_loader = _new_loader()


def shared_network(kind: type[N], read_files: Callable[[], ModelFiles], threads: int) -> N:
    """The network of these files, loaded once in a process for all who use it at the same time,
    and gone with the last of them. One thread loads them all: the GNU allocator keeps what was
    freed for the thread that had it, and each that loads a session would keep the size of one."""

    def load() -> N:
        files = read_files()
        key = (kind, sha256(files.onnx).hexdigest(), threads)
        found = _loaded.get(key)
        # The weak reference still hands out one whose last user has just left.
        if found is None or found.session is None:
            found = _loaded[key] = kind(files, threads)
        assert isinstance(found, kind)
        return found

    return _loader.submit(load).result()


def _after_fork() -> None:
    """Threads stay in the parent, those of a session too."""
    global _loaded, _loader
    _loaded, _loader = WeakValueDictionary(), _new_loader()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)


def _return_freed_memory() -> None:
    """A session is some ten thousand pieces: without this most of their pages are kept."""
    with suppress(OSError, AttributeError):  # only the GNU allocator needs to be asked
        ctypes.CDLL(None).malloc_trim(0)
