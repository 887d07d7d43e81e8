"""Secrets that only their neighbourhood gives away: ``password=...``, ``密码：...``, URLs, headers.

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

Span = tuple[int, int]

PASSWORD_NAMES = (
    *(
        "password passwd passwort passphrase passcode pass_word pwd pswd kennwort mdp contraseña "
        "contrasena senha parola wachtwoord lösenord losenord adgangskode passord salasana hasło "
        "haslo heslo jelszó jelszo пароль şifre sifre पासवर्ड סיסמה סיסמא κωδικός 密码 密碼 口令 "
        "暗証番号 パスワード 비밀번호 암호 รหัสผ่าน"
    ).split(),
    "mot de passe",
    "palavra-passe",
    "mật khẩu",
    "mat khau",
    "kata sandi",
    "كلمة المرور",
    "كلمة السر",
)
# Whatever follows these is a secret if it has a letter and a digit.
KEY_NAMES = (
    "api[ _-]?key secret[ _-]?access[ _-]?key secret[ _-]?key client[ _-]?secret "
    "access[ _-]?(?:key|token) auth[ _-]?(?:key|token) private[ _-]?key signing[ _-]?key "
    "encryption[ _-]?key refresh[ _-]?token session[ _-]?(?:key|token) webhook[ _-]?secret "
    "app[ _-]?secret api[ _-]?secret api[ _-]?token bot[ _-]?token api-schlüssel "
    "clé[ _-]?(?:d')?api clave[ _-](?:de[ _-])?api chave[ _-](?:de[ _-])?api chiave[ _-]api "
    "ключ[ _-]api api[ _-]?ключ api[ _-]?密钥 api[ _-]?密鑰 api[ _-]?キー api[ _-]?키 密钥 密鑰 "
    "金鑰 秘密鍵 비밀키"
)
# These are everyday words too, so the value must be long and look random.
TOKEN_NAMES = "token secret credentials? токен секрет 令牌 トークン 토큰"

_QUOTE = "[\"'“”„‘’«»「」`]"
_OPTIONAL_QUOTE = rf"(?:\\{{0,3}}{_QUOTE}|\*{{1,2}})?"
_SEPARATOR = (
    r"(?P<separator>[ \t]{0,4}(?:=>|:=|[:=]{1,2})\*{0,2}[ \t]{0,4}(?:[|>][+-]?[ \t]{0,4})?"
    r"\n?[ \t]{0,8}"
    r"|[ ]?(?:是|为|為|は|は、|은|는)[ ]?"
    r"|[ ]{1,2}(?:is|ist|lautet|est|es|è|é|to|auf)[ ]{1,2}:?[ ]?)"
)
_CJK = "\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff\uff00-\uffef"
_VALUE = (
    rf"(?:\\{{0,3}}{_QUOTE}(?P<quoted>[^\"'“”„‘’«»「」`\n]{{1,200}})(?={_QUOTE}|\\)"
    rf"|(?P<bare>[^\s\"'“”„‘’«»「」`,;<>{_CJK}]{{1,300}}))"
)


_PASSWORD = "|".join(re.escape(name).replace(r"\ ", "[ _-]") for name in PASSWORD_NAMES)
_KEY = "|".join(KEY_NAMES.replace(" _-", "\0").split()).replace("\0", " _-")
_TOKEN = "|".join(TOKEN_NAMES.split())


# Compiled when first needed: together they take longer than importing the rest of the package.
@cache
def _assignment(names: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<name>{names}){_OPTIONAL_QUOTE}(?:[ ]?\([^)\n]{{0,20}}\))?{_SEPARATOR}{_VALUE}"
        rf"|(?<=-)(?P<flag>{names})[ ]{{1,2}}(?P<given>[^\s\"'\-][^\s\"']{{3,300}})",
        re.IGNORECASE,
    )


@cache
def _field(names: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{names})\W*\Z", re.IGNORECASE)


PASSWORD_ANCHORS = tuple(re.split("[ -]", name)[-1] for name in PASSWORD_NAMES)
KEY_ANCHORS = tuple(
    "key secret token schlüssel clé clave chave chiave ключ 密钥 密鑰 キー 키 金鑰 鍵".split()
)

TOKEN_ANCHORS = tuple("token secret credential токен секрет 令牌 トークン 토큰".split())

# Words that stand behind "password:" in forms, code and prose.
_NO_SECRETS = frozenset(
    """none null nil true false yes no str string int integer bool boolean text bytes any object
    required optional empty unset undefined default todo tbd here hidden changed change reset
    forgot forgotten vergessen expired wrong incorrect invalid missing field input hash hashed
    protected manager policy prompt secret secrets password passwords passwort passwd token tokens
    value values example placeholder redacted removed masked unknown not your the a an please bitte
    see enter use set get must should is are optional[str] secretstr char varchar email username
    and or but login ändern andern geändert erforderlich obligatoire requis vacío incorrecta
    incorrecto olvidada obligatoria obrigatória esquecida erreur oublié error fail failed ok
    self._password undefined; strength length minimum maximum confirmation confirm""".split()
)
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
    for match in _assignment(_PASSWORD).finditer(text):
        span = _value_span(match)
        value = text[span[0] : span[1]]
        if is_password(value) and _stands_for_itself(match, span, value):
            yield span


def find_keys(text: str) -> Iterator[Span]:
    for match in _assignment(_KEY).finditer(text):
        span = _value_span(match)
        if is_key(text[span[0] : span[1]]):
            yield span


def find_tokens(text: str) -> Iterator[Span]:
    for match in _assignment(_TOKEN).finditer(text):
        start, end = _value_span(match)
        token = _TOKEN_CHARACTERS.match(text, start, end)
        if token and is_random(token.group()):
            yield token.span()


def secret_kind_of_field(name: str, value: str) -> str:
    """The kind of secret that a field of this name holds, or nothing."""
    tail = name[-60:]
    if _field(_PASSWORD).search(tail) and is_password(value):
        return "password"
    if _field(_KEY).search(tail) and is_key(value):
        return "secret_key"
    if _field(_TOKEN).search(tail) and is_random(value):
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
    if len(value.strip()) < 4 or value.lower().strip(" .!?") in _NO_SECRETS or _CODE.match(value):
        return False
    if _CALL.match(value) or _PATH.match(value):
        return False
    names = re.search(_PASSWORD, value, re.IGNORECASE)
    # "password = new_password", "Enter your password"
    return not (names and not re.search(r"\d", value))


def _stands_for_itself(match: re.Match[str], span: Span, value: str) -> bool:
    """A lone word behind a colon may begin a sentence: "Password: ask Ann for it"."""
    if match["quoted"] is not None:
        words = value.lower().split()
        return len(words) < 2 or not _NO_SECRETS.intersection(words[:2])
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
