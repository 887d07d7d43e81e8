"""Models over HTTP: every provider's dialect, every way in which a server can misbehave."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from standfast.errors import Invalid, StandfastError, Unavailable, install_command
from standfast.models.providers.llm import ProviderModel, place_of
from standfast.models.providers.llm.answers import MisfitError, fit, read_json
from standfast.models.providers.llm.prices import known_price
from standfast.ports import AnswerError, Prompt, Reply
from standfast.settings import Settings
from standfast.testing import scripted
from standfast.testing.scripted import Behaviour, ScriptedAnswer, ScriptedQuestion, ScriptedServer
from standfast.wiring.models import open_model

needs_llm = pytest.mark.skipif(
    find_spec("pydantic_ai") is None, reason="the extra is missing: standfast[llm]"
)

KEY = "plainly-secret-4711-0815"  # nothing that looks like a key: only knowing it removes it
SCHEMA = {
    "type": "object",
    "properties": {"summary": {"type": "string", "maxLength": 1000}},
    "required": ["summary"],
    "additionalProperties": False,
}
PROMPT = Prompt(
    operation="summarize", system="Be brief.", user="Tea at noon.", schema=SCHEMA, tokens_max=200
)
GOOD = {"summary": "Tea at noon."}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def model_at(
    server: ScriptedServer, name: str = "openai:gpt-4o-mini", *, seconds: float = 20.0
) -> ProviderModel:
    plain = name.startswith(("anthropic:", "google:", "ollama:"))
    place = place_of(name, server.address if plain else server.url)
    return ProviderModel(place, key=KEY, seconds=seconds)


def ask(model: ProviderModel, prompt: Prompt = PROMPT) -> Reply:
    return asyncio.run(model.ask(prompt))


def failure(model: ProviderModel, prompt: Prompt = PROMPT) -> StandfastError:
    with pytest.raises(StandfastError) as caught:
        ask(model, prompt)
    return caught.value


PROVIDERS = [
    "openai:gpt-4o-mini",
    "anthropic:claude-haiku-4-5",
    "google:gemini-2.5-flash",
    "ollama:llama3:8b",
    "any/local-model:q4",
]

# How each is told where to stop; Ollama passes over OpenAI's newer name.
TOKENS_FIELD = {
    "openai": "'max_completion_tokens': 200",
    "anthropic": "'max_tokens': 200",
    "google": "'maxOutputTokens': 200",
    "ollama": "'max_tokens': 200",
    "any/local-model": "'max_tokens': 200",
}


@needs_llm
@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_answers_with_data_that_fits(server: ScriptedServer, name: str) -> None:
    server.script(scripted.says_json(GOOD, usage=(120, 30)))
    reply = ask(model_at(server, name))
    assert reply.data == GOOD
    assert (reply.usage.calls, reply.usage.tokens_in, reply.usage.tokens_out) == (1, 120, 30)
    (asked,) = server.requests
    assert (asked.system, asked.user) == ("Be brief.", "Tea at noon.")
    assert asked.schema is not None
    assert asked.schema["required"] == ["summary"]
    assert KEY in str(asked.headers), "the key goes into a header"
    assert TOKENS_FIELD[name.partition(":")[0]] in str(asked.body)
    assert KEY not in asked.path + str(asked.body)


@needs_llm
@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_tells_when_to_come_again_and_is_asked_once(
    server: ScriptedServer, name: str
) -> None:
    server.script(scripted.too_many(retry_after=7))
    error = failure(model_at(server, name))
    assert isinstance(error, Unavailable)
    assert (error.retry_after, error.lasting, error.outcome_unknown) == (7.0, False, False)
    assert len(server.requests) == 1, "retrying is not the model's business"


@needs_llm
@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_may_answer_prose(server: ScriptedServer, name: str) -> None:
    server.script(scripted.prose())
    error = failure(model_at(server, name))
    assert isinstance(error, AnswerError)
    assert "no JSON" in str(error)
    assert error.usage.tokens_in == 100, "it was paid for all the same"


@needs_llm
@pytest.mark.parametrize("name", PROVIDERS)
def test_the_key_is_in_no_error_and_no_log(
    server: ScriptedServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    model = model_at(server, name)
    server.script(scripted.fails(401, f"Incorrect API key provided: {KEY}"), scripted.resets())
    refused, broken = failure(model), failure(model)
    assert isinstance(refused, Unavailable)
    assert refused.lasting
    assert "401" in str(refused)
    for error in (refused, broken):
        assert KEY not in f"{error!r} {error.__dict__} {error.args}"
        assert error.__context__ is None, "a request with its headers would hang on it"
        assert error.__cause__ is None
    assert KEY not in caplog.text + repr(model)


@needs_llm
@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (scripted.prose(), "no JSON"),
        (scripted.cut_off(), "broken JSON .cut off at 200 tokens"),
        (scripted.says_nothing(), "nothing"),
        (scripted.says_null(), "nothing"),
        (scripted.null_body(), "nonsense"),
        (scripted.wrong_type(), "nonsense"),
        (scripted.html_page(200), "nonsense"),
        (scripted.says_json(None), "an object, not null"),
        (scripted.says_json({"summary": 3}), "summary must be text, not a number"),
        (scripted.says_json({"text": "tea"}), "lacks summary"),
        (scripted.says_json({**GOOD, "mood": "good"}), "1 fields more"),
        (scripted.says_json({"summary": "x" * 1001}), "longer than 1000"),
        (scripted.huge(), "larger than 1024 KiB"),
        (ScriptedAnswer(raw=b"x", headers={"Content-Encoding": "gzip"}), "packed"),
    ],
)
def test_an_answer_that_does_not_fit_is_named(
    server: ScriptedServer, behaviour: Behaviour, said: str
) -> None:
    server.script(behaviour)
    with pytest.raises(AnswerError, match=said):
        ask(model_at(server))


@needs_llm
@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (scripted.empty_body(), "decode"),
        (scripted.half_body(), "decode"),
        (scripted.not_utf8(), "decode"),
        (scripted.html_page(), "status 502$"),
        (scripted.fails(500), "status 500: something broke"),
        (scripted.fails(599), "status 599"),
        (scripted.resets(), "cannot be reached"),
    ],
)
def test_a_service_that_fails_is_unavailable(
    server: ScriptedServer, behaviour: Behaviour, said: str
) -> None:
    server.script(behaviour)
    with pytest.raises(Unavailable, match=said):
        ask(model_at(server))
    assert len(server.requests) == 1


@needs_llm
@pytest.mark.parametrize("behaviour", [scripted.hangs(), scripted.drips("slow " * 200)])
def test_a_slow_service_is_left_in_time(server: ScriptedServer, behaviour: Behaviour) -> None:
    model = model_at(server, seconds=0.5)
    server.script(scripted.says_json(GOOD), behaviour)
    ask(model_at(server))  # so that the library is loaded
    begun = time.monotonic()
    error = failure(model)
    assert time.monotonic() - begun < 5
    assert isinstance(error, Unavailable)
    assert error.outcome_unknown
    assert "within 0.5 seconds" in str(error)


@needs_llm
@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refused_question_is_no_failure_of_the_service(
    server: ScriptedServer, status: int
) -> None:
    server.otherwise = scripted.fails(status, "this model's maximum context length is 8192 tokens")
    error = failure(model_at(server))
    assert type(error) is Invalid
    assert f"status {status}" in str(error)


@needs_llm
@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_what_somebody_must_put_right_lasts(server: ScriptedServer, status: int) -> None:
    server.script(scripted.fails(status, "no"))
    error = failure(model_at(server))
    assert isinstance(error, Unavailable)
    assert error.lasting
    assert len(server.requests) == 1


@needs_llm
def test_nobody_listens() -> None:
    with ScriptedServer() as server:
        model = model_at(server)
    error = failure(model)
    assert isinstance(error, Unavailable)
    assert "cannot be reached" in str(error)


@needs_llm
def test_fenced_json_and_missing_usage_are_taken(server: ScriptedServer) -> None:
    server.script(scripted.fenced(GOOD), scripted.says_json(GOOD, usage=None))
    model = model_at(server)
    assert ask(model).data == GOOD
    assert ask(model).usage.tokens_in == 0, "0 = the provider did not say"


@needs_llm
def test_plain_text_needs_no_schema(server: ScriptedServer) -> None:
    server.script(scripted.says("Tea.\x00"))
    reply = ask(model_at(server), Prompt(operation="chat", system="s", user="u"))
    assert (reply.text, reply.data) == ("Tea.\ufffd", None)
    assert server.requests[0].schema is None


@needs_llm
def test_a_server_that_takes_no_schema_is_asked_in_words_from_then_on(
    server: ScriptedServer,
) -> None:
    def old_server(asked: ScriptedQuestion) -> ScriptedAnswer:
        if asked.schema is not None:
            return scripted.fails(400, "response_format is not supported")
        return scripted.says_json(GOOD)

    server.otherwise = old_server
    model = model_at(server, "old-model")
    assert ask(model).data == ask(model).data == GOOD
    assert [asked.schema is None for asked in server.requests] == [False, True, True]
    assert '"required": ["summary"]' in server.requests[1].system


@needs_llm
def test_a_model_known_to_take_no_schema_is_asked_in_words(server: ScriptedServer) -> None:
    server.script(scripted.says_json(GOOD))
    assert ask(model_at(server, "anthropic:claude-3-haiku-20240307")).data == GOOD
    assert len(server.requests) == 1
    assert "JSON schema" in server.requests[0].system


@needs_llm
def test_the_rule_of_the_scripted_server_summarises(server: ScriptedServer) -> None:
    server.otherwise = scripted.summarises(words=2)
    assert ask(model_at(server)).data == {"summary": "Tea at"}


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "standfast.models.providers.llm.wire", raising=False)
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    import standfast.models.providers.llm as package

    monkeypatch.delattr(package, "wire", raising=False)
    error = failure(ProviderModel(place_of("openai:gpt-4o-mini"), key=KEY))
    assert isinstance(error, Unavailable)
    assert error.lasting
    assert install_command("llm") in str(error)


def test_a_missing_key_is_named() -> None:
    error = failure(ProviderModel(place_of("openai:gpt-4o-mini"), key_hint="OPENAI_API_KEY"))
    assert "set OPENAI_API_KEY" in str(error)


# Names and settings


@pytest.mark.parametrize(
    ("name", "url", "full", "address"),
    [
        ("openai:gpt-4o", "", "openai:gpt-4o", "https://api.openai.com/v1"),
        ("ollama:llama3:8b", "", "ollama:llama3:8b", "http://127.0.0.1:11434/v1"),
        ("ollama:x", "http://box:11434/", "ollama:x", "http://box:11434/v1"),
        ("llama3:8b", "http://h/v1/", "openai-compatible:llama3:8b", "http://h/v1"),
        ("openai:x", "http://h/v1", "openai:x", "http://h/v1"),
    ],
)
def test_a_name_says_where(name: str, url: str, full: str, address: str) -> None:
    place = place_of(name, url)
    assert (place.name, place.url) == (full, address)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("gpt-4o", ""),
        ("mars:rover", ""),
        ("openai:", ""),
        ("openai-compatible:x", ""),
        ("x", "ftp://h"),
        ("x", "http://"),
        ("x", "http://h:port/v1"),
        ("x", "http://me:secret@h/v1"),
    ],
)
def test_a_bad_name_or_address_is_refused(name: str, url: str) -> None:
    with pytest.raises(Invalid) as caught:
        place_of(name, url)
    assert "secret" not in str(caught.value)


def test_settings_name_a_model_for_each_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_model(Settings()) is None
    settings = Settings.from_mapping(
        {"STANDFAST_MODEL": "openai:gpt-4o", "STANDFAST_MODEL_SUMMARIZE": "ollama:llama3"}
    )
    models = [open_model(settings, operation) for operation in ("", "summarize", "extract")]
    assert [model and model.name for model in models] == [
        "openai:gpt-4o",
        "ollama:llama3",
        "openai:gpt-4o",
    ]
    monkeypatch.setenv("MY_KEY", KEY)
    own = open_model(Settings(model="openai:gpt-4o", model_key_env="MY_KEY"))
    assert KEY not in f"{own!r}"
    with pytest.raises(Invalid, match="amount"):
        Settings.from_mapping({"STANDFAST_MONEY_PER_DAY": "much"})


@needs_llm
def test_a_key_of_a_provider_goes_to_no_unknown_address(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.script(scripted.says_json(GOOD))
    model = open_model(Settings(model="some-model", model_url=server.url))
    assert model is not None
    asyncio.run(model.ask(PROMPT))
    assert KEY not in str(server.requests[0].headers)


@needs_llm
def test_prices_come_from_the_list() -> None:
    assert known_price(place_of("openai:gpt-4o-mini")) == (0.15, 0.6)
    assert known_price(place_of("openai:no-such-model")) is None
    assert known_price(place_of("ollama:llama3")) == (0.0, 0.0)


# Answers


@pytest.mark.parametrize(
    "text",
    ['{"a": 1}', ' \n{"a": 1} ', '```json\n{"a": 1}\n```', 'Sure:\n```\n{"a": 1}\n```\nBye.'],
)
def test_json_is_found(text: str) -> None:
    assert read_json(text) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    ["", "tea", "{", '{"a": NaN}', "[" * 100_000, "```\n1\n```\n```\n2\n```", "```json\n{\n```"],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(MisfitError):
        read_json(text)


RULES: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["fact", "wish"]},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "count": {"type": "integer"},
        "sure": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 2},
    },
    "additionalProperties": False,
}


def test_what_fits_is_taken_and_made_storable() -> None:
    value = {"kind": "fact", "share": 1, "count": 3.0, "sure": True, "tags": ["a\x00", "\ud800"]}
    assert fit(value, RULES) == {**value, "count": 3, "tags": ["a\ufffd", "\ufffd"]}


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"kind": "lie"},
        {"share": 1.5},
        {"share": True},
        {"count": 1.5},
        {"count": "1"},
        {"sure": 1},
        {"tags": "a"},
        {"tags": [" "]},
        {"tags": ["a", "b", "c"]},
        {"tags": [None]},
        {"other": 1},
    ],
)
def test_what_does_not_fit_is_refused(value: Any) -> None:
    with pytest.raises(MisfitError):
        fit(value, RULES)


def test_a_rule_that_is_not_understood_is_no_rule_passed_over() -> None:
    with pytest.raises(ValueError, match="pattern"):
        fit("a", {"type": "string", "pattern": "b"})


@pytest.mark.parametrize(
    "text", ["key sk-proj-abcdef123456 is wrong", "Bearer abc.def", "AIza" + "x" * 35]
)
def test_what_looks_like_a_key_is_removed_too(text: str) -> None:
    from standfast.models.providers.llm.said import scrubbed

    cleaned = scrubbed(text, "")
    assert "[key]" in cleaned
    assert "abc" not in cleaned
    assert "xxx" not in cleaned
