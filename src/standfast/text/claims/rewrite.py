"""A clause as a sentence that stands on its own: in the third person, with absolute dates."""

from __future__ import annotations

import re
from collections.abc import Sequence

from standfast.text.claims.clauses import Clause, Speaker
from standfast.text.dates import Span
from standfast.text.words import meanings, pattern, word_set

_WORD = re.compile(r"[\w']+")
_TIMED = re.compile(r"\A(?:on|in|from) ")


def trimmed(tail: str) -> str:
    """The tail up to where another thought begins."""
    found = pattern("rewrite.boundary").search(tail)
    if found:
        tail = tail[: found.start()]
    for _ in range(3):
        shorter = pattern("rewrite.optional_end").sub("", tail.rstrip(" .,;:"))
        if shorter == tail:
            break
        tail = shorter
    return tail.strip(" .,;:")


def without_pointers(tail: str) -> str | None:
    """The tail cut before the part that points outside of the sentence ("it", "you"); None if
    that is in its main part."""
    addressed, pointers = word_set("clauses.addressed"), word_set("clauses.pointers")
    for found in _WORD.finditer(tail):
        word = found[0].lower()
        if not (word in addressed or (word in pointers and _points(word, tail, found.end()))):
            continue
        subordinate = pattern("rewrite.subordinate").finditer(tail, 0, found.start())
        cuts = [cut.start() for cut in subordinate]
        kept = trimmed(tail[: cuts[-1]]) if cuts else ""
        return kept if len(kept.split()) >= 2 and word not in addressed else None
    return tail


def _points(word: str, tail: str, end: int) -> bool:
    """ "that" before a noun or a clause names something; so does "one of my ..."."""
    if word in ("that", "those") and pattern("rewrite.named_before").search(tail, 0, end):
        return True
    if word in word_set("rewrite.determiners"):
        following = re.match(r" ([a-z][a-z\-]{2,})", tail[end:])
        return following is None or following[1] in word_set("rewrite.not_nouns")
    if word in ("lot", "lots") and pattern("rewrite.very_much").search(tail, 0, end):
        return False
    if word in ("one", "lot", "lots"):
        return not tail[end:].startswith(" of ")
    return word not in word_set("rewrite.clear")


def without_pointing(tail: str) -> str:
    """ "Adopted this cute pup" tells of a pup that nobody saw yet."""

    def article(found: re.Match[str]) -> str:
        return "an " if tail[found.end()] in "aeiou" else "a "

    return pattern("rewrite.these").sub("some ", pattern("rewrite.this").sub(article, tail))


def in_third_person(words: str, clause: Clause, speaker: Speaker) -> str:
    """First-person words after the subject, said of the speaker."""
    if clause.subject.kind == "speaker":
        as_speaker = meanings("rewrite.third_person")
        return pattern("rewrite.first_person").sub(lambda found: as_speaker[found[0]], words)
    own = f"{speaker.written}'s" if speaker.name else "the user's"
    name = speaker.name or "the user"

    def named(found: re.Match[str]) -> str:
        word = found[0]
        if word in ("my", "our"):
            return own
        if word in ("me", "us", "I", "we", "myself", "ourselves"):
            return name
        return {"I am": f"{name} is", "I'm": f"{name} is", "we're": f"{name} is"}.get(
            word, f"{name} was" if word in ("I was", "we were") else own
        )

    return pattern("rewrite.first_person").sub(named, words)


def dated(words: str, spans: Sequence[Span]) -> str:
    """The words with relative times written as absolute ones."""
    for span in spans:
        if not span.relative or span.phrase not in words:
            continue
        before = words[: words.index(span.phrase)].rstrip().rpartition(" ")[2].lower()
        written = span.written()
        bare = not re.match(r"(?:on|in|at|during)\b", span.phrase, re.IGNORECASE)
        if bare and before in word_set("rewrite.before_time") and not span.relation:
            written = _TIMED.sub("", written)
        words = words.replace(span.phrase, written, 1)
    return words


def sentence(clause: Clause, tail: str, speaker: Speaker, added: str = "") -> str:
    """ "Ann" + "lives" + "in Hamburg"."""
    subject = clause.subject
    start = subject.written
    if subject.attribute:
        start += f"'s {subject.attribute}"
    start = start[:1].upper() + start[1:] if subject.kind != "named" else start
    words = in_third_person(tail, clause, speaker)
    parts = [start, clause.predicate.words, words, added]
    return " ".join(" ".join(part for part in parts if part).split()).rstrip(" .,;:") + "."


def framed(said: str, speaker: Speaker, spans: Sequence[Span] = (), verb: str = "said") -> str:
    """A sentence kept in the speaker's own words, with the dates that it means."""
    notes = [
        f"{span.phrase.strip()}: {_TIMED.sub('', span.written())}"
        for span in spans
        if span.relative
    ]
    note = f" ({'; '.join(notes)})" if notes else ""
    return f'{speaker.written} {verb}: "{said.strip()}"{note}'


def is_garbled(text: str) -> bool:
    """Whether a rewritten sentence is none: nobody would write it so."""
    return pattern("rewrite.garbled").search(text) is not None
