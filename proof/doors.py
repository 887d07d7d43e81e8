"""Doors beside the verbs: adapters and the proxy. Whoever comes under a name that is nearly
somebody's, or with somebody's ids, is told what he would be told if nobody else were there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
from anthropic.lib.tools import ToolError

from proof.family import Broken
from standfast import AsyncMemory, Memory, StandfastError
from standfast.adapters.anthropic import MemoryFiles
from standfast.adapters.knowledge_graph import KnowledgeGraph
from standfast.adapters.langchain import StandfastChatMessageHistory
from standfast.adapters.langgraph import StandfastStore
from standfast.adapters.mem0 import Memory as Mem0
from standfast.adapters.proxy.app import Proxy
from standfast.scopes import make_scope
from standfast.testing.scripted import ScriptedServer, says
from tests.adapters.test_proxy import address, running

MARK = "zanzibar"  # in every text of others
VICTIMS = ("bob", "anna", "b\u00f6b", "bob:project", "carol-smith", "42")
SHAPES: dict[str, Callable[[str], str]] = {
    "upper case": str.upper,
    "a blank behind": lambda name: f"{name} ",
    "a blank before": lambda name: f" {name}",
    "no width": lambda name: f"{name}\u200b",
    "full width": lambda name: chr(ord(name[0]) + 0xFEE0) + name[1:],
    "one shorter": lambda name: name[:-1],
    "one longer": lambda name: f"{name}a",
    "any": lambda name: f"{name[:1]}%",
    "star": lambda name: f"{name[:1]}*",
    "coded": lambda name: f"{name}%3A",
    "below": lambda name: f"{name}:project:web",
    "quoted": lambda name: f"{name}' OR '1'='1",
    "up and down": lambda name: f"../{name}",
    "nothing": lambda name: "",  # noqa: ARG005
}
_NEW = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,64}"
    r"|\d{4}-\d\d-\d\dT[\d:.]+(?:\+00:00|Z)?|datetime\([^)]*\)|-?\d+\.\d+(?:e-?\d+)?"
)


@dataclass(frozen=True, slots=True)
class Door:
    """``settle`` lets somebody live behind it; ``asks`` are what a stranger may ask under a name.
    ``state`` is all that somebody has there."""

    settle: Callable[[Memory, str, str], None]
    asks: dict[str, Callable[[Memory, str], Any]]
    state: Callable[[Memory, str], Any]
    same: Callable[[str], str] = str  # what the door takes for the same name


def _user(name: str) -> str:
    return make_scope(("user", name))


# mem0


def _mem0_settle(memory: Memory, name: str, word: str) -> None:
    Mem0(memory=memory).add(f"The code is {word}", user_id=name, agent_id=f"of-{name}")
    Mem0(memory=memory).add(f"The door is {word}", user_id=name)


MEM0 = Door(
    _mem0_settle,
    {
        "get_all": lambda m, name: Mem0(memory=m).get_all(filters={"user_id": name}),
        "search": lambda m, name: Mem0(memory=m).search(
            f"{MARK} code", filters={"user_id": name}, threshold=0.0
        ),
        "search of an agent": lambda m, name: Mem0(memory=m).search(
            f"{MARK} code", filters={"agent_id": f"of-{name}"}, threshold=0.0
        ),
        "add": lambda m, name: Mem0(memory=m).add("The code is mine", user_id=name),
        "delete_all": lambda m, name: Mem0(memory=m).delete_all(user_id=name),
    },
    lambda m, name: Mem0(memory=m).get_all(filters={"user_id": name}),
    same=str.strip,  # as in mem0
)

# LangGraph and LangChain


def _graph_settle(memory: Memory, name: str, word: str) -> None:
    StandfastStore(memory).put(("users", name), "code", {"text": f"The code is {word}"})


GRAPH = Door(
    _graph_settle,
    {
        "get": lambda m, name: StandfastStore(m).get(("users", name), "code"),
        "search": lambda m, name: StandfastStore(m).search(("users", name)),
        "search by words": lambda m, name: StandfastStore(m).search(("users", name), query=MARK),
        "list": lambda m, name: StandfastStore(m).list_namespaces(prefix=("users", name)),
        "delete": lambda m, name: StandfastStore(m).delete(("users", name), "code"),
    },
    lambda m, name: StandfastStore(m).search(("users", name)),
)


def _history(memory: Memory, name: str) -> StandfastChatMessageHistory:
    return StandfastChatMessageHistory(memory, "chat", scope=_user(name))


CHAIN = Door(
    lambda m, name, word: _history(m, name).add_user_message(f"The code is {word}"),
    {
        "messages": lambda m, name: _history(m, name).messages,
        "clear": lambda m, name: _history(m, name).clear(),
    },
    lambda m, name: _history(m, name).messages,
)

# Anthropic's memory tool


def _files(memory: Memory, name: str) -> MemoryFiles:
    return MemoryFiles(memory, scope=_user(name))


def _at(path: str, **more: Any) -> Any:
    return SimpleNamespace(path=path, view_range=None, **more)


def _other_path(memory: Memory, name: str) -> Any:
    return _files(memory, "mallory").view(_at(f"/memories/../{name}/code.txt"))


CLAUDE = Door(
    lambda m, name, word: _files(m, name).create(_at("/memories/code.txt", file_text=word)),
    {
        "view": lambda m, name: _files(m, name).view(_at("/memories")),
        "read": lambda m, name: _files(m, name).view(_at("/memories/code.txt")),
        "delete": lambda m, name: _files(m, name).delete(_at("/memories/code.txt")),
        "by path": _other_path,
    },
    lambda m, name: _files(m, name).view(_at("/memories/code.txt")),
)

# The reference server's graph


def _entities(memory: Memory, name: str) -> KnowledgeGraph:
    return KnowledgeGraph(memory, scope=_user(name))


def _graph_of(memory: Memory, name: str, word: str) -> None:
    one = {"name": "vault", "entityType": "place", "observations": [f"The code is {word}"]}
    _entities(memory, name).create_entities([one])


ENTITIES = Door(
    _graph_of,
    {
        "read": lambda m, name: _entities(m, name).read_graph(),
        "search": lambda m, name: _entities(m, name).search_nodes(MARK),
        "open": lambda m, name: _entities(m, name).open_nodes(["vault"]),
        "delete": lambda m, name: _entities(m, name).delete_entities(["vault"]),
    },
    lambda m, name: _entities(m, name).read_graph(),
)

DOORS = {
    "mem0": MEM0,
    "langgraph": GRAPH,
    "langchain": CHAIN,
    "anthropic": CLAUDE,
    "knowledge graph": ENTITIES,
}


def try_door(name: str, folder: Path) -> int:
    """Every question under every nearly right name, beside others and alone; how many cells."""
    door = DOORS[name]
    with ExitStack() as stack:
        crowded, empty = (
            stack.enter_context(_opened(folder / f"{one}.db")) for one in ("crowded", "empty")
        )
        for number, victim in enumerate(VICTIMS):
            door.settle(crowded, victim, f"{MARK}{number}")
        before = _plain([door.state(crowded, victim) for victim in VICTIMS])
        cells = 0
        for operation, victim, shape in _cells(door):
            asked = SHAPES[shape](victim)
            told, alone = (_told(door.asks[operation], one, asked) for one in (crowded, empty))
            cells += 1
            if MARK in told or told != alone:
                raise Broken(
                    f"{name}: {operation} as {asked!r} is told {told[:300]}, not {alone[:300]}"
                )
        if _plain([door.state(crowded, victim) for victim in VICTIMS]) != before:
            raise Broken(f"{name}: what others have was changed")
        if any(f"{MARK}{number}" not in before for number in range(len(VICTIMS))):
            raise Broken(f"{name}: the owner does not see what others must not")
    return cells


def _cells(door: Door) -> Iterator[tuple[str, str, str]]:
    """What changes something comes last; a bent name that is another victim's is none."""
    for operation in door.asks:
        for victim in VICTIMS:
            for shape, bend in SHAPES.items():
                if door.same(bend(victim)) not in VICTIMS:
                    yield operation, victim, shape


def _opened(file: Path) -> Memory:
    return Memory.open(str(file), embedder="hashing", background=False)


def _told(ask: Callable[[Memory, str], Any], memory: Memory, name: str) -> str:
    try:
        return _plain(ask(memory, name))
    except (StandfastError, ToolError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def _plain(answer: Any) -> str:
    """Without what is new each time."""
    return _NEW.sub("NEW", repr(answer))


# The proxy


@dataclass(slots=True)
class Upstream:
    server: ScriptedServer
    url: str
    seen: list[str] = field(default_factory=list)

    def ask(self, user: str, text: str, path: str) -> str:
        """What the model was shown when this user asked."""
        self.server.script(says("fine"))
        body = {"messages": [{"role": "user", "content": text}], "input": text}
        headers = {"x-standfast-user": user.encode(), "x-standfast-session": b"s"}
        answer = httpx2.post(f"{self.url}{path}", json=body, headers=headers, timeout=60)
        shown = json.dumps(self.server.requests[-1].body) if self.server.requests else ""
        return f"{answer.status_code} {shown if answer.status_code == 200 else answer.text}"


@contextmanager
def _proxied(file: Path) -> Iterator[Upstream]:
    async def open_memory() -> AsyncMemory:
        return await AsyncMemory.open(str(file), embedder="hashing", background=False)

    with (
        ScriptedServer() as server,
        running(Proxy(address(server), open_memory, scope="app:proxy")) as url,
    ):
        yield Upstream(server, url)


def try_proxy(folder: Path) -> int:
    cells = 0
    with _proxied(folder / "proxied.db") as upstream:
        for number, victim in enumerate(VICTIMS):
            upstream.ask(victim, f"My vault has the code {MARK}{number}", "/v1/chat/completions")
        for victim in VICTIMS:
            for shape, bend in SHAPES.items():
                asked = bend(victim)
                if asked in VICTIMS or not asked or asked != asked.strip(" "):  # no header
                    continue
                cells += 1
                told = upstream.ask(asked, "What code does my vault have?", "/v1/chat/completions")
                if MARK in told:
                    raise Broken(f"proxy: {shape} of {victim!r} is told {told[:300]}")
        seen = upstream.ask(VICTIMS[0], "What code does my vault have?", "/v1/chat/completions")
        if MARK not in seen:
            raise Broken(f"proxy: the owner does not see what others must not: {seen[:300]}")
    return cells
