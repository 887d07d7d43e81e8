"""Commands about models: those on this machine, and how well a language model does."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from standfast.interfaces.cli.output import UNAVAILABLE, print_json, print_lines
from standfast.interfaces.cli.progress import Progress
from standfast.interfaces.render import as_json, visible

if TYPE_CHECKING:
    from standfast.types.checks import ModelReport, Price1000, Score

IN_THE_BOX = "recall-2"
MISTAKES_SHOWN = 20
# What is judged, in the order it is told, and what a person reads.
PARTS = {
    "valid": "answers of the agreed form",
    "grounded": "facts that their messages say",
    "facts": "facts found",
    "supersedes": "changes seen (supersedes)",
    "corrects": "corrections seen (corrects)",
    "duplicate": "repetitions seen (duplicate)",
    "contradicts": "contradictions seen (contradicts)",
    "others": "other people's words left alone",
}


def model(arguments: argparse.Namespace) -> int:
    if arguments.action == "check":
        return _check(arguments)
    from standfast.wiring.models import model_status, pull_model

    name = arguments.name or IN_THE_BOX
    if arguments.action == "pull":
        pull_model(name, lambda said: print(said, file=sys.stderr))
    status = model_status(name)
    if arguments.json:
        print_json({"ready": status.ready, "detail": status.detail, "origin": status.origin})
    else:
        print(f"{name}: {status.detail}")
    return 0 if status.ready else UNAVAILABLE


def _check(arguments: argparse.Namespace) -> int:
    import asyncio

    from standfast.wiring.models import checked_model

    with Progress("asking", shown=not arguments.quiet) as progress:
        report = asyncio.run(
            checked_model(arguments.name, arguments.store, arguments.profile, progress)
        )
    if arguments.json:
        print_json(as_json(report))
    else:
        print_lines(_table(report, every=not arguments.quiet))
    return UNAVAILABLE if report.stopped else 0


def _table(report: ModelReport, *, every: bool) -> Iterator[str]:
    yield f"{visible(report.model)}: {report.questions} questions in {report.seconds:.1f} s"
    yield ""
    for part, said in PARTS.items():
        if part in report.scores:
            yield f"  {said:<36}{_share(report.scores[part])}"
    yield ""
    for kind, said in (("turn", "one turn at a time"), ("digest", "as a digest")):
        if kind in report.per_1000:
            yield _cost(said, report.per_1000[kind], priced=report.priced)
    if not report.priced:
        yield "  the price of this model is not known: set STANDFAST_MODEL_PRICE=in/out per million"
    if every and report.mistakes:
        yield from _mistakes(report)
    for note in report.notes:
        yield visible(f"# {note}")
    if report.stopped:
        yield visible(f"# stopped after {report.questions} questions: {report.stopped}")


def _share(score: Score) -> str:
    if not score.of:
        return "     -"
    return f"{100 * score.right / score.of:5.0f} %  {score.right} of {score.of}"


def _cost(said: str, price: Price1000, *, priced: bool) -> str:
    money = f"${price.cost:.2f}, " if priced else ""
    return (
        f"  1,000 messages {said} ({price.messages} in a question): {money}"
        f"{price.tokens_in:,.0f} tokens in, {price.tokens_out:,.0f} out, {price.seconds:,.0f} s"
    )


def _mistakes(report: ModelReport) -> Iterator[str]:
    yield ""
    yield "what went wrong (+ standfast's own checks keep it out of a memory):"
    for one in report.mistakes[:MISTAKES_SHOWN]:
        yield visible(f"  {'+' if one.held else ' '} {one.part}, {one.case}: {one.what}")
    left = len(report.mistakes) - MISTAKES_SHOWN
    if left > 0:
        yield f"    and {left} more: --json lists them all"
