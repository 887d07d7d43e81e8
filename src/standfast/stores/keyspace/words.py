"""Words and conversations as keys, for an engine that has nothing of its own for them.

| key | value |
|---|---|
| .k | of the registry: the version of the analyser |
| .g | up to which record of the root they are kept; there is none where nobody needs them |
| .t scope | how many records it has, and how many words |
| p scope word block | which records of the block hold the word: ``POSTING`` |
| n scope session-scope session time number | a turn: the key of its body |

A block is 256 numbers, so that a commit rewrites little and a common word is read in few pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from standfast.errors import Incompatible, StandfastError
from standfast.index.derived import TERM, hash_of, terms_blob
from standfast.stores.keyspace.engine import (
    Ask,
    Get,
    KeyChanges,
    KeyEngine,
    KeySpan,
    NearChange,
)
from standfast.stores.keyspace.keys import below, body_key, key, parts_of, place, time_place
from standfast.stores.keyspace.near import Counted
from standfast.text import analysis
from standfast.types import Record

ANALYSER = b".k"  # in the root of the registry: which version of the analyser made the words
REACHED = b".g"
ALL = (1 << 63) - 1  # reached by whoever has come to the end, and by every root that began so
BLOCK_BITS = 8
POSTING = np.dtype([("place", "u1"), ("count", "<u2"), ("words", "<u4")])


def reached_in(raw: Any) -> int:
    return int(raw) if raw else 0


def reached(number: int) -> bytes:
    return str(number).encode()


async def check_index_version(engine: KeyEngine, name: str) -> None:
    """Incompatible: another version of the analyser made the words."""
    current = str(analysis.ANALYSER_VERSION).encode()
    [stored] = await engine.read("", [Get(ANALYSER)])
    if stored is None:
        with suppress(StandfastError):  # whoever may only read finds what is there
            await engine.write("", KeyChanges(expected={ANALYSER: None}, puts={ANALYSER: current}))
    elif stored != current:
        raise Incompatible(
            f"another version of standfast made the word index of {name}; "
            "export with that version, and import into an empty database"
        )


class WordKeys:
    """What has to be read for these changes, and what is to be put and dropped then."""

    def __init__(self, near: Sequence[NearChange]) -> None:
        self._new: dict[bytes, list[tuple[int, int, int]]] = {}  # place, count and words, by block
        self._gone: dict[bytes, set[int]] = {}
        self._totals: dict[str, list[int]] = {}
        self._ops: dict[bytes, bytes | None] = {}
        for one in near:
            self._take(one)

    def _take(self, one: NearChange) -> None:
        if one.old is not None:
            self._ops |= dict.fromkeys(_talk_keys(one.old, one.number))
        if one.new is not None:
            turn = _talk_keys(one.new, one.number)
            self._ops |= dict.fromkeys(turn, body_key(one.number))
        if one.old is None and one.new is not None and one.row is not None:
            self._count(one.new.scope, 1, one.row.words)
            for hash_, count in np.frombuffer(one.row.terms, dtype=TERM).tolist():
                posting = (one.number & 0xFF, count, one.row.words)
                self._new.setdefault(_block(one.new.scope, hash_, one.number), []).append(posting)
        if one.new is None and one.old is not None:
            words, terms = terms_blob(one.old.text, one.old.author)
            self._count(one.old.scope, -1, -words)
            for hash_, _ in np.frombuffer(terms, dtype=TERM).tolist():
                at = _block(one.old.scope, hash_, one.number)
                self._gone.setdefault(at, set()).add(one.number & 0xFF)

    def _count(self, scope: str, records: int, words: int) -> None:
        total = self._totals.setdefault(scope, [0, 0])
        total[0] += records
        total[1] += words

    @property
    def _blocks(self) -> list[bytes]:
        return list(dict.fromkeys((*self._new, *self._gone)))

    @property
    def asks(self) -> list[Ask]:
        totals = [key(".t", scope) for scope in self._totals]
        return [Get(one) for one in (*totals, *self._blocks)]

    def made(self, answers: Sequence[Any]) -> dict[bytes, bytes | None]:
        """None: the key is gone."""
        found, rest = dict(self._ops), iter(answers)
        for scope, (records, words) in self._totals.items():
            held = _total(next(rest))
            found[key(".t", scope)] = f"{held[0] + records} {held[1] + words}".encode()
        for at in self._blocks:
            found[at] = self._block_of(at, next(rest)) or None
        return found

    def _block_of(self, at: bytes, raw: Any) -> bytes:
        held = np.frombuffer(raw or b"", dtype=POSTING)
        new = np.array(self._new.get(at, []), dtype=POSTING)
        gone = [*self._gone.get(at, ()), *new["place"].tolist()]
        held = held[~np.isin(held["place"], np.array(gone, dtype="u1"))]
        return np.concatenate((held, new)).tobytes()


class WordCounted(Counted):
    """With the postings themselves: numbers, counts and lengths, by term."""

    def __init__(self, terms: Sequence[str]) -> None:
        super().__init__()
        self.terms = terms
        self.postings: dict[str, list[Any]] = {term: [] for term in terms}

    def asks(self, scopes: Sequence[str]) -> list[Ask]:
        hashes = [f"{hash_of(term):016x}" for term in self.terms]
        found: list[Ask] = []
        for scope in scopes:
            found.append(Get(key(".t", scope)))
            found += [KeySpan(*below("p", scope, one)) for one in hashes]
        return found

    def take(self, scopes: Sequence[str], answers: Iterable[Any]) -> None:
        rest = iter(answers)
        for scope in scopes:
            records, words = _total(next(rest))
            self.records += records
            self.words += words
            self.sizes[scope] = records
            for term in self.terms:
                blocks = [_postings(at, raw) for at, raw in next(rest)]
                self.postings[term] += blocks
                held = self.frequencies.get(term, 0)
                self.frequencies[term] = held + sum(len(numbers) for numbers, _, _ in blocks)

    def best(self, weights: Mapping[str, float], most: int) -> dict[int, float]:
        """By BM25 over all that holds one of the terms, as far as lengths are known: exactly."""
        each = [(weights[term], *block) for term in weights for block in self.postings[term]]
        if not each:
            return {}
        numbers = np.concatenate([one[1] for one in each])
        average = self.words / self.records if self.records > 0 else 1.0
        scores = np.concatenate([_bm25(one[0], one[2], one[3], average) for one in each])
        places, owner = np.unique(numbers, return_inverse=True)
        total = np.bincount(owner, weights=scores)
        order = np.lexsort((places, -total))[:most]
        return {int(places[one]): float(total[one]) for one in order}


def talk_asks(number: int, record: Record, reach: int) -> tuple[KeySpan, KeySpan]:
    """The turns before one, backwards, and itself with those behind it."""
    [at] = _talk_keys(record, number) or [b""]
    start, end = below("n", record.scope, record.session_scope, record.session)
    return (
        KeySpan(start, at or start, reach, newest=True, bare=True),
        KeySpan(at or end, end, reach + 1, bare=True),
    )


def talk_numbers(pairs: Iterable[tuple[bytes, bytes]]) -> list[int]:
    return [int(parts_of(at)[-1], 16) for at, _ in pairs]


def _talk_keys(record: Record, number: int) -> list[bytes]:
    if record.type != "turn" or not record.session:
        return []
    talk = (record.scope, record.session_scope, record.session)
    return [key("n", *talk, time_place(record.at), place(number))]


def _block(scope: str, hash_: int, number: int) -> bytes:
    return key("p", scope, f"{hash_:016x}", place(number >> BLOCK_BITS))


def _total(raw: Any) -> tuple[int, int]:
    records, words = map(int, raw.split()) if raw else (0, 0)
    return records, words


def _postings(at: bytes, raw: bytes) -> tuple[Any, Any, Any]:
    held = np.frombuffer(raw, dtype=POSTING)
    first = int(parts_of(at)[-1], 16) << BLOCK_BITS
    return held["place"].astype(np.int64) + first, held["count"], held["words"]


def _bm25(weight: float, counts: Any, words: Any, average: float) -> Any:
    norm = analysis.K1 * (1 - analysis.B + analysis.B * words.astype("f8") / (average or 1.0))
    return weight * counts * (analysis.K1 + 1) / (counts + norm)
