"""secrets that people say, and those that look like nothing; and 60 look-alikes that stay."""

from __future__ import annotations

import random
import time

import pytest

from standfast.text import redact as redaction
from standfast.text.redact import redact

HEX = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
WIF = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"
WIF_COMPRESSED = "KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYvP98617"
WORDS = "legal winner thank year wave sausage worth useful legal winner thank yellow"
LONG = (
    "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing "
    "screen patrol group space point ten exist slush involve unfold"
)
SIGNATURE = "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1ub3A%3D"

SECRETS = {
    f"My private key is 0x{HEX}": HEX,
    f"wallet private key (hex): {HEX}": HEX,
    f"{HEX} is the private key of the hot wallet": HEX,
    f"Der private Schlüssel lautet {HEX}": HEX,
    f"private key: {HEX.upper()}": HEX.upper(),
    f"import this: {WIF}": WIF,
    f"My paper wallet says {WIF_COMPRESSED}, keep it": WIF_COMPRESSED,
    "2FA secret for GitHub: JBSWY3DPEHPK3PXP": "JBSWY3DPEHPK3PXP",
    "The TOTP seed is JBSW Y3DP EHPK 3PXP": "JBSW Y3DP EHPK 3PXP",
    "authenticator setup key jbswy3dpehpk3pxp": "jbswy3dpehpk3pxp",
    "JBSWY3DPEHPK3PXP is my TOTP seed for GitHub": "JBSWY3DPEHPK3PXP",
    "JBSW Y3DP EHPK 3PXP (the 2FA secret of the shop)": "JBSW Y3DP EHPK 3PXP",
    "otpauth://totp/ACME:ann?secret=GEZDGNBVGY3TQOJQ&issuer=ACME": "GEZDGNBVGY3TQOJQ",
    f"I wrote these down: {WORDS}": WORDS,
    WORDS: WORDS,
    f"keep safe\n{LONG}\nthanks": LONG,
    WORDS.replace(" ", ", "): "sausage",
    "abandon " * 11 + "about": "abandon about",
    "1. legal 2. winner 3. thank 4. year 5. wave 6. sausage 7. worth 8. useful 9. legal "
    "10. winner 11. thank 12. yellow": "sausage",
    "The password for the router is Tr0ub4dor&3": "Tr0ub4dor&3",
    "The password of the staging database was hunter22!": "hunter22",
    "Das Passwort für das WLAN ist Sommer2024!": "Sommer2024",
    "Das Kennwort für den Server lautet Xk9#mPq2": "Xk9#mPq2",
    "Mein WLAN-Passwort ist Katze1234": "Katze1234",
    "Tr0ub4dor&3 is my password": "Tr0ub4dor&3",
    "Sommer2024! ist mein neues Passwort": "Sommer2024",
    "use S3cretP@ss as the password": "S3cretP@ss",
    "Nimm Sommer2024! als Passwort": "Sommer2024",
    "The wifi password changed to c0ffee-Time": "c0ffee-Time",
    "You can log in with ann / Tr0ub4dor&3 there": "Tr0ub4dor&3",
    "log in as admin and Passw0rd!23": "Passw0rd",
    "Le mot de passe pour le serveur est S0leil!2024": "S0leil",
    "8842 is the PIN of my card": "8842",
    "4711, that's my alarm code": "4711",
    "the PIN for my bank card is 9035": "9035",
    "The PIN? It's 7741.": "7741",
    "the door code for the office is 5519": "5519",
    "The wifi password? It's hunter2x": "hunter2x",
    "You wanted the router password. It's gr8-Weather": "gr8-Weather",
    "hunter2x, that's the wifi password": "hunter2x",
    "my password is Fluffy": "Fluffy",
    "The netflix password is swordfish.": "swordfish",
    "482913 is my phone passcode": "482913",
    "the code for the safe is 4477": "4477",
    "the safe combination is 12-34-56": "12-34-56",
    "pin: 8842": "8842",
    "the wifi key is hunter2x99": "hunter2x99",
    "use the passphrase correct horse battery": "horse",
    "My passphrase is correct horse battery staple.": "staple",
    "the passphrase for the backup is purple monkey dishwasher": "monkey",
    "wifi password: correct horse battery staple": "horse",
    f"https://x.blob.core.windows.net/c/f?sv=2022-11-02&sr=b&sig={SIGNATURE}": SIGNATURE,
    f"SharedAccessSignature sr=hub;sig={SIGNATURE}": SIGNATURE,
    f"sig={SIGNATURE}": SIGNATURE,
    f"https://b.s3.amazonaws.com/k?X-Amz-Date=20260101T000000Z&X-Amz-Signature={HEX}": HEX,
}

HARMLESS = (
    f"sha256:{HEX}",
    f"The commit is {HEX[:40]}",
    f"The image digest is {HEX}",
    f"The SHA-256 of the private key file is {HEX}",
    f"The fingerprint {HEX} of the private key's certificate",
    f"Transaction 0x{HEX} went through",
    f"public key {HEX}",
    f"etag {HEX}",
    f"checksum of the backup {HEX}",
    "The address is 1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
    "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq got it",
    "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTX",  # its checksum does not fit
    "The password policy is twelve characters",
    "The password for the router is on the fridge",
    "The password of the router was changed by Ann",
    "The password manager is good",
    "Das Passwort für das WLAN ist geheim",
    "Das Passwort ist vergessen worden",
    "Das Passwort für den Drucker steht im Ordner",
    "Ann is my password hero",
    "Please reset the password of Bob",
    "The password field is required",
    "We log in with our badges",
    "Log in with Google and accept",
    "You can sign in with Apple or with Google",
    "Melde dich mit deiner Karte an",
    "The password reset for release v2.10.3 is done",
    "The password for the demo is in 1Password",
    "The 2FA codes come by mail",
    "2FA IS REQUIRED FOR EVERYONE HERE",
    "MFA: see the handbook, chapter 12",
    "Use an authenticator such as Aegis",
    "The OTP arrives within 30 seconds",
    "Our TOTP library is pyotp 2.9.0",
    "authenticator app installed on pixel-7",
    "apples pears plums cherries grapes lemons limes melons peaches figs dates kiwis",
    "she went home and then they all had dinner with the whole family again",
    "ann bob carl dora emil fritz gustav heidi ida john karl lena mia nora",
    "red green blue black white brown pink gray cyan lime teal navy gold",
    "some people like long walks along quiet rivers when summer nights grow warm and slow",
    "monday tuesday wednesday thursday friday saturday sunday monday tuesday friday sunday monday",
    "the list of words that restore a wallet is called a mnemonic",
    "A recovery phrase has twelve words",
    "git commit add push pull fetch merge rebase reset stash clone branch status",
    "The signature is at the bottom of page 3",
    "sig=short",
    "https://example.com/?signature=none",
    "Signature: Ann Miller",
    "design=modern-and-plain&layout=wide",
    "The key to success is patience",
    "secret santa is on Friday",
    "The private key never leaves the device",
    "Private keys are kept in the vault",
    "Der private Schlüssel liegt im Tresor",
    "Token budgets are 2000 per packet",
    "Version 2024.11.3 of the password tool",
    "The password length for admins is 16-characters",
    "Contact ann@example.com for the password",
    "The passwords of all users are hashed with argon2",
    "word " * 300,
)


@pytest.mark.parametrize("text", SECRETS)
def test_X11_a_secret_is_found(text: str) -> None:
    redacted = redact(text)
    assert redacted.found
    assert SECRETS[text] not in redacted.text


@pytest.mark.parametrize("text", HARMLESS)
def test_X11_a_look_alike_stays(text: str) -> None:
    assert redact(text).text == text


def test_X11_there_are_sixty_look_alikes() -> None:
    assert len(set(HARMLESS)) == 60


@pytest.mark.parametrize(
    "text",
    [
        "2024 is the year of the move, the PIN is new",
        "The PIN pad is broken, call 5550 100",
        "The error code for this is 5519",
        "The area code of Leeds is 0113",
        "The password? It's on the fridge.",
        "The wifi password? It's complicated.",
        "The passphrase is stored in the vault",
        "The passphrase is very long today",
        "Use the passphrase generator on the intranet",
        "The passphrase policy requires long words",
        "My password is always wrong lately somehow",
        "The password manager is good. It's Bitwarden 2024",
        "My password is weak.",
        "The password is required.",
        "My wifi password is terrible",
        "The password is everything",
        "the postal code for the office is 20457",
        "the sort code is 20-45-77",
        "1984 is my favourite book, 2001 is the film",
    ],
)
def test_X11_words_around_a_secret_that_is_not_said_stay(text: str) -> None:
    assert redact(text).text == text


def test_T2_X11_a_number_in_the_sentence_before_is_no_seed() -> None:
    text = "The order ABCDEFGH23456722 has arrived. Please enable 2FA."
    assert redact(text).text == text


@pytest.mark.parametrize("seed", range(4))
def test_X11_a_document_is_read_like_its_sentences(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long text only what is near a sign of a secret is looked at: what is found there is what
    the whole text shows, wherever in it a secret stands and whatever it stands beside."""
    draw = random.Random(seed)
    parts = []
    for said in draw.choices([*SECRETS, *HARMLESS], k=30):
        filler = "".join(
            draw.choices(["The tram is late again. ", "x" * 90 + " ", "\n", "é, "], k=90)
        )
        parts += [said, filler[: draw.randrange(1, 6_000)]]
    text = " ".join(parts)
    monkeypatch.setattr(redaction, "_LONG", len(text) + 1)
    whole = redact(text)
    monkeypatch.setattr(redaction, "_LONG", 0)
    assert redact(text) == whole
    assert whole.found


def test_X12_a_document_far_from_any_secret_costs_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """One word of a password let all of its patterns loose on the whole document."""
    text = "The tram is late again and nobody minds it. " * 3_000 + " password: hunter2x! "

    def spent(long: int) -> float:
        monkeypatch.setattr(redaction, "_LONG", long)
        begun = time.process_time()
        assert "hunter2x" not in redact(text).text
        return time.process_time() - begun

    spent(0)
    assert min(spent(0), spent(0)) < 0.7 * min(spent(10**9), spent(10**9))
