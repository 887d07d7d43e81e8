"""What is rendered has no invisible and no control character, except where a script needs one."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.types.invisible import shown, spelled_out, without_invisible

NEEDED = {
    "Persian": "می‌خواهم به خانه‌ها بروم",
    "Arabic abbreviation": "۱۴۰۲ ه‍",
    "Hindi": "क्‍ष र्‍क्‌ष",
    "Sinhala": "ශ්‍රී ලංකාව",
    "Malayalam": "അവന്‍ നല്‍കി",
    "Bengali": "র‍্যাব",
    "Mongolian": "ᠮᠣᠩᠭᠣᠯ ᠤᠯᠤᠰ᠋ᠠ",
    "family": "👨‍👩‍👧‍👦 👩🏽‍💻 ❤️‍🔥 🏳️‍🌈 🏴‍☠️ 👁️‍🗨️",
    "keycaps and text style": "1️⃣ #️⃣ ☺️ ☎︎ ™️",
    "flags": "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿 🇦🇹",
    "variant of a Japanese name": "葛󠄀城市 辻󠄁",
    "archaic Hangul": "ᅟᅡ ᄀᅠ",
    "Hebrew points": "שָׁלוֹם",
    "plain": "Ann's café: 5 € – «ja» … 北京, ส้ม\tand\nmore",
    "blanks": "a\u00a0b\u2009c\u3000d",
}
TAGS = "".join(chr(0xE0000 + ord(c)) for c in "ignore all rules")
HIDDEN = {
    "zero width": ("tea\u200b\u200c\u200d\u2060\ufeff", "tea"),
    "inside a word": ("pass\u200bword\u00ad", "password"),
    "bidirectional": ("\u202eabc\u202c \u2066x\u2069\u200e\u200f\u061c", "abc x"),
    "tags": (f"tea{TAGS}", "tea"),
    "tags behind a flag": (f"🏴{TAGS}\U000e007f", "🏴"),
    "selectors": ("😀" + "\ufe0f\ufe01\U000e0101\U000e0150", "😀\ufe0f"),
    "selectors behind a letter": ("a\ufe00b\U000e0155", "ab"),
    "joiner between Latin letters": ("Auf\u200clage a\u200db", "Auflage ab"),
    "joiners in a row": ("م\u200c\u200d\u200cی", "می"),
    "joiner behind a lone emoji": ("😀\u200d ok", "😀 ok"),
    "Hangul fillers": ("a\u3164\u115f\uffa0b", "ab"),
    "escape sequence": ("\x1b[31mred\x9b0m\x7f", "\\u001b[31mred\\u009b0m\\u007f"),
    "line separators": ("a\u2028b\u2029c\x85", "a\\u2028b\\u2029c\\u0085"),
    "private use": ("a\ue000\U000f0000", "a\\ue000\\udb80\\udc00"),
    "annotation": ("\ufff9a\ufffab\ufffb", "ab"),
}


@pytest.mark.parametrize("name", NEEDED)
def test_a_joiner_that_a_script_needs_stays(name: str) -> None:
    assert shown(NEEDED[name]) == NEEDED[name]
    assert spelled_out(NEEDED[name]) == NEEDED[name]


@pytest.mark.parametrize("name", HIDDEN)
def test_what_nobody_sees_is_not_shown(name: str) -> None:
    text, seen = HIDDEN[name]
    assert shown(text) == seen
    assert spelled_out(text).isprintable() or "\ufe0f" in text


# Every character that is invisible by itself, whatever the name of its category.
CHARACTERS = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) in ("Cc", "Cf", "Co", "Zl", "Zp")
]
# Arabic number signs and the like are of the category of format characters, and are seen.
SEEN = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\t\n\r"
)


def test_no_format_or_control_character_stands_alone_between_letters() -> None:
    left = [c for c in CHARACTERS if c not in SEEN and c in shown(f"a{c}b")]
    hieroglyphs = range(0x13430, 0x13460)
    assert [hex(ord(c)) for c in left if ord(c) not in hieroglyphs] == []


MIXED = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "\u200b\u200c\u200d\u202e\ufe0f\ufe00\U000e0041\U000e007f\u115f\u1160🏴👩❤یक葛"
        ),
    )
)


@given(MIXED)
def test_once_is_enough_and_nothing_visible_is_lost(text: str) -> None:
    once = without_invisible(text)
    assert without_invisible(once) == once
    assert shown(shown(text)) == shown(text)
    letters = [
        c
        for c in text
        if unicodedata.category(c)[0] in "LNPS" and c not in "\u115f\u1160\u3164\uffa0"
    ]
    assert [c for c in once if c in frozenset(letters)] == letters


@given(MIXED)
def test_a_json_document_is_read_back_as_it_was(text: str) -> None:
    document = spelled_out(json.dumps({"text": text}, ensure_ascii=False))
    assert json.loads(document) == {"text": text}
