"""Values inside of the words that follow a verb."""

from __future__ import annotations

import re
import unicodedata

from recollect.text.dates.words import MONTHS, WEEKDAYS

_BOUNDARY = re.compile(
    r"[;:!?\n\"(]|\s[-–—]+\s|—|--"
    r"|,? (?:but|because|though|although|which|who|while|whereas|so|unless|cuz|as well as I"
    r"|even though|when|whenever|if|where|since (?=I|we|my|it|he|she|they))\b"
    r"|,? (?:and|or|plus|then) (?=(?:I|we|it|they|he|she|that|this|there|my|our|you|am|is|are|was"
    r"|the \w+ (?:is|was))\b)"
    r"|, (?=(?:I|we|it|they|he|she|that|this|there|my|our|you|just|especially|especially|thanks|you"
    r"|like|not|too|please|right|actually|[a-z]+ing)\b)"
)
_TIME = re.compile(
    rf",? \b(?:on |in |since |until |last |next |this |for |at |by |during |from )*"
    rf"(?:(?:last|next|this|past|every|each) (?:\w+)|yesterday|today|tomorrow|tonight|now|right now"
    rf"|these days|nowadays|lately|recently|at the moment|currently|anymore|any more|any longer"
    rf"|again"
    rf"|already|as well|too|instead|a lot|so much|very much|the most|actually|though|btw|by the way"
    rf"|at all|either|in the mornings?|in the evenings?|(?:19|20)\d\d|\d{{4}}-\d\d-\d\d"
    rf"|[\w ]{{1,12}} ago"
    rf"|(?:\w+ )?(?:few |couple of |\d+ |two |three |four |five |ten )?(?:years|months|weeks"
    rf"|days)(?: now)?"
    rf"|(?:{'|'.join(w for w in MONTHS if w[0].isupper() and w not in ('May', 'March'))})\b.*"
    rf"|(?:{'|'.join(w.capitalize() for w in WEEKDAYS if len(w) > 5)})s?\b.*)\Z"
)
_TIME_FROM = re.compile(
    r" (?:since|until|till|around) (?=(?:the |last |January|Feb|Mar|Apr|May|Ju|Aug|Sep|Oct|Nov|Dec"
    r"|\d).*)"
)
_ARTICLES = re.compile(
    r"(?:(?:a|an|the|my|our|your|their|his|her|some|any|to|der|die|das|den|dem|ein|eine|einen|le|la"
    r"|les|un|une|du|des|el|los|las|una|unos|unas|mes|mi|mis)\s+|l'|d')",
    re.IGNORECASE,
)
_IMPERSONAL = {
    "my ": "", "our ": "", "their ": "", "i am": "they are", "we are": "they are",
    "i was": "they were", "we were": "they were", "i": "they", "we": "they", "me": "them",
    "us": "them", "myself": "themselves", "ourselves": "themselves",
}  # fmt: skip
# A value is the same, whether "I" say it or it is said of me.
_PERSONAL = re.compile(
    r"\b(?:(?:my|our|their) |(?:i am|we are|i was|we were|i|we|me|us|myself|ourselves)\b)"
)
_EDGES = " \t\n.,;:!?\"'()[]{}<>-–—…。，！？、；：「」"
_PLACE_END = re.compile(
    r",? (?:with|where|for|and|but|to|from|since|about|near|when|because|until|after|before|as|in"
    r"|at|last|next|this|on|around|now|right|these|again|by|too|permanently|recently|over|during)\b"
)


def cut(tail: str) -> str:
    """The words up to where another thought begins, without times and fillers at the end."""
    found = _BOUNDARY.search(tail)
    if found:
        tail = tail[: found.start()]
    found = _TIME_FROM.search(tail)
    if found:
        tail = tail[: found.start()]
    for _ in range(3):
        shorter = _TIME.sub("", f" {tail.strip(_EDGES)}").strip()
        if shorter == tail:
            break
        tail = shorter
    return tail.strip(_EDGES)


def bare(value: str) -> str:
    """A value as claims carry it: folded, without articles and closing marks."""
    value = " ".join(unicodedata.normalize("NFKC", value).casefold().split()).strip(_EDGES)
    for _ in range(3):
        found = _ARTICLES.match(value)
        if not found:
            break
        value = value[found.end() :].strip(_EDGES)
    return _PERSONAL.sub(lambda found: _IMPERSONAL[found[0]], value)[:120]


def place(words: str) -> str:
    """The place at the beginning of some words; empty if it is not named."""
    words = cut(words)
    found = _PLACE_END.search(words)
    if found:
        words = words[: found.start()]
    words = words.strip(_EDGES)
    return words if 0 < len(words.split()) <= 5 and re.search(r"[^\W\d_a-z]", words) else ""


_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY_FIRST = re.compile(
    rf"(\d\d?)(?:st|nd|rd|th|er|\.)? (?:of |de )?({_MONTH})\b(?:,? (?:de )?(\d{{4}}))?",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH}) (?:the )?(\d\d?)(?:st|nd|rd|th)?\b(?:,? (\d{{4}}))?", re.IGNORECASE
)
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_CHINESE = re.compile(r"(?:(\d{4})年)?(\d\d?)月(\d\d?)[日号]")
_DOTTED = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})?")


def birthday_in(words: str) -> str:
    """A day of the year as "05-03", with its year "1990-05-03"; empty if there is none."""
    if found := _ISO.search(words):
        return found[0]
    if found := _CHINESE.search(words):
        return _day(found[1], int(found[2]), found[3])
    if found := _DAY_FIRST.search(words):
        return _day(found[3], _number(found[2]), found[1])
    if found := _MONTH_FIRST.search(words):
        return _day(found[3], _number(found[1]), found[2])
    if found := _DOTTED.search(words):
        return _day(found[3], int(found[2]), found[1])
    return ""


def _number(month: str) -> int:
    return MONTHS.get(month.capitalize()) or MONTHS.get(month.lower()) or 0


def _day(year: str | None, month: int, day: str) -> str:
    if not (1 <= month <= 12 and 1 <= int(day) <= 31):
        return ""
    return (f"{year}-" if year else "") + f"{month:02d}-{int(day):02d}"


def is_nameable(what: str) -> bool:
    """Whether a liking is about something nameable and not about what was just said."""
    words = what.lower().split()
    if not words or len(words) > 9:
        return False
    if words[0] in _POINTING or words[0] in _PREPOSITIONS or words[-1] in ("too", "much"):
        return False
    return not (_OPEN_LIKING.match(what) or _POINTED_AT.search(what))


_PREPOSITIONS = frozenset("in on at for with of from by about as".split())
_POINTING = frozenset(
    "it this that these those them him her you your how when what where who if his their its the"
    " to seeing hearing knowing being having getting making there more i we".split()
)
_POINTED_AT = re.compile(r"\b(?:this|these|those)\b|\b(?:to|of|in|about|at|for|with) that\b")
_OPEN_LIKING = re.compile(r"(?:all|every|any|some|each|one) (?:of|the|that|this|thing|things)?\b")
