"""Filters on tags and data: all, any or none of them, in every verb, and through a server."""

from __future__ import annotations

from typing import Any

import pytest

from standfast import Invalid, Memory

ANN = "user:ann"
WHERE: list[tuple[dict[str, Any], set[str]]] = [
    ({"tags": {"all": ["deploy", "web"]}}, {"web"}),
    ({"tags": {"any": ["web", "old"], "none": ["deploy"]}}, {"old"}),
    ({"data": {"all": {"team.name": "web", "year": {"gte": 2024}}}}, {"web"}),
    ({"data": {"any": {"year": [2021, 2022], "team.name": "web"}}}, {"web", "mail"}),
    ({"data": {"none": {"year": {"exists": True}}}}, {"old"}),
]


def _fill(memory: Memory) -> None:
    memory.remember(
        [
            {
                "text": "The web shop runs in Berlin",
                "tags": ["deploy", "web"],
                "data": {"team": {"name": "web"}, "year": 2024},
            },
            {"text": "The mail shop runs in Porto", "tags": ["deploy"], "data": {"year": 2022}},
            {"text": "The old shop ran in Faro", "tags": ["old"]},
        ],
        scope=ANN,
    )


def test_C5_all_any_and_none_in_every_verb_that_looks(memory: Memory) -> None:
    _fill(memory)
    for where, shops in WHERE:
        hits = memory.recall("shop", scope=ANN, where=where, threshold=0).hits
        assert {hit.record.text.split()[1] for hit in hits} == shops, where
        listed = memory.records(scope=ANN, where=where).items
        assert {record.text.split()[1] for record in listed} == shops, where
        shown = memory.context(query="shop", scope=ANN, where=where).text
        assert {shop for shop in ("web", "mail", "old") if f"The {shop} shop" in shown} == shops
    page = memory.records(scope=ANN, where=WHERE[3][0], limit=1)
    rest = memory.records(scope=ANN, where=WHERE[3][0], limit=1, cursor=page.next)
    assert page.items[0].id != rest.items[0].id
    assert not rest.next


def test_C5_why_not_names_the_condition(memory: Memory) -> None:
    _fill(memory)
    [old] = memory.records(scope=ANN, tags=["old"]).items
    told = memory.why_not(old.id, "shop", scope=ANN, where={"data": {"all": {"year": 1}}})
    assert "do not match `where`" in told.notes[0]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("tags", "no JSON"),
        ({"tag": {"all": ["x"]}}, "did you mean 'tags'"),
        ({"tags": ["x"]}, "where.tags must be a mapping"),
        ({"tags": {"every": ["x"]}}, "use all, any, none"),
        ({"tags": {"all": "x"}}, "must be a list of tags"),
        ({"data": {"all": ["x"]}}, "a mapping of names to values"),
        ({"data": {"all": {"x": {"above": 3}}}}, "has no 'above'"),
        ({"data": {"all": {"x": {"gt": None}}}}, "takes a text or a number, not NoneType"),
        ({"data": {"any": {}}}, "is empty"),
    ],
)
def test_C5_a_bad_condition_is_refused_with_the_remedy(
    memory: Memory, where: Any, said: str
) -> None:
    with pytest.raises(Invalid, match=said):
        memory.recall("tea", scope=ANN, where=where)
    with pytest.raises(Invalid, match=said):
        memory.records(scope=ANN, where=where)
