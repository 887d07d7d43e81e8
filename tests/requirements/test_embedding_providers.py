"""Embedding services behind the public interface: chosen by name, by pair or by profile; writes
never wait for them, searches go on without them, and what they cost is counted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from standfast import Invalid
from standfast.models import embedder
from standfast.models.calls import Patience
from standfast.models.providers.minilm.weights import status
from standfast.testing import scripted
from standfast.testing.scripted import (
    Behaviour,
    ScriptedAnswer,
    ScriptedQuestion,
    ScriptedServer,
    embeds,
    says_json,
)
from standfast.wiring.models import model_folder
from tests.requirements.asking import stored, texts
from tests.requirements.conftest import MovableClock, OpenMemory
from tests.requirements.services import books, degraded, opened, similarity, space

pytest.importorskip("httpx2", reason="needs the extra llm")

OPENAI = "openai:text-embedding-3-small/768"
VARIABLES = [
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OLLAMA_API_KEY",
    "STANDFAST_MODEL",
    "STANDFAST_MODEL_URL",
    "STANDFAST_EMBEDDER",
]


@pytest.fixture(autouse=True)
def _nobody_elses_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(otherwise=embeds(768)) as running:
        yield running


@pytest.fixture
def at_server(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """OpenAI's dialect at the scripted server."""
    monkeypatch.setenv("STANDFAST_EMBEDDER_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    return server


# Which embedder


@pytest.mark.parametrize(
    ("model", "paired"),
    [
        ("openai:gpt-4o-mini", "openai:text-embedding-3-small/768"),
        ("gemini:gemini-2.5-flash", "google:gemini-embedding-001/768"),
        ("google:gemini-2.5-flash", "google:gemini-embedding-001/768"),
        ("ollama:llama3", "ollama:nomic-embed-text/768"),
        ("anthropic:claude-haiku-4-5", "hashing/768"),
        ("", "hashing/768"),
    ],
)
def test_O16_under_otto_the_embedder_follows_the_language_model(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, model: str, paired: str
) -> None:
    monkeypatch.setenv("STANDFAST_MODEL", model)
    assert space(opened(open_memory, profile="otto")) == paired
    if model:
        assert space(opened(open_memory, profile="otto", model=model)) == paired
    chosen = opened(open_memory, profile="otto", embedder="hashing")
    assert space(chosen) == "hashing/768", "what somebody chose counts"


@pytest.mark.parametrize(
    ("model", "path", "size"),
    [
        ("openai:gpt-4o-mini", "/v1/embeddings", ("dimensions", 768)),
        ("gemini:gemini-2.5-flash", ":batchEmbedContents", ("outputDimensionality", 768)),
        ("ollama:llama3", "/api/embed", ("truncate", True)),
    ],
)
def test_O16_it_is_asked_where_the_model_is_for_768_dimensions_of_length_one(
    open_memory: OpenMemory,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    path: str,
    size: tuple[str, object],
) -> None:
    monkeypatch.setenv("STANDFAST_MODEL", model)
    plain = not model.startswith("openai")
    monkeypatch.setenv("STANDFAST_MODEL_URL", server.address if plain else server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    memory = opened(open_memory, profile="otto")
    memory.remember("Ann likes green tea", scope="user:ann")
    assert server.requests == [], "a write waits for nobody"
    assert memory.maintain().usage.texts_embedded == 1
    (asked,) = server.requests
    assert asked.path.endswith(path)
    body = asked.body["requests"][0] if "requests" in asked.body else asked.body
    assert body[size[0]] == size[1]
    assert similarity(memory, "Ann likes green tea") == pytest.approx(1.0, abs=1e-5)


def test_O16_a_store_stays_with_what_it_was_begun_with(
    open_memory: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "otto.db")
    first = opened(open_memory, store=file, profile="otto")
    stored(first, "Ann likes green tea", scope="user:ann")
    monkeypatch.setenv("STANDFAST_MODEL", "openai:gpt-4o-mini")
    second = opened(open_memory, store=file, profile="otto")
    assert space(second) == "hashing/768"
    assert degraded(second) == ""


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({"AGTOS_EMBEDDING_PROVIDER": "ollama"}, "ollama:nomic-embed-text/768"),
        ({"AGTOS_EMBEDDING_PROVIDER": "openai"}, "openai:text-embedding-3-small/1536"),
        ({"AGTOS_EMBEDDING_PROVIDER": "minilm"}, "minilm/384"),
        (
            {
                "AGTOS_EMBEDDING_PROVIDER": "transformers",
                "AGTOS_EMBEDDING_MODEL": "Xenova/all-MiniLM-L6-v2",
            },
            "minilm/384",
        ),
        (
            {
                "AGTOS_EMBEDDING_PROVIDER": "ollama",
                "AGTOS_EMBEDDING_MODEL": "mxbai-embed-large",
            },
            "ollama:mxbai-embed-large/1024",
        ),
        ({"AGTOS_EMBEDDING_MODEL": "nomic-embed-text"}, "ollama:nomic-embed-text/768"),
    ],
)
def test_A5_A9_the_published_variables_choose_the_embedder(
    open_memory: OpenMemory,
    monkeypatch: pytest.MonkeyPatch,
    environ: dict[str, str],
    wanted: str,
) -> None:
    for variable, value in environ.items():
        monkeypatch.setenv(variable, value)
    assert space(opened(open_memory, profile="agtos")) == wanted
    local = "minilm/384" if status(model_folder("minilm")).ready else "hashing/384"
    assert space(opened(open_memory)) == local, "they count under their own profile only"
    monkeypatch.setenv("STANDFAST_EMBEDDER", "hashing")
    assert space(opened(open_memory, profile="agtos")) == "hashing/384"


def test_A9_ollama_is_where_the_variable_says(
    open_memory: OpenMemory, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_URL", server.address)
    monkeypatch.setenv("AGTOS_EMBEDDING_PROVIDER", "ollama")
    memory = opened(open_memory, profile="agtos")
    stored(memory, "Ann likes green tea", scope="user:ann")
    memory.maintain()
    assert memory.recall("green tea", scope="user:ann").hits[0].similarity is not None
    assert [asked.path for asked in server.requests] == ["/api/embed"] * 2
    assert server.requests[0].texts == ("search_document: Ann likes green tea",)
    assert server.requests[1].texts == ("search_query: green tea",)


def test_A9_an_unknown_provider_is_refused_at_once(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGTOS_EMBEDDING_PROVIDER", "cohere")
    with pytest.raises(Invalid, match="cohere"):
        opened(open_memory, profile="agtos")


def test_A5_lota_takes_1536_dimensions_with_a_model_of_openai(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDFAST_MODEL", "openai:gpt-4o-mini")
    assert space(opened(open_memory, profile="lota")) == "openai:text-embedding-3-small/1536"
    assert space(opened(open_memory)).startswith(("minilm/", "hashing/")), "elsewhere it is asked"
    monkeypatch.setenv("STANDFAST_MODEL", "ollama:llama3")
    assert space(opened(open_memory, profile="lota")).startswith(("minilm/", "hashing/"))


def test_the_key_of_a_model_goes_to_no_other_address(
    open_memory: OpenMemory, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDFAST_MODEL", "openai:gpt-4o-mini")
    monkeypatch.setenv("STANDFAST_MODEL_KEY_ENV", "MY_KEY")
    monkeypatch.setenv("MY_KEY", "secret-of-the-model")
    monkeypatch.setenv("STANDFAST_EMBEDDER_URL", server.url)
    memory = opened(open_memory, embedder=OPENAI)
    stored(memory, "Ann likes green tea", scope="user:ann")
    memory.maintain()
    (asked,) = server.requests
    assert "secret-of-the-model" not in str(asked.headers)


# The store decides (ADR 9)


def test_X1_auto_opens_a_store_with_the_service_it_was_begun_with(
    open_memory: OpenMemory, tmp_path: Path, at_server: ScriptedServer
) -> None:
    file = str(tmp_path / "m.db")
    first = opened(open_memory, store=file, embedder=OPENAI)
    stored(first, "Ann likes green tea", scope="user:ann")
    first.maintain()
    again = opened(open_memory, store=file)
    assert space(again) == OPENAI
    assert similarity(again, "green tea") is not None
    assert "arms: keyword, vector (openai:text-embedding-3-small/768)" in again.recall("tea").notes
    assert len(at_server.requests) == 3


@pytest.mark.parametrize("trouble", ["no key", "nobody there"])
def test_X1_without_key_or_service_writes_go_on_and_recall_says_degraded(
    open_memory: OpenMemory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    trouble: str,
) -> None:
    file = str(tmp_path / "m.db")
    with ScriptedServer(otherwise=embeds()) as server:
        monkeypatch.setenv("STANDFAST_EMBEDDER_URL", server.url)
        first = opened(open_memory, store=file, embedder=OPENAI)
        stored(first, "Ann likes green tea", scope="user:ann")
        first.maintain()
    if trouble == "no key":
        monkeypatch.delenv("STANDFAST_EMBEDDER_URL")
    again = opened(open_memory, store=file)
    receipt = again.remember("Bob likes black tea", scope="user:ann")
    assert receipt.items[0].status == "stored"
    assert "vectors pending" in receipt.items[0].reason
    assert {"Ann likes green tea", "Bob likes black tea"} == set(
        texts(again, "tea", scope="user:ann")
    )
    wanted = "needs a key: set OPENAI_API_KEY" if trouble == "no key" else "cannot be reached"
    assert wanted in degraded(again)
    failed = again.maintain().items
    assert [item.status for item in failed] == ["failed"]
    assert wanted in failed[0].reason


def test_X1_a_store_whose_embedder_cannot_be_made_opens_all_the_same(
    open_memory: OpenMemory,
    tmp_path: Path,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = str(tmp_path / "m.db")
    monkeypatch.setenv("STANDFAST_EMBEDDER_URL", server.url)
    first = opened(open_memory, store=file, embedder="openai-compatible:my-model/768")
    stored(first, "Ann likes green tea", scope="user:ann")
    first.maintain()
    monkeypatch.delenv("STANDFAST_EMBEDDER_URL")
    again = opened(open_memory, store=file)
    stored(again, "Bob likes black tea", scope="user:ann")
    assert "set STANDFAST_EMBEDDER_URL" in degraded(again)
    assert len(texts(again, "tea", scope="user:ann")) == 2
    assert [item.status for item in again.maintain().items] == ["failed"]
    monkeypatch.setenv("STANDFAST_EMBEDDER_URL", server.url)
    assert opened(open_memory, store=file).maintain().usage.texts_embedded == 1


def test_X1_another_dimension_than_the_stores_is_never_mixed_in(
    open_memory: OpenMemory, at_server: ScriptedServer
) -> None:
    memory = opened(open_memory, embedder=OPENAI)
    stored(memory, "Ann likes green tea", scope="user:ann")
    memory.maintain()
    at_server.otherwise = ScriptedAnswer(vectors=[[1.0] * 512])
    stored(memory, "Bob likes black tea", scope="user:ann")
    (item,) = memory.maintain().items
    assert item.status == "failed"
    assert "512 dimensions instead of 768" in item.reason
    assert "512 dimensions instead of 768" in degraded(memory)
    assert len(texts(memory, "tea", scope="user:ann")) == 2
    at_server.otherwise = embeds()
    assert memory.maintain().usage.texts_embedded == 1


def test_X13_a_store_moves_to_a_service_and_counts_what_it_cost(
    open_memory: OpenMemory, tmp_path: Path, at_server: ScriptedServer
) -> None:
    file = str(tmp_path / "m.db")
    old = opened(open_memory, store=file, embedder="hashing")
    for n in range(30):
        stored(old, f"note {n} about topic {n}", scope=f"user:u{n % 3}")
    new = opened(open_memory, store=file, embedder=OPENAI)
    receipt = new.reembed()
    assert receipt.usage.texts_embedded == 30
    assert (receipt.usage.calls, receipt.usage.tokens_in) == (3, 210)
    assert similarity(new, "note 4", scope="user:u1") is not None
    assert len(at_server.requests) == 4


# Misbehaviour

BAD: dict[str, Behaviour] = {
    "fails": scripted.fails(),
    "resets": scripted.resets(),
    "hangs": scripted.hangs(),
    "too many": scripted.too_many(retry_after=1),
    "wrong dimension": ScriptedAnswer(vectors=[[1.0] * 4]),
    "wrong count": ScriptedAnswer(vectors=[[1.0] * 768] * 2),
    "nan": ScriptedAnswer(vectors=[[float("nan")] * 768]),
    "no JSON": scripted.wrong_type(),
    "empty": scripted.empty_body(),
    "half": scripted.half_body(),
    "null": scripted.null_body(),
    "prose": scripted.prose(),
    "page": scripted.html_page(),
    "not utf-8": scripted.not_utf8(),
    "huge": scripted.huge(),
    "refused": scripted.fails(400),
    "wrong key": scripted.fails(401),
}


@pytest.mark.parametrize("behaviour", BAD.values(), ids=BAD)
def test_X1_a_misbehaving_service_loses_nothing_and_is_tried_again(
    open_memory: OpenMemory,
    at_server: ScriptedServer,
    behaviour: Behaviour,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The last answers are good ones, so that a busy machine is given its time.
    seconds = 2.0 if behaviour is BAD["hangs"] else 30.0
    monkeypatch.setattr(embedder, "QUERY", Patience(tries=1, seconds=seconds))
    memory = opened(open_memory, embedder=OPENAI, seconds=seconds)
    at_server.otherwise = behaviour
    stored(memory, "Ann likes green tea", scope="user:ann")
    (item,) = memory.maintain().items
    assert (item.status, bool(item.reason)) == ("failed", True)
    at_server.script(behaviour)
    assert texts(memory, "green tea", scope="user:ann") == ["Ann likes green tea"]
    assert degraded(memory)
    at_server.otherwise = embeds()
    at_server._script.clear()
    assert memory.maintain().usage.texts_embedded == 1
    assert similarity(memory, "green tea") is not None


def test_X1_partial_failure_keeps_the_rest_pending(
    open_memory: OpenMemory, at_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDFAST_TOKENS_PER_CALL", "400")

    def bad_day(asked: ScriptedQuestion) -> ScriptedAnswer:
        return scripted.fails() if any("note 7" in t for t in asked.texts) else embeds()(asked)

    memory = opened(open_memory, embedder=OPENAI)
    memory.observe("chat", [f"note {n} " + "word " * 60 for n in range(20)], scope="user:ann")
    at_server.otherwise = bad_day
    first = memory.maintain()
    done = first.usage.texts_embedded
    assert 0 < done < 20
    assert sum(item.status == "failed" for item in first.items) == 20 - done
    at_server.otherwise = embeds()
    assert memory.maintain().usage.texts_embedded == 20 - done


def test_a_text_that_the_service_refuses_is_found_by_keyword_and_due_no_more(
    open_memory: OpenMemory, at_server: ScriptedServer
) -> None:
    def picky(asked: ScriptedQuestion) -> ScriptedAnswer:
        refused = any("rude" in text for text in asked.texts)
        return scripted.fails(400, "not allowed") if refused else embeds()(asked)

    at_server.otherwise = picky
    memory = opened(open_memory, embedder=OPENAI)
    for n in range(5):
        stored(memory, f"note {n} about tea", scope="user:ann")
    stored(memory, "a rude word about coffee", scope="user:ann")
    reasons = sorted({item.reason for item in memory.maintain().items})
    assert reasons[0].startswith("found by keyword only")
    assert reasons[1:] == ["vector added"]
    assert memory.maintain().items == ()
    assert texts(memory, "coffee", scope="user:ann")[0] == "a rude word about coffee"


def test_X1_recall_does_not_wait_for_a_service_that_hangs(
    open_memory: OpenMemory, at_server: ScriptedServer
) -> None:
    memory = opened(open_memory, embedder=OPENAI)
    stored(memory, "Ann likes green tea", scope="user:ann")
    at_server.otherwise = scripted.hangs()
    begun = time.monotonic()
    assert texts(memory, "green tea", scope="user:ann") == ["Ann likes green tea"]
    assert time.monotonic() - begun < 8


# Costs and consent


def test_X12_embedding_shows_in_the_usage_of_every_answer_and_in_the_books(
    open_memory: OpenMemory, at_server: ScriptedServer, clock: MovableClock
) -> None:
    memory = opened(open_memory, embedder=OPENAI)
    stored(memory, "Ann likes green tea", scope="user:ann")
    stored(memory, "Bob rides a bicycle", scope="user:ann")
    spent = memory.maintain().usage
    assert (spent.texts_embedded, spent.calls, spent.tokens_in) == (2, 1, 14)
    asked = memory.recall("green tea", scope="user:ann").usage
    assert (asked.texts_embedded, asked.calls, asked.tokens_in) == (1, 1, 7)
    packet = memory.context(query="a bicycle", scope="user:ann").usage
    assert packet.tokens_in == 7
    assert len(at_server.requests) == 3
    booked = books(memory, "user:ann")
    key = f"{clock.now.date()}/embed/openai:text-embedding-3-small"
    assert {k: (v["calls"], v["tokens_in"]) for k, v in booked.items()} == {key: (3, 28)}


def test_X12_over_budget_vectors_wait_and_recall_goes_by_keyword(
    open_memory: OpenMemory,
    at_server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    clock: MovableClock,
) -> None:
    monkeypatch.setenv("STANDFAST_TOKENS_PER_DAY", "20")
    memory = opened(open_memory, embedder=OPENAI)
    stored(memory, "Ann likes green tea", scope="user:ann")
    assert memory.maintain().usage.texts_embedded == 1
    stored(memory, "Bob likes black tea with two spoons of sugar and milk", scope="user:ann")
    (item,) = memory.maintain().items
    assert "the budget of 20 tokens a day for user:ann is used up" in item.reason
    stored(memory, "Eve likes no tea", scope="user:eve")
    assert memory.maintain().usage.texts_embedded == 1, "everybody has a budget of their own"
    clock.forward(days=1)
    assert memory.maintain().usage.texts_embedded == 1
    assert len(at_server.requests) == 3


def test_A10_nothing_of_somebody_who_opted_out_is_sent(
    open_memory: OpenMemory, at_server: ScriptedServer
) -> None:
    memory = opened(open_memory, embedder=OPENAI)
    memory.set_policy("user:eve", persist=False)
    memory.observe("chat", ["Eve likes red tea"], scope="user:eve")
    memory.remember("Eve has a cat", scope="user:eve")
    memory.maintain()
    answer = memory.recall("red tea", scope="user:eve")
    assert [hit.record.text for hit in answer.hits] == ["Eve likes red tea"]
    assert any("user:eve opted out" in note for note in answer.notes)
    assert at_server.requests == []


def test_X11_a_secret_in_a_query_is_not_sent(
    open_memory: OpenMemory, at_server: ScriptedServer
) -> None:
    memory = opened(open_memory, embedder=OPENAI)
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    memory.recall(f"what is {secret} for", scope="user:ann")
    assert secret not in str(at_server.requests[0].body)


def test_A10_what_was_written_before_somebody_opted_out_is_not_sent_either(
    open_memory: OpenMemory, at_server: ScriptedServer
) -> None:
    memory = opened(open_memory, embedder=OPENAI)
    stored(memory, "Eve likes red tea", scope="user:eve")
    stored(memory, "Ann likes green tea", scope="user:ann")
    memory.set_policy("user:eve", persist=False)
    memory.maintain()
    assert [asked.texts for asked in at_server.requests] == [("Ann likes green tea",)]
    assert memory.maintain().items == ()
    assert texts(memory, "red tea", scope="user:eve") == ["Eve likes red tea"]


def test_a_language_model_and_its_embeddings_share_a_server(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai")

    def both(asked: ScriptedQuestion) -> ScriptedAnswer:
        summary = says_json({"summary": "They talk about tea."})
        return embeds()(asked) if asked.texts else summary

    with ScriptedServer(otherwise=both) as server:
        monkeypatch.setenv("STANDFAST_MODEL", "openai:gpt-4o-mini")
        monkeypatch.setenv("STANDFAST_MODEL_URL", server.url)
        memory = opened(open_memory, profile="otto")
        memory.observe("chat", [f"line {n} about tea" for n in range(13)], scope="user:ann")
        receipt = memory.maintain()
        assert receipt.usage.texts_embedded == 13
        assert {"/v1/embeddings", "/v1/chat/completions"} <= {a.path for a in server.requests}


@pytest.mark.not_served("the embedder is the server's")
def test_C4_a_service_without_its_key_today_does_not_leave_the_store_to_another(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file = str(tmp_path / "begun.db")
    first = open_memory(file, embedder="openai:text-embedding-3-small")
    stored(first, "Ann likes tea", scope="user:ann")
    first.close()
    plain = open_memory(file, embedder=None)
    assert "OPENAI_API_KEY" in plain.maintain().items[0].reason
    assert space(plain) == "openai:text-embedding-3-small/1536"
    assert texts(plain, "tea", scope="user:ann") == ["Ann likes tea"]
    plain.close()
    chosen = open_memory(file, embedder="hashing")
    assert [item.reason for item in chosen.maintain().items] == ["vector added"]
    chosen.close()
    assert space(open_memory(file, embedder=None)) == "hashing/384", "who names one has chosen"


@pytest.mark.not_served("the embedder is the server's")
def test_C4_a_store_begun_without_a_model_hears_that_one_is_there(
    open_memory: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDFAST_LOCAL_MODEL", "recall-2")
    monkeypatch.delenv("STANDFAST_EMBEDDER", raising=False)
    file = str(tmp_path / "begun.db")
    first = open_memory(file, embedder="hashing")
    stored(first, "Ann likes tea", scope="user:ann")
    assert not any("finds more" in note for note in first.recall("tea", scope="user:ann").notes)
    first.close()
    later = open_memory(file, embedder=None)
    assert any(
        "--embedder recall-2 reembed" in n for n in later.recall("tea", scope="user:ann").notes
    )
