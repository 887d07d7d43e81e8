"""What new records are found by, many of them at once: ``derived.terms_blob`` for a whole batch.

A batch has thousands of words and most have come before. So each is looked up in one plain table,
and what is sorted and counted is one array instead of one small list for each record.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from standfast.index.derived import COUNT_MAX, STEM_HASHES, TERM, hash_of
from standfast.text import analysis
from standfast.types import Record

MANY = 7  # records that are quicker made together


def terms_of(records: Sequence[Record]) -> list[tuple[int, bytes]]:
    """For each how many words it has, and which; there is at least one."""
    hashes: list[bytes] = []
    words: list[int] = []
    ends: list[int] = []
    for record in records:
        unstemmed, found = analysis.document_words(record.text, record.author)
        hashes += map(STEM_HASHES.__getitem__, unstemmed)
        if found:
            hashes += [hash_of(term).to_bytes(8, "little") for term in found]
        words.append(len(unstemmed) + analysis.length_of(found))
        ends.append(len(hashes))
    return list(zip(words, _blobs(hashes, ends), strict=True))


def _blobs(hashes: Sequence[bytes], ends: Sequence[int]) -> list[bytes]:
    """Pairs of a hash and a count, sorted; of each record, whose hashes stand before its end."""
    numbers = np.frombuffer(b"".join(hashes), dtype="<u8")
    kind = "<u2" if len(ends) <= COUNT_MAX else "<u4"  # numbers of two bytes are sorted faster
    owners = np.repeat(np.arange(len(ends), dtype=kind), np.diff(ends, prepend=0))
    order = np.argsort(numbers)
    order = order[np.argsort(owners[order], kind="stable")]
    numbers, owners = numbers[order], owners[order]
    first = np.ones(len(numbers), dtype=bool)
    first[1:] = (numbers[1:] != numbers[:-1]) | (owners[1:] != owners[:-1])
    places = np.flatnonzero(first)
    pairs = np.empty(len(places), dtype=TERM)
    pairs["hash"] = numbers[places]
    pairs["count"] = np.minimum(np.diff(places, append=len(numbers)), COUNT_MAX)
    whole = pairs.tobytes()
    bounds = np.searchsorted(owners[places], np.arange(len(ends) + 1)) * TERM.itemsize
    cuts = bounds.tolist()
    return [whole[start:end] for start, end in pairwise(cuts)]
