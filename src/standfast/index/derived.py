"""What is computed from a record and kept beside it by a store: words, labels, small vectors.

Words and labels are 64-bit hashes, little-endian: nobody can read a text off its index, and a
search compares numbers. ``terms`` is pairs of a hash and a count (two bytes), sorted. A
quantised vector is its scale (float32), then one signed byte per number.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standfast.errors import Invalid
from standfast.text import analysis
from standfast.text.claim import findable_tags
from standfast.text.normal import fold
from standfast.types import Vector

Array = NDArray[Any]

COUNT_MAX = 0xFFFF
WORDS_KEPT = 50_000  # of what is written: about those that a language uses
TERM = np.dtype([("hash", "<u8"), ("count", "<u2")])  # one pair of ``terms``


@lru_cache(maxsize=20_000)  # the words that come again; who imports numbers has no end of others
def hash_of(term: str) -> int:
    return _hashed(term)


class _StemHashes(dict[str, bytes]):
    """Words with the hash of their stem, as a file has it. When there are too many it begins anew:
    those that are in use are back soon, and nobody pays for remembering which was used last."""

    def __missing__(self, word: str) -> bytes:
        if len(self) >= WORDS_KEPT:
            self.clear()
        stem = analysis.stemmed(word).encode()
        found = self[word] = blake2b(stem, digest_size=8).digest()
        return found


STEM_HASHES = _StemHashes()


def _hashed(term: str) -> int:
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")


def label_of(tag: str) -> int:
    """Labels have their own namespace: no word begins with NUL."""
    return hash_of("\x00tag:" + fold(tag))


def terms_blob(text: str, author: str) -> tuple[int, bytes]:
    """How many words a record has, and which."""
    unstemmed, found = analysis.document_words(text, author)
    stems = struct.unpack(f"<{len(unstemmed)}Q", b"".join(map(STEM_HASHES.__getitem__, unstemmed)))
    hashes = sorted([*stems, *map(hash_of, found)])
    counts: dict[int, int] = Counter(hashes)  # in their order
    if len(hashes) > COUNT_MAX:
        counts = {hash_: min(count, COUNT_MAX) for hash_, count in counts.items()}
    blob = _packer(len(counts)).pack(*chain.from_iterable(counts.items()))
    return len(unstemmed) + analysis.length_of(found), blob


@lru_cache(maxsize=200)  # most texts are short; numpy takes longer to make so few of them
def _packer(pairs: int) -> struct.Struct:
    return struct.Struct("<" + "QH" * pairs)


def labels_blob(tags: Iterable[str], data: Mapping[str, Any]) -> bytes:
    hashes = sorted({label_of(tag) for tag in findable_tags(tags, data)})
    return struct.pack(f"<{len(hashes)}Q", *hashes)


def check_finite(vectors: Iterable[Vector]) -> None:
    """Raises Invalid."""
    if not np.isfinite(np.frombuffer(b"".join(vectors), dtype="<f4")).all():
        raise Invalid("a vector holds a number that is not finite")


def quantised(vector: Vector) -> bytes:
    """One byte per number: enough to find the best, which are then compared exactly."""
    (small,) = all_quantised([vector])
    return small


def quantised_numbers(numbers: Array) -> tuple[Array, Array]:
    """The scales of vectors, a row each, and their numbers, which fit into a byte."""
    scales = np.abs(numbers).max(axis=1) / np.float32(127)
    return scales, np.rint(numbers / np.where(scales > 0, scales, np.float32(1))[:, None])


def all_quantised(vectors: Sequence[Vector]) -> list[bytes]:
    """The same for many of one length."""
    numbers = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1)
    scales, small = quantised_numbers(numbers)
    dtype = np.dtype([("scale", "<f4"), ("numbers", "i1", (numbers.shape[1],))])
    packed = np.empty(len(vectors), dtype=dtype)
    packed["scale"], packed["numbers"] = scales, small
    whole, size = packed.tobytes(), dtype.itemsize
    return [whole[start : start + size] for start in range(0, len(whole), size)]
