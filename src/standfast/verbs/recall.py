"""recall: candidates from both arms of every visible root, ranked by pure stages, explained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any

from standfast.engine import Engine
from standfast.errors import Invalid, Unavailable
from standfast.index.conditions import conditions_of
from standfast.index.filters import passes
from standfast.index.found import FoundHits
from standfast.index.vectors import says_nothing
from standfast.models.calls import sum_of
from standfast.models.embedder import Embedded
from standfast.ports import AnswerError, Glance, NativeHits, Store, beside, leaving_out
from standfast.profiles import profile_named
from standfast.rank.candidates import Candidate, order
from standfast.rank.places import INSIDE, PASSED_OVER, is_crowded, outside, placed
from standfast.rank.question import parts
from standfast.rank.rerank import reordered, rerank_prompt
from standfast.rank.stages import (
    Asked,
    above_threshold,
    drop_copies,
    of_equal_say,
    one_per_source,
    rank,
    related,
    replacing,
    spread,
    standing_out,
)
from standfast.rank.truth import holds_at
from standfast.scopes import is_within, root_of
from standfast.text.inputs import (
    ANSWER_BYTES_MAX,
    RECORD_BYTES_MAX,
    When,
    clean_tags,
    clean_text,
    count,
    moment,
    several_of,
    share,
)
from standfast.types import (
    Answer,
    Hit,
    Kind,
    Listing,
    Record,
    Relation,
    Search,
    Source,
    Status,
    Type,
    Usage,
    Vector,
    Where,
)
from standfast.types.arguments import Filter
from standfast.types.frozen import frozen

HIT_CHARACTERS = 8  # an answer takes as long as so many of a question
EXPANDED_HITS = 6
EXPANDED_RECORDS_MAX = 12
USED_BUFFER_MAX = 1000
PAST_SHARE = 4
PAGE = 500
MOSTLY = 0.9
NATIVE = "searched by the engine itself: it may miss a few; the scores of what it found are exact"


@frozen
class Question:
    """What the caller asked, before checking."""

    text: str
    scope: str | Iterable[str] | None = None
    limit: int | None = None
    kinds: Iterable[str] = ()
    types: Iterable[str] = ()
    tags: Iterable[str] = ()
    where: Filter | None = None
    statuses: Iterable[str] | None = None
    since: When | None = None
    until: When | None = None
    as_of: When | None = None
    known_at: When | None = None
    threshold: float | None = None
    descend: bool = False
    explain: bool = False
    profile: str | None = None  # whose stages and weights; None: the handle's
    fast: bool | None = None  # True: no model chooses; False: one does, if there is one
    now: When | None = None
    prefer_facts: bool = False
    choose: int | None = None  # how many of the hits a model may choose; None: all of them
    cut: bool = True  # end where the scores fall off, as the profile says
    shown: bool = True  # False: without words, only what is to be said of the answer is wanted


@frozen(kw_only=False)
class Recalled:
    """An answer whose hits are made by whoever wants to see them."""

    kept: Sequence[Candidate]  # best first
    notes: Sequence[str]
    usage: Usage


async def recall(engine: Engine, question: Question, *, count_uses: bool = True) -> Answer:
    recalled = await recalled_for(engine, question, count_uses=count_uses)
    kept = recalled.kept
    hits = await beside(HIT_CHARACTERS * len(kept), lambda: tuple(one.as_hit() for one in kept))
    return Answer(hits=hits, notes=tuple(recalled.notes), usage=recalled.usage)


async def recalled_for(engine: Engine, question: Question, *, count_uses: bool = True) -> Recalled:
    engine = as_profile(engine, question.profile)
    with leaving_out() as damaged:
        recalled = await _recalled(engine, question, count_uses=count_uses)
    if not damaged:
        return recalled
    return replace(recalled, notes=(*recalled.notes, *damage_notes(damaged)))


def damage_notes(names: Sequence[str]) -> list[str]:
    """What to say of rows that were left out because they are not as they were written."""
    named = ", ".join(list(dict.fromkeys(names))[:10])
    return [f"damaged, and left out: {named}; run `standfast doctor --heal`"] if names else []


async def _recalled(
    engine: Engine, question: Question, *, count_uses: bool, by_words: str = ""
) -> Recalled:
    """``by_words``: why no vector is compared."""
    limit = engine.profile.limit if question.limit is None else count(question.limit, "limit")
    query, notes = query_of(engine, question, limit)
    by_root, descend = await engine.read_scopes(question.scope, descend=question.descend)
    named = question.scope is not None or engine.bound
    theirs = [scope for scopes in by_root.values() for scope in scopes] if named else []
    questions, embedded = await posed(engine, question, query, theirs, by_words=by_words)
    vector = embedded.vectors[0]
    notes += _arms(question.text, vector, embedded)
    moving = vector and engine.moves_on and engine.asking is engine.embedder
    if moving:
        from standfast.upkeep.reembedding import state_of

        state = state_of(engine)
        notes.append(f"degraded: {state}; records without a new vector are found by words only")
    if engine.better and vector is not None:
        move = f"`standfast --embedder {engine.better} reembed` moves the store"
        notes.append(f"{engine.better} is here and finds more: {move}")
    if question.scope is None:
        roots = "1 root" if len(by_root) == 1 else f"{len(by_root)} roots"
        notes.append(f"searched every scope this handle may see ({roots})")
    looked = Looked(
        engine, questions, by_root, descend, cut=question.cut, shown=question.shown, notes=notes
    )
    best = await looked.ranked()
    if vector and not _compared(best) and await _has_moved(engine, embedded.space):
        # Another process moved the store to a new space a moment ago.
        return await _recalled(engine, question, count_uses=count_uses)
    if moving and not _mostly_compared(best):
        return await _recalled(engine, question, count_uses=count_uses, by_words=state)
    best, clear = await looked.cleared(best, limit)
    chosen, note, usage = await _reranked(engine, question, clear, limit)
    notes += [note] if note else []
    notes += [f"degraded: {trouble}" for trouble in [engine.store_trouble] if trouble]
    kept, note = _bounded(_placed(chosen, limit, notes))
    notes += [note] if note else []
    if best and not kept and limit:
        notes.append("nothing known about that; explain=True names the nearest")
    if count_uses and not question.explain:  # who looks at the scores does not use the memories
        _count_uses(engine, kept)
    if question.explain:
        notes += _dropped(best, kept)
    usage = sum_of(usage, replace(embedded.usage, texts_embedded=len(questions) if vector else 0))
    return Recalled(kept, notes, usage)


def _mostly_compared(best: Sequence[Candidate]) -> bool:
    """While vectors come, those that are there push aside what has none: words alone find more,
    until nearly all are there."""
    compared = sum(one.similarity is not None for one in best)
    return compared >= MOSTLY * len(best)


async def _has_moved(engine: Engine, space: str) -> bool:
    """Was the question embedded for a space in which there is nothing any more?"""
    trouble = await engine.vector_trouble()
    return bool(trouble) or engine.asking is None or engine.asking.space != space


def _compared(best: Iterable[Candidate]) -> bool:
    """By meaning?"""
    return any(one.similarity is not None for one in best)


@frozen(kw_only=False)
class Looked:
    """The questions of one text, and where they are asked."""

    engine: Engine
    questions: Sequence[tuple[Search, Asked]]
    by_root: Mapping[str, tuple[str, ...]]
    descend: bool
    cut: bool
    shown: bool
    notes: list[str]

    async def ranked(self, sources: tuple[Source, ...] = ()) -> list[Candidate]:
        """What all roots and stores found, best first."""
        ranked: list[list[Candidate]] = []
        for root, scopes in self.by_root.items():
            where = self.questions[0][0].where
            seen = replace(where, scopes=scopes, descend=self.descend, sources=sources)
            here = [(replace(one, where=seen), about) for one, about in self.questions]
            stores = self.engine.stores_of(root)
            shown = self.shown or bool(sources) or len(stores) > 1 or len(self.by_root) > 1
            for store in stores:
                ranked.append(await _ranked_in(store, here, root, self.notes, shown=shown))
        return ranked[0] if len(ranked) == 1 else sorted(chain.from_iterable(ranked), key=order)

    async def cleared(
        self, best: list[Candidate], limit: int
    ) -> tuple[list[Candidate], list[Candidate]]:
        """The candidates, and those that answer. Where pages and tools would take most places, or
        have set how good an answer must be, it is asked once more without them: neither fills the
        list of candidates, nor ends the answer, before others had their say."""
        clear = self._clear(best)
        many = is_crowded([one.is_outside for one in clear[:limit]])
        if not (many or is_crowded([one.is_outside for one in best[:1]])):
            return best, clear
        others = await self.ranked(INSIDE)
        both = [_joined([*best, *others]), _joined([*clear, *self._clear(others)])]
        if "drop_copies" in self.engine.profile.stages:
            both = [drop_copies(one, self.questions[0][1]) for one in both]
        best, clear = (sorted(one, key=order) for one in both)
        return best, clear

    def _clear(self, best: list[Candidate]) -> list[Candidate]:
        asked = self.questions[0][1]
        clear = above_threshold(best, asked)
        return spread(standing_out(clear, asked) if self.cut else clear, asked)


def _placed(chosen: list[Candidate], limit: int, notes: list[str]) -> list[Candidate]:
    """The first; somebody who was passed over is told of."""
    kept, passed = placed(chosen, limit, attrgetter("is_outside"))
    for one in passed:
        one.add("places", 0.0, PASSED_OVER)
    if passed:
        notes.append(f"{len(passed)} passed over: {PASSED_OVER}")
    return kept


def as_profile(engine: Engine, name: str | None) -> Engine:
    """The same engine, ranking as another profile does."""
    return engine if name is None else replace(engine, profile=profile_named(name))


def _bounded(chosen: list[Candidate]) -> tuple[list[Candidate], str]:
    """As many as one answer may hold, the best first; and a note if that is not all."""
    weight = 0
    for number, candidate in enumerate(chosen):
        weight += _weight(candidate.record)
        if number and weight > ANSWER_BYTES_MAX:
            left = f"{len(chosen) - number} hits are left out: together they are too long"
            return chosen[:number], f"{left} for one answer; ask for fewer"
    return chosen, ""


def _weight(record: Record) -> int:
    return len(record.text) + len(str(record.data or ""))


def query_of(engine: Engine, question: Question, limit: int) -> tuple[Search, list[str]]:
    """The query without its scopes, and notes about what was assumed."""
    text, _ = clean_text(question.text, "the query", RECORD_BYTES_MAX)
    times: dict[str, datetime | None] = {}
    notes: list[str] = []
    for name in ("since", "until", "as_of", "known_at", "now"):
        times[name], note = moment(getattr(question, name), name)
        if note:
            notes.append(f"{name}: {note}")
    since, until = times["since"], times["until"]
    if since and until and until <= since:
        notes.append("the time range ends before it starts: nothing can match")
    now = (times["now"] or engine.now()).astimezone(UTC)
    statuses: Any = ("active", "disputed") if question.statuses is None else question.statuses
    where = Where(
        scopes=(),
        now=now,
        kinds=several_of(question.kinds, Kind, "kind"),
        types=several_of(question.types, Type, "type"),
        tags=clean_tags(question.tags),
        statuses=several_of(statuses, Status, "status"),
        since=since,
        until=until,
        as_of=times["as_of"],
        known_at=times["known_at"],
        matching=conditions_of(question.where) if question.where else (),
    )
    query = Search(
        where=where,
        text=text if text.strip() else "",
        # Twice as many as asked for, so that a second look has something to choose from; of the
        # past many more, as what was told later is left out.
        limit=max(engine.profile.candidates, 2 * limit)
        * (PAST_SHARE if times["as_of"] or times["known_at"] else 1),
        around=engine.profile.neighbours,
    )
    return query, notes


async def posed(
    engine: Engine, question: Question, query: Search, scopes: Sequence[str], *, by_words: str = ""
) -> tuple[list[tuple[Search, Asked]], Embedded]:
    """The query with its vector, or the several questions in it, and what embedding it gave.
    ``scopes`` are those that are named: their root pays."""
    embedded = Embedded(vectors=[None], trouble=by_words)
    if not by_words:
        embedded = await _query_vector(engine, query.text, scopes)
    vector = embedded.vectors[0]
    family = embedded.space if vector else ""
    asked = Asked(
        text=query.text,
        now=query.where.now,
        profile=engine.profile,
        embedder=family.split("/")[0],
        threshold=None if question.threshold is None else share(question.threshold, "threshold"),
        prefer_facts=question.prefer_facts,
    )
    query = replace(query, vector=vector, space=family)
    return await _single_questions(engine, query, asked, scopes) or [(query, asked)], embedded


async def _query_vector(engine: Engine, text: str, scopes: Sequence[str]) -> Embedded:
    if not text.strip():
        return Embedded(vectors=[None])
    embedded = await engine.embed_query(text, scopes)
    (vector,) = embedded.vectors
    nothing = vector is not None and says_nothing(vector)
    return replace(embedded, vectors=[None]) if nothing else embedded


def _arms(text: str, vector: Vector | None, embedded: Embedded) -> list[str]:
    """Which arms ran; said in every answer."""
    if not text.strip():
        return ["no query text: newest first"]
    if vector is not None:
        return [f"arms: keyword, vector ({embedded.space})"]
    if embedded.trouble:
        return ["arms: keyword", f"degraded: no vector search, {embedded.trouble}"]
    return ["arms: keyword (the query has no meaning to embed)"]


async def _single_questions(
    engine: Engine, query: Search, asked: Asked, scopes: Sequence[str]
) -> list[tuple[Search, Asked]]:
    """Several questions in one text, each by itself, so that none drowns the others."""
    found = []
    for text in parts(query.text, engine.profile.questions_max):
        embedded = await _query_vector(engine, text, scopes) if query.vector else None
        vector = embedded.vectors[0] if embedded and embedded.space == query.space else None
        found.append((replace(query, text=text, vector=vector), replace(asked, text=text)))
    return found


async def _ranked_in(
    store: Store,
    questions: Sequence[tuple[Search, Asked]],
    root: str,
    notes: list[str],
    *,
    shown: bool,
) -> list[Candidate]:
    """The best of all questions, in order. Who found them is noted, if it was the engine itself."""
    query, asked = questions[0]
    hits = [await hits_of(store, one, root) for one, _ in questions]
    if not shown and not query.text and _are_plain(hits[0], query.where):
        return []
    if NATIVE not in notes and any(isinstance(one, NativeHits) for one in hits):
        notes.append(NATIVE)
    each = zip(hits, questions, strict=True)
    ranked = of_equal_say([await _ranked_by(found, about) for found, (_, about) in each])
    along = await _brought_along(store, query, root, ranked, asked)
    joined = _joined([*ranked, *along]) if along or len(questions) > 1 else ranked
    hidden = await spoken_over(store, query.where, root, [one.glance for one in joined])
    seen = [one for one in joined if one.glance.id not in hidden] if hidden else joined
    # Once more, for what came along; and where facts are preferred, for what that made room for.
    again = joined is not ranked or asked.prefer_facts
    if again and "one_per_source" in asked.profile.stages:
        seen = one_per_source(seen, asked)
    return sorted(seen, key=order) if again else seen


def _are_plain(newest: Sequence[Hit], where: Where) -> bool:
    """Whatever their order, is there nothing to say of them? None is of a page or a tool, none of
    a scope that others speak over, and all of them fit into one answer."""
    records = [hit.record for hit in newest]
    return (
        not (where.descend or len(where.scopes) > 1)
        and {one.scope for one in records}.issubset(where.scopes)
        and not any(outside(records))
        and sum(map(_weight, records)) <= ANSWER_BYTES_MAX
    )


async def _ranked_by(found: Sequence[Hit], about: Asked) -> list[Candidate]:
    """Long questions, and very many answers, are read beside the loop."""
    length = len(about.text) + HIT_CHARACTERS * len(found)
    return await beside(length, partial(rank, found, about))


def _joined(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Each record once, with its best score."""
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        known = best.get(candidate.glance.id)
        if known is None or known.score < candidate.score:
            best[candidate.glance.id] = candidate
    return list(best.values())


async def hits_of(store: Store, query: Search, root: str) -> Sequence[Hit]:
    """Without words and meaning: the newest. What begins nobody knows when is not said of a time
    before it was told, and what was not believed at ``known_at`` not of our books then."""
    hits: Sequence[Hit]
    if query.text or query.vector is not None:
        hits = await store.search(query)
    else:
        newest = Listing(where=query.where, limit=query.limit)
        hits = [Hit(record=record) for record in await store.listing(newest)]
    if query.where.as_of is None and query.where.known_at is None:
        return hits
    left_out = await untold(store, query.where, root, FoundHits.of(hits).records)
    if not left_out:
        return hits  # as it came: it may say that the engine itself searched
    told = [hit for hit in hits if hit.record.id not in left_out]
    return NativeHits(told) if isinstance(hits, NativeHits) else told


async def untold(
    store: Store, where: Where, root: str, records: Sequence[Record]
) -> frozenset[str]:
    """Which of these that pass the four times are not told of another moment all the same."""
    if where.as_of is not None:
        return frozenset(one.id for one in records if not holds_at(one, where.as_of))
    left_out: set[str] = set()
    if where.known_at is not None and where.statuses:
        for record in records:
            if await _status_at(store, root, record, where.known_at) not in where.statuses:
                left_out.add(record.id)
    return frozenset(left_out)


async def _status_at(store: Store, root: str, record: Record, moment: datetime) -> str:
    """What it was before the first change after that moment; the four times know one time of
    being believed, and a record may have been retired and brought back."""
    if record.version <= 1:
        return record.status  # as it was born
    after = 0
    while entries := await store.journal(root, touching=record.id, after=after, limit=PAGE):
        for entry in entries:
            for touch in entry.touched if entry.at > moment else ():
                if touch.id == record.id and "status" in (touch.before or {}):
                    return str((touch.before or {})["status"])
        after = entries[-1].seq
    return record.status


async def spoken_over(
    store: Store, where: Where, root: str, records: Sequence[Record | Glance]
) -> frozenset[str]:
    """Which of these are replaced, for this query, by a record of a scope below theirs: a scope
    cannot retire what its parents say, only speak over it. Whoever asks for history sees them;
    whoever asks what was known then, what was spoken over then."""
    history = where.as_of or not {*where.statuses} <= {"active", "disputed"}
    mixed = where.descend or len(where.scopes) > 1
    here = not mixed and {one.scope for one in records}.issubset(where.scopes)
    if here or history or not where.statuses or not records:  # mostly nobody is above
        return frozenset()
    above = {one.id: one.scope for one in records if mixed or one.scope not in where.scopes}
    edges = [
        edge
        for edge in await store.relations(root, tuple(above))
        if edge.kind == "supersedes"
        and _held(edge, where.known_at)
        and edge.scope != above.get(edge.target, edge.scope)
        and is_within(edge.scope, above[edge.target])
        # Who asks from above is not spoken over from below.
        and any(is_within(scope, edge.scope) for scope in where.scopes)
    ]
    if not edges:
        return frozenset()
    seen = Where(scopes=where.scopes, now=where.now, descend=where.descend, known_at=where.known_at)
    sources = await store.records(root, [edge.source for edge in edges], now=where.now)
    live = [record for record in sources if passes(record, seen)]
    speaking = {one.id for one in live} - await untold(store, seen, root, live)
    return frozenset(edge.target for edge in edges if edge.source in speaking)


def _held(edge: Relation, known_at: datetime | None) -> bool:
    """Was the edge there, at that moment or now?"""
    if known_at is None:
        return edge.retired_at is None
    return edge.learned_at <= known_at and (edge.retired_at is None or edge.retired_at > known_at)


async def _brought_along(
    store: Store, query: Search, root: str, ranked: list[Candidate], asked: Asked
) -> list[Candidate]:
    """Records that the best hits are related to. Both ends must be visible and pass the
    filters; a retired edge leads nowhere."""
    sources = {candidate.glance.id: candidate for candidate in ranked[:EXPANDED_HITS]}
    if not sources or not query.text:
        return []
    books = query.where.known_at or query.where.now
    leads: dict[str, tuple[Candidate, str]] = {}
    for edge in await store.relations(root, tuple(sources)):
        over = edge.retired_at is not None and edge.retired_at <= books
        if over or (query.where.known_at and edge.learned_at > query.where.known_at):
            continue
        for near, far in ((edge.source, edge.target), (edge.target, edge.source)):
            if near in sources and far not in leads:
                leads[far] = (sources[near], edge.kind)
    ids = tuple(leads)[:EXPANDED_RECORDS_MAX]
    if not ids:
        return []
    there = await store.records(root, ids, now=query.where.now)
    found = [record for record in there if passes(record, query.where)]
    left_out = await untold(store, query.where, root, found)
    return [
        replacing(record, leads[record.id][0])
        if _says_otherwise_now(record, *leads[record.id], query)
        else related(record, *leads[record.id], asked)
        for record in found
        if record.id not in left_out
    ]


def _says_otherwise_now(record: Record, turn: Candidate, kind: str, query: Search) -> bool:
    """Does it replace what the turn said? Whoever asks about the past wants the turn itself."""
    past = query.where.as_of is not None or query.where.known_at is not None
    return kind == "supersedes" and turn.record.type == "turn" != record.type and not past


async def _reranked(
    engine: Engine, question: Question, candidates: list[Candidate], limit: int
) -> tuple[list[Candidate], str, Usage]:
    """What a model chose among twice as many candidates as are wanted; as they were, and why,
    if no model can be asked. Nothing of a scope that opted out is shown to one."""
    fast = not engine.profile.rerank if question.fast is None else question.fast
    limit = question.choose or limit
    if fast or len(candidates) <= limit or not question.text.strip():
        return candidates, "", Usage()
    if engine.models is None or engine.models.model_for("rerank") is None:
        return candidates, "not reranked: no model is configured", Usage()
    pool, _ = placed(candidates, 2 * limit)
    shown = {one.record.id for one in pool}
    rest = [one for one in candidates if one.record.id not in shown]
    scopes = dict.fromkeys(candidate.record.scope for candidate in pool)
    authors = {candidate.record.author for candidate in pool}
    if not all([await engine.persists(scope, authors) for scope in scopes]):
        return candidates, "not reranked: a scope opted out of being shown to a model", Usage()
    try:
        prompt = rerank_prompt(question.text, pool, limit)
        reply = await engine.models.ask(prompt, scope=next(iter(scopes)), authors=authors)
    except (Unavailable, Invalid) as error:
        spent = error.usage if isinstance(error, AnswerError) else Usage()
        return candidates, f"degraded: not reranked, {error}", spent
    model = engine.models.model_for("rerank")
    name = model.name if model else ""
    if not reply.data["best"]:  # as it was told to answer then
        return [], f"reranked by {name}: nothing that was found helps", reply.usage
    return [*reordered(pool, reply.data["best"], name), *rest], f"reranked by {name}", reply.usage


def _count_uses(engine: Engine, kept: Iterable[Candidate]) -> None:
    """Buffered: a search must not wait for a write."""
    records = [hit.record for hit in kept]
    roots = {scope: root_of(scope) for scope in {one.scope for one in records}}
    engine.used.update([(roots[one.scope], one.id) for one in records])
    if len(engine.used) > USED_BUFFER_MAX:
        engine.used.clear()


def _dropped(best: list[Candidate], kept: list[Candidate]) -> list[str]:
    there = {candidate.record.id for candidate in kept}
    missed = [candidate for candidate in best if candidate.glance.id not in there]
    return [
        f"not returned: {hit.record.id} (score {hit.score:.3f}; "
        + ", ".join(map(str, hit.why))
        + ")"
        for hit in [candidate.as_hit() for candidate in missed[:10]]
    ]
