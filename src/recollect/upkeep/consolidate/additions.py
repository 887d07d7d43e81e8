"""What a run adds: profiles of scopes, and the choice of the stable block."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

from recollect.errors import Conflict, Invalid, Unavailable
from recollect.forgotten.tombstones import buried, key_of, text_mark
from recollect.models.calls import sum_of
from recollect.models.prompts import profile as profile_prompt
from recollect.text.compare import text_hash
from recollect.types import Item, Query, Record, Relation, Status, Usage
from recollect.upkeep.consolidate.portraits import Portrait, extract, grounded, portrait
from recollect.upkeep.consolidate.run import REASON, ConsolidationRun, still_there
from recollect.upkeep.consolidate.stable import chosen_block
from recollect.upkeep.consolidate.steps import Step
from recollect.upkeep.consolidate.survey import RootSurvey

PROFILES_PER_RUN = 50
FACTS_LOOKED_AT = 100
TAG = "profile"
IMPORTANCE = 0.3  # less than that of the facts it repeats
STABLE = "stable"
EVERY_STATUS: tuple[Status, ...] = get_args(Status)


async def add_profiles(run: ConsolidationRun, surveyed: RootSurvey, going: frozenset[str]) -> None:
    """A profile for each scope that has enough facts, made anew when they changed; ``going``
    are the ids that this run retires."""
    facts_min = run.engine.profile.profile_facts_min
    rich = sorted(scope for scope, facts in surveyed.facts.items() if facts >= facts_min)
    for scope in rich[:PROFILES_PER_RUN]:
        hits = await run.engine.store.search(
            Query(
                scopes=(scope,),
                now=run.started,
                exact=True,
                kinds=("semantic",),
                statuses=("active",),
                order="important",
                limit=FACTS_LOOKED_AT,
            )
        )
        facts = [hit.record for hit in hits if hit.record.id not in going]
        drawn = portrait(scope, facts, facts_min)
        if drawn is not None and await run.engine.persists(scope, {fact.author for fact in facts}):
            await _add_profile(run, drawn)


async def _add_profile(run: ConsolidationRun, drawn: Portrait) -> None:
    before = await _newest_profile(run, drawn.scope)
    if before is not None and before.data.get("facts") == drawn.fingerprint:
        return
    text = await _written(run, drawn)
    if await is_buried(run, drawn.scope, text, max(fact.learned_at for fact in drawn.facts)):
        return
    record = _record(run, drawn, text, before)
    step = Step(what="profile", id=record.id, text=text, because=f"of {len(drawn.facts)} facts")
    if run.dry:
        run.tell(step)
        return
    live = before is not None and before.status in ("active", "disputed")
    old = (replace(before, status="superseded", retired_at=run.started),) if before and live else ()
    edges = tuple(
        Relation(
            scope=record.scope,
            source=record.id,
            target=gone.id,
            kind="supersedes",
            learned_at=run.started,
        )
        for gone in old
    )
    await _commit(run, step, records=(*old, record), relations=(*edges, *still_there(record)))


async def _commit(run: ConsolidationRun, step: Step, **parts: Any) -> None:
    engine = run.engine
    await run.keep_lease()
    vectors, space, _ = await engine.embed_for_writing(parts["records"][-1:])
    batch = engine.batch(
        run.root, REASON, actor=run.actor, change=run.change, vectors=vectors, space=space, **parts
    )
    try:
        await engine.commit(engine.store, batch)
    except (Conflict, Invalid):
        run.tell(step, skipped="somebody else has just written it, or changed what it is made of")
        return
    run.wrote = True
    run.tell(step)


async def _newest_profile(run: ConsolidationRun, scope: str) -> Record | None:
    hits = await run.engine.store.search(
        Query(
            scopes=(scope,),
            now=run.started,
            exact=True,
            types=("summary",),
            tags=(TAG,),
            statuses=EVERY_STATUS,
            limit=FACTS_LOOKED_AT,
        )
    )
    ours = [hit.record for hit in hits if isinstance(hit.record.data.get("facts"), str)]
    return max(ours, key=_version, default=None)


def _version(record: Record) -> int:
    version = record.data.get("version")
    return version if isinstance(version, int) else 0


async def _written(run: ConsolidationRun, drawn: Portrait) -> str:
    """By a model, if there is one and it keeps to the facts; else an extract."""
    engine, tokens = run.engine, run.engine.profile.profile_tokens
    plain = extract(drawn, tokens, engine.counter.count)
    if run.dry or engine.models is None or engine.models.model_for("consolidate") is None:
        return plain
    prompt = profile_prompt(
        title=drawn.title, facts="\n".join(f"- {fact.text}" for fact in drawn.facts), tokens=tokens
    )
    try:
        authors = {fact.author for fact in drawn.facts if fact.author}
        reply = await engine.models.ask(prompt, scope=drawn.scope, authors=authors)
    except (Unavailable, Invalid) as error:
        run.usage = sum_of(run.usage, getattr(error, "usage", Usage()))
        run.notes.append(f"the profile of {drawn.scope} is an extract: {error}")
        return plain
    run.usage = sum_of(run.usage, reply.usage)
    text = engine.redactor.redact(str(reply.data["profile"]).strip()).text
    wrong = grounded(text, drawn) if text else "it is empty"
    if wrong:
        run.notes.append(f"the profile of {drawn.scope} is an extract: the model's had {wrong}")
        return plain
    return text


async def is_buried(run: ConsolidationRun, scope: str, text: str, since: datetime) -> bool:
    """Was this text forgotten, and nothing it is made of said after ``since``?"""
    key = await key_of(run.engine, run.root)
    if not key:
        return False
    mark = text_mark(key, scope, text_hash(text))
    stone = (await buried(run.engine, run.root, [mark])).get(mark)
    if stone is None:
        return False
    try:
        return since <= datetime.fromisoformat(stone.value)
    except (TypeError, ValueError):
        return True


def _record(run: ConsolidationRun, drawn: Portrait, text: str, before: Record | None) -> Record:
    """A summary among the episodes, as old as its oldest fact: it is found by who asks, and
    pushes no recent episode out of a packet."""
    version = _version(before) + 1 if before else 1
    name = "\0".join((TAG, drawn.scope, str(version), drawn.fingerprint))
    return Record(
        id=hashlib.blake2b(name.encode(), digest_size=16).hexdigest(),
        scope=drawn.scope,
        kind="episodic",
        type="summary",
        text=text,
        learned_at=run.started,
        data={"facts": drawn.fingerprint, "version": version},
        tags=(TAG,),
        importance=IMPORTANCE,
        confidence=min(fact.confidence for fact in drawn.facts),
        source="assistant",
        trust=min(2, *(fact.trust for fact in drawn.facts)),
        valid_from=min(fact.at for fact in drawn.facts),
        derived_from=tuple(fact.id for fact in drawn.facts),
        hash=text_hash(f"{TAG}\n{drawn.scope}"),  # one live profile a scope
    )


async def choose_stable(run: ConsolidationRun, surveyed: RootSurvey) -> None:
    """Remember which core memories open a packet, where there are more than fit."""
    most = run.engine.profile.preseeded
    for scope in sorted(scope for scope, core in surveyed.core.items() if most and core > most):
        hits = await run.engine.store.search(
            Query(
                scopes=(scope,),
                now=run.started,
                exact=True,
                kinds=("semantic",),
                durabilities=("core",),
                statuses=("active",),
                order="important",
                limit=2 * most,
            )
        )
        known = await run.engine.store.items(
            run.root, STABLE, now=run.started, scopes=(scope,), keys=(STABLE,)
        )
        before: Sequence[str] = known[0].value if known else ()
        chosen = chosen_block((hit.record for hit in hits), before, most)
        if chosen != list(before) and not run.dry:
            await _choose(run, scope, chosen, known[0].version if known else 0)


async def _choose(run: ConsolidationRun, scope: str, chosen: list[str], version: int) -> None:
    item = Item(scope=scope, namespace=STABLE, key=STABLE, value=chosen, version=version)
    batch = run.engine.batch(run.root, REASON, actor=run.actor, change=run.change, items=(item,))
    try:
        await run.engine.commit(run.engine.store, batch)
    except Conflict:
        return
    run.wrote = True
