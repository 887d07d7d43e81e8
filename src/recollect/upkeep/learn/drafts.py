"""What one commit of learning will hold, as it grows."""

from __future__ import annotations

from dataclasses import dataclass, field

from recollect.engine import Engine
from recollect.lifecycle.merge import Outcome
from recollect.scopes import root_of
from recollect.types import ReceiptItem, Record, Relation, Vector
from recollect.upkeep.learn.values import Turns


@dataclass(slots=True, kw_only=True)
class LearnDraft:
    """``records`` are as they will be; ``told_by`` are the turns of messages, ``ids`` the records
    that candidates became, by their number and scope."""

    engine: Engine
    turns: Turns
    seen_hash: bool = False
    records: dict[str, Record] = field(default_factory=dict)
    relations: dict[tuple[str, str, str], Relation] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)  # by text
    space: str = ""
    items: list[ReceiptItem] = field(default_factory=list)
    told_by: dict[str, Record] = field(default_factory=dict)
    ids: dict[tuple[int, str], str] = field(default_factory=dict)
    repeated: list[tuple[str, str]] = field(default_factory=list)  # message id, known record id
    taught: set[str] = field(default_factory=set)  # message ids

    @property
    def root(self) -> str:
        return root_of(self.turns.session.scope)

    def add(self, outcome: Outcome) -> None:
        self.records |= {record.id: record for record in outcome.records}
        for edge in outcome.relations:
            self.relations.setdefault((edge.source, edge.kind, edge.target), edge)

    def say(self, id_: str, outcome: Outcome, note: str) -> None:
        volatile = self.turns.store is self.engine.volatile and outcome.status == "stored"
        self.items.append(
            ReceiptItem(
                id=id_,
                status="volatile" if volatile else outcome.status,
                reason="; ".join(filter(None, (outcome.reason, note))),
                record=id_,
            )
        )
