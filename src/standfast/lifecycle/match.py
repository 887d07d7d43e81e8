"""A new record and what is known: who is near, what a judge says of each, what is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from standfast.engine import Engine
from standfast.errors import Unavailable
from standfast.index.vectors import says_nothing
from standfast.lifecycle.safety import (
    NEEDS_REVIEW,
    denies_other,
    is_personal,
    is_protected,
    may_change,
    may_end,
    outweighs,
    share_slot,
    with_safety_note,
)
from standfast.lifecycle.settlement import Outcome, Verdict, repeated, settle, verdict_of
from standfast.ports import Store
from standfast.scopes import is_within, root_of
from standfast.text.analysis import words
from standfast.text.claim import CHANGED_BY, SAID, SUBJECT
from standfast.text.compare.names import holds_names, other_names, other_thing
from standfast.text.messages import turn_id
from standfast.text.normal import caseless
from standfast.text.words import word_set
from standfast.types import LIVE, Find, Record, Search, Vector, Where
from standfast.types.frozen import frozen
from standfast.understanding.judging.decisions import (
    Action,
    Order,
    Pairing,
    Subject,
    decide_all,
)
from standfast.understanding.judging.judge import (
    CERTAIN,
    PAIRS_MAX,
    ChangeJudge,
    GivenJudge,
    JudgedStatement,
    Judgment,
    Thresholds,
)

WORDS_FROM_MAX = 2000  # characters of a text, when it is looked for by its words
COPIES_MAX = 1000
BY_MEANING = 6  # of those that a judge is asked about; the others share its words
OWN = frozenset(("me", "we"))
SAYS_ON = frozenset(("same", "refines", "unrelated"))  # relations that end nothing
NEAR_ABOVE = {"recall-2/384": 0.11}  # cosines below which nothing is near; of other spaces 0.2


@frozen(kw_only=False)
class Known:
    """A record that is near the new one. ``similarity``: their cosine; None: not compared."""

    record: Record
    similarity: float | None = None


async def meet(
    engine: Engine,
    store: Store,
    record: Record,
    vector: Vector | None,
    space: str,
    *,
    pending: Sequence[Record] = (),
    near: Mapping[str, float] = MappingProxyType({}),
    before: str = "",
    said: str = "",
    judge: ChangeJudge | None = None,
) -> Outcome:
    """Compare, judge and settle: what to commit for this record, and what to say about it.
    ``pending`` are records that the same commit will write or change; ``near``, how similar each of
    them is. ``said`` and ``before``: the whole message and the line that it answers. ``judge``:
    where a language model has judged already."""
    known = await _known(engine, store, record, vector, space, pending=pending, near=near)
    told = JudgedStatement(key=record.id, text=said or said_in(record), before=before)
    matcher = _Matcher(engine, judge or engine.change_judge, record, told)
    verdict = verdict_of(await matcher.decisions(known))
    if confirmed := _confirmed(record, verdict):
        others = [one for one in known if one.record.id != confirmed.id]
        again = verdict_of(await matcher.decisions(others))
        held = confirmed.status != "disputed"
        # Said again, what is disputed already is disputed as before, not known twice.
        if again.kind not in ("new", "duplicate") and (held or again.kind != "contradicts"):
            record = confirmed if held else record
            verdict = again if held else replace(again, targets=(confirmed, *again.targets))
    if verdict.target is not None and verdict.kind == "duplicate":
        same = verdict.target.hash == record.hash
        reason = "the same text is known" if same else "says the same as a known one"
        verdict = replace(verdict, reason=reason)
    if any(one.id in verdict.kept and is_protected(one) for one in verdict.targets):
        verdict = replace(verdict, reason=NEEDS_REVIEW)
    return await _settled(engine, store, with_safety_note(record, verdict), verdict, pending)


async def _settled(
    engine: Engine, store: Store, record: Record, verdict: Verdict, pending: Sequence[Record]
) -> Outcome:
    alike: list[Record] = []
    if verdict.targets and verdict.kind != "outdated":
        alike = await copies_of(engine, store, record, verdict.targets, pending=pending)
    turns: list[Record] = []
    if verdict.kind in ("supersedes", "ends"):
        turns = await turns_of(engine, store, record, verdict.targets)
    return settle(
        record, verdict, now=engine.now(), new_id=engine.new_id, copies=alike, turns=turns
    )


def _confirmed(record: Record, verdict: Verdict) -> Record | None:
    """The known record that is held back or disputed no longer because of what was said now."""
    known = verdict.target
    if verdict.kind != "duplicate" or known is None or known.scope != record.scope:
        return None
    if known.status not in ("quarantined", "disputed"):
        return None
    after = replace(repeated(known, record), valid_from=record.at)
    return after if after.status != "quarantined" else None


async def opponents(
    engine: Engine,
    store: Store,
    record: Record,
    pending: Sequence[Record] = (),
    *,
    but: Container[str] = (),
) -> list[Record]:
    """The live records of its scope that a record, which is believed again, cannot be true with,
    but for some; nobody is asked where no judge runs."""
    found = [one.record for one in await _known(engine, store, record, None, "", pending=pending)]
    here = [Known(one) for one in found if one.scope == record.scope and one.id not in but]
    matcher = _Matcher(engine, engine.change_judge, record, JudgedStatement(text=said_in(record)))
    return [
        one
        for one, action in await matcher.decisions(here)
        if action not in ("keep", "merge", "enrich")
    ]


async def same_as(engine: Engine, record: Record, near: Sequence[Known]) -> list[Record]:
    """Those of some near records that say what a record says."""
    matcher = _Matcher(engine, engine.change_judge, record, JudgedStatement(text=said_in(record)))
    return [one for one, action in await matcher.decisions(near) if action == "merge"]


async def disputed_again(
    engine: Engine,
    store: Store,
    record: Record,
    *,
    pending: Sequence[Record],
    counts: Callable[[Record], Awaitable[bool]] | None = None,
    but: Container[str] = (),
) -> Outcome | None:
    """For a record that is believed again after it was not: what to write if something that is
    known in its scope by now, ``but`` for some, speaks against it. Both are disputed then, for a
    person to decide. ``counts``: whether somebody's word against it does."""
    if record.status not in LIVE or record.kind != "semantic":
        return None
    against = await opponents(engine, store, record, pending, but=but)
    if counts is not None:
        against = [one for one in against if await counts(one)]
    if not against:
        return None
    verdict = Verdict(
        kind="contradicts",
        targets=tuple(against),
        reason="both are believed",
        stands=all(outweighs(record, one) for one in against),
        kept=frozenset(one.id for one in against if outweighs(one, record)),
    )
    return settle(record, verdict, now=engine.now(), new_id=engine.new_id)


# Judging


class _Matcher:
    """Holds one record against those that are known."""

    def __init__(
        self, engine: Engine, judge: ChangeJudge | None, record: Record, said: JudgedStatement
    ) -> None:
        self._engine, self._judge, self._record, self._said = engine, judge, record, said
        self._personal = is_personal(engine, record)

    async def decisions(self, known: Sequence[Known]) -> list[tuple[Record, Action]]:
        """Each known record with what is to be done about it."""
        judged, thresholds = await self._judged([one for one in known if self._is_asked(one)])
        pairings = [self._pairing(one, judged.get(one.record.id)) for one in known]
        actions = decide_all(pairings, thresholds or CERTAIN)
        decided = zip((one.record for one in known), actions, strict=True)
        return [(one, action) for one, action in decided if one.status in LIVE]

    def _is_asked(self, one: Known) -> bool:
        record, known = self._record, one.record
        return (
            self._is_compared(known)
            and subject_of(record, known) != "other"
            and not other_thing(said_in(record), said_in(known))
        )

    def _is_compared(self, known: Record) -> bool:
        record = self._record
        return (
            record.kind == known.kind == "semantic"
            and record.id != known.id
            and record.hash != known.hash
            and "quarantined" not in (record.status, known.status)
            and (record.type == "user_request") == (known.type == "user_request")
            and (self._reads_again(known) or set(record.lineage).isdisjoint(known.lineage))
            and _share_time(record, known)
        )

    def _reads_again(self, known: Record) -> bool:
        """Whether a language model says it of the very words that the known one is from."""
        told = self._judge.said if isinstance(self._judge, GivenJudge) else {}
        return known.id in told and not set(self._record.lineage).isdisjoint(known.lineage)

    async def _judged(
        self, asked: Sequence[Known]
    ) -> tuple[dict[str, tuple[Judgment, bool]], Thresholds | None]:
        """By id, the judgment and whether the new one entails the known one."""
        if self._judge is None or not asked:
            return {}, None
        by_meaning = sorted(asked, key=lambda one: -(one.similarity or 0.0))
        first, rest = by_meaning[:BY_MEANING], by_meaning[BY_MEANING:]
        by_words = [one for one in rest if one.similarity is None]
        nearest = list({one.record.id: one for one in (*first, *by_words, *rest)}.values())
        try:
            return await self._by(self._judge, [one.record for one in nearest[:PAIRS_MAX]])
        except Unavailable:
            return {}, None  # its ``trouble`` says so

    async def _by(
        self, judge: ChangeJudge, known: Sequence[Record]
    ) -> tuple[dict[str, tuple[Judgment, bool]], Thresholds]:
        earlier = [one for one in known if order_of(self._record, one) != "earlier"]
        found = await judge.judge(self._said, [_statement(one, self._record) for one in earlier])
        judged = dict(zip((one.id for one in earlier), found, strict=True))
        for one in known:
            if one.id not in judged:  # of two statements the later one does something to the other
                (judged[one.id],) = await judge.judge(_statement(one, self._record), [self._said])
        return {
            one.id: (judged[one.id], await self._entails(judge, one, judged[one.id]))
            for one in known
        }, await judge.thresholds()

    async def _entails(self, judge: ChangeJudge, known: Record, judgment: Judgment) -> bool:
        """Who says all of the known statement and more need not be told it again."""
        if judgment.relation != "refines" or not holds_names(self._record.text, known.text):
            return False
        new = JudgedStatement(text=self._record.text, key=self._record.id)
        (back,) = await judge.judge(_statement(known, self._record), [new])
        return back.relation == "same"

    def _pairing(self, one: Known, judged: tuple[Judgment, bool] | None) -> Pairing:
        record, known = self._record, one.record
        judgment, entails = judged or (None, False)
        if self._is_compared(known) and denies_other(record, known):
            judgment = Judgment("ends")
        elif judgment and judgment.relation not in SAYS_ON and not may_change(record, known):
            judgment = Judgment("unrelated")
        above = self._engine.profile.duplicate_above
        # Without a word of a safety slot nothing touches what was said of it.
        untouched = is_protected(known) and not share_slot(record, known)
        free = may_end(record, known, personal=self._personal)
        return Pairing(
            judgment=judgment,
            equal=known.status in LIVE
            and bool(record.hash)
            and record.hash == known.hash
            and record.id != known.id,
            near=one.similarity is not None and one.similarity > above,
            subject="other" if untouched else subject_of(record, known),
            same_speaker=record.author == known.author or (free and is_protected(known)),
            trust=record.trust - known.trust,
            order="later" if self._reads_again(known) else order_of(record, known),
            other_names=bool(other_names(said_in(record), said_in(known))),
            entails=entails,
            guarded=not free,
        )


def said_in(record: Record) -> str:
    """The words of a record as they were said, as far as that is known; what somebody else put
    into its data is not."""
    said = record.data.get(SAID) if record.session and record.lineage else ""
    return said if isinstance(said, str) and said else record.text


def _statement(record: Record, other: Record) -> JudgedStatement:
    """ "I" of two people is not one: who is somebody else is named."""
    text = said_in(record) if record.author == other.author else record.text
    return JudgedStatement(text=text, key=record.id)


def _about(record: Record) -> str:
    about = record.data.get(SUBJECT)
    return about if isinstance(about, str) else ""


def subject_of(record: Record, known: Record) -> Subject:
    """Whether two records are about one subject, as far as that is closed: the same words, one
    speaker, two names. Everything else is for the judge."""
    new, old = _about(record), _about(known)
    same_speaker = record.author == known.author
    if new in OWN and old in OWN:
        if not same_speaker:
            return "other"
        return "same" if new == old else "unclear"
    if not same_speaker and _is_own(record, new) and _is_own(known, old):
        return "other"
    if not new or not old:
        return "unclear"
    ours, theirs = ({*words(one)} for one in (new, old))
    if ours <= theirs or theirs <= ours:  # "my sister Ines" is Ines
        return "same" if same_speaker else "unclear"
    if not (_is_name(new) and _is_name(old)):
        return "unclear"
    mentioned = caseless(new) in caseless(known.text) or caseless(old) in caseless(record.text)
    return "unclear" if mentioned else "other"


def _is_own(record: Record, about: str) -> bool:
    return about in OWN or not word_set("compare.first_person").isdisjoint(words(record.text))


def _is_name(about: str) -> bool:
    return about not in OWN and all(one[:1].isupper() for one in about.split())


def order_of(record: Record, known: Record) -> Order:
    """Of which of two nobody said since when it is true, the one that was told later is not
    sure to be of an earlier time."""
    new, old = _begun(record), known.at
    if new > old:
        return "later"
    dated = record.valid_from is not None and known.valid_from is not None
    return "earlier" if new < old and dated else "none"


def _begun(record: Record) -> datetime:
    """When what the record tells had surely begun."""
    told = record.data.get(CHANGED_BY)
    try:
        moment = datetime.fromisoformat(told) if isinstance(told, str) else None
    except ValueError:
        moment = None
    return max(record.at, moment) if moment and moment.tzinfo else record.at


def _share_time(record: Record, known: Record) -> bool:
    """Is there a time at which both are said to be true, and has it begun?"""
    if max(record.at, known.at) > max(record.learned_at, known.learned_at):
        return False
    ends = [
        one.valid_to is not None
        and other.valid_from is not None
        and other.valid_from >= one.valid_to
        for one, other in ((record, known), (known, record))
    ]
    return not any(ends)


# Looking for what is near


async def _known(
    engine: Engine,
    store: Store,
    record: Record,
    vector: Vector | None,
    space: str,
    *,
    pending: Sequence[Record],
    near: Mapping[str, float] = MappingProxyType({}),
) -> list[Known]:
    """The live records that the new one may be about, in its own scope and those above it. Those
    of ``pending`` count as they will be."""
    found: dict[str, Known] = {}
    for query in _queries(engine, record, vector, space):
        if isinstance(query, Search):
            hits = [Known(hit.record, hit.similarity) for hit in await store.search(query)]
        else:
            hits = [Known(one) for one in await store.find(query)]
        found |= {one.record.id: one for one in hits if one.record.id not in found}
    told_before = any(_is_of_message(one, record) for one in pending)
    for one in pending:
        earlier = found.pop(one.id, Known(one, near.get(one.id)))
        # What the same message retires, it has changed: no other change is looked for then.
        counts = one.status in LIVE or (one.version and told_before)
        if counts and is_within(record.scope, one.scope) and one.id != record.id:
            found[one.id] = replace(earlier, record=one)
    return [one for one in found.values() if one.record.type != "turn"]


def _is_of_message(one: Record, record: Record) -> bool:
    """Whether another statement of the same message is known already."""
    is_statement = one.kind == "semantic" and one.status in LIVE and one.id != record.id
    return is_statement and not set(one.lineage).isdisjoint(record.lineage)


def _queries(
    engine: Engine, record: Record, vector: Vector | None, space: str
) -> Iterator[Search | Find]:
    live = Where(scopes=(record.scope,), now=engine.now(), statuses=LIVE)
    if record.hash:
        yield Find(where=live, hashes=(record.hash,), limit=PAIRS_MAX)
    if record.kind != "semantic":
        return
    alike = Search(where=replace(live, kinds=(record.kind,)), limit=PAIRS_MAX)
    if vector is not None and not says_nothing(vector):
        least = NEAR_ABOVE.get(space, 0.2)
        yield replace(alike, vector=vector, space=space, similar_above=least)
    yield replace(alike, text=record.text[:WORDS_FROM_MAX])


async def live_equal(store: Store, scope: str, hash_: str, now: datetime) -> Record | None:
    """The live record of this very scope whose text has that hash: there is one at most."""
    query = Find(
        where=Where(scopes=(scope,), now=now, exact=True, statuses=LIVE), hashes=(hash_,), limit=1
    )
    found = await store.find(query) if hash_ else []
    return found[0] if found else None


async def turns_of(
    engine: Engine, store: Store, record: Record, targets: Sequence[Record]
) -> list[Record]:
    """The turns in which the targets were said, each by itself: what replaces a fact replaces
    the words it was learned from too, where they are this scope's to speak about."""
    ids = [
        turn_id(*target.session_key, target.lineage[0])
        for target in targets
        if target.session and len(target.lineage) == 1
    ]
    found = await store.records(root_of(record.scope), ids, now=engine.now()) if ids else []
    return [turn for turn in found if turn.type == "turn" and is_within(turn.scope, record.scope)]


async def copies_of(
    engine: Engine,
    store: Store,
    record: Record,
    targets: Sequence[Record],
    *,
    pending: Sequence[Record] = (),
) -> list[Record]:
    """The live copies of some records in the scope of ``record`` and below it, so that one
    commit treats them alike. Siblings are not visible from here and stay."""
    query = Find(
        where=Where(scopes=(record.scope,), now=engine.now(), descend=True, statuses=LIVE),
        origins=tuple({target.origin or target.id for target in targets}),
        limit=COPIES_MAX,
    )
    found = {one.id: one for one in await store.find(query)}
    found |= {one.id: one for one in pending if one.id in found or one.origin in query.origins}
    named = {target.id for target in targets}
    return [one for one in found.values() if one.id not in named and one.status in LIVE]
