"""What a person gets to read who mistyped a command: one line, and what was probably meant."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NoReturn

WRONG = 2
# What the same is called elsewhere.
ELSEWHERE = {
    "add": "remember",
    "ask": "recall",
    "conflicts": "review",
    "delete": "forget",
    "find": "recall",
    "list": "records",
    "log": "history",
    "ls": "records",
    "query": "recall",
    "remove": "forget",
    "rm": "forget",
    "run": "serve",
    "save": "remember",
    "search": "recall",
    "show": "get",
    "start": "serve",
    "status": "stats",
    "store": "remember",
}

_CHOICE = re.compile(r"invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>.*)\)")
_NUMBER = re.compile(r"argument (?P<where>\S+): invalid (?P<kind>int|float) value: '(?P<given>.*)'")
_UNKNOWN = re.compile(r"unrecognized arguments: (?P<given>.*)")


class PlainParser(argparse.ArgumentParser):
    """Says one line instead of a page of usage. Half an option is no option: what is added later
    must not change what a script means."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **kwargs})
        self._later: list[Callable[[], None]] = []

    def add_subparsers(self, **kwargs: Any) -> Any:
        return super().add_subparsers(**{"parser_class": LaterParser, **kwargs})

    def later(self, fill: Callable[[], None]) -> None:
        """What it takes is made when somebody asks for it: of seventy commands, one is."""
        self._later.append(fill)

    def filled(self) -> PlainParser:
        later, self._later = self._later, []
        for fill in later:
            fill()
        return self

    def whole(self) -> PlainParser:
        """With all that it and its commands take."""
        for inner in _inside(self.filled()).values():
            inner.whole()
        return self

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        return super(PlainParser, self.filled()).parse_known_args(args, namespace)

    def format_help(self) -> str:
        return super(PlainParser, self.filled()).format_help()

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG, f"standfast: {self._plain(message)}\n")

    def _instead(self, given: str) -> str:
        """What whoever wrote a word too many may have meant."""
        if self._get_positional_actions():
            return "put a text of several words in quotes"
        options = self._option_string_actions
        for name in ("--scope", "--id") if ":" in given else ("--id", "--session"):
            if name in options:
                return f"write {name} {given}"
        return "it takes options only"

    def _plain(self, message: str) -> str:
        more = f"(`{self.prog} --help` shows what it takes)"
        if found := _CHOICE.search(message):
            known = re.findall(r"[\w.:-]+", found["known"])
            what = "command" if "COMMAND" in message or "ACTION" in message else "value"
            hint = _meant(ELSEWHERE.get(found["given"], found["given"]), known)
            where = message.partition(":")[0].removeprefix("argument ")
            where = "" if what == "command" else f" for {where}"
            listed = "" if hint or what == "command" else f"; it takes {', '.join(known)}"
            return f"there is no {what} {found['given']!r}{where}{hint}{listed} {more}"
        if found := _UNKNOWN.match(message):
            given = found["given"].split()[0]
            if given.startswith("-"):
                name = given.partition("=")[0]
                if any(name == f"--{one.dest}" for one in self._get_positional_actions()):
                    return f"{name[2:]!r} is given without {name!r} {more}"
                hint = _meant(name, [*self._option_string_actions])
                return f"there is no option {given!r}{hint} {more}"
            return f"{given!r} is one word too many; {self._instead(given)} {more}"
        if found := _NUMBER.fullmatch(message):
            kind = "a whole number" if found["kind"] == "int" else "a number"
            return f"{found['where']} takes {kind}, not {found['given']!r} {more}"
        if found := re.fullmatch(r"argument (\S+): expected one argument", message):
            return f"{found[1]} needs a value {more}"
        if missing := re.match(r"the following arguments are required: (.*)", message):
            names = missing[1].split(", ")
            are = "is" if len(names) == 1 else "are"
            return f"{' and '.join(names)} {are} missing {more}"
        return f"{message} {more}"

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As always, but what is left over is said by the command that it was given to."""
        given = sys.argv[1:] if args is None else args
        first = given[0].partition("=")[0] if given else ""
        if first.startswith("--") and first not in self._option_string_actions:
            self.error(f"unrecognized arguments: {given[0]}")
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            parser = self
            for word in given:
                parser = _inside(parser).get(word, parser)
            parser.error(f"unrecognized arguments: {' '.join(rest)}")
        return found


class LaterParser:
    """The parser of a command, made when it is first asked for anything but to take more: argparse
    takes longer to make all of them than a question takes to answer."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs
        self._said: list[Callable[[PlainParser], object]] = []
        self._parser: PlainParser | None = None

    def set_defaults(self, **values: Any) -> None:
        self._say(lambda parser: parser.set_defaults(**values))

    def add_argument(self, *names: str, **kwargs: Any) -> None:
        self._say(lambda parser: parser.add_argument(*names, **kwargs))

    def later(self, fill: Callable[[], None]) -> None:
        self._say(lambda parser: parser.later(fill))

    def _say(self, said: Callable[[PlainParser], object]) -> None:
        if self._parser is None:
            self._said.append(said)
        else:
            said(self._parser)

    def __getattr__(self, name: str) -> Any:
        if self._parser is None:
            self._parser = PlainParser(**self._kwargs)
            for said in self._said:
                said(self._parser)
        return getattr(self._parser, name)


def _inside(parser: argparse.ArgumentParser) -> dict[str, PlainParser]:
    """The commands of a command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _meant(given: str, known: list[str]) -> str:
    near = get_close_matches(given, known, n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
