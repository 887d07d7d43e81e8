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

from recollect.testing.clauses.atomicity import AtomicityClauses
from recollect.testing.clauses.commits import WritingClauses
from recollect.testing.clauses.concurrency import ConcurrencyClauses
from recollect.testing.clauses.erasure import EraseClauses
from recollect.testing.clauses.handles import HandleClauses
from recollect.testing.clauses.items import ItemClauses
from recollect.testing.clauses.journal import JournalClauses
from recollect.testing.clauses.quality import QualityClauses
from recollect.testing.clauses.registry import RegistryClauses
from recollect.testing.clauses.scopes import ScopeClauses
from recollect.testing.clauses.search import (
    FilterClauses,
    KeywordClauses,
    ListingClauses,
    ScriptClauses,
    VectorClauses,
)
from recollect.testing.clauses.sessions import SessionClauses
from recollect.testing.clauses.surroundings import SurroundingsClauses
from recollect.testing.clauses.times import ExpiryClauses, TwoAxesClauses
from recollect.testing.clauses.truth import TruthClauses
from recollect.testing.clauses.upkeep import UpkeepClauses
from recollect.testing.clauses.versions import VersionClauses


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
