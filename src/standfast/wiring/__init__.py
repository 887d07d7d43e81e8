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
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from standfast import compat
from standfast.errors import Invalid
from standfast.profiles import Profile, profile_named
from standfast.scopes import parse_scope
from standfast.settings import PREFIX, Settings, active_profile
from standfast.types.arguments import StorePath
from standfast.types.ids import ROOM, as_uuid
from standfast.wiring.configuration import merged, own_types_from
from standfast.wiring.stores import (
    EXTRAS,
    SHARED,
    factory_of,
    scheme_of,
    sqlite_file,
    without_password,
)

if TYPE_CHECKING:  # who only asks for settings or for a file loads no engine
    from standfast.engine import Engine
    from standfast.ports import Clock, Embedder, Model, NewId, PendingQueue, Store
    from standfast.text.redact import Redacted, Redactor, Secret
    from standfast.text.tokens import TokenCount
    from standfast.understanding.judging.judge import ChangeJudge
    from standfast.understanding.reading.reader import Reader


def read_settings(environ: Mapping[str, str] | None = None, **overrides: str | None) -> Settings:
    """Settings from the file, then the environment; what is given by name wins."""
    given = {PREFIX + k.upper(): v for k, v in overrides.items() if v is not None}
    return Settings.from_mapping({**merged(os.environ if environ is None else environ), **given})


# Settings that make another answer of the same question.
DECIDING = (
    "profile", "embedder", "embedding_provider", "embedding_model", "embedder_url", "local_model",
    "scope", "own_types", "model", "model_rerank", "model_url",
)  # fmt: skip


def deciding(profile: str | None, embedder: str | None) -> dict[str, str]:
    """What answers depend on besides the question and the store: those settings, and the numbers
    that the profile reads from variables of its own."""
    settings = read_settings(profile=profile, embedder=embedder)
    numbers = profile_named(settings.profile).environment.items()
    own = [variable for variable, target in numbers if not target.startswith("settings.")]
    found = {name: str(getattr(settings, name)) for name in DECIDING}
    return {**found, **{variable: os.environ.get(variable, "") for variable in own}}


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
    own_types: Mapping[str, Any] | StorePath | None = None,
) -> Engine:
    """Open a store and everything around it.

    ``store`` is a path, ``sqlite:///path``, a server such as ``postgresql://user@host/database``,
    or ``dict:`` (in this process only); without it STANDFAST_STORE, or a file in the user's data
    folder. ``embedder`` is "auto" (what the store was begun with; for a new one the model in the
    box), "recall-2", "minilm", "hashing", "none", a service ("openai:text-embedding-3-small/768",
    "gemini:...", "ollama:...") or an object. ``scope`` binds the handle: no call may leave it.
    ``profile`` picks a preset. ``count_tokens`` counts like your model does; without it budgets are
    kept on the safe side. ``model``: by name or an object; without it STANDFAST_MODEL, or none.
    """
    from standfast.engine import Engine
    from standfast.stores.dict import DictStore
    from standfast.text.tokens import ESTIMATE, Counter

    named = model if isinstance(model, str) else None
    chosen = settings or read_settings(profile=profile, model=named)
    active = active_profile(chosen, os.environ)
    opened = await open_chosen(store, chosen, active)
    try:
        queue = await open_queue(chosen, active)
        used, better = await _embedder(embedder, chosen, active, opened)
        reader, no_reader = _reader(chosen)
        judge, no_judge = _judge(chosen)
        engine = Engine(
            store=opened,
            volatile=DictStore(),
            queue=queue,
            embedder=used,
            reader=reader,
            no_reader=no_reader,
            change_judge=judge,
            no_judge=no_judge,
            better=better,
            profile=active,
            clock=clock or utc_now,
            new_id=new_id or new_uuid7,
            new_secret=_new_secret,
            redactor=redactor or _redactor_for(chosen),
            default_scope=parse_scope(chosen.scope),
            own=own_types_from(chosen.own_types if own_types is None else own_types),
            rules_only=chosen.learn == "rules",
            name=new_uuid7(),
            journal_days=chosen.journal_days,
            close_seconds=chosen.close_seconds,
            webhook_hosts=chosen.webhook_hosts,
            bound=(parse_scope(scope),) if scope else (),
            sign=_signer(chosen.sign_key),
            counter=Counter(name="injected", count=count_tokens) if count_tokens else ESTIMATE,
        )
        _add_models(engine, chosen, model)
        if chosen.audit == "on":
            audit_with(engine, chosen)
        return engine
    except BaseException:
        await opened.close()
        raise


def _add_models(engine: Engine, settings: Settings, model: str | Model | None) -> None:
    """Whoever answers for it, each call is careful: bounded, paid for by a scope, told of."""
    from standfast.wiring.models import careful_embedder, open_careful

    engine.embedder = careful_embedder(engine, settings)
    engine.models = open_careful(
        settings,
        store=engine.store,
        clock=engine.clock,
        new_id=engine.new_id,
        persists=engine.persists,
        models={"": model} if model is not None and not isinstance(model, str) else None,
    )


def audit_with(engine: Engine, settings: Settings | None = None) -> None:
    """Whatever is done with this engine is written down, unless that is switched off."""
    from standfast.access.audit import AuditLog

    chosen = settings or read_settings()
    if engine.audit is None and chosen.audit != "off":
        engine.audit = AuditLog(engine, days=chosen.audit_days)


def _signer(file: str) -> Callable[[str], str] | None:
    if not file:
        return None
    from standfast.access.seal import signer

    try:
        return signer(Path(file).expanduser().read_bytes(), file)
    except OSError as error:
        raise Invalid(f"STANDFAST_SIGN_KEY: cannot read {file}: {error.strerror}") from None


async def open_chosen(store: StorePath | None, settings: Settings, profile: Profile) -> Store:
    """The store that is asked for. A server that a profile names by a variable of its own may be
    away: its document says that the agent works on without it."""
    if store is not None or settings.store or not _on_redis(settings, profile):
        address = store_address(store, settings, profile)
        if profile.name == "lota" and EXTRAS.get(scheme_of(address)) == "surreal":
            address = _with_options(address, "search=native")
        return await open_store(address, settings)
    from standfast.stores.standby import Standby

    joined = _with_options(settings.redis_url, "search=native&persistence=any")
    scheme_of(joined)
    return await Standby.open("REDIS_URL", lambda: open_store(joined, settings))


def _with_options(address: str, options: str) -> str:
    """Those of a profile. What the address itself says about the search stays."""
    if "search=" in address.partition("?")[2]:
        options = options.partition("&")[2]
    return f"{address}{'&' if '?' in address else '?'}{options}" if options else address


async def open_queue(settings: Settings, profile: Profile) -> PendingQueue | None:
    """Where pending messages wait, if its document keeps them outside of the store."""
    if not settings.redis_url or profile.name != "otto":
        return None
    scheme = scheme_of(settings.redis_url)
    if EXTRAS.get(scheme) != "redis":
        raise Invalid(f"REDIS_URL names no Redis server: {without_password(settings.redis_url)!r}")
    factory_of(scheme)  # says what is not installed
    from standfast.stores.redis.queue import RedisQueue

    return await RedisQueue.open(settings.redis_url)


def _on_redis(settings: Settings, profile: Profile) -> bool:
    return bool(settings.redis_url) and profile.name == "agtos"


def store_address(store: StorePath | None, settings: Settings, profile: Profile) -> str:
    if store is not None and not isinstance(store, str | os.PathLike):
        raise Invalid(f"store must be a path or a URL, not {type(store).__name__}")
    address = os.fspath(store) if store is not None else settings.store
    if address:
        return address
    if _on_redis(settings, profile):
        return settings.redis_url
    file = _default_folder(settings) / profile.store_file
    return str(compat.existing(file, _say_where))


def _default_folder(settings: Settings) -> Path:
    if settings.store_folder:
        return Path(settings.store_folder).expanduser()
    return data_folder(os.environ)


@cache
def _say_where(used: Path, wanted: Path) -> None:
    """Once a process. The module is loaded here, because who asks for a file needs no more."""
    import logging

    logging.getLogger("standfast").warning(
        "using %s, where an earlier version kept it; while nothing uses it, move it, and what "
        "begins with its name, to %s",
        used,
        wanted.parent,
    )


def data_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Where the user's data lies on this kind of machine."""
    if platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or "~/AppData/Local")
    elif platform == "darwin":
        base = Path("~/Library/Application Support")
    else:
        base = Path(environ.get("XDG_DATA_HOME") or "~/.local/share")
    return base.expanduser() / compat.FOLDER


def store_file(address: str) -> Path | None:
    """The SQLite file an address names; None for a store that is no file."""
    return sqlite_file(address) if scheme_of(address) == "sqlite" else None


def place_of(store: StorePath | None, profile: str | None) -> str:
    """The server that a store with these options is on, as it may be shown; "" if on none."""
    address = address_of(store, profile)
    return without_password(address) if scheme_of(address) not in ("sqlite", "dict") else ""


def shares_with_processes(store: StorePath | None, profile: str | None) -> bool:
    """May several processes open the store at once?"""
    return scheme_of(address_of(store, profile)) in SHARED


async def open_store(address: str, settings: Settings) -> Store:
    scheme = scheme_of(address)
    if scheme == "surrealkv":  # its engine asks the environment whether commits are synced
        os.environ.setdefault("SURREAL_SYNC_DATA", "true")
    factory = factory_of(scheme)  # numpy and drivers only when needed
    if scheme == "sqlite":
        unlock_file(sqlite_file(address), settings)
    elif settings.key_file and scheme != "dict":
        raise Invalid(
            f"a {scheme} store is encrypted where it is, not here; leave STANDFAST_KEY_FILE unset"
        )
    return await factory(address, cache_bytes=settings.cache_mb << 20)


def unlock_file(file: Path, settings: Settings) -> None:
    """The file of this name is opened with the key that the settings name, if they do."""
    from standfast.stores.sqlite.cipher import set_key
    from standfast.wiring.cipher import key_from

    set_key(file, key_from(settings.key_file))


def file_of(store: StorePath | None, profile: str | None) -> Path | None:
    """The file that a store with these options is in; None if it is in none."""
    return store_file(address_of(store, profile))


def address_of(store: StorePath | None, profile: str | None) -> str:
    """The address of a store with these options."""
    settings = read_settings(profile=profile)
    return store_address(store, settings, active_profile(settings, os.environ))


async def _embedder(
    wanted: str | Embedder | None, settings: Settings, profile: Profile, store: Store
) -> tuple[Embedder | None, str]:
    """The embedder, and the name of a better one that a store begun without it may move to."""
    from standfast.engine import begun_space
    from standfast.wiring.embedder import (
        Circumstances,
        better_local,
        chosen_name,
        embedder_for,
    )
    from standfast.wiring.models import model_folder, place_for

    if wanted is not None and not isinstance(wanted, str):
        return wanted, ""
    given = Circumstances(
        settings=settings,
        profile=profile,
        environ=os.environ,
        model=place_for(settings, ""),
        minilm_folder=model_folder("minilm"),
    )
    begun = await begun_space(store, utc_now())
    name = chosen_name(wanted, settings)
    better = better_local(begun, given) if begun and name in ("", "auto") else ""
    used = embedder_for(name, begun, given)
    return used, better


def _reader(settings: Settings) -> tuple[Reader | None, str]:
    """Who marks what messages say, or why nobody can."""
    from standfast.wiring.reader import reader_for, why_no_reader

    if trouble := why_no_reader():
        _say_unread(trouble)
        return None, trouble
    return reader_for(settings), ""


def _judge(settings: Settings) -> tuple[ChangeJudge | None, str]:
    """Who judges what new statements do to known ones, or why nobody can."""
    from standfast.wiring.judge import judge_for, why_no_judge

    trouble = why_no_judge()
    return (None, trouble) if trouble else (judge_for(settings), "")


@cache
def _say_unread(trouble: str) -> None:
    """Once a process."""
    import logging

    log = logging.getLogger("standfast")
    log.warning("nothing is learned without a language model: %s", trouble)


def utc_now() -> datetime:
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


def _redactor_for(settings: Settings) -> Redactor:
    """Invalid: settings that are no kinds or patterns. Without any, the patterns are loaded with
    the first text that is written: who only reads needs none of them."""
    if not settings.redact_off and not settings.redact_own:
        return cast("Redactor", _LaterRedactor())
    from standfast.text.redact import redactor_from

    return redactor_from(settings.redact_off, settings.redact_own)


class _LaterRedactor:
    """A ``Redactor`` that looks for every kind of secret."""

    def redact(self, text: str) -> Redacted:
        from standfast.text.redact import redact

        return redact(text)

    def redact_value(self, value: Any) -> tuple[Any, tuple[Secret, ...]]:
        from standfast.text.redact import redact_value

        return redact_value(value)
