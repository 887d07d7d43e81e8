"""`standfast model check`: what it says of models that behave well and badly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from standfast.testing.model_check import VERDICTS, ModelCase, model_cases
from standfast.testing.scripted import (
    ScriptedAnswer,
    ScriptedQuestion,
    ScriptedServer,
    fails,
    hangs,
    prose,
    says_json,
)
from tests.interfaces.conftest import Run

CASES = len(model_cases())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        monkeypatch.setenv("STANDFAST_MODEL", "openai-compatible:test")
        monkeypatch.setenv("STANDFAST_MODEL_URL", running.url)
        monkeypatch.setenv("STANDFAST_MODEL_TIMEOUT_SECONDS", "30")  # a busy machine needs some
        yield running


def asked_case(asked: ScriptedQuestion) -> ModelCase:
    """The case that a question is about."""
    said = asked.user.partition("<messages>")[2]
    first = [case.messages[0].partition(": ")[2].splitlines()[0] for case in model_cases()]
    (found,) = (case for case, line in zip(model_cases(), first, strict=True) if line in said)
    return found


def as_wanted(asked: ScriptedQuestion) -> ScriptedAnswer:
    """What a very good model would say: what people said of themselves, and nothing else."""
    case = asked_case(asked)
    facts: list[dict[str, Any]] = []
    links = f"{case.part} k1" if case.part in VERDICTS else ""
    if case.part != "others":
        for number, line in enumerate(case.messages, 1):
            role, _, text = line.partition(": ")
            if role == "user" and (links or any(word in text for word in case.expect)):
                facts.append({"text": text, "from": f"t{number}", "links": links})
    return says_json({"facts": facts, "skip": ""}, usage=(400, 60))


def lies(asked: ScriptedQuestion) -> ScriptedAnswer:
    """Makes everything the user's own, invents, and links nothing."""
    case = asked_case(asked)
    words = case.forbidden or ("Atlantis",)
    fact = {"text": f"The user is fond of {words[0]} since 1987.", "from": "t1"}
    return says_json({"facts": [fact]}, usage=(400, 60))


def checked(standfast: Run, *options: str) -> Any:
    answer = standfast("model", "check", *options, "--json")
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def rates(report: Any) -> dict[str, tuple[int, int]]:
    return {part: (one["right"], one["of"]) for part, one in report["scores"].items()}


def test_L6_a_good_model_is_called_one(
    standfast: Run, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDFAST_MODEL_PRICE", "1/10")
    server.otherwise = as_wanted
    report = checked(standfast)
    assert len(server.requests) == report["questions"] == CASES
    assert {part: right for part, (right, of) in rates(report).items() if right != of} == {}
    assert {*VERDICTS, "valid", "grounded", "facts", "others"} == set(report["scores"])
    assert report["mistakes"] == []
    assert report["usage"]["tokens_in"] == 400 * CASES
    # 400 tokens in at $1 and 60 out at $10 a million, for each question of 16 messages
    assert report["per_1000"]["digest"]["cost"] == pytest.approx(0.001 * 1000 / 16)
    assert report["per_1000"]["turn"]["cost"] > report["per_1000"]["digest"]["cost"]


def test_L6_every_known_memory_of_a_case_is_shown(standfast: Run, server: ScriptedServer) -> None:
    server.otherwise = as_wanted
    checked(standfast)
    for asked in server.requests:
        assert all(f"fact: {text}" in asked.user for text in asked_case(asked).known)


def test_L6_a_model_that_invents_is_found_out_and_what_is_kept_out_is_said(
    standfast: Run, server: ScriptedServer
) -> None:
    server.otherwise = lies
    report = checked(standfast)
    found = rates(report)
    assert found["valid"] == (CASES, CASES)
    assert [found[part][0] for part in ("grounded", "facts", *VERDICTS, "others")] == [0] * 7
    assert all(one["held"] for one in report["mistakes"] if one["part"] in ("grounded", "others"))
    told = standfast("model", "check")
    assert "0 %" in told.stdout
    assert "$0.00" in told.stdout, "a model on this machine costs nothing"
    assert "more: --json lists them all" in told.stdout


def test_L6_prose_is_no_valid_answer_and_counts_as_missed(
    standfast: Run, server: ScriptedServer
) -> None:
    server.otherwise = prose()
    report = checked(standfast)
    found = rates(report)
    assert found["valid"] == (0, CASES)
    assert found["others"][0] == 0, "who says nothing that can be read refused nothing"
    assert found["facts"][0] == 0
    assert len(server.requests) == CASES, "each question is asked once"


@pytest.mark.parametrize("action", [("model", "check"), ("model", "check", "--json")])
def test_L6_without_a_model_one_line_says_what_to_set(
    standfast: Run, action: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STANDFAST_MODEL", raising=False)
    answer = standfast(*action)
    assert answer.returncode == 2
    assert len(answer.stderr.strip().splitlines()) == 1
    assert "set STANDFAST_MODEL" in answer.stderr


def test_L6_a_model_that_is_down_is_one_line(
    standfast: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer() as gone:
        url = gone.url
    monkeypatch.setenv("STANDFAST_MODEL", "openai-compatible:test")
    monkeypatch.setenv("STANDFAST_MODEL_URL", url)
    answer = standfast("model", "check")
    assert answer.returncode == 6
    assert len(answer.stderr.strip().splitlines()) == 1
    assert "openai-compatible:test" in answer.stderr


def test_L6_a_model_that_goes_away_leaves_what_was_seen_before(
    standfast: Run, server: ScriptedServer
) -> None:
    server.script(as_wanted, as_wanted)
    server.otherwise = fails(500)
    answer = standfast("model", "check", "--json")
    assert answer.returncode == 6
    report = json.loads(answer.stdout)
    assert rates(report)["valid"] == (2, 7), "left alone after five failures in a row"
    assert "5 times in a row" in report["stopped"]
    told = standfast("model", "check")
    assert told.returncode == 6
    assert "status 500" in told.stderr


def test_L6_a_slow_model_is_not_waited_for(
    standfast: Run, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDFAST_MODEL_TIMEOUT_SECONDS", "1")
    server.otherwise = hangs()
    answer = standfast("model", "check")
    assert answer.returncode == 6
    assert "did not answer within 1 seconds" in answer.stderr


def test_L6_A5_the_budget_holds_from_one_check_to_the_next(
    standfast: Run, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDFAST_TOKENS_PER_DAY", "9000")
    server.otherwise = as_wanted
    assert standfast("remember", "I like tea").returncode == 0
    first = standfast("model", "check", "--json")
    assert first.returncode == 6
    report = json.loads(first.stdout)
    assert "budget" in report["stopped"]
    assert 0 < report["questions"] < CASES
    spent = report["usage"]["tokens_in"] + report["usage"]["tokens_out"]
    assert spent <= 9000
    asked = len(server.requests)
    again = standfast("model", "check")
    assert again.returncode == 6
    assert "budget" in again.stderr
    assert len(server.requests) == asked


def test_C3_a_check_makes_no_store(standfast: Run, server: ScriptedServer, tmp_path: Any) -> None:
    server.otherwise = fails(401, "no such key")
    answer = standfast("model", "check", store="never/memory.db")
    assert answer.returncode == 6
    assert "401" in answer.stderr
    assert not (tmp_path / "never").exists()


def test_L6_another_model_is_named(standfast: Run, server: ScriptedServer) -> None:
    server.otherwise = as_wanted
    report = checked(standfast, "openai-compatible:other")
    assert report["model"] == "openai-compatible:other"
    assert server.requests[0].body["model"] == "other"
