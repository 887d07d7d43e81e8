"""A10: thirteen operations, five ways to reach for what is somebody else's (and one more: naming
nobody), through the library, HTTP, MCP, the command line and the client.

Every call is made twice: in a world where others live beside the attacker, and in the same world
without them. Both must answer the same.
"""

from __future__ import annotations

import pytest

from recollect.interfaces.cli import build_parser
from tests.conftest import PROVING
from tests.interfaces.mcp_world import TOOLS as REAL_TOOLS
from tests.tenancy.attacks import ABSENT, ATTACKS, NOWHERE, as_owner, calls_of
from tests.tenancy.comparing import differences, leaks
from tests.tenancy.conftest import SURFACES, Pair, Pairs
from tests.tenancy.operations import OPERATIONS
from tests.tenancy.over_cli import COMMANDS
from tests.tenancy.over_mcp import TOOLS
from tests.tenancy.surfaces import Call
from tests.tenancy.world import ANN, CTO, state_of

SPELLINGS = ("prefix", "look-alike")
Cell = tuple[str, str, str, str]


def why_absent(surface: str, operation: str, attack: str) -> str:
    kind = surface.split()[0]
    return NOWHERE.get((operation, attack)) or ABSENT.get(kind, {}).get((operation, attack), "")


def cells() -> list[Cell]:
    """In a short run the second attacker comes by the library only, where the verbs are, and
    where two surfaces are one behind the first step, one is asked about spellings. By the command
    line only the first attacker comes: it shows the journal of a whole root."""
    short = {*((ANN, surface) for surface in SURFACES if surface != "client"), (CTO, "library")}
    whole = {(scope, surface) for scope in (ANN, CTO) for surface in SURFACES} - {(CTO, "cli")}
    return [
        (scope, surface, operation, attack)
        for scope in (ANN, CTO)
        for surface in SURFACES
        if (scope, surface) in (whole if PROVING else short)
        for operation in OPERATIONS
        for attack in ATTACKS
        if not why_absent(surface, operation, attack)
        if PROVING or surface not in ("cli", "mcp stdio") or attack not in SPELLINGS
    ]


def calls(pair: Pair, surface: str, operation: str, attack: str) -> list[Call]:
    asked = calls_of(pair.attacker, operation, attack)
    if surface == "cli":
        asked = as_owner(asked, attack, pair.attacker.scope)
    once = {str(one): one for one in asked if not pair.crowded.lacks(one)}
    return list(once.values())


@pytest.mark.parametrize(("scope", "surface", "operation", "attack"), cells())
def test_A10_nothing_told_depends_on_others(
    pairs: Pairs, scope: str, surface: str, operation: str, attack: str
) -> None:
    pair = pairs(surface, scope)
    before = state_of(pair.owner, pair.world.others) if PROVING else []
    asked = calls(pair, surface, operation, attack)
    assert asked, "nothing is asked: say why in the table"
    for one in asked:
        told, alone = pair.crowded.ask(one), pair.empty.ask(one)
        assert not leaks(told, one, pair.world.others), f"{one}: {told.text[:2000]}"
        difference = differences(told, alone, pair.attacker.own.every_id)
        assert not difference, f"{one}: {difference}"
        if surface != "cli" and not _stays_inside(one, scope):
            assert not told.ok, f"{one} was done: {told.text[:2000]}"
    if PROVING:
        assert state_of(pair.owner, pair.world.others) == before


def _stays_inside(asked: Call, own: str) -> bool:
    """Does it name no scope but the attacker's own, or one below?"""
    named = asked.arguments.get("scope", own)
    several = named if isinstance(named, list) else [named]
    return all(one == own or one.startswith(f"{own}:") for one in several)


@pytest.mark.parametrize(("scope", "surface"), sorted({(c[0], c[1]) for c in cells()}))
def test_A10_nothing_of_others_was_changed(
    pairs: Pairs, others_state: list[bytes], scope: str, surface: str
) -> None:
    """Behind all attacks: every line of everybody else, the journal too, is as it was."""
    pair = pairs(surface, scope)
    assert len(others_state) > 100
    assert state_of(pair.owner, pair.world.others) == others_state


def test_every_cell_is_asked_or_explained(pairs: Pairs) -> None:
    """No reason in the tables is out of date, and no cell is empty without one."""
    for surface in ("library", "mcp stdio", "cli"):
        pair = pairs(surface, ANN)
        for operation in OPERATIONS:
            for attack in ATTACKS:
                is_asked = bool(calls(pair, surface, operation, attack))
                is_explained = bool(why_absent(surface, operation, attack))
                assert is_asked != is_explained, (surface, operation, attack)


def test_no_tool_and_no_command_is_left_out() -> None:
    """One that is added later has to be added here."""
    assert {tool for tool, _, _ in TOOLS.values()} == set(REAL_TOOLS)
    (commands,) = [a.choices for a in build_parser()._actions if isinstance(a.choices, dict)]
    known = {command.words.split()[0] for command in COMMANDS.values()}
    # What they do is asked elsewhere, or is about the file, a model or a server.
    beside = "observe import keys devices serve mcp doctor backup restore model reembed new sync"
    assert set(commands) - known == set(beside.split())
