"""Running an ONNX graph on texts: the libraries for it, batches, and a session that is checked."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from recollect.errors import Incompatible, Unavailable
from recollect.models.providers.minilm.weights import INSTALL

# Far beyond 256 tokens of any real text: spares the tokenizer a megabyte to throw it away.
CHARACTERS_MAX = 32_768
BATCH_TEXTS_MAX = 16
BATCH_TOKENS_MAX = 256  # what a core keeps at hand: 1,024 take a fifth longer for each text

Libraries = tuple[Any, Any]


def libraries() -> Libraries:
    """onnxruntime and the tokenizer class, which only the extra ``local`` brings."""
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as error:
        raise Unavailable(f"minilm needs the package {error.name}: {INSTALL}") from error
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
