from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast import Invalid, make_scope
from standfast.scopes import is_visible, is_within, parents, parse_scope, root_of, visible_from

readable = st.text(
    st.characters(exclude_categories=("C", "Zl", "Zp", "Zs")), min_size=1, max_size=20
)


@given(st.lists(readable, min_size=1, max_size=8))
def test_any_readable_id_survives_encoding(ids: list[str]) -> None:
    scope = make_scope(*(("kind", id_) for id_ in ids))
    assert parse_scope(scope) == scope
    assert len(scope.split(":")) == 2 * len(ids)
    assert root_of(scope) == ":".join(scope.split(":")[:2])
    assert [len(parent.split(":")) for parent in parents(scope)] == list(range(2, 2 * len(ids), 2))


@given(st.text(max_size=40))
def test_whatever_comes_in_is_a_scope_or_a_clear_error(text: str) -> None:
    try:
        scope = parse_scope(text)
    except Invalid as error:
        scope = ""
        said = str(error)
    assert parse_scope(scope) == scope if scope else "scope" in said


def test_composed_and_decomposed_letters_name_the_same_scope() -> None:
    assert parse_scope("user:jose\u0301") == parse_scope("user:jos\u00e9")


@pytest.mark.parametrize(
    "text",
    [
        *("", "user", "user:", ":ann", "user:ann:extra", "user: ann", "system:store", None),
        *("user:a\nb", "user:a%b", "user:a%3a", "user:a\u200db", "user:a\ud800"),
        "user:" + "x" * 300,
        ":".join(["a:b"] * 9),
    ],
)
def test_malformed_scopes_are_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse_scope(text)


def test_a_look_alike_is_not_inside() -> None:
    assert not is_within("org:acme2", "org:acme")
    assert is_within("org:acme:agent:cto", "org:acme")


@pytest.mark.parametrize(
    ("scope", "named", "descend", "exact", "seen"),
    [
        ("org:a", "org:a:agent:b", False, False, True),
        ("org:a", "org:a:agent:b", False, True, False),
        ("org:a:agent:b", "org:a", False, False, False),
        ("org:a:agent:b", "org:a", True, False, True),
        ("org:a:agent:c", "org:a:agent:b", True, False, False),
    ],
)
def test_visibility(scope: str, named: str, descend: bool, exact: bool, seen: bool) -> None:
    assert is_visible(scope, [named], descend=descend, exact=exact) is seen
    if not descend and not exact:
        assert (scope in visible_from([named])) is seen
