"""Training the reader in small: a tiny network learns on a CPU to mark clauses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch, which the project does not depend on")
pytest.importorskip("tokenizers", reason="training needs the extra `local`")

import torch
from tokenizers import Tokenizer

from standfast.understanding.reading.clauses import Clause
from tests.training import tiny
from training.reader import batches, learning, train, weights
from training.reader.examples import Example, examples
from training.reader.labels import Labelled, parse
from training.reader.network import STRUCTURE, Reader, Weights, initial

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
NAMES, PLACES = ("ida", "olaf", "mia", "tom"), ("oslo", "rome", "bern", "lund")
VOCABULARY = (*NAMES, *PLACES, *"lives in fix the boat and be brief where is ?".split())


def pieces() -> str:
    """One piece a word, without anything around a text."""
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *VOCABULARY))}
    return json.dumps(
        {
            "version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None,
            "decoder": None, "pre_tokenizer": {"type": "WhitespaceSplit"},
            "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
        }
    )  # fmt: skip


def lines() -> list[str]:
    found = []
    for number, name in enumerate(NAMES):
        for place in PLACES:
            fact = f"{name} lives in {place}"
            spans = [[fact, "FACT", name, "home", "years", False]]
            other, label = (("be brief", "ORDER"), ("fix the boat", "TASK"))[number % 2]
            told = ["you", "style", "always"] if label == "ORDER" else ["", "", ""]
            spans.append([other, label, *told, False])
            row = {"prev": "", "text": f"{fact} and {other}", "spans": spans, "lang": "en"}
            answer = [place, "FACT", name, "home", "years", True]
            short = {"prev": f"where is {name} ?", "text": place, "spans": [answer], "lang": "de"}
            found += [json.dumps(row), json.dumps(short)]
    return found


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Labelled messages of two writers, and a tiny base."""
    data, base = tmp_path / "data", tmp_path / "base"
    data.mkdir()
    base.mkdir()
    (data / "a1.jsonl").write_text("\n".join(lines()))
    (data / "a2.jsonl").write_text("\n".join(lines()[::3]))
    (base / "pieces.json").write_text(pieces())
    found = tiny.weights(len(SPECIAL) + len(VOCABULARY))
    monkeypatch.setattr(train.base, "load", lambda _: found)
    return data, base


@pytest.fixture
def given() -> list[Example]:
    return examples(Tokenizer.from_str(pieces()), [parse(line) for line in lines()])


def start() -> Weights:
    base = tiny.weights(len(SPECIAL) + len(VOCABULARY))
    return initial(base, weights.plain_head().size)


SETTINGS = learning.Settings(epochs=60, rate=2e-3, head_rate=5e-3)


def read(model: Reader, given: list[Example]) -> list[tuple[Labelled, list[Clause]]]:
    found = dict(batches.outputs(model, given, "cpu"))
    return [
        (one, list(clauses))
        for one, clauses in train.measured([found[at] for at in range(len(given))], given, {})
    ]


def test_X36_a_network_learns_clauses_and_what_is_said_about_them(given: list[Example]) -> None:
    data = learning.Data(given)
    model = learning.train(start(), data, 1.0, 1, SETTINGS)
    for message, clauses in read(model, given):
        assert [(one.start, one.end, one.label) for one in clauses] == [
            (span.start, span.end, span.label) for span in message.spans
        ]
        for span, clause in zip(message.spans, clauses, strict=True):
            assert clause.subject == span.subject
            assert (clause.category, clause.answers) == (span.category, span.answers)


def test_what_is_written_reads_as_it_was_trained(given: list[Example], tmp_path: Path) -> None:
    base = start()
    model = Reader(base)
    weights.write(tmp_path / "run.npz", weights.exported(model.weights()))
    stored = weights.read(tmp_path / "run.npz")
    other = Reader(weights.trained(stored, base), rounding=False)
    both = [dict(batches.outputs(one, given[:3], "cpu")) for one in (model, other)]
    for at in range(3):
        np.testing.assert_allclose(both[0][at], both[1][at], atol=5e-3)
    assert stored[STRUCTURE].shape[0] == 16


def test_marks_of_structure_are_added_to_the_pieces(given: list[Example]) -> None:
    changed = {**start(), STRUCTURE: np.ones((4, 24), np.float32) * np.arange(24)}
    batch = batches.batch_of(given[:1], "cpu")
    with torch.no_grad():
        plain, marked = (_once(changed, batch.ids, marks) for marks in (0, 2))
    assert not torch.allclose(plain, marked)


def _once(found: Weights, ids: torch.Tensor, mark: int) -> torch.Tensor:
    model = Reader(found).eval()
    model.renew()
    outputs: torch.Tensor = model(ids, torch.full_like(ids, mark))
    return outputs


def test_padding_changes_nothing(given: list[Example]) -> None:
    short = min(given, key=lambda one: len(one.window.ids))
    long = max(given, key=lambda one: len(one.window.ids))
    model = Reader(start())
    alone = dict(batches.outputs(model, [short], "cpu"))[0]
    beside = dict(batches.outputs(model, [short, long], "cpu"))[0]
    np.testing.assert_allclose(alone, beside, atol=1e-5)


def test_a_student_learns_from_teachers_without_labels(given: list[Example]) -> None:
    teacher = learning.train(start(), learning.Data(given), 1.0, 1, SETTINGS)
    unlabelled = train.without_labels(given)
    known = weights.trained(weights.exported(teacher.weights()), start())
    soft = learning.taught([known], unlabelled)
    data = learning.Data(unlabelled, soft=soft)
    student = learning.train(start(), data, 1.0, 2, replace(SETTINGS, epochs=90))
    for message, clauses in read(student, given):
        assert [(one.start, one.label) for one in clauses] == [
            (span.start, span.label) for span in message.spans
        ]


def command(folders: tuple[Path, Path], out: Path, *more: str) -> int:
    data, base = folders
    return train.main([str(data), str(out), "--base", str(base), "--epochs", "1", *more])


def test_training_from_the_command_line(folders: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert command(folders, out, "--test", "a2", "--seeds", "1,2") == 0
    results = json.loads((out / "results.json").read_text())
    assert set(results["runs"]) == {"seed-1", "seed-2", "mean", "ensemble"}
    assert results["runs"]["mean"]["tested"]["messages"] == 11
    assert set(results["runs"]["mean"]["tested"]["languages"]) == {"en", "de"}
    one, two, mean = (weights.read(out / f"{name}.npz") for name in ("seed-1", "seed-2", "mean"))
    np.testing.assert_allclose(
        mean["head.weight"], (one["head.weight"] + two["head.weight"]) / 2, atol=1e-3
    )
    described = json.loads((out / "mean.json").read_text())
    assert described["parts"]["answers"][1] == len(mean["head.weight"]) == len(mean["head.bias"])
    assert set(described["calibration"]) == set(described["labels"])


def test_a_smaller_network_from_the_command_line(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    assert command(folders, tmp_path, "--test", "a2") == 0
    teacher = ("--teacher", str(tmp_path / "seed-1.npz"))
    assert command(folders, tmp_path / "small", "--layers", "2", "--test", *teacher) == 0
    small = weights.read(tmp_path / "small" / "seed-1.npz")
    assert {name.split(".")[2] for name in small if name.startswith("encoder.")} == {"0", "1"}


def test_a_learning_curve(folders: tuple[Path, Path], tmp_path: Path) -> None:
    assert command(folders, tmp_path, "--test", "a2", "--curve") == 0
    results = json.loads((tmp_path / "results.json").read_text())
    assert list(results["runs"]) == ["share-0.125", "share-0.25", "share-0.5", "share-1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--test", "a3"), "a3.jsonl"),
        (("--test", "a2", "--unlabelled", "x.jsonl"), "--teacher"),
        (("--test", "a2", "--teacher", "none.npz"), "none.npz"),
    ],
)
def test_a_wrong_command_ends_with_a_message(
    folders: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    assert command(folders, tmp_path, *arguments) == 2
    assert message in capsys.readouterr().err
