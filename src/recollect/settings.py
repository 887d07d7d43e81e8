"""Settings: one frozen value, built from a mapping. Only wiring.py hands in the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from recollect.profiles import Profile, profile_named, whole_number, with_environment

PREFIX = "RECOLLECT_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each field is the environment variable RECOLLECT_<NAME>; empty means "the default"."""

    store: str = ""  # path or URL of the store
    store_folder: str = ""  # where the default store file goes
    profile: str = "default"
    embedder: str = ""  # empty: the profile's
    scope: str = "user:default"  # where writes go that name no scope
    cache_mb: int = 1024  # how much search index one process may hold
    host: str = "127.0.0.1"
    port: int = 4777
    redis_url: str = ""
    ollama_url: str = ""
    embedding_provider: str = ""
    embedding_model: str = ""

    @classmethod
    def from_mapping(cls, environ: Mapping[str, str]) -> Settings:
        """RECOLLECT_* variables, then those of the active profile's own specification."""
        found: dict[str, Any] = {}
        for setting in fields(cls):
            variable = PREFIX + setting.name.upper()
            if environ.get(variable):
                found[setting.name] = _parsed(variable, environ[variable], setting.default)
        profile = profile_named(found.get("profile", "default"))
        for variable, target in profile.environment.items():
            name = target.removeprefix("settings.")
            if name != target and environ.get(variable):
                found.setdefault(name, environ[variable])
        return cls(**found)


def _parsed(variable: str, text: str, default: object) -> object:
    return whole_number(variable, text) if isinstance(default, int) else text


def active_profile(settings: Settings, environ: Mapping[str, str]) -> Profile:
    return with_environment(profile_named(settings.profile), environ)
