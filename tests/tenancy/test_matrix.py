"""A10: thirteen operations, five ways to reach for what is somebody else's (and one more: naming
nobody), through the library, HTTP, MCP, the command line and the client.

Every call is made twice: in a world where others live beside the attacker, and in the same world
without them. Both must answer the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from standfast.interfaces.cli import build_parser
from tests.conftest import PROVING
from tests.interfaces.mcp_world import TOOLS as REAL_TOOLS
from tests.tenancy import over_cli, over_mcp
from tests.tenancy.attacks import ABSENT, ATTACKS, NOWHERE, Attacker, as_owner, calls_of
from tests.tenancy.comparing import differences, leaks
from tests.tenancy.conftest import SURFACES, Pair, Pairs
from tests.tenancy.operations import OPERATIONS
from tests.tenancy.over_cli import COMMANDS
from tests.tenancy.over_mcp import TOOLS
from tests.tenancy.surfaces import Call
from tests.tenancy.world import ANN, CTO, World, state_of

SPELLINGS = ("prefix", "look-alike")
LACKS = {"mcp": over_mcp.lacks, "cli": over_cli.lacks}


def why_absent(surface: str, operation: str, attack: str) -> str:
    kind = surface.split()[0]
    return NOWHERE.get((operation, attack)) or ABSENT.get(kind, {}).get((operation, attack), "")


def rows() -> list[tuple[str, str, tuple[str, ...]]]:
    """Who comes by which surface, and for what. In a short run the second attacker comes by the
    library only, where the verbs are. By the command line only the first one ever comes: it shows
    the journal of a whole root."""
    if not PROVING:
        short = [(ANN, surface) for surface in SURFACES if surface not in ("client", "console")]
        return [(scope, surface, OPERATIONS) for scope, surface in (*short, (CTO, "library"))]
    whole = [(scope, surface) for scope in (ANN, CTO) for surface in SURFACES]
    return [
        (scope, surface, (operation,))
        for scope, surface in whole
        if (scope, surface) != (CTO, "cli")
        for operation in OPERATIONS
    ]


def cells(surface: str, operations: Iterable[str]) -> Iterator[tuple[str, str]]:
    """In a short run only the library and HTTP are asked about spellings: behind the others is
    the same."""
    for operation in operations:
        for attack in ATTACKS:
            again = attack in SPELLINGS and surface not in ("library", "http") and not PROVING
            if not again and not why_absent(surface, operation, attack):
                yield operation, attack


def calls(attacker: Attacker, surface: str, operation: str, attack: str) -> list[Call]:
    asked = calls_of(attacker, operation, attack)
    if surface == "cli":
        asked = as_owner(asked, attack, attacker.scope)
    lacks = LACKS.get(surface.split()[0])
    once = {str(one): one for one in asked if lacks is None or not lacks(one)}
    return list(once.values())


def _name(part: str | tuple[str, ...]) -> str:
    return part if isinstance(part, str) else part[0] if len(part) == 1 else "all"


@pytest.mark.parametrize(("scope", "surface", "operations"), rows(), ids=_name)
def test_A10_nothing_told_depends_on_others(
    pairs: Pairs,
    others_state: list[bytes],
    scope: str,
    surface: str,
    operations: tuple[str, ...],
) -> None:
    pair = pairs(surface, scope)
    wrong: list[str] = []
    for operation, attack in cells(surface, operations):
        asked = calls(pair.attacker, surface, operation, attack)
        assert asked, f"nothing is asked for {operation} by {attack}: say why in the table"
        wrong += [f"{operation} by {attack}: {w}" for one in asked if (w := _wrong(pair, one))]
    assert not wrong, f"{len(wrong)} answers:\n" + "\n".join(wrong[:20])
    assert len(others_state) > 100
    assert state_of(pair.owner, pair.world.others) == others_state


def _wrong(pair: Pair, asked: Call) -> str:
    """What is wrong with an answer; "" if nothing is."""
    told, alone = pair.crowded.ask(asked), pair.empty.ask(asked)
    if found := leaks(told, asked, pair.world.others):
        return f"{asked} tells {found[:5]}: {told.text[:1000]}"
    if difference := differences(told, alone, pair.attacker.own.every_id):
        return f"{asked} differs: {difference}"
    if pair.bound and told.ok and not _stays_inside(asked, pair.attacker.scope):
        return f"{asked} was done: {told.text[:1000]}"
    return ""


def _stays_inside(asked: Call, own: str) -> bool:
    """Does it name no scope but the attacker's own, or one below?"""
    named = asked.arguments.get("scope", own)
    several = named if isinstance(named, list) else [named]
    return all(one == own or one.startswith(f"{own}:") for one in several)


@pytest.mark.parametrize("surface", ["library", "mcp", "cli"])
def test_every_cell_is_asked_or_explained(built: World, surface: str) -> None:
    """No reason in the tables is out of date, and no cell is empty without one."""
    attacker = Attacker(ANN, built, list(built.spare[ANN]), victims=1)
    for operation in OPERATIONS:
        for attack in ATTACKS:
            is_asked = bool(calls(attacker, surface, operation, attack))
            is_explained = bool(why_absent(surface, operation, attack))
            assert is_asked != is_explained, (surface, operation, attack)


def test_no_tool_and_no_command_is_left_out() -> None:
    """One that is added later has to be added here."""
    assert {tool for tool, _, _ in TOOLS.values()} == set(REAL_TOOLS)
    (commands,) = [a.choices for a in build_parser()._actions if isinstance(a.choices, dict)]
    known = {command.words.split()[0] for command in COMMANDS.values()}
    # What they do is asked elsewhere, or is about the file, a model or a server.
    beside = (
        "observe import keys audit devices serve mcp proxy doctor backup restore model reembed new "
        "sync config completion pending archive usage due state policies relations changes "
        "console hooks slack webhooks migrate rekey"
    )
    assert set(commands) - known == set(beside.split())
