"""Rendering: a clause as a statement that can be read alone.

An English clause about its speaker, or about somebody who is named in its message, is put into the
third person. Any other clause stays as it was said, the way a newspaper quotes: with the speaker,
with the question that it answers, and with help in brackets where a pronoun means somebody.
Every composed text is held against its message by the origin check; the quotation is what is kept
where that fails.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from standfast.text.dates import Span
from standfast.text.expressions import later
from standfast.text.normal import one_line
from standfast.text.origin.composition import speaker_of
from standfast.text.origin.words import language_of, readable, tokens
from standfast.text.words import meanings
from standfast.types import Message
from standfast.types.frozen import frozen
from standfast.understanding.reading.clauses import Clause
from standfast.understanding.reading.verbs import is_base, is_finite, third_person

ENGLISH = "en"
ASKED_CHARACTERS_MAX = 300
SURE = 0.8  # of a subject that is written where the clause does not say it
FEW_WORDS = 4  # that say nothing alone, where none of them is a verb
BARE_WORDS = 2  # that answer a question, whatever else a message says
JOINING_CHARACTERS_MAX = 4  # between a clause and what belongs to it
LEADING_CHARACTERS_MAX = 120

_SUBJECT = later(r"I(?P<ending>'(?:m|ve|ll|d))?(?= )")
_ADVERB = later(
    r"(?:also|always|never|really|just|now|still|usually|only|already|often|sometimes|\w+ly) "
)
_WORD = later(r"[^\W\d_]+(?:'[a-z]+)?")
_JOINED = later(r"\b(?:and|or|but|then) (?:also |then |always |never )?([a-z]+)")
_OWN = later(r"(?<![\w'-])(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Oo]ur|[Oo]urs)(?![\w-])")
_OWN_VERB = later(r"(?<![\w'])I(?: (?:am|was)|'m)(?!\w)")
_MINE = later(r"[Mm]ine\b|[Oo]urs\b")
_TEAM = later(r"(?<![\w'])(?:[Ww]e|[Uu]s|[Oo]urselves|[Yy]our?|[Yy]ours)(?![\w-])")
_PRONOUN = later(r"(?P<word>[Hh]e|[Ss]he|[Ii]t|[Tt]hey)(?P<ending>'\w+)?\b")
_DEMONSTRATIVE = later(r"[Tt]h(?:is|at|ese|ose)(?:'s)? (?:is|was|are|were|the|an?|why|how|when)\b")
_TRAILING = later(r",? (?:btw|lol|haha|tbh|imo|anyway)$")
_POSSESSIVE = later(r"(?:[Hh]is|[Hh]er|[Ii]ts|[Tt]heir) (?=\w)")
_HAS = later(r" (?:been|got|had)\b")
_RATHER = later(r" (?:rather|love|like|prefer|sooner)\b")
_SENTENCE = later(r"[^.!?。！？\n]*[^.!?。！？\n\s][^.!?。！？\n]*[.!?。！？]*")
_TIMED = later(r"\A(?:on|in|from) ")
# Prepositions that a date follows without another: "since 2026-11-07".
_BEFORE_TIME = frozenset("to from of for by until till around since before after on in is".split())
_REDACTED = "[redacted:"  # as ``standfast.text.redact`` writes it
_OPENED = {")": "(", "]": "["}
_EDGES = " \t\n.,;:!。，；-–—"


@frozen
class Rendering:
    """``text``: the statement; "" where there is only the quotation. ``leans_on``: the quotation
    has words of the line before."""

    text: str
    quoted: str
    leans_on: bool = False


def render(
    clause: Clause,
    message: Message,
    previous: Message | None,
    spans: Sequence[Span],
    before: Clause | None = None,
) -> Rendering:
    """``previous``: the line before the message; ``spans``: the times that the clause names;
    ``before``: the clause before it."""
    said = readable(words_of(message.text, clause)).strip(_EDGES)
    asked = _asked(clause, message, previous)
    is_english = _is_english(said, message)
    clause = _about_speaker(clause, said) if is_english else clause
    unclear = asked or _is_unsure(clause, said)
    subject = "" if unclear else _subject_to_help(clause, said, is_english)
    leading = "" if asked or subject else _leading(clause, said, message.text, before)
    quoted = _quoted(clause, said, message, asked, subject or leading, spans)
    leans_on = bool(asked or (subject and clause.subject_in == "previous"))
    is_quoted = clause.label == "ORDER" or leans_on or leading or not is_english
    if is_quoted or clause.subject_in == "previous":
        return Rendering(text="", quoted=quoted, leans_on=leans_on)
    return Rendering(text=_composed(clause, said, message, spans), quoted=quoted)


def words_of(text: str, clause: Clause) -> str:
    """The words of a clause, with the bracket that closes one it opened, or with the mark of what
    was taken out behind it: two of those are never one."""
    said = text[clause.start : clause.end]
    if text[clause.end :].lstrip().startswith(_REDACTED):
        return text[clause.start : text.find("]", clause.end) + 1] or said
    behind = text[clause.end : clause.end + 1]
    return (
        said + behind
        if behind in _OPENED and said.count(_OPENED[behind]) > said.count(behind)
        else said
    )


def _is_english(said: str, message: Message) -> bool:
    return is_english_text(said) if language_of(tokens(said)) else is_english_text(message.text)


def is_english_text(text: str) -> bool:
    """Few words have no small one among them: then their verb is to be an English one."""
    language = language_of(tokens(text))
    return language == ENGLISH or (not language and text.isascii())


# As it was said


def _quoted(
    clause: Clause,
    said: str,
    message: Message,
    asked: str,
    subject: str,
    spans: Sequence[Span],
) -> str:
    words = _with_help(one_line(said).replace('"', "'"), subject)
    verb = " asks" if clause.label == "ORDER" else ""
    question = f', asked "{asked}"{"," if verb else ""}' if asked else ""
    return f'{speaker_of(message)}{question}{verb}: "{words}"{_dates(spans)}'


def _about_speaker(clause: Clause, said: str) -> Clause:
    """ "I ..." is about the speaker, whatever else is named."""
    own = _SUBJECT.match(said) and clause.label != "ORDER"
    return replace(clause, subject="me", subject_in="fixed") if own else clause


def _subject_to_help(clause: Clause, said: str, is_english: bool) -> str:
    """Whom a clause means that begins with a pronoun, or with a verb; "" where it says that. In
    other languages only what its own message names."""
    subject = one_line(readable(clause.subject))
    if clause.subject_in == "fixed" or subject.casefold() in said.casefold():
        return ""
    if _PRONOUN.fullmatch(subject) or "[" in subject or "]" in subject:
        return ""
    if not is_english:
        return subject if clause.subject_in == "message" else ""
    points = _PRONOUN.match(said) or _POSSESSIVE.match(said)
    return subject if points or _is_verb(said) else ""


def _leading(clause: Clause, said: str, text: str, before: Clause | None) -> str:
    """The words just before a few that say nothing alone ("400 kg a week"), or that point back
    ("that's the law"); "" before a clause that needs none."""
    if before is None or clause.label == "ORDER" or not is_english_text(text):
        return ""
    if _SUBJECT.match(said) or _TEAM.match(said):
        return ""
    words = _WORD.findall(said)
    few = len(said.split()) <= FEW_WORDS and not any(map(is_finite, words))
    near = len(text[before.end : clause.start].strip(_EDGES)) <= JOINING_CHARACTERS_MAX
    if not near or not (few or _DEMONSTRATIVE.match(said)):
        return ""
    leading = one_line(readable(text[before.start : before.end])).strip(_EDGES)
    fits = len(leading) <= LEADING_CHARACTERS_MAX and not any(mark in leading for mark in '[]"')
    return leading if fits else ""


def _with_help(said: str, subject: str) -> str:
    """ "she [Priya] is allergic to nuts"; "[the orders table] is partitioned by month"."""
    if not subject:
        return said
    if found := _PRONOUN.match(said) or _POSSESSIVE.match(said):
        word = found[0].rstrip()
        return f"{word} [{subject}]{said[len(word) :]}"
    return f"[{subject}] {said}"


def _dates(spans: Sequence[Span]) -> str:
    notes = [
        f"{one.phrase.strip(' .,')}: {_TIMED.sub('', one.written())}"
        for one in spans
        if one.relative
    ]
    return f" ({'; '.join(dict.fromkeys(notes))})" if notes else ""


def _asked(clause: Clause, message: Message, previous: Message | None) -> str:
    """The last question of somebody else in the line before it, or its last sentence. A word or
    two with which a message begins answer a question, too."""
    if previous is None or (previous.role, previous.author) == (message.role, message.author):
        return ""
    parts = [one.strip() for one in _SENTENCE.findall(readable(previous.text)) if one.strip()]
    questions = [one for one in parts if one[-1] in "?？"]
    begins = not message.text[: clause.start].strip(_EDGES)
    bare = begins and len(message.text[clause.start : clause.end].split()) <= BARE_WORDS
    if not clause.answers and not (bare and parts and parts[-1] in questions):
        return ""
    asked = one_line((questions or parts or [""])[-1]).replace('"', "'")
    return asked[-ASKED_CHARACTERS_MAX:]


# In the third person


def _composed(clause: Clause, said: str, message: Message, spans: Sequence[Span]) -> str:
    """ "" where no simple edit gives an English sentence."""
    said = _TRAILING.sub("", said)
    if '"' in said or "\n" in said or _TEAM.search(said) or clause.subject in ("we", "you"):
        return ""
    if _MINE.match(said) or not any(is_finite(one) for one in _WORD.findall(said)):
        return ""
    speaker = speaker_of(message)
    if _PRONOUN.fullmatch(clause.subject) or _is_unsure(clause, said):
        return ""
    if clause.subject == "me":
        text = _of_speaker(said, speaker)
    else:
        text = _of_other(said, readable(clause.subject), speaker)
    if not text or _OWN.search(text):
        return ""
    text = _dated(text, spans)
    return f"{text[:1].upper()}{text[1:]}."


def _is_unsure(clause: Clause, said: str) -> bool:
    """Whether a subject would have to be written that may be another."""
    written = clause.subject_in != "fixed" and clause.subject.casefold() not in said.casefold()
    return written and clause.subject_share < SURE


def _of_speaker(said: str, speaker: str) -> str:
    said = f"I{said[1:]}" if said[:2] in ("i ", "i'") else said
    if found := _SUBJECT.match(said):
        verb = _finite(found["ending"] or "", said[found.end() :])
        return f"{speaker}{_in_third_person(verb, 'their', 'them')}" if verb else ""
    if _OWN.match(said):  # "my commute is 40 minutes"
        return _in_third_person(said, f"{speaker}'s", "them", first=True)
    verb = _finite("", f" {said}") if _is_verb(said) else ""
    return f"{speaker}{_in_third_person(verb, 'their', 'them')}" if verb else ""


def _of_other(said: str, subject: str, speaker: str) -> str:
    own = speaker if speaker != "The user" else "the user"
    if subject.casefold() not in said.casefold():
        said = _with_subject(said, subject)
    return _in_third_person(said, f"{own}'s", own) if said else ""


def _with_subject(said: str, subject: str) -> str:
    """The subject in the place of a pronoun, or before a verb that has none."""
    if found := _PRONOUN.match(said):
        rest = said[found.end() :]
        ending = found["ending"] or ""
        verb = {"'s": " has" if _HAS.match(rest) else " is", "'re": " are", "": ""}.get(ending)
        return "" if verb is None else f"{subject}{verb}{rest}"
    if found := _POSSESSIVE.match(said):
        return f"{subject}'s {said[found.end() :]}"
    first = _WORD.match(said)
    if first is None or is_base(first[0]) or not _is_verb(said):
        return ""
    return f"{subject} {said}"


def _is_verb(said: str) -> bool:
    """Whether a clause without a subject begins with a verb that has one."""
    found = _WORD.match(_ADVERB.sub("", said, count=1))
    return found is not None and bool(third_person(found[0])) and not found[0][:1].isupper()


def _finite(ending: str, rest: str) -> str:
    """What follows "I" as it follows "she"; "" where that is not sure."""
    if ending:
        if ending == "'d" and not _RATHER.match(rest):
            return ""
        return {"'m": " is", "'ve": " has", "'ll": " will", "'d": " would"}[ending] + rest
    start = 1
    while found := _ADVERB.match(rest, start):
        start = found.end()
    verb = _WORD.match(rest, start)
    form = third_person(verb[0]) if verb else ""
    if not verb or not form:
        return ""
    if form != verb[0] and any(is_base(one) for one in _JOINED.findall(rest, verb.end())):
        return ""  # a second verb, which would have to agree too
    return f"{rest[: verb.start()]}{form}{rest[verb.end() :]}"


def _in_third_person(said: str, own: str, person: str, *, first: bool = False) -> str:
    """With the words of the first person said of somebody else. ``first``: the first of them
    names the speaker, and those behind it mean the same."""
    said = _OWN_VERB.sub(lambda one: "they were" if "was" in one[0] else "they are", said)

    def changed(found: re.Match[str]) -> str:
        word, begins = found[0].casefold(), found.start() == 0
        if word in ("my", "our"):
            return own if begins or not first else "their"
        if word == "me":
            return person
        return _third_person()[word] if own == "their" or first else found[0]

    return _OWN.sub(changed, said)


@cache
def _third_person() -> dict[str, str]:
    forms = dict(meanings("origin.third_person", ENGLISH))
    return {**forms, "myself": "themselves", "i": "they"}


def _dated(text: str, spans: Sequence[Span]) -> str:
    """With absolute dates in the place of those that mean another one on another day."""
    for span in spans:
        if not span.relative or text.count(span.phrase) != 1:
            continue
        place = text.index(span.phrase)
        before = text[:place].rstrip().rpartition(" ")[2].lower()
        written = span.written()
        if before in _BEFORE_TIME and not span.relation:
            written = _TIMED.sub("", written)
        text = text[:place] + written + text[place + len(span.phrase) :]
    return text
