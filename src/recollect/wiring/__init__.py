"""Putting the parts together: the only module that reads the environment and knows every class."""

from __future__ import annotations

import os
import random
import secrets
import sys
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from recollect.engine import Engine, active_space
from recollect.errors import Invalid
from recollect.ports import Clock, Embedder, Model, NewId, Store
from recollect.profiles import Profile
from recollect.scopes import parse_scope
from recollect.settings import PREFIX, Settings, active_profile
from recollect.stores.dict import DictStore
from recollect.text.redact import Redactor, redactor_from
from recollect.text.tokens import ESTIMATE, Counter, TokenCount
from recollect.types.arguments import StorePath
from recollect.types.ids import ROOM, as_uuid
from recollect.wiring.configuration import merged
from recollect.wiring.models import careful_embedder, model_folder, open_careful, place_for
from recollect.wiring.stores import factory_of, scheme_of, sqlite_file


def read_settings(environ: Mapping[str, str] | None = None, **overrides: str | None) -> Settings:
    """Settings from the file, then the environment; what is given by name wins."""
    given = {PREFIX + k.upper(): v for k, v in overrides.items() if v is not None}
    return Settings.from_mapping({**merged(os.environ if environ is None else environ), **given})


async def open_engine(
    store: StorePath | None = None,
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
            webhook_hosts=chosen.webhook_hosts,
            bound=(parse_scope(scope),) if scope else (),
            sign=_signer(chosen.sign_key),
            counter=Counter(name="injected", count=count_tokens) if count_tokens else ESTIMATE,
        )
        engine.embedder = careful_embedder(engine, chosen)
        given = {"": model} if model is not None and not isinstance(model, str) else None
        engine.models = open_careful(
            chosen,
            store=opened,
            clock=engine.clock,
            new_id=engine.new_id,
            persists=engine.persists,
            models=given,
        )
        if chosen.audit == "on":
            audit_with(engine, chosen)
        return engine
    except BaseException:
        await opened.close()
        raise


def audit_with(engine: Engine, settings: Settings | None = None) -> None:
    """Whatever is done with this engine is written down, unless that is switched off."""
    from recollect.access.audit import AuditLog

    chosen = settings or read_settings()
    if engine.audit is None and chosen.audit != "off":
        engine.audit = AuditLog(engine, days=chosen.audit_days)


def _signer(file: str) -> Callable[[str], str] | None:
    if not file:
        return None
    from recollect.access.seal import signer

    try:
        return signer(Path(file).expanduser().read_bytes(), file)
    except OSError as error:
        raise Invalid(f"RECOLLECT_SIGN_KEY: cannot read {file}: {error.strerror}") from None


def store_address(store: StorePath | None, settings: Settings, profile: Profile) -> str:
    if store is not None and not isinstance(store, str | os.PathLike):
        raise Invalid(f"store must be a path or a URL, not {type(store).__name__}")
    address = os.fspath(store) if store is not None else settings.store
    if address:
        return address
    return str(_default_folder(settings) / profile.store_file)


def _default_folder(settings: Settings) -> Path:
    if settings.store_folder:
        return Path(settings.store_folder).expanduser()
    return data_folder(os.environ)


def data_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Where the user's data lies on this kind of machine."""
    if platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or "~/AppData/Local")
    elif platform == "darwin":
        base = Path("~/Library/Application Support")
    else:
        base = Path(environ.get("XDG_DATA_HOME") or "~/.local/share")
    return base.expanduser() / "recollect"


def store_file(address: str) -> Path | None:
    """The SQLite file an address names; None for a store that is no file."""
    return sqlite_file(address) if scheme_of(address) == "sqlite" else None


async def open_store(address: str, settings: Settings) -> Store:
    factory = factory_of(scheme_of(address))  # numpy and drivers only when needed
    return await factory(address, cache_bytes=settings.cache_mb << 20)


def file_of(store: StorePath | None, profile: str | None) -> Path | None:
    """The file that a store with these options is in; None if it is in none."""
    settings = read_settings(profile=profile)
    return store_file(store_address(store, settings, active_profile(settings, os.environ)))


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
        model=place_for(settings, ""),
        minilm_folder=model_folder("minilm"),
    )
    begun = await active_space(store, _utc_now())
    return embedder_for(chosen_name(wanted, settings), begun, given)


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _new_secret() -> str:
    return secrets.token_hex(32)


# Ids must be unique, not secret: seeded once, and again in a child after a fork.
_dice = random.Random(secrets.randbits(128))
if hasattr(os, "register_at_fork"):  # Windows has no fork
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
