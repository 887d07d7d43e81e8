"""The ways to reach for what is somebody else's, and the cells that cannot be asked, with why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from tests.conftest import PROVING
from tests.tenancy.estates import Estate
from tests.tenancy.operations import (
    BY_ID,
    BY_SCOPE,
    MIXED,
    OTHER_IDS,
    RECORDS,
    SHORT,
    UNNAMED,
    Aim,
    ByAim,
)
from tests.tenancy.over_cli import COMMANDS, OWNER
from tests.tenancy.surfaces import Call
from tests.tenancy.world import MALFORMED, NEIGHBOURS, World

ATTACKS = ("foreign id", "foreign scope", "prefix", "look-alike", "batch mix", "no scope")


def _widened(id_: str) -> str:
    """The last character in its full-width form."""
    return id_[:-1] + chr(ord(id_[-1]) + 0xFEE0)


# An id that is nearly somebody's.
BENT: dict[str, tuple[Callable[[str], str], ...]] = {
    "prefix": (lambda id_: id_[:-1], lambda id_: id_[:8], lambda id_: f"{id_[:8]}%"),
    "look-alike": (str.upper, lambda id_: f"{id_}\u200b", _widened),
}

# What no surface can be asked, because the verb takes no such argument.
NOWHERE: dict[tuple[str, str], str] = {
    ("get", "foreign scope"): "records are got by id; get takes no scope",
    ("get", "no scope"): "get takes nothing but ids",
    ("relations", "foreign scope"): "edges are shown of one record; relations takes no scope",
    ("relations", "no scope"): "relations takes nothing but an id",
    ("stats", "foreign id"): "stats counts scopes; it takes no id",
    ("stats", "batch mix"): "stats takes one scope",
    ("export", "foreign id"): "an export is of scopes; it takes no id",
    ("list", "batch mix"): "a list is of one scope",
    ("history", "batch mix"): "history is of one record or one scope",
    ("consolidate", "batch mix"): "maintain takes one scope",
    ("edit", "no scope"): "without a scope or an id an edit is the caller's own",
    ("forget", "no scope"): "forget refuses to do anything without a selector",
}
# What one surface cannot be asked: (operation, attack), or the operation under every attack.
_NO_TOOL = "there is no tool for it: an agent has no use for it"
ALL_OF_IT = "without a scope, whoever owns the file asks about all of them"
ABSENT: dict[str, dict[tuple[str, str], str]] = {
    "mcp": {
        **{("list", attack): "no tool lists by session or author" for attack in ("foreign id",)},
        **{("relations", attack): _NO_TOOL for attack in ATTACKS},
        **{("stats", attack): _NO_TOOL for attack in ATTACKS},
        **{("export", attack): _NO_TOOL for attack in ATTACKS},
        ("consolidate", "foreign scope"): _NO_TOOL,
        ("consolidate", "no scope"): _NO_TOOL,
        ("forget", "foreign scope"): "memory_forget takes ids only",
        ("packet", "batch mix"): "memory_context takes one scope",
        ("pending", "foreign id"): "no tool names waiting messages",
        ("pending", "batch mix"): "no tool names waiting messages",
    },
    "cli": {
        ("get", "foreign id"): OWNER,
        ("get", "batch mix"): OWNER,
        ("search", "batch mix"): OWNER,
        ("relations", "foreign id"): OWNER,
        ("relations", "batch mix"): OWNER,
        ("consolidate", "foreign id"): OWNER,
        ("review", "foreign id"): OWNER,
        ("review", "batch mix"): OWNER,
        ("export", "batch mix"): OWNER,
        ("packet", "batch mix"): OWNER,
        ("pending", "foreign id"): "no command names waiting messages",
        ("pending", "batch mix"): "no command names waiting messages",
        **{(operation, "no scope"): ALL_OF_IT for operation in UNNAMED},
    },
}


@dataclass(frozen=True)
class Attacker:
    """Somebody with a scope of their own, and who lives around them."""

    scope: str
    world: World
    spare: list[str]  # own memories that are used up
    victims: int  # at how many others' ids it aims

    @property
    def own(self) -> Estate:
        return self.world.own[self.scope]

    def neighbours(self, how: str) -> list[Estate]:
        """Others of that kind; in a short run a few of the attacker's own root or kind."""
        scopes = NEIGHBOURS[how]
        if not PROVING:
            begin = self.scope.split(":")[0]
            scopes = tuple(scope for scope in scopes if scope.startswith(begin))[:2]
        return [self.world.others[scope] for scope in scopes]

    def aims(self, kinds: tuple[str, ...] = SHORT) -> list[Aim]:
        """At whom; in a short run at one, by few kinds of ids."""
        others = [*self.neighbours("foreign"), *self.world.others.values()]
        once = list({estate.scope: estate for estate in others}.values())
        chosen = kinds if PROVING else SHORT
        return [Aim(self.own, theirs, chosen, self.spare) for theirs in once[: self.victims]]


def calls_of(attacker: Attacker, operation: str, attack: str) -> Iterator[Call]:
    if attack == "foreign id":
        yield from _aimed(BY_ID, operation, attacker.aims((*RECORDS, *OTHER_IDS)))
    elif attack == "foreign scope":
        near = attacker.neighbours("foreign")
        yield from _by_scope(operation, [e.scope for e in (*near, *attacker.neighbours("below"))])
    elif attack == "batch mix":
        yield from _aimed(MIXED, operation, attacker.aims())
    elif attack == "no scope":
        yield from UNNAMED.get(operation, ())
    else:
        estates = attacker.neighbours(attack)
        nobodys = MALFORMED[attack] if PROVING else MALFORMED[attack][:1]
        yield from _by_scope(operation, [*(e.scope for e in estates), *nobodys])
        for bend in BENT[attack] if PROVING else BENT[attack][:1]:
            some = attacker.aims()[:4]  # what is nearly an id is nobody's, whosever it was
            bent = [replace(aim, theirs=_bent(aim.theirs, bend)) for aim in some]
            yield from _aimed(BY_ID, operation, bent)


def _bent(estate: Estate, bend: Callable[[str], str]) -> Estate:
    ids = {kind: bend(id_) for kind, id_ in estate.ids.items()}
    return replace(estate, ids=ids, word=bend(estate.word))


def _aimed(table: dict[str, ByAim], operation: str, aims: Iterable[Aim]) -> Iterator[Call]:
    if operation in table:
        for aim in aims:
            yield from table[operation](aim)


def _by_scope(operation: str, scopes: Iterable[str]) -> Iterator[Call]:
    if operation in BY_SCOPE:
        for scope in scopes:
            yield from BY_SCOPE[operation](scope)


# On a surface without a key


def as_owner(calls: Iterable[Call], attack: str, own: str) -> Iterator[Call]:
    """The same for somebody who owns all of it and names the attacker's scope: others are beside
    it, and must not come along. What would name others outright is left out."""
    if attack == "no scope":
        return
    for asked in calls:
        given = dict(asked.arguments)
        scope = given.get("scope")
        takes_scope = asked.verb in COMMANDS and "scope" in COMMANDS[asked.verb].options
        named_outright = attack in ("foreign id", "batch mix") and scope != own
        if scope in MALFORMED.get(attack, ()) or (not takes_scope and not named_outright):
            yield asked
        elif scope and attack in MALFORMED and not PROVING:
            continue  # asked as for a foreign scope: in the attacker's own, beside all others
        elif takes_scope and (attack != "batch mix" or scope == own):
            yield Call(asked.verb, {**given, "scope": own})
