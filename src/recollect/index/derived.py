"""What is computed from a record and kept beside it by a store: words, labels, small vectors.

Words and labels are 64-bit hashes, little-endian: nobody can read a text off its index, and a
search compares numbers. ``terms`` is pairs of a hash and a count (two bytes), sorted. A
quantised vector is its scale (float32), then one signed byte per number.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from recollect.errors import Invalid
from recollect.text import analysis
from recollect.text.claims.lessons import findable_tags
from recollect.text.normal import fold
from recollect.types import Vector

COUNT_MAX = 0xFFFF
TERM = np.dtype([("hash", "<u8"), ("count", "<u2")])  # one pair of ``terms``


@lru_cache(maxsize=20_000)  # the words that come again; who imports numbers has no end of others
def hash_of(term: str) -> int:
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")


def label_of(tag: str) -> int:
    """Labels have their own namespace: no word begins with NUL."""
    return hash_of("\x00tag:" + fold(tag))


def terms_blob(text: str, author: str) -> tuple[int, bytes]:
    """How many words a record has, and which."""
    found = analysis.document_terms(text, author)
    counts = sorted(Counter(map(hash_of, found)).items())
    if len(found) > COUNT_MAX:
        counts = [(hash_, min(n, COUNT_MAX)) for hash_, n in counts]
    return analysis.length_of(found), np.array(counts, dtype=TERM).tobytes()


def labels_blob(tags: Iterable[str], data: Mapping[str, Any]) -> bytes:
    hashes = sorted({label_of(tag) for tag in findable_tags(tags, data)})
    return struct.pack(f"<{len(hashes)}Q", *hashes)


def quantised(vector: Vector) -> bytes:
    """One byte per number: enough to find the best, which are then compared exactly."""
    numbers = np.frombuffer(vector, dtype="<f4")
    if not np.isfinite(numbers).all():
        raise Invalid("a vector holds a number that is not finite")
    scale = np.float32(np.abs(numbers).max() / 127)
    small = np.rint(numbers / scale) if scale > 0 else np.zeros(len(numbers))
    return bytes(scale.astype("<f4").tobytes() + small.astype(np.int8).tobytes())
