"""Secrets that look like nothing in particular: keys of wallets, the words that restore them, and
the seeds of one-time passwords. A checksum or a name beside them tells them from hashes and lists.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from standfast.text.redact.assignments import Span

# The words of BIP 39; a phrase has so many of them.
PHRASE_LENGTHS = (24, 21, 18, 15, 12)
# Every run of such words, taken at once: ordinary text is gone through one time.
_RUN = re.compile(r"(?<![A-Za-z])[a-z]{3,8}(?![A-Za-z])(?:[ ,\n]{1,3}[a-z]{3,8}(?![A-Za-z]))*+")
RUN_LEAST = 12 * 3 + 11
_NUMBERED = re.compile(r"(?<!\d)1[.)] ?[a-z]{3,8}(?:[ ,\n]{1,3}\d{1,2}[.)] ?[a-z]{3,8}){11,23}")
_LETTERS = re.compile(r"[a-z]+")
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_WIF = re.compile(r"(?<![A-Za-z0-9])(?:[5KL9c][1-9A-HJ-NP-Za-km-z]{50,51})(?![A-Za-z0-9])")
_EXTENDED = re.compile(r"(?<![A-Za-z0-9])[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{100,112}(?![A-Za-z0-9])")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?[0-9a-fA-F]{64}(?![0-9A-Za-z])")
_KEY_NAME = re.compile(
    r"priv(?:ate|at)?[ _-]?key|secret[ _-]?key|wallet[ _-]?key|signing[ _-]?key|master[ _-]?key"
    r"|private[rn]? schlüssel|geheime[rn]? schlüssel|clé privée|clave privada|chiave privata"
    r"|chave privada|приватный ключ|закрытый ключ|私钥|秘密鍵",
    re.IGNORECASE,
)
_PUBLIC = re.compile(
    r"sha-?\d|hash|digest|fingerprint|checksum|public|commit|etag|prüfsumme|txid|transaction",
    re.IGNORECASE,
)
BESIDE = 80  # characters in which a name counts
BEHIND = 40  # and those behind, where the sentence goes on: "... is my TOTP seed"
_SENTENCE_END = re.compile(r"[.!?]\s|[\n;]")
_OTPAUTH = re.compile(r"otpauth://[^\s\"'<>]{0,300}?[?&]secret=([A-Za-z2-7]{8,128}={0,6})")
_OTP_NAME = re.compile(
    r"(?<![A-Za-z])(?:totp|hotp|otp|2fa|mfa|two[ -]factor|authenticator|zwei-?faktor)",
    re.IGNORECASE,
)
_SEED = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z2-7]{16,64}|(?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{4}"
    r"|[a-z2-7]{16,64}|(?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4})=*(?![A-Za-z0-9])"
)


def find_phrases(text: str) -> Iterator[Span]:
    """Words of the list, as many as a phrase has: all that stand together, or with a checksum."""
    if not _may_hold_one(text):
        return
    for pattern in (_RUN, _NUMBERED):
        for run in pattern.finditer(text):
            if run.end() - run.start() < RUN_LEAST:
                continue
            words = list(_LETTERS.finditer(text, *run.span()))
            numbers = [_numbers().get(word.group(), -1) for word in words]
            yield from _phrases(words, numbers)


def _may_hold_one(text: str) -> bool:
    """A quick look: are there twelve short words in a row, numbers aside?"""
    words = text.replace(",", " ").split()
    least = PHRASE_LENGTHS[-1]
    end = least  # of the next twelve; one of them that ends a row is what most texts have
    while end <= len(words):
        ended = next((at for at in range(end - 1, end - least - 1, -1) if _ends_row(words[at])), -1)
        if ended < 0:
            return _has_row(words)
        end = ended + 1 + least
    return False


def _ends_row(word: str) -> bool:
    if word.islower() and len(word) < 11:
        return len(word) < 3
    return not word[0].isdigit()


def _has_row(words: Sequence[str]) -> bool:
    row = 0
    for word in words:
        if word.islower() and len(word) < 11:
            row += len(word) > 2
            if len(word) < 3:
                row = 0
            elif row >= PHRASE_LENGTHS[-1]:
                return True
        elif not word[0].isdigit():
            row = 0
    return False


def _phrases(words: Sequence[re.Match[str]], numbers: Sequence[int]) -> Iterator[Span]:
    place = 0
    while place <= len(words) - PHRASE_LENGTHS[-1]:
        length = next((n for n in PHRASE_LENGTHS if _is_phrase(numbers, place, n)), 0)
        if length:
            yield words[place].start(), words[place + length - 1].end()
        place += length or 1


def _is_phrase(numbers: Sequence[int], place: int, length: int) -> bool:
    part = numbers[place : place + length]
    if len(part) < length or min(part) < 0 or len(set(part)) < 2:
        return False
    varied = 3 * len(set(part)) >= 2 * length
    if len(numbers) == length:
        return varied or _has_checksum(part)
    return varied and _has_checksum(part)


def _has_checksum(numbers: Sequence[int]) -> bool:
    whole = 0
    for number in numbers:
        whole = whole << 11 | number
    check = len(numbers) // 3
    entropy = (whole >> check).to_bytes((len(numbers) * 11 - check) // 8, "big")
    return hashlib.sha256(entropy).digest()[0] >> (8 - check) == whole & ((1 << check) - 1)


@cache
def _numbers() -> dict[str, int]:
    text = files("standfast.text.redact").joinpath("phrase_words.txt").read_text("ascii")
    return {word: number for number, word in enumerate(text.split())}


def find_wallet_keys(text: str) -> Iterator[Span]:
    for pattern in (_WIF, _EXTENDED):
        for match in pattern.finditer(text):
            if _is_checked(match.group()):
                yield match.span()
    for match in _HEX.finditer(text):
        before = text[max(0, match.start() - BESIDE) : match.start()]
        behind = text[match.end() : match.end() + BESIDE // 2]
        line = before.rpartition("\n")[2] or before
        named = _KEY_NAME.search(line) or _KEY_NAME.search(behind.partition("\n")[0])
        if named and not _PUBLIC.search(line):
            yield match.span()


def _is_checked(key: str) -> bool:
    """Base58 whose last four bytes are the hash of the others."""
    number = 0
    for character in key:
        number = number * 58 + _BASE58.index(character)
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    body, check = raw[:-4], raw[-4:]
    return hashlib.sha256(hashlib.sha256(body).digest()).digest()[:4] == check


def find_one_time_seeds(text: str) -> Iterator[Span]:
    for match in _OTPAUTH.finditer(text):
        yield match.span(1)
    for match in _SEED.finditer(text):
        line = text[max(0, match.start() - BESIDE) : match.start()].rpartition("\n")[2]
        letters = re.sub("[ -]", "", match.group())
        plain = letters.isalpha() and (not letters.isupper() or letters != match.group())
        behind = _SENTENCE_END.split(text[match.end() : match.end() + BEHIND], maxsplit=1)[0]
        named = _OTP_NAME.search(line) or _OTP_NAME.search(behind)
        if named and not plain and len(set(letters)) > 4:
            yield match.span()
