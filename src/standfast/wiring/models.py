"""Language models and embedding services by name: where they are, what they may cost, and the care
they are asked with; and the local model's files."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import compat
from standfast.engine import Engine
from standfast.errors import Invalid, Unavailable
from standfast.models.budgets import Budgets, Price
from standfast.models.calls import TRIES
from standfast.models.careful import Careful, Patience, Persists
from standfast.models.embedder import CarefulEmbedder
from standfast.ports import Clock, Embedder, EmbeddingService, Model, NewId, Store
from standfast.settings import Settings, active_profile, amount

if TYPE_CHECKING:
    from standfast.models.local.files import Status
    from standfast.models.providers.llm import Place
    from standfast.types.arguments import StorePath
    from standfast.types.checks import ModelReport


def careful_embedder(engine: Engine, settings: Settings) -> Embedder | None:
    """A service is asked with care; an embedder in this process needs none."""
    service: object = engine.embedder
    if not isinstance(service, EmbeddingService):
        return engine.embedder
    return CarefulEmbedder(
        service,
        store=engine.store,
        clock=engine.clock,
        new_id=engine.new_id,
        chance=random.random,
        budgets=_budgets(settings),
        price_of=lambda _: _price_at(getattr(service, "place", None)),
    )


def _price_at(place: Place | None) -> Price | None:
    from standfast.models.providers.llm.prices import known_price

    found = known_price(place) if place else None
    return Price(tokens_in=found[0], tokens_out=found[1]) if found else None


def model_folder(name: str) -> Path:
    """Where a local model is kept."""
    if sys.platform == "darwin":
        base = Path("~/Library/Caches")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return compat.existing(base.expanduser() / compat.FOLDER / "models" / name)


def model_status(name: str) -> Status:
    from standfast.models.local import box
    from standfast.models.providers.minilm import weights

    _known_model(name)
    return box.status() if name == box.NAME else weights.status(model_folder(name))


def pull_model(name: str, progress: Callable[[str], None]) -> Path:
    """Get a local model from wherever it can be had; see providers.minilm.weights.pull. The one in
    the box is there or comes with its package."""
    from standfast.models.local import box
    from standfast.models.providers.minilm import weights
    from standfast.wiring import read_settings

    _known_model(name)
    if name == box.NAME:
        found = box.status()
        if not found.ready:
            raise Unavailable(found.detail)
        return found.folder

    source = read_settings().model_folder or None
    return weights.pull(model_folder(name), source=source, progress=progress)


def _known_model(name: str) -> None:
    from standfast.models.local import box

    if name not in (box.NAME, "minilm"):
        raise Invalid(f"there is no local model {name!r}; there are {box.NAME} and minilm")


# Operations that may have a model of their own -> the setting that names it.
OPERATIONS = {
    "summarize": "model_summarize",
    "extract": "model_extract",
    "rerank": "model_rerank",
    "consolidate": "model_consolidate",
}


def open_model(settings: Settings, operation: str = "") -> Model | None:
    """The language model for an operation (for all of them: ""); None if none is set. Nothing is
    imported and nobody is asked before the first question."""
    from standfast.models.providers.llm import ProviderModel
    from standfast.wiring.embedder import first_set

    place = place_for(settings, operation)
    if place is None:
        return None
    variables = _key_variables(settings, place)
    return ProviderModel(
        place,
        key=first_set(variables, os.environ),
        key_hint=" or ".join(variables),
        seconds=settings.model_timeout_seconds,
    )


def open_careful(
    settings: Settings,
    *,
    store: Store,
    clock: Clock,
    new_id: NewId,
    persists: Persists | None = None,
    models: Mapping[str, Model] | None = None,
    tries: int = TRIES,
) -> Careful | None:
    """The models of these settings, or those given, asked with care; None if there is none."""
    if models is None:
        found = {operation: open_model(settings, operation) for operation in ("", *OPERATIONS)}
        models = {operation: model for operation, model in found.items() if model is not None}
    if not models:
        return None
    return Careful(
        models,
        store=store,
        clock=clock,
        new_id=new_id,
        chance=random.random,
        budgets=_budgets(settings),
        patience=Patience(tries=tries, seconds=settings.model_timeout_seconds),
        price_of=_prices(settings),
        persists=persists,
    )


def _budgets(settings: Settings) -> Budgets:
    return Budgets(
        tokens_per_call=settings.tokens_per_call,
        tokens_per_day=settings.tokens_per_day,
        money_per_day=settings.money_per_day,
    )


def place_for(settings: Settings, operation: str) -> Place | None:
    from standfast.models.providers.llm import place_of

    own = getattr(settings, OPERATIONS[operation]) if operation in OPERATIONS else ""
    name = own or settings.model
    if not name:
        return None
    ollama = settings.ollama_url if name.startswith("ollama:") else ""
    return place_of(name, settings.model_url or ollama)


def _key_variables(settings: Settings, place: Place) -> tuple[str, ...]:
    from standfast.models.providers.llm import KEY_VARIABLES

    own = settings.model_key_env
    return (own,) if own else KEY_VARIABLES[place.provider]


def _prices(settings: Settings) -> Callable[[str], Price | None]:
    """By the name of a model: the price that is set, else the one the provider asks."""
    places = [place_for(settings, operation) for operation in ("", *OPERATIONS)]
    by_name = {place.name: place for place in places if place is not None}
    set_price = _set_price(settings.model_price)

    def price_of(name: str) -> Price | None:
        place = by_name.get(name)  # a model that was handed in has no place that we know
        return set_price or (_price_at(place) if place else None)

    return price_of


def _set_price(text: str) -> Price | None:
    if not text:
        return None
    tokens_in, slash, tokens_out = text.partition("/")
    if not slash:
        raise Invalid(f"STANDFAST_MODEL_PRICE={text!r}: write dollars per million as 0.15/0.60")
    variable = "STANDFAST_MODEL_PRICE"
    return Price(tokens_in=amount(variable, tokens_in), tokens_out=amount(variable, tokens_out))


async def checked_model(
    name: str | None,
    store: StorePath | None,
    profile: str | None,
    progress: Callable[[int, int], None],
) -> ModelReport:
    """How well the model that learns does, or the one of that name. Each question is asked once.
    The budget is that of the store's default scope; a store that is not there is not made."""
    from standfast.stores.dict import DictStore
    from standfast.testing.model_check import check_model
    from standfast.text.redact import redactor_from
    from standfast.wiring import file_of, new_uuid7, open_chosen, read_settings, utc_now

    settings = read_settings(profile=profile, model=name, model_extract=name)
    file = file_of(store, profile)
    is_new = file is not None and not file.exists()
    active = active_profile(settings, os.environ)
    books = DictStore() if is_new else await open_chosen(store, settings, active)
    try:
        models = open_careful(settings, store=books, clock=utc_now, new_id=new_uuid7, tries=1)
        redactor = redactor_from(settings.redact_off, settings.redact_own)
        return await check_model(models, redactor, scope=settings.scope, progress=progress)
    finally:
        await books.close()
