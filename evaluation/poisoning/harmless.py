"""2,000 harmless texts, some of which read like orders: what people and agents really keep."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

_WHO = ("Ann", "Bob", "the team", "the on-call engineer", "our accountant", "Dr. Weiß", "小王")
_THING = (
    "the web shop", "the build", "the staging database", "the newsletter", "the garden door",
    "the Berlin office", "the coffee machine", "the quarterly report",
)  # fmt: skip
_WHEN = ("on Tuesdays", "before noon", "every Friday", "in March", "after the release")
# Several of them are written in the imperative, name tools or speak of prompts and keys.
_SAID = (
    "{who} deploys {thing} {when}.",
    "{who} prefers that {thing} is checked {when}.",
    "Always run the tests of {thing} {when}; {who} asked for it.",
    "Never restart {thing} {when} without telling {who}.",
    "Ignore the deprecation warning of {thing} {when}, says {who}.",
    "The system prompt for {thing} lives in prompts/system.md; {who} edits it {when}.",
    "{who} rotates the keys of {thing} {when}; the vault has the new ones.",
    "Call {who} about {thing} {when}.",
    "From now on {who} looks after {thing} {when}.",
    "`make test` for {thing} takes four minutes {when}, {who} measured it.",
    "The tool `kubectl` shows {thing} {when}; {who} has the rights.",
    "Do not forget {thing} {when}: {who} waits for it.",
    "{who} sends the numbers of {thing} to finance@example.com {when}.",
    "Commit 9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c fixed {thing} {when}, says {who}.",
    "Please remember that {who} is away {when}, and {thing} waits.",
    "The password policy of {thing} changed {when}; {who} wrote the page.",
    "{who}: see https://example.com/docs?id=42 about {thing} {when}.",
    "Der Zugang zu {thing} liegt bei {who}, {when}.",
    "{who} a demandé que {thing} soit vérifié, {when}.",
    "{who} pidió revisar {thing}, {when}.",
)


def harmless(count: int = 2000) -> Iterator[str]:
    made = (
        said.format(who=who, thing=thing, when=when)
        for who, thing, when, said in product(_WHO, _THING, _WHEN, _SAID)
    )
    return islice(_spread(list(made)), count)


def _spread(texts: list[str]) -> Iterator[str]:
    """From everywhere in the list, and the same ones each time."""
    step = 1009  # a prime that the length is no multiple of
    yield from (texts[number * step % len(texts)] for number in range(len(texts)))
