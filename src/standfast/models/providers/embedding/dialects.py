"""How each provider is asked for embeddings, and how it answers. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from standfast.models.providers.embedding.names import Target
from standfast.ports import Limits, Rows
from standfast.types import Usage
from standfast.types.frozen import frozen


class VectorMisfitError(ValueError):
    """Why an answer is no answer, in words."""


@frozen
class Request:
    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@frozen
class Dialect:
    ask: Callable[[Target, str, Sequence[str], bool], Request]
    read: Callable[[Any], Rows]
    limits: Limits


def dialect_of(target: Target) -> Dialect:
    return _DIALECTS.get(target.place.provider, COMPATIBLE_DIALECT)


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _prefixed(target: Target, texts: Sequence[str], query: bool) -> list[str]:
    """Nomic's models were trained with a word in front that says what a text is for."""
    if not target.family.rpartition("/")[2].startswith("nomic-embed-text"):
        return list(texts)
    word = "search_query" if query else "search_document"
    return [f"{word}: {text}" for text in texts]


# OpenAI


def _ask_openai(target: Target, key: str, texts: Sequence[str], query: bool) -> Request:
    body: dict[str, Any] = {
        "model": target.place.model,
        "input": _prefixed(target, texts, query),
    }
    if target.family.startswith("text-embedding-3"):  # no other model can be asked for a size
        body["dimensions"] = target.dimensions
    return Request(url=f"{target.place.url}/embeddings", headers=_bearer(key), body=body)


def _read_openai(answer: Any) -> Rows:
    data = sorted(_list(answer, "data"), key=lambda entry: _number(entry, "index"))
    if [_number(entry, "index") for entry in data] != list(range(len(data))):
        raise VectorMisfitError("the vectors are not numbered from 0 without gaps")
    return Rows(
        rows=[_row(entry, "embedding") for entry in data],
        usage=_usage(answer, "usage", "prompt_tokens"),
    )


# Gemini


def _ask_google(target: Target, key: str, texts: Sequence[str], query: bool) -> Request:
    model = target.place.model.removeprefix("models/")
    rest: dict[str, Any] = {"outputDimensionality": target.dimensions}
    if target.family == "gemini-embedding-001":  # later models take no task
        rest["taskType"] = "RETRIEVAL_QUERY" if query else "RETRIEVAL_DOCUMENT"
    requests = [
        {"model": f"models/{model}", "content": {"parts": [{"text": text}]}, **rest}
        for text in texts
    ]
    return Request(
        url=f"{target.place.url}/v1beta/models/{quote(model, safe='')}:batchEmbedContents",
        headers={"x-goog-api-key": key} if key else {},
        body={"requests": requests},
    )


def _read_google(answer: Any) -> Rows:
    return Rows(
        rows=[_row(entry, "values") for entry in _list(answer, "embeddings")],
        usage=_usage(answer, "usageMetadata", "promptTokenCount"),
    )


# Ollama


def _ask_ollama(target: Target, key: str, texts: Sequence[str], query: bool) -> Request:
    body: dict[str, Any] = {
        "model": target.place.model,
        "input": _prefixed(target, texts, query),
        "truncate": True,
    }
    if target.own_dimensions and target.dimensions != target.own_dimensions:
        body["dimensions"] = target.dimensions
    # Language models are asked at /v1, which speaks like OpenAI; this is Ollama's own address.
    base = target.place.url.removesuffix("/v1")
    return Request(url=f"{base}/api/embed", headers=_bearer(key), body=body)


def _read_ollama(answer: Any) -> Rows:
    return Rows(
        rows=[_numbers(row) for row in _list(answer, "embeddings")],
        usage=_usage({"all": answer}, "all", "prompt_eval_count"),
    )


# Reading what anybody may have sent


def _list(answer: Any, name: str) -> list[Any]:
    found = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise VectorMisfitError(f"the answer has no list {name!r}")
    return found


def _row(entry: Any, name: str) -> list[float]:
    return _numbers(entry.get(name) if isinstance(entry, dict) else None)


def _numbers(row: Any) -> list[float]:
    if not isinstance(row, list) or not all(type(value) in (int, float) for value in row):
        raise VectorMisfitError("a vector is no list of numbers")
    return row


def _number(entry: Any, name: str) -> int:
    found = entry.get(name) if isinstance(entry, dict) else None
    if type(found) is not int:
        raise VectorMisfitError(f"a vector has no {name}")
    return found


def _usage(answer: Any, group: str, name: str) -> Usage:
    """Some say what they counted, some do not."""
    found = answer.get(group) if isinstance(answer, dict) else None
    told = found.get(name) if isinstance(found, dict) else None
    return Usage(calls=1, tokens_in=told if type(told) is int and told > 0 else 0)


# OpenAI takes 2,048 texts, 8,192 tokens each and 300,000 together; Gemini 100 texts of 2,048
# tokens. An answer with 100 long vectors is some megabytes, which is enough at once.
_DIALECTS: Mapping[str, Dialect] = {
    "openai": Dialect(
        ask=_ask_openai,
        read=_read_openai,
        limits=Limits(texts=100, tokens=200_000, tokens_each=8_000),
    ),
    "google": Dialect(
        ask=_ask_google,
        read=_read_google,
        limits=Limits(texts=100, tokens=100_000, tokens_each=2_000),
    ),
    "ollama": Dialect(
        ask=_ask_ollama,
        read=_read_ollama,
        limits=Limits(texts=32, tokens=32_000, tokens_each=2_000),
    ),
}
# Servers of one's own are often small; what is too long for one is tried again shorter.
COMPATIBLE_DIALECT = Dialect(
    ask=_ask_openai,
    read=_read_openai,
    limits=Limits(texts=32, tokens=32_000, tokens_each=2_000),
)
