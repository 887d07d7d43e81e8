"""The command line ``standfast``: arguments in, one verb, a readable or JSON answer out."""

from __future__ import annotations

import argparse
import errno
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from standfast.errors import StandfastError, Unavailable

__all__ = ["build_parser", "main"]

INTERRUPTED, TERMINATED = 130, 143
UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # of what is printed into a file
SAFE = "what was answered before is kept"
# What is left of a long piece of work that was stopped in the middle.
STOPPED = {
    "backup": "nothing was written; start it again",
    "export": "nothing was written; start it again",
    "import": "what was read so far is kept; the same command goes on, and doubles nothing",
    "migrate": "the source is as it was; the same command goes on",
    "maintain": "what is not done yet is done in the next round",
    "observe": "what was written so far is kept, the rest is not",
    "reembed": "the store is as it was; the same command goes on",
    "remember": "whole hundreds are kept; the same command goes on, and doubles nothing",
    "restore": "the store is as it was, or whole as the backup has it",
}


@contextmanager
def loading() -> Iterator[None]:
    """For large imports: they make very many objects and no garbage, so that looking for some
    costs a tenth of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class Termination(KeyboardInterrupt):
    """SIGTERM: ends as Ctrl-C does, so that no temporary file stays behind."""


@contextmanager
def _handling_termination() -> Iterator[None]:
    """Servers put handlers of their own in its place."""

    def end(_: int, __: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a second one ends it at once
        raise Termination

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def build_parser() -> argparse.ArgumentParser:
    """The parser with every command. Made when it is needed: it reads the verbs' signatures."""
    from standfast.interfaces.cli import parser

    return parser.build_parser().whole()


def main(argv: Sequence[str] | None = None) -> int:
    _tolerant_output()
    try:
        with loading():
            from standfast.interfaces.cli import parser

        arguments = parser.build_parser().parse_args(argv)
    except KeyboardInterrupt:
        print("standfast: interrupted before it began", file=sys.stderr)
        return INTERRUPTED
    if arguments.config is not None:
        from standfast.wiring.configuration import choose_file

        choose_file(arguments.config)
    _warn_of_variables(arguments)
    try:
        with _handling_termination():
            code = _run(arguments)
        sys.stdout.flush()
        return code
    except StandfastError as error:
        _complain(arguments, error)
        return error.exit_code
    except KeyboardInterrupt as error:
        print(f"standfast: interrupted; {STOPPED.get(arguments.command, SAFE)}", file=sys.stderr)
        return TERMINATED if isinstance(error, Termination) else INTERRUPTED
    except BrokenPipeError:
        # Whoever read us went away (head, less): no more to say, and nowhere to say it.
        _say_no_more()
        return 0
    except OSError as error:
        if error.errno not in UNWRITTEN or error.filename is not None:
            raise
        _say_no_more()
        print(f"standfast: cannot print the answer: {error.strerror}", file=sys.stderr)
        return Unavailable.exit_code


def _say_no_more() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: argparse.Namespace) -> int:
    if arguments.key_file is None:
        code: int = arguments.run(arguments)
        return code
    from standfast.wiring.cipher import key_named

    with key_named(arguments.key_file):
        return int(arguments.run(arguments))


def _warn_of_variables(arguments: argparse.Namespace) -> None:
    """A setting that is misspelt would be ignored in silence. The server says it in its log."""
    from standfast.types.invisible import spelled_out
    from standfast.wiring.configuration import misspelt

    if arguments.command != "serve":
        for line in misspelt():
            print(f"standfast: warning: {spelled_out(line)}", file=sys.stderr)


def _tolerant_output() -> None:
    """An emoji in a memory must not crash a terminal that cannot show it."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _complain(arguments: argparse.Namespace, error: StandfastError) -> None:
    from standfast.types.invisible import spelled_out

    kind = type(error).__name__
    if arguments.json:
        said = json.dumps({"error": kind, "message": str(error)}, ensure_ascii=False)
        print(spelled_out(said))
    print(f"standfast: {spelled_out(str(error))}", file=sys.stderr)
