"""Values: what is told by its fields and never changes.

``@frozen`` makes of a class what ``@dataclass(frozen=True, slots=True, kw_only=True)`` does, with
its ``fields``, ``replace`` and ``asdict``. A dataclass writes and compiles up to eight methods as
soon as its class is there, and a command loads two hundred classes of which it makes a few dozen.
Here ``__init__`` is written when the first value is made, and the other methods are one and the
same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, kw_only: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(cls: type[T] | None = None, /, *, kw_only: bool = True) -> Any:
    if cls is None:
        return lambda named: _made(named, kw_only)
    return _made(cls, kw_only)


def _made(cls: type[T], kw_only: bool) -> type[T]:
    own = {name for name in ("__eq__", "__repr__") if name in vars(cls)}
    hashes = vars(cls).get("__hash__") is not None
    cls.__doc__ = cls.__doc__ or cls.__name__  # or the signature would be read for one
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(cls)
    made.__init__ = _written_later(made)
    made.__setattr__, made.__delattr__ = _refuse_change, _refuse_removal
    made.__getstate__, made.__setstate__ = _state, _set_state
    made._compared = staticmethod(_getter([one.name for one in fields(made) if one.compare]))
    if "__eq__" not in own:
        made.__eq__ = _is_equal
    if not hashes:
        made.__hash__ = _hash
    if "__repr__" not in own:
        made.__repr__ = _told
    kind: type[T] = made
    return kind


def _getter(names: Sequence[str]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else lambda _: ()


def _written_later(cls: type) -> Callable[..., None]:
    def first(self: Any, *given: Any, **named: Any) -> None:
        written = _written(cls)
        cls.__init__ = written  # type: ignore[misc]
        written(self, *given, **named)

    return first


def _written(cls: type) -> Callable[..., None]:
    """``__init__`` with the arguments that the fields tell of."""
    known: dict[str, Any] = {"_missing": MISSING}
    placed, named, lines = ["self"], ["*"], []
    for one in fields(cls):
        name = one.name
        known[f"_set_{name}"] = getattr(cls, name).__set__  # of its slot: past the refusal
        argument, told = name, name
        if one.default is not MISSING:
            known[f"_usual_{name}"] = one.default
            argument = f"{name}=_usual_{name}"
        elif one.default_factory is not MISSING:
            known[f"_make_{name}"] = one.default_factory
            argument = f"{name}=_missing"
            told = f"_make_{name}() if {name} is _missing else {name}"
        (named if one.kw_only else placed).append(argument)
        lines.append(f"_set_{name}(self, {told})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    arguments = ", ".join(placed + named if len(named) > 1 else placed)
    body = "".join(f"\n    {line}" for line in lines or ["pass"])
    exec(f"def __init__({arguments}):{body}", known)
    written: Callable[..., None] = known["__init__"]
    written.__qualname__ = f"{cls.__qualname__}.__init__"
    return written


def _refuse_change(_: Any, name: str, __: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_removal(_: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: Sequence[Any]) -> None:
    for one, held in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, held)


def _is_equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def _hash(self: Any) -> int:
    return hash(self._compared(self))


def _told(self: Any) -> str:
    shown = [f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr]
    return f"{self.__class__.__qualname__}({', '.join(shown)})"
