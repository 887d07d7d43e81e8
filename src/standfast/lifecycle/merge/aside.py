"""Where in a sentence that stands which two statements both name: what ends or changes may be
something else, and that only its owner, its place, its doer or a part of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from standfast.lifecycle.merge.claims.clauses import expanded, reading
from standfast.lifecycle.merge.topic import Topic
from standfast.text.analysis import stem
from standfast.text.normal import fold
from standfast.text.words import pattern, word_set

_WEAK = re.compile(
    r"(?:was|were|got|been) |cancel|called|closed|crashed|left|shut|paused|on hold|ran "
    r"|(?:called|rained|cried|is|are|was|were) off\b"
)
_ONCE = re.compile(
    r"\b(?:today|yesterday|tonight|last night|this (?:time|morning|afternoon|evening|once)"
    r"|all weekend|because of|for (?:an? |half an |one |two )?(?:hours?|minutes?)"
    r"|for the (?:day|weekend|bank holiday|night))\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\W*(?:my|our|the) (?:\w+ )?(?:train|bus|flight|ferry|tram|class|lesson|session|meeting|game"
    r"|match|practice|lecture|call|appointment)s? (?:was|were|got) .*\bon \d{4}-\d\d-\d\d",
    re.IGNORECASE,
)
_LOST_ONE = re.compile(
    r"died|passed away|sold|rehomed|ran away|stolen|\\bleft\\b|moved out|dropped out"
)


def is_one_less(new: Topic, old: Topic) -> bool:
    """ "One of the goldfish died" to who has two of them."""
    return bool(_LOST_ONE.search(new.said)) and "number" in dict(old.values)


_OBJECT = frozenset("the a an my our their his her its one some another".split())


def is_instance(new: Topic) -> bool:
    """ "The 7:10 was cancelled this morning": what failed once goes on."""
    weak = new.change.kind == "ends" and _WEAK.search(new.change.cue)
    return bool(weak and (_ONCE.search(new.said) or _FAILED.match(new.said))) and not pattern(
        "changes.gone"
    ).search(new.change.cue.replace("left", ""))


def is_brief(new: Topic) -> bool:
    """ "My parents are away for a week, house to myself": what was so will be so again."""
    return _BRIEFLY.search(new.said) is not None


_BRIEFLY = re.compile(
    r"\b(?:am|is|are|'m|'s|'re) (?:away|out|off|gone|over|abroad|in [A-Z]\w+)\b.{0,20}"
    r"\bfor (?:a|the|one|a few|a couple of) (?:days?|nights?|weeks?|weekend|fortnight)\b",
    re.IGNORECASE,
)

_RETURN = re.compile(r"\bback (?:on|in|at|to|with) (?:the |my |our )?([\w'-]+)", re.IGNORECASE)
_FROM = re.compile(r"\b(?:along|around|at|behind|by|for|from|in|near|of|on|opposite|with)\b")


def is_return(new: Topic, shared: frozenset[str]) -> bool:
    """ "Back on the Peloton": who goes on with it has not ended it."""
    again = [plain(found[1]) for found in _RETURN.finditer(new.said)]
    return any(word in shared or stem(word) in shared for word in again)


def is_only_there(new: Topic, shared: frozenset[str], where_: re.Pattern[str] = _FROM) -> bool:
    """ "Deleted old mails from Gmail": what both name is where something else ended."""
    said = expanded(new.said)
    at = said.find(new.change.cue)
    what, where, rest = (
        _split_at(where_, said[at + len(new.change.cue) :]) if at >= 0 else ("",) * 3
    )
    ours = [plain(word) for word in f"{said[: max(at, 0)]} {new.change.cue} {what}".split()]
    object_ = {stem(plain(word)) for word in what.split()} & new.words
    named = any(word in shared or stem(word) in shared for word in ours)
    there = any(plain(word) in shared or stem(plain(word)) in shared for word in rest.split())
    aspect = bool({plain(word) for word in what.split()} & word_set("topics.aspects"))
    return bool(where) and bool(object_) and there and not named and not aspect


def _split_at(form: re.Pattern[str], text: str) -> tuple[str, str, str]:
    found = form.search(text)
    return (text[: found.start()], found[0], text[found.end() :]) if found else (text, "", "")


def is_done_by_it(new: Topic, shared: frozenset[str]) -> bool:
    """Whether what both name ended something else: "Halifax closed the branch"."""
    said = expanded(new.said)
    at = said.find(new.change.cue)
    before = [plain(word) for word in re.split(r"[,;.:]", said[: max(at, 0)])[-1].split()]
    rest = re.split(r"[,;.:]", said[max(at, 0) :], maxsplit=1)[0].split()
    after = [plain(word) for word in rest[1:6]] if at > 0 else []
    while after and reading(after[0], "past", "participle"):
        after = after[1:]
    if after and after[0] in _PARTICLES and new.change.kind == "changes":
        after = after[1:]
    mine = any(word in ("i", "we", "my", "our", "me", "us") for word in before)
    names = [word in shared or stem(word) in shared for word in before]
    others = not any(word in shared or stem(word) in shared for word in after)
    noun = bool(after) and (
        after[0] in _OBJECT or (new.change.cue.endswith("ed") and stem(after[0]) in new.words)
    )
    return any(names) and not mine and others and noun


_PARTICLES = frozenset("in on out off up down over back".split())


def is_owner(said: Sequence[str], shared: frozenset[str]) -> bool:
    """Whether what both name is only whose something is: "the Fiat's exhaust"."""
    places = [
        at for at, word in enumerate(said) if plain(word) in shared or stem(plain(word)) in shared
    ]
    return bool(places) and all(
        said[at].endswith("'s")
        and at + 1 < len(said)
        and plain(said[at + 1]) not in word_set("topics.aspects")
        and not reading(plain(said[at + 1]), "past", "participle")  # "Steph's left" has left
        for at in places
    )


def is_subject(said: Sequence[str], shared: frozenset[str]) -> bool:
    """Whether a sentence begins with what both name, and not with a part of it that stands for
    it ("the thesis topic")."""
    begun = [plain(word) for word in said[:4]]
    words_ = begun[1:] if begun[:1] == ["the"] else begun[:1]
    places = [at for at, word in enumerate(words_) if word in shared or stem(word) in shared]
    return bool(places) and not set(words_[places[-1] + 1 :]) & word_set("topics.aspects")


def is_part(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    """Whether all that both name only describes something else: "the Italian textbook"."""
    words_ = [plain(word) for word in new.said.split()]
    places = [at for at, word in enumerate(words_) if word in shared or stem(word) in shared]
    return bool(places) and all(
        at + 1 < len(words_)
        and not re.search(r"[,.;:!?]\Z", new.said.split()[at])
        and words_[at + 1].isalpha()
        and words_[at + 1] not in word_set("search.stop_words")
        and words_[at + 1] not in word_set("topics.aspects")
        and words_[at + 1] not in new.change.cue.casefold().split()
        and not words_[at + 1].endswith(("ly", "ed"))
        and not reading(words_[at + 1], "past", "participle")
        and stem(words_[at + 1]) in new.words - old.words
        for at in places
    )


def plain(word: str) -> str:
    return fold(word).strip('.,;:!?"()').removesuffix("'s")
