"""The only module that knows pydantic-ai: a prompt sent over the wire, its errors in our words."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import httpx2
from pydantic_ai import exceptions
from pydantic_ai.direct import model_request
from pydantic_ai.messages import (
    InstructionPart,
    ModelRequest,
    ModelResponse,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from standfast.errors import Invalid, StandfastError, Unavailable
from standfast.models.providers.llm.limited import TooLargeError, new_client
from standfast.models.providers.llm.names import COMPATIBLE, Place
from standfast.models.providers.llm.said import message_in, scrubbed
from standfast.ports import AnswerError, Prompt
from standfast.types import Usage
from standfast.types.frozen import frozen

NO_KEY = "none"  # the client libraries insist on something
REFUSES_SCHEMA = frozenset({400, 415, 422, 501})

_MODULES = {"anthropic": "anthropic", "google": "google", "ollama": "ollama"}
_AS_JSON = """

Answer with one JSON value and nothing else: no explanation, no code fence. It must fit this \
JSON schema:
"""


class NoSchemaError(Exception):
    """This model cannot be given a schema; ask for JSON in words."""


@frozen
class Wire:
    """Where to call, with which key, and for how long."""

    place: Place
    key: str
    seconds: float


def load(provider: str) -> None:
    """Import what this provider needs; ImportError if it is not installed."""
    import_module(f"pydantic_ai.models.{_MODULES.get(provider, 'openai')}")


async def send(line: Wire, prompt: Prompt, *, native: bool) -> ModelResponse:
    """One request. ``native`` hands the schema to the provider; else the question asks for it."""
    async with new_client(line.seconds, proxies=not line.place.here) as client:
        model = _model(line, client)
        if native and not model.profile.get("supports_json_schema_output", False):
            raise NoSchemaError
        try:
            return await model_request(
                model,
                _messages(prompt, native=native),
                model_settings=_settings(line, prompt),
                model_request_parameters=_parameters(prompt, native=native),
                instrument=False,
            )
        except exceptions.ModelHTTPError as error:
            if native and _may_be_about_the_schema(error):
                raise NoSchemaError from None
            raise


def _may_be_about_the_schema(error: exceptions.ModelHTTPError) -> bool:
    """Some compatible servers refuse a request that has a schema in it; it is worth one try
    without. Keys, unknown models and full windows are other matters."""
    other = (
        exceptions.ModelAuthenticationError,
        exceptions.ModelContextWindowExceededError,
        exceptions.ModelNotFoundError,
        exceptions.ModelQuotaExceededError,
    )
    return error.status_code in REFUSES_SCHEMA and not isinstance(error, other)


def _model(line: Wire, client: httpx2.AsyncClient) -> Model:
    place, key = line.place, line.key or NO_KEY
    if place.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        claude = AnthropicProvider(api_key=key, base_url=place.url, http_client=client)
        return AnthropicModel(place.model, provider=claude)
    if place.provider == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        gemini = GoogleProvider(api_key=key, base_url=place.url, http_client=client)
        return GoogleModel(place.model, provider=gemini)
    if place.provider == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        ollama = OllamaProvider(base_url=place.url, api_key=key, http_client=client)
        return OllamaModel(place.model, provider=ollama)
    from pydantic_ai.models.openai import OpenAIChatModel

    return OpenAIChatModel(place.model, provider=_openai(place, key, client))


def _openai(place: Place, key: str, client: httpx2.AsyncClient) -> Any:
    if place.provider == "openai":
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIProvider(base_url=place.url, api_key=key, http_client=client)
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    return OpenAICompatibleProvider(
        "openai-compatible", base_url=place.url, api_key=key, http_client=client
    )


def _messages(prompt: Prompt, *, native: bool) -> list[Any]:
    return [
        ModelRequest(
            parts=[UserPromptPart(content=prompt.user)],
            instructions=_system(prompt, native=native),
        )
    ]


def _system(prompt: Prompt, *, native: bool) -> str:
    if prompt.schema is None or native:
        return prompt.system
    return prompt.system + _AS_JSON + json.dumps(prompt.schema, ensure_ascii=False)


def _settings(line: Wire, prompt: Prompt) -> ModelSettings:
    """Without thinking aloud, where a model can be told so: it would use up the answer's tokens."""
    settings = ModelSettings(timeout=line.seconds, max_retries=0, thinking=False)
    if line.place.provider in ("ollama", COMPATIBLE):
        # The library would send OpenAI's newer name for it, which Ollama and others pass over.
        settings["extra_body"] = {"max_tokens": prompt.tokens_max}
    else:
        settings["max_tokens"] = prompt.tokens_max
    return settings


def _parameters(prompt: Prompt, *, native: bool) -> ModelRequestParameters:
    instructions = [InstructionPart(content=_system(prompt, native=native))]
    if prompt.schema is None or not native:
        return ModelRequestParameters(instruction_parts=instructions)
    answer = OutputObjectDefinition(json_schema=dict(prompt.schema), name=prompt.operation)
    return ModelRequestParameters(
        output_mode="native", output_object=answer, instruction_parts=instructions
    )


# Errors


def explained(error: Exception, name: str, key: str) -> Exception:
    """The same in our words, with nothing in it that was secret."""
    if isinstance(error, exceptions.UnexpectedModelBehavior):
        said = scrubbed(error.message, key)
        return AnswerError(f"{name} answered nonsense: {said}", usage=Usage(calls=1))
    large = _cause(error, TooLargeError)
    if large is not None:
        return AnswerError(f"{name}: {large}", usage=Usage(calls=1))
    if isinstance(error, exceptions.ModelHTTPError):
        return _refused(error, name, key)
    if isinstance(error, exceptions.ModelConnectionError):
        sent = error.phase not in ("pool", "connect")
        return Unavailable(f"{name} cannot be reached: {_why(error, key)}", outcome_unknown=sent)
    said = scrubbed(f"{type(error).__name__}: {error}", key)
    return Unavailable(f"{name} failed: {said}", outcome_unknown=True)


def _refused(error: exceptions.ModelHTTPError, name: str, key: str) -> StandfastError:
    said = scrubbed(message_in(error.body), key)
    told = f"{name} answered with status {error.status_code}" + (f": {said}" if said else "")
    lasting = isinstance(
        error,
        exceptions.ModelAuthenticationError
        | exceptions.ModelNotFoundError
        | exceptions.ModelQuotaExceededError,
    )
    if isinstance(error, exceptions.ModelRequestRejectedError) and not lasting:
        return Invalid(told)  # the model works, but not on this question: too long, for one
    return Unavailable(told, retry_after=error.retry_after, lasting=lasting)


def _cause(error: BaseException, kind: type[Exception]) -> BaseException | None:
    at: BaseException | None = error
    while at is not None and not isinstance(at, kind):
        at = at.__cause__ or at.__context__
    return at


def _why(error: Exception, key: str) -> str:
    cause = error.__cause__ or error
    return scrubbed(str(cause) or type(cause).__name__, key)
