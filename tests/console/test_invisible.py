"""The console draws text as every other surface shows it."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

import standfast.interfaces.console
from standfast.types.invisible import shown

MODULE = Path(standfast.interfaces.console.__file__).parent / "static" / "invisible.js"
PROGRAM = f"""
import {{ shown }} from {json.dumps(MODULE.as_uri())};
let given = "";
for await (const part of process.stdin) given += part;
console.log(JSON.stringify(JSON.parse(given).map(shown)));
"""
SIGNS = (
    "aß1#éمیک़क्षශ්葛辻ᠮ가👩🏽❤☺🏴🏳\u200b\u200c\u200d\u200e\u202e\u2066\ufe0e\ufe0f\ufe00\u180b"
    "\u115f\u1160\u3164\u00ad\x1b\x9b\u2028\ue000\U000f0000\U000e0041\U000e0067\U000e007f"
    "\U000e0101\U000e0150\n\t"
)


def test_the_page_and_the_library_show_the_same() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here")
    dice = random.Random(7)
    texts = ["".join(dice.choices(SIGNS, k=dice.randrange(1, 12))) for _ in range(3000)]
    texts += ["🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👨‍👩‍👧‍👦", "می‌خواهم", "ශ්‍රී", "1️⃣", *SIGNS]
    done = subprocess.run(
        [node, "--input-type=module", "--eval", PROGRAM],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout) == [shown(text) for text in texts]
