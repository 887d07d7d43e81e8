"""Drop-ins whose packages cannot be installed beside our own pins, each with the real package."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.adapters.foreign import environment

HERE = Path(__file__).parent
FILES = ("test_beside_mem0.py", "test_google_adk.py", "test_llama_index.py",
         "test_openai_agents.py")  # fmt: skip


# Whoever is killed has to import these packages once more, which takes as long as all the rest:
# `make test-long` does it.
QUICK = ("-k", "not survives_a_kill")


def test_X14_with_packages_of_their_own(proving: bool) -> None:
    try:
        python = environment.python()
    except environment.NoEnvironment as error:
        pytest.skip(f"the packages of the drop-ins cannot be installed: {error}")
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=",
               "-o", "filterwarnings=ignore",
               "--import-mode=importlib", "-rs", *(() if proving else QUICK),
               *(str(HERE / name) for name in FILES)]  # fmt: skip
    done = subprocess.run(
        command, cwd=environment.PROJECT, env=environment.settings(), check=False, timeout=400,
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    told = done.stdout.strip().splitlines()[-1]
    assert re.match(r"\d{2,} passed", told), told
    assert "skipped" not in told, done.stdout[-3000:]
