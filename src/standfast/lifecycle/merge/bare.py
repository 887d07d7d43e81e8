"""A new value, and no word of what it is a value of: "down to 85", "slipped to the 17th"."""

from __future__ import annotations

from standfast.lifecycle.merge.aside import plain
from standfast.lifecycle.merge.claims.topics import are_near
from standfast.lifecycle.merge.topic import Topic
from standfast.text.analysis import stem
from standfast.text.words import word_set


def is_bare(new: Topic) -> bool:
    """ "Down to 85", "slipped to the 17th", "moved over to Zen": a new value, and no word of what
    it is a value of."""
    said = {stem(plain(word)) for word in new.change.cue.split()}
    left = (
        new.words - said - new.names - word_set("changes.bare") - {value for _, value in new.values}
    )
    if new.kin or new.change.kind == "ends" or left - {plain(word) for word in new.names}:
        return False
    if new.names and (" from " in new.said or _fields_but_events(new)):
        return False  # it says what it was before, or what it is
    return bool(measured(new)) != bool(new.names) and not new.pronoun


def _fields_but_events(topic: Topic) -> frozenset[str]:
    return topic.fields - topic.events - {"home"}  # "moved over to" is no home


def measured(topic: Topic) -> dict[str, str]:
    return {kind: value for kind, value in topic.values if kind in ("number", "time")}


def fits_bare(new: Topic, old: Topic) -> bool:
    """Whether a bare value may take the place of the one that a known statement has."""
    if new.names:
        return (
            bool(old.names)
            and bool(old.fields & word_set("topics.switched"))
            and not (new.names & old.names)
        )
    ours, theirs = measured(new), measured(old)
    both = [kind for kind in ours if kind in theirs and ours[kind] != theirs[kind]]
    return any(kind == "time" or are_near(ours[kind], theirs[kind]) for kind in both)
