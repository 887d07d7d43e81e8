"""Embeddings by OpenAI and servers that speak like it, Gemini and Ollama: ``RemoteEmbedder`` asks
once, within a time and a size, and hands back one vector per text or a plain error."""

from standfast.models.providers.embedding.names import (
    Target,
    is_remote,
    name_by_provider,
    paired_name,
    provider_of,
    target_of,
)
from standfast.models.providers.embedding.remote import AbsentEmbedder, RemoteEmbedder

__all__ = [
    "AbsentEmbedder",
    "RemoteEmbedder",
    "Target",
    "is_remote",
    "name_by_provider",
    "paired_name",
    "provider_of",
    "target_of",
]
