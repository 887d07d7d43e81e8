"""The contract on a real Redis server."""

from collections.abc import Iterator
from itertools import count

import pytest

from standfast.ports import Store
from standfast.stores.redis import RedisStore
from standfast.testing import StoreContract
from standfast.testing.clauses.erasure import EraseClauses
from standfast.testing.clauses.handles import HandleClauses
from standfast.testing.clauses.quality import QualityClauses
from standfast.testing.clauses.scopes import ScopeClauses
from standfast.testing.clauses.search import (
    FilterClauses,
    KeywordClauses,
    ScriptClauses,
    VectorClauses,
)
from standfast.testing.clauses.surroundings import SurroundingsClauses
from standfast.testing.clauses.times import ExpiryClauses, TwoAxesClauses
from standfast.testing.clauses.truth import TruthClauses
from standfast.testing.harness import Contract
from tests import keyspace
from tests.redis import Cluster, fresh_address


class OnRedis(Contract):
    search = ""

    @pytest.fixture(autouse=True)
    def _give_it_a_prefix(self) -> None:
        self.address = f"{fresh_address()}&search={self.search}"

    async def open_store(self) -> Store:
        return await RedisStore.open(self.address)

    async def open_second(self, store: Store) -> Store:  # noqa: ARG002
        return await RedisStore.open(self.address)

    def elsewhere(self, store: Store) -> tuple[str, str]:  # noqa: ARG002
        return "standfast.stores.redis:RedisStore.open", self.address

    async def damage(self, store: Store, old: str, new: str) -> bool:
        return await keyspace.damage(store, old, new)

    async def reopen(self, store: Store) -> Store:  # noqa: ARG002
        return await RedisStore.open(self.address)


class TestRedisStore(OnRedis, StoreContract):
    """By the index of the process: the same answers as every other store, to the last digit."""

    search = "exact"


class TestNativeRedisStore(
    OnRedis,
    KeywordClauses,
    ScriptClauses,
    VectorClauses,
    FilterClauses,
    SurroundingsClauses,
    QualityClauses,
    ScopeClauses,
    TwoAxesClauses,
    ExpiryClauses,
    EraseClauses,
    HandleClauses,
    TruthClauses,
):
    """By vector sets and postings in the server: all clauses in which something is found."""

    search = "native"


@pytest.mark.proof
class TestRedisClusterStore(OnRedis, StoreContract):
    """Three masters; every root is on one of them."""

    search = "exact"

    @pytest.fixture(autouse=True)
    def _give_it_a_prefix(self, cluster: Cluster) -> None:
        self.address = f"{cluster.url}?search=exact&prefix=c{next(_numbers)}"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    cluster = Cluster()
    cluster.start()
    yield cluster
    cluster.remove()


_numbers = count(1)
