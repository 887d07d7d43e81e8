"""Names of models: ``provider:model``, or any name at an OpenAI-compatible address."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from standfast.errors import Invalid
from standfast.types.frozen import frozen

COMPATIBLE = "openai-compatible"
OLLAMA_URL = "http://127.0.0.1:11434/v1"

# Provider -> where its key usually is; the first variable that is set counts.
KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "ollama": ("OLLAMA_API_KEY",),
    COMPATIBLE: (),  # nobody's key goes to an address we know nothing about
}
URLS: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "ollama": OLLAMA_URL,
}
ALIASES: Mapping[str, str] = {"gemini": "google"}
NEEDS_KEY = frozenset({"openai", "anthropic", "google"})
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@frozen
class Place:
    """Which model, and where."""

    provider: str
    model: str
    url: str

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def here(self) -> bool:
        """Is it on this machine? Then no proxy has any business with it."""
        return urlsplit(self.url).hostname in LOOPBACK

    @property
    def own_address(self) -> bool:
        """Is it the provider's own address, where a key is needed?"""
        return self.provider in NEEDS_KEY and self.url == URLS[self.provider]


def place_of(name: str, url: str = "", *, url_setting: str = "STANDFAST_MODEL_URL") -> Place:
    """Read ``openai:gpt-4o-mini``; with ``url`` a name without a known provider is taken as it
    is. Invalid says what to write instead; ``url_setting`` is where an address is set."""
    if url:
        _check_url(url, url_setting)
    provider, colon, model = name.strip().partition(":")
    provider = ALIASES.get(provider, provider)
    if provider not in KEY_VARIABLES or not colon:
        provider, model = (COMPATIBLE, name.strip()) if url else ("", "")
    if not model:
        known = ", ".join(f"{known}:..." for known in URLS)
        raise Invalid(f"model {name!r} is unknown; write {known}, or set {url_setting} too")
    if provider == COMPATIBLE and not url:
        raise Invalid(f"model {name!r} needs an address: set {url_setting}")
    address = (url or URLS[provider]).rstrip("/")
    if provider == "ollama" and not urlsplit(address).path:
        address += "/v1"
    return Place(provider=provider, model=model, url=address)


def _check_url(url: str, setting: str) -> None:
    try:
        parts = urlsplit(url)
        secret = parts.username or parts.password
        fine = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        secret, fine = None, None
    if secret:
        raise Invalid(f"{setting} holds a name or password; give a key instead")
    if not fine:
        raise Invalid(f"{setting}={url!r} is no address; write https://host/v1")
