"""A question that the server of the same store answers, because it has everything loaded."""

from __future__ import annotations

import argparse
from typing import Any

from recollect.interfaces import nearby
from recollect.interfaces.cli.options import given
from recollect.memory.arguments import verb_spec


def answered(arguments: argparse.Namespace) -> Any:
    """None if no server runs on this store with the same options, or if it has no answer."""
    from recollect.wiring import file_of

    file = file_of(arguments.store, arguments.profile)
    if file is None or arguments.key_file is not None:
        return None
    said = {argument.name: argument.default for argument in verb_spec(arguments.verb).arguments}
    asked = {name: one for name, one in given(arguments).items() if one != said.get(name)}
    question = {
        "verb": arguments.verb,
        "arguments": asked,
        "told": nearby.told(arguments.profile, arguments.embedder),
    }
    found = nearby.asked(file, question)
    if found is None:
        return None
    from recollect.interfaces.decode import reader_of

    return reader_of(arguments.verb)(found)
