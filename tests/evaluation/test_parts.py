"""The parts of the quality benchmark: loaders of every form, measures, intervals, the cache."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.asking import Outcome, messages_of
from evaluation.baselines import Bm25, content_terms
from evaluation.cases import DataError, find
from evaluation.scores import compare, difference, measured, score, summarise
from evaluation.sets import SETS
from evaluation.vectors import CachedEmbedder
from standfast.models.providers.hashing import HashingEmbedder
from standfast.types import Hit, Record

DATA = Path(__file__).parent / "data"


def outcome(ranked: Sequence[str], gold: Sequence[str], question: str = "q") -> Outcome:
    return Outcome(
        set="s",
        question=question,
        category="c",
        system="standfast",
        ranked=ranked,
        sessions=[],
        gold=gold,
        gold_sessions=[],
        ms=1.0,
    )


def test_the_measures() -> None:
    ranked = ["a", "x", "x1", "x2", "x3", "b"]
    values = measured(outcome(ranked, ["a", "b"]))
    assert values == {
        "turn recall@5": 0.5,
        "turn recall@10": 1.0,
        "turn any@5": 1.0,
        "turn all@5": 0.0,
    }


def test_an_interval_holds_its_mean_and_knows_the_count() -> None:
    few, many = score([1.0, 1.0, 1.0, 0.0]), score([1.0, 1.0, 1.0, 0.0] * 100)
    assert few.low < many.low < 0.75 < many.high < few.high
    assert few.low == pytest.approx(0.3006, abs=1e-3), "Wilson's interval of 3 out of 4"
    shares = score([0.5, 1.0, 0.25] * 30)
    assert shares.low < shares.mean < shares.high


def test_pairs_are_surer_than_two_means() -> None:
    rng = np.random.default_rng(1)
    theirs = rng.random(200)
    gap = difference((theirs + 0.05).tolist(), theirs.tolist())
    assert gap.mean == pytest.approx(0.05)
    assert gap.high - gap.low < 1e-9


def test_a_comparison_uses_the_same_questions() -> None:
    ours = summarise("ours", [outcome(["a"], ["a"], "1"), outcome(["x"], ["a"], "2")])
    theirs = summarise("theirs", [outcome(["x"], ["a"], "2"), outcome(["x"], ["a"], "1")])
    assert compare(ours, theirs)["turn recall@5"].mean == 0.5


def test_hits_become_messages_each_once() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)

    def hit(*lineage: str) -> Hit:
        record = Record(
            id="r", scope="user:a", kind="episodic", type="turn", text="t", learned_at=at,
            lineage=lineage,
        )  # fmt: skip
        return Hit(record=record)

    assert messages_of([hit("b"), hit("a", "b"), hit(), hit("c")]) == ["b", "a", "c"]


def test_stop_words_say_nothing_unless_alone() -> None:
    assert content_terms("what is the name of the cat") == content_terms("name cat")
    assert content_terms("who are you") == ["who", "are", "you"]


def test_bm25_prefers_the_rare_word() -> None:
    found = Bm25(["the cat sat", "the dog sat", "the dog ran"]).scores("the cat")
    assert int(np.argmax(found)) == 0
    assert Bm25(["one"]).scores("nothing shared").tolist() == [0.0]


# Loaders


def questions(name: str, folder: Path) -> list[Any]:
    one = SETS[name]
    return [question for case in one.load(one.files(folder)) for question in case.questions]


def test_every_loader_reads_evidence_that_exists() -> None:
    for name, one in SETS.items():
        for case in one.load(one.files(DATA)):
            ids = {said.id for said in case.messages}
            assert len(ids) == len(case.messages), name
            for question in case.questions:
                assert question.gold <= ids
                assert question.gold_sessions <= {said.session for said in case.messages}


def test_locomo_repairs_malformed_evidence(tmp_path: Path) -> None:
    content = json.loads((DATA / "locomo10.json").read_text("utf-8"))
    content[0]["qa"] = [
        {"question": "?", "evidence": ["D1:2; D2:04", "D:3:1"], "category": 1},
        {"question": "cites nothing", "evidence": [], "category": 4},
        {"question": "cites what is not there", "evidence": ["D9:99"], "category": 4},
    ]
    (tmp_path / "locomo10.json").write_text(json.dumps(content[:1]), "utf-8")
    (question,) = questions("locomo", tmp_path)
    assert question.gold == {"D1:2", "D2:4", "D3:1"}
    assert question.now == datetime(2024, 6, 2, 18, 15, tzinfo=UTC)


def test_locomo_tells_what_is_on_a_picture() -> None:
    (case, _) = SETS["locomo"].load(SETS["locomo"].files(DATA))
    (shared,) = (said for said in case.messages if said.id == "D2:4")
    assert "[shared image: a blue bowl" in shared.text


def test_longmemeval_leaves_questions_without_answer_out() -> None:
    assert [one.id for one in questions("longmemeval", DATA)] == ["q1", "q2", "q3", "q4"]


def test_longmemeval_in_two_files_is_the_same(tmp_path: Path) -> None:
    whole = json.loads((DATA / "longmemeval_s.json").read_text("utf-8"))
    sessions: dict[str, Any] = {}
    for question in whole:
        found = question.pop("haystack_sessions")
        question["haystack_refs"] = []
        for id_, turns in zip(question["haystack_session_ids"], found, strict=True):
            ref = f"{id_}#{len(json.dumps(turns))}"
            sessions[ref] = turns
            question["haystack_refs"].append(ref)
    written = {
        "questions_s.jsonl.gz": whole,
        "sessions.jsonl.gz": [{"ref": ref, "turns": turns} for ref, turns in sessions.items()],
    }
    for name, rows in written.items():
        with gzip.open(tmp_path / name, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    assert questions("longmemeval", tmp_path) == questions("longmemeval", DATA)
    (tmp_path / "sessions.jsonl.gz").write_bytes(gzip.compress(b'{"ref": "x", "turns": []}\n'))
    with pytest.raises(DataError, match="lacks"):
        questions("longmemeval", tmp_path)


def test_memdaily_merged_into_one_file_is_the_same(tmp_path: Path) -> None:
    part = json.loads((DATA / "01_simple_hybrid.json").read_text("utf-8"))
    merged = {"simple": {"hybrid": part}, "noisy": {"roles": part[:1]}}
    (tmp_path / "memdaily.json").write_text(json.dumps(merged), "utf-8")
    found = questions("memdaily", tmp_path)
    assert [one.category for one in found] == ["simple"] * 7 + ["noisy"] * 4


def test_cranfield_in_its_trec_form_is_the_same(tmp_path: Path) -> None:
    (original,) = SETS["cranfield"].load(SETS["cranfield"].files(DATA))
    documents = "".join(
        f"<doc>\n<docno>{said.id}</docno>\n<title>t</title>\n<text>{said.text}</text>\n</doc>\n"
        for said in original.messages
    )
    asked = "".join(
        f"<top><num> {9 * place}</num><title>\n{one.text}\n</title></top>"
        for place, one in enumerate(original.questions, 1)
    )
    (tmp_path / "cran.all.1400.xml").write_text(documents, "utf-8")
    (tmp_path / "cran.qry.xml").write_text(f"<?xml version='1.0'?><xml>{asked}</xml>", "utf-8")
    judged = "1 0 1 1\n1 0 5 1\n1  0  2  0\n2 0 3 1\n"
    (tmp_path / "cranqrel.trec.txt").write_text(judged, "utf-8")
    assert next(SETS["cranfield"].load(SETS["cranfield"].files(tmp_path))) == original


def test_files_are_found_in_folders_below_the_nearest_first(tmp_path: Path) -> None:
    for folder in ("b/data", "a"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "locomo10.json").write_text("[]")
    assert find(tmp_path, "locomo10.json") == [tmp_path / "a" / "locomo10.json"]
    assert find(tmp_path, "nothing*") == []


# The cache of vectors


class Counting(HashingEmbedder):
    asked: list[str]

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked = [*getattr(self, "asked", []), *texts]
        return await super().embed(texts)


def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    inner = Counting()
    texts = ["green tea", "我喜欢喝茶", "green tea"]

    async def twice() -> tuple[Any, Any]:
        first = await CachedEmbedder(inner, tmp_path).embed(texts)
        return first, await CachedEmbedder(inner, tmp_path).embed(texts[:2])

    first, again = asyncio.run(twice())
    assert inner.asked.count("green tea") == 1
    expected = np.asarray(asyncio.run(HashingEmbedder().embed(texts)), dtype="<f4")
    assert np.array_equal(np.asarray(first), expected)
    assert np.array_equal(np.asarray(again), expected[:2])


def test_another_model_gets_a_file_of_its_own(tmp_path: Path) -> None:
    class Other(HashingEmbedder):
        def vector(self, text: str) -> list[float]:
            return super().vector(text)[::-1]

    async def both() -> tuple[Any, Any]:
        one = await CachedEmbedder(HashingEmbedder(), tmp_path).embed(["green tea"])
        return one, await CachedEmbedder(Other(), tmp_path).embed(["green tea"])

    one, other = asyncio.run(both())
    assert np.array_equal(np.asarray(one)[0], np.asarray(other)[0][::-1])
    assert len(list(tmp_path.glob("*.db"))) == 2
