"""What a new statement puts in doubt: each known one that it may be about is weighed with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from standfast.engine import Engine
from standfast.errors import Unavailable
from standfast.lifecycle.bounds import AGREED, LEAST, LIKELY
from standfast.lifecycle.effect import SPACE, effect_in
from standfast.lifecycle.merge import Known, cue_of
from standfast.lifecycle.merge.topic import Topic, told, topic_of
from standfast.lifecycle.merge.traits import is_foreign
from standfast.ports import ChangeReader, Store
from standfast.text.analysis import words
from standfast.types import LIVE, Find, Listing, Record, Search, Vector, Where
from standfast.types.frozen import frozen

NEIGHBOURS = 8  # by meaning or, without a vector, by words
WORDS_FROM_MAX = 2000  # characters of a text, when it is looked for by its words
BORNE_MAX, BORNE_ABOVE = 24, 0.1  # of those whose meaning is weighed
# Of those that are read together with it, whatever their likeness: a goal in another shirt is the
# end of a membership. Among forty things known, 96 % of what a message changes are so near.
READ_MAX, ANY = 8, -1.0
A_TALK = timedelta(hours=1)


@frozen
class Heard:
    """Where a reader took a record from. ``said``: the clause as it was said. ``replies``: it was
    said to something else that somebody said."""

    said: str = ""
    replies: bool = False


async def weighed(
    engine: Engine,
    store: Store,
    record: Record,
    vector: Vector | None,
    space: str,
    known: list[Known],
    heard: Heard,
    *,
    written: frozenset[str],
) -> list[Known]:
    """The known records, with what is likely to have changed and what is not; and those near by
    meaning, or by words where no vector tells that, that the record likely says have changed. Words
    alone do not ask a statement that lasts and has no word of a change: it is one more.
    ``written``: the ids of what the same commit writes, which the store has as it was before."""
    by_meaning = vector is not None and space == SPACE
    new = told(record.text, record.author, cue_of(record))
    asks = by_meaning or new.change.kind not in ("", "turns")
    if asks and record.kind == "semantic" and record.type != "user_request":
        known_ids = frozenset(one.record.id for one in known)
        found = await _found(engine, store, record, vector if by_meaning else None, known, written)
        asked = [
            one
            for one in found.values()
            if (one.similarity is not None or not by_meaning) and one.record.author == record.author
        ]
        asked = _by_sums(new, vector if by_meaning else None, asked)
        if by_meaning and engine.change_reader is not None:
            asked = await _by_reading(engine.change_reader, new, heard.said, asked)
        found |= {one.record.id: one for one in asked}
        known = [one for one in found.values() if one.bears > 0 or one.record.id in known_ids]
    return [_kept_in_talk(record, one) for one in known] if heard.replies else known


async def _found(
    engine: Engine,
    store: Store,
    record: Record,
    vector: Vector | None,
    known: Sequence[Known],
    written: frozenset[str],
) -> dict[str, Known]:
    """What is known and what is near, by id."""
    where = Where(scopes=(record.scope,), now=engine.now(), statuses=LIVE, kinds=(record.kind,))
    near = Search(where=where, limit=NEIGHBOURS, text=record.text[:WORDS_FROM_MAX])
    if vector is not None:
        many, above = (BORNE_MAX, BORNE_ABOVE) if engine.change_reader is None else (READ_MAX, ANY)
        near = Search(where=where, limit=many, vector=vector, space=SPACE, similar_above=above)
    found = {one.record.id: one for one in known}
    for one in await known_in(store, near):
        if one.record.id in found or one.record.id not in written:
            before = found.get(one.record.id, one)
            found[one.record.id] = replace(before, similarity=one.similarity or before.similarity)
    return found


def _by_sums(new: Topic, vector: Vector | None, asked: Sequence[Known]) -> list[Known]:
    """``vector``: None where words alone tell it."""
    tells = effect_in(SPACE if vector is not None else "")
    alone = tells.told(vector)
    summed = []
    for one in asked:
        old = topic_of(one.record.text, one.record.author)
        sum_ = tells.of(alone, new, old, one.similarity or 0.0)
        if sum_ is not None:
            denied = vector is not None and sum_ < tells.least  # words alone overrule no rule
            one = replace(one, bears=max(sum_ - tells.likely, 0.0), denied=denied)
        summed.append(one)
    return summed


async def _by_reading(
    reader: ChangeReader, new: Topic, said: str, summed: Sequence[Known]
) -> list[Known]:
    """By who reads the whole message, and the part of it that is the record, together with each of
    them: surely, or rather so and the sum says the same. Where it cannot be read the sums stand."""
    olds = {one.record.id: topic_of(one.record.text, one.record.author) for one in summed}
    asked = [one for one in summed if not is_foreign(new, olds[one.record.id])]
    try:
        whole = await reader.changes(said or new.said, [olds[one.record.id].said for one in asked])
        odds = {one.record.id: (odd, odd) for one, odd in zip(asked, whole, strict=True)}
        if said and words(new.said) != words(said):
            # The message may change it by something else that it says.
            again = [id_ for id_, (odd, _) in odds.items() if odd > 0]
            parts = await reader.changes(new.said, [olds[id_].said for id_ in again])
            odds |= {id_: (odds[id_][0], part) for id_, part in zip(again, parts, strict=True)}
    except Unavailable:
        return list(summed)
    return [_told(one, *odds[one.record.id]) for one in asked]


def _told(one: Known, whole: float, part: float) -> Known:
    odds = min(whole, part)
    bears = odds if odds > (AGREED if one.bears else LIKELY) else 0.0
    return replace(one, odds=odds, bears=bears, denied=whole < LEAST)


def _kept_in_talk(record: Record, one: Known) -> Known:
    """What was said a moment ago in the same talk is not what a reply to something else changes:
    who takes it back says so."""
    told = one.record
    if not record.session or told.session != record.session or record.at - told.at > A_TALK:
        return one
    return replace(one, denied=True, bears=0.0, odds=None)


async def known_in(store: Store, query: Search | Find | Listing) -> list[Known]:
    if isinstance(query, Search):
        hits = await store.search(query)
        return [Known(record=hit.record, similarity=hit.similarity) for hit in hits]
    read = store.find(query) if isinstance(query, Find) else store.listing(query)
    return [Known(record=record) for record in await read]
