"""Embeddings over HTTP: every provider's dialect, and every way in which a server misbehaves."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from email.utils import format_datetime
from importlib.util import find_spec
from typing import Any

import pytest

from standfast.errors import Invalid, StandfastError, Unavailable, install_command
from standfast.models.providers.embedding import (
    RemoteEmbedder,
    name_by_provider,
    paired_name,
    target_of,
)
from standfast.models.providers.llm.names import place_of
from standfast.models.providers.llm.prices import known_price
from standfast.ports import AnswerError, EmbeddingService, Rows
from standfast.testing import scripted
from standfast.testing.scripted import Behaviour, ScriptedAnswer, ScriptedServer, embeds

needs_llm = pytest.mark.skipif(
    find_spec("httpx2") is None, reason="the extra is missing: standfast[llm]"
)

KEY = "plainly-secret-4711-0815"  # nothing that looks like a key: only knowing it removes it
TEXTS = ["Ann likes green tea", "Bob rides a bicycle", "the train to Kiel leaves at nine"]

NAMES = [
    "openai:text-embedding-3-small/768",
    "gemini:gemini-embedding-001/768",
    "ollama:nomic-embed-text",
    "openai-compatible:BAAI/bge-small/8",
]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def embedder_at(
    server: ScriptedServer, name: str = NAMES[0], *, seconds: float = 20.0
) -> RemoteEmbedder:
    plain = name.startswith(("gemini:", "ollama:"))
    target = target_of(name, server.address if plain else server.url)
    return RemoteEmbedder(target, key=KEY, seconds=seconds)


def ask(embedder: RemoteEmbedder, texts: list[str] = TEXTS, *, query: bool = False) -> Rows:
    return asyncio.run(embedder.ask(texts, query=query))


def failure(embedder: RemoteEmbedder) -> StandfastError:
    with pytest.raises(StandfastError) as caught:
        ask(embedder)
    return caught.value


# Names


@pytest.mark.parametrize(
    ("name", "space"),
    [
        ("openai:text-embedding-3-small", "openai:text-embedding-3-small/1536"),
        ("openai:text-embedding-3-small/768", "openai:text-embedding-3-small/768"),
        ("openai:text-embedding-3-large", "openai:text-embedding-3-large/3072"),
        ("gemini:gemini-embedding-001", "google:gemini-embedding-001/3072"),
        ("google:gemini-embedding-001/768", "google:gemini-embedding-001/768"),
        ("ollama:nomic-embed-text", "ollama:nomic-embed-text/768"),
        ("ollama:nomic-embed-text:v1.5", "ollama:nomic-embed-text:v1.5/768"),
    ],
)
def test_A5_a_name_is_also_the_space_and_can_be_read_again(name: str, space: str) -> None:
    assert target_of(name).space == space
    assert target_of(space).space == space


def test_O15_a_profile_may_ask_for_fewer_dimensions_but_not_for_more_than_there_are() -> None:
    assert target_of("openai:text-embedding-3-small", dimensions=768).dimensions == 768
    assert target_of("openai:text-embedding-3-small/1536", dimensions=768).dimensions == 1536
    assert target_of("ollama:all-minilm", dimensions=768).dimensions == 384


def test_O16_each_provider_of_language_models_has_its_embedding_model() -> None:
    assert paired_name("google") == "google:gemini-embedding-001"
    assert paired_name("ollama") == "ollama:nomic-embed-text"
    assert paired_name("openai") == "openai:text-embedding-3-small"
    assert paired_name("anthropic") == ""
    assert place_of("gemini:gemini-2.5-flash").provider == "google"


@pytest.mark.parametrize(
    ("name", "url", "said"),
    [
        ("ollama:something-else", "", "how many dimensions"),
        ("openai-compatible:x/8", "", "STANDFAST_EMBEDDER_URL"),
        ("openai:/8", "", "unknown"),
        ("anthropic:claude/8", "", "unknown"),
        ("openai:x/99999", "", "more than 16384"),
        ("openai:x/0", "", "how many dimensions"),
        ("openai:x/8", "https://me:secret@host/v1", "STANDFAST_EMBEDDER_URL holds a name"),
        ("openai:x/8", "host", "STANDFAST_EMBEDDER_URL='host' is no address"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(name: str, url: str, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        target_of(name, url)


@pytest.mark.parametrize(
    ("provider", "model", "name"),
    [
        ("ollama", "", "ollama:nomic-embed-text"),
        ("ollama", "mxbai-embed-large", "ollama:mxbai-embed-large"),
        ("OpenAI", "", "openai:text-embedding-3-small"),
        ("gemini", "", "google:gemini-embedding-001"),
        ("minilm", "", "minilm"),
        ("transformers", "Xenova/all-MiniLM-L6-v2", "minilm"),
        ("", "nomic-embed-text", "ollama:nomic-embed-text"),
        ("", "text-embedding-3-small", "openai:text-embedding-3-small"),
        ("", "all-MiniLM-L6-v2", "minilm"),
        ("hashing", "", "hashing"),
    ],
)
def test_A9_provider_and_model_may_be_told_apart(provider: str, model: str, name: str) -> None:
    assert name_by_provider(provider, model) == name


@pytest.mark.parametrize(
    ("provider", "model"), [("cohere", ""), ("", "unheard-of"), ("minilm", "bert-large")]
)
def test_A9_an_unknown_provider_or_model_is_named(provider: str, model: str) -> None:
    with pytest.raises(Invalid, match=provider if provider == "cohere" else model):
        name_by_provider(provider, model)


# On the wire


@needs_llm
@pytest.mark.parametrize("name", NAMES)
def test_A5_every_provider_answers_with_one_vector_per_text_in_order(
    server: ScriptedServer, name: str
) -> None:
    embedder = embedder_at(server, name)
    server.script(embeds(embedder.dimensions), embeds(embedder.dimensions))
    assert isinstance(embedder, EmbeddingService)
    found = ask(embedder)
    assert [len(row) for row in found.rows] == [embedder.dimensions] * 3
    single = ask(embedder, TEXTS[1:2])
    assert single.rows[0] == found.rows[1]
    asked = server.requests[0]
    assert KEY in str(asked.headers), "the key goes into a header"
    assert KEY not in asked.path + str(asked.body)
    assert found.usage.tokens_in == (0 if "gemini" in name else 21)


@needs_llm
def test_O15_openai_is_asked_for_the_dimensions(server: ScriptedServer) -> None:
    server.script(embeds())
    ask(embedder_at(server, "openai:text-embedding-3-small/768"))
    (asked,) = server.requests
    assert asked.path == "/v1/embeddings"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {"model": "text-embedding-3-small", "input": TEXTS, "dimensions": 768}


@needs_llm
def test_a_model_of_fixed_size_is_not_asked_for_one(server: ScriptedServer) -> None:
    server.script(embeds(1536), embeds(8))
    ask(embedder_at(server, "openai:text-embedding-ada-002"))
    ask(embedder_at(server, "openai-compatible:BAAI/bge-small/8"))
    assert [set(asked.body) for asked in server.requests] == [{"model", "input"}] * 2


@needs_llm
@pytest.mark.parametrize(
    ("query", "task"), [(False, "RETRIEVAL_DOCUMENT"), (True, "RETRIEVAL_QUERY")]
)
def test_O15_gemini_is_asked_for_the_dimensions_and_told_the_task(
    server: ScriptedServer, query: bool, task: str
) -> None:
    server.script(embeds())
    ask(embedder_at(server, "gemini:gemini-embedding-001/768"), TEXTS[:1], query=query)
    (asked,) = server.requests
    assert asked.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert asked.headers["x-goog-api-key"] == KEY
    assert asked.body == {
        "requests": [
            {
                "model": "models/gemini-embedding-001",
                "content": {"parts": [{"text": TEXTS[0]}]},
                "outputDimensionality": 768,
                "taskType": task,
            }
        ]
    }


@needs_llm
@pytest.mark.parametrize(
    ("query", "word"), [(False, "search_document: "), (True, "search_query: ")]
)
@pytest.mark.parametrize("path", ["", "/v1", "/v1/"])
def test_A5_ollama_is_asked_at_its_own_address_and_nomic_in_its_own_words(
    server: ScriptedServer, query: bool, word: str, path: str
) -> None:
    server.script(embeds(768))
    target = target_of("ollama:nomic-embed-text", server.address + path)
    ask(RemoteEmbedder(target), query=query)
    (asked,) = server.requests
    assert asked.path == "/api/embed"
    assert asked.body == {
        "model": "nomic-embed-text",
        "input": [word + text for text in TEXTS],
        "truncate": True,
    }
    assert "authorization" not in asked.headers


@needs_llm
def test_the_port_alone_takes_any_number_of_texts(server: ScriptedServer) -> None:
    server.otherwise = embeds()
    rows = asyncio.run(embedder_at(server).embed([f"text {n}" for n in range(250)]))
    assert len(rows) == 250
    assert [len(asked.texts) for asked in server.requests] == [100, 100, 50]


# Misbehaviour


@needs_llm
@pytest.mark.parametrize("name", NAMES)
def test_every_provider_tells_when_to_come_again_and_is_asked_once(
    server: ScriptedServer, name: str
) -> None:
    server.script(scripted.too_many(retry_after=7))
    error = failure(embedder_at(server, name))
    assert isinstance(error, Unavailable)
    assert (error.retry_after, error.lasting, error.outcome_unknown) == (7.0, False, False)
    assert len(server.requests) == 1, "retrying is not the provider's business"


@needs_llm
def test_a_date_and_geminis_own_way_to_say_when_are_understood(server: ScriptedServer) -> None:
    from datetime import UTC, datetime, timedelta

    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    own = b'{"error": {"code": 429, "details": [{"@type": "x"}, {"retryDelay": "13.5s"}]}}'
    server.script(
        ScriptedAnswer(raw=b"{}", status=429, headers={"Retry-After": later}),
        ScriptedAnswer(raw=own, status=429),
        ScriptedAnswer(raw=b"{}", status=429, headers={"Retry-After": "soon"}),
    )
    found = [failure(embedder_at(server)) for _ in range(3)]
    waits = [error.retry_after for error in found if isinstance(error, Unavailable)]
    assert waits[0] == pytest.approx(90, abs=5)
    assert waits[1:] == [13.5, None]


LASTING: dict[str, ScriptedAnswer] = {
    "wrong key": scripted.fails(401, f"Incorrect API key provided: {KEY}"),
    "unknown model": scripted.fails(404, 'model "x" not found, try pulling it first'),
    "empty account": ScriptedAnswer(
        raw=b'{"error": {"message": "quota", "code": "insufficient_quota"}}', status=429
    ),
    "gemini's wrong key": ScriptedAnswer(
        raw=b'{"error": {"message": "bad", "details": [{"reason": "API_KEY_INVALID"}]}}',
        status=400,
    ),
}


@needs_llm
@pytest.mark.parametrize("behaviour", LASTING.values(), ids=LASTING)
def test_what_will_not_work_later_either_is_lasting(
    server: ScriptedServer, behaviour: Behaviour
) -> None:
    server.script(behaviour)
    error = failure(embedder_at(server))
    assert isinstance(error, Unavailable)
    assert error.lasting


@needs_llm
@pytest.mark.parametrize("status", [400, 413, 422])
def test_texts_that_are_refused_are_invalid(server: ScriptedServer, status: int) -> None:
    server.script(scripted.fails(status, "input is too long"))
    with pytest.raises(Invalid, match=f"status {status}: input is too long"):
        ask(embedder_at(server))


NONSENSE: dict[str, tuple[ScriptedAnswer, str]] = {
    "too few": (ScriptedAnswer(vectors=[[1.0] * 768] * 2), "2 vectors for 3 texts"),
    "too many": (ScriptedAnswer(vectors=[[1.0] * 768] * 4), "4 vectors for 3 texts"),
    "not a number": (ScriptedAnswer(vectors=[[float("nan")] * 768] * 3), "NaN is no number"),
    "no number": (
        ScriptedAnswer(raw=b'{"data": [{"index": 0, "embedding": ["1"]}]}'),
        "no list of numbers",
    ),
    "null": (
        ScriptedAnswer(raw=b'{"data": [{"index": 0, "embedding": null}]}'),
        "no list of numbers",
    ),
    "twice the same": (
        ScriptedAnswer(
            raw=b'{"data": [{"index": 1, "embedding": [1]}, {"index": 1, "embedding": [1]}]}'
        ),
        "numbered",
    ),
    "not numbered": (ScriptedAnswer(raw=b'{"data": [{"embedding": [1]}]}'), "no index"),
    "another dialect": (ScriptedAnswer(raw=b'{"embeddings": [[1.0]]}'), "no list 'data'"),
    "chat": (scripted.prose(), "no list 'data'"),
    "null body": (scripted.null_body(), "no list 'data'"),
    "empty": (scripted.empty_body(), "nonsense"),
    "half": (scripted.half_body(), "nonsense"),
    "plain": (scripted.wrong_type(), "nonsense"),
    "page": (scripted.html_page(200), "nonsense"),
    "not utf-8": (scripted.not_utf8(), "nonsense"),
    "huge": (scripted.huge(), "larger than"),
    "packed": (ScriptedAnswer(raw=b"x", headers={"Content-Encoding": "gzip"}), "packed"),
}


@needs_llm
@pytest.mark.parametrize(("behaviour", "said"), NONSENSE.values(), ids=NONSENSE)
def test_an_answer_that_is_none_is_named(
    server: ScriptedServer, behaviour: Behaviour, said: str
) -> None:
    server.script(behaviour)
    error = failure(embedder_at(server))
    assert isinstance(error, AnswerError)
    assert said in str(error)


@needs_llm
@pytest.mark.parametrize("name", NAMES[:3])
def test_O15_another_dimension_than_asked_is_a_clear_error(
    server: ScriptedServer, name: str
) -> None:
    server.script(ScriptedAnswer(vectors=[[1.0] * 512] * 3))
    error = failure(embedder_at(server, name))
    assert isinstance(error, Unavailable)
    assert "answered with 512 dimensions instead of 768" in str(error)
    assert error.lasting
    assert error.outcome_unknown, "it was paid for all the same"


@needs_llm
@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (scripted.html_page(), "status 502$"),
        (scripted.fails(500), "status 500: something broke"),
        (scripted.resets(), "failed"),
    ],
)
def test_a_service_that_fails_is_unavailable(
    server: ScriptedServer, behaviour: Behaviour, said: str
) -> None:
    server.script(behaviour)
    with pytest.raises(Unavailable, match=said):
        ask(embedder_at(server))
    assert len(server.requests) == 1


@needs_llm
@pytest.mark.parametrize("behaviour", [scripted.hangs(), scripted.drips("slow " * 200)])
def test_a_slow_service_is_left_in_time(server: ScriptedServer, behaviour: Behaviour) -> None:
    server.script(behaviour)
    begun = time.monotonic()
    error = failure(embedder_at(server, seconds=0.5))
    assert time.monotonic() - begun < 5
    assert isinstance(error, Unavailable)
    assert error.outcome_unknown


@needs_llm
def test_nobody_there_is_not_paid_for() -> None:
    with ScriptedServer() as gone:
        embedder = embedder_at(gone)
    error = failure(embedder)
    assert isinstance(error, Unavailable)
    assert "cannot be reached" in str(error)
    assert not error.outcome_unknown


@needs_llm
@pytest.mark.parametrize("name", NAMES)
def test_the_key_is_in_no_error_and_no_log(
    server: ScriptedServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    embedder = embedder_at(server, name)
    server.script(
        scripted.fails(401, f"Incorrect API key provided: {KEY}"),
        scripted.fails(500, f"Bearer {KEY}"),
        scripted.resets(),
    )
    for error in [failure(embedder) for _ in range(3)]:
        assert KEY not in f"{error!r} {error.__dict__} {error.args}"
        assert error.__context__ is None, "a request with its headers would hang on it"
        assert error.__cause__ is None
    assert KEY not in caplog.text + repr(embedder)


def test_X1_a_missing_key_is_said_with_its_variable() -> None:
    for name, variable in [("openai:text-embedding-3-small", "OPENAI_API_KEY"), (NAMES[1], "G")]:
        embedder = RemoteEmbedder(target_of(name), key_hint=variable)
        error = failure(embedder)
        assert isinstance(error, Unavailable)
        assert str(error).endswith(f"needs a key: set {variable}")
        assert error.lasting


def test_X1_a_missing_extra_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "httpx2", None)
    for module in [m for m in sys.modules if m.startswith("standfast.models.providers")]:
        if module.endswith((".request", ".limited")):
            monkeypatch.delitem(sys.modules, module)
    error = failure(RemoteEmbedder(target_of("ollama:nomic-embed-text")))
    assert install_command("llm") in str(error)


@needs_llm
@pytest.mark.parametrize(
    ("name", "price"),
    [
        ("openai:text-embedding-3-small", 0.02),
        ("gemini:gemini-embedding-001", 0.15),
        ("ollama:nomic-embed-text", 0.0),
    ],
)
def test_X12_the_usual_prices_are_known(name: str, price: float) -> None:
    pytest.importorskip("genai_prices")
    found: Any = known_price(target_of(name).place)
    assert found == (price, 0.0)
