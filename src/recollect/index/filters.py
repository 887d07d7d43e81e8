"""Does a record pass a query? The filters of ``types.Query`` as one plain function."""

from __future__ import annotations

from datetime import datetime

from recollect.scopes import is_visible
from recollect.text.claims.lessons import findable_tags
from recollect.text.normal import fold
from recollect.types import Query, Record


def passes(record: Record, query: Query) -> bool:
    """Everything a query asks for, text and vector excepted."""
    return (
        is_visible(record.scope, query.scopes, descend=query.descend, exact=query.exact)
        and not expired(record.expires_at, query.now)
        and _matches(record, query)
        and _in_time(record, query)
    )


def expired(expires_at: datetime | None, now: datetime) -> bool:
    return expires_at is not None and expires_at <= now


def _matches(record: Record, query: Query) -> bool:
    return (
        (not query.kinds or record.kind in query.kinds)
        and (not query.types or record.type in query.types)
        and (not query.durabilities or record.durability in query.durabilities)
        and (not query.sources or record.source in query.sources)
        and (not query.authors or record.author in query.authors)
        and (not query.session or record.session == query.session)
        and (not query.lineage or not set(query.lineage).isdisjoint(record.lineage))
        and (not query.derived_from or not set(query.derived_from).isdisjoint(record.derived_from))
        and (not query.hashes or record.hash in query.hashes)
        and (not query.origins or record.origin in query.origins)
        and (not query.tags or _is_tagged(record, query))
    )


def _is_tagged(record: Record, query: Query) -> bool:
    tags = map(fold, findable_tags(record.tags, record.data))
    return not {fold(tag) for tag in query.tags}.isdisjoint(tags)


def _in_time(record: Record, query: Query) -> bool:
    if query.since is not None and record.at < query.since:
        return False
    if query.until is not None and record.at >= query.until:
        return False
    if query.as_of is None and query.known_at is None:
        return not query.statuses or record.status in query.statuses
    return record.status != "quarantined" and _believed(record, query) and _true(record, query)


def _believed(record: Record, query: Query) -> bool:
    books = query.known_at or query.now
    if query.known_at is not None and record.learned_at > query.known_at:
        return False
    return record.retired_at is None or record.retired_at > books


def _true(record: Record, query: Query) -> bool:
    if query.as_of is None:
        return True
    begun = record.valid_from is None or record.valid_from <= query.as_of
    return begun and (record.valid_to is None or record.valid_to > query.as_of)
