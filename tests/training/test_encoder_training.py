"""The encoder for search: what it learns from, and a rehearsal of its training."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest

from training.encoder import pack, written
from training.examples import Library
from training.stores import Asked, Place, Store, Turn

STORE = Store(
    "across-de-en",
    [[Turn("Ann", "Ich wohne in Graz."), Turn("", "Der Zug kam spät.")], [Turn("", "Ja.")]],
    [Asked("Where does Ann live?", [Place(0, 0)]), Asked("What did I say last?", [Place(1, 0)])],
)


def test_a_store_becomes_numbers_with_its_evidence() -> None:
    library = Library()
    row = pack.numbered(STORE, library, check=True)
    assert [library.texts[at] for at in row["plain"]] == [
        "Ich wohne in Graz.", "Der Zug kam spät.", "Ja.",
    ]  # fmt: skip
    assert library.texts[row["named"][0]] == 'Ann said, "Ich wohne in Graz."'
    assert row["evidence"] == [[0], [2]]
    assert row["check"]


def test_written_questions_point_at_their_lines() -> None:
    folder = Path(written.__file__).parent.parent / "languages" / "data"
    stores = list(written.asked_in_english(folder / "p3.jsonl", random.Random(1)))
    assert len({store.source for store in stores}) == 14, "thirteen languages and a mixture"
    for store in (*stores, *written.answered(random.Random(1))):
        for asked in store.questions:
            assert all(0 <= one.turn < len(store.sessions[one.session]) for one in asked.evidence)


def test_a_rehearsal_changes_the_layers_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch", reason="training needs torch")
    from training.encoder import train
    from training.encoder.network import TABLE, Layers

    weights = tiny_weights()
    monkeypatch.setattr(train.base, "load", lambda _: weights)
    torch.set_num_threads(1)
    packed, out = tmp_path / "packed", tmp_path / "out"
    packed.mkdir()
    rows = [
        {"source": "parallel-de", "check": number == 3, "plain": [0, 1, 2], "named": [0, 1, 2],
         "questions": [3, 4], "kinds": [0, 1], "evidence": [[0], [2]]}
        for number in range(4)
    ]  # fmt: skip
    with gzip.open(packed / "stores.json.gz", "wt", encoding="utf-8") as file:
        json.dump(rows, file)
    pieces = np.array([[0, 4 + n, 5 + n, 2] for n in range(5)], np.uint32).reshape(-1)
    np.savez(packed / "texts.npz", pieces=pieces, lengths=np.full(5, 4, np.uint8))
    assert train.main([str(packed), str(tmp_path), str(out), "--seeds", "1,2"]) == 0
    with np.load(out / "mean.npz") as found:
        name = "encoder.layer.0.output.dense.weight"
        assert TABLE not in found.files, "the table is shared"
        assert not np.array_equal(found[name], weights[name].astype(np.float16))
    before = (out / "1.npz").stat().st_mtime_ns
    assert train.main([str(packed), str(tmp_path), str(out), "--seeds", "1,2"]) == 0
    assert (out / "1.npz").stat().st_mtime_ns == before, "a run that is there is not done again"
    assert Layers(weights).depth == 1


def tiny_weights() -> dict[str, np.ndarray]:
    dice = np.random.default_rng(1)
    sizes = {
        "embeddings.word_embeddings.weight": (12, 384),
        "embeddings.position_embeddings.weight": (16, 384),
        "embeddings.token_type_embeddings.weight": (2, 384),
    }
    prefix = "encoder.layer.0."
    for part in ("query", "key", "value"):
        sizes[f"{prefix}attention.self.{part}.weight"] = (384, 384)
    sizes[f"{prefix}attention.output.dense.weight"] = (384, 384)
    sizes[f"{prefix}intermediate.dense.weight"] = (1536, 384)
    sizes[f"{prefix}output.dense.weight"] = (384, 1536)
    found = {name: dice.normal(0, 0.05, size) for name, size in sizes.items()}
    for name, size in sizes.items():
        if name.startswith(prefix):
            found[name.replace("weight", "bias")] = np.zeros(size[0])
    for name in ("embeddings.", f"{prefix}attention.output.", f"{prefix}output."):
        found[f"{name}LayerNorm.weight"] = np.ones(384)
        found[f"{name}LayerNorm.bias"] = np.zeros(384)
    return {name: value.astype(np.float32) for name, value in found.items()}
