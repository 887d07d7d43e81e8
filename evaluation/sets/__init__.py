"""The data sets that can be read, by name."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.cases import DataSet
from evaluation.sets import cranfield, locomo, longmemeval, memdaily

SETS: Mapping[str, DataSet] = {
    one.name: one for one in (locomo.SET, longmemeval.SET, memdaily.SET, cranfield.SET)
}
