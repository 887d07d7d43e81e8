"""Regular expressions that are compiled when a text is first held against them: a command that
answers one question needs few of those that its modules name, and compiling takes longer."""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")


class _LaterForm:
    """Has the methods of the pattern from its first use on, so that no later use is slower."""

    def __init__(self, form: str, flags: int) -> None:
        self._form, self._flags = form, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._form, self._flags)
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        return getattr(compiled, name)


def later(form: str, flags: int = 0) -> re.Pattern[str]:
    """``re.compile``, but not yet. The form must be right: nobody is told before it is used."""
    return cast("re.Pattern[str]", _LaterForm(form, flags))
