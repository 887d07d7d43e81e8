"""Steps into commits: bounded, all of one change, each checked against what is there now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.errors import Conflict
from recollect.types import Record
from recollect.upkeep.consolidate.rows import Draft
from recollect.upkeep.consolidate.run import REASON, ConsolidationRun
from recollect.upkeep.consolidate.steps import Step

STEPS_PER_COMMIT = 50  # a step writes two records at most


async def apply_steps(run: ConsolidationRun, steps: Sequence[Step]) -> None:
    """Do them. One that somebody was faster with is skipped, and said so."""
    expected: dict[str, int] = {}  # versions that our own commits have made
    for start in range(0, len(steps), STEPS_PER_COMMIT):
        await run.keep_lease()
        part = steps[start : start + STEPS_PER_COMMIT]
        if not await _applied(run, part, expected):
            for step in part:
                if not await _applied(run, [step], expected):
                    run.tell(step, skipped="it was changed meanwhile")


async def _applied(run: ConsolidationRun, steps: Sequence[Step], expected: dict[str, int]) -> bool:
    """False: a conflict, nothing was written."""
    draft = await _draft(run, steps)
    told = [(step, draft.add(step, expected)) for step in steps]
    if draft.records:
        batch = run.engine.batch(
            run.root,
            REASON,
            actor=run.actor,
            change=run.change,
            records=tuple(draft.records.values()),
            relations=tuple(draft.relations.values()),
        )
        try:
            await run.engine.commit(run.engine.store, batch)
        except Conflict:
            return False
        run.wrote = True
        _learn(expected, draft.records)
    for step, skipped in told:
        run.tell(step, skipped=skipped)
    return True


def _learn(expected: dict[str, int], written: Mapping[str, Record]) -> None:
    expected.update({id_: record.version + 1 for id_, record in written.items()})


async def _draft(run: ConsolidationRun, steps: Sequence[Step]) -> Draft:
    ids = list(dict.fromkeys(id_ for s in steps for id_ in (s.id, s.other) if id_))
    now = run.engine.now()
    records = await run.engine.store.records(run.root, ids, now=now)
    linked = [step.other for step in steps if step.other]
    edges = await run.engine.store.relations(run.root, linked) if linked else []
    return Draft(records, edges, now=now, new_id=run.engine.new_id)
