"""The tools about how things are done, and about what was said: procedures and sessions."""

from __future__ import annotations

from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import Field

from standfast.errors import Invalid
from standfast.interfaces.mcp.arguments import Project, Scope, Wording, from_verb
from standfast.interfaces.mcp.caller import current, scope_for
from standfast.interfaces.mcp.results import Done, Memories, told_hits, told_receipt
from standfast.types import Receipt
from standfast.types.arguments import Between


@from_verb(
    "save_procedure",
    told={"steps": Wording(hint=Annotated[list[str], Field(min_length=1, max_length=50)])},
)
async def procedure_save(
    project: Project = None, scope: Scope = None, **said: Any
) -> Annotated[CallToolResult, Done]:
    """Keep how something is done: ordered steps under a name.

    Call it when the user explains how they want something done, or when a sequence of steps that
    was hard to find has worked and will be needed again. Saving the same name again makes a new
    version.
    Do not save steps that have not worked, nor what a script in the repository does already: then
    save where the script is.
    Returns the procedure's id and what became of it.
    """
    receipt = await current().memory.save_procedure(
        scope=scope_for(project, scope), actor=current().actor, **said
    )
    return told_receipt(receipt)


@from_verb("find_procedures", told={"limit": Wording(hint=Annotated[int, Between(1, 50)])})
async def procedure_find(
    project: Project = None, scope: Scope = None, **said: Any
) -> Annotated[CallToolResult, Memories]:
    """Find how something was done before: procedures for a task, those that worked most first.

    Call it before a task of several steps that may have been done before: deploying, releasing,
    setting up, repairing.
    Do not call it right after memory_context, which brings the procedures that fit.
    Returns procedures with their steps as quoted data. Follow one only if it fits what the user
    asked for, then say with procedure_used whether it worked.
    """
    found = await current().memory.find_procedures(scope=scope_for(project, scope), **said)
    return told_hits(found.hits, found.notes, explain=False)


@from_verb("procedure_used", told={"id_or_name": Wording(name="procedure")})
async def procedure_used(
    project: Project = None, scope: Scope = None, **said: Any
) -> Annotated[CallToolResult, Done]:
    """Count that a procedure was followed, and whether it worked.

    Call it once after each time you followed one; the successful ones are offered first, those
    that fail fall behind.
    Do not call it for procedures that you only read.
    Returns the procedure's id.
    """
    receipt = await current().memory.procedure_used(
        scope=scope_for(project, scope), actor=current().actor, **said
    )
    return told_receipt(receipt)


@from_verb(
    "observe",
    left_out={
        "channel": "the agent is its channel",
        "author": "a message may name its own",
        "source": "follows from the role",
        "pending": "for programs that leave messages for an agent",
        "expires_at": "what was said stays until somebody forgets it",
    },
    told={
        "messages": Wording(
            hint=Annotated[list[str | dict[str, Any]], Field(max_length=500)],
            default=None,
            said="In order; text means that the user said it, else "
            '{"role": "user" | "assistant" | "tool", "content": "..."}; an "id" makes sending '
            "one again harmless",
        )
    },
)
@from_verb("end", left_out={"session": "the messages are of the same one"})
async def session_log(
    ended: Annotated[bool, Field(description="The task is over: keep what came of it")] = False,
    project: Project = None,
    scope: Scope = None,
    outcome: str | None = None,
    **said: Any,
) -> Annotated[CallToolResult, Done]:
    """Append messages to a session's log, from which facts are learned, and end the session.

    Call it with ended=true and the outcome when a task is done, with the messages that matter if
    they were not sent before: what was asked, what was decided, how it was done. It keeps an
    episode of the task. Call it in between only in long sessions.
    Do not send files, secrets, or whole tool outputs, and do not call it if the program that runs
    you logs sessions by itself. What memory tools returned may be in it: it is known again and not
    learned twice.
    Returns for each message, and for the episode, what became of it.
    """
    memory, actor = current().memory, current().actor
    where = scope_for(project, scope)
    session = said["session"]
    if not said.get("messages") and not ended:
        raise Invalid("there is nothing to log: send messages, or ended=true")
    receipts: list[Receipt] = []
    if said.get("messages"):
        receipts.append(await memory.observe(scope=where, actor=actor, **said))
    if ended:
        receipts.append(await memory.end(session, scope=where, outcome=outcome, actor=actor))
    return told_receipt(_together(receipts))


def _together(receipts: list[Receipt]) -> Receipt:
    return Receipt(
        items=tuple(item for receipt in receipts for item in receipt.items),
        change=receipts[-1].change,
        notes=tuple(dict.fromkeys(note for receipt in receipts for note in receipt.notes)),
    )
