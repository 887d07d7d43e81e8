"""The quality benchmark runs from end to end on a tiny set of our own, and notices a drop."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation.__main__ import CANNOT, GOOD, WORSE, main
from evaluation.baselines import BM25, SUM, VECTORS
from evaluation.sets import SETS
from standfast.models.providers.minilm import weights
from standfast.rank import stages
from standfast.rank.candidates import Candidate

DATA = Path(__file__).parent / "data"
MINILM = Path(sys.prefix) / "models" / "minilm"  # where the tests of the model keep it


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """The command on a data folder, with folders of its own for everything it writes."""

    def run_on(data: Path, *options: str) -> int:
        places = ["--out", tmp_path / "out", "--results", tmp_path / "runs", "--cache", tmp_path]
        return main([str(data), *map(str, places), *options])

    return run_on


def answers(folder: Path, name: str) -> list[dict[str, Any]]:
    lines = (folder / "out" / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_X17_every_set_is_asked_and_answered(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(DATA, "--embedder", "hashing") == GOOD
    printed = capsys.readouterr().out
    asked = 0
    for name in SETS:
        assert f"== {name}: " in printed
        rows = answers(tmp_path, name)
        ours = [row for row in rows if row["system"] == "standfast"]
        assert {row["system"] for row in rows} == {"standfast", BM25, VECTORS, SUM}
        assert all(row["ranked"] and row["ms"] > 0 for row in ours)
        assert sum(row["hit"] for row in ours) >= len(ours) * 0.6
        asked += len(ours)
    assert asked >= 20
    assert "multi-hop" in printed
    assert "sessions" in printed


def test_X17_a_question_knows_its_evidence_and_its_answer(run: Any, tmp_path: Path) -> None:
    run(DATA, "--embedder", "hashing", "--only", "locomo")
    rows = {row["question"]: row for row in answers(tmp_path, "locomo")}
    row = rows["garden/4"]
    assert row["category"] == "multi-hop"
    assert row["gold"] == ["D1:3", "D2:8"]
    assert row["gold_sessions"] == ["session-1", "session-2"]


def test_X17_with_the_local_model(run: Any, tmp_path: Path, monkeypatch: Any) -> None:
    if not weights.status(MINILM).ready:
        pytest.skip("the local model is not there")
    home = tmp_path / "home"
    (home / "standfast" / "models").mkdir(parents=True)
    (home / "standfast" / "models" / "minilm").symlink_to(MINILM)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    assert run(DATA, "--embedder", "minilm", "--no-baselines") == GOOD
    for name, least in {"locomo": 0.75, "longmemeval": 1.0, "memdaily": 0.85}.items():
        rows = answers(tmp_path, name)
        assert sum(row["hit"] for row in rows) >= least * len(rows), name
    assert list(tmp_path.glob("minilm-384-*.db")), "the vectors are kept for the next run"


def test_X17_a_broken_ranking_fails_the_comparison(
    run: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--embedder", "hashing", "--only", "locomo", "--no-baselines")
    assert run(DATA, *options, "--record") == GOOD
    assert run(DATA, *options) == GOOD
    assert "not worse than the run of" in capsys.readouterr().out

    def worst_first(candidate: Candidate) -> tuple[float, str]:
        return (candidate.score, candidate.record.id)

    monkeypatch.setattr(stages, "order", worst_first)
    monkeypatch.setattr(stages, "in_order", lambda ranked: sorted(ranked, key=worst_first))
    monkeypatch.setattr("standfast.verbs.recall.order", worst_first)
    assert run(DATA, *options) == WORSE
    printed = capsys.readouterr().out
    assert "WORSE than the run of" in printed
    assert "turn recall@5: " in printed


def test_X17_a_run_on_other_questions_is_not_compared(
    run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--embedder", "none", "--only", "memdaily", "--no-baselines")
    run(DATA, *options, "--record")
    assert run(DATA, *options, "--limit", "3") == GOOD
    assert "no run of the same questions" in capsys.readouterr().out


def test_X17_a_recorded_run_holds_numbers_only(run: Any, tmp_path: Path) -> None:
    run(DATA, "--embedder", "hashing", "--record")
    recorded = list((tmp_path / "runs").iterdir())
    assert len(recorded) == len(SETS)
    for path in recorded:
        content = json.loads(path.read_text("utf-8"))
        assert {"date", "commit", "command", "questions", "scores", "ms"} <= content.keys()
        assert str(tmp_path) not in path.read_text("utf-8"), "no folder of this machine"
        assert str(DATA) not in content["command"]
        for text in ("Piet", "garden", "q1", "王强"):
            assert text not in path.read_text("utf-8"), "nothing of the data"


def test_a_damaged_record_says_so(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--embedder", "none", "--only", "cranfield")
    run(DATA, *options, "--record")
    (path,) = (tmp_path / "runs").iterdir()
    path.write_text("[]", "utf-8")
    assert run(DATA, *options) == CANNOT
    assert "record one anew" in capsys.readouterr().err


def test_stages_can_be_left_out_one_by_one(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--embedder", "hashing", "--only", "locomo", "--limit", "4", "--no-baselines")
    assert run(DATA, *options, "--without", "each", "--set", "candidates=3") == GOOD
    printed = capsys.readouterr().out
    assert "without fuse" in printed
    assert "candidates=3" in printed
    assert run(DATA, *options, "--without", "nonsense") == CANNOT
    assert "there is no stage 'nonsense'" in capsys.readouterr().err
    assert run(DATA, *options, "--set", "candidates") == CANNOT
    assert run(DATA, *options, "--set", "candidates=") == CANNOT


def test_facts_may_be_learned_first(run: Any, tmp_path: Path) -> None:
    options = ("--embedder", "hashing", "--only", "locomo", "--no-baselines", "--learn")
    assert run(DATA, *options) == GOOD
    rows = answers(tmp_path, "locomo")
    assert len(rows) == 12
    assert sum(row["hit"] for row in rows) >= 6, "facts lead to the messages they were made from"


def test_two_processes_find_what_one_finds(run: Any, tmp_path: Path) -> None:
    options = ("--embedder", "hashing", "--only", "memdaily", "--no-baselines")
    run(DATA, *options)
    alone = {row["question"]: row["ranked"] for row in answers(tmp_path, "memdaily")}
    assert run(DATA, *options, "--jobs", "2") == GOOD
    together = {row["question"]: row["ranked"] for row in answers(tmp_path, "memdaily")}
    assert alone == together


def damaged_set(folder: Path, name: str, content: str) -> Path:
    target = folder / "broken"
    target.mkdir()
    (target / name).write_text(content, "utf-8")
    return target


def test_X17_an_engine_that_searches_by_itself_finds_as_much(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for engine in ((), ("--store", "mem://"), ("--store", "mem://", "--native")):
        options = ("--only", "locomo", "--embedder", "hashing", "--no-baselines", *engine)
        assert run(DATA, *options) == GOOD
        found.append([(one["question"], one["ranked"][:5]) for one in answers(tmp_path, "locomo")])
    assert found[0] == found[1] == found[2]
    assert "default, mem natively;" in capsys.readouterr().out


def test_an_engine_that_cannot_be_used_is_said_at_once(
    run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--only", "locomo", "--embedder", "hashing")
    assert run(DATA, *options, "--native") == CANNOT
    for address in ("postgresql://127.0.0.1:1/none", "redis://127.0.0.1:1"):
        assert run(DATA, *options, "--store", address) == CANNOT
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(" ")[0] for line in told] == ["error:"] * 3
    assert "say which by --store" in told[0]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("locomo10.json", "[{", "is not JSON"),
        ("locomo10.json", '[{"qa": []}]', "expected a list of conversations"),
        ("locomo10.json", "[]", "no question with evidence"),
        ("longmemeval_s.json", '[{"question_id": "a"}]', "expected questions with"),
        ("01_simple_hybrid.json", '[{"message_list": 5}]', "expected trajectories"),
        ("memdaily.json", "7", "expected trajectories"),
    ],
)
def test_bad_data_says_what_is_expected(
    run: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: str,
    said: str,
) -> None:
    data = damaged_set(tmp_path, name, content)
    assert run(data, "--embedder", "none") == CANNOT
    assert said in capsys.readouterr().err


def test_bad_judgements_say_what_is_expected(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("cran.all.1400", "cran.qry", "cranqrel"):
        shutil.copy(DATA / name, tmp_path)
    (tmp_path / "cranqrel").write_text("one two\n", "utf-8")
    assert run(tmp_path, "--embedder", "none") == CANNOT
    assert "`question 0 document grade`" in capsys.readouterr().err
    (tmp_path / "cranqrel").write_text("1 99 2\n", "utf-8")
    assert run(tmp_path, "--embedder", "none") == CANNOT
    assert "judges no document" in capsys.readouterr().err


@pytest.mark.parametrize("only", [(), ("--only", "locomo", "--only", "cranfield")])
def test_an_empty_folder_says_what_is_missing(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], only: Sequence[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(empty, *only) == CANNOT
    said = capsys.readouterr().err
    assert "snap-research/LoCoMo" in said
    assert ("MemSim" in said) is not bool(only)
    assert run(empty / "nowhere") == CANNOT
    assert "is no folder" in capsys.readouterr().err


def test_a_missing_model_is_said_at_once(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(DATA, "--embedder", "nonsense") == CANNOT
    assert "unknown embedder" in capsys.readouterr().err
