"""Secrets that the place gives away where they stand: command lines, cookies, elements of XML,
hashes of passwords, recovery phrases, and the codes that people write beside their cards."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator

from recollect.text.redact.assignments import PASSWORD_NAMES, Span, is_password, is_random

ANCHORS = ("pass=", "curl", "mysql", "mariadb", "sshpass")

_STRONG = re.compile(r"(?=.*[A-Za-z])(?=.*[\d!@#$%^&*+=~?])")
_NAMES = "|".join(re.escape(name) for name in PASSWORD_NAMES)

_COMMANDS = (
    re.compile(
        r"(?<![A-Za-z])(?:mysql|mariadb)[a-z]{0,10}(?=[ ])[^\n]{0,120}?[ ]-p"
        r"([^\s'\"][^\s'\"]{3,120})"
    ),
    re.compile(
        r"(?<![A-Za-z])curl(?=[ ])[^\n]{0,200}?[ ](?:-u|--user)[ =]?[\"']?"
        r"[^\s:\"']{1,64}:([^\s\"']{3,200})"
    ),
    re.compile(r"(?<![A-Za-z])sshpass\s+-p\s?[\"']?([^\s\"']{4,200})"),
    re.compile(r"(?<![A-Za-z])login\s+\S{1,100}\s+password\s+(\S{4,200})"),
    re.compile(r"(?<![A-Za-z])[Pp][Aa][Ss][Ss]=[\"']?([^\s&;,\"'<>]{6,200})"),
)
_ELEMENT = re.compile(
    rf"<[\w.:-]{{0,40}}(?:{_NAMES})(?:\s[^<>]{{0,100}})?>([^<>\s]{{4,200}})</", re.IGNORECASE
)
_ROW = re.compile(
    rf"\|[ \t]{{0,20}}[*`]{{0,2}}(?:[\w ]{{0,20}}[ _-])?(?:{_NAMES})[*`]{{0,2}}[ \t]{{0,20}}\|"
    r"[ \t]{0,20}[*`]{0,2}([^|\s*`]{6,200})[*`]{0,2}[ \t]{0,20}\|",
    re.IGNORECASE,
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
_WORDS = "|".join(
    rf"(?:[a-z]{{3,8}}[ ,\n]{{1,3}}){{{n - 1}}}[a-z]{{3,8}}" for n in (24, 21, 18, 15, 12)
)
SEED_PHRASE = (
    r"(?i:(?:seed|recovery|backup|mnemonic|secret)[ -]?(?:phrase|words)|mnemonic)"
    rf"[^\n:=]{{0,30}}[:=]?\s{{1,4}}[\"']?({_WORDS})(?![a-z])"
)
SECURITY_CODE = (
    r"(?<![A-Za-z])(?i:cvv2?|cvc2?|cvn|card (?:security|verification) (?:code|value|number))"
    r"(?:[ ]?(?:code|number|no\.?))?[ ]?(?:is|ist|est|es|[:=#])?[ ]{0,3}(\d{3,4})(?![\d.])"
)
PIN = (
    r"(?<![A-Za-z-])(?:PIN|[Pp]in(?=[ -]?(?:code|number|nummer)))(?:[ -]?(?:[Cc]ode|[Nn]umber"
    r"|[Nn]ummer))?(?:[ ](?:is|ist|lautet|est|es)|[ ]?[:=])[ ]{0,2}(\d{4,8})(?![\d.,]\d|\d)"
)


def find_passwords_in_place(text: str) -> Iterator[Span]:
    """What stands where only a password stands."""
    for pattern in _COMMANDS:
        for match in pattern.finditer(text):
            if _STRONG.match(match[1]) and is_password(match[1]):
                yield match.span(1)
    for match in _ELEMENT.finditer(text):
        if is_password(match[1]):
            yield match.span(1)
    for match in _ROW.finditer(text):
        if _STRONG.match(match[1]) and is_password(match[1]):
            yield match.span(1)


def find_cookies(text: str) -> Iterator[Span]:
    for line in _COOKIES.finditer(text):
        for match in _COOKIE.finditer(text, *line.span(1)):
            looks = is_random(match[2]) or (_SESSION.search(match[1]) and _STRONG.match(match[2]))
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
