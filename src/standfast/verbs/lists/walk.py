"""Walking through every root and store that a handle may see, from a place on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar

from standfast.engine import Engine
from standfast.ports import Store
from standfast.text.inputs import ANSWER_BYTES_MAX
from standfast.types.frozen import frozen
from standfast.types.pages import Page
from standfast.verbs.lists.cursors import Place, cursor_of

T = TypeVar("T")


@frozen
class RootPart:
    """One root in one store, as far as the asker may see it. ``number`` says which store, for
    cursors: 0 the kept one, 1 the volatile one. ``begun``: the place is in this part."""

    store: Store
    number: int
    root: str
    scopes: tuple[str, ...]
    descend: bool
    begun: bool

    def place(self, *inside: str) -> Place:
        return [self.root, self.number, *inside]


async def parts_from(
    engine: Engine, scope: str | None, *, descend: bool, place: Place | None
) -> AsyncIterator[RootPart]:
    """In order of name, beginning with the root and store of the place."""
    by_root, below = await engine.read_scopes(scope, descend=descend)
    first = (place[0], place[1]) if place else ("", 0)
    for root in sorted(by_root):
        for number, store in enumerate(engine.stores_of(root)):
            if (root, number) >= first:
                yield RootPart(
                    store=store,
                    number=number,
                    root=root,
                    scopes=by_root[root],
                    descend=below,
                    begun=(root, number) == first,
                )


def weight_of(item: object) -> int:
    """How long an item is in an answer, near enough: what may be long in it."""
    texts = (getattr(item, name, "") for name in ("text", "original"))
    weight = sum(map(len, texts)) + len(str(getattr(item, "data", "") or ""))
    for touch in getattr(item, "touched", ()):
        weight += len(str(touch.before or "")) + len(str(touch.after or ""))
    return weight


async def page_of(found: AsyncIterator[tuple[Place, T]], limit: int, question: object) -> Page[T]:
    """The first ``limit``, or as many as one answer may hold, and the cursor behind them if there
    are more."""
    items: list[T] = []
    last: Place = []
    weight = 0
    async for place, item in found:
        weight += weight_of(item)
        if len(items) == limit or (items and weight > ANSWER_BYTES_MAX):
            return Page(items=tuple(items), next=cursor_of(last, question))
        items.append(item)
        last = place
    return Page(items=tuple(items))
