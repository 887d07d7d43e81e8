"""``standfast serve`` with a broken line: it drops a commit in a hundred; the mutant of load."""

from __future__ import annotations

import sys
from itertools import count
from typing import Any

from standfast.interfaces.cli import main
from standfast.stores.sqlite import writer

_numbers = count(1)
_honest = writer.Writer._applied


def _dropping(self: writer.Writer, db: Any, prepared: Any) -> int:
    if next(_numbers) % 100 == 99:
        return 1
    return _honest(self, db, prepared)


if __name__ == "__main__":
    writer.Writer._applied = _dropping  # type: ignore[method-assign]
    sys.exit(main())
