"""Names of embedding models: ``provider:model/dimensions``, which is also the vector space."""

from __future__ import annotations

from collections.abc import Mapping

from standfast.errors import Invalid
from standfast.models.providers.llm.names import ALIASES, COMPATIBLE, Place, place_of
from standfast.types.frozen import frozen

URL_SETTING = "STANDFAST_EMBEDDER_URL"
SHOWN = "openai:..., gemini:..., ollama:... or openai-compatible:..."

# Provider of language models -> the embedding model that goes with it.
MODELS: Mapping[str, str] = {
    "openai": "text-embedding-3-small",
    "google": "gemini-embedding-001",
    "ollama": "nomic-embed-text",
}
PROVIDERS = frozenset({*MODELS, COMPATIBLE})

# How many dimensions a model gives if it is not asked for fewer.
OWN_DIMENSIONS: Mapping[str, int] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "gemini-embedding-001": 3072,
    "nomic-embed-text": 768,
    "mxbai-embed-large": 1024,
    "bge-m3": 1024,
    "all-minilm": 384,
}
DIMENSIONS_MAX = 16_384

# What people call the model in this process.
LOCAL_PROVIDERS = frozenset({"minilm", "transformers", "sentence-transformers", "local"})
LOCAL_MODELS = frozenset({"", "minilm", "minilm-l6", "all-minilm-l6-v2"})


@frozen
class Target:
    """Which embedding model, where, and how many dimensions it is to give."""

    place: Place
    dimensions: int

    @property
    def space(self) -> str:
        return f"{self.place.name}/{self.dimensions}"

    @property
    def family(self) -> str:
        """The model without Ollama's tag: ``nomic-embed-text`` of ``nomic-embed-text:v1.5``."""
        return self.place.model.partition(":")[0].lower()

    @property
    def own_dimensions(self) -> int:
        """0: not known."""
        return OWN_DIMENSIONS.get(self.family, 0)


def provider_of(name: str) -> str:
    """ "" if the name names no provider of embeddings."""
    head, colon, _ = name.strip().partition(":")
    provider = ALIASES.get(head, head)
    return provider if colon and provider in PROVIDERS else ""


def is_remote(name: str) -> bool:
    return bool(provider_of(name))


def target_of(name: str, url: str = "", *, dimensions: int = 0) -> Target:
    """Read ``openai:text-embedding-3-small/768``. Without a size ``dimensions`` is asked for, at
    most what the model gives; without that too, what it gives. Invalid says what to write."""
    if not is_remote(name):
        raise Invalid(f"embedder {name!r} is unknown; write {SHOWN}")
    bare, slash, size = name.strip().rpartition("/")
    sized = bool(slash) and size.isdigit()
    place = place_of(bare if sized else name, url, url_setting=URL_SETTING)
    own = Target(place=place, dimensions=0).own_dimensions
    wanted = int(size) if sized else min(dimensions, own or dimensions) or own
    if not wanted:
        raise Invalid(f"how many dimensions has {name!r}? write it behind: {name}/1024")
    if wanted > DIMENSIONS_MAX:
        raise Invalid(f"embedder {name!r}: more than {DIMENSIONS_MAX} dimensions are not possible")
    return Target(place=place, dimensions=wanted)


def paired_name(provider: str) -> str:
    """The embedder that goes with a provider of language models; "" if there is none."""
    return f"{provider}:{MODELS[provider]}" if provider in MODELS else ""


def name_by_provider(provider: str, model: str) -> str:
    """An embedder by a provider and a model told apart; either may be empty."""
    given, wanted = provider.strip().lower(), model.strip()
    if given in LOCAL_PROVIDERS or (not given and _is_local(wanted)):
        if not _is_local(wanted):
            raise Invalid(f"there is no local embedding model {wanted!r}; there is minilm")
        return "minilm"
    if given in ("hashing", "none", "auto"):
        return given
    family = wanted.partition(":")[0]
    known = {name: provider for provider, name in MODELS.items()}
    provider = ALIASES.get(given, given) or known.get(family, "")
    if provider not in PROVIDERS:
        asked = f"embedding provider {given!r} is unknown" if given else f"who has {wanted!r}?"
        raise Invalid(f"{asked} use openai, gemini, ollama, openai-compatible or minilm")
    return f"{provider}:{wanted or MODELS.get(provider, '')}"


def _is_local(model: str) -> bool:
    return model.lower().rpartition("/")[2] in LOCAL_MODELS
