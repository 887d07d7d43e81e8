"""Regular expressions that are compiled when a text is first held against them: a command that
answers one question needs few of those that its modules name, and compiling takes longer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

_FORMS: list[_LaterForm] = []
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
    made = _LaterForm(form, flags)
    _FORMS.append(made)
    return cast("re.Pattern[str]", made)


def compiled() -> Iterator[object]:
    """Every form of the modules that are loaded, one after the other: for who has time for it."""
    return (made.search for made in tuple(_FORMS))
