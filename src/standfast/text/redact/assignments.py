"""Secrets that only their neighbourhood gives away: ``password=...``, ``密码：...``, URLs, headers,
command lines, cookies.

The names come in many languages. A password may be anything that is not plainly a word of
prose or code; a token or key must also look random, because "token: none" is everyday text.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections import Counter
from collections.abc import Iterator
from functools import cache

from standfast.text.words import alternatives, word_set

Span = tuple[int, int]

ANCHORS = ("pass=", "curl", "mysql", "mariadb", "sshpass")  # of passwords without their name

_QUOTE = "[\"'“”„‘’«»「」`]"
_OPTIONAL_QUOTE = rf"(?:\\{{0,3}}{_QUOTE}|\*{{1,2}})?"
_CJK = "\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff\uff00-\uffef"
_VALUE = (
    rf"(?:\\{{0,3}}{_QUOTE}(?P<quoted>[^\"'“”„‘’«»「」`\n]{{1,200}})(?={_QUOTE}|\\)"
    rf"|(?P<bare>[^\s\"'“”„‘’«»「」`,;<>{_CJK}]{{1,300}}))"
)


# Compiled when first needed: together they take longer than importing the rest of the package.
@cache
def _assignment(section: str) -> re.Pattern[str]:
    """A name, how it is joined to its value, and the value."""
    names, dense, spaced = _names(section), *map(alternatives, _JOINING)
    separator = (
        r"(?P<separator>[ \t]{0,4}(?:=>|:=|[:=]{1,2})\*{0,2}[ \t]{0,4}(?:[|>][+-]?[ \t]{0,4})?"
        rf"\n?[ \t]{{0,8}}|[ ]?(?:{dense})[ ]?|[ ]{{1,2}}(?:{spaced})[ ]{{1,2}}:?[ ]?)"
    )
    return re.compile(
        rf"(?P<name>{names}){_OPTIONAL_QUOTE}(?:[ ]?\([^)\n]{{0,20}}\))?{separator}{_VALUE}"
        rf"|(?<=-)(?P<flag>{names})[ ]{{1,2}}(?P<given>[^\s\"'\-][^\s\"']{{3,300}})",
        re.IGNORECASE,
    )


_JOINING = ("secrets.dense_are", "secrets.are")


@cache
def _names(section: str) -> str:
    """The names of a kind of secret; one of several words may be written with - or _."""
    return alternatives(section).replace(r"\ ", "[ _-]")


@cache
def _field(section: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{_names(section)})\W*\Z", re.IGNORECASE)


_CODE = re.compile(
    r"\$[{(]|\$[A-Za-z_]+\Z|%\(\w|%[A-Za-z_]+%|%s\Z|\{\{|\{[\w.]*\}|<|&&|\|\||\\[nrt]"
    r"|\*{2,}|x{3,}\Z|•|\.{3}|…|-+\Z|_+\Z|\[redacted:[a-z0-9_]{1,40}\]"
    r"|(?:self|this|os|args|config|cfg|settings|request|req|process|env|ctx|context|options|opts"
    r"|params|data|form|user|credentials|secrets|environ|input|getpass|getenv|vault|ssm)"
    r"[.\[(][A-Za-z_\"']",
    re.IGNORECASE,
)
_CALL = re.compile(r"(?:[A-Za-z_.]+|\w+[._]\w+|md5|sha\d+|b64\w+|base64)\(")
_TOKEN_CHARACTERS = re.compile(r"[A-Za-z0-9+/=_.~:-]+")
_PATH = re.compile(r"(?:~|\.{0,2})/[\w.-]+/|[A-Za-z]:\\|https?:")
_FLAG = re.compile(r"--[a-z-]{0,30}\Z")
_STRONG = re.compile(r"[\d!@#$%^&*+=~?]")
_ENDS_LINE = re.compile(r"[ \t]*(?:[,;.)\]}\"'|]|$|\n|\r)")


def find_passwords(text: str) -> Iterator[Span]:
    for match in _assignment("secrets.passwords").finditer(text):
        span = _value_span(match)
        value = text[span[0] : span[1]]
        if is_password(value) and _stands_for_itself(match, span, value):
            yield span
    yield from _find_passwords_in_place(text)


def find_keys(text: str) -> Iterator[Span]:
    for match in _assignment("secrets.keys").finditer(text):
        span = _value_span(match)
        if is_key(text[span[0] : span[1]]):
            yield span


def find_tokens(text: str) -> Iterator[Span]:
    for match in _assignment("secrets.tokens").finditer(text):
        start, end = _value_span(match)
        token = _TOKEN_CHARACTERS.match(text, start, end)
        if token and is_random(token.group()):
            yield token.span()


def secret_kind_of_field(name: str, value: str) -> str:
    """The kind of secret that a field of this name holds, or nothing."""
    tail = name[-60:]
    if _field("secrets.passwords").search(tail) and is_password(value):
        return "password"
    if _field("secrets.keys").search(tail) and is_key(value):
        return "secret_key"
    if _field("secrets.tokens").search(tail) and is_random(value):
        return "secret_token"
    return ""


def _value_span(match: re.Match[str]) -> Span:
    for group in ("quoted", "given", "bare"):
        if match[group] is not None:
            start, end = match.span(group)
            break
    if match["quoted"] is None:
        while end > start and match.string[end - 1] in ".)]}:":
            end -= 1
    elif match["quoted"].endswith("\\"):
        end -= 1
    return start, end


def is_password(value: str) -> bool:
    said = value.lower().strip(" .!?")
    if len(value.strip()) < 4 or said in word_set("secrets.no_secrets") or _CODE.match(value):
        return False
    if _CALL.match(value) or _PATH.match(value):
        return False
    names = re.search(_names("secrets.passwords"), value, re.IGNORECASE)
    # "password = new_password", "Enter your password"
    return not (names and not re.search(r"\d", value))


def _stands_for_itself(match: re.Match[str], span: Span, value: str) -> bool:
    """A lone word behind a colon may begin a sentence: "Password: ask Ann for it"."""
    if match["quoted"] is not None:
        words = value.lower().split()
        return len(words) < 2 or not word_set("secrets.no_secrets").intersection(words[:2])
    if match["given"] is not None:
        return _FLAG.search(match.string, max(0, match.start() - 32), match.start()) is not None
    separator = match["separator"].strip()
    if "=" in separator:
        return True
    strong = _STRONG.search(value.rstrip("!?")) is not None
    if separator.startswith(":"):
        return strong or _ENDS_LINE.match(match.string, span[1]) is not None
    return strong and len(value) >= 6


def is_key(value: str) -> bool:
    plain = len(value) >= 8 and not _CODE.match(value) and not _PATH.match(value)
    return plain and _has_letter_and_digit(value) and not re.search(r"\s", value)


def is_random(value: str) -> bool:
    """Long, mixed and without the repetitions of ordinary words."""
    return (
        len(value) >= 16
        and is_key(value)
        and _TOKEN_CHARACTERS.fullmatch(value) is not None
        and not (value.count("/") > 1 and value == value.lower())
        and entropy(value) >= 3.0
    )


def _has_letter_and_digit(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def entropy(value: str) -> float:
    """Bits for each character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


_AUTHORIZATION = re.compile(
    r"authorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?"
    r"(?:(?:bearer|token|digest|apikey|negotiate|basic|bot)[ \t]{1,3})?"
    r"([A-Za-z0-9+/=_.~:-]{8,4096})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(?<![A-Za-z])bearer[ \t]{1,3}([A-Za-z0-9+/=_.~-]{16,4096})", re.IGNORECASE)
_BASIC = re.compile(r"(?<![A-Za-z])basic[ \t]{1,3}([A-Za-z0-9+/]{8,400}={0,2})", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"://[^\s/:@?#\"'<>]{0,128}:([^\s/\"'<>]{1,256})@(?=[A-Za-z0-9\[_-])")
_AWS_SECRET = re.compile(
    r"(?:aws[^\n]{0,30}?(?:secret|key)|secret_?access_?key|(?:AKIA|ASIA)[A-Z0-9]{16})"
    r"[^\nA-Za-z0-9+/]{1,12}(?:secret[^\nA-Za-z0-9+/]{1,6})?"
    r"([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/])",
    re.IGNORECASE,
)


def find_authorization(text: str) -> Iterator[Span]:
    for match in _AUTHORIZATION.finditer(text):
        if re.search(r"\d|=\Z", match[1]) or len(match[1]) >= 24:
            yield match.span(1)
    for match in _BEARER.finditer(text):
        if re.search(r"\d", match[1]):
            yield match.span(1)


def find_basic_credentials(text: str) -> Iterator[Span]:
    for match in _BASIC.finditer(text):
        try:
            decoded = b64decode(match[1] + "=" * (-len(match[1]) % 4), validate=True)
        except (NotBase64, ValueError):
            continue
        if b":" in decoded and decoded.isascii():
            yield match.span(1)


def find_url_passwords(text: str) -> Iterator[Span]:
    for match in _URL_PASSWORD.finditer(text):
        if not re.match(r"\$\{?\w|\{|%\(|\*+\Z|\[redacted:", match[1]):
            yield match.span(1)


def find_aws_secrets(text: str) -> Iterator[Span]:
    for match in _AWS_SECRET.finditer(text):
        if _has_letter_and_digit(match[1]) and not re.fullmatch(r"[0-9a-f]+", match[1]):
            yield match.span(1)


# Places that give a secret away: command lines, cookies, elements of XML, rows of tables, hashes
# of passwords, recovery phrases, and the codes that people write beside their cards.

_MIXED_STRONG = re.compile(r"(?=.*[A-Za-z])(?=.*[\d!@#$%^&*+=~?])")

_COMMANDS = (
    re.compile(
        r"(?<![A-Za-z])(?:mysql|mariadb)[a-z]{0,10}(?=[ ])[^\n]{0,120}?[ ]-p"
        r"([^\s'\"][^\s'\"]{3,120})"
    ),
    re.compile(
        r"(?<![A-Za-z])curl(?=[ ])[^\n]{0,200}?[ ](?:-u|--user)[ =]?[\"']?"
        r"[^\s:\"']{1,64}:([^\s\"']{3,200})"
    ),
    re.compile(r"(?<![A-Za-z])sshpass\s{1,40}-p\s?[\"']?([^\s\"']{4,200})"),
    re.compile(r"(?<![A-Za-z])login\s{1,40}\S{1,100}\s{1,40}password\s{1,40}(\S{4,200})"),
    re.compile(r"(?<![A-Za-z])[Pp][Aa][Ss][Ss]=[\"']?([^\s&;,\"'<>]{6,200})"),
)
_COOKIES = re.compile(
    r"(?<![A-Za-z])(?:set-)?cookie[\"']?[ \t]{0,3}[:=][ \t]{0,3}([^\n]{1,4000})", re.IGNORECASE
)
_COOKIE = re.compile(r"(?<![\w.-])([\w.-]{1,80})=([^\s;,\"']{8,4000})")
_SESSION = re.compile(r"sess|sid\b|auth|token|jwt|login|remember|csrf", re.IGNORECASE)

PASSWORD_HASH = (
    r"\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|\$argon2(?:id?|d)\$[^\s:\"']{20,300}"
    r"|\$(?:1|5|6|y)\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{0,32}\$[./A-Za-z0-9]{22,86}"
    r"|\$(?:P|H)\$[./A-Za-z0-9]{31}|pbkdf2_sha256\$\d{1,9}\$[^\s\"']{20,200}"
)
_PHRASE_WORDS = "|".join(
    rf"(?:[a-z]{{3,8}}[ ,\n]{{1,3}}){{{n - 1}}}[a-z]{{3,8}}" for n in (24, 21, 18, 15, 12)
)


@cache
def _password_element() -> re.Pattern[str]:
    return re.compile(
        rf"<[\w.:-]{{0,40}}(?:{_plain_names()})(?:\s[^<>]{{0,100}})?>([^<>\s]{{4,200}})</",
        re.IGNORECASE,
    )


@cache
def _password_row() -> re.Pattern[str]:
    return re.compile(
        rf"\|[ \t]{{0,20}}[*`]{{0,2}}(?:[\w ]{{0,20}}[ _-])?(?:{_plain_names()})[*`]{{0,2}}"
        r"[ \t]{0,20}\|[ \t]{0,20}[*`]{0,2}([^|\s*`]{6,200})[*`]{0,2}[ \t]{0,20}\|",
        re.IGNORECASE,
    )


def _plain_names() -> str:
    return alternatives("secrets.passwords")


def find_seed_phrases(text: str) -> Iterator[Span]:
    names = alternatives("secrets.phrases")
    yield from _first_groups(
        rf"(?i:{names})[^\n:=]{{0,30}}[:=]?\s{{1,4}}[\"']?({_PHRASE_WORDS})(?![a-z])", text
    )


def find_card_codes(text: str) -> Iterator[Span]:
    names, are = alternatives("secrets.card_codes"), alternatives("secrets.number_are")
    yield from _first_groups(
        rf"(?<![A-Za-z])(?i:{names})[ ]?(?:{are}|[:=#])?[ ]{{0,3}}(\d{{3,4}})(?![\d.])", text
    )


def find_pins(text: str) -> Iterator[Span]:
    """The number behind its name, also with what it opens between them or as an answer to it
    ("the PIN? It's ..."), or before it ("... is the PIN of my card")."""
    names, are = alternatives("secrets.pins"), alternatives("secrets.number_are")
    mine = alternatives("secrets.whose")
    opens = r"[ ](?:of|for|to|on|from|für|de|pour)[ ][^\n.:;!?\d]{1,40}?"
    answers = "[Ii]t['’]?s|[Ii]t is|[Tt]hat['’]?s"
    yield from _first_groups(
        rf"(?<![A-Za-z-])(?:{names})(?:{opens})?(?:[ ](?:{are})|[ ]?[:=]|[ ]?[?.!][ ](?:{answers}))"
        r"[ ]{0,2}(\d{4,8}|\d{1,2}(?:-\d{1,2}){2,3})(?![\d.,:-]\d|\d)",
        text,
    )
    yield from _first_groups(
        rf"(?<![\w.,:/-])(\d{{4,8}})(?:[ ]?[,–—-]{{1,2}}[ ](?:{answers})|[ ](?:{are}))[ ](?:{mine})"
        rf"[ ](?:[\w'’-]{{1,20}}[ ]){{0,3}}(?:{names}|pin|passcode|password)(?![A-Za-z])",
        text,
    )


def _first_groups(expression: str, text: str) -> Iterator[Span]:
    for match in _compiled(expression).finditer(text):
        yield match.span(1)


_compiled = cache(re.compile)


def _find_passwords_in_place(text: str) -> Iterator[Span]:
    """What stands where only a password stands."""
    for pattern in _COMMANDS:
        for match in pattern.finditer(text):
            if _MIXED_STRONG.match(match[1]) and is_password(match[1]):
                yield match.span(1)
    for match in _password_element().finditer(text):
        if is_password(match[1]):
            yield match.span(1)
    for match in _password_row().finditer(text):
        if _MIXED_STRONG.match(match[1]) and is_password(match[1]):
            yield match.span(1)


def find_cookies(text: str) -> Iterator[Span]:
    for line in _COOKIES.finditer(text):
        for match in _COOKIE.finditer(text, *line.span(1)):
            looks = is_random(match[2]) or (
                _SESSION.search(match[1]) and _MIXED_STRONG.match(match[2])
            )
            if looks:
                yield match.span(2)


_DOCKER_AUTH = re.compile(r"\"auth\"\s{0,3}:\s{0,3}\"([A-Za-z0-9+/]{8,400}={0,2})\"")


def find_docker_auth(text: str) -> Iterator[Span]:
    for match in _DOCKER_AUTH.finditer(text):
        try:
            decoded = b64decode(match[1], validate=True)
        except (NotBase64, ValueError):
            continue
        if b":" in decoded and decoded.isascii():
            yield match.span(1)
