"""Who takes part, with which settings, and how large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LARGE = (1000, 10_000, 100_000)
SMALL = (1000, 10_000, 20_000)  # for those that need a third of a second per question there
QUICK = (1000,)
SEVERAL = 10  # scopes
BATCH = 1000


@dataclass(frozen=True, slots=True)
class Way:
    """A way of asking."""

    name: str
    shown: str
    several: bool = True  # whether it makes sense with several scopes
    needs_model: bool = False


@dataclass(frozen=True, slots=True)
class Peer:
    """One program in one setting. ``pins`` names the file of its environment; "" is ours."""

    name: str
    setting: str
    shown: str
    pins: str
    package: str
    ways: Sequence[Way]
    sizes: Sequence[int]
    batch: int
    about: str
    in_memory: bool = False

    @property
    def key(self) -> str:
        return f"{self.name}-{self.setting}" if self.setting else self.name


STANDFAST = Peer(
    "standfast", "", "standfast", "", "standfast",
    (
        Way("uncut", "recall, both arms, the best ten whatever they say"),
        Way("recall", "recall, both arms, as it comes: what answers"),
        Way("store", "store.search, both arms, ordered by vector"),
        Way("embedding", "recall, question embedded by minilm", several=False, needs_model=True),
    ),
    LARGE, 100,
    "default profile, and once without its cut, because the others return ten in any case; vectors "
    "given by an injected embedder; batches are `store.commit` of 100 "
    "records, single writes `remember` with its checks for duplicates and contradictions; every "
    "write is synced to disk before it is acknowledged",
)  # fmt: skip

PEERS: Sequence[Peer] = (
    STANDFAST,
    Peer(
        "sqlitevec", "", "sqlite-vec + FTS5", "sqlitevec", "sqlite-vec",
        (Way("hybrid", "both arms, reciprocal rank"), Way("vector", "vector only")),
        LARGE, BATCH,
        "vec0 table partitioned by scope, float32, cosine; FTS5 with porter stems, optimised, "
        "stop words left out of the question; WAL, synchronous = FULL",
    ),
    Peer(
        "lancedb", "flat", "LanceDB, flat", "lancedb", "lancedb",
        (Way("vector", "vector only"),),
        LARGE, BATCH,
        "no index, so exact; compacted after writing; scope as a filter before the search",
    ),
    Peer(
        "lancedb", "indexed", "LanceDB, indexed", "lancedb", "lancedb",
        (Way("vector", "vector only"), Way("hybrid", "both arms, its own RRF reranker")),
        LARGE, BATCH,
        "IVF_HNSW_SQ with one partition, ef 200, refine factor 5; full-text index with stems and "
        "stop words; bitmap index on the scope, which filters before the search; building the "
        "indexes counts as writing",
    ),
    Peer(
        "chroma", "", "Chroma", "chroma", "chromadb",
        (
            Way("plain", "vector only, a collection per scope"),
            Way("filtered", "vector only, `where` filter on the scope", several=False),
        ),
        LARGE, BATCH,
        "persistent client, HNSW by cosine with ef_construction 100, ef_search 200, 16 neighbours",
    ),
    Peer(
        "langgraph", "memory", "LangGraph InMemoryStore", "langgraph", "langgraph",
        (Way("vector", "vector only"),),
        SMALL, BATCH, "a namespace per scope; nothing is durable", in_memory=True,
    ),
    Peer(
        "langgraph", "sqlite", "LangGraph SqliteStore", "langgraph", "langgraph-checkpoint-sqlite",
        (Way("vector", "vector only"),),
        SMALL, BATCH, "a namespace per scope; synchronous = FULL",
    ),
    Peer(
        "mem0", "", "mem0", "mem0", "mem0ai",
        (Way("search", "search"),),
        SMALL, BATCH,
        "`infer=False`, default local store (Qdrant in the process, on disk), scope as `user_id`; "
        "a batch is one call per record, because its interface offers nothing else",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Job:
    """One peer at one size; written once, asked in every way."""

    peer: Peer
    records: int
    scopes: int

    @property
    def key(self) -> str:
        return f"{self.peer.key}/{self.records}/{self.scopes}"

    @property
    def ways(self) -> Sequence[Way]:
        return [way for way in self.peer.ways if self.scopes == 1 or way.several]


def jobs(sizes: Sequence[int] | None = None, only: Sequence[str] = ()) -> Iterator[Job]:
    """Sizes from small to large, all peers at each: what is compared is measured together. Several
    scopes at each peer's largest size only."""
    chosen = [peer for peer in PEERS if not only or peer.name in only]
    ranked = sorted({size for peer in chosen for size in (sizes or peer.sizes)})
    for size in ranked:
        for peer in chosen:
            mine = sizes or peer.sizes
            if size in mine or (peer is STANDFAST and not sizes and size in SMALL):
                yield Job(peer, size, 1)
                largest = size == max(mine) or (peer is STANDFAST and size == max(SMALL))
                if largest:
                    yield Job(peer, size, SEVERAL)
