"""What the tests of the local model share: its files, fetched once if they can be had."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from standfast.errors import StandfastError
from standfast.models.providers.minilm import sources, weights

# Kept beside the packages of this environment from run to run, away from anybody's own cache.
MODELS = Path(sys.prefix) / "models"

# Taken before the environment is made private: pip needs the settings of whoever runs the tests.
_OUTSIDE = {name: os.environ.get(name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}


@pytest.fixture(scope="session")
def published() -> Path:
    """The files of the model as they were published."""
    folder = MODELS / "published"
    try:
        _fetch_published(folder)
    except (StandfastError, OSError) as error:
        pytest.skip(f"the published files of the local model cannot be had: {error}")
    return folder


def _fetch_published(folder: Path) -> None:
    if all((folder / name).exists() for name in sources.NAMES):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=MODELS) as scratch,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in _OUTSIDE.items():
            patch.delenv(name) if value is None else patch.setenv(name, value)
        found, _ = sources.fetch(Path(scratch), None, print, weights.check_published)
        for name, path in found.items():
            shutil.move(path, folder / name)


@pytest.fixture(scope="session")
def minilm_folder(published: Path) -> Path:
    """The built model."""
    folder = MODELS / "minilm"
    if weights.status(folder).ready:
        return folder
    try:
        return weights.pull(folder, source=str(published))
    except StandfastError as error:
        pytest.skip(f"the local model cannot be built: {error}")
