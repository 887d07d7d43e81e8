"""LangGraph's namespaces and keys as scopes and tags, for its store and for its import."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from standfast.adapters.shelf import tag_of
from standfast.errors import Invalid
from standfast.scopes import PAIRS_MAX, make_scope

NAME = "langgraph"
SCOPE = "app:langgraph"
TEXT_CHARACTERS_MAX = 100_000

Namespace = tuple[str, ...]


def scope_below(scope: str, namespace: Namespace) -> str:
    """As deep as scopes go; what lies deeper is told apart by its key."""
    free = PAIRS_MAX - len(scope.split(":")) // 2
    pairs = scope_pairs(namespace)[:free]
    return f"{scope}:{make_scope(*pairs)}" if pairs else scope


def scope_pairs(namespace: Namespace) -> list[tuple[str, str]]:
    return [("ns", _label(label)) for label in namespace]


def prefix_tag(prefix: Namespace) -> str:
    """What all below a namespace are tagged with."""
    return tag_of(NAME, "in", *prefix)


def prefix_tags(namespace: Namespace) -> Iterator[str]:
    for depth in range(len(namespace) + 1):
        yield prefix_tag(namespace[:depth])


def key_of(namespace: Namespace, key: str) -> str:
    return json.dumps([*namespace, key], ensure_ascii=False)


def _label(label: str) -> str:
    """A label as the id of a scope; what cannot be one is named by its hash."""
    try:
        if not label.startswith("~"):
            make_scope(("ns", label))
            return label
    except Invalid:
        pass
    told = label.encode("utf-8", "surrogatepass")
    return "~" + hashlib.blake2b(told, digest_size=12).hexdigest()


def readable(value: Any, name: str = "") -> str:
    """The words of a value, a line for each field; of a single text, the text alone."""
    if isinstance(value, Mapping):
        if len(value) == 1 and not name:
            (only,) = value.values()
            if isinstance(only, str):
                return only
        return "\n".join(readable(part, f"{name}.{key}" if name else key)
                         for key, part in value.items())  # fmt: skip
    if isinstance(value, list | tuple):
        return "\n".join(readable(part, name) for part in value)
    return f"{name}: {value}" if name else str(value)
