"""A release: the version in one place, the same bytes twice, and everything in it that belongs."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
import tomllib
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest
from flit_core.wheel import make_wheel_in

import standfast
from scripts import release
from standfast.models.local import box
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


CHAIN = """\
alpha==1 \\
    --hash=sha256:{a}
    # via
    #   beta
    #   tool
beta==2 ; python_full_version < '3.12' \\
    --hash=sha256:{a}
    # via
    #   standfast (pyproject.toml)
beta==3 ; python_full_version >= '3.12' \\
    --hash=sha256:{a}
    # via
    #   standfast (pyproject.toml)
gamma==3 \\
    --hash=sha256:{a}
    # via alpha
tool==4 \\
    --hash=sha256:{a}
    # via standfast (pyproject.toml)
""".format(a="a" * 64)


def test_the_trial_takes_what_is_needed_and_all_below_it() -> None:
    pins = release.needed(CHAIN, {"beta"})
    assert [line.split("==")[0] for line in pins.splitlines() if "==" in line] == [
        "alpha",
        "beta",
        "beta",
        "gamma",
    ]
    assert pins.count("--hash=sha256:") == 4
    with pytest.raises(SystemExit, match=r"dev.txt does not pin delta: make pins"):
        release.needed(CHAIN, {"delta"})


def test_every_extra_is_tried_or_said_to_be_untried() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = release.requirements(PROJECT)
    assert asked.keys() - {""} == release.MODULES.keys()
    assert project["optional-dependencies"].keys() == release.MODULES.keys() | release.UNTRIED
    assert "apsw-sqlite3mc" in {release.normal(one) for one in asked[""]}
    page = (PROJECT / "docs" / "howto" / "release.md").read_text("utf-8")
    assert [extra for extra in release.UNTRIED if f"`{extra}`" not in page] == []


def _metadata_wheel(folder: Path, name: str) -> Path:
    """A wheel with nothing in it but what an installed package says of itself."""
    known = metadata.distribution(name)
    stem = f"{release.normal(name).replace('-', '_')}-{known.version}"
    path = folder / f"{stem}-py3-none-any.whl"
    with ZipFile(path, "w") as packed:
        packed.writestr(f"{stem}.dist-info/METADATA", known.read_text("METADATA") or "")
        packed.writestr(
            f"{stem}.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        packed.writestr(f"{stem}.dist-info/RECORD", "")
    return path


def _addresses(wheel: Path) -> list[str]:
    """Lines of its metadata that name one. What comes after an empty line is the README."""
    with ZipFile(wheel) as packed:
        names = [name for name in packed.namelist() if ".dist-info/" in name]
        texts = {name: packed.read(name).decode() for name in names if "LICENSE" not in name}
    assert {Path(name).name for name in texts} >= {"METADATA", "WHEEL", "RECORD"}
    heads = [text.split("\n\n")[0] for text in texts.values()]
    return [line for head in heads for line in head.splitlines() if "://" in line]


def _resolved(folder: Path, *wanted: str) -> subprocess.CompletedProcess[str]:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    options = ["--dry-run", "--ignore-installed", "--no-index", "--find-links", str(folder)]
    return subprocess.run([*pip, *options, *wanted], capture_output=True, text=True, check=False)


def test_a_release_installs_from_a_folder_with_all_extras_and_no_index(tmp_path: Path) -> None:
    """By name, as a person would. The dependencies are stand-ins of the pinned versions with their
    real requirements; `make release` downloads and installs the real ones."""
    for part in release.PARTS:
        built = make_wheel_in(PROJECT / part / "pyproject.toml", tmp_path).file
        assert _addresses(built) == [], "the metadata of a wheel names no host"
    asked = release.requirements(PROJECT)
    names = {release.normal(one) for part in asked.values() for one in part}
    pins = release.needed((PROJECT / release.ALL_PINS).read_text("utf-8"), names)
    here = {release.normal(one.metadata["Name"]) for one in metadata.distributions()}
    pinned = {release.normal(line) for line in pins.splitlines() if "==" in line}
    links = {name: _metadata_wheel(tmp_path, name) for name in sorted(pinned & here)}
    assert {"numpy", "uvicorn", "redis", "surrealdb", "psycopg-binary"} <= links.keys()

    everything = f"standfast[{','.join(extra for extra in asked if extra)}]"
    done = _resolved(tmp_path, everything, "standfast-model")
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()[-1]
    assert f"standfast-{standfast.__version__}" in said
    assert "standfast-model-" in said.replace("_", "-")

    links["uvicorn"].unlink()
    assert "uvicorn" in _resolved(tmp_path, "standfast[server]").stderr


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
