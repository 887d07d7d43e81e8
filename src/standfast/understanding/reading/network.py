"""The reader in the box: a network marks the clauses, window by window."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from standfast.errors import Incompatible, Unavailable
from standfast.models.local import box
from standfast.models.local.base import MASK, WORDS, BaseFiles, BaseNetwork, Ids
from standfast.models.local.runtime import shared_network
from standfast.types.frozen import frozen
from standfast.understanding.reading.clauses import Clause
from standfast.understanding.reading.decoding import Floats, Head, decode, head_of, joined
from standfast.understanding.reading.foreign import is_foreign
from standfast.understanding.reading.layout import PAD, Pieces, Window, windows
from standfast.understanding.reading.reader import Reading
from standfast.understanding.reading.structure import MARKS

BATCH_PIECES_MAX = 1024  # padded: more fit no cache, and take longer for each
KEPT_MAX = 256  # messages: one is read again when a language model has read it, too


@frozen(kw_only=False)
class ReaderFiles(BaseFiles):
    """``marks``: what each combination of marks adds to the numbers of a piece."""

    head: Head
    marks: Floats


class ClauseNetwork(BaseNetwork):
    """The network in the box, which any number of threads may use."""

    def __init__(self, files: ReaderFiles, threads: int) -> None:
        self.width, self.head, self._marks = files.head.size, files.head, files.marks
        super().__init__(files, threads)

    def pieces(self, text: str) -> Pieces:
        (found,) = self.base.encode([text])
        return Pieces(text=text, ids=found.ids, offsets=found.offsets)

    def outputs(self, ids: Ids, marks: Ids, mask: Ids) -> Floats:
        """The numbers of the head: windows x pieces x numbers."""
        given = {WORDS: self.base.rows(ids) + self._marks[marks], MASK: mask}
        try:
            found: Floats = self.session.run(None, given)[0]
        except Exception as error:
            raise Unavailable(f"{box.READER} failed: {error}") from error
        return found


def reader_files(folder: Path) -> ReaderFiles:
    """Unavailable: there are none. Incompatible: they are not those that were shipped."""
    found = box.load_files(folder, box.READER)
    described = json.loads(box.read_file(folder, f"{box.READER}.json"))
    marks = np.frombuffer(base64.b64decode(described["structure"]), np.float16)
    return ReaderFiles(
        onnx=found.onnx,
        tokenizer=found.tokenizer,
        origin=found.origin,
        base=found.base,
        head=head_of(described),
        marks=marks.astype(np.float32).reshape(MARKS, -1),
    )


def network_in(folder: Path, threads: int) -> ClauseNetwork:
    """Loaded once for all who use it at the same time."""
    return shared_network(ClauseNetwork, lambda: reader_files(folder), threads)


class NetworkReader:
    """Implements ``Reader``. The network is loaded by the first call and stays; a call that cannot
    load it raises Unavailable, and the next one tries again."""

    def __init__(self, load: Callable[[], ClauseNetwork]) -> None:
        self._load = load
        self._network: ClauseNetwork | None = None
        self._lock = threading.Lock()
        self._kept: OrderedDict[Reading, list[Clause]] = OrderedDict()
        self.trouble = ""

    async def read(self, messages: Sequence[Reading]) -> list[list[Clause]]:
        try:
            found = await asyncio.to_thread(self._read, messages)
        except Unavailable as error:
            self.trouble = str(error)
            raise
        self.trouble = ""
        return found

    def _read(self, messages: Sequence[Reading]) -> list[list[Clause]]:
        with self._lock:  # one at a time: it has all cores that it may have
            new = [one for one in dict.fromkeys(messages) if one not in self._kept]
            found = {one: self._kept[one] for one in messages if one in self._kept}
            found |= zip(new, self._clauses(new), strict=True) if new else {}
            self._kept |= found
            while len(self._kept) > KEPT_MAX:
                self._kept.popitem(last=False)
        return [list(found[one]) for one in messages]

    def _loaded(self) -> ClauseNetwork:
        if self._network is None:
            try:
                self._network = self._load()
            except Incompatible as error:
                raise Unavailable(str(error)) from error
        return self._network

    def _clauses(self, messages: Sequence[Reading]) -> list[list[Clause]]:
        network = self._loaded()
        listed = [list(_windows(network, one)) for one in messages]
        outputs = iter(_outputs(network, [window for some in listed for window in some]))
        return [
            [
                clause
                for clause in joined(decode(next(outputs), one, network.head) for one in some)
                if network.head.believes(clause)
            ]
            for some in listed
        ]


def _windows(network: ClauseNetwork, reading: Reading) -> Iterator[Window]:
    """Those with anything of the speaker's own."""
    pieces = network.pieces(reading.text)
    for window in windows(pieces, network.pieces(reading.previous)):
        first, stop = window.owned
        places = window.offsets[first:stop]
        if places and not is_foreign(places[0][0], places[-1][1], reading.foreign):
            yield window


def _outputs(network: ClauseNetwork, asked: Sequence[Window]) -> list[Floats]:
    found: list[Floats] = [np.zeros((0, network.head.size), np.float32)] * len(asked)
    for batch in _batches([len(one.ids) for one in asked]):
        size = max(len(asked[place].ids) for place in batch)
        ids, marks = np.full((len(batch), size), PAD), np.zeros((len(batch), size), np.int64)
        mask = np.zeros_like(marks)
        for row, place in enumerate(batch):
            length = len(asked[place].ids)
            ids[row, :length], marks[row, :length] = asked[place].ids, asked[place].marks
            mask[row, :length] = 1
        for place, row in zip(batch, network.outputs(ids, marks, mask), strict=True):
            found[place] = row[: len(asked[place].ids)]
    return found


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of windows to run together: of similar length, so that little is padding."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > BATCH_PIECES_MAX:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
