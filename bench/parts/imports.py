"""What `import standfast` and `standfast --help` cost and load."""

from __future__ import annotations

import json
import subprocess
import sys

from bench.report import Claim, Result, Table, ms, times
from bench.running import Bench
from bench.timing import Times

HEAVY = """numpy simsimd apsw Stemmer fastapi starlette uvicorn mcp pydantic pydantic_ai onnx
onnxruntime tokenizers safetensors torch openai anthropic redis surrealdb psycopg""".split()

NOTHING, IMPORT, HELP = "python alone", "import standfast", "standfast --help"
CODE = {
    NOTHING: "pass",
    IMPORT: "import standfast",
    HELP: "from standfast.interfaces.cli import main; main(['--help'])",
}
LOADED = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})),
                              file=sys.stderr))
"""


async def run(bench: Bench) -> Result:
    bench.say("imports")
    measured = {what: Times() for what in CODE}
    for _ in range(bench.sizes.starts):
        for what, code in CODE.items():
            with measured[what].one():
                _python(code)
    heavy = {what: _heavy(code) for what, code in CODE.items()}
    alone = measured[NOTHING].median
    rows = [
        (
            what,
            ms(one.median),
            ms(one.p95),
            times(one.median / alone),
            ", ".join(heavy[what]) or "none",
        )
        for what, one in measured.items()
    ]
    claims = [
        Claim(
            f"{what} loads no numpy, server or model library",
            ", ".join(found) or "none",
            "none",
            not found,
        )
        for what, found in heavy.items()
        if what != NOTHING
    ]
    columns = ("process", "median", "p95", "ratio", "heavy libraries loaded")
    return Result("imports", [Table("Start", columns, rows)], claims)


def _python(code: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return answer.stderr


def _heavy(code: str) -> list[str]:
    loaded = json.loads(_python(LOADED + code).splitlines()[-1])
    return [name for name in HEAVY if name in loaded]
