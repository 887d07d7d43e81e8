"""A clause as a sentence that stands on its own: in the third person, with absolute dates."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.text.claims.clauses import Clause, Speaker
from recollect.text.claims.words import ADDRESSED, POINTERS
from recollect.text.dates.expressions import Span

TAIL_WORDS_MAX = 40

_BOUNDARY = re.compile(
    r"\s[-–—]+\s|—|--|[;!?(\n]|:(?= )"
    r"|,? (?:but|though|although|so(?! that (?:I|we|they|people))|'?cause(?= (?:I|it|we|they|my))"
    r"|cuz|anyway|hence|whereas)\b"
    r"|,? (?:and|or|plus|then) (?=(?:I|we|it|they|he|she|that|this|there|you|my|our|am|is|are|was"
    r"|were|want|wanted|need|needed|realized|would|hope|can|will|could|since then|now|let"
    r"|hopefully|maybe|the \w+ (?:is|was|were|are))\b)"
    r"|, (?=(?:I|we|it|its|it's|they|he|she|that|this|there|you|my|our|which|who|just|thanks|right"
    r"|too|please|not|actually|especially since|what|how|like|had|got|saw|was|went|hope)\b)"
    r"|, (?=[a-z]+ing (?!and\b)[a-z]+)|, (?=(?:the|my|their|his|her) \w+ (?:is|are|was|were)\b)"
)
_SUBORDINATE = re.compile(
    r",? (?:because|since|when|while|where|after|before|if|as|that|which|who|until|unless|even"
    r"|with|to|for|and|about|like)\b"
)
_OPTIONAL_END = re.compile(
    r"(?<![,\s])[,\s]+(?:too|as well|though|lately|now|haha|lol|you know|btw|again|right"
    r"|actually|anyway|tho|so|and|but|or|recently|just|also|with|because|to|for|the|a|how|that"
    r"|about|of|in|at|on|my"
    r"|some)\Z",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w']+")
# A capital letter after a name is a number: "Tiger I".
_FIRST = re.compile(
    r"(?<![A-Z][a-z]{3} )(?<![A-Z][a-z]{4} )\b(I am|I was|I'm|we are|we were|we're|I|we|my|mine|me"
    r"|myself|our|ours|us|ourselves)\b"
)
_AS_SPEAKER = {
    "I am": "they are", "I was": "they were", "I'm": "they are", "we are": "they are",
    "we were": "they were", "we're": "they are", "I": "they", "we": "they", "my": "their",
    "mine": "theirs", "me": "them", "myself": "themselves", "our": "their", "ours": "theirs",
    "us": "them", "ourselves": "themselves",
}  # fmt: skip
_CLEAR = frozenset(("another", "such", "lot", "lots", "so"))
_DETERMINERS = frozenset(("that", "this", "these", "those", "same"))
_NOT_NOUNS = frozenset(
    "because and was were has had have with for from but when while since about after before are"
    " will"
    " would can could should into onto over than then too through until where which who during made"
    " one ones way time thing things stuff".split()
)
_THIS = re.compile(
    r"\bthis (?!(?:week|month|year|weekend|morning|evening|summer|winter|spring"
    r"|fall)\b)(?=[a-z]{3,})"
)
_NAMED_BEFORE = re.compile(r"(?:\A|\b(?:to|of|in|about|at|for|with|on|from|into|by|back) )\w+\Z")
_THESE = re.compile(r"\bthese (?!days\b)(?=[a-z]{3,})")
_VERY_MUCH = re.compile(r"\w{3,} (?:quite )?(?:a lot|lots)\Z")


def trimmed(tail: str) -> str:
    """The tail up to where another thought begins."""
    found = _BOUNDARY.search(tail)
    if found:
        tail = tail[: found.start()]
    for _ in range(3):
        shorter = _OPTIONAL_END.sub("", tail.rstrip(" .,;:"))
        if shorter == tail:
            break
        tail = shorter
    return tail.strip(" .,;:")


def without_pointers(tail: str) -> str | None:
    """The tail cut before the part that points outside of the sentence ("it", "you"); None if
    that is in its main part."""
    for found in _WORD.finditer(tail):
        word = found[0].lower()
        if not (word in ADDRESSED or (word in POINTERS and _points(word, tail, found.end()))):
            continue
        cuts = [cut.start() for cut in _SUBORDINATE.finditer(tail, 0, found.start())]
        kept = trimmed(tail[: cuts[-1]]) if cuts else ""
        return kept if len(kept.split()) >= 2 and word not in ADDRESSED else None
    return tail


def _points(word: str, tail: str, end: int) -> bool:
    """ "that" before a noun or a clause names something; so does "one of my ..."."""
    if word in ("that", "those") and _NAMED_BEFORE.search(tail, 0, end):
        return True
    if word in _DETERMINERS:
        following = re.match(r" ([a-z][a-z\-]{2,})", tail[end:])
        return following is None or following[1] in _NOT_NOUNS
    if word in ("lot", "lots") and _VERY_MUCH.search(tail, 0, end):
        return False
    if word in ("one", "lot", "lots"):
        return not tail[end:].startswith(" of ")
    return word not in _CLEAR


def without_pointing(tail: str) -> str:
    """ "Adopted this cute pup" tells of a pup that nobody saw yet."""

    def article(found: re.Match[str]) -> str:
        return "an " if tail[found.end()] in "aeiou" else "a "

    return _THESE.sub("some ", _THIS.sub(article, tail))


def in_third_person(words: str, clause: Clause, speaker: Speaker) -> str:
    """First-person words after the subject, said of the speaker."""
    if clause.subject.kind == "speaker":
        return _FIRST.sub(lambda found: _AS_SPEAKER[found[0]], words)
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

    return _FIRST.sub(named, words)


def dated(words: str, spans: Sequence[Span]) -> str:
    """The words with relative times written as absolute ones."""
    for span in spans:
        if not span.relative or span.phrase not in words:
            continue
        before = words[: words.index(span.phrase)].rstrip().rpartition(" ")[2].lower()
        written = span.written()
        bare = not re.match(r"(?:on|in|at|during)\b", span.phrase, re.IGNORECASE)
        if bare and before in _LEADING_WORDS and not span.relation:
            written = re.sub(r"\A(?:on|in) ", "", written)
        words = words.replace(span.phrase, written, 1)
    return words


_LEADING_WORDS = frozenset(
    "to from of for by until till around since before after on in is".split()
)


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
        f"{span.phrase.strip()}: {span.written().removeprefix('on ').removeprefix('in ')}"
        for span in spans
        if span.relative
    ]
    note = f" ({'; '.join(notes)})" if notes else ""
    said = said.strip()
    if said[-1:].isalnum():
        said += "。" if said[-1] >= "\u3400" else "."
    return f'{speaker.written} {verb}: "{said}"{note}'
