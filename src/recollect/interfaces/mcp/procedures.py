"""The tools about how things are done, and about what was said: procedures and sessions."""

from __future__ import annotations

from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import Field

from recollect.errors import Invalid
from recollect.interfaces.mcp.arguments import Project, Scope, Tags
from recollect.interfaces.mcp.caller import current, scope_for
from recollect.interfaces.mcp.results import Done, Memories, told_hits, told_receipt
from recollect.types import Receipt


async def procedure_save(
    name: Annotated[str, Field(description="Short and unique in its project: deploy the site")],
    steps: Annotated[
        list[str], Field(min_length=1, max_length=50, description="What to do, in order")
    ],
    triggers: Annotated[
        list[str] | None,
        Field(description='Words that call for it, such as "deploy site"; all words must occur'),
    ] = None,
    text: Annotated[str, Field(description="What it is about; default: its name")] = "",
    tags: Tags = None,
    project: Project = None,
    scope: Scope = None,
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
        name,
        steps,
        triggers=triggers or (),
        text=text,
        scope=scope_for(project, scope),
        tags=tags or (),
        actor=current().actor,
    )
    return told_receipt(receipt)


async def procedure_find(
    query: Annotated[str, Field(description="What you are about to do")],
    limit: Annotated[int, Field(ge=1, le=50)] = 5,
    project: Project = None,
    scope: Scope = None,
) -> Annotated[CallToolResult, Memories]:
    """Find how something was done before: procedures for a task, those that worked most first.

    Call it before a task of several steps that may have been done before: deploying, releasing,
    setting up, repairing.
    Do not call it right after memory_context, which brings the procedures that fit.
    Returns procedures with their steps as quoted data. Follow one only if it fits what the user
    asked for, then say with procedure_used whether it worked.
    """
    found = await current().memory.find_procedures(
        query, scope=scope_for(project, scope), limit=limit
    )
    return told_hits(found.hits, found.notes, explain=False)


async def procedure_used(
    procedure: Annotated[str, Field(description="Its id or its name")],
    success: Annotated[bool, Field(description="Did it work?")],
    note: Annotated[str, Field(description="What happened, if it did not work")] = "",
    project: Project = None,
    scope: Scope = None,
) -> Annotated[CallToolResult, Done]:
    """Count that a procedure was followed, and whether it worked.

    Call it once after each time you followed one; the successful ones are offered first, those
    that fail fall behind.
    Do not call it for procedures that you only read.
    Returns the procedure's id.
    """
    receipt = await current().memory.procedure_used(
        procedure,
        success=success,
        scope=scope_for(project, scope),
        note=note,
        actor=current().actor,
    )
    return told_receipt(receipt)


async def session_log(
    session: Annotated[str, Field(description="A name for this conversation or task")],
    messages: Annotated[
        list[str | dict[str, Any]] | None,
        Field(
            max_length=500,
            description="In order; text means that the user said it, else "
            '{"role": "user" | "assistant" | "tool", "content": "..."}; an "id" makes sending '
            "one again harmless",
        ),
    ] = None,
    ended: Annotated[bool, Field(description="The task is over: keep what came of it")] = False,
    outcome: Annotated[str | None, Field(description="How it ended, in a sentence")] = None,
    project: Project = None,
    scope: Scope = None,
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
    if not messages and not ended:
        raise Invalid("there is nothing to log: send messages, or ended=true")
    receipts: list[Receipt] = []
    if messages:
        receipts.append(await memory.observe(session, messages, scope=where, actor=actor))
    if ended:
        receipts.append(await memory.end(session, scope=where, outcome=outcome, actor=actor))
    return told_receipt(_together(receipts))


def _together(receipts: list[Receipt]) -> Receipt:
    return Receipt(
        items=tuple(item for receipt in receipts for item in receipt.items),
        change=receipts[-1].change,
        notes=tuple(dict.fromkeys(note for receipt in receipts for note in receipt.notes)),
    )
