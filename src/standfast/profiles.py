"""Profiles: the published memory systems as data, each a preset of the same engine.

A profile carries a specification's numbers and names. Its environment variables count only
while it is the active profile, so a stray OTTO_MEMORY_DB never redirects anybody else's store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Literal

from standfast.errors import Invalid
from standfast.types import Durability, Type
from standfast.types.frozen import frozen

DAY = 86_400

# Lota's map from type to decay tier.
DURABILITY_OF_TYPE: Mapping[Type, Durability] = {
    "turn": "standard",
    "episode": "standard",
    "fact": "standard",
    "preference": "standard",
    "interaction": "ephemeral",
    "summary": "standard",
    "user_request": "standard",
    "entity": "core",
    "interest": "standard",
    "procedure": "core",
}


@frozen
class Decay:
    """How a score fades: it halves every ``half_life_days`` down to ``floor`` of itself.
    Decay ranks; it never hides and never deletes."""

    half_life_days: float
    floor: float


@frozen
class Stale:
    """When a memory may be archived: not used for that long, and weighing less than that."""

    unused_days: int
    importance_below: float


@frozen
class Cut:
    """Where an answer ends: at so large a share of the best score; of statements at this score
    itself too, of turns only where the best reaches it. A score below ``clear`` may be that of
    anything: beside a better one it counts from a larger share on, unless all of something is
    asked for."""

    share: float
    least: float
    clear: float = 0.0
    share_of_far: float = 0.0


# Of statements, which stand by themselves, and of turns, which are found with those around them.
Cuts = Mapping[Literal["statement", "turn"], Cut]
MINILM_CUTS: Cuts = {
    "statement": Cut(share=0.6, least=0.3, clear=0.45, share_of_far=0.75),
    "turn": Cut(share=0.33, least=0.15),
}


@frozen
class Calibration:
    """What the similarities of an embedder say, measured on development sets. Its model brings
    it."""

    # What a standard deviation of similarity counts where the best by words counts 1.
    similarity_weight: float = 0.2
    # Below this cosine, and without a word in common, a record is noise, not a hit.
    similarity_floor: float = 0.1
    # Standard deviations of similarity below which a few words in common say little.
    lift_least: float = 1.0
    # None: similarities that nobody has looked at say too little to end an answer by them.
    cuts: Cuts | None = None


UNCALIBRATED = Calibration()


@frozen
class Profile:
    name: str
    store_file: str = "memory.db"

    # Embedding
    embedder: str = "auto"
    dimensions: int = 384
    # For a new store: providers of language models whose own embeddings are used with them.
    paired: tuple[str, ...] = ()
    service_dimensions: int = 0  # asked of an embedding service; 0: as many as the model gives

    # Remembering
    duplicate_above: float = 0.9
    durability_of_type: Mapping[Type, Durability] = field(
        default_factory=lambda: dict(DURABILITY_OF_TYPE)
    )

    # Learning: after turns, only at the end of a session, or not at all. With a model, turns
    # wait until one of the three numbers is reached; with rules nobody waits.
    learn: Literal["turns", "end", "off"] = "turns"
    digest_turns: int = 12  # user messages
    digest_tokens: int = 3000
    digest_quiet_minutes: int = 30
    ended_after_hours: int = 12  # of silence; then a session that nobody ended is learned from
    # Tags of what was learned that is core: in every context of its scope.
    core_tags: frozenset[str] = frozenset()
    learn_for_agents: bool = False  # facts of org:x:agent:y also into org:x, and the other way

    # Recall: the stages run in this order (see ranking.STAGES)
    stages: tuple[str, ...] = (
        "fuse",
        "voice",
        "time",
        "standing",
        "tag_boost",
        "alias",
        "spelling",
        "importance",
        "decay",
        "drop_copies",
        "one_per_source",
        "spread",
    )
    neighbours: bool = True  # turns are scored together with those around them
    questions_max: int = 3  # in one text, each asked by itself
    candidates: int = 50  # per arm
    limit: int = 6
    # By embedder, instead of what it brings; see ``Calibration``.
    similarity_weight: Mapping[str, float] = field(default_factory=lambda: {"hashing": 0.02})
    # Shares of the best score, added or taken away (see ranking.voice and ranking.time).
    assistant_discount: float = 0.3
    named_boost: float = 0.1
    question_discount: float = 0.1
    answer_boost: float = 0.1  # of its own score
    time_boost: float = 0.25
    standing_boost: float = 0.5
    similarity_floor: Mapping[str, float] = field(default_factory=lambda: {"hashing": 0.2})
    tag_boost: float = 0.1
    magnitude_penalty: float = 0.1
    threshold: float = 0.0
    # What a threshold is compared with: the score, or the similarity of a document that says so.
    threshold_on: Literal["score", "similarity"] = "score"
    # Without a threshold an answer ends where scores fall off. None: it never does.
    cuts: Mapping[str, Cuts] | None = field(default_factory=lambda: {"minilm": MINILM_CUTS})
    decay: Mapping[Durability, Decay] = field(
        default_factory=lambda: {
            "core": Decay(half_life_days=1.0, floor=1.0),
            "standard": Decay(half_life_days=180.0, floor=0.9),
            "ephemeral": Decay(half_life_days=14.0, floor=0.6),
        }
    )
    rerank: bool = False  # let a model choose among candidates, if there is one
    related_share: float = 0.5  # of the score of the hit that brought a related record along

    # Sessions
    compaction: str = "tokens"  # what is counted: messages, turns, window or tokens
    compact_above: int = 6000
    keep_recent: int = 3000
    summary_tokens: int = 500
    summary_as_message: bool = False  # as the first message instead of a section of the text
    pending_days: int = 30
    block_entries_max: int = 15

    # Context
    context_records: int | None = None  # found for the query; None: as many as fit
    preseeded: int = 200  # core memories that are always there, at most
    recent_episodes: int = 3
    context_tokens: int = 2000

    # Upkeep
    episode_ttl_seconds: int | None = None
    consolidate_hours: int = 24
    stale: Mapping[Durability, Stale] = field(
        default_factory=lambda: {
            "standard": Stale(unused_days=730, importance_below=0.2),
            "ephemeral": Stale(unused_days=90, importance_below=0.35),
        }
    )
    # A run that would retire more than this share of the memories asks first; a few are fine.
    consolidate_share_max: float = 0.1
    consolidate_retire_least: int = 5
    profile_facts_min: int = 20  # facts of a scope before it gets a profile
    profile_tokens: int = 300
    practice_min: int = 3  # successes that make a tool sequence a procedure

    port: int = 0  # where its server listens; 0: where servers do
    # Routes that answer a GET of this machine without a key, because its document shows them so.
    keyless: tuple[str, ...] = ()

    # Environment variable -> what it sets: a Profile field, or a Settings field written
    # as "settings.<name>".
    environment: Mapping[str, str] = field(default_factory=dict)


def _otto() -> Profile:
    return Profile(
        name="otto",
        cuts=None,
        candidates=16,
        neighbours=False,
        questions_max=1,
        embedder="hashing",
        store_file="otto_memory.db",
        learn="off",
        dimensions=768,
        paired=("openai", "google", "ollama"),
        service_dimensions=768,
        stages=("cosine", "tag_boost", "drop_copies"),
        tag_boost=0.1,
        compaction="messages",
        compact_above=12,
        keep_recent=8,
        summary_as_message=True,
        context_records=3,
        preseeded=0,
        recent_episodes=0,
        environment={
            "OTTO_MEMORY_DB": "settings.store",
            "LOCAL_STORAGE_PATH": "settings.store_folder",
            "COMPACTION_THRESHOLD": "compact_above",
            "MAX_RECENT_MESSAGES": "keep_recent",
            "REDIS_URL": "settings.redis_url",
        },
    )


def _openmotoko() -> Profile:
    return Profile(
        name="openmotoko",
        cuts=None,
        candidates=16,
        neighbours=False,
        questions_max=1,
        embedder="hashing",
        stages=("bre", "tag_boost", "importance", "drop_copies", "one_per_source"),
        threshold_on="similarity",
        duplicate_above=0.9,
        compaction="messages",
        compact_above=40,
        keep_recent=20,
    )


def _agtos() -> Profile:
    return Profile(
        name="agtos",
        learn="end",
        threshold_on="similarity",
        compaction="turns",
        compact_above=20,
        keep_recent=10,
        summary_tokens=500,
        episode_ttl_seconds=30 * DAY,
        port=4102,
        keyless=("/api/memory/episodes", "/api/memory/search"),
        environment={
            "REDIS_URL": "settings.redis_url",
            "OLLAMA_URL": "settings.ollama_url",
            "AGTOS_EMBEDDING_PROVIDER": "settings.embedding_provider",
            "AGTOS_EMBEDDING_MODEL": "settings.embedding_model",
            "AGTOS_MEMORY_EPISODE_TTL": "episode_ttl_seconds",
            "AGTOS_WORKING_MEMORY_MAX_TURNS": "compact_above",
            "AGTOS_WORKING_MEMORY_SUMMARY_TOKENS": "summary_tokens",
        },
    )


def _autobot() -> Profile:
    """Its facts are in every request, so they are core memories, and many of them are."""
    facts: tuple[Type, ...] = ("fact", "preference", "user_request", "entity", "interest")
    return Profile(
        name="autobot",
        learn="off",
        durability_of_type={**DURABILITY_OF_TYPE, **dict.fromkeys(facts, "core")},
        preseeded=100,
        compaction="window",
        compact_above=50,
        keep_recent=10,
    )


def _lota() -> Profile:
    return Profile(
        name="lota",
        cuts=None,
        learn_for_agents=True,
        core_tags=frozenset(("decision", "architecture", "requirement")),
        paired=("openai",),
        candidates=12,
        limit=6,
        context_records=6,
        rerank=True,
        block_entries_max=15,
        durability_of_type={**DURABILITY_OF_TYPE, "preference": "ephemeral"},
    )


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(name="default"),
        _otto(),
        _openmotoko(),
        _agtos(),
        _autobot(),
        _lota(),
    )
}


def profile_named(name: str) -> Profile:
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(PROFILES)
        raise Invalid(f"there is no profile {name!r}; choose one of {known}") from None


def with_environment(profile: Profile, environ: Mapping[str, str]) -> Profile:
    """The profile with its own numbers read from its own environment variables."""
    numbers: dict[str, Any] = {}
    for variable, target in profile.environment.items():
        if target.startswith("settings.") or variable not in environ:
            continue
        numbers[target] = whole_number(variable, environ[variable])
    return replace(profile, **numbers) if numbers else profile


def whole_number(variable: str, text: str, least: int = 0) -> int:
    try:
        number = int(text)
    except ValueError:
        raise Invalid(f"{variable}={text!r} is not a whole number") from None
    if number < least:
        raise Invalid(f"{variable}={text!r} must be at least {least}")
    return number
