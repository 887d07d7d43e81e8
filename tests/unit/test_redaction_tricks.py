"""X11: no script, no invisible character, no line break and no markup hides a secret.

Every secret here is put together at run time, so that none stands in the repository.
"""

from __future__ import annotations

import random
import string
import time

import pytest

from standfast.errors import Invalid
from standfast.text.redact import KIND_NAMES, redact, redact_value, redactor_from

_random = random.Random(5)
TOKEN = "gh" + "p_" + "".join(_random.choices(string.ascii_letters + string.digits, k=36))
CARD = "4111 1111 1111 1111"
IBAN = "DE89 3704 0044 0532 0130 00"
PASSWORD = "hunter" + "2!x"

DIGITS = {
    "arabic": "٠١٢٣٤٥٦٧٨٩",
    "persian": "۰۱۲۳۴۵۶۷۸۹",
    "devanagari": "०१२३४५६७८९",
    "bengali": "০১২৩৪৫৬৭৮৯",
    "thai": "๐๑๒๓๔๕๖๗๘๙",
    "full width": "０１２３４５６７８９",
    "mathematical": "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗",
}
INVISIBLE = {
    "zero width": "\u200b",
    "joiner": "\u200d",
    "soft hyphen": "\u00ad",
    "variation selector": "\ufe0f",
    "second variation selector": "\U000e0101",
    "left to right": "\u202a",
    "isolate": "\u2066",
    "mark": "\u200f",
    "word joiner": "\u2060",
    "grapheme joiner": "\u034f",
    "tag": "\U000e0041",
    "hangul filler": "\u3164",
    "mongolian": "\u180e",
    "musical": "\U0001d173",
}


@pytest.mark.parametrize("digits", DIGITS.values(), ids=DIGITS.keys())
@pytest.mark.parametrize("secret", [CARD, IBAN, "SSN 123-45-6789"])
def test_X11_digits_of_any_script_are_digits(secret: str, digits: str) -> None:
    written = secret.translate(str.maketrans("0123456789", digits))
    result = redact(f"so {written} it is")
    assert len(result.found) == 1
    assert not set(digits) & set(result.text)


@pytest.mark.parametrize("hidden", INVISIBLE.values(), ids=INVISIBLE.keys())
@pytest.mark.parametrize("secret", [TOKEN, CARD, IBAN])
def test_X11_nothing_invisible_hides_a_secret(secret: str, hidden: str) -> None:
    result = redact(f"so {hidden.join(secret)} it is")
    assert len(result.found) == 1
    assert result.text.startswith("so [redacted:")
    assert result.text.endswith(" it is")


@pytest.mark.parametrize(
    "name",
    ["раssword", "pаsswоrd", "passwοrd", "ＰＡＳＳＷＯＲＤ", "pass\u200bword", "𝗽𝗮𝘀𝘀𝘄𝗼𝗿𝗱"],
    ids=["cyrillic", "two cyrillic", "greek", "full width", "zero width", "bold"],
)
def test_X11_a_name_in_disguise_names_a_secret(name: str) -> None:
    result = redact(f"{name}: {PASSWORD}")
    assert result.text == f"{name}: [redacted:password]"
    assert redact_value({name: PASSWORD})[0] == {name: "[redacted:password]"}


def test_X11_words_of_one_script_are_what_they_are() -> None:
    for text in ("пароль — секрет", "Москва сорока рак", "ο λόγος του νόμου", "α-helix, θ0, μm"):
        assert redact(text).text is text
    assert redact(f"пароль: {PASSWORD}").text == "пароль: [redacted:password]"


BROKEN = {
    "line": "{0}\n{1}",
    "windows line": "{0}\r\n{1}",
    "indented line": "{0}\n    {1}",
    "quoted line": "> {0}\n> {1}",
    "continued line": "{0}\\\n{1}",
    "emphasis": "{0}**{1}**",
    "code": "{0}`{1}`",
    "html": "{0}<br>{1}",
    "two strings": '"{0}" + "{1}"',
    "neighbours": '("{0}"\n  "{1}")',
}


@pytest.mark.parametrize("form", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("at", [8, 20, 33])
def test_X11_a_broken_secret_is_put_together(form: str, at: int) -> None:
    first, second = TOKEN[:at], TOKEN[at:]
    result = redact(f"use {form.format(first, second)} now")
    assert [finding.kind for finding in result.found] == ["github_token"]
    assert first not in result.text
    assert second not in result.text
    assert result.text.startswith("use ")
    assert result.text.endswith("now")


def test_X11_a_long_token_over_several_lines_goes_as_a_whole() -> None:
    body = "".join(_random.choices(string.ascii_letters + string.digits, k=120))
    lines = [body[start : start + 40] for start in range(0, 120, 40)]
    result = redact("key sk-" + "ant-api03-" + "\n".join(lines) + "\nThanks for looking!")
    assert result.text == "key [redacted:anthropic_key]\nThanks for looking!"


@pytest.mark.parametrize(
    "card",
    [
        CARD.replace(" ", "-"),
        CARD.replace(" ", "."),
        CARD.replace(" ", "\u00a0"),
        CARD.replace(" ", "\u2009"),
        CARD.replace(" ", "  "),
        CARD.replace(" 1111 1111 ", " 1111\n1111 "),
        "**4111** **1111** **1111** **1111**",
        "3782 822463 10005",
    ],
)
def test_X11_a_card_in_groups_of_any_form(card: str) -> None:
    result = redact(f"pay with {card}, please")
    assert [finding.kind for finding in result.found] == ["credit_card"]
    assert "1111" not in result.text
    assert "822463" not in result.text


@pytest.mark.parametrize(
    "form",
    [
        "export DB_PASSWORD={}",
        "PASSWORD='{}'",
        '{{"password":"{}"}}',
        "password: {}",
        "password: |\n  {}",
        "password: >-\n    {}\n",
        "<password>{}</password>",
        '<db password="{}"/>',
        'password = "{}"',
        "**Password:** {}",
        "**Password**: {}",
        "password: `{}`",
        "| password | {} |",
        "| **Password** | `{}` |",
        "pass={}",
        "PGPASSWORD={} psql",
        "mysql -u root -p{}",
        "curl -u admin:{} https://x.example",
        "sshpass -p {} ssh x",
        "machine x.example login ann password {}",
        "postgres://ann:{}@db.example/x",
        "redis://:{}@cache:6379/0",
        "Server=db;User Id=sa;Password={};",
        "host=h user=u password={} port=5432",
        "https://x.example/?user=a&password={}&x=1",
        "كلمة المرور: {}",
        "पासवर्ड: {}",
    ],
)
def test_X11_a_password_in_any_form_of_writing(form: str) -> None:
    result = redact(form.format(PASSWORD))
    assert PASSWORD not in result.text
    assert len(result.found) == 1


def test_X11_a_key_that_lost_its_beginning_or_end() -> None:
    body = ["".join(_random.choices(string.ascii_letters, k=64)) for _ in range(4)]
    begin, end = "-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----"
    for text in (
        "\n".join([begin, *body]),
        "\n".join([*body, "abcd==", end]),
        "\n".join(f"> {line}" for line in [begin, *body]),
        "\n".join(f"> {line}" for line in [*body, end]),
    ):
        result = redact(f"look:\n{text}\nbye bye")
        assert not [line for line in body if line in result.text]
        assert result.text.startswith("look:\n")
        assert result.text.endswith("\nbye bye")


def test_X11_ordinary_things_that_look_a_little_alike_stay() -> None:
    for text in (
        "The PIN header has 40 pins; pin 12 is ground.",
        "My cookie recipe: butter=200g, sugar=100g",
        "Our backup words are few and simple",
        "He took the risk-\nfree path with 12 friends",
        "pass=True, fail=False",
        "curl -u admin https://x.example",
        "| password | required |",
        "<password></password>",
        "card 4111 1111 1111 1112",
        "costs $2 to $6 per day",
    ):
        assert redact(text).text is text, text


@pytest.mark.parametrize(
    "hostile",
    [
        "ghp_\n" * 60_000,
        "ghp_a`" * 60_000,
        "curl -u " * 40_000,
        "mysql " * 50_000,
        "cookie: a=" * 40_000,
        "| password " * 30_000,
        "<password>" * 30_000,
        "seed phrase " * 30_000,
        "abc " * 80_000 + "mnemonic",
        ("A" * 64 + "\n") * 5_000 + "-----END PRIVATE" + " KEY-----\n" * 2_000,
        "4111 " * 60_000,
        "$2y$10$" * 40_000,
    ],
)
def test_X11_no_text_takes_long(hostile: str) -> None:
    start = time.thread_time()
    redact(hostile)
    assert time.thread_time() - start < 6


# Settings


def test_X11_kinds_are_switched_off_and_added_by_settings() -> None:
    redactor = redactor_from("credit_card, iban", '{"badge": "B-[0-9]{6}"}')
    result = redactor.redact(f"{CARD} {IBAN} B-123456 {TOKEN}")
    assert result.text == f"{CARD} {IBAN} [redacted:badge] [redacted:github_token]"
    assert redactor_from("", "").kinds is None


@pytest.mark.parametrize(
    ("off", "own"),
    [("passwords", ""), ("", "B-[0-9]+"), ("", "[1]"), ("", '{"a": 1}'), ("", '{"a": "("}')],
)
def test_X11_a_wrong_setting_is_refused(off: str, own: str) -> None:
    with pytest.raises(Invalid):
        redactor_from(off, own)


def test_X11_there_are_more_than_sixty_kinds() -> None:
    assert len(KIND_NAMES) == len(set(KIND_NAMES)) > 60
