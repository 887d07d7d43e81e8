"""What the network's probabilities are worth, learned from messages that it was not trained on.

For each label a scale and a bias of the log-odds (Platt's scaling), kept near "as it is" where
few clauses are known. With true probabilities the best threshold follows from what a clause that
is kept wrongly costs beside one that is missed.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from standfast.understanding.reading.clauses import LABELS
from standfast.understanding.reading.decoding import CERTAIN
from training.reader.measure import Found, is_right

# A clause kept wrongly, where one that is missed costs 1; what is not kept needs no threshold.
WRONG_COSTS = {"FACT": 1.25, "PREF": 1.25, "ORDER": 0.8}
CLAUSES_LEAST = 20
PRIOR = 0.5  # how firmly few clauses stay at "as it is"
STEPS_MAX, STEP_LEAST = 50, 1e-6
USUAL = np.array([1.0, 0.0])  # scale and bias that change nothing

Numbers = NDArray[np.float64]


def calibrate(found: Iterable[Found]) -> dict[str, dict[str, float]]:
    """``found``: clauses with plain confidences, as the head gives them without calibration."""
    known: dict[str, list[tuple[float, bool]]] = {label: [] for label in LABELS}
    for message, clauses in found:
        for clause in clauses:
            known[clause.label].append((clause.confidence, is_right(clause, message)))
    return {label: _of_label(label, pairs) for label, pairs in known.items()}


def _of_label(label: str, pairs: list[tuple[float, bool]]) -> dict[str, float]:
    scale, bias = 1.0, 0.0
    if len(pairs) >= CLAUSES_LEAST:
        shares = np.clip([share for share, _ in pairs], CERTAIN, 1 - CERTAIN)
        right = np.array([right for _, right in pairs], np.float64)
        scale, bias = platt(np.log(shares / (1 - shares)), right)
    cost = WRONG_COSTS.get(label)
    threshold = cost / (1 + cost) if cost else 0.0
    return {"scale": round(scale, 4), "bias": round(bias, 4), "threshold": round(threshold, 4)}


def platt(odds: Numbers, right: Numbers) -> tuple[float, float]:
    """Scale and bias of the log-odds under which what happened is most likely (Newton)."""
    columns = np.stack([odds, np.ones_like(odds)], 1)
    found = USUAL
    for _ in range(STEPS_MAX):
        shares = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (shares - right) + PRIOR * (found - USUAL)
        curve = (columns.T * (shares * (1 - shares))) @ columns + PRIOR * np.eye(2)
        step = np.linalg.solve(curve, slope)
        while _surprise(columns, right, found - step) > _surprise(columns, right, found):
            step = step / 2
        found = found - step
        if np.abs(step).max() < STEP_LEAST:
            break
    return max(float(found[0]), 0.0), float(found[1])


def _surprise(columns: Numbers, right: Numbers, found: Numbers) -> float:
    scores = columns @ found
    happened = np.where(right > 0.5, scores, -scores)
    return float(np.logaddexp(0, -happened).sum() + PRIOR / 2 * ((found - USUAL) ** 2).sum())
