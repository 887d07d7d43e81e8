"""``make release``: what is published, built from the commit alone, twice, and tried as installed.

Into ``dist``: sdist and wheel of standfast and of its model, an SBOM, and the checksums of all.
What is built is an export of the commit, with the commit's time as its clock, so anyone who has the
commit gets the same bytes. The trial downloads every pinned dependency into a folder and installs
the wheels by name from there, with their extras and without an index.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PINS = "requirements/serve.txt"
ALL_PINS = "requirements/dev.txt"
# Extras that are not tried: for development, or not installable beside these pins.
UNTRIED = frozenset(("bench", "dev", "google-adk", "llama-index", "openai-agents"))
PARTS = (".", "model")  # folders with a pyproject.toml
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
BUILD = """\
import sys
from flit_core import buildapi
print(getattr(buildapi, "build_" + sys.argv[1])(sys.argv[2]))
"""
# What each extra must be able to import.
MODULES = {
    "anthropic": "standfast.adapters.anthropic",
    "client": "standfast.interfaces.client",
    "encrypt": "pyrage",
    "langgraph": "standfast.adapters.langgraph",
    "llm": "standfast.models.providers.llm.wire",
    "local": "onnxruntime",
    "oidc": "jwt",
    "postgres": "standfast.stores.postgres.store",
    "proxy": "standfast.adapters.proxy.server",
    "pydantic-ai": "standfast.adapters.pydantic_ai",
    "redis": "standfast.stores.redis.store",
    "server": "standfast.interfaces.http",
    "slack": "standfast.interfaces.slack.bot",
    "surreal": "standfast.stores.surreal.store",
}
SMOKE = """\
import importlib, pathlib, sys, tempfile
import standfast
from standfast import Memory
for module in sys.argv[1:]:
    importlib.import_module(module)
from standfast.models.local import box
assert box.status().ready, box.status().detail
with tempfile.TemporaryDirectory() as folder:
    with Memory.open(str(pathlib.Path(folder) / "memory.db"), embedder="recall-2") as memory:
        memory.remember("On Sundays I go climbing", scope="user:ann")
        hits = memory.recall("What does she do at the weekend?", scope="user:ann").hits
        assert hits, "nothing was found by meaning"
print(standfast.__version__)
"""


def git(*words: str, at: Path = ROOT) -> str:
    done = subprocess.run(["git", *words], cwd=at, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def exported(commit: str, folder: Path) -> Path:
    """The tree of a commit and nothing else that lies about."""
    pack = folder / "tree.tar"
    git("archive", f"--output={pack}", commit)
    tree = folder / "tree"
    with tarfile.open(pack) as archive:
        archive.extractall(tree, filter="data")
    pack.unlink()
    return tree


def built(kind: str, source: Path, target: Path, epoch: int) -> Path:
    """``kind``: sdist or wheel. The same source and epoch give the same bytes anywhere."""
    target.mkdir(parents=True, exist_ok=True)
    environ = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "PYTHONPATH": ""}
    command = [sys.executable, "-c", BUILD, kind, str(target)]
    done = subprocess.run(
        command, cwd=source, env=environ, capture_output=True, text=True, check=True
    )
    return target / done.stdout.split()[-1]


def packages(tree: Path, target: Path, epoch: int) -> list[Path]:
    return [
        built(kind, tree / part, target, epoch) for part in PARTS for kind in ("sdist", "wheel")
    ]


def rebuilt(sdist: Path, folder: Path, epoch: int) -> Path:
    """The wheel that the unpacked sdist gives."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return built("wheel", next(folder.iterdir()), folder / "wheel", epoch)


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def sbom(pins: str, version: str, epoch: int) -> dict[str, Any]:
    """CycloneDX, from the pins of what `make serve` installs: name, version and hashes of each."""
    blocks = re.split(r"^(?=[a-z0-9])", pins, flags=re.MULTILINE)[1:]
    components = [component(block) for block in blocks]
    content = json.dumps([version, components], sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, content)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat(),
            "component": {
                "type": "library",
                "name": "standfast",
                "version": version,
                "purl": f"pkg:pypi/standfast@{version}",
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            },
        },
        "components": components,
    }


def component(block: str) -> dict[str, Any]:
    found = re.match(
        r"(?P<name>[a-z0-9._-]+)==(?P<version>[^\s;\\]+)(?: ; (?P<when>[^\\\n]+))?", block
    )
    if found is None:
        raise SystemExit(f"{PINS}: not understood: {block.splitlines()[0]}")
    purl = f"pkg:pypi/{found['name']}@{found['version']}"
    hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", block)
    when = (found["when"] or "").strip()
    return {
        "type": "library",
        "bom-ref": purl,
        "name": found["name"],
        "version": found["version"],
        "purl": purl,
        "hashes": [{"alg": "SHA-256", "content": one} for one in hashes],
        **({"properties": [{"name": "installed when", "value": when}]} if when else {}),
    }


def interpreters() -> Iterator[tuple[str, str]]:
    """Version and command of every Python of the promised ones that is here and runs."""
    for version in PYTHONS:
        here = f"{sys.version_info.major}.{sys.version_info.minor}" == version
        command = sys.executable if here else shutil.which(f"python{version}")
        if command and not subprocess.run([command, "-c", ""], capture_output=True).returncode:
            yield version, command


def normal(requirement: str) -> str:
    """The name in a requirement, as the pins spell it."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    if found is None:
        raise SystemExit(f"not a requirement: {requirement}")
    return re.sub(r"[-_.]+", "-", found.group()).lower()


def requirements(tree: Path) -> dict[str, list[str]]:
    """What the package needs without an extra (under ""), and with each extra that is tried."""
    project = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    return {
        "": project["dependencies"],
        **{extra: extras[extra] for extra in sorted(extras.keys() - UNTRIED)},
    }


def needed(pins: str, names: set[str]) -> str:
    """The pins of these packages and of all that they need, by what ``# via`` says."""
    blocks = [
        (normal(block), block)
        for block in re.split(r"^(?=[a-z0-9])", pins, flags=re.MULTILINE)
        if block[:1].isalnum()
    ]
    missing = names - {name for name, _ in blocks}
    if missing:
        raise SystemExit(f"{ALL_PINS} does not pin {', '.join(sorted(missing))}: make pins")
    above = [
        (name, set(re.findall(r"^ +#(?: via)? +([a-z0-9._-]+)", block, re.MULTILINE)))
        for name, block in blocks  # one name may have a block for each range of Pythons
    ]
    found = set(names)
    while more := {name for name, parents in above if parents & found} - found:
        found |= more
    return "".join(block for name, block in blocks if name in found)


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")


def tried(command: str, wheels: list[Path], tree: Path, folder: Path) -> str:
    """Installed by name, with the extras, from a folder and no index; what it says of itself."""
    asked = requirements(tree)
    names = {normal(requirement) for part in asked.values() for requirement in part}
    pins, links = folder / "pins.txt", folder / "wheels"
    links.mkdir(parents=True)
    pins.write_text(needed((tree / ALL_PINS).read_text("utf-8"), names), "utf-8")
    for wheel in wheels:
        shutil.copy(wheel, links)
    run(command, "-m", "venv", str(folder / "environment"))
    python = str(folder / "environment" / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run(*pip, "wheel", "--no-deps", "--require-hashes", "-r", str(pins), "-w", str(links))
    extras = [extra for extra in asked if extra]
    wanted = [f"standfast[{','.join(extras)}]", "standfast-model"]
    run(*pip, "install", "--no-index", "--find-links", str(links), *wanted)
    environ = {"PATH": f"{Path(python).parent}:/usr/bin:/bin", "HOME": str(folder)}
    said = subprocess.run(
        [python, "-c", SMOKE, *(MODULES[extra] for extra in extras)],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    if said.returncode:
        raise SystemExit(f"{command}: the wheel does not work:\n{said.stderr}")
    return said.stdout.strip()


def made(tree: Path, target: Path, epoch: int, scratch: Path) -> list[Path]:
    """Everything but the trial: packages, the same a second time, SBOM, checksums."""
    files = packages(tree, target, epoch)
    again = packages(tree, scratch / "again", epoch)
    for number, file in enumerate(f for f in files if f.name.endswith(".tar.gz")):
        again.append(rebuilt(file, scratch / f"unpacked{number}", epoch))
    wanted = {file.name: digest(file) for file in files}
    differing = sorted({file.name for file in again if digest(file) != wanted.get(file.name)})
    if differing:
        raise SystemExit(f"not the same bytes when built again: {', '.join(differing)}")
    version = files[1].name.split("-")[1]
    bom = target / f"standfast-{version}.cdx.json"
    page = sbom((tree / PINS).read_text("utf-8"), version, epoch)
    bom.write_text(json.dumps(page, indent=1) + "\n", "utf-8")
    sums = "".join(f"{digest(file)}  {file.name}\n" for file in [*files, bom])
    (target / "SHA256SUMS").write_text(sums, "utf-8")
    return [*files, bom, target / "SHA256SUMS"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-trial", action="store_true", help="install it nowhere")
    options = parser.parse_args()
    if git("status", "--porcelain"):
        raise SystemExit("commit first: a release is made from a commit")
    commit, epoch = git("rev-parse", "HEAD"), int(git("log", "-1", "--format=%ct"))
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="standfast-release-") as name:
        scratch = Path(name)
        tree = exported(commit, scratch)
        files = made(tree, DIST, epoch, scratch)
        for file in files:
            print(f"{file.stat().st_size:>12,}  {file.relative_to(ROOT)}")
        if options.no_trial:
            return 0
        wheels = [file for file in files if file.suffix == ".whl"]
        there = dict(interpreters())
        for version, command in there.items():
            said = tried(command, wheels, tree, scratch / f"python{version}")
            print(
                f"Python {version}: installed with all extras from a folder, without an index; "
                f"finds by meaning, {said}"
            )
        for version in sorted(set(PYTHONS) - there.keys()):
            print(f"Python {version}: not here, not tried")
    return 0


if __name__ == "__main__":
    sys.exit(main())
