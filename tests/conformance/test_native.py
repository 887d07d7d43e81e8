"""A store whose engine searches by itself, and two that do it badly."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from standfast.ports import NativeArms, Store
from standfast.scopes import root_of
from standfast.stores.dict import DictStore
from standfast.testing import StoreContract
from standfast.testing.approximate import ApproximateStore
from standfast.testing.clauses.quality import QualityClauses
from standfast.testing.values import ROOT
from standfast.types import Hit, Search


class TestApproximateStore(StoreContract):
    async def open_store(self) -> Store:
        return ApproximateStore()

    async def open_second(self, store: Store) -> Store:
        assert isinstance(store, ApproximateStore)
        return ApproximateStore(beside=store)


class Careless(ApproximateStore):
    """Looks at too little."""

    bits = 12
    looked_at = 1


class Leaking(ApproximateStore):
    """Searches the whole root, whatever was asked."""

    async def search(self, asked: Search) -> list[Hit]:
        scopes = tuple({root_of(scope) for scope in asked.where.scopes})
        where = replace(asked.where, scopes=scopes, descend=True)
        return await super().search(replace(asked, where=where))


class Straying(ApproximateStore):
    """Its engine does, but not the store."""

    async def arms(self, asked: Search, terms: Sequence[str]) -> NativeArms:
        where = replace(asked.where, scopes=(ROOT,), descend=True)
        return await super().arms(replace(asked, where=where), terms)


class CarelessContract(QualityClauses):
    async def open_store(self) -> Store:
        return Careless()


class LeakingContract(QualityClauses):
    async def open_store(self) -> Store:
        return Leaking()


class Claiming(ApproximateStore):
    """Says that it is exact, and is not."""

    capabilities = DictStore.capabilities
    bits = 8
    looked_at = 2


class ClaimingContract(QualityClauses):
    async def open_store(self) -> Store:
        return Claiming()


def test_who_looks_at_too_little_is_found_out() -> None:
    with pytest.raises(AssertionError, match="recall"):
        CarelessContract().test_L1_the_best_are_found()


def test_who_shows_what_is_not_theirs_is_found_out() -> None:
    with pytest.raises(AssertionError):
        LeakingContract().test_A10_no_scope_leaks_into_another()


def test_an_engine_that_strays_leads_nobody_astray() -> None:
    class StrayingContract(QualityClauses):
        async def open_store(self) -> Store:
            return Straying()

    StrayingContract().test_A10_no_scope_leaks_into_another()


def test_who_claims_to_be_exact_is_found_out() -> None:
    with pytest.raises(AssertionError, match="recall"):
        ClaimingContract().test_L1_the_best_are_found()
