"""X11: secrets are redacted before the first write.

Every secret here is put together at run time, so that none stands in the repository.
"""

from __future__ import annotations

import random
import string
import time
import unicodedata
from base64 import b64encode, urlsafe_b64encode
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from standfast.errors import Invalid
from standfast.text.redact import KIND_NAMES, Redactor, Secret, redact, redact_value, wallets

_random = random.Random(11)
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BENIGN = (Path(__file__).parent / "data" / "benign_lines.txt").read_text("utf-8").splitlines()


def some(alphabet: str, length: int) -> str:
    """Random characters with at least one digit."""
    return "".join(_random.choices(alphabet, k=length - 1)) + "7"


def upper(length: int) -> str:
    return some(string.ascii_uppercase + string.digits, length)


def pem(kind: str, *, closed: bool = True) -> str:
    body = "\n".join(some(ALNUM + "+/", 64) for _ in range(5))
    end = f"\n-----END {kind}-----" if closed else ""
    return f"-----BEGIN {kind}-----\n{body}{end}"


def card(prefix: str, length: int) -> str:
    digits = prefix + "".join(_random.choices(string.digits, k=length - len(prefix) - 1))
    doubled = [int(d) * (2 - place % 2) for place, d in enumerate(reversed(digits))]
    return digits + str(-sum(d - 9 if d > 9 else d for d in doubled) % 10)


def iban(country: str, length: int) -> str:
    body = "".join(_random.choices(string.digits, k=length - 4))
    number = int("".join(str(int(c, 36)) for c in f"{body}{country}00"))
    return f"{country}{98 - number % 97:02d}{body}"


def jwt() -> str:
    parts = ('{"alg":"HS256","typ":"JWT"}', '{"sub":"1234567890"}')
    coded = [urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join([*coded, some(ALNUM + "_-", 43)])


def discord() -> str:
    account = urlsafe_b64encode(b"412345678901234567").decode().rstrip("=")
    return f"{account}.{some(ALNUM, 6)}.{some(ALNUM, 38)}"


# Kind -> text before the secret, the secret, text behind it.
EXAMPLES: dict[str, list[tuple[str, str, str]]] = {
    "private_key": [
        ("", pem("RSA PRIVATE" + " KEY"), ""),
        ("", pem("PRIVATE" + " KEY", closed=False), ""),
        ("", pem("PGP PRIVATE" + " KEY BLOCK"), ""),
        ("", pem("EC PRIVATE" + " KEY").replace("\n", "\\n"), ""),
    ],
    "ssh_private_key": [
        ("", pem("OPENSSH PRIVATE" + " KEY"), ""),
        ("", "b3BlbnNzaC1rZXktdjE" + some(ALNUM, 80), ""),
    ],
    "aws_access_key": [("", "AK" + "IA" + upper(16), ""), ("", "AS" + "IA" + upper(16), "")],
    "aws_secret_key": [
        ("aws_secret_access_key = ", some(ALNUM + "/+", 40), ""),
        ("AWS secret: ", some(ALNUM + "/+", 40), ""),
    ],
    "github_token": [("", f"gh{letter}_" + some(ALNUM, 36), "") for letter in "pousr"],
    "github_fine_grained_token": [
        ("", "github" + "_pat_" + some(ALNUM, 22) + "_" + some(ALNUM, 59), "")
    ],
    "gitlab_token": [("", "gl" + "pat-" + some(ALNUM, 20), "")],
    "slack_token": [
        ("", f"xox{letter}-1234567890-1234567890-" + some(ALNUM, 24), "") for letter in "bpas"
    ],
    "slack_app_token": [("", "xapp" + "-1-A0123-4567-" + some(HEX, 64), "")],
    "slack_webhook": [
        ("https://hooks.slack" + ".com/services/", "T00000000/B00000000/" + some(ALNUM, 24), "")
    ],
    "anthropic_key": [("", "sk-" + "ant-api03-" + some(ALNUM + "_-", 93), "")],
    "openai_key": [
        ("", "sk-" + some(ALNUM, 48), ""),
        ("", "sk-" + "proj-" + some(ALNUM + "_-", 100), ""),
    ],
    "openrouter_key": [("", "sk-" + "or-v1-" + some(HEX, 64), "")],
    "google_api_key": [("", "AI" + "za" + some(ALNUM + "_-", 35), "")],
    "google_oauth_secret": [("", "GOC" + "SPX-" + some(ALNUM, 28), "")],
    "google_oauth_token": [("", "ya" + "29." + some(ALNUM, 60), "")],
    "stripe_key": [
        ("", "sk" + "_live_" + some(ALNUM, 24), ""),
        ("", "sk" + "_test_" + some(ALNUM, 24), ""),
        ("", "rk" + "_live_" + some(ALNUM, 24), ""),
    ],
    "stripe_webhook_secret": [("", "whsec" + "_" + some(ALNUM, 32), "")],
    "twilio_key": [("", "S" + "K" + some(HEX, 32), ""), ("", "A" + "C" + some(HEX, 32), "")],
    "sendgrid_key": [("", "S" + "G." + some(ALNUM, 22) + "." + some(ALNUM, 43), "")],
    "mailgun_key": [
        ("", "key" + "-" + some(HEX, 32), ""),
        ("", f"{some(HEX, 32)}-{some(HEX, 8)}-{some(HEX, 8)}", ""),
    ],
    "mailchimp_key": [("", some(HEX, 32) + "-us" + "12", "")],
    "npm_token": [("", "npm" + "_" + some(ALNUM, 36), "")],
    "pypi_token": [("", "pypi" + "-AgEIcHlwaS5vcmc" + some(ALNUM, 80), "")],
    "huggingface_token": [("", "hf" + "_" + some(ALNUM, 34), "")],
    "digitalocean_token": [("", "dop" + "_v1_" + some(HEX, 64), "")],
    "azure_storage_key": [("AccountKey=", some(ALNUM + "+/", 86) + "==", ";")],
    "azure_signature": [("https://x.example/c?sv=1&sig=", some(ALNUM, 44), "")],
    "url_signature": [("https://b.example/k?X-Amz-Signature=", some(HEX, 64), "")],
    "spoken_password": [("The password for the router is ", "Tr0ub4dor&3x", ".")],
    "recovery_words": [
        ("(", "legal winner thank year wave sausage worth useful legal winner thank yellow", ")")
    ],
    "wallet_key": [("wallet ", "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ", "")],
    "one_time_seed": [("2FA seed ", "JBSWY3DPEHPK3PXP", "")],
    "telegram_token": [("", "1102015430:" + "AA" + some(ALNUM, 33), "")],
    "discord_webhook": [
        ("https://discord" + ".com/api/webhooks/", "123456789012345678/" + some(ALNUM, 68), "")
    ],
    "shopify_token": [("", "shp" + "at_" + some(HEX, 32), "")],
    "databricks_token": [("", "da" + "pi" + some(HEX, 32), "")],
    "vault_token": [("", "hv" + "s." + some(ALNUM, 90), "")],
    "linear_key": [("", "lin" + "_api_" + some(ALNUM, 40), "")],
    "notion_token": [("", "nt" + "n_" + some(ALNUM, 46), "")],
    "postman_key": [("", "PM" + "AK-" + some(HEX, 24) + "-" + some(HEX, 34), "")],
    "newrelic_key": [("", "NR" + "AK-" + upper(27), "")],
    "sentry_token": [("", "sntr" + "ys_" + some(ALNUM, 60), "")],
    "grafana_token": [("", "gl" + "sa_" + some(ALNUM, 32) + "_" + some(HEX, 8), "")],
    "groq_key": [("", "gs" + "k_" + some(ALNUM, 52), "")],
    "xai_key": [("", "xa" + "i-" + some(ALNUM, 80), "")],
    "perplexity_key": [("", "pp" + "lx-" + some(ALNUM, 48), "")],
    "replicate_token": [("", "r" + "8_" + some(ALNUM, 37), "")],
    "docker_token": [("", "dckr" + "_pat_" + some(ALNUM, 27), "")],
    "atlassian_token": [("", "ATA" + "TT3" + some(ALNUM, 180), "")],
    "airtable_token": [("", "pa" + "t" + some(ALNUM, 14) + "." + some(HEX, 64), "")],
    "figma_token": [("", "fig" + "d_" + some(ALNUM, 40), "")],
    "supabase_token": [("", "sb" + "p_" + some(HEX, 40), "")],
    "rubygems_key": [("", "ruby" + "gems_" + some(HEX, 48), "")],
    "planetscale_token": [("", "pscale" + "_tkn_" + some(ALNUM, 43), "")],
    "age_secret_key": [("", "AGE-SECRET" + "-KEY-1" + upper(58), "")],
    "us_ssn": [("SSN: ", "123-45-" + "6789", ""), ("social security number ", "123456789", "")],
    "jwt": [("", jwt(), "")],
    "discord_token": [("", discord(), "")],
    "url_password": [
        ("postgres://ann:", some(ALNUM, 12), "@db.example.com/app"),
        ("https://ann:", "p@" + some(ALNUM, 8), "@example.com"),
    ],
    "authorization": [
        ("Authorization: Bearer ", some(ALNUM, 40), ""),
        ('{"Authorization": "Token ', some(HEX, 40), '"}'),
        ("use bearer ", some(ALNUM, 32), ""),
    ],
    "basic_credentials": [("Basic ", b64encode(b"ann:" + b"opensesame").decode(), "")],
    "credit_card": [
        ("card ", card("4", 16), ""),
        ("card ", card("37", 15), ""),
        ("card ", card("5412", 16), ""),
    ],
    "iban": [("", iban("DE", 22), ""), ("", iban("NO", 15), ""), ("", iban("MT", 31), "")],
    "password": [
        ("password=", "hunter" + "2", ""),
        ("password=", "swordfish", ""),
        ("Passwort: ", "geheim" + "123", ""),
        ("DB_PASSWORD=", "$ecret" + "42", ";Server=x"),
        ("密码：", "abc" + "123", "，谢谢"),
        ("密码是", "abc" + "123", "谢谢"),
        ("パスワードは", "abc" + "12345", "です"),
        ("비밀번호: ", "abc" + "12345", ""),
        ("mot de passe : ", "chat" + "1234", ""),
        ("contraseña: ", "perro" + "55", ""),
        ("senha=", "gato" + "55", ""),
        ("пароль: ", "qwerty" + "12", ""),
        ('{"password": "', "correct horse battery", '"}'),
        ('{\\"password\\": \\"', "hunter" + "2", '\\"}'),
        ("mysql --password ", "hunter" + "2", " -u root"),
        ("my password is ", "Blue" + "42sky", ""),
    ],
    "secret_key": [
        ('api_key: "', "abcd" + "1234efgh", '"'),
        ("client_secret=", some(ALNUM, 24), ""),
        ("API密钥：", some(HEX, 32), ""),
    ],
    "password_hash": [
        ("ann:", "$2" + "y$10$" + some(ALNUM, 53), ""),
        ("root:", "$6" + "$saltsalt$" + some(ALNUM, 86), ":19000"),
    ],
    "seed_phrase": [("seed phrase: ", " ".join(["abandon", "legal", "winner"] * 4), "")],
    "cookie": [("Cookie: theme=dark; sid=", some(ALNUM, 32), "; lang=en")],
    "security_code": [("CVV: ", "737", ""), ("CVC is ", "1234", "")],
    "pin": [("my PIN is ", "4711", ""), ("PIN code: ", "0815", "")],
    "docker_auth": [('{"auth": "', b64encode(b"ann:" + b"opensesame").decode(), '"}')],
    "secret_token": [("token: ", some(HEX, 40), ""), ('secret = "', some(ALNUM, 32), '"')],
}
ALL = [(kind, *example) for kind, examples in EXAMPLES.items() for example in examples]
IDS = [f"{kind}-{number}" for number, (kind, *_) in enumerate(ALL)]


def test_X11_every_kind_has_an_example() -> None:
    assert set(EXAMPLES) == set(KIND_NAMES)
    assert len(KIND_NAMES) >= 60


@pytest.mark.parametrize(("kind", "before", "secret", "behind"), ALL, ids=IDS)
def test_X11_a_secret_is_replaced_and_the_rest_stays(
    kind: str, before: str, secret: str, behind: str
) -> None:
    result = redact(f"see {before}{secret}{behind} end")
    assert result.text == f"see {before}[redacted:{kind}]{behind} end"
    assert result.found == (Secret(kind, 1),)


@pytest.mark.parametrize(("kind", "before", "secret", "behind"), ALL, ids=IDS)
def test_X11_a_secret_beside_letters_of_other_scripts_is_replaced(
    kind: str, before: str, secret: str, behind: str
) -> None:
    text = f"这是{before}{secret}{behind or '吗'}好的"
    assert redact(text).text == text.replace(secret, f"[redacted:{kind}]")


@pytest.mark.parametrize("invisible", ["\u200b", "\u00ad", "\u2060", "\ufeff", "\u200d", "\ufe0f"])
@pytest.mark.parametrize(("kind", "before", "secret", "behind"), ALL, ids=IDS)
def test_X11_invisible_characters_do_not_hide_a_secret(
    kind: str, before: str, secret: str, behind: str, invisible: str
) -> None:
    hidden = invisible.join(secret)
    result = redact(f"é {before}{hidden}{behind} end")
    assert result.text == f"é {before}[redacted:{kind}]{behind} end"


@pytest.mark.parametrize(("kind", "before", "secret", "behind"), ALL, ids=IDS)
def test_X11_full_width_letters_do_not_hide_a_secret(
    kind: str, before: str, secret: str, behind: str
) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in secret)
    assert unicodedata.normalize("NFKC", wide) == secret
    result = redact(f"ｏｋ {before}{wide}{behind} ｅｎｄ")
    assert result.text == f"ｏｋ {before}[redacted:{kind}]{behind} ｅｎｄ"


def test_X11_card_numbers_in_groups_are_found_and_wrong_ones_are_not() -> None:
    number = card("4", 16)
    for blank in " -":
        grouped = blank.join(number[i : i + 4] for i in range(0, 16, 4))
        assert redact(f"card {grouped}!").text == "card [redacted:credit_card]!"
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert redact(f"card {wrong}").found == ()


def test_X11_ibans_in_groups_are_found_and_wrong_ones_are_not() -> None:
    number = iban("DE", 22)
    grouped = " ".join(number[i : i + 4] for i in range(0, 22, 4))
    assert redact(f"to {grouped} today").text == "to [redacted:iban] today"
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert redact(f"to {wrong}").found == ()


def test_X11_two_secrets_in_one_text_are_counted() -> None:
    first, second = "hf_" + some(ALNUM, 34), "hf_" + some(ALNUM, 34)
    result = redact(f"{first}, {second} and AKIA{upper(16)}")
    assert result.text == (
        "[redacted:huggingface_token], [redacted:huggingface_token] and [redacted:aws_access_key]"
    )
    assert result.found == (Secret("aws_access_key", 1), Secret("huggingface_token", 2))
    assert first not in repr(result)


@pytest.mark.parametrize("line", BENIGN)
def test_X11_ordinary_lines_are_left_alone(line: str) -> None:
    assert redact(line).found == ()
    assert redact(line).text is line


def test_X11_the_ordinary_lines_together_are_left_alone() -> None:
    assert len(BENIGN) >= 200
    text = "\n".join(BENIGN)
    assert redact(text).found == ()


AROUND = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\"'`<>"), max_size=40
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(ALL), AROUND, AROUND)
def test_X11_a_secret_planted_anywhere_does_not_survive(
    example: tuple[str, str, str, str], left: str, right: str
) -> None:
    _, before, secret, behind = example
    planted = f"{left} {before}{secret}{behind} {right}"
    assert secret not in redact(planted).text


DISTINCT = [
    example
    for example in ALL
    if example[0] in ("github_token", "anthropic_key", "jwt", "npm_token", "slack_token")
]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(DISTINCT), st.text(max_size=20), st.text(max_size=20))
@example(next(one for one in DISTINCT if one[0] == "jwt"), ".", "")
def test_X11_a_secret_with_a_clear_beginning_needs_no_blank_around_it(
    example: tuple[str, str, str, str], left: str, right: str
) -> None:
    assert example[2] not in redact(left + example[2] + right).text


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_X11_text_without_findings_is_the_same_object(text: str) -> None:
    result = redact(text)
    if not result.found:
        assert result.text is text


PIECES = st.sampled_from(
    [
        *(before + secret + behind for _, before, secret, behind in ALL),
        "password=",
        "token: ",
        "[redacted:",
        "[redacted:jwt]",
        "://a:",
        "@host",
        '"',
        " ",
        "\u200b",
        "密码：",
        "-----BEGIN PRIVATE" + " KEY-----",
    ]
)


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES | st.text(max_size=5), max_size=6).map("".join))
def test_X11_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


def test_X11_a_value_is_redacted_in_keys_lists_and_fields() -> None:
    token = "gh" + "p_" + some(ALNUM, 36)
    value = {
        "password": "hunter" + "2",
        "note": ["fine", {"deep": f"use {token} now"}],
        token: 1,
        "card": int(card("4", 16)),
        "count": 3,
        "ok": True,
        "nothing": None,
        "token": "none",
        "pair": ("a", token),
    }
    safe, found = redact_value(value)
    assert safe == {
        "password": "[redacted:password]",
        "note": ["fine", {"deep": "use [redacted:github_token] now"}],
        "[redacted:github_token]": 1,
        "card": "[redacted:credit_card]",
        "count": 3,
        "ok": True,
        "nothing": None,
        "token": "none",
        "pair": ("a", "[redacted:github_token]"),
    }
    assert found == (
        Secret("credit_card", 1),
        Secret("github_token", 3),
        Secret("password", 1),
    )


def test_X11_two_keys_that_are_secrets_both_stay() -> None:
    value = {"hf_" + some(ALNUM, 34): 1, "hf_" + some(ALNUM, 34): 2}
    safe, _ = redact_value(value)
    assert sorted(safe.values()) == [1, 2]


def test_X11_a_value_nested_too_deeply_is_refused() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(Invalid, match="nested"):
        redact_value(value)


def test_X11_kinds_can_be_chosen_and_added() -> None:
    token = "gh" + "p_" + some(ALNUM, 36)
    only_jwt = Redactor(kinds=frozenset({"jwt"}), extra={"badge": r"badge (\d{6})"})
    result = only_jwt.redact(f"{token} badge 123456 {jwt()}")
    assert result.text == f"{token} badge [redacted:badge] [redacted:jwt]"
    assert only_jwt.redact_value({"password": "hunter" + "2"})[1] == ()


@pytest.mark.parametrize(
    ("kinds", "extra"),
    [
        (None, {"broken": "("}),
        (None, {"Bad Name": "x"}),
        (None, {"jwt": "x"}),
        (frozenset({"no_such_kind"}), {}),
    ],
)
def test_X11_wrong_settings_are_refused(
    kinds: frozenset[str] | None, extra: dict[str, str]
) -> None:
    with pytest.raises(Invalid):
        Redactor(kinds=kinds, extra=extra)


def test_X11_own_patterns_never_redact_the_marks() -> None:
    greedy = Redactor(extra={"word": "[a-z]+"})
    once = greedy.redact("some words here").text
    assert once == "[redacted:word] [redacted:word] [redacted:word]"
    assert greedy.redact(once).text == once


def test_X11_the_redactor_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Redactor().kinds = frozenset()  # type: ignore[misc]


HOSTILE = {
    "one letter": "a" * 1_000_000,
    "beginnings of keys": "sk-" * 300_000,
    "beginnings of web tokens": "eyJ" * 300_000,
    "dots and web tokens": ".eyJ" * 250_000,
    "names of passwords": "password:" * 100_000,
    "quotes": 'password="' * 100_000,
    "flags": "--" * 500_000 + "password token",
    "open key blocks": ("-----BEGIN PRIVATE" + " KEY-----.") * 35_000,
    "digits": "4" * 1_000_000,
    "digits and blanks": "4 " * 500_000,
    "groups of digits": "4111 " * 200_000,
    "addresses": "://a:" * 200_000,
    "full width": "ａ" * 500_000,
    "invisible": "a\u200b" * 500_000,
    "base64": "".join(random.Random(1).choices(ALNUM + "+/", k=1_000_000)),
    "accounts": "DE89" * 250_000,
    "cloud": "aws " * 250_000,
    "chinese": "密码" * 400_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_X11_hostile_text_takes_linear_time(name: str, proving: bool) -> None:
    text = HOSTILE[name] if proving else HOSTILE[name][:250_000]
    started = time.process_time()
    redact(text)
    # Quadratic time would be hours; the bound is wide for slow and busy machines.
    assert time.process_time() - started < 10


def in_a_row(text: str) -> bool:
    """Twelve short words in lower case one behind the other; numbers may stand between them."""
    row = 0
    for word in text.replace(",", " ").split():
        if word.islower() and 3 <= len(word) <= 10:
            row += 1
        elif (word.islower() and len(word) < 11) or not word[0].isdigit():
            row = 0
        if row == 12:
            return True
    return False


@given(
    st.lists(
        st.sampled_from(["zoo", "abandon", "12.", "1) zoo", "a", "Zoo", "zoo,zoo", "verylongword"]),
        max_size=40,
    )
)
def test_the_quick_look_for_phrases_misses_none(words: list[str]) -> None:
    text = " ".join(words)
    assert wallets._may_hold_one(text) == in_a_row(text)
