"""Settings: one frozen value, built from a mapping. Only the wiring hands in the environment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from standfast.errors import Invalid
from standfast.profiles import Profile, profile_named, whole_number, with_environment
from standfast.types.frozen import frozen

PREFIX = "STANDFAST_"


@frozen
class Settings:
    """Each field is the environment variable STANDFAST_<NAME>; empty means "the default"."""

    store: str = ""  # path or URL of the store
    store_folder: str = ""  # where the default store file goes
    key_file: str = ""  # where the key of an encrypted store is: a file, or keyring:service/name
    profile: str = "default"
    embedder: str = ""  # empty: the profile's
    scope: str = "user:default"  # where writes go that name no scope
    cache_mb: int = 1024  # how much search index one process may hold
    journal_days: int = 0  # how long the journal is kept; 0: for ever
    model_folder: str = ""  # where the files of a local model lie, for machines without network
    model_threads: int = 2
    local_model: str = "recall-2"  # what a new store begins with: recall-2, minilm or hashing
    host: str = "127.0.0.1"
    port: int = 4777
    hosts: str = ""  # names the server answers to beside the loopback
    public_url: str = ""  # what others know it by behind a proxy, such as https://memory.example
    trusted_proxies: str = ""  # whose X-Forwarded-For is believed, such as 10.0.0.5
    origins: str = ""  # pages elsewhere that may use the server, such as https://app.example
    body_mb: int = 8  # most of one request to the server
    request_seconds: int = 60  # that one request to the server may take; 0: no limit
    rehearsal: str = "on"  # a server plays its verbs once before the first request; or "off"
    helpers: int = 2  # processes of the server for large requests; 0: none, and none for upkeep
    connections_per_address: int = 256  # to the server; 0: as many as there are
    rate: int = 6_000  # requests a minute for one root; 0: no limit
    writes_per_day: int = 0  # rows that one root may write; 0: no limit
    upload_mb: int = 1_024  # that one root may send in a minute; 0: no limit
    egress_mb: int = 1_024  # that one root may be sent in a minute; 0: no limit
    stored_records: int = 1_000_000  # of one root; 0: no limit
    stored_mb: int = 4_096  # of one root; 0: no limit
    mcp_rights: str = ""  # what tools may do beside read, write and erase, such as: review
    audit: str = "auto"  # of a served store; "on": of every store; "off"
    audit_days: int = 90  # how long its lines are kept; 0: for ever
    oidc_issuer: str = ""  # whose tokens are good beside keys; empty: nobody's
    oidc_audience: str = ""  # whom they must be for
    oidc_jwks: str = ""  # the issuer's keys: a file, or an https address
    oidc_scope: str = "user={sub}"  # the scope that a token's claims make
    oidc_rights: str = "read write"  # what its holder may do at most
    oidc_rights_claim: str = ""  # the claim that names rights; empty: all of those
    oidc_holder: str = "person"  # person, agent or service
    sign_key: str = ""  # a file with a private Ed25519 key (PEM) that signs every export
    volatile: str = "keep"  # what may not be written: kept in the server's process; or "refuse"
    admin_key: str = ""  # the secret of an admin key, made when the server starts
    admin_key_file: str = ""  # a file that holds it
    webhook_hosts: str = ""  # private addresses that webhooks may go to, such as 10.0.0.5:8080
    log_level: str = "warning"  # debug, info (a line for each request), warning or error
    log_format: str = "text"  # or "json"
    redis_url: str = ""  # under agtos the store, under otto where pending messages wait
    ollama_url: str = ""
    embedding_provider: str = ""  # the embedder in two parts, for those who write it so
    embedding_model: str = ""
    embedder_url: str = ""  # where an embedding service is; empty: the provider's own address
    embedder_key_env: str = ""  # the variable that holds its key; empty: the usual one
    model: str = ""  # "openai:gpt-4o-mini"; empty: no language model
    model_summarize: str = ""  # the model for summaries; empty: model
    model_extract: str = ""  # the model that learns from turns; empty: model
    model_rerank: str = ""  # the model that chooses among candidates; empty: model
    model_consolidate: str = ""  # the model that writes profiles; empty: model
    consolidate_share_max: float = 0.1  # a run that would retire more asks first
    redact_off: str = ""  # kinds of secrets to leave alone, with commas between them
    redact_own: str = ""  # kinds of your own: JSON, {"badge": "B-[0-9]{6}"}
    own_types: str = ""  # a TOML file of types of your own, and of what a model is told that learns
    close_seconds: float = 2.0  # how long closing a memory may learn from what was said to it
    learn: str = "auto"  # as the profile says, with the model if there is one; "rules"; "off"
    model_url: str = ""  # where the models are; empty: the provider's own address
    model_key_env: str = ""  # the variable that holds the key; empty: the provider's usual one
    model_price: str = ""  # "0.15/0.60": dollars per million tokens in and out
    model_timeout_seconds: int = 60  # for one try
    tokens_per_call: int = 32_000  # question and answer; 0: no limit
    tokens_per_day: int = 1_000_000  # per root scope and day; 0: no limit
    money_per_day: float = 5.0  # dollars per root scope and day; 0: no limit

    @classmethod
    def from_mapping(cls, environ: Mapping[str, str]) -> Settings:
        """STANDFAST_* variables, then those of the active profile's own specification."""
        found: dict[str, Any] = {}
        for setting in fields(cls):
            variable = PREFIX + setting.name.upper()
            if environ.get(variable):
                found[setting.name] = _parsed(variable, environ[variable], setting.default)
        profile = profile_named(found.get("profile", "default"))
        if profile.port:
            found.setdefault("port", profile.port)
        for variable, target in profile.environment.items():
            name = target.removeprefix("settings.")
            if name != target and environ.get(variable):
                found.setdefault(name, environ[variable])
        return cls(**found)


def _parsed(variable: str, text: str, default: object) -> object:
    if isinstance(default, int):
        return whole_number(variable, text)
    return amount(variable, text) if isinstance(default, float) else text


def amount(variable: str, text: str) -> float:
    """A number that is not negative, in digits."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise Invalid(f"{variable}={text!r} is not an amount; write a number such as 2.50")
    return number


def active_profile(settings: Settings, environ: Mapping[str, str]) -> Profile:
    profile = with_environment(profile_named(settings.profile), environ)
    profile = replace(profile, consolidate_share_max=settings.consolidate_share_max)
    if settings.audit not in ("auto", "on", "off"):
        raise Invalid(f"{PREFIX}AUDIT={settings.audit!r}: write auto, on or off")
    if settings.learn not in ("auto", "rules", "off"):
        raise Invalid(f"{PREFIX}LEARN={settings.learn!r}: write auto, rules or off")
    if settings.learn == "off":
        return replace(profile, learn="off")
    asked_for = settings.learn == "rules" and profile.learn == "off"
    return replace(profile, learn="turns") if asked_for else profile
