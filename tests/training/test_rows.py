"""Weights on their way: into a file, out of it, and into a graph that onnxruntime runs."""

from __future__ import annotations

import asyncio
import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("safetensors", reason="conversion needs the extra `local`")

from standfast.errors import Incompatible
from standfast.models.providers.minilm import weights as minilm
from standfast.models.providers.minilm.convert import onnx_from_weights
from standfast.models.providers.minilm.model import MiniLmEmbedder
from tests.training import tiny
from tests.unit.minilm_reference import Reference
from training import base, convert, rows

WORDS = "ida olaf sails lives in oslo the boat is red who where".split()


def test_rounding_is_close_and_happens_once() -> None:
    before = tiny.weights(40)
    after = rows.rounded(before)
    again = rows.rounded(after)
    assert after.keys() == before.keys()
    for name, value in before.items():
        assert np.abs(after[name] - value).max() <= np.abs(value).max() / 64
        np.testing.assert_array_equal(again[name], after[name])


def test_the_same_weights_give_the_same_bytes() -> None:
    assert rows.packed(tiny.weights(40)) == rows.packed(tiny.weights(40))


def test_exact_weights_keep_more() -> None:
    before = tiny.weights(40)
    name = "encoder.layer.0.output.dense.weight"
    exact = rows.unpacked(rows.packed(before, exact=True))
    errors = [np.abs(one[name] - before[name]).max() for one in (exact, rows.rounded(before))]
    assert errors[0] < errors[1] / 4


def test_a_large_file_is_written_and_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "PART_BYTES_MAX", 10_000)
    written = rows.write(tiny.weights(400), tmp_path, "model")
    assert [path.name for path in written[:2]] == ["model.npz.0", "model.npz.1"]
    found = rows.read(written)
    np.testing.assert_array_equal(found[rows.TABLE], rows.rounded(tiny.weights(400))[rows.TABLE])


@pytest.mark.parametrize("content", [b"", b"nothing of ours", b"PK\x03\x04"])
def test_another_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "w.npz").write_bytes(content)
    with pytest.raises(Incompatible, match="no weights of ours"):
        rows.read([tmp_path / "w.npz"])


def test_mixing_weighs_by_share() -> None:
    one, other = tiny.weights(40, seed=1), tiny.weights(40, seed=2)
    mixed = rows.mixed((1, one), (3, other))
    np.testing.assert_allclose(
        mixed[rows.TABLE], 0.25 * one[rows.TABLE] + 0.75 * other[rows.TABLE], rtol=1e-5
    )


def vectors(folder: Path, texts: list[str]) -> np.ndarray:
    return np.asarray(asyncio.run(MiniLmEmbedder(folder, threads=1).embed(texts)))


def test_a_converted_model_runs_without_the_package_onnx(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime", reason="needs the extra `local`")
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    tokens = tiny.tokenizer(WORDS)
    monkeypatch.setattr(
        minilm, "SHA256", {**minilm.SHA256, minilm.TOKENIZER: sha256(tokens).hexdigest()}
    )
    found = rows.rounded(tiny.weights(len(WORDS) + 4, width=384))
    convert.install(tmp_path, found, tokens)
    texts = ["ida sails", "olaf lives in oslo", "the boat is red"]
    expected = Reference.of(found, tokens).vectors(texts)
    cosines = (vectors(tmp_path, texts) * expected).sum(axis=1)
    assert cosines.min() > 0.97, "8-bit integers cost a little, a wrong graph much more"


def test_small_graphs_are_less_than_half_the_size() -> None:
    found = tiny.weights(30522, width=24)
    large, small = (onnx_from_weights(found, small=small) for small in (False, True))
    assert len(small) < len(large) / 2


def test_the_bytes_of_a_graph_are_those_of_the_package_onnx() -> None:
    onnx = pytest.importorskip("onnx", reason="compares with the package onnx")
    for small in (False, True):
        content = onnx_from_weights(tiny.weights(40), small=small)
        model = onnx.load_from_string(content)
        onnx.checker.check_model(model)
        assert model.SerializeToString(deterministic=True) == content


def test_converting_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    published = base.Published(tiny.weights(40), b"{}")
    monkeypatch.setattr(base, "read", lambda _: published)
    changed = {n: v for n, v in tiny.weights(40, seed=2).items() if n != rows.TABLE}
    files = rows.write(changed, tmp_path, "model")
    arguments = [str(tmp_path / "out"), *map(str, files), "--base", "anything", "--keep", "0.5"]
    assert convert.main(arguments) == 0
    assert minilm.BUILT in capsys.readouterr().out
    manifest = json.loads((tmp_path / "out" / minilm.MANIFEST).read_text())
    graph = (tmp_path / "out" / minilm.BUILT).read_bytes()
    assert manifest["built"] == sha256(graph).hexdigest()
    half = rows.mixed((1, published.weights), (1, {**published.weights, **rows.rounded(changed)}))
    assert graph == onnx_from_weights(rows.rounded(half), small=True)


def test_converting_nothing_ends_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(base, "read", lambda _: base.Published(tiny.weights(40), b"{}"))
    arguments = [str(tmp_path / "out"), str(tmp_path / "none.npz"), "--base", "anything"]
    assert convert.main(arguments) == 2
    assert "cannot read the weights" in capsys.readouterr().err
