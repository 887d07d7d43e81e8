"""Training in small: a tiny network learns on a CPU to find what it should."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch, which the project does not depend on")
pytest.importorskip("tokenizers", reason="training needs the extra `local`")

import torch

from tests.training import tiny
from tests.unit.minilm_reference import Reference
from training import base, rows, stores, train
from training.network import Encoder
from training.stores import TOPIC, WISH, Asked, Place, Store, Turn
from training.texts import Texts

WORDS = (
    'ida olaf sails lives in oslo bergen the boat is red green who where what said , " ?'.split()
)


@pytest.fixture
def published() -> base.Published:
    return base.Published(tiny.weights(len(WORDS) + 4), tiny.tokenizer(WORDS))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    turns = [
        Turn("ida", "ida lives in oslo"),
        Turn("olaf", "the boat is red"),
        Turn("", "olaf sails"),
    ]
    questions = [
        Asked("where is ida ?", [Place(0, 0)]),
        Asked("what is red ?", [Place(0, 1)], TOPIC),
        Asked("who sails ?", [Place(0, 2)], WISH),
    ]
    found = [Store(source, [turns], questions) for source in ("lives", "wishes", "wishes")]
    for name in ("train", "check"):
        stores.write(found, tmp_path / f"{name}.jsonl.gz")
    return tmp_path


def test_the_network_gives_the_vectors_of_the_published_one() -> None:
    weights = tiny.weights(len(WORDS) + 4, width=384)
    tokenizer = tiny.tokenizer(WORDS)
    texts = ["ida lives in oslo", "olaf sails", "where ?"]
    model = Encoder(weights, rounding=False)
    model.eval()
    with torch.no_grad():
        found = Texts(tokenizer, texts, "cpu").vectors(model, np.array([2, 0, 1])).numpy()
    expected = Reference.of(weights, tokenizer).vectors([texts[2], texts[0], texts[1]])
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_rounding_in_training_is_that_of_the_file() -> None:
    weights = tiny.weights(len(WORDS) + 4)
    texts = Texts(tiny.tokenizer(WORDS), ["ida lives in oslo", "olaf sails"], "cpu")
    one, other = Encoder(weights), Encoder(rows.rounded(weights), rounding=False)
    with torch.no_grad():
        both = [texts.vectors(model.eval(), np.arange(2)) for model in (one, other)]
    torch.testing.assert_close(*both, atol=2e-3, rtol=0)  # positions are kept in 16 bits


def test_training_finds_more_than_before(data: Path, published: base.Published) -> None:
    settings = train.Settings(epochs=40, rate=3e-3, stores_at_once=2)
    learned = train.load(data, published, None)
    batch = next(train._batches(settings, learned, train.random.Random(1)))

    def loss(model: Encoder) -> float:
        model.eval()
        found = train.step_loss(model, batch, learned, settings, train.random.Random(1))
        return float(found.detach())

    before = loss(train.encoder(published, "cpu"))
    assert loss(train.train(settings, learned, published, None)) < before / 2


def test_a_question_about_oneself_has_no_wrong_answers_elsewhere(
    data: Path, published: base.Published
) -> None:
    learned = train.load(data, published, None)
    by_source = {one.source: one for one in learned.examples}
    visits = [train.Visit(by_source[name], np.arange(3)) for name in ("lives", "wishes", "wishes")]
    others = train._given(visits, (128, 128), "cpu").others.numpy()
    assert others[0, :9].tolist() == [False] + [True] * 8, "of another's life: all but the evidence"
    assert others[3, :9].tolist() == [True] * 3 + [False, True, True] + [False] * 3
    assert not others[9:].any()
    assert not others[:, 9:].any()


def test_training_from_the_command_line(
    data: Path, published: base.Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "read", lambda _: published)
    runs = [
        {"name": "one", "seed": 3, "epochs": 1},
        {"name": "two", "frozen_table": True, "epochs": 1},
    ]
    (tmp_path / "runs.json").write_text(json.dumps(runs))
    arguments = [
        str(data),
        str(tmp_path / "out"),
        "--base",
        "x",
        "--runs",
        str(tmp_path / "runs.json"),
    ]
    assert train.main(arguments) == 0
    one, two = (rows.read([tmp_path / "out" / f"{name}.npz"]) for name in ("one", "two"))
    assert set(one) - set(two) == {rows.TABLE}
    note = json.loads((tmp_path / "out" / "one.json").read_text())
    assert note["settings"]["seed"] == 3
    assert set(note["check"]) == {"lives", "wishes"}


def test_a_setting_that_does_not_exist_ends_with_a_message(
    data: Path,
    published: base.Published,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(base, "read", lambda _: published)
    (tmp_path / "runs.json").write_text('[{"sped": 1}]')
    arguments = [str(data), str(tmp_path), "--base", "x", "--runs", str(tmp_path / "runs.json")]
    assert train.main(arguments) == 2
    assert "sped" in capsys.readouterr().err
