"""The kinds of secrets that redaction knows, each with the way to find it.

A pattern looks at ASCII neighbours only, because in many scripts a secret stands beside a
letter without a blank. Every repetition is bounded or consumes what it scanned, so that no
text takes more than linear time.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterator
from functools import cache

from standfast.text.redact import assignments as assigned
from standfast.text.redact import wallets
from standfast.text.redact.assignments import Span
from standfast.text.redact.prose import find_spoken_passwords
from standfast.text.words import words
from standfast.types.frozen import frozen

Finder = Callable[[str], Iterator[Span]]


@frozen(kw_only=False)
class Kind:
    """``anchors``: one of these, or a word of the section ``named`` of the language files, must be
    in the text (in lower case) for ``find`` to be asked. ``begins``: how it begins, for those that
    can be put together again when they were broken. ``reach``: nothing that ``find`` looks at is
    further than so many characters from an anchor; 0: it may be anywhere."""

    name: str
    anchors: tuple[str, ...]
    find: Finder
    begins: str = ""
    named: str = ""
    reach: int = 0

    def all_anchors(self) -> tuple[str, ...]:
        """Of a name of several words the last one is enough."""
        names = words(self.named) if self.named else ()
        return (*self.anchors, *(re.split("[ -](?=.)", name)[-1] for name in names))


def by_pattern(pattern: str, check: Callable[[str], bool] | None = None) -> Finder:
    """Finds what a pattern matches: its first group if it has one, else all of it."""

    def find(text: str) -> Iterator[Span]:
        expression = compiled(pattern)
        group = 1 if expression.groups else 0
        for match in expression.finditer(text):
            if match.end(group) > match.start(group) and (check is None or check(match[group])):
                yield match.span(group)

    return find


# Compiled when first needed, because importing the package must stay cheap.
compiled = cache(re.compile)


_DIGITS = tuple("0123456789")
_WORD = "A-Za-z0-9_-"

# Name, what must be there, pattern.
_BY_PREFIX = (
    ("aws_access_key", "akia asia", r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    ("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    ("github_fine_grained_token", "github_pat_", r"github_pat_[A-Za-z0-9_]{36,255}"),
    ("gitlab_token", "gl", rf"gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent|imt|oas)-[{_WORD}]{{20,}}"),
    ("slack_token", "xox", r"xox[abeoprs](?:\.xox[abp])?-[A-Za-z0-9-]{10,}"),
    ("slack_app_token", "xapp-", r"xapp-[A-Za-z0-9-]{20,}"),
    (
        "slack_webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{20,})",
    ),
    ("anthropic_key", "sk-ant-", rf"sk-ant-[{_WORD}]{{20,}}"),
    (
        "openai_key",
        "sk-",
        rf"sk-(?:proj|svcacct|admin|None)-[{_WORD}]{{20,}}|"
        r"(?<![A-Za-z0-9])sk-"
        r"(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{20,}",
    ),
    ("openrouter_key", "sk-or-", r"sk-or-(?:v1-)?[A-Za-z0-9]{32,}"),
    ("google_api_key", "aiza", rf"AIza[{_WORD}]{{35}}"),
    ("google_oauth_secret", "gocspx-", rf"GOCSPX-[{_WORD}]{{20,}}"),
    ("google_oauth_token", "ya29.", rf"ya29\.[{_WORD}]{{20,}}"),
    ("stripe_key", "_live_ _test_", r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("stripe_webhook_secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}"),
    ("twilio_key", "sk ac", r"(?<![A-Za-z0-9])(?:SK|AC)[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("sendgrid_key", "sg.", rf"SG\.[{_WORD}]{{16,32}}\.[{_WORD}]{{32,64}}"),
    (
        "mailgun_key",
        "key- -",
        r"(?<![A-Za-z0-9])key-[0-9a-f]{32}(?![0-9A-Za-z])"
        r"|(?<![0-9A-Za-z-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9A-Za-z-])",
    ),
    ("mailchimp_key", "-us", r"(?<![0-9A-Za-z])[0-9a-f]{32}-us\d{1,2}(?!\d)"),
    ("npm_token", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    ("pypi_token", "pypi-ag", rf"pypi-Ag[{_WORD}]{{40,}}"),
    ("huggingface_token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    ("digitalocean_token", "_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    (
        "azure_storage_key",
        "accountkey= sharedaccesskey=",
        r"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})",
    ),
    (
        "azure_signature",
        "sig=",
        r"(?:[?&;,\s\"']|\A)sig=([A-Za-z0-9%+/_-]{30,}={0,2})",
    ),
    (
        "url_signature",
        "signature=",
        r"(?i:X-Amz-Signature|X-Goog-Signature|[?&]Signature)=([A-Za-z0-9%+/~_-]{32,}={0,2})",
    ),
    ("telegram_token", ":a", rf"\d{{8,10}}:A[{_WORD}]{{34,}}"),
    (
        "discord_webhook",
        "/api/webhooks/",
        rf"discord(?:app)?\.com/api/webhooks/(\d{{15,21}}/[{_WORD}]{{20,}})",
    ),
    ("shopify_token", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("databricks_token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    ("vault_token", "hvs. hvb.", rf"hv[sb]\.[{_WORD}]{{24,}}"),
    ("linear_key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,}"),
    ("notion_token", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    ("postman_key", "pmak-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("newrelic_key", "nrak-", r"NRAK-[A-Z0-9]{27}"),
    ("sentry_token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_]{40,}"),
    (
        "grafana_token",
        "glsa_ glc_",
        r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}",
    ),
    ("groq_key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    ("xai_key", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    ("perplexity_key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    ("replicate_token", "r8_", r"(?<![A-Za-z0-9])r8_[A-Za-z0-9]{37}"),
    ("docker_token", "dckr_", rf"dckr_(?:pat|oat)_[{_WORD}]{{20,}}"),
    ("atlassian_token", "atatt3", r"ATATT3[A-Za-z0-9_=-]{60,}"),
    ("airtable_token", "pat", r"(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("figma_token", "figd_", rf"figd_[{_WORD}]{{36,}}"),
    ("supabase_token", "sbp_", r"sbp_[0-9a-f]{40}"),
    ("rubygems_key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    ("planetscale_token", "pscale_", rf"pscale_(?:tkn|pw|oauth)_[.={_WORD}]{{32,}}"),
    ("age_secret_key", "age-secret-key-", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    (
        "us_ssn",
        "ssn social",
        r"(?i:ssn|social[ -]?security(?:[ -]?(?:number|no\.?|nr\.?|#))?)[^\d\n]{0,15}"
        r"((?!000|666|9\d\d)\d{3}([ -]?)(?!00)\d{2}\2(?!0000)\d{4})(?!\d)",
    ),
)


def _find_jwt(text: str) -> Iterator[Span]:
    """From the second part, which begins behind a dot, back to the beginning of the first:
    a search for beginnings would scan long runs of letters again and again."""
    for match in _JWT_TAIL.finditer(text):
        run = _RUN_BACKWARDS.match(text[max(0, match.start() - 4096) : match.start()][::-1])
        header = run.group()[::-1] if run else ""
        begin = header.find("eyJ")
        if 0 <= begin <= len(header) - 10:
            yield match.start() - len(header) + begin, match.end()
        elif match.group().split(".")[2].startswith("eyJ"):
            # The dot was no part of it: what stands behind is a token by itself.
            yield match.start() + 1, match.end()


_JWT_TAIL = re.compile(r"\.eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*")
_RUN_BACKWARDS = re.compile(r"[A-Za-z0-9_-]+")


_PEM_BEGIN = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,40})PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,60}-----")
_PEM_LENGTH_MAX = 65_536
_GAP = r"(?:\s|\\[nrt]|>)"
# Long lines, and a short one only as the last line: prose behind a cut-off key stays.
_KEY_LINES = (
    rf"(?:{_GAP}*[A-Za-z0-9+/=]{{16,}})*"
    rf"(?:(?:[\r\n]|\\[nr])+[ \t>]*(?:[A-Za-z0-9+/]{{1,14}}={{1,2}}"
    rf"|[A-Za-z0-9+/=]{{1,15}}(?={_GAP}*(?:[\r\n\"']|\\[nr]|\Z)))(?![A-Za-z0-9+/=]))?"
)
_PEM_BODY = re.compile(rf"(?:{_GAP}*[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{0,100}})*{_KEY_LINES}")
_SSH_BODY = rf"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]*{_KEY_LINES}"


def _find_pem(ssh: bool) -> Finder:
    """A block that lost its end reaches as far as the letters of its body do."""

    def find(text: str) -> Iterator[Span]:
        position, next_end = 0, -1
        while begin := _PEM_BEGIN.search(text, position):
            if next_end < begin.end():
                found = text.find("-----END ", begin.end())
                next_end = found if found >= 0 else len(text)
            end = _PEM_END.match(text, next_end)
            body = _PEM_BODY.match(text, begin.end())
            if end and next_end - begin.end() < _PEM_LENGTH_MAX:
                position = end.end()
            else:
                position = body.end() if body else begin.end()
            if ("OPENSSH" in begin[1]) == ssh:
                yield begin.start(), position
        if not ssh:
            yield from _find_beheaded(text)

    return find


_PEM_PRIVATE_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY_LINE = re.compile(r"[ \t>]*[A-Za-z0-9+/=]{4,100}[ \t\r]*")


def _find_beheaded(text: str) -> Iterator[Span]:
    """The end of a key whose beginning is missing, with the lines of the body before it."""
    for end in _PEM_PRIVATE_END.finditer(text):
        start = text.rfind("\n", 0, end.start()) + 1
        if text[start : end.start()].strip(" \t>"):
            continue  # not on a line of its own
        while start > 0:
            before = text.rfind("\n", 0, start - 1) + 1
            if not _BODY_LINE.fullmatch(text, before, start - 1):
                break
            start = before
        if start < end.start() - 16:
            yield start, end.end()


def _find_ssh(text: str) -> Iterator[Span]:
    yield from _find_pem(ssh=True)(text)
    yield from by_pattern(_SSH_BODY)(text)


def _is_discord_token(token: str) -> bool:
    """Its first part is the number of the account in base64."""
    first = token.split(".", 1)[0]
    try:
        return urlsafe_b64decode(first + "=" * (-len(first) % 4)).isdigit()
    except (NotBase64, ValueError):
        return False


_DISCORD = rf"(?<![A-Za-z0-9])[MNO][{_WORD}]{{22,27}}\.[{_WORD}]{{6}}\.[{_WORD}]{{27,40}}"

_CARD_GAP = r"([ .\n-]|[ ]{2}|\*\*[ -]?\*\*)"
_CARD = (
    r"(?<![A-Fa-f0-9_])(?<!\d[.,-])(?<!\d )(?:\d{14,19}"
    rf"|\d{{4}}{_CARD_GAP}\d{{4}}(?:\1|\n)\d{{4}}(?:\1|\n)\d{{4}}(?:\1\d{{3}})?"
    rf"|\d{{4}}{_CARD_GAP}\d{{6}}(?:\2|\n)\d{{4,5}})(?![A-Fa-f0-9_])(?![.,-]\d)"
)
_CARD_DIGITS = 14  # of the shortest
_CARD_BRANDS = (
    re.compile(r"4\d{15}\Z"),
    re.compile(r"(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}\Z"),
    re.compile(r"3[47]\d{13}\Z"),
    re.compile(r"(?:6011|65\d\d|64[4-9]\d)\d{12}\Z"),
    re.compile(r"35(?:2[89]|[3-8]\d)\d{12}\Z"),
    re.compile(r"3(?:0[0-5]|[68]\d)\d{11}\Z"),
    re.compile(r"62\d{14,17}\Z"),
    re.compile(r"220[0-4]\d{12}\Z"),
)


def _find_cards(text: str) -> Iterator[Span]:
    if sum(map(text.count, _DIGITS)) < _CARD_DIGITS:  # most have a number in them, and no more
        return
    for match in re.finditer(_CARD, text, re.ASCII):
        digits = re.sub(r"\D", "", match.group())
        if any(brand.match(digits) for brand in _CARD_BRANDS) and _passes_luhn(digits):
            yield match.span()


def _passes_luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0 and len(set(digits)) > 1


_IBAN = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})\d{2}(?:[ -]?[A-Za-z0-9]){11,30}", re.ASCII)
_IBAN_LENGTHS = {
    country: int(length)
    for length, countries in (
        entry.split(":")
        for entry in """15:NO 16:BE 18:DK,FI,FO,GL,NL,SD 19:MK,SI 20:AT,BA,EE,KZ,LT,LU,MN,XK
        21:CH,HR,LI,LV 22:BG,BH,CR,DE,GB,GE,IE,ME,RS,VA 23:AE,GI,IL,IQ,OM,SO,TL
        24:AD,CZ,ES,MD,PK,RO,SA,SE,SK,TN,VG 25:LY,PT,ST 26:IS,TR 27:BI,DJ,FR,GR,IT,MC,MR,SM
        28:AL,AZ,BY,CY,DO,GT,HU,LB,NI,PL,SV 29:BR,EG,PS,QA,UA 30:JO,KW,MU,YE 31:MT,SC 32:LC
        33:RU""".split()
    )
    for country in countries.split(",")
}


def _find_ibans(text: str) -> Iterator[Span]:
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match[1].upper())
        end = _end_of_characters(text, match.start(), match.end(), length) if length else 0
        follower = text[end : end + 1]
        complete = end > 0 and not (follower.isascii() and follower.isalnum())
        if complete and _passes_mod_97(re.sub(r"[ -]", "", text[match.start() : end])):
            yield match.start(), end


def _end_of_characters(text: str, start: int, stop: int, length: int) -> int:
    """Where the given number of letters and digits ends; 0 if there are fewer."""
    for place in range(start, stop):
        length -= text[place].isalnum()
        if not length:
            return place + 1
    return 0


def _passes_mod_97(iban: str) -> bool:
    turned = (iban[4:] + iban[:4]).upper()
    return int("".join(str(int(character, 36)) for character in turned)) % 97 == 1


# Of these a part would match too easily, once line breaks do not count.
_LOOSE = frozenset(
    ("twilio_key", "mailgun_key", "mailchimp_key", "telegram_token", "us_ssn", "airtable_token")
)


def _beginning(name: str, pattern: str) -> str:
    """The literal beginning of a pattern, as a pattern; "" for those that have none."""
    begins = _LITERAL.match(pattern)
    return begins.group() if begins and name not in _LOOSE else ""


_LITERAL = re.compile(r"(?:[A-Za-z0-9]|\(\?:[\w|]+\)|\[[a-z]+\]){2,}(?:[_-]|\\\.)")

# Several times what their patterns span, so that none of them meets the end of what it is shown.
_REACH = 2_000

KINDS: tuple[Kind, ...] = (
    Kind("private_key", ("private key",), _find_pem(ssh=False)),
    Kind("ssh_private_key", ("openssh private key", "b3blbnnzac1rzxktdje"), _find_ssh),
    *(
        Kind(name, tuple(words.split()), by_pattern(text), _beginning(name, text))
        for name, words, text in _BY_PREFIX
    ),
    Kind("jwt", (".eyj",), _find_jwt, r"eyJ[A-Za-z0-9_-]{2,}"),
    Kind("discord_token", (".",), by_pattern(_DISCORD, _is_discord_token)),
    Kind("aws_secret_key", ("aws", "access", "akia", "asia"), assigned.find_aws_secrets),
    Kind("url_password", ("://",), assigned.find_url_passwords),
    Kind("authorization", ("authorization", "bearer"), assigned.find_authorization),
    Kind("basic_credentials", ("basic",), assigned.find_basic_credentials),
    Kind("docker_auth", ('"auth"',), assigned.find_docker_auth),
    Kind("credit_card", _DIGITS, _find_cards),
    Kind("iban", _DIGITS, _find_ibans),
    Kind(
        "password",
        assigned.ANCHORS,
        assigned.find_passwords,
        named="secrets.passwords",
        reach=_REACH,
    ),
    Kind(
        "spoken_password",
        (
            "login",
            "log in",
            "log-in",
            "logge",
            "sign in",
            "sign-in",
            "signin",
            "anmelden",
            "melde",
            "einlog",
        ),
        find_spoken_passwords,
        named="secrets.passwords",
        reach=_REACH,
    ),
    Kind("password_hash", ("$",), by_pattern(assigned.PASSWORD_HASH)),
    Kind("seed_phrase", (), assigned.find_seed_phrases, named="secrets.phrase_anchors"),
    Kind("recovery_words", (" ",), wallets.find_phrases),
    Kind("wallet_key", _DIGITS, wallets.find_wallet_keys),
    Kind(
        "one_time_seed",
        ("otp", "2fa", "mfa", "factor", "authenticator", "faktor"),
        wallets.find_one_time_seeds,
    ),
    Kind("cookie", ("cookie",), assigned.find_cookies),
    Kind("security_code", (), assigned.find_card_codes, named="secrets.card_code_anchors"),
    Kind("pin", ("pin", "code", "combination", "password"), assigned.find_pins, reach=_REACH),
    Kind("secret_key", (), assigned.find_keys, named="secrets.key_anchors"),
    Kind("secret_token", (), assigned.find_tokens, named="secrets.token_anchors"),
)
KIND_NAMES: tuple[str, ...] = tuple(kind.name for kind in KINDS)
