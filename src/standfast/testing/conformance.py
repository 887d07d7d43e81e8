"""The store contract in executable form.

A backend subclasses ``StoreContract`` in its tests and provides ``open_store``:

    class TestMyStore(StoreContract):
        async def open_store(self) -> Store:
            return await MyStore.open(...)

A store that outlives its process also provides ``reopen``, one that can be opened twice
``open_second``, and one that several processes may open ``elsewhere``. Each method is one clause
of the contract, gets a store of its own and needs nothing but ``asyncio``; any runner that calls
methods named ``test_*`` will do. Ids such as X2 or L5 name the requirement a clause proves.
"""

from __future__ import annotations

from standfast.testing.clauses.atomicity import AtomicityClauses
from standfast.testing.clauses.commits import WritingClauses
from standfast.testing.clauses.concurrency import ConcurrencyClauses
from standfast.testing.clauses.erasure import EraseClauses
from standfast.testing.clauses.handles import HandleClauses
from standfast.testing.clauses.items import ItemClauses
from standfast.testing.clauses.journal import JournalClauses
from standfast.testing.clauses.quality import QualityClauses
from standfast.testing.clauses.registry import RegistryClauses
from standfast.testing.clauses.scopes import ScopeClauses
from standfast.testing.clauses.search import (
    FilterClauses,
    KeywordClauses,
    ListingClauses,
    ScriptClauses,
    VectorClauses,
)
from standfast.testing.clauses.sessions import SessionClauses
from standfast.testing.clauses.surroundings import SurroundingsClauses
from standfast.testing.clauses.times import ExpiryClauses, TwoAxesClauses
from standfast.testing.clauses.truth import TruthClauses
from standfast.testing.clauses.upkeep import UpkeepClauses
from standfast.testing.clauses.versions import VersionClauses


class StoreContract(
    WritingClauses,
    AtomicityClauses,
    VersionClauses,
    SessionClauses,
    ScopeClauses,
    TwoAxesClauses,
    ExpiryClauses,
    ItemClauses,
    EraseClauses,
    JournalClauses,
    KeywordClauses,
    ScriptClauses,
    VectorClauses,
    FilterClauses,
    SurroundingsClauses,
    ListingClauses,
    QualityClauses,
    UpkeepClauses,
    TruthClauses,
    RegistryClauses,
    ConcurrencyClauses,
    HandleClauses,
):
    """Every clause; ``open_store`` must return an empty store each time."""
