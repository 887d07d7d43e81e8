"""Taking edits in: what a plan asks for, done through the public verbs."""

from __future__ import annotations

from dataclasses import dataclass, field

from standfast.errors import Conflict, Invalid, NotFound
from standfast.interfaces.markdown.edits import Changed, Disputed, EditPlan, New
from standfast.interfaces.markdown.pages import PageLine
from standfast.memory import AsyncMemory
from standfast.types import Receipt, ReceiptItem, Record, Usage

ACTOR = "file"


@dataclass(slots=True, kw_only=True)
class EditOutcome:
    """What one round did, collected into one receipt."""

    items: list[ReceiptItem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)
    failed: bool = False  # a line of the file could not be taken in
    lines: dict[str, str] = field(default_factory=dict)  # id -> text, of lines taken in

    def add(self, receipt: Receipt, what: str) -> None:
        """With several changes in one round, each item names its own for ``undo``."""
        self.changes += [receipt.change] if receipt.change else []
        self.notes += receipt.notes
        self.usages.append(receipt.usage)
        for item in receipt.items:
            parts = (what, item.reason, f"change {receipt.change}" if receipt.change else "")
            reason = "; ".join(part for part in parts if part)
            self.items.append(ReceiptItem(id=item.id, status=item.status, reason=reason))

    def receipt(self) -> Receipt:
        return Receipt(
            items=tuple(self.items),
            change=self.changes[0] if len(self.changes) == 1 else "",
            notes=tuple(dict.fromkeys(self.notes)),
            usage=Usage(
                texts_embedded=sum(one.texts_embedded for one in self.usages),
                calls=sum(one.calls for one in self.usages),
                tokens_in=sum(one.tokens_in for one in self.usages),
                tokens_out=sum(one.tokens_out for one in self.usages),
                cost=sum(one.cost for one in self.usages),
            ),
        )


async def take_in(memory: AsyncMemory, scope: str, plan: EditPlan, outcome: EditOutcome) -> None:
    """Everything but the retiring. A line that cannot be stored is reported, and the file keeps
    it; doing all this again changes nothing."""
    wishes: list[Changed | Disputed | New] = [*plan.changed, *plan.disputed, *plan.new]
    for wish in wishes:
        try:
            if isinstance(wish, Changed):
                await _change(memory, scope, wish, outcome)
            elif isinstance(wish, Disputed):
                await _dispute(memory, scope, wish, outcome)
            else:
                await _add(memory, scope, wish, outcome)
        except (Invalid, NotFound, Conflict) as error:
            outcome.failed = True
            outcome.items.append(
                ReceiptItem(id=_name(wish.line), status="failed", reason=str(error))
            )
    for dropped in plan.dropped:
        item = ReceiptItem(id=_name(dropped.line), status="skipped", reason=dropped.reason)
        outcome.items.append(item)
    outcome.notes += plan.notes


def _name(line: PageLine) -> str:
    return f"MEMORY.md line {line.number}"


async def _add(memory: AsyncMemory, scope: str, wish: New, outcome: EditOutcome) -> None:
    receipt = await memory.remember(
        wish.line.text,
        scope=scope,
        type=wish.line.type or "fact",
        tags=wish.line.tags,
        source="file",
        actor=ACTOR,
    )
    outcome.lines[receipt.items[0].id] = wish.line.text
    outcome.add(receipt, f"new line {wish.line.number}" + (f": {wish.note}" if wish.note else ""))


async def _change(memory: AsyncMemory, scope: str, wish: Changed, outcome: EditOutcome) -> None:
    receipt = await remember_like(memory, scope, wish.line.text, wish.old, supersedes=wish.old.id)
    outcome.lines[receipt.items[0].id] = wish.line.text
    outcome.add(receipt, f"line {wish.line.number} changed")


async def _dispute(memory: AsyncMemory, scope: str, wish: Disputed, outcome: EditOutcome) -> None:
    """Both survive and are linked; whoever reads the file decides."""
    receipt = await remember_like(memory, scope, wish.line.text, wish.old)
    id_ = receipt.items[0].id
    outcome.lines[id_] = wish.line.text
    if id_ == wish.newer.id:
        outcome.add(receipt, f"line {wish.line.number} changed")
        return
    told = f"conflict: line {wish.line.number} and the store changed the same fact"
    outcome.add(receipt, told)
    outcome.add(
        await memory.relate(id_, "contradicts", wish.newer.id, actor=ACTOR),
        "both are kept; see Conflicts in MEMORY.md",
    )


async def remember_like(
    memory: AsyncMemory, scope: str, text: str, old: Record, *, supersedes: str | None = None
) -> Receipt:
    """A new text for an old fact, which stays the same kind of fact."""
    return await memory.remember(
        text,
        scope=scope,
        kind=old.kind,
        type=old.type,
        tags=old.tags,
        importance=old.importance,
        durability=old.durability,
        source="file",
        supersedes=supersedes,
        actor=ACTOR,
    )
