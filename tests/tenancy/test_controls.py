"""The matrix can fail: the owner's same calls do tell the two worlds apart, and do say the mark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import PROVING
from tests.tenancy.comparing import differences, leaks
from tests.tenancy.conftest import SURFACES, Pair, Pairs
from tests.tenancy.operations import BY_ID, BY_SCOPE, SHORT, Aim
from tests.tenancy.surfaces import Call
from tests.tenancy.test_matrix import LACKS, why_absent

VICTIM = "user:bob"
# What destroys comes last.
ORDER = ("get", "list", "search", "history", "relations", "stats", "export", "packet", "pending")
ORDER += ("review", "consolidate", "edit", "forget")
# These answer with numbers, or say only what was done.
WORDLESS = frozenset(("stats", "relations", "edit", "forget", "consolidate", "pending", "review"))
# These are done for whoever may: in the attacker's place nothing is.
DONE = frozenset(("edit", "consolidate"))


@pytest.mark.parametrize("surface", SURFACES if PROVING else ("library", "http", "mcp http", "cli"))
def test_the_owner_sees_what_others_must_not(pairs: Pairs, surface: str) -> None:
    pair = pairs(surface, VICTIM)
    for operation in ORDER:
        for form in ("foreign scope", "foreign id"):
            asked = asked_of(pair, surface, operation, form)
            assert asked or why_absent(surface, operation, form)
            assert not asked or _is_seen(pair, operation, asked), f"{surface} {operation} {form}"


def asked_of(pair: Pair, surface: str, operation: str, form: str) -> list[Call]:
    victim = pair.world.others[VICTIM]
    if form == "foreign id":
        calls = BY_ID.get(operation, _nothing)(Aim(victim, victim, SHORT, []))
    else:
        calls = BY_SCOPE.get(operation, _nothing)(VICTIM)
    lacks = LACKS.get(surface.split()[0], lambda _: "")
    return [one for one in calls if not lacks(one)]


def _nothing(_: object) -> Iterator[Call]:
    return iter(())


def _is_seen(pair: Pair, operation: str, asked: list[Call]) -> bool:
    told_apart = said_mark = done = False
    for one in asked:
        told, alone = pair.crowded.ask(one), pair.empty.ask(one)
        told_apart |= bool(differences(told, alone, frozenset()))
        said_mark |= bool(leaks(told, one, pair.world.others))
        done |= told.ok
        if done and (told_apart or operation in DONE) and (said_mark or operation in WORDLESS):
            return True
    return False
