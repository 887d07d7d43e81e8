"""Spans where somebody traces, and nothing where nobody does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from standfast import Memory


def test_C6_every_verb_is_a_span_without_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = pytest.importorskip("opentelemetry.trace", reason="opentelemetry-api is not installed")
    seen: list[str] = []

    class Tracer:
        @contextmanager
        def start_as_current_span(self, name: str) -> Iterator[None]:
            seen.append(name)
            yield

    monkeypatch.setattr(trace, "get_tracer", lambda _: Tracer())
    with Memory.open("dict:", embedder="hashing", background=False) as memory:
        memory.remember("I like tea")
        memory.recall("tea")
    assert seen == ["standfast.remember", "standfast.recall"]


def test_C6_without_it_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    with Memory.open("dict:", embedder="hashing", background=False) as memory:
        memory.remember("I like tea")
    assert "opentelemetry.trace" not in sys.modules
