"""The thirteen operations: what is asked about an id, about a scope, about own and foreign things
at once, and without naming anything.

Ids are those of an estate: something of every kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.tenancy.estates import MARK, SHARED_SESSION, Estate
from tests.tenancy.surfaces import Call, call

ABOUT = f"{MARK} vault code"  # the best question there is; nobody's text has these words in a row
RECORDS = ("fact", "disputed", "quarantined", "procedure", "turn", "core", "superseded")
RECORDS += ("successor", "opponent", "archived", "erased", "episode")
OTHER_IDS = ("change", "message", "pending", "session", "proposal", "work", "archiving")
SHORT = ("fact",)


@dataclass(frozen=True)
class Aim:
    """Who attacks whom, by which kinds of ids; ``spare`` are memories of the attacker's own that
    may be used up."""

    own: Estate
    theirs: Estate
    kinds: Sequence[str]
    spare: list[str]


ByAim = Callable[[Aim], Iterator[Call]]


def get_id(aim: Aim) -> Iterator[Call]:
    for kind in (*aim.kinds, "message"):
        yield call("get", ids=[aim.theirs.ids[kind]])
        yield call("why_not", id=aim.theirs.ids[kind], query=ABOUT)


def list_id(aim: Aim) -> Iterator[Call]:
    yield call("records", session=aim.theirs.ids["session"])
    yield call("messages", session=aim.theirs.ids["session"])
    yield call("messages", session=aim.theirs.ids["session"], scope=aim.own.scope)
    yield call("messages", session=SHARED_SESSION, around=aim.theirs.ids["message"])
    yield call("summaries", session=aim.theirs.ids["session"])
    yield call("records", authors=[f"{aim.theirs.word}-owner"])
    yield call("records", tags=[aim.theirs.word])


def search_id(aim: Aim) -> Iterator[Call]:
    for kind in aim.kinds:
        yield call("recall", query=aim.theirs.ids[kind])
        yield call("recall", query=aim.theirs.ids[kind], scope=aim.own.scope)
    yield call("recall", query=aim.theirs.word)
    yield call("recall", query=ABOUT, tags=[aim.theirs.word])


def edit_id(aim: Aim) -> Iterator[Call]:
    for kind in aim.kinds:
        id_ = aim.theirs.ids[kind]
        yield call("remember", text="The vault is mine", supersedes=id_)
        yield call("remember", text="The vault is mine", supersedes=id_, scope=aim.own.scope)
        yield call("resolve", id=id_, action="edit", text="The vault is mine")
        yield call("edit", id=id_, text="The vault is mine")
        yield call("pin", ids=[id_])
        yield call("dispute", id=id_, text="The vault is mine")
        yield call("dispute", id=aim.own.ids["fact"], by=id_)
        yield call("procedure_used", id_or_name=id_, success=True)
        yield call("procedure_used", id_or_name=id_, success=True, scope=aim.own.scope)
    yield call(
        "procedure_used", id_or_name=aim.theirs.ids["procedure"], success=True, scope=aim.own.scope
    )
    yield call("set_state", session=aim.theirs.ids["session"], state={"mine": True})
    yield call("end", session=aim.theirs.ids["session"])
    for change in ("change", "archiving", "forgetting"):
        yield call("undo", change=aim.theirs.ids[change])
        yield call("undo", change=aim.theirs.ids[change], dry_run=True)
        yield call("undo", change=aim.theirs.ids[change], scope=aim.own.scope)


def forget_id(aim: Aim) -> Iterator[Call]:
    for kind in aim.kinds:
        ids = [aim.theirs.ids[kind]]
        yield call("forget", ids=ids)
        yield call("forget", ids=ids, sources=True)
        yield call("forget", ids=ids, scope=aim.own.scope)
        yield call("revoke", ids=ids)
        yield call("revoke", ids=ids, scope=aim.own.scope)
        yield call("archive", ids=ids)
    yield call("forget", ids=[aim.theirs.ids["message"]], session=SHARED_SESSION)
    yield call("forget", session=aim.theirs.ids["session"])
    yield call("forget", session=aim.theirs.ids["session"], scope=aim.own.scope)
    yield call("forget", author=f"{aim.theirs.word}-owner")


def history_id(aim: Aim) -> Iterator[Call]:
    for kind in (*aim.kinds, "erased", "message", "session", "pending", "proposal"):
        yield call("history", id=aim.theirs.ids[kind])
    yield call("history", id=f"usage/2026-01-01/extract/{aim.theirs.word}")
    yield call("history", id=SHARED_SESSION, limit=1)  # everybody has one


def relations_id(aim: Aim) -> Iterator[Call]:
    for kind in aim.kinds:
        yield call("relations", id=aim.theirs.ids[kind])
    yield call(
        "relate",
        source=aim.theirs.ids["fact"],
        kind="contradicts",
        target=aim.theirs.ids["disputed"],
    )


def consolidate_id(aim: Aim) -> Iterator[Call]:
    for what in ("proposal", "work"):
        for action in ("reject", "approve"):
            yield call("resolve", id=aim.theirs.ids[what], action=action)


def review_id(aim: Aim) -> Iterator[Call]:
    for kind in dict.fromkeys((*aim.kinds, "quarantined", "disputed")):
        for action in ("approve", "reject"):
            yield call("resolve", id=aim.theirs.ids[kind], action=action)
    yield call(
        "resolve", id=aim.theirs.ids["disputed"], action="merge", into=aim.theirs.ids["opponent"]
    )


def packet_id(aim: Aim) -> Iterator[Call]:
    yield call("context", query="vault", session=aim.theirs.ids["session"])
    yield call("context", query="vault", session=aim.theirs.ids["session"], scope=aim.own.scope)
    for kind in aim.kinds:
        yield call("context", query=aim.theirs.ids[kind], scope=aim.own.scope)


def pending_id(aim: Aim) -> Iterator[Call]:
    for kind in ("pending", "message"):
        yield call("confirm", pending=[{"id": aim.theirs.ids[kind], "scope": aim.own.scope}])


BY_ID: dict[str, ByAim] = {
    "get": get_id,
    "list": list_id,
    "search": search_id,
    "edit": edit_id,
    "forget": forget_id,
    "history": history_id,
    "relations": relations_id,
    "consolidate": consolidate_id,
    "review": review_id,
    "packet": packet_id,
    "pending": pending_id,
}


# About a scope


def list_scope(scope: str) -> Iterator[Call]:
    for descend in (False, True):
        yield call("records", scope=scope, descend=descend)
    yield call("records", scope=scope)
    yield call("sessions", scope=scope)
    yield call("messages", session=SHARED_SESSION, scope=scope)
    for verb in ("policies", "due"):
        yield call(verb, scope=scope)


def search_scope(scope: str) -> Iterator[Call]:
    yield call("recall", query=ABOUT, scope=scope)
    yield call("recall", query=ABOUT, scope=scope, descend=True)
    yield call("find_procedures", query="vault", scope=scope)


def edit_scope(scope: str) -> Iterator[Call]:
    yield call("remember", text="I was here", scope=scope)
    yield call("observe", session=SHARED_SESSION, messages=["I was here"], scope=scope)
    yield call("save_procedure", name="mine", steps=["take it"], scope=scope)
    yield call("procedure_used", id_or_name="mine", success=True, scope=scope)
    yield call("note", session=SHARED_SESSION, text="I was here", scope=scope)
    yield call("set_state", session=SHARED_SESSION, state={"mine": True}, scope=scope)
    yield call("end", session=SHARED_SESSION, scope=scope)
    yield call("set_policy", scope=scope, persist=True)


def forget_scope(scope: str) -> Iterator[Call]:
    yield call("revoke", scope=scope, session=SHARED_SESSION)
    yield call("forget", scope=scope, session=SHARED_SESSION)
    yield call("revoke", scope=scope, source="web")
    yield call("forget", scope=scope, source="web", descend=True)
    yield call("forget", scope=scope, session="nothing")


def history_scope(scope: str) -> Iterator[Call]:
    yield call("history", scope=scope)
    yield call("changes", scope=scope)


def stats_scope(scope: str) -> Iterator[Call]:
    yield call("stats", scope=scope)
    yield call("stats", scope=scope, descend=True)
    yield call("usage", scope=scope)


def consolidate_scope(scope: str) -> Iterator[Call]:
    yield call("maintain", scope=scope, dry_run=True)
    yield call("maintain", scope=scope)
    yield call("maintain", scope=scope, retry=True)


def packet_scope(scope: str) -> Iterator[Call]:
    yield call("context", query=ABOUT, scope=scope)
    yield call("context", query=ABOUT, session=SHARED_SESSION, scope=scope)


def pending_scope(scope: str) -> Iterator[Call]:
    yield call("pending", scope=scope)
    yield call("observe", session=SHARED_SESSION, messages=["I wait"], scope=scope, pending=True)
    yield call("confirm", pending=[{"id": "nothing", "scope": scope}])


BY_SCOPE: dict[str, Callable[[str], Iterator[Call]]] = {
    "list": list_scope,
    "search": search_scope,
    "edit": edit_scope,
    "forget": forget_scope,
    "history": history_scope,
    "stats": stats_scope,
    "export": lambda scope: iter([call("export_to", scope=scope)]),
    "consolidate": consolidate_scope,
    "review": lambda scope: iter([call("review", scope=scope)]),
    "packet": packet_scope,
    "pending": pending_scope,
}


# Own and foreign things at once


def get_mixed(aim: Aim) -> Iterator[Call]:
    yield call(
        "get",
        ids=[aim.spare[0], aim.theirs.ids["fact"], aim.spare[1], aim.theirs.ids["quarantined"]],
    )


def search_mixed(aim: Aim) -> Iterator[Call]:
    yield call("recall", query=ABOUT, scope=[aim.own.scope, aim.theirs.scope])
    yield call("find_procedures", query="vault", scope=[aim.theirs.scope, aim.own.scope])


def edit_mixed(aim: Aim) -> Iterator[Call]:
    yield call("remember", text="mine", supersedes=aim.own.ids["core"], scope=aim.theirs.scope)
    yield call("remember", text="mine", supersedes=aim.theirs.ids["fact"], scope=aim.own.scope)


def forget_mixed(aim: Aim) -> Iterator[Call]:
    yield call("forget", ids=[aim.theirs.ids["fact"], aim.spare.pop(), aim.theirs.ids["turn"]])
    yield call("forget", ids=[aim.spare.pop(), aim.theirs.ids["fact"]], sources=True)
    yield call("forget", ids=[aim.spare.pop(), aim.theirs.ids["fact"]], scope=aim.own.scope)
    yield call("archive", ids=[aim.spare.pop(), aim.theirs.ids["fact"]])
    yield call("revoke", ids=[aim.theirs.ids["core"], aim.spare.pop()])
    yield call("revoke", ids=[aim.theirs.ids["core"], aim.spare.pop()], scope=aim.own.scope)


def relations_mixed(aim: Aim) -> Iterator[Call]:
    for mine in (aim.own.ids["core"], aim.own.ids["fact"]):
        yield call("relate", source=mine, kind="supersedes", target=aim.theirs.ids["fact"])
        yield call("relate", source=aim.theirs.ids["fact"], kind="contradicts", target=mine)


def review_mixed(aim: Aim) -> Iterator[Call]:
    mine = aim.own.ids["quarantined"]
    yield call("resolve", id=mine, action="merge", into=aim.theirs.ids["fact"])
    yield call(
        "resolve", id=aim.theirs.ids["quarantined"], action="merge", into=aim.own.ids["core"]
    )


def packet_mixed(aim: Aim) -> Iterator[Call]:
    yield call("context", query=ABOUT, scope=[aim.own.scope, aim.theirs.scope])
    session = aim.theirs.ids["session"]
    yield call("context", query=ABOUT, session=session, scope=[aim.own.scope, aim.theirs.scope])


def pending_mixed(aim: Aim) -> Iterator[Call]:
    mine = {"id": aim.own.ids["pending"], "scope": aim.own.scope}
    yield call(
        "confirm", pending=[mine, {"id": aim.theirs.ids["pending"], "scope": aim.theirs.scope}]
    )
    yield call("confirm", pending=[{"id": aim.theirs.ids["pending"], "scope": aim.own.scope}, mine])


MIXED: dict[str, ByAim] = {
    "get": get_mixed,
    "search": search_mixed,
    "edit": edit_mixed,
    "forget": forget_mixed,
    "relations": relations_mixed,
    "export": lambda aim: iter([call("export_to", scope=[aim.own.scope, aim.theirs.scope])]),
    "review": review_mixed,
    "packet": packet_mixed,
    "pending": pending_mixed,
}


# Without naming anything

UNNAMED: dict[str, list[Call]] = {
    "list": [call(verb) for verb in ("records", "sessions", "policies", "due")],
    "search": [
        call("recall", query=ABOUT, limit=100),
        call("recall", query=ABOUT, explain=True),
        call("recall", query="", limit=100),
        call("recall", query=ABOUT),
        call("recall", query=ABOUT, as_of="2030-01-01T00:00:00Z"),
        call("find_procedures", query="vault"),
    ],
    "history": [call("history"), call("changes", limit=500)],
    "stats": [call("stats"), call("usage")],
    "export": [call("export_to")],
    "consolidate": [
        call("maintain", dry_run=True),
        call("maintain"),
        call("maintain", retry=True),
    ],
    "review": [call("review")],
    "packet": [call("context", query=ABOUT), call("context", query=ABOUT, session="chat")],
    "pending": [call("pending")],
}
OPERATIONS = tuple(dict.fromkeys((*BY_ID, *BY_SCOPE)))
