"""The matrix can fail: the owner's same calls do tell the two worlds apart, and do say the mark."""

from __future__ import annotations

import pytest

from tests.conftest import PROVING
from tests.tenancy.attacks import NOWHERE
from tests.tenancy.comparing import differences, leaks
from tests.tenancy.conftest import SURFACES, Pair, Pairs
from tests.tenancy.operations import BY_ID, BY_SCOPE, SHORT, Aim
from tests.tenancy.surfaces import Call
from tests.tenancy.test_matrix import why_absent

VICTIM = "user:bob"
# What destroys comes last.
ORDER = ("get", "list", "search", "history", "relations", "stats", "export", "packet", "pending")
ORDER += ("review", "consolidate", "edit", "forget")
# These answer with numbers, or say only what was done.
WORDLESS = frozenset(("stats", "relations", "edit", "forget", "consolidate", "pending", "review"))
# These are done for whoever may: in the attacker's place nothing is.
DONE = frozenset(("edit", "consolidate"))


def asked_of(pair: Pair, operation: str, form: str) -> list[Call]:
    victim = pair.world.others[VICTIM]
    if form == "foreign id":
        calls = BY_ID[operation](Aim(victim, victim, SHORT, []))
    else:
        calls = BY_SCOPE[operation](VICTIM)
    return [one for one in calls if not pair.crowded.lacks(one)]


def cells() -> list[tuple[str, str, str]]:
    return [
        (surface, operation, form)
        for surface in SURFACES
        if PROVING or surface not in ("client", "mcp stdio")
        for operation in ORDER
        for form in ("foreign scope", "foreign id")
        if (operation, form) not in NOWHERE
        and (surface == "cli" or not why_absent(surface, operation, form))
    ]


@pytest.mark.parametrize(("surface", "operation", "form"), cells())
def test_the_owner_sees_what_others_must_not(
    pairs: Pairs, surface: str, operation: str, form: str
) -> None:
    pair = pairs(surface, VICTIM)
    asked = asked_of(pair, operation, form)
    if surface == "cli" and not asked:
        assert why_absent(surface, operation, form)
        return
    told_apart = said_mark = done = False
    for one in asked:
        told, alone = pair.crowded.ask(one), pair.empty.ask(one)
        told_apart |= bool(differences(told, alone, frozenset()))
        said_mark |= bool(leaks(told, one, pair.world.others))
        done |= told.ok
        if done and (told_apart or operation in DONE) and (said_mark or operation in WORDLESS):
            return
    raise AssertionError(f"{done=} {told_apart=} {said_mark=}")
