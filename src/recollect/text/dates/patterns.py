"""How times are written: the patterns that ``dates`` reads."""

from __future__ import annotations

import re
from collections.abc import Iterable

from recollect.text.dates.words import (
    DAYS_AWAY,
    MONTHS,
    NUMBERS,
    RELATIONS,
    SEASONS,
    SHIFTS,
    UNITS,
    WEEKDAYS,
)


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


CJK = "\u3400-\u9fff"
LATIN_NUMBERS = [word for word in NUMBERS if word.isascii() or ord(word[0]) < 0x3000]
MONTH = f"(?:{_any(MONTHS)})"
DAY_NAME = f"(?:{_any(WEEKDAYS)})"
UNIT = _any(word for word in UNITS if ord(word[0]) < 0x3000)
COUNT = rf"(?:\d{{1,3}}|(?:a )?{'|(?:a )?'.join(sorted(LATIN_NUMBERS, key=len, reverse=True))})"
BEFORE = rf"(?:\b(?P<rel>{_any(RELATIONS)})\s)?"
CUE = re.compile(
    rf"\d|[{CJK}]|\b(?:{_any(WEEKDAYS)}|{_any(MONTHS)}|{_any(SEASONS)}|{_any(DAYS_AWAY)})\b"
    rf"|\b(?:{_any(UNITS)})\b",
    re.IGNORECASE,
)

ISO = re.compile(rf"{BEFORE}\b(?P<y>\d{{4}})-(?P<m>\d\d)-(?P<d>\d\d)(?!\d)", re.IGNORECASE)
DOTTED = re.compile(
    rf"{BEFORE}\b(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{{4}})?(?![\d.])", re.IGNORECASE
)
SLASHED = re.compile(rf"{BEFORE}\b(?P<a>\d\d?)/(?P<b>\d\d?)/(?P<y>\d{{4}})(?!\d)", re.IGNORECASE)
DAY_MONTH = re.compile(
    rf"{BEFORE}(?:the )?\b(?P<d>\d\d?)(?:st|nd|rd|th|er|\.)? (?:of |de )?(?P<m>{MONTH})\b\.?"
    r"(?:,? (?:del? )?(?P<y>\d{4})\b)?",
    re.IGNORECASE,
)
MONTH_DAY = re.compile(
    rf"{BEFORE}\b(?P<m>{MONTH})\.? (?:the )?(?P<d>\d\d?)(?:st|nd|rd"
    rf"|th)?\b(?:,? (?P<y>\d{{4}})\b)?",
    re.IGNORECASE,
)
MONTH_ONLY = re.compile(
    rf"{BEFORE}(?:(?:early|late|mid|anfang|mitte|ende|début|fin|the end of|end of) )?"
    rf"\b(?P<m>{MONTH})\b(?:,? (?:of |de )?(?P<y>\d{{4}})\b)?",
    re.IGNORECASE,
)
YEAR = re.compile(
    r"\b(?P<rel>since|until|till|in|by|before|after|during|back in|seit|bis|im jahr|depuis"
    r"|jusqu'en|en|desde|hasta) (?P<y>(?:19|20)\d\d)\b(?![-/.:]\d|\s*(?:%|€|\$|euros?|dollars?"
    r"|people))",
    re.IGNORECASE,
)
NAMED_DAY = re.compile(
    rf"(?<!\w)(?P<day>{_any(w for w in DAYS_AWAY if ord(w[0]) < 0x3000)})(?!\w)", re.IGNORECASE
)
AGO = re.compile(
    rf"\b(?:(?:about|around|roughly|almost|nearly|over) )?(?P<n>{COUNT})(?: of)? (?P<unit>{UNIT})"
    rf" (?:ago|back)\b"
    rf"|\b(?:vor|il y a|hace)(?: etwa| environ| unos| unas)? (?P<n2>{COUNT}) (?P<unit2>{UNIT})\b",
    re.IGNORECASE,
)
AHEAD = re.compile(
    rf"\b(?:in|dans|dentro de) (?:about )?(?P<n>{COUNT})(?: of)? (?P<unit>{UNIT})\b(?! ago| and a)"
    rf"|\b(?P<n2>{COUNT}) (?P<unit2>{UNIT}) (?:from now|later)\b",
    re.IGNORECASE,
)
LASTING = re.compile(
    rf"\bfor (?:about |around |over |almost |the last |the past "
    rf"|more than )?(?P<n>{COUNT})(?: of)? "
    r"(?P<unit>years?|months?|weeks?)\b(?: now)?",
    re.IGNORECASE,
)
SHIFT = _any(word for word in SHIFTS if ord(word[0]) < 0x3000)
SHIFTED = re.compile(
    rf"{BEFORE}\b(?:the |der |die |das |dem |den )?(?P<s>{SHIFT}) (?P<what>{UNIT}|{DAY_NAME}"
    rf"|{MONTH}|{_any(SEASONS)})\b(?! of )",
    re.IGNORECASE,
)
SHIFTED_AFTER = re.compile(
    rf"\b(?:l'|(?:le|la|el|en|au) )?(?P<what>{UNIT}|fin de semana|{DAY_NAME}|{_any(SEASONS)})"
    r" (?P<s>derni[eè]re?|prochaine?|pasad[oa]|próxim[oa]|que viene)\b",
    re.IGNORECASE,
)
ON_DAY = re.compile(
    rf"\b(?P<rel>on|am|since|until|by|before|after|seit|bis)(?: the)? (?P<day>{DAY_NAME})\b"
    r"(?!s| (?:mornings|afternoons|evenings|nights)\b)",
    re.IGNORECASE,
)
CHINESE_DAY = re.compile(
    r"(?:(?P<y>\d{4})年)?(?P<m>\d\d?)月(?P<d>\d\d?)[日号]|(?P<y2>\d{4})年(?:(?P<m2>\d\d?)月)?"
    r"|(?P<m3>\d\d?)月(?:份)?"
)
CHINESE_NAMED = re.compile(_any(w for w in DAYS_AWAY if ord(w[0]) >= 0x3000))
CHINESE_SHIFTED = re.compile(
    r"(?P<s>上个?|下个?|这个?|本)(?P<what>周末|周|星期|月)(?P<day>[一二三四五六日天])?|(?P<y>去|今"
    r"|明)年"
)
CHINESE_AWAY = re.compile(
    r"(?P<n>\d{1,3}|[一二两三四五六七八九十]{1,2})(?:个)?(?P<unit>天|周|星期|月|年)(?P<s>以?前"
    r"|以?后|之前|之后)"
)
PAST = re.compile(
    r"\b(?:was|were|did|had|went|got|came|saw|made|took|met|bought|have|has|'ve|\w{3,}ed|habe|hatte"
    r"|hat|war|waren|ging|bin|j'ai|suis|était|fui|fue|hice|estuve|tuve|compré|\w+é)\b|了|过",
    re.IGNORECASE,
)
FUTURE = re.compile(
    r"\b(?:thinking (?:of|about)|(?:am|is|are|'m|'re) (?:\w+ )?\w+ing|will|'ll|going to|gonna"
    r"|plan(?:ning)?|hope|want|next|upcoming"
    r"|(?:moved|postponed|delayed|scheduled|pushed|planned|due|deadline|set|booked) (?:to|for"
    r"|until|is) (?=\w+ \d|\d)|werde|wird|werden|möchte"
    r"|vais|va|voy|irá|will be|tomorrow)\b|\w'll\b|将|要|打算",
    re.IGNORECASE,
)
