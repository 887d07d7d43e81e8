"""Which embedder a store is opened with: what was chosen; else what the store was begun with; else
what the profile begins with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from standfast.errors import Invalid
from standfast.models.providers.embedding import (
    AbsentEmbedder,
    RemoteEmbedder,
    is_remote,
    name_by_provider,
    paired_name,
    provider_of,
    target_of,
)
from standfast.models.providers.llm import KEY_VARIABLES, Place
from standfast.ports import Embedder
from standfast.profiles import Profile
from standfast.settings import Settings
from standfast.types.frozen import frozen

BOXED = "recall-2"  # as ``box.NAME``, which is imported only where it is used
OURS = "recall-"


@frozen
class Circumstances:
    """What a choice depends on. ``model`` is the language model, None if there is none;
    ``minilm_folder`` is where the local model would be."""

    settings: Settings
    profile: Profile
    environ: Mapping[str, str]
    model: Place | None
    minilm_folder: Path


def chosen_name(wanted: str | None, settings: Settings) -> str:
    """What somebody chose by argument or setting; "" if nobody did."""
    provider, model = settings.embedding_provider, settings.embedding_model
    in_parts = name_by_provider(provider, model) if provider or model else ""
    return wanted or settings.embedder or in_parts


def embedder_for(name: str, begun: str, given: Circumstances) -> Embedder | None:
    """``name`` is what was chosen, ``begun`` the space of the store's vectors; both may be ""."""
    if name and name != "auto":
        return _named(name, given)
    if begun:
        return _begun_with(begun, given)
    first = _paired(given) or name or given.profile.embedder
    return _named(_best_local(given) if first == "auto" else first, given)


def _begun_with(space: str, given: Circumstances) -> Embedder | None:
    """A store must open, even where its embedder cannot be made."""
    try:
        return _named(space, given)
    except Invalid as error:
        return AbsentEmbedder(space, f"the store was begun with {space}, but {error}")


def _paired(given: Circumstances) -> str:
    """The embedder of the language model's provider, where the profile wants it."""
    provider = given.model.provider if given.model else ""
    return paired_name(provider) if provider in given.profile.paired else ""


def _best_local(given: Circumstances) -> str:
    """The local model that the settings name, else the next best that is there."""
    from standfast.models.local import box
    from standfast.models.providers.minilm import weights

    wanted = _in_the_box(given.settings.local_model)
    if wanted == box.NAME and box.runs_here():
        return box.NAME
    if wanted in (box.NAME, "minilm") and weights.status(given.minilm_folder).ready:
        return "minilm"
    if wanted not in (box.NAME, "minilm", "hashing"):
        known = f"{box.NAME}, minilm or hashing"
        raise Invalid(f"STANDFAST_LOCAL_MODEL={wanted!r} is no local model; use {known}")
    return "hashing"


def better_local(space: str, given: Circumstances) -> str:
    """The name of a local model that finds more than the one a store was begun with; "" if there
    is none here, or if somebody chose what it has."""
    if space.partition("/")[0] not in ("hashing", "minilm") or given.profile.embedder != "auto":
        return ""
    best = _best_local(given)
    return best if best != space.partition("/")[0] and best != "hashing" else ""


def _named(name: str, given: Circumstances) -> Embedder | None:
    if is_remote(name):
        return _remote(name, given)
    family, _, size = _in_the_box(name).partition("/")
    if family == "none":
        return None
    if family == "hashing":
        from standfast.models.providers.hashing import HashingEmbedder

        return HashingEmbedder(int(size) if size.isdigit() else given.profile.dimensions)
    if family == BOXED:
        from standfast.models.local import box
        from standfast.models.local.recall import BoxedEmbedder
        from standfast.models.providers.minilm.model import former_models

        threads = given.settings.model_threads
        former = former_models(given.minilm_folder.parent, threads)
        return BoxedEmbedder(box.place() or Path(), threads=threads, former=former)
    if family == "minilm":
        from standfast.models.providers.minilm.model import MiniLmEmbedder

        return MiniLmEmbedder(given.minilm_folder, threads=given.settings.model_threads)
    raise Invalid(
        f"unknown embedder {name!r}; use auto, recall-2, minilm, hashing, none, an object, or a "
        "service: openai:..., gemini:..., ollama:... or openai-compatible:..."
    )


def _in_the_box(name: str) -> str:
    """Who names a former model of ours means the one that comes in its place."""
    if not name.startswith(OURS) or name == BOXED:
        return name
    from standfast.models.local import box

    return BOXED if name.partition("/")[0] in box.FORMER else name


def _remote(name: str, given: Circumstances) -> Embedder:
    """At its own address, else where the language model of the same provider is."""
    settings, provider = given.settings, provider_of(name)
    model = None if settings.embedder_url else given.model
    beside = model if model and model.provider == provider else None
    ollama = settings.ollama_url if provider == "ollama" else ""
    url = settings.embedder_url or (beside.url if beside else ollama)
    variable = settings.embedder_key_env or (settings.model_key_env if beside else "")
    variables = (variable,) if variable else KEY_VARIABLES[provider]
    return RemoteEmbedder(
        target_of(name, url, dimensions=given.profile.service_dimensions),
        key=first_set(variables, given.environ),
        key_hint=" or ".join(variables),
    )


def first_set(variables: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """The value of the first of these variables that has one."""
    return next((environ[name] for name in variables if environ.get(name)), "")
