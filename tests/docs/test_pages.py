"""The reader of the pages understands the forms they use."""

from __future__ import annotations

import pytest

from tests.docs.pages import Command, blocks_of, commands_of, matches

PAGE = """\
# Title

```python
one = 1
```

<!-- not run: it would wait for ever -->
```console
$ standfast serve
```

<!-- output is compared -->
```console
$ standfast recall "tea" \\
    --json
{"hits": []}
$ standfast doctor
```

```
$ not a console
```
"""


def test_blocks_know_their_language_place_and_remark() -> None:
    python, serve, recall, plain = blocks_of(PAGE)
    assert (python.language, python.code, python.line, python.runs) == (
        "python",
        "one = 1\n",
        4,
        True,
    )
    assert (serve.not_run, serve.runs) == ("it would wait for ever", False)
    assert (recall.compares_output, recall.runs) == (True, True)
    assert (plain.language, plain.runs) == ("", False)


def test_commands_are_joined_and_keep_their_output() -> None:
    recall, doctor = commands_of(blocks_of(PAGE)[2].code)
    assert recall == Command('standfast recall "tea"      --json', '{"hits": []}\n')
    assert doctor == Command("standfast doctor", "")


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [("a ... c", "a b c\n", True), ("a", "a\n", True), ("a", "ab", False), ("a.c", "abc", False)],
)
def test_dots_stand_for_anything(expected: str, actual: str, same: bool) -> None:
    assert matches(expected, actual) is same
