"""The benchmark beside other programs: its own parts, with standfast as the only peer, because
the others have to be downloaded."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import machine
from bench.peers import embedding, float32, venvs
from bench.peers.__main__ import PAGE, build_parser, main
from bench.peers.adapters.sqlitevec import joined
from bench.peers.material import PLANTED, QUESTIONS, Material, read_questions, write_questions
from bench.peers.peers import LARGE, PEERS, SEVERAL, SMALL, STANDFAST, Job, jobs
from bench.peers.report import result
from bench.peers.running import MeasuringError, Run, process
from bench.report import BEGIN, END
from standfast.models.providers.minilm import weights

PINS = sorted(venvs.HERE.glob("*.txt"))
RECORDS = 600


@pytest.fixture(scope="module")
def questions() -> Any:
    return Material(RECORDS, 2).questions()


def test_questions_know_their_neighbours_in_their_scope(questions: Any) -> None:
    scope_of = {
        number: rows.scope for rows in Material(RECORDS, 2).rows(100) for number in rows.numbers
    }
    assert len(scope_of) == RECORDS
    assert len(questions) == QUESTIONS
    found = 0
    for asked in questions:
        assert {scope_of[number] for number in (*asked.planted, *asked.exact)} == {asked.scope}
        found += len(asked.planted & asked.exact)
    assert found > 0.9 * QUESTIONS * PLANTED, "in a small store the planted ones are the nearest"


def test_the_same_material_in_pieces_of_any_size() -> None:
    def content(size: int) -> dict[int, tuple[str, bytes]]:
        return {
            number: (text, vector.tobytes())
            for rows in Material(RECORDS, 3).rows(size)
            for number, text, vector in zip(rows.numbers, rows.texts, rows.vectors, strict=True)
        }

    assert content(1000) == content(37)


def test_questions_survive_the_way_to_another_process(questions: Any, tmp_path: Path) -> None:
    write_questions(questions, tmp_path)
    again = read_questions(tmp_path)
    assert [(one.text, one.scope, one.planted, one.exact) for one in again] == [
        (one.text, one.scope, one.planted, one.exact) for one in questions
    ]
    assert np.array_equal(again[3].vector, questions[3].vector)


def test_too_few_records_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 500"):
        Material(100, 1)


def test_every_size_has_standfast_beside_its_peers() -> None:
    listed = list(jobs())
    assert len({job.key for job in listed}) == len(listed)
    ours = {(job.records, job.scopes) for job in listed if job.peer is STANDFAST}
    for job in listed:
        assert (job.records, job.scopes) in ours, job.key
    assert {(max(LARGE), SEVERAL), (max(SMALL), SEVERAL)} <= ours
    assert {job.peer.name for job in jobs(only=["standfast", "chroma"])} == {"standfast", "chroma"}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """standfast in processes of its own, as every peer is."""
    run = Run(tmp_path_factory.mktemp("peers"), "tiny", lambda _: None, rounds=1)
    run.measure(Job(STANDFAST, RECORDS, 2))
    return run


def test_a_job_measures_writing_and_asking(measured: Run) -> None:
    (found,) = measured.done.values()
    assert "error" not in found
    assert found["writes_per_second"] > 0
    assert found["observed_per_second"] > 0
    assert found["disk"] > 100_000
    assert found["ways"]["store"]["exact"] == 1.0, "standfast's search is exact"
    assert found["ways"]["recall"]["recall"] > 0.9
    assert [path.name for path in measured.folder.iterdir()] == ["run-tiny.json"], "no files stay"


def test_a_stopped_run_goes_on_and_a_finished_one_begins_anew(measured: Run) -> None:
    (key,) = measured.done
    again = Run(measured.folder, "tiny", lambda _: None)
    again.go_on([key, "another"])
    assert again.done == measured.done
    again.go_on([key])
    assert again.done == {}
    again.go_on([key, "another"], fresh=True)
    assert again.done == {}


def test_what_failed_or_is_of_another_day_is_measured_anew(tmp_path: Path) -> None:
    run = Run(tmp_path, "tiny", lambda _: None)
    day = machine.today()
    kept = {"a": {"error": "x", "day": day}, "b": {"day": "2020-01-01"}, "c": {"day": day}}
    run.path.write_text(json.dumps(kept), "utf-8")
    run.go_on(["a", "b", "c", "d"])
    assert run.done == {"c": {"day": day}}
    run.path.write_text("{", "utf-8")
    run.go_on(["a"])


def fake(median: float, recall: float = 0.9) -> dict[str, Any]:
    one = {"median": median, "p95": median, "recall": recall, "exact": 0.8, "memory": 10**8}
    names = {way.name for peer in PEERS for way in peer.ways}
    return {
        "version": "1",
        "ways": dict.fromkeys(names, one),
        "writes_per_second": 1000.0,
        "single": 0.001,
        "disk": 10**6,
    }


def test_a_claim_needs_speed_and_recall() -> None:
    listed = [job for job in jobs() if job.peer.name in ("standfast", "chroma", "mem0")]
    done = {job.key: fake(0.01 if job.peer is STANDFAST else 0.2) for job in listed}
    claims = {claim.what: claim for claim in result(listed, done).claims}
    assert claims["100,000 records: recall beside Chroma, vector only, a collection per scope"].met
    assert claims["20,000 records: recall beside mem0, search"].met
    assert claims["recall, both arms, as it comes: what answers, 100,000 records"].met
    done["mem0/20000/1"] = fake(0.05)
    done["chroma/100000/1"] = fake(0.2, recall=0.95)
    claims = {claim.what: claim for claim in result(listed, done).claims}
    assert not claims["20,000 records: recall beside mem0, search"].met, "only 5 times ahead"
    filtered = "100,000 records: recall beside Chroma, vector only, `where` filter on the scope"
    assert not claims[filtered].met, "ahead, but finds less"


def test_tables_hold_and_failures_are_said() -> None:
    listed = list(jobs((1000,)))
    done = {job.key: fake(0.01) for job in listed}
    done["mem0/1000/1"] = {"error": "mem0: no such package"}
    found = result(listed, {**done, "embedding": {"error": "no model"}})
    for table in found.tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}
    notes = " ".join(table.note for table in found.tables)
    assert "mem0 was not measured: mem0: no such package." in notes


def test_after_the_deadline_nothing_begins(tmp_path: Path) -> None:
    run = Run(tmp_path, "tiny", lambda _: None, deadline=0.0)
    listed = list(jobs((1000,), ["standfast", "mem0"]))
    for job in listed:
        run.measure(job)
    embedding.measure(run, 10)
    assert run.done == {}
    done = {"standfast/1000/1": fake(0.01)}
    notes = " ".join(table.note for table in result(listed, done).tables)
    assert "Not measured for want of time: mem0." in notes


def test_a_failing_process_says_why(tmp_path: Path) -> None:
    with pytest.raises(MeasuringError, match="KeyError"):
        process(Path(sys.executable), "bench.peers.worker", {}, tmp_path)


def test_measuring_processes_are_quiet_and_have_no_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("HF_TOKEN", "secret")
    given = venvs.environment(tmp_path)
    assert "secret" not in given.values()
    assert given["MEM0_TELEMETRY"] == "False"
    assert given["HOME"] == str(tmp_path)


def test_an_environment_that_cannot_be_made_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = subprocess.CompletedProcess([], 1, "", "ERROR: no matching distribution\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(venvs.InstallError, match="no matching distribution"):
        venvs.python_of("mem0", tmp_path, lambda _: None)
    assert venvs.python_of("", tmp_path, lambda _: None) == Path(sys.executable)


def test_ranks_are_joined() -> None:
    assert joined([[1, 2, 3], [2, 4]])[0] == 2


@pytest.mark.parametrize("path", PINS, ids=lambda path: path.stem)
def test_pins_are_hashed_and_name_no_address(path: Path) -> None:
    text = path.read_text("utf-8")
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert blocks
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []
    assert not re.search(r"://|--index|--find-links|^\s*# via.* /", text, re.MULTILINE)


def test_every_peer_has_its_pins() -> None:
    assert {peer.pins for peer in PEERS} | {"onnxruntime"} == {path.stem for path in PINS} | {""}


def test_the_real_page_has_a_place_for_the_tables() -> None:
    text = PAGE.read_text("utf-8")
    assert text.index(BEGIN) < text.index(END)


def test_the_options_of_the_command() -> None:
    options = build_parser().parse_args(["--quick", "--only", "mem0", "--docs"])
    assert options.quick
    assert options.only == ["mem0"]


def test_a_folder_without_a_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "file_system_of", lambda _: "tmpfs")
    assert main(["--quick", "--folder", str(tmp_path)]) == 2
    assert "real disk" in capsys.readouterr().err


def test_the_plain_float32_loop_gives_the_vectors_of_the_model(tmp_path: Path) -> None:
    """The loop is worth a comparison only if it computes the same."""
    models = Path(sys.prefix) / "models"  # where the tests of the model keep its files
    published, built = models / "published", models / "minilm"
    if not (published / "model.safetensors").exists() or not weights.status(built).ready:
        pytest.skip("the local model is not there")
    for package in ("onnx", "onnxruntime", "safetensors", "tokenizers"):
        pytest.importorskip(package)
    texts = ["Ann moved to Hamburg in spring", "She prefers tea to coffee in the evening"]
    told = {"texts": texts, "model": str(published), "threads": 1}
    found = float32.work({**told, "vectors": str(tmp_path / "plain.npy")})
    assert found["texts"] > 0
    import asyncio

    from standfast.models.providers.minilm.model import MiniLmEmbedder

    ours = np.asarray(asyncio.run(MiniLmEmbedder(built).embed(texts)))
    assert (ours * np.load(tmp_path / "plain.npy")).sum(axis=1).min() > 0.985


def test_a_missing_model_is_said_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "model_folder", lambda _: tmp_path / "nowhere")
    run = Run(tmp_path, "tiny", lambda _: None)
    embedding.measure(run, 10)
    assert "standfast model pull" in run.done["embedding"]["error"]
