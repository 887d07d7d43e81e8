"""The model in the box: there without a download, the one that was shipped, and chosen first."""

from __future__ import annotations

import asyncio
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the local model needs the extra `local`")

from flit_core.wheel import make_wheel_in

from standfast import AsyncMemory
from standfast.errors import Incompatible, Invalid, Unavailable
from standfast.interfaces.http.first_start import Keeping
from standfast.models.local import box
from standfast.models.local.recall import BoxedEmbedder
from standfast.models.providers.embedding import AbsentEmbedder
from standfast.models.providers.minilm.model import MiniLmEmbedder, former_models
from standfast.profiles import profile_named
from standfast.settings import Settings
from standfast.wiring.embedder import Circumstances, embedder_for
from tests.architecture.source import PROJECT


@pytest.fixture(scope="module")
def embedder() -> BoxedEmbedder:
    folder = box.place()
    assert folder is not None, "a clone holds the model"
    return BoxedEmbedder(folder, threads=1)


UNRELATED = ("The oak by the gate was cut down", "Der Hund schläft im Flur", "猫は窓辺にいます")


def cosines(embedder: BoxedEmbedder, query: str, *texts: str) -> list[float]:
    first, *others = map(np.asarray, asyncio.run(embedder.embed([query, *texts])))
    return [float(first @ other) for other in others]


def test_X16_it_finds_by_meaning_without_onnx_and_without_a_network(
    embedder: BoxedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("it went to the network"))
    right, wrong = cosines(
        embedder,
        "What do I do at the weekend?",
        "On Sundays I go climbing",
        "My desk is by a window",
    )
    assert right > wrong + 0.1


def test_what_answers_is_nearer_than_what_asks_the_same(embedder: BoxedEmbedder) -> None:
    answer, echo = cosines(
        embedder, "Where does Ida live?", "Ida lives in Oslo", "Where does Olaf work?"
    )
    assert answer > echo


def test_X16_texts_that_have_nothing_to_do_with_each_other_lie_near_0(
    embedder: BoxedEmbedder,
) -> None:
    assert max(cosines(embedder, "When does my passport expire?", *UNRELATED)) < 0.25
    assert embedder.calibration.cuts, "an answer ends where scores fall off"


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        (
            "Was darf unser Haustier fressen?",
            "Der Kater verträgt nur Nierenfutter.",
            "We have tea.",
        ),
        ("通院はいつですか?", "火曜日に歯医者に行きます。", "The dentist is called Ida."),
        ("When do I see the dentist?", "火曜日に歯医者に行きます。", "The meeting is on Tuesday."),
    ],
)
def test_X16_it_finds_across_languages(
    embedder: BoxedEmbedder, question: str, right: str, wrong: str
) -> None:
    near, far = cosines(embedder, question, right, wrong)
    assert near > far


def test_its_package_holds_the_files_and_their_licences(tmp_path: Path) -> None:
    make_wheel_in(PROJECT / "model" / "pyproject.toml", tmp_path)
    (wheel,) = tmp_path.glob("standfast_model-*.whl")
    with ZipFile(wheel) as archive:
        names = {name.rpartition("/")[2] for name in archive.namelist()}
        graph = archive.read(f"{box.PACKAGE}/{box.GRAPH}")
    assert {box.PIECES, box.CALIBRATION, "LICENSE", "LICENSE-CC-BY-SA-4.0", "METADATA"} <= names
    assert sha256(graph).hexdigest() == box.SHA256[box.GRAPH]


def test_another_file_in_its_place_is_refused(tmp_path: Path) -> None:
    folder = box.place()
    assert folder is not None
    for name in (box.GRAPH, box.PIECES):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with (tmp_path / box.GRAPH).open("r+b") as file:
        file.seek(5_000_000)
        file.write(b"\0\0\0\0")
    with pytest.raises(Incompatible, match=r"recall-2\.onnx is damaged or changed"):
        box.load_files(tmp_path)


def space_of(store: str, **options: Any) -> str:
    async def space() -> str:
        async with await AsyncMemory.open(store, background=False, **options) as memory:
            await memory.remember("tea is at four")
            used = memory.engine.embedder
            return used.space if used else ""

    return asyncio.run(space())


def test_a_new_store_begins_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STANDFAST_LOCAL_MODEL")
    assert space_of("dict:") == "recall-2/384"
    assert space_of("dict:", embedder="hashing") == "hashing/384"
    assert space_of("dict:", profile="otto") == "hashing/768", "otto's document says so"


def test_without_it_stores_begin_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STANDFAST_LOCAL_MODEL")
    monkeypatch.setattr(box, "place", lambda: None)
    assert space_of("dict:") == "hashing/384"


def test_an_unknown_local_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANDFAST_LOCAL_MODEL", "psychic")
    with pytest.raises(Invalid, match="use recall-2, minilm or hashing"):
        space_of("dict:")


def test_an_older_store_keeps_its_space_and_is_offered_the_better_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "memory.db")
    assert space_of(file, embedder="hashing") == "hashing/384"
    monkeypatch.delenv("STANDFAST_LOCAL_MODEL")

    async def offered() -> None:
        async with await AsyncMemory.open(file, background=False) as memory:
            assert memory.engine.embedder is not None
            assert memory.engine.embedder.space == "hashing/384"
            assert memory.engine.better == "recall-2"

    async def moved() -> None:
        async with await AsyncMemory.open(file, embedder="recall-2", background=False) as memory:
            receipt = await memory.reembed()
            assert receipt.notes == ("moved from hashing/384 to recall-2/384",)
        async with await AsyncMemory.open(file, background=False) as memory:
            assert memory.engine.better == ""
            answer = await memory.recall("When do we drink something hot?")
            assert [hit.record.text for hit in answer.hits] == ["tea is at four"]

    asyncio.run(offered())
    said = Keeping(Path(file), "hashing/384", f"--store {file}", better="recall-2").told()
    assert "by meaning" not in said, "hashing knows words and parts of words"
    offer = f"--store {file} --embedder recall-2 reembed"
    assert offer in said
    asyncio.run(moved())


def test_X13_a_store_of_a_former_model_of_ours_opens_with_the_one_in_the_box(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also where somebody wrote its name down; a model of somebody else's stays what it is."""
    monkeypatch.setattr(box, "FORMER", {"recall-0": {}})
    given = Circumstances(
        settings=Settings(),
        profile=profile_named("default"),
        environ={},
        model=None,
        minilm_folder=tmp_path,
    )
    for name, begun in (("", "recall-0/384"), ("auto", "recall-0/384"), ("recall-0", "")):
        assert isinstance(embedder_for(name, begun, given), BoxedEmbedder)
    with pytest.raises(Invalid, match="unknown embedder"):
        embedder_for("recall-9", "", given)
    assert isinstance(embedder_for("", "recall-9/384", given), AbsentEmbedder)
    assert embedder_for("", "hashing/384", given).space == "hashing/384"  # type: ignore[union-attr]


def test_X13_only_former_models_of_ours_are_succeeded() -> None:
    assert BoxedEmbedder.succeeds == {f"{name}/384" for name in box.FORMER}
    assert BoxedEmbedder.space not in BoxedEmbedder.succeeds
    assert not hasattr(MiniLmEmbedder, "succeeds")


def test_X13_a_former_model_that_was_kept_embeds_questions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, minilm_folder: Path
) -> None:
    """Where its files are those that were published."""
    graph, tokenizer = (
        (minilm_folder / name).read_bytes() for name in ("minilm.onnx", box.TOKENIZER)
    )
    hashes = {
        "recall-0.onnx": sha256(graph).hexdigest(),
        box.TOKENIZER: sha256(tokenizer).hexdigest(),
    }
    monkeypatch.setattr(box, "FORMER", {"recall-0": hashes})
    assert not former_models(tmp_path, 1), "nobody has kept it"
    (tmp_path / "recall-0").mkdir()
    (tmp_path / "recall-0" / "recall-0.onnx").write_bytes(graph)
    (tmp_path / "recall-0" / box.TOKENIZER).write_bytes(tokenizer)
    [kept] = former_models(tmp_path, 1).values()
    assert kept.space == "recall-0/384"
    expected = asyncio.run(MiniLmEmbedder(minilm_folder).embed(["tea"]))
    assert asyncio.run(kept.embed(["tea"])) == expected
    (tmp_path / "recall-0" / box.TOKENIZER).write_bytes(b"{}")
    [changed] = former_models(tmp_path, 1).values()
    with pytest.raises(Unavailable, match=r"tokenizer\.json is not what was published"):
        asyncio.run(changed.embed(["tea"]))
