"""What tells changes is fitted: pairs of the open sets alone, and a sum that tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evaluation.learning.effects import Pair, Rows, _judged, _of_lines, _rows, _weight, fit

STORY = """\
= I work at a bakery in Norwich.
+ I left the bakery.
- We ran out of sourdough at the bakery.
= I play squash with Rob.
+ I left squash.
- Rob won at squash again.
"""


def test_a_sum_is_fitted_that_tells_a_change_from_what_is_none(tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text(STORY, "utf-8")
    found = list(_of_lines(story, "effects"))
    assert {(one.changes, one.author) for one in found} == {
        (True, "Ann"),
        (False, "Ann"),
        (True, ""),
        (False, ""),
    }
    rows, runs = rows_of(found)
    changes = np.array([float(one.changes) for one in found])
    weights, said = fit(rows, changes, _weight(found), len(runs))
    told = _judged(rows.times(weights, said), found)
    assert min(one.score for one in told if one.changes) > max(
        one.score for one in told if not one.changes
    )
    assert said[runs.index("left")] > 0


def test_a_row_counts_the_same_alone_and_among_others(tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text(STORY, "utf-8")
    found = list(_of_lines(story, "effects"))
    rows, runs = rows_of(found)
    said = np.linspace(-1, 1, len(runs))
    weights = np.ones(rows.dense.shape[1])
    whole = rows.times(weights, said)
    chosen = list(range(1, len(found), 2))
    assert np.allclose(rows.of(chosen).times(weights, said), whole[chosen])
    error = np.zeros(len(found))
    error[chosen] = 0.5
    slopes = rows.slopes(error, len(runs))
    fewer = rows.of(chosen).slopes(error[chosen], len(runs))
    assert all(np.allclose(one, other) for one, other in zip(slopes, fewer, strict=True))


def rows_of(found: Sequence[Pair]) -> tuple[Rows, list[str]]:
    runs = sorted({run for one in found for run in one.phrases})
    return _rows(found, np.ones((len(found), 1)), runs), runs
