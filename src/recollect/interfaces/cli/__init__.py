"""The command line ``recollect``: arguments in, one verb, a readable or JSON answer out."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from recollect.errors import RecollectError
from recollect.interfaces.cli.output import INTERRUPTED

__all__ = ["build_parser", "main"]


def build_parser() -> argparse.ArgumentParser:
    """The parser with every command. Made when it is needed: it reads the verbs' signatures."""
    from recollect.interfaces.cli import parser

    return parser.build_parser()


def main(argv: Sequence[str] | None = None) -> int:
    _tolerant_output()
    arguments = build_parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except RecollectError as error:
        _complain(arguments, error)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read us went away (head, less): no more to say, and nowhere to say it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _tolerant_output() -> None:
    """An emoji in a memory must not crash a terminal that cannot show it."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _complain(arguments: argparse.Namespace, error: RecollectError) -> None:
    kind = type(error).__name__
    if arguments.json:
        print(json.dumps({"error": kind, "message": str(error)}, ensure_ascii=False))
    print(f"recollect: {error}", file=sys.stderr)
