"""Who sees what: the named scopes and their parents, nobody else's."""

from __future__ import annotations

from standfast.errors import Invalid
from standfast.ports import Store
from standfast.testing.harness import Contract, clause, failure, refusal
from standfast.testing.values import (
    NOW,
    ROOT,
    SPACE,
    found_ids,
    make_batch,
    make_item,
    make_message,
    make_move,
    make_record,
    make_relation,
    make_search,
    make_summary,
    put,
    scores_of,
    unit,
)
from standfast.types import Erase, Session, SessionKey

CTO = "org:acme:agent:cto"
TREE = {
    "root": "org:acme",
    "cto": CTO,
    "cto2": "org:acme:agent:cto2",
    "deep": f"{CTO}:task:t1",
    "sibling": "org:acme:agent:cfo",
    "lookalike": "org:acme2",
    "shorter": "org:acm",
    "other": "user:ann",
}


async def _plant(store: Store) -> None:
    """The same words and the same vector in every scope of the tree."""
    for name, scope in TREE.items():
        record = make_record(name, "deploys go out on tuesdays", scope, hash="h")
        await put(store, record, vectors={name: unit(1, 0, 0)}, space=SPACE)


async def _sees(store: Store, *scopes: str, **fields: bool) -> set[str]:
    """What both arms and a listing agree on."""
    listed = await found_ids(store, *scopes, **fields)
    by_word = await found_ids(store, *scopes, text="tuesday", **fields)
    near = await found_ids(store, *scopes, vector=unit(1, 0, 0), space=SPACE, **fields)
    assert sorted(listed) == sorted(by_word) == sorted(near)
    return set(listed)


class ScopeClauses(Contract):
    @clause
    async def test_O6_siblings_and_lookalikes_stay_apart(self, store: Store) -> None:
        """A scope sees itself and its parents: no sibling, no other root, no mere prefix."""
        await _plant(store)
        assert await _sees(store, CTO) == {"root", "cto"}
        assert await _sees(store, "org:acme") == {"root"}
        assert await _sees(store, "org:acme2") == {"lookalike"}
        assert await _sees(store, "org:acm") == {"shorter"}
        assert await _sees(store, "org:nobody") == set()

    @clause
    async def test_L5_agent_sees_its_organisation(self, store: Store) -> None:
        """Parents are visible from below, all the way up, also from an empty scope."""
        await _plant(store)
        assert await _sees(store, TREE["deep"]) == {"root", "cto", "deep"}
        assert await _sees(store, "org:acme:agent:new:task:x") == {"root"}

    @clause
    async def test_L8_several_scopes_at_once(self, store: Store) -> None:
        """Each named scope adds itself and its parents; shared ones count once."""
        await _plant(store)
        assert await _sees(store, CTO, TREE["sibling"]) == {"root", "cto", "sibling"}

    @clause
    async def test_exact_leaves_the_parents_out(self, store: Store) -> None:
        """Only the named scopes."""
        await _plant(store)
        assert await _sees(store, CTO, exact=True) == {"cto"}
        assert await _sees(store, CTO, "org:acme", exact=True) == {"cto", "root"}

    @clause
    async def test_descend_shows_the_subtree(self, store: Store) -> None:
        """Everything below the named scope; look-alikes are not below."""
        await _plant(store)
        whole = {"root", "cto", "cto2", "deep", "sibling"}
        assert await _sees(store, "org:acme", descend=True) == whole
        assert await _sees(store, CTO, descend=True) == {"root", "cto", "deep"}
        assert await _sees(store, CTO, descend=True, exact=True) == {"cto", "deep"}

    @clause
    async def test_scope_ids_are_taken_literally(self, store: Store) -> None:
        """What looks like a pattern in an id matches nothing but itself."""
        scopes = {
            "percent": "org:acme:agent:c%25o",
            "underscore": "org:acme:agent:c_o",
            "star": "org:acme:agent:c*o",
            "upper": "org:acme:agent:CTO",
            "plain": "org:acme:agent:cto",
        }
        for name, scope in scopes.items():
            await put(store, make_record(name, scope=scope))
        for name, scope in scopes.items():
            assert await found_ids(store, scope) == [name]
            assert await found_ids(store, scope, descend=True) == [name]

    @clause
    async def test_A10_ids_of_another_root_are_missing(self, store: Store) -> None:
        """A foreign id answers exactly like one that does not exist."""
        await _plant(store)
        assert await store.records(ROOT, ["lookalike", "other"], now=NOW) == []
        everywhere = await store.records(None, ["lookalike", "root", "other"], now=NOW)
        assert [record.id for record in everywhere] == ["lookalike", "root", "other"]

    @clause
    async def test_A10_another_root_cannot_be_touched(self, store: Store) -> None:
        """Erase, use counters, relations and vectors stop at the root of the batch."""
        await _plant(store)
        await put(store, Erase(kind="record", id="other"), root=ROOT)
        await put(store, make_item("k"), used=("other", "root"))
        foreign_end = make_batch(make_relation("root", "other"))
        await refusal(store, foreign_end, Invalid)
        vector = make_batch(root=ROOT, vectors={"other": unit(0, 1, 0)}, space=SPACE)
        await refusal(store, vector, Invalid)
        [other, root] = await store.records(None, ["other", "root"], now=NOW)
        assert (other.uses, root.uses) == (0, 1)

    @clause
    async def test_A10_every_part_of_a_batch_is_of_its_root(self, store: Store) -> None:
        """A foreign scope in any part is invalid, a mere prefix of the name included."""
        foreign = "org:acme2"
        parts = (
            make_record("x", scope=foreign),
            make_message("x", scope=foreign),
            Session(scope=foreign, id="x"),
            make_move(0, 0, session=SessionKey(foreign, "chat")),
            make_summary("x", 1, 1, scope=foreign),
            make_relation("a", "b", scope=foreign),
            make_item("x", scope=foreign),
            Erase(kind="item", scope=foreign, namespace="policy", id="x"),
        )
        for part in parts:
            await refusal(store, make_batch(part, root=ROOT), Invalid)
        await refusal(store, make_batch(make_record("x"), root=CTO), Invalid)
        assert await store.roots() == []

    @clause
    async def test_query_of_two_roots_is_invalid(self, store: Store) -> None:
        """One query asks one root."""
        for asked in ({"text": "a"}, {"hashes": ("h",)}, {}):
            await failure(found_ids(store, "org:acme", "org:acme2", **asked), Invalid)

    @clause
    async def test_roots_are_listed_in_pages(self, store: Store) -> None:
        """Every root that holds anything, by name."""
        names = sorted({scope for scope in TREE.values() if scope.count(":") == 1})
        await _plant(store)
        assert await store.roots() == names
        assert await store.roots(limit=2) == names[:2]
        assert await store.roots(after=names[1], limit=100) == names[2:]
        assert await store.roots(after=names[-1]) == []

    @clause
    async def test_O6_word_statistics_know_only_what_is_seen(self, store: Store) -> None:
        """Scores are the same whether or not others, who cannot be seen, are there."""
        mine = [("a", "red apple pie"), ("b", "green apple"), ("c", "blue sky over berlin")]
        await put(store, *(make_record(id_, text, CTO) for id_, text in mine))
        query = make_search(CTO, text="apple berlin")
        alone = await scores_of(store, query)
        crowd = [make_record(f"n{n}", "apple " * (n + 1), TREE["sibling"]) for n in range(30)]
        await put(store, *crowd)
        noise = [make_record(f"o{n}", "berlin sky", "org:acme2") for n in range(30)]
        await put(store, make_record("below", "apple", TREE["deep"]))
        await put(store, *noise)
        assert await scores_of(store, query) == alone
