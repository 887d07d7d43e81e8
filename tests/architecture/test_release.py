"""A release: the version in one place, the same bytes twice, and everything in it that belongs."""

from __future__ import annotations

import hashlib
import json
import tarfile
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

import standfast
from scripts import release
from standfast.models.providers.minilm import box
from tests.architecture.source import PROJECT

EPOCH = 1_763_000_000
PINS = """\
anyio==4.9.0 \\
    --hash=sha256:{a} \\
    --hash=sha256:{b}
    # via mcp
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:{a}
""".format(a="a" * 64, b="b" * 64)


def test_the_version_is_in_one_place() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    assert "version" not in project
    assert "version" in project["dynamic"]
    said = f'"{standfast.__version__}"'
    places = [path for path in (PROJECT / "src").rglob("*.py") if said in path.read_text("utf-8")]
    assert places == [PROJECT / "src" / "standfast" / "__init__.py"]


def test_the_bill_of_materials_names_every_pin_with_its_hashes() -> None:
    page = release.sbom(PINS, "1.2.3", EPOCH)
    assert page["metadata"]["component"]["version"] == "1.2.3"
    anyio, colorama = page["components"]
    assert (anyio["name"], anyio["version"], len(anyio["hashes"])) == ("anyio", "4.9.0", 2)
    assert anyio["purl"] == "pkg:pypi/anyio@4.9.0"
    assert colorama["properties"] == [
        {"name": "installed when", "value": "sys_platform == 'win32'"}
    ]
    assert page == release.sbom(PINS, "1.2.3", EPOCH), "the same pins give the same page"
    assert release.sbom(PINS, "1.2.4", EPOCH)["serialNumber"] != page["serialNumber"]


def test_the_bill_of_materials_of_today_can_be_written() -> None:
    pins = (PROJECT / release.PINS).read_text("utf-8")
    names = {one["name"] for one in release.sbom(pins, "0", EPOCH)["components"]}
    assert {"numpy", "fastapi", "apsw-sqlite3mc"} <= names


@pytest.mark.proof
def test_a_release_is_complete_and_the_same_bytes_twice(tmp_path: Path) -> None:
    """From the last commit; ``made`` itself fails where a second build differs."""
    tree = release.exported("HEAD", tmp_path)
    dist = tmp_path / "dist"
    files = {file.name: file for file in release.made(tree, dist, EPOCH, tmp_path)}
    sdist, wheel, model_sdist, model = sorted(
        (name for name in files if name.endswith((".whl", ".gz"))),
        key=lambda name: ("model" in name, name.endswith(".whl")),
    )
    assert standfast.__version__ in wheel
    weights = ZipFile(files[model]).read(f"standfast_model/{box.GRAPH}")
    assert hashlib.sha256(weights).hexdigest() == box.SHA256[box.GRAPH]
    with tarfile.open(files[sdist]) as packed:
        inside = packed.getnames()
    folder = sdist.removesuffix(".tar.gz")
    assert {f"{folder}/{part}" for part in ("README.md", "docs/index.md", "tests/conftest.py")} <= {
        *inside
    }
    assert not [name for name in inside if "__pycache__" in name or name.endswith((".db", ".pyc"))]
    assert model_sdist in files
    assert json.loads((dist / f"{folder}.cdx.json").read_text("utf-8"))["components"]
    for line in files["SHA256SUMS"].read_text("utf-8").splitlines():
        digest, name = line.split("  ")
        assert release.digest(files[name]) == digest
