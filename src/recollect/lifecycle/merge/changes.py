"""What a statement of a change or an end is to what is known.

Where both statements make a claim about the same slot, the slot decides. Everything else people say
has no slot: what it is about is told by its words, its names and the field of life it belongs to.
A change replaces what it surely concerns; an enrichment is no change, and what is about somebody
else is left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from recollect.text.analysis import stem, words
from recollect.text.claims.changes import ChangeCue, change_in
from recollect.text.claims.fields import fields_of, slots_of
from recollect.text.claims.foreign import language_of
from recollect.text.claims.lessons import CHANGE, KEPT
from recollect.text.claims.permanence import spelled
from recollect.text.claims.topics import (
    generic_stems,
    is_single,
    kin_in,
    kin_named,
    kinds_of_things,
    people_words,
    states_of,
    values_in,
)
from recollect.text.normal import fold
from recollect.text.words import pattern, word_set
from recollect.types import Record

_FRAMED = re.compile(r"[^\n\":]{1,80}? (?:said|asks|asked to remember): \"(?P<said>.+)\"")
_NAME = re.compile(r"(?<![\w.])[^\W\d_a-z][\w.'-]*")
_BEGINS = re.compile(r"\A\W*([^\W\d_a-z][\w'-]+)(?: and (?:I|i|me|\w+)\b)?")
_DENSE = re.compile("[\u3400-\u9fff]+")
_NAMED_KIN = re.compile(r",? ([^\W\d_a-z][\w'-]+)")
_DONE_CUE = "done"


@dataclass(frozen=True, slots=True)
class Topic:
    """What a statement is about. ``kin``: whose it is, empty for the speaker's own things;
    ``begins``: the name it begins with."""

    change: ChangeCue
    fields: frozenset[str]
    words: frozenset[str]
    names: frozenset[str]
    kin: frozenset[str]
    mentions: frozenset[str]
    begins: str
    subject: str
    values: frozenset[tuple[str, str]]
    negated: bool
    pending: bool
    said: str
    dense: str


@lru_cache(maxsize=4000)
def topic_of(text: str, speaker: str) -> Topic:
    framed = _FRAMED.match(text)
    said = spelled(framed["said"]) if framed else text
    own = {fold(part) for part in speaker.split()} | {"user"}
    if not framed:
        said = re.sub(rf"\A(?:{re.escape(speaker or 'The user')}|The user)(?='s|\b)", "I", said)
        said = re.sub(r"\AI's", "My", said)
        said = re.sub(r"\btheir\b", "my", said) if re.match(r"I\b", said) else said
        said = re.sub(rf"\b(?:the user|{re.escape(speaker or 'the user')})'s\b", "my", said)
        said = re.sub(rf"\b(?:the user|{re.escape(speaker or 'the user')})\b", "me", said)
    lowered = [word for word in words(said) if word not in own]
    names = (
        {fold(name).strip(".'-") for name in _NAME.findall(said)}
        - own
        - word_set("changes.not_names")
    )
    names = {name.removesuffix("'s") for name in names}
    begins = _BEGINS.match(said)
    first = fold(begins[1]).removesuffix("'s") if begins else ""
    kin = kin_in().match(said)
    return Topic(
        change=change_in(said),
        fields=fields_of(said),
        words=frozenset(
            stem(word)
            for word in lowered
            if word not in word_set("search.stop_words") and stem(word) not in generic_stems()
        ),
        names=frozenset(names),
        kin=frozenset({kin_named(kin["kin"])}) if kin else frozenset(),
        mentions=frozenset(kin_named(word) for word in lowered if word in people_words()),
        begins=first if first in names and not language_of(said) else "",
        values=_values(said),
        subject=_subject(said, kin, first if first in names else ""),
        negated=bool(pattern("changes.denied").search(said)),
        pending=bool(pattern("changes.pending").search(said)),
        said=said,
        dense="".join(_DENSE.findall(said)),
    )


def _subject(said: str, kin: re.Match[str] | None, first: str) -> str:
    """The name of whom it is about: "My sister Paula ...", "Paula ..."."""
    named = _NAMED_KIN.match(said, kin.end()) if kin else None
    return fold(named[1]).removesuffix("'s") if named else first


def _values(said: str) -> frozenset[tuple[str, str]]:
    return frozenset(
        (kind, fold(found[0])) for kind, form in values_in() for found in form.finditer(said)
    )


def replaces(text: str, speaker: str, known: str, known_speaker: str, cue: str = "") -> str:
    """Why a statement takes the place of a known one of the same speaker; "" if it does not.
    ``cue``: words of a change that were said, and are not in the text."""
    new = topic_of(text, speaker)
    if cue and new.change.kind in ("", "may change"):
        new = replace(new, change=change_in(cue))
    if not new.change.kind and pattern("changes.done").search(new.said):
        new = replace(new, change=ChangeCue("may change", _DONE_CUE))
    if not new.change.kind or pattern("changes.planned").search(new.said):
        return ""
    old = topic_of(known, known_speaker)
    if new.begins and new.begins == old.begins and not fields_of(new.begins):
        new, old = _without_subject(new), _without_subject(old)
    shared = _shared(new, old)
    if _is_over(old) or not _same_people(new, old, shared):
        return ""
    if new.dense and old.dense and not shared:
        shared = _shared_dense(new.dense, old.dense)
    check = {"ends": _ends, "changes": _changes, "may change": _may_change}[new.change.kind]
    return f"it says that this has changed ({new.change.cue})" if check(new, old, shared) else ""


def _without_subject(topic: Topic) -> Topic:
    """Whom both are about says nothing about what they say of them."""
    gone = frozenset({topic.begins, stem(topic.begins)})
    return replace(topic, words=topic.words - gone, names=topic.names - gone, begins="")


def _is_over(old: Topic) -> bool:
    """Whether the known statement tells an end itself, and not a state such as "divorced"."""
    states = any(states_of(name) & old.words for name in old.fields)
    return old.change.kind == "ends" and not states and "not" not in old.change.cue


def _shared(new: Topic, old: Topic) -> frozenset[str]:
    alike = {word for word in new.words for other in old.words if _is_alike(word, other)}
    return frozenset(alike) | (new.names & old.names)


def _is_alike(word: str, other: str) -> bool:
    """The same word in another form: "insured", "insurance"."""
    if word == other:
        return True
    shorter, longer = sorted((word, other), key=len)
    return len(shorter) >= 5 and longer.startswith(shorter[: max(5, len(shorter) - 2)])


def _shared_dense(new: str, old: str) -> frozenset[str]:
    pairs = {new[at : at + 2] for at in range(len(new) - 1)}
    stop = {"我们", "现在", "已经", "我家", "我的", "一只", "一个", "每天", "我在", "在在", "了我"}
    return frozenset(pair for pair in pairs - stop if pair in old)


def _same_people(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    if new.kin and old.kin:
        family = "expecting" in new.fields & old.fields and "born" not in old.words
        return (
            new.kin == old.kin
            or family
            or bool(
                new.kin <= word_set("topics.partners") and old.kin <= word_set("topics.partners")
            )
        )
    if new.kin and not new.kin <= word_set("topics.neutral"):
        named = bool(new.kin & old.mentions) or bool(new.names & old.names)
        named = named or (
            new.kin <= word_set("topics.partners") and "partner" in new.fields & old.fields
        )
        return (
            named
            or bool(new.fields & old.fields & {"expecting", "children", "pet"})
            or (
                "home" in new.fields & old.fields
                and "with" in new.change.cue + " in with"
                and new.kin <= word_set("topics.partners")
            )
        )
    if old.kin and not old.kin <= word_set("topics.neutral"):
        if new.begins and new.begins in old.names:
            return True
        owned = bool(old.kin & new.mentions) or bool(new.names & old.names)
        return owned or (
            old.kin <= word_set("topics.partners") and bool({"partner", "expecting"} & new.fields)
        )
    if new.begins and new.begins not in old.names and new.begins not in old.words:
        return len(shared) >= 1 or "expecting" in new.fields & old.fields
    return True


def _new_values(new: Topic, old: Topic) -> bool:
    return bool(new.values - old.values) or bool(new.names - old.names)


def _of_same_type(new: Topic, old: Topic) -> bool:
    """Whether the new statement has another day, number or time where the known one has one."""
    ours, theirs = dict(new.values - old.values), dict(old.values - new.values)
    return bool(ours.keys() & theirs.keys())


def _about(new: Topic, old: Topic, shared: frozenset[str]) -> frozenset[str]:
    """What both name, beside whom they are about."""
    people = new.kin | {new.begins, old.subject, stem(new.begins), stem(old.subject)}
    return (
        shared - people
        if old.subject and old.subject in (new.begins, new.subject)
        else shared - new.kin
    )


def _ends(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    about = _about(new, old, shared)
    if about or (shared and pattern("changes.gone").search(new.change.cue)):
        return True
    if new.change.cue.casefold() == "used to":
        return False
    fields = new.fields & old.fields
    return is_single(fields) or "study" in fields or ("sport" in fields and _new_values(new, old))


def _changes(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    fields = new.fields & old.fields
    about = _about(new, old, shared)
    if is_single(fields) or len(about) > 1:
        return True
    if about and (_new_values(new, old) or _of_same_type(new, old) or old.negated or old.pending):
        return True
    if _of_same_type(new, old) and (
        fields - {"tool", "language"} or (new.kin and new.kin == old.kin)
    ):
        return True
    if shared and new.names & old.names and fields:
        return True
    return bool(fields & word_set("topics.switched")) and _same_kind_of_thing(new, old)


def _same_kind_of_thing(new: Topic, old: Topic) -> bool:
    ours = {kind for kind, known in kinds_of_things().items() if known & (new.words | new.names)}
    theirs = {kind for kind, known in kinds_of_things().items() if known & (old.words | old.names)}
    return bool(ours & theirs) or not (ours and theirs)


def _may_change(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    """A weak cue needs more: another state of the field, another value where the known one has
    one, or the opposite of what is known."""
    fields = new.fields & old.fields
    about = _about(new, old, shared)
    if new.change.cue == _DONE_CUE:
        return bool(about) and old.pending
    for name in fields:
        ours, theirs = states_of(name) & new.words, states_of(name) & old.words
        if ours and theirs and ours != theirs:
            return True
    now = bool(pattern("changes.now").match(new.change.cue))
    if now and (fields & word_set("topics.now_fields") or _same_frame(new.said, old.said)):
        return True
    if now and "study" in fields and (new.kin & old.mentions or old.kin & new.mentions):
        return True
    if "children" in fields and _of_same_type(new, old):
        return True
    if not about:
        return False
    if _of_same_type(new, old) or new.negated != old.negated:
        return True
    if not now:
        return False
    if fields & word_set("topics.one_of") or (new.begins and new.begins in old.names and fields):
        return True
    named = bool(new.names - old.names) and bool(old.names - new.names or fields)
    return named or (len(about) > 1 and bool(fields))


_SAME_WORDS = 3


def _same_frame(said: str, known: str) -> bool:
    """Whether both begin with the same words: "My son wants to be a ..."."""
    ours, theirs = said.casefold().split(), known.casefold().split()
    common = 0
    for one, other in zip(ours, theirs, strict=False):
        if one.strip(".,!") != other.strip(".,!"):
            break
        common += 1
    verbs = set(ours[:common])
    return common >= _SAME_WORDS and not verbs & word_set("changes.many") and common < len(theirs)


def denies(text: str) -> bool:
    """Whether a text says that something is not so."""
    return bool(pattern("changes.denied").search(text))


# Finding what may be concerned


def tells_change(record: Record) -> bool:
    """Whether a record tells a change of anything."""
    topic = topic_of(record.text, record.author)
    return bool(
        record.data.get(CHANGE) or topic.change.kind or pattern("changes.done").search(topic.said)
    )


def tags_of_change(record: Record) -> tuple[str, ...]:
    """The tags of learned records of the same fields, and of those that were kept as said."""
    fields = topic_of(record.text, record.author).fields
    return (KEPT, *slots_of(fields))
