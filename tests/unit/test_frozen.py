"""``@frozen`` is what ``@dataclass(frozen=True, slots=True, kw_only=True)`` is, made later."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.types.frozen import frozen


@frozen
class Ours:
    name: str
    count: int = 3
    tags: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    name: str
    count: int = 3
    tags: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)


@frozen
class Longer(Ours):
    more: tuple[str, ...] = ()


@frozen(kw_only=False)
class Placed:
    first: int
    second: str = "two"

    def __post_init__(self) -> None:
        object.__setattr__(self, "second", self.second.upper())


@frozen
class Nothing:
    pass


@frozen
class Own:
    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own) and self.text.lower() == other.text.lower()

    def __hash__(self) -> int:
        return hash(self.text.lower())

    def __repr__(self) -> str:
        return f"<{self.text}>"


given_fields = st.fixed_dictionaries(
    {"name": st.text()},
    optional={"count": st.integers(), "tags": st.lists(st.text()), "note": st.text()},
)


@given(given_fields, given_fields)
def test_it_is_what_a_dataclass_is(one: dict[str, Any], other: dict[str, Any]) -> None:
    ours, usual = Ours(**one), Usual(**one)
    assert asdict(ours) == asdict(usual)
    assert repr(ours) == repr(usual).replace("Usual", "Ours")
    assert (ours == Ours(**other)) is (usual == Usual(**other))
    assert replace(ours, **other) == Ours(**{**one, **other})
    assert ours != usual


def test_fields_are_told_as_a_dataclass_tells_them() -> None:
    assert is_dataclass(Ours)
    assert [one.name for one in fields(Longer)] == ["name", "count", "tags", "note", "more"]
    assert Longer(name="a", more=("b",)).more == ("b",)
    assert Longer(name="a") != Ours(name="a")
    assert not hasattr(Ours(name="a"), "__dict__")


def test_what_is_made_anew_is_nobody_elses() -> None:
    Ours(name="a").tags.append("mine")
    assert Ours(name="a").tags == []


def test_it_never_changes() -> None:
    made = Ours(name="a")
    with pytest.raises(FrozenInstanceError):
        made.name = "b"
    with pytest.raises(FrozenInstanceError):
        del made.name
    assert made.name == "a"


@pytest.mark.parametrize("wrong", [{}, {"name": "a", "colour": 1}])
def test_wrong_arguments_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"Ours.__init__\(\).*'(name|colour)'"):
        Ours(**wrong)
    with pytest.raises(TypeError, match="positional"):
        Ours("a")


def test_places_and_what_is_done_afterwards() -> None:
    assert Placed(1) == Placed(1, "two") == Placed(first=1, second="TWO")
    assert Placed(1).second == "TWO"


@pytest.mark.parametrize("made", [Longer(name="a", tags=["t"], note="n"), Placed(1), Nothing()])
def test_it_can_be_copied_and_sent(made: Any) -> None:
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again == made
        assert [getattr(again, one.name) for one in fields(made)] == [
            getattr(made, one.name) for one in fields(made)
        ]


def test_equal_ones_have_one_hash_and_what_is_ours_stays() -> None:
    assert len({Placed(1), Placed(1), Placed(2)}) == 2
    assert len({Nothing(), Nothing()}) == 1
    assert {Own(text="A"), Own(text="a")} == {Own(text="a")}
    assert repr(Own(text="A")) == "<A>"
    with pytest.raises(TypeError, match="unhashable"):
        hash(Ours(name="a"))
