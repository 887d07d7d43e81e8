"""The episode of a session that is over: an extract at once, a model's words when they come."""

from __future__ import annotations

from dataclasses import replace

from recollect.engine import Engine
from recollect.lifecycle.merge import Outcome
from recollect.types import Query, Record, Relation
from recollect.upkeep.learn.drafts import LearnDraft
from recollect.upkeep.learn.grounds import ground_of, ungrounded
from recollect.upkeep.learn.values import Turns

LOOKED_AT = 5


async def extract_of(engine: Engine, turns: Turns) -> Record | None:
    """The episode that ``end`` kept, if these turns are the last ones and it is an extract."""
    if not turns.closes:
        return None
    query = Query(
        scopes=(turns.session.scope,),
        now=engine.now(),
        exact=True,
        types=("episode",),
        session=turns.session.id,
        order="recent",
        limit=LOOKED_AT,
    )
    found = [hit.record for hit in await turns.store.search(query)]
    extracts = [record for record in found if record.data.get("how") == "extract"]
    return max(extracts, key=lambda record: (record.learned_at, record.id), default=None)


def improve(draft: LearnDraft, old: Record, text: str) -> None:
    """The model's episode takes the place of the extract, with the same sources and the same
    end, if it says nothing that neither the extract nor the messages say."""
    engine = draft.engine
    reason = ungrounded(text, ground_of(draft.turns.messages, [old.text]))
    if reason:
        refused = Outcome(status="skipped", id=old.id, reason=f"the extract stays: {reason}")
        draft.say(old.id, refused, "")
        return
    now = engine.now()
    better = replace(
        old,
        id=engine.new_id(),
        text=text,
        data={**old.data, "how": "model"},
        learned_at=now,
        uses=0,
        used_at=None,
        version=0,
    )
    edge = Relation(
        scope=better.scope,
        source=better.id,
        target=old.id,
        kind="supersedes",
        learned_at=now,
        lineage=better.lineage,
    )
    retired = replace(old, status="superseded", retired_at=now)
    outcome = Outcome(
        status="stored",
        id=better.id,
        reason=f"the episode of the session, instead of the extract {old.id}",
        records=(retired, better),
        relations=(edge,),
    )
    draft.add(outcome)
    draft.say(better.id, outcome, "")
