"""Does a record pass? ``types.Where`` as one plain function; and the orders of listings."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from standfast.errors import Invalid
from standfast.index.conditions import match
from standfast.scopes import is_visible, root_of
from standfast.text.claim import findable_tags
from standfast.text.normal import fold
from standfast.types import Find, Listing, Record, Search, Where


def passes(record: Record, where: Where) -> bool:
    """Everything that a filter asks for."""
    return (
        is_visible(record.scope, where.scopes, descend=where.descend, exact=where.exact)
        and not expired(record.expires_at, where.now)
        and _matches(record, where)
        and _in_time(record, where)
    )


def check_asked(asked: Search | Listing | Find) -> bool:
    """Is there anything to look for, and room for an answer? Invalid if it is of several roots."""
    if len({root_of(scope) for scope in asked.where.scopes}) > 1:
        raise Invalid("a query names scopes of one root; ask each root by itself")
    return asked.limit > 0 and bool(asked.where.scopes)


def expired(expires_at: datetime | None, now: datetime) -> bool:
    return expires_at is not None and expires_at <= now


def _matches(record: Record, where: Where) -> bool:
    return (
        (not where.kinds or record.kind in where.kinds)
        and (not where.types or record.type in where.types)
        and (not where.durabilities or record.durability in where.durabilities)
        and (not where.sources or record.source in where.sources)
        and (not where.authors or record.author in where.authors)
        and (not where.session or record.session == where.session)
        and (not where.tags or _is_tagged(record, where))
        and (not where.matching or match(record, where.matching))
    )


def _is_tagged(record: Record, where: Where) -> bool:
    tags = map(fold, findable_tags(record.tags, record.data))
    return not {fold(tag) for tag in where.tags}.isdisjoint(tags)


def _in_time(record: Record, where: Where) -> bool:
    if where.since is not None and record.at < where.since:
        return False
    if where.until is not None and record.at >= where.until:
        return False
    if where.as_of is None and where.known_at is None:
        return not where.statuses or record.status in where.statuses
    return record.status != "quarantined" and _believed(record, where) and _true(record, where)


def _believed(record: Record, where: Where) -> bool:
    books = where.known_at or where.now
    if where.known_at is not None and record.learned_at > where.known_at:
        return False
    return record.retired_at is None or record.retired_at > books


def _true(record: Record, where: Where) -> bool:
    if where.as_of is None:
        return True
    begun = record.valid_from is None or record.valid_from <= where.as_of
    return begun and (record.valid_to is None or record.valid_to > where.as_of)


def has_keys(record: Record, find: Find) -> bool:
    """Does it have one of the values of each key that is given?"""
    return (
        (not find.hashes or record.hash in find.hashes)
        and (not find.origins or record.origin in find.origins)
        and (not find.lineage or not set(find.lineage).isdisjoint(record.lineage))
        and (not find.derived_from or not set(find.derived_from).isdisjoint(record.derived_from))
    )


def ordered(records: Iterable[Record], asked: Listing | Find) -> list[Record]:
    """As the listing asks: in its order, behind ``after``, no more than ``limit``."""
    found = sorted(records, key=lambda record: record.id)
    if asked.order == "id":
        found = [record for record in found if record.id > asked.after]
    elif asked.order == "newest":
        found = [one for one in reversed(found) if not asked.after or one.id < asked.after]
    else:
        found.sort(key=lambda record: record.at, reverse=True)
        if asked.order == "important":
            found.sort(key=lambda record: record.importance, reverse=True)
    return found[: max(0, asked.limit)]


def is_walk(asked: Listing) -> bool:
    """By id with no other filter than scope and status: what walks through everything, and must
    not load an index of everything to do it."""
    where = asked.where
    plain = Where(
        scopes=where.scopes,
        now=where.now,
        descend=where.descend,
        exact=where.exact,
        statuses=where.statuses,
    )
    return asked.order in ("id", "newest") and where == plain
