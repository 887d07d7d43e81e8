"""The MCP server: ten tools, two prompts and two resources over the verbs of one memory; or, for
clients that were set up for it, the tools of the reference memory server.

It knows no key and no store. Who asks is found anew for every request by ``who``; what goes wrong
is told in standfast's own words, and a crash without a word of it.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable
from importlib import import_module
from typing import Any, Literal

from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    TextContent,
    ToolAnnotations,
)
from pydantic import AnyUrl, ValidationError

from standfast import __version__
from standfast.errors import NotFound, StandfastError
from standfast.interfaces.caller import Caller
from standfast.interfaces.mcp.caller import asked_by
from standfast.interfaces.mcp.schemas import lean
from standfast.types import Right

NAME = "standfast"

Who = Callable[[Context[Any, Any]], Awaitable[Caller]]
Tell = Callable[[StandfastError], str]

Toolset = Literal["standfast", "reference"]

# where, title, reads only, may destroy, the same again changes nothing more
Rows = dict[str, tuple[str, str, bool, bool, bool]]
_TOOLS: Rows = {
    "memory_save": ("memories", "Save a memory", False, False, True),
    "memory_search": ("memories", "Search memories", True, False, True),
    "memory_context": ("memories", "Memories for a task", False, False, True),
    "memory_forget": ("memories", "Forget memories", False, True, True),
    "memory_history": ("memories", "History of memories", True, False, True),
    "memory_review": ("memories", "Review memories", False, True, False),
    "procedure_save": ("procedures", "Save a procedure", False, False, True),
    "procedure_find": ("procedures", "Find procedures", True, False, True),
    "procedure_used": ("procedures", "Count a procedure's use", False, False, False),
    "session_log": ("procedures", "Log a session", False, False, False),
}
_LOTA: Rows = {  # beside the others, under its profile
    "searchOrganizationMemories": ("lota", "Search an organisation's memories", True, False, True),
    "searchAgentMemories": ("lota", "Search an agent's memories", True, False, True),
    "searchAllMemoriesBatched": ("lota", "Search both at once", True, False, True),
    "getTopMemories": ("lota", "Memories of every turn", True, False, True),
}
_REFERENCE: Rows = {
    "create_entities": ("reference", "Create Entities", False, False, False),
    "create_relations": ("reference", "Create Relations", False, False, False),
    "add_observations": ("reference", "Add Observations", False, False, False),
    "delete_entities": ("reference", "Delete Entities", False, True, True),
    "delete_observations": ("reference", "Delete Observations", False, True, True),
    "delete_relations": ("reference", "Delete Relations", False, True, True),
    "read_graph": ("reference", "Read Graph", True, False, True),
    "search_nodes": ("reference", "Search Nodes", True, False, True),
    "open_nodes": ("reference", "Open Nodes", True, False, True),
}

# Verbs that no tool calls, and why.
NO_TOOL = {
    **dict.fromkeys(
        ("records", "relations", "sessions", "messages", "summaries", "pending", "changes",
         "usage", "due", "stats", "scopes", "policies"),
        "lists are for people and programs that look around"),
    **dict.fromkeys(
        ("export_to", "import_from", "maintain", "reembed", "set_policy"),
        "whoever runs the store decides it"),
    "get": "memory_history and the resource memory://record/{id} show one",
    "confirm": "memory_context with received",
    "edit": "memory_save with replaces",
    "pin": "memory_save with the durability core; what stays pinned a person decides",
    "dispute": "memory_save disputes what it contradicts",
    "why_not": "a person's question about the ranking",
    "undo": "memory_review with the action undo",
    "relate": "upkeep and memory_save link what belongs together",
    "revoke": "an agent cannot retire a whole source",
    "archive": "memory_review retires what was decided about",
    "note": "a session's log says it: session_log",
    "set_state": "the state of a task is its program's",
}  # fmt: skip


def build_server(
    who: Who,
    tell: Tell = str,
    rights: Iterable[Right] = (),
    *,
    tools: Toolset = "standfast",
    profile: str = "",
) -> MCPServer[Any]:
    """The server for whoever ``who`` says is asking; ``tell`` words an error for them. ``rights``
    are those that tools have beside the usual ones, if who asks has them. A ``profile`` may bring
    the functions of its document along."""
    own = {**_TOOLS, **_LOTA} if profile == "lota" else _TOOLS
    rows = own if tools == "standfast" else _REFERENCE
    return _without_logging(lambda: MemoryServer(who, tell, frozenset(rights), rows))


class MemoryServer(MCPServer[Any]):
    """Refuses arguments that no tool takes, and tells errors in our own words."""

    def __init__(self, who: Who, tell: Tell, rights: frozenset[Right], rows: Rows) -> None:
        from standfast.interfaces.mcp import guidance, reference  # read the verbs, as the tools do

        own = rows is not _REFERENCE
        tools = [_tool(name, *about) for name, about in rows.items()]
        super().__init__(
            NAME,
            title="standfast",
            description="A memory for AI agents",
            instructions=guidance.INSTRUCTIONS if own else reference.INSTRUCTIONS,
            version=__version__,
            tools=tools,
            resources=[guidance.core_resource() if own else reference.graph_resource()],
            log_level="WARNING",
            subscriptions=False,
        )
        self._who = who
        self._rights = rights
        self._tell = tell
        self._arguments = {tool.name: set(tool.parameters["properties"]) for tool in tools}
        self._writing = {name for name, (_, _, reads, _, _) in rows.items() if not reads}
        if own:
            self._add_guidance()

    def _add_guidance(self) -> None:
        from standfast.interfaces.mcp import guidance

        for prompt in guidance.prompts():
            self.add_prompt(prompt)
        self.resource(
            guidance.RECORD_URI,
            name="record",
            title="One memory",
            description="A memory by its id, in full.",
            mime_type="text/plain",
        )(guidance.record)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        unknown = sorted(arguments.keys() - self._arguments.get(name, arguments.keys()))
        if unknown:
            takes = ", ".join(sorted(self._arguments[name]))
            return refused(f"{name} takes no {', '.join(unknown)}; it takes {takes}")
        try:
            asker = await self._asker(context)
            if name in self._writing:
                await asker.before_write()
            with asked_by(asker):
                return await super().call_tool(name, arguments, context)
        except (StandfastError, ToolError) as error:
            if ours := _ours(error):
                return refused(self._tell(ours))
            if isinstance(error.__cause__, ValidationError):
                return refused(_misshapen(error.__cause__))
            raise

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[Any, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        try:
            with asked_by(await self._asker(context)):
                return await super().read_resource(uri, context)
        except (StandfastError, ResourceError) as error:
            ours = _ours(error)
            if ours is None:
                raise
            kind = ResourceNotFoundError if isinstance(ours, NotFound) else ResourceError
            raise kind(self._tell(ours)) from None

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        try:
            with asked_by(await self._asker(context)):
                return await super().get_prompt(name, arguments, context)
        except (StandfastError, ValueError) as error:
            # What the SDK itself raises names only the prompt and its arguments.
            ours = _ours(error)
            said = self._tell(ours) if ours else str(error)
            raise MCPError(code=INVALID_PARAMS, message=said) from None

    async def _asker(self, context: Context[Any, Any] | None) -> Caller:
        asker = await self._who(context or Context(mcp_server=self))
        return asker.for_tools(self._rights)


def _tool(name: str, home: str, title: str, reads: bool, destroys: bool, again: bool) -> Tool:
    function = getattr(import_module(f"standfast.interfaces.mcp.{home}"), name)
    tool = Tool.from_function(
        function,
        title=title,
        description=inspect.getdoc(function),
        annotations=ToolAnnotations(
            title=title,
            read_only_hint=reads,
            destructive_hint=destroys,
            idempotent_hint=again,
            open_world_hint=False,
        ),
    )
    tool.parameters = {**lean(tool.parameters), "additionalProperties": False}
    tool.fn_metadata.output_schema = lean(tool.fn_metadata.output_schema or {})
    return tool


def refused(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)


def _ours(error: BaseException) -> StandfastError | None:
    """What standfast raised, however often it was wrapped since."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, StandfastError):
        found = found.__cause__
    return found


def _misshapen(error: ValidationError) -> str:
    wrong = [
        f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False)
    ]
    return "the arguments are not as described: " + "; ".join(wrong[:5])


def _without_logging(make: Callable[[], MCPServer[Any]]) -> MCPServer[Any]:
    """The SDK sets the root logger up if nobody has; whose process it is should decide that."""
    root, occupied = logging.getLogger(), logging.NullHandler()
    root.addHandler(occupied)
    try:
        return make()
    finally:
        root.removeHandler(occupied)
