"""What the project is deployed with: the unit file, the image, the compose files."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from recollect.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.mark.parametrize("file", sorted(DEPLOY.iterdir()), ids=lambda file: file.name)
def test_C6_what_is_deployed_names_only_settings_there_are(file: Path) -> None:
    known = {f"RECOLLECT_{field.name.upper()}" for field in fields(Settings)}
    named = set(re.findall(r"\bRECOLLECT_[A-Z_]+\b", file.read_text("utf-8")))
    assert named
    assert named <= known


def test_C6_the_unit_file_is_one(tmp_path: Path) -> None:
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("systemd-analyze is not on this machine")
    program = tmp_path / "recollect"
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    unit = tmp_path / "recollect.service"
    text = (DEPLOY / "recollect.service").read_text("utf-8")
    unit.write_text(text.replace("/opt/recollect/bin/recollect", str(program)), "utf-8")
    done = subprocess.run([tool, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_C6_the_image_runs_without_root_and_is_watched() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    assert text.rindex("USER recollect") > text.rindex("useradd")
    assert "HEALTHCHECK" in text
    assert "--require-hashes" in text


def test_C6_the_image_is_built_where_docker_is() -> None:
    tool = shutil.which("docker")
    if tool is None or subprocess.run([tool, "info"], capture_output=True, check=False).returncode:
        pytest.skip("no Docker engine runs on this machine")
    command = [tool, "build", "-q", "-f", str(DEPLOY / "Dockerfile"), str(DEPLOY.parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
