"""A question that the server of the same store answers, because it has everything loaded."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from standfast.errors import StandfastError
from standfast.interfaces import nearby
from standfast.interfaces.cli.options import given
from standfast.memory.arguments import verb_spec

# Of what another program wrote, which may be anything.
MALFORMED = (StandfastError, ValueError, TypeError, KeyError, AttributeError, RecursionError)
UNREAD = "the server of this store answered what this version cannot read; asking the store itself"


def answered(arguments: argparse.Namespace) -> Any:
    """None if no server runs on this store with the same options, or if it has no answer."""
    from standfast.wiring import file_of, read_settings
    from standfast.wiring.cipher import key_from

    file = file_of(arguments.store, arguments.profile)
    if file is None or nearby.socket_of(file) is None:
        return None
    said = {argument.name: argument.default for argument in verb_spec(arguments.verb).arguments}
    asked = {name: one for name, one in given(arguments).items() if one != said.get(name)}
    question = {
        "verb": arguments.verb,
        "arguments": asked,
        "told": nearby.told(arguments.profile, arguments.embedder),
    }
    key = key_from(read_settings(profile=arguments.profile).key_file)
    try:
        found = nearby.asked(file, question, key)
        return None if found is None else _read(arguments.verb, found)
    except MALFORMED:
        print(f"standfast: warning: {UNREAD}", file=sys.stderr)
        return None


def _read(verb: str, found: Any) -> Any:
    from standfast.interfaces.decode import reader_of

    return reader_of(verb)(found)
