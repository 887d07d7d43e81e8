"""One question to a model of any provider, through pydantic-ai."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from standfast.errors import Unavailable, install_command
from standfast.models.providers.llm.answers import MisfitError, fit, read_json, storable
from standfast.models.providers.llm.names import Place
from standfast.ports import AnswerError, Prompt, Reply
from standfast.types import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

SECONDS = 60.0


class ProviderModel:
    """A model behind HTTP. It keeps no connection between questions, so it belongs to no event
    loop and needs no closing. Its key never leaves it but in a request's header."""

    def __init__(
        self, place: Place, *, key: str = "", key_hint: str = "", seconds: float = SECONDS
    ) -> None:
        """``key_hint`` says where a missing key should be."""
        self._place = place
        self._key = key.strip()
        self._key_hint = key_hint or "its key"
        self._seconds = seconds
        self._native = True  # until it turns out that this model takes no schema

    @property
    def name(self) -> str:
        return self._place.name

    def __repr__(self) -> str:
        return f"ProviderModel({self.name!r})"

    async def ask(self, prompt: Prompt) -> Reply:
        if self._place.own_address and not self._key:
            raise Unavailable(f"{self.name} needs a key: set {self._key_hint}", lasting=True)
        await asyncio.to_thread(_load_library, self._place.provider)
        sent: ModelResponse | None = None
        failure: Exception | None = None
        try:
            async with asyncio.timeout(self._seconds):
                sent = await self._sent(prompt)
        except TimeoutError:
            said = f"{self.name} did not answer within {self._seconds:g} seconds"
            failure = Unavailable(said, outcome_unknown=True)
        except Exception as error:
            failure = self._explained(error)
        # Raised out here, so that no request with its key hangs on the error as its context.
        if sent is None:
            raise failure or Unavailable(f"{self.name} gave no answer")
        return self._read(sent, prompt)

    async def _sent(self, prompt: Prompt) -> ModelResponse:
        from standfast.models.providers.llm import wire

        line = wire.Wire(place=self._place, key=self._key, seconds=self._seconds)
        if prompt.schema is None or not self._native:
            return await wire.send(line, prompt, native=False)
        try:
            return await wire.send(line, prompt, native=True)
        except wire.NoSchemaError:
            answer = await wire.send(line, prompt, native=False)
            self._native = False
        return answer

    def _explained(self, error: Exception) -> Exception:
        from standfast.models.providers.llm import wire

        return wire.explained(error, self.name, self._key)

    def _read(self, sent: ModelResponse, prompt: Prompt) -> Reply:
        usage = Usage(
            calls=1,
            tokens_in=sent.usage.input_tokens,
            tokens_out=sent.usage.output_tokens,
        )
        text = storable(sent.text or "")
        cut = f" (cut off at {prompt.tokens_max} tokens)" if sent.finish_reason == "length" else ""
        if not text.strip():
            raise AnswerError(f"{self.name} answered nothing{cut}", usage=usage)
        if prompt.schema is None:
            return Reply(text=text, usage=usage)
        trouble = ""
        data: Any = None
        try:
            data = fit(read_json(text), prompt.schema)
        except MisfitError as error:
            trouble = str(error)
        if trouble:
            raise AnswerError(f"{self.name}: {trouble}{cut}", usage=usage)
        return Reply(text=text, data=data, usage=usage)


def _load_library(provider: str) -> None:
    """It takes a second to import: only when the first question is asked, and in a thread."""
    try:
        from standfast.models.providers.llm import wire

        wire.load(provider)
    except ImportError as error:
        raise Unavailable(
            f"language models need {error.name}: {install_command('llm')}",
            lasting=True,
        ) from None
