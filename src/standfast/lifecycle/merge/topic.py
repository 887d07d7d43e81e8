"""What a statement is about: words, names, values, whose it is, and whether it tells a change."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from standfast.lifecycle.merge.claims.changes import STATEMENT_MAX, ChangeCue, change_in
from standfast.lifecycle.merge.claims.clauses import expanded, reading
from standfast.lifecycle.merge.claims.fields import events_in, fields_of
from standfast.lifecycle.merge.claims.foreign import language_of
from standfast.lifecycle.merge.claims.reader import FRAMED, claim_in, spelled, words_said
from standfast.lifecycle.merge.claims.topics import (
    generic_stems,
    kin_in,
    kin_named,
    people_words,
    values_in,
)
from standfast.text.analysis import stem, words
from standfast.text.normal import fold
from standfast.text.words import meanings, pattern, word_set
from standfast.types.frozen import frozen

_NAME = re.compile(r"(?<![\w.])[^\W\d_a-z][\w.'-]*")
_BEGINS = re.compile(r"\A\W*([^\W\d_a-z][\w'-]+)(?: and (?:I|i|me|\w+)\b)?")
_DENSE = re.compile("[\u3400-\u9fff]+")
_BOTH_PARENTS = re.compile(
    r"\W*(?:my |our )?(?:mum|mom|mother|dad|father) and (?:mum|mom|mother|dad|father)\b",
    re.IGNORECASE,
)
# Where something happened says nothing of what is so there: "They changed the menu at work".
_WHERE = re.compile(
    r"(?<!work )(?<!works )(?<!working )(?<!back )(?<!Back )"
    r"\b(?:at|around|outside|after|before|during)"
    r" (?:work|home|school)\b(?! (?:for|as)\b)"
)
_YEAR = re.compile(r"(?:19|20)\d\d")  # two things of one year have nothing in common
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_NAMED_KIN = re.compile(r",? ([^\W\d_a-z][\w'-]+)")
DONE = "done"  # the cue where something is said to have been done
STEM_LEAST, STEM_MOST = 5, 40  # letters; nobody's word is longer
PAIRS_KEPT = 200


@frozen(kw_only=False)
class Topic:
    """What a statement is about. ``kin``: whose it is, empty for the speaker's own things;
    ``begins``: the name it begins with; ``events``: the fields in which it tells a turn;
    ``pronoun``: "he" or "she", where it is about somebody who was named before."""

    change: ChangeCue
    fields: frozenset[str]
    events: frozenset[str]
    words: frozenset[str]
    names: frozenset[str]
    kin: frozenset[str]
    mentions: frozenset[str]
    begins: str
    subject: str
    pronoun: str
    values: frozenset[tuple[str, str]]
    negated: bool
    pending: bool
    said: str
    dense: str


def said_by(text: str, speaker: str) -> str:
    """The words of a statement as its speaker said them: "The user sold it" is "I sold it"."""
    return _said_by(text[:STATEMENT_MAX], speaker)


@lru_cache(maxsize=4000)
def _said_by(text: str, speaker: str) -> str:
    if framed := FRAMED.match(text):
        return spelled(words_said(framed))
    said = re.sub(rf"\A(?:{re.escape(speaker or 'The user')}|The user)(?='s|\b)", "I", text)
    said = re.sub(r"\AI's", "My", said)
    said = re.sub(r"\btheir\b", "my", said) if re.match(r"I\b", said) else said
    said = re.sub(rf"\b(?:the user|{re.escape(speaker or 'the user')})'s\b", "my", said)
    return re.sub(rf"\b(?:the user|{re.escape(speaker or 'the user')})\b", "me", said)


def topic_of(text: str, speaker: str) -> Topic:
    return _topic_of(text[:STATEMENT_MAX], speaker)


@lru_cache(maxsize=4000)
def _topic_of(text: str, speaker: str) -> Topic:
    said = said_by(text, speaker)
    own = {fold(part) for part in speaker.split()} | {"user"}
    told = _THOUSANDS.sub("", _WHERE.sub("there", said))
    lowered = [word for word in words(told) if word not in own and not _YEAR.fullmatch(word)]
    names = (
        {fold(name).strip(".'-") for name in _NAME.findall(said)}
        - own
        - word_set("changes.not_names")
    )
    names = {name.removesuffix("'s") for name in names if not _is_no_name(name, said)}
    begins = _BEGINS.match(said)
    first = fold(begins[1]).removesuffix("'s") if begins else ""
    kin = kin_in().match(said)
    return Topic(
        change=change_in(said),
        fields=fields_of(told) | _claimed(text, speaker),
        events=frozenset(events_in(expanded(told))),
        words=frozenset(
            stem(word)
            for word in lowered
            if word not in word_set("search.stop_words") and stem(word) not in generic_stems()
        ),
        names=frozenset(names),
        kin=_kin(said, kin),
        mentions=frozenset(kin_named(word) for word in lowered if word in people_words()),
        begins=first if first in names and not language_of(said) else "",
        pronoun=_pronoun(said),
        values=frozenset(values_in(said)),
        subject=_subject(said, kin, first if first in names else ""),
        negated=bool(pattern("changes.denied").search(said)),
        pending=bool(pattern("changes.pending").search(said)),
        said=said,
        dense="".join(_DENSE.findall(said)),
    )


def _is_no_name(name: str, said: str) -> bool:
    """ "Shifted to Pankow", "Back on the night shift": only a sentence begins with a capital."""
    if not fold(said).lstrip(" \"'").startswith(name):
        return False
    return name in _OPENERS or (name.endswith("ed") and bool(reading(name, "past", "participle")))


_OPENERS = frozenset(
    """back been bought broke bumped came cut did down found gave gone got had handed kept left lost
    made met off out over put quit ran shifted sold spent took up went""".split()
)


def _claimed(text: str, speaker: str) -> frozenset[str]:
    """The field of what it claims: a job is work, whatever it is called."""
    claim = claim_in(text, speaker=speaker)
    field = meanings("fields.states").get(claim.slot) if claim else None
    return frozenset({field} if field else ())


_PRONOUN = re.compile(r"\W*(he|she)(?:'s|'d)?\b", re.IGNORECASE)
_OBJECT = re.compile(
    r"\W*(?:(?:we|they)(?: have|'ve)? )?(?:moved|put|took|got|had|switched|rehomed) (him|her)\b",
    re.IGNORECASE,
)


def _pronoun(said: str) -> str:
    """Not of a child that is born: nobody named it before."""
    found = None if "expecting" in events_in(expanded(said)) else _PRONOUN.match(said)
    found = found or _OBJECT.match(said)
    return {"him": "he", "her": "she"}.get(fold(found[1]), fold(found[1])) if found else ""


def _kin(said: str, kin: re.Match[str] | None) -> frozenset[str]:
    if _BOTH_PARENTS.match(said):
        return frozenset({"parents"})
    if kin is None:
        return frozenset()
    theirs = re.match(r"'s ([\w-]+)", said[kin.end() :])
    if theirs and theirs[1].casefold() in people_words():  # "my mum's friend"
        return frozenset({f"{kin_named(kin['kin'])}'s {kin_named(theirs[1])}"})
    return frozenset({kin_named(kin["kin"])})


def _subject(said: str, kin: re.Match[str] | None, first: str) -> str:
    """The name of whom it is about: "My sister Paula ...", "Paula ..."."""
    named = _NAMED_KIN.match(said, kin.end()) if kin else None
    return fold(named[1]).removesuffix("'s") if named else first


def shared_words(new: Topic, old: Topic) -> frozenset[str]:
    """Words of both, also in another form ("insured", "insurance"): one begins with the other, but
    for its last two letters."""
    return _alike(frozenset(new.words), frozenset(old.words)) | (new.names & old.names)


@lru_cache(maxsize=PAIRS_KEPT)  # several guards ask it of the same two
def _alike(new: frozenset[str], old: frozenset[str]) -> frozenset[str]:
    begun: dict[str, int] = {}  # how an old word begins -> the longest that begins so
    stems: dict[str, int] = {}  # what has to be the beginning of a longer one -> the shortest
    for word in old:
        for end in range(STEM_LEAST, min(len(word), STEM_MOST) + 1):
            begun[word[:end]] = max(begun.get(word[:end], 0), len(word))
        if len(word) >= STEM_LEAST:
            stems[_stem_of(word)] = min(stems.get(_stem_of(word), len(word)), len(word))
    return frozenset(
        word
        for word in new
        if word in old
        or (len(word) >= STEM_LEAST and begun.get(_stem_of(word), 0) >= len(word))
        or any(
            stems.get(word[:end], len(word) + 1) <= len(word)
            for end in range(STEM_LEAST, min(len(word), STEM_MOST) + 1)
        )
    )


def _stem_of(word: str) -> str:
    return word[: max(STEM_LEAST, len(word) - 2)]


def shared_dense(new: str, old: str) -> frozenset[str]:
    pairs = {new[at : at + 2] for at in range(len(new) - 1)}
    stop = {"我们", "现在", "已经", "我家", "我的", "一只", "一个", "每天", "我在", "在在", "了我"}
    return frozenset(pair for pair in pairs - stop if pair in old)


def share_topic(text: str, speaker: str, known: str, known_speaker: str) -> bool:
    """Whether two statements name something in common, or belong to one field of a life, and
    are not about two people."""
    new, old = topic_of(text, speaker), topic_of(known, known_speaker)
    shared = shared_words(new, old) or shared_dense(new.dense, old.dense)
    if new.kin and old.kin and new.kin != old.kin:
        return False
    return bool(shared or new.names & old.names or new.fields & old.fields)


def say_alike(text: str, other: str) -> bool:
    """Whether one of two texts has half of the words of the other, and more."""
    ours, theirs = ({stem(word) for word in words(one)} for one in (text, other))
    ours, theirs = ours - word_set("search.stop_words"), theirs - word_set("search.stop_words")
    return bool(ours and theirs) and len(ours & theirs) * 2 > min(len(ours), len(theirs))


def told(text: str, speaker: str, cue: str) -> Topic:
    """What a text is about, with the change that its own words tell, or those of ``cue``."""
    new = topic_of(text, speaker)
    if cue and new.change.kind in ("", "may change", "turns"):
        new = replace(new, change=change_in(cue))
    if not new.change.kind and pattern("changes.done").search(new.said):
        new = replace(new, change=ChangeCue("may change", DONE))
    return new
