"""Putting the parts together: the only module that reads the environment and knows every class."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import sys
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.engine import Engine, active_space
from recollect.errors import Invalid
from recollect.models.budgets import Budgets, Price
from recollect.models.careful import Careful, Patience, Persists
from recollect.models.embedder import CarefulEmbedder
from recollect.ports import Clock, Embedder, EmbeddingService, Model, NewId, Store
from recollect.profiles import Profile
from recollect.scopes import parse_scope
from recollect.settings import PREFIX, Settings, active_profile, amount
from recollect.stores.dict import DictStore
from recollect.text.redact import Redactor, redactor_from
from recollect.text.tokens import ESTIMATE, Counter, TokenCount
from recollect.types import Receipt, ReceiptItem
from recollect.types.ids import ROOM, as_uuid
from recollect.verbs.restore import bury_again
from recollect.wiring.stores import factory_of, scheme_of, sqlite_file

if TYPE_CHECKING:
    from recollect.models.providers.llm import Place
    from recollect.models.providers.minilm.weights import Status
    from recollect.stores.sqlite.doctor import DoctorReport


def read_settings(environ: Mapping[str, str] | None = None, **overrides: str | None) -> Settings:
    """Settings from the environment; what is given by name wins."""
    given = {PREFIX + k.upper(): v for k, v in overrides.items() if v is not None}
    return Settings.from_mapping({**(os.environ if environ is None else environ), **given})


async def open_engine(
    store: str | os.PathLike[str] | None = None,
    *,
    embedder: str | Embedder | None = None,
    profile: str | None = None,
    scope: str | None = None,
    settings: Settings | None = None,
    clock: Clock | None = None,
    new_id: NewId | None = None,
    redactor: Redactor | None = None,
    count_tokens: TokenCount | None = None,
    model: str | Model | None = None,
) -> Engine:
    """Open a store and everything around it.

    ``store`` is a path, ``sqlite:///path`` or ``dict:`` (in this process only); without it
    RECOLLECT_STORE, or a file in the user's data folder. ``embedder`` is "auto" (what the store
    was begun with; for a new one the local model if it is there), "hashing", "minilm", "none", a
    service ("openai:text-embedding-3-small/768", "gemini:...", "ollama:...") or an object.
    ``scope`` binds the handle: no call may leave it. ``profile`` picks a preset.
    ``count_tokens`` counts like your model does; without it budgets are kept on the safe side.
    ``model`` is a language model by name ("openai:...", "ollama:...") or an object; without it
    RECOLLECT_MODEL, or none: then summaries are extracts.
    """
    name = model if isinstance(model, str) else None
    chosen = settings or read_settings(profile=profile, model=name)
    active = active_profile(chosen, os.environ)
    opened = await open_store(store_address(store, chosen, active), chosen)
    try:
        engine = Engine(
            store=opened,
            volatile=DictStore(),
            embedder=await _embedder(embedder, chosen, active, opened),
            profile=active,
            clock=clock or _utc_now,
            new_id=new_id or new_uuid7,
            new_secret=_new_secret,
            redactor=redactor or redactor_from(chosen.redact_off, chosen.redact_own),
            default_scope=parse_scope(chosen.scope),
            rules_only=chosen.learn == "rules",
            name=new_uuid7(),
            journal_days=chosen.journal_days,
            bound=(parse_scope(scope),) if scope else (),
            counter=Counter(name="injected", count=count_tokens) if count_tokens else ESTIMATE,
        )
        engine.embedder = _careful_embedder(engine, chosen)
        given = {"": model} if model is not None and not isinstance(model, str) else None
        engine.models = open_careful(
            chosen,
            store=opened,
            clock=engine.clock,
            new_id=engine.new_id,
            persists=engine.persists,
            models=given,
        )
        return engine
    except BaseException:
        await opened.close()
        raise


def store_address(
    store: str | os.PathLike[str] | None, settings: Settings, profile: Profile
) -> str:
    if store is not None and not isinstance(store, str | os.PathLike):
        raise Invalid(f"store must be a path or a URL, not {type(store).__name__}")
    address = os.fspath(store) if store is not None else settings.store
    if address:
        return address
    return str(_default_folder(settings) / profile.store_file)


def _default_folder(settings: Settings) -> Path:
    if settings.store_folder:
        return Path(settings.store_folder).expanduser()
    if sys.platform == "darwin":
        base = Path("~/Library/Application Support")
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share")
    return base.expanduser() / "recollect"


def store_file(address: str) -> Path | None:
    """The SQLite file an address names; None for a store that is no file."""
    return sqlite_file(address) if scheme_of(address) == "sqlite" else None


async def open_store(address: str, settings: Settings) -> Store:
    factory = factory_of(scheme_of(address))  # numpy and drivers only when needed
    return await factory(address, cache_bytes=settings.cache_mb << 20)


def check_store(store: str | None, profile: str | None, *, rebuild: bool) -> DoctorReport:
    """Examine the store file; with ``rebuild`` make its indexes anew first."""
    from recollect.stores.sqlite import doctor

    file = _file_of(store, profile)
    if rebuild:
        doctor.rebuild(file)
    return doctor.check(file)


def file_of(store: str | None, profile: str | None) -> Path | None:
    """The file that a store with these options is in; None if it is in none."""
    settings = read_settings(profile=profile)
    return store_file(store_address(store, settings, active_profile(settings, os.environ)))


def _file_of(store: str | None, profile: str | None) -> Path:
    file = file_of(store, profile)
    if file is None:
        raise Invalid("this needs a store file; a dict: store is gone with its process")
    return file


def backup_store(
    store: str | None,
    profile: str | None,
    target: str,
    *,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> DoctorReport:
    """Copy the store file while others use it; the answer is the doctor's report on the copy."""
    from recollect.stores.sqlite.backup import backup

    return backup(_file_of(store, profile), target, force=force, progress=progress)


async def restore_store(store: str | None, profile: str | None, backup: str) -> Receipt:
    """Put a backup in the place of the store file, without what was forgotten since."""
    from recollect.stores.sqlite.backup import discard, prepare_restore, state_of, swap_in

    file = _file_of(store, profile)
    copy = await asyncio.to_thread(prepare_restore, backup, file)
    try:
        if file.exists():  # bringing an old file up to date is no change of somebody's
            await (await open_store(str(file), read_settings(profile=profile))).close()
        state = state_of(file)
        erased = await _forget_again(copy, file, profile) if file.exists() else Receipt(items=())
        aside = await asyncio.to_thread(swap_in, copy, file, state)
    finally:
        discard(copy)
    notes = [f"the replaced file is {aside}"] if aside else []
    if erased.items:
        notes.append(f"{backup} itself still holds what was forgotten since; make a new backup")
    done = ReceiptItem(id=str(file), status="restored", reason=f"from {backup}")
    return Receipt(items=(done, *erased.items), notes=(*notes, *erased.notes))


async def _forget_again(copy: str, file: Path, profile: str | None) -> Receipt:
    current = await open_store(str(file), read_settings(profile=profile))
    try:
        restored = await open_engine(copy, embedder="none", profile=profile)
        try:
            return await bury_again(restored, current)
        finally:
            await restored.store.close()
            await restored.volatile.close()
    finally:
        await current.close()


async def _embedder(
    wanted: str | Embedder | None, settings: Settings, profile: Profile, store: Store
) -> Embedder | None:
    if wanted is not None and not isinstance(wanted, str):
        return wanted
    from recollect.wiring.embedder import Circumstances, chosen_name, embedder_for

    given = Circumstances(
        settings=settings,
        profile=profile,
        environ=os.environ,
        model=_place(settings, ""),
        minilm_folder=model_folder("minilm"),
    )
    begun = await active_space(store, _utc_now())
    return embedder_for(chosen_name(wanted, settings), begun, given)


def _careful_embedder(engine: Engine, settings: Settings) -> Embedder | None:
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
    from recollect.models.providers.llm.prices import known_price

    found = known_price(place) if place else None
    return Price(tokens_in=found[0], tokens_out=found[1]) if found else None


def model_folder(name: str) -> Path:
    """Where a local model is kept."""
    if sys.platform == "darwin":
        base = Path("~/Library/Caches")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return base.expanduser() / "recollect" / "models" / name


def model_status(name: str) -> Status:
    from recollect.models.providers.minilm import weights

    _known_model(name)
    return weights.status(model_folder(name))


def pull_model(name: str, progress: Callable[[str], None]) -> Path:
    """Get a local model from wherever it can be had; see providers.minilm.weights.pull."""
    from recollect.models.providers.minilm import weights

    _known_model(name)
    settings = read_settings()
    source = settings.model_folder or None
    return weights.pull(model_folder(name), source=source, progress=progress)


def _known_model(name: str) -> None:
    if name != "minilm":
        raise Invalid(f"there is no local model {name!r}; there is minilm")


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
    from recollect.models.providers.llm import ProviderModel
    from recollect.wiring.embedder import first_set

    place = _place(settings, operation)
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
        patience=Patience(seconds=settings.model_timeout_seconds),
        price_of=_prices(settings),
        persists=persists,
    )


def _budgets(settings: Settings) -> Budgets:
    return Budgets(
        tokens_per_call=settings.tokens_per_call,
        tokens_per_day=settings.tokens_per_day,
        money_per_day=settings.money_per_day,
    )


def _place(settings: Settings, operation: str) -> Place | None:
    from recollect.models.providers.llm import place_of

    own = getattr(settings, OPERATIONS[operation]) if operation in OPERATIONS else ""
    name = own or settings.model
    if not name:
        return None
    ollama = settings.ollama_url if name.startswith("ollama:") else ""
    return place_of(name, settings.model_url or ollama)


def _key_variables(settings: Settings, place: Place) -> tuple[str, ...]:
    from recollect.models.providers.llm import KEY_VARIABLES

    own = settings.model_key_env
    return (own,) if own else KEY_VARIABLES[place.provider]


def _prices(settings: Settings) -> Callable[[str], Price | None]:
    """By the name of a model: the price that is set, else the one the provider asks."""
    places = [_place(settings, operation) for operation in ("", *OPERATIONS)]
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
        raise Invalid(f"RECOLLECT_MODEL_PRICE={text!r}: write dollars per million as 0.15/0.60")
    variable = "RECOLLECT_MODEL_PRICE"
    return Price(tokens_in=amount(variable, tokens_in), tokens_out=amount(variable, tokens_out))


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _new_secret() -> str:
    return secrets.token_hex(32)


# Ids must be unique, not secret: seeded once, and again in a child after a fork.
_dice = random.Random(secrets.randbits(128))
os.register_at_fork(after_in_child=lambda: _dice.seed(secrets.randbits(128)))
_id_lock = threading.Lock()
_last_id = 0


def new_uuid7() -> str:
    """A time-ordered unique id (UUID version 7); within one process each is larger than the
    one before and the room behind it, so that records of one moment keep their order."""
    global _last_id
    stamp = (time.time_ns() // 1_000_000) << 80 | 7 << 76
    fresh = stamp | _dice.getrandbits(12) << 64 | 2 << 62 | _dice.getrandbits(62)
    with _id_lock:
        _last_id = max(fresh, _last_id + ROOM)
        return as_uuid(_last_id)
