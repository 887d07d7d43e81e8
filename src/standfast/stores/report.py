"""What a doctor found in a store."""

from __future__ import annotations

from standfast.types.frozen import frozen


@frozen
class Defect:
    """Something wrong. ``part`` is one of library, mode, file, schema, rows, index, journal;
    what is wrong with the ``index`` can be rebuilt."""

    part: str
    text: str
    ids: tuple[str, ...] = ()


@frozen
class DoctorReport:
    path: str  # or the name of a database
    library: str
    mode: str  # of a file, as ls shows it in numbers: 600
    records: int
    messages: int
    findings: tuple[Defect, ...]
    engine: str = "SQLite"

    @property
    def is_sound(self) -> bool:
        return not self.findings
