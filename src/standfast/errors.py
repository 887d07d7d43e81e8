"""Everything standfast raises on purpose.

    StandfastError
    ├── Invalid        the request itself is wrong; nothing was done
    ├── NotFound       no such thing, or it belongs to somebody else
    ├── Denied         the credential does not reach that far
    ├── Conflict       somebody changed it meanwhile; nothing was applied
    ├── Unavailable    a disk, file lock, service or model failed; the store is as it was,
    │                  unless ``outcome_unknown`` says that the commit may have landed
    └── Incompatible   the file, library or vector space does not fit this program

Every message says what is wrong and what to do about it. ``exit_code`` is what the command
line ends with.
"""

from __future__ import annotations


class StandfastError(Exception):
    """Base of all errors that standfast raises on purpose."""

    exit_code = 1


class Invalid(StandfastError):
    """The request itself is wrong; nothing was done."""

    exit_code = 2


class NotFound(StandfastError):
    """No such thing, or it belongs to somebody else."""

    exit_code = 3


class Denied(StandfastError):
    """The credential does not reach that far."""

    exit_code = 4


class Conflict(StandfastError):
    """Somebody changed it meanwhile; nothing was applied. ``kind`` and ``ids`` say what:
    ``record``, ``relation``, ``item``, ``session``, ``summary`` (a stale version), ``message``
    (an id that is taken), ``cursor`` (moved), ``hash`` (the text is already in that scope)."""

    exit_code = 5

    def __init__(self, message: str, *, kind: str = "", ids: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.ids = ids


class Unavailable(StandfastError):
    """A disk, file lock, service or model failed. ``retry_after``: in how many seconds it may
    work again, if the other side said so. ``lasting``: not before somebody changes something.
    ``slow``: it is there, but does not answer in time."""

    exit_code = 6

    def __init__(
        self,
        message: str,
        *,
        outcome_unknown: bool = False,
        retry_after: float | None = None,
        lasting: bool = False,
        slow: bool = False,
    ) -> None:
        super().__init__(message)
        self.outcome_unknown = outcome_unknown
        self.retry_after = retry_after
        self.lasting = lasting
        self.slow = slow


class Incompatible(StandfastError):
    """The file, library or vector space does not fit this program."""

    exit_code = 7


def install_command(extra: str) -> str:
    """How to get an extra, or ``model``. From a clone or built wheels: no index has this project.

    Nothing else spells such a line. An index may hold another project under this name."""
    clone, wheel = f"'.[{extra}]'", f"'standfast[{extra}]'"
    if extra == "model":
        clone, wheel = "./model", "standfast-model"
    return f"pip install {clone} in a clone, or with wheels: pip install --find-links dist {wheel}"
