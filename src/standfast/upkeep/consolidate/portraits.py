"""What a run adds: profiles, the most important facts of a scope in one short text; and the choice
of the stable block.

Without a model a profile is an extract, word for word. A model may write it more smoothly; what
it writes is taken only if it says nothing that the facts do not say.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import get_args

from standfast import compat
from standfast.errors import Conflict, Invalid, Unavailable
from standfast.lifecycle.status import superseded
from standfast.models.calls import sum_of
from standfast.models.prompts import profile as profile_prompt
from standfast.packet.stable import STABLE, chosen_block
from standfast.text.analysis import is_stop_word, query_terms, terms, words
from standfast.text.claim import SPEAKER, claim_from_data
from standfast.text.compare import text_hash
from standfast.text.compare.parts import read
from standfast.text.tokens import TokenCount
from standfast.types import Item, Listing, Record, Status, Usage, Where
from standfast.types.frozen import frozen
from standfast.upkeep.consolidate.run import ConsolidationRun, still_there
from standfast.upkeep.consolidate.steps import Step
from standfast.upkeep.consolidate.survey import RootSurvey

PROFILES_PER_RUN = 50
FACTS_LOOKED_AT = 100
TAG = compat.PROFILE_TAG
IMPORTANCE = 0.3  # less than that of the facts it repeats
EVERY_STATUS: tuple[Status, ...] = get_args(Status)
FACTS_MAX = 12
WORDS_KNOWN = 0.8  # of what a model writes, this share must be in the facts
FACTS_KEPT = 0.75  # of the facts that it was given, this share must be in what it writes
_JOINING = frozenset(
    "prefers prefer likes like lives live works work also named called name".split()
)


@frozen
class Portrait:
    """What a profile will be made of. ``subject`` is who most facts are about, "" if nobody."""

    scope: str
    subject: str
    facts: tuple[Record, ...]

    @property
    def fingerprint(self) -> str:
        """Equal as long as it is made of the same facts."""
        named = "\0".join(sorted(fact.id for fact in self.facts)).encode()
        return hashlib.blake2b(named, digest_size=8).hexdigest()

    @property
    def title(self) -> str:
        return f"Profile of {self.subject.title() if self.subject else self.scope}"


def portrait(scope: str, facts: Sequence[Record], facts_min: int) -> Portrait | None:
    """None while there is too little to say. Trusted facts only: a profile speaks for all of
    its facts at once."""
    usable = [fact for fact in facts if fact.trust > 0 and fact.status == "active"]
    if len(usable) < facts_min:
        return None
    subject = _subject(usable)
    about = [fact for fact in usable if _is_about(fact, subject)]
    chosen = about if len(about) >= facts_min // 2 else usable
    # Tenths, so that small moves of weight do not make a new profile every day.
    ranked = sorted(chosen, key=lambda f: (-round(f.importance, 1), f.learned_at, f.id))
    kept = sorted(ranked[:FACTS_MAX], key=lambda f: (f.learned_at, f.id))
    named = subject if chosen is about and subject != SPEAKER else ""
    return Portrait(scope=scope, subject=named, facts=tuple(kept))


def _subject(facts: Sequence[Record]) -> str:
    counts: Counter[str] = Counter()
    for fact in facts:
        if claim := claim_from_data(fact.data):
            counts[claim.subject] += 1
    found = counts.most_common(1)
    return found[0][0] if found and found[0][1] * 2 > len(facts) else ""


def _is_about(fact: Record, subject: str) -> bool:
    claim = claim_from_data(fact.data)
    return claim is not None and claim.subject == subject


def extract(portrait: Portrait, tokens: int, count: TokenCount) -> str:
    """The facts as they stand, as many as fit."""
    text = f"{portrait.title}:"
    for fact in portrait.facts:
        longer = f"{text} {_sentence(fact.text)}"
        if count(longer) <= tokens:
            text = longer
    return text


def _sentence(text: str) -> str:
    flat = " ".join(text.split())
    return flat if flat.endswith((".", "!", "?", "。", "！", "？")) else f"{flat}."


def grounded(text: str, portrait: Portrait) -> str:
    """Why a profile says more than its facts; "" if it does not."""
    source = "\n".join([portrait.title, *(fact.text for fact in portrait.facts)])
    said, known = read(text), read(source)
    if said.numbers - known.numbers or said.dates - known.dates:
        return "a number or a date that no fact has"
    if len(said.negated) > len(known.negated):
        return "a negation that no fact has"
    known_words = set(terms(source))
    fresh = [word for word in words(text) if not is_stop_word(word) and word not in _JOINING]
    unknown = [word for word in fresh if not known_words.issuperset(terms(word))]
    capital = {name for name in said.names if not known_words.issuperset(terms(name))}
    if capital:
        return f"a name that no fact has: {min(capital)}"
    if len(unknown) > (1 - WORDS_KNOWN) * max(len(fresh), 1):
        return "more new words than facts"
    return _left_out(text, portrait)


def _left_out(text: str, portrait: Portrait) -> str:
    said = set(terms(text))
    kept = sum(1 for fact in portrait.facts if _is_told(fact.text, said))
    if kept < FACTS_KEPT * len(portrait.facts):
        return f"{len(portrait.facts) - kept} of {len(portrait.facts)} facts are left out"
    return ""


def _is_told(text: str, said: set[str]) -> bool:
    known = query_terms(text)
    return 2 * len(said.intersection(known)) >= len(known)


# Adding them


async def add_profiles(run: ConsolidationRun, surveyed: RootSurvey, going: frozenset[str]) -> None:
    """A profile for each scope that has enough facts, made anew when they changed; ``going``
    are the ids that this run retires."""
    facts_min = run.engine.profile.profile_facts_min
    rich = sorted(scope for scope, facts in surveyed.facts.items() if facts >= facts_min)
    for scope in rich[:PROFILES_PER_RUN]:
        listed = await run.engine.store.listing(
            Listing(
                where=Where(
                    scopes=(scope,),
                    now=run.started,
                    exact=True,
                    kinds=("semantic",),
                    statuses=("active",),
                ),
                order="important",
                limit=FACTS_LOOKED_AT,
            )
        )
        facts = [record for record in listed if record.id not in going]
        drawn = portrait(scope, facts, facts_min)
        if drawn is not None and await run.engine.persists(scope, {fact.author for fact in facts}):
            await _add_profile(run, drawn)


async def _add_profile(run: ConsolidationRun, drawn: Portrait) -> None:
    before = await _newest_profile(run, drawn.scope)
    if before is not None and before.data.get("facts") == drawn.fingerprint:
        return
    text = await _written(run, drawn)
    newest = max(fact.learned_at for fact in drawn.facts)
    if await run.was_forgotten(drawn.scope, text, newest):
        return
    record = _record(run, drawn, text, before)
    step = Step(what="profile", id=record.id, text=text, because=f"of {len(drawn.facts)} facts")
    if run.dry:
        run.tell(step)
        return
    change = run.begin()
    if before is not None and before.status in ("active", "disputed"):
        change.put(superseded(before, run.started))
        change.link(record, "supersedes", before)
    change.put(record)
    change.draw(*still_there(record))
    await run.keep_lease()
    await change.embed()
    try:
        run.wrote = await change.commit() or run.wrote
    except (Conflict, Invalid):
        run.tell(step, skipped="somebody else has just written it, or changed what it is made of")
        return
    run.tell(step)


async def _newest_profile(run: ConsolidationRun, scope: str) -> Record | None:
    listed = await run.engine.store.listing(
        Listing(
            where=Where(
                scopes=(scope,),
                now=run.started,
                exact=True,
                types=("summary",),
                tags=(TAG,),
                statuses=EVERY_STATUS,
            ),
            limit=FACTS_LOOKED_AT,
        )
    )
    ours = [record for record in listed if isinstance(record.data.get("facts"), str)]
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


# The stable block


async def choose_stable(run: ConsolidationRun, surveyed: RootSurvey) -> None:
    """Remember which core memories open a packet, where there are more than fit."""
    most = run.engine.profile.preseeded
    for scope in sorted(scope for scope, held in surveyed.core.items() if most and held > most):
        core = await run.engine.store.listing(
            Listing(
                where=Where(
                    scopes=(scope,),
                    now=run.started,
                    exact=True,
                    kinds=("semantic",),
                    durabilities=("core",),
                    statuses=("active",),
                ),
                order="important",
                limit=2 * most,
            )
        )
        known = await run.engine.store.items(
            run.root, STABLE, now=run.started, scopes=(scope,), keys=(STABLE,)
        )
        before: Sequence[str] = known[0].value if known else ()
        chosen = chosen_block(core, before, most)
        if chosen != list(before) and not run.dry:
            await _keep_choice(run, scope, chosen, known[0].version if known else 0)


async def _keep_choice(run: ConsolidationRun, scope: str, chosen: list[str], version: int) -> None:
    change = run.begin()
    item = Item(scope=scope, namespace=STABLE, key=STABLE, value=chosen, version=version)
    change.items.append(item)
    with suppress(Conflict):
        run.wrote = await change.commit() or run.wrote
