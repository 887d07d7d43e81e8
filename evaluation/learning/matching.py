"""Groups of keywords: how a case says what must be in a record without saying in which words.

``"sold|no_longer|not caravan"`` holds alternatives, of which one must match; in an alternative all
words must be there, in any order. ``_`` joins words that stand side by side, ``!word`` must not be
there. Case and accents do not count. A word matches the beginning of a word (``allerg``:
allergic, allergies), one of one or two letters a whole word, a number a whole number (``5``: 5th,
05, not 50). Chinese, which has no blanks, matches anywhere. A day of the calendar has its weekday
and its month as words too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from functools import cache

SHORT = 2
_OUTSIDE_WORDS = re.compile(r"[\W_]+")
_NOT = re.compile(r"\b(can|could|do|does|did|is|are|was|were|has|have|had|wo|would)n['’]t\b")
_DAY = re.compile(r"\b(2\d{3})-(0[1-9]|1[0-2])-([0-2][1-9]|[1-3]0|31)\b")
_UNSPACED = re.compile(r"([一-鿿]+)")
_UNDIVIDED = str.maketrans("øłđæœ", "oldao")  # letters that no normal form takes apart

# A text that says that something is over is not the belief that it is so.
_ENDS = """
    not no never longer more anymore quit left leave sold ex former used until stopped stop gave
    give dropped cancelled canceled ended over died dead death passed gone lost stolen broke split
    separated divorced retired fired laid let moved shut closed returned handed previously formerly
    instead from rather off wrong lapsed switched replaced renamed migrated was were had been
    nicht kein keine mehr gekundigt getrennt gestorben verkauft aufgehort war hatte
    ne pas plus quitte demissionne vendu mort fini arrete termine etait avait
    no ya deje dejamos vendi murio baja quitaron cambiado era tenia
""".split()
_ENDS_UNSPACED = ("不", "没", "辞职", "分手", "卖", "去世", "换", "改", "死")

# Words that a fuller statement may do without, or say in another form.
_SMALL = frozenset(
    """a an the s and or of to in on at for with by is are am be has have do does they their them he
    she his her we our it its this that said""".split()
)
# What may be told of something that stands: "a bike from Italy".
_DENIALS = frozenset((*_ENDS, "swapped")) - {"from", "let", "had", "was"}

# A lesson about somebody ("Ann ...") that still says "I" outside of quotation marks, that says a
# small word twice, or that has a whole sentence where a name should be.
_QUOTED = re.compile(r"[\"“„«].*?[\"”“»]")
_ABOUT_SOMEBODY = re.compile(r"(Ann\b|The user\b)")
_FIRST_PERSON = re.compile(r"\b(I|I'm|I've|I'd|my|My|mine|myself)\b")
_BROKEN = re.compile(
    r"\b(on|in|at|is|the|a|to|of|for|with|are) \1\b"
    r"|\b(to|of|in|at|with|for|called|named|is|an?|the) (they|he|she|we) (are|is|have|has|was)\b"
    r"|\b(an?|the) theirs?\b",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """Lower case, no accents, words and Chinese between single blanks; without "the user", which
    is nobody's word but stands in every lesson about somebody without a name."""
    text = _DAY.sub(lambda found: f"{found[0]} {_named(*found.groups())}", text)
    spelled = _NOT.sub(r"\1 not", text.casefold().replace("can't", "can not"))
    spelled = _UNSPACED.sub(r" \1 ", spelled.translate(_UNDIVIDED))
    bare = "".join(
        char for char in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(char)
    )
    return f" {_OUTSIDE_WORDS.sub(' ', bare).strip()} ".replace(" the user ", " ")


def _named(year: str, month: str, day: str) -> str:
    try:
        return f"{date(int(year), int(month), int(day)):%A %B}"
    except ValueError:
        return ""


def matches(group: str, text: str) -> bool:
    """Whether one alternative of the group is in the text."""
    within = plain(text)
    return any(_all_of(alternative, within) for alternative in group.split("|"))


def matches_any(groups: Iterable[str], text: str) -> bool:
    return any(matches(group, text) for group in groups)


def _all_of(alternative: str, within: str) -> bool:
    words = alternative.split()
    return bool(words) and all(
        not _pattern(word[1:]).search(within) if word[0] == "!" else _pattern(word).search(within)
        for word in words
    )


@cache
def _pattern(word: str) -> re.Pattern[str]:
    bare = plain(word).strip()
    literal = re.escape(bare)
    if _UNSPACED.search(bare):
        return re.compile(literal)
    before = r"(?<!\d)0*" if bare[0].isdigit() else r"(?<!\w)"
    if bare[-1].isdigit():
        return re.compile(f"{before}{literal}(?!\\d)")
    return re.compile(before + literal + (r"(?!\w)" if len(bare) <= SHORT else ""))


def says_an_end(text: str) -> bool:
    """Whether the text has a word for something that is over or is not so."""
    return bool(set(_ENDS) & set(plain(text).split())) or any(
        sign in text for sign in _ENDS_UNSPACED
    )


def is_garbled(text: str) -> bool:
    """Whether nobody would write it so. Words that are quoted may be as they were said."""
    outside = _QUOTED.sub("", text)
    own = _ABOUT_SOMEBODY.match(outside) and _FIRST_PERSON.search(outside)
    return bool(own or _BROKEN.search(outside))


def covers(more: str, less: str) -> bool:
    """Whether a text says all that another one says: every word of it that means something, and not
    that it is over."""
    words, said = set(plain(less).split()), set(plain(more).split())
    return words - _SMALL <= said and not _DENIALS & (said - words)
