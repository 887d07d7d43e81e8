"""Exports that are signed, and exports that only some can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.access.signature import SUFFIX
from tests.interfaces.conftest import Run

serialization = pytest.importorskip(
    "cryptography.hazmat.primitives.serialization", reason="needs the extra encrypt"
)
CANARY = "xylophonequokka"


def key_pair(folder: Path, name: str) -> tuple[str, str]:
    """The files of a private and a public key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    public.write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        )
    )
    return str(private), str(public)


def test_A10_a_signature_counts_by_a_key_that_the_reader_trusts(
    recollect: Run, tmp_path: Path
) -> None:
    ours, ours_public = key_pair(tmp_path, "ours")
    theirs, theirs_public = key_pair(tmp_path, "theirs")
    recollect("remember", f"The {CANARY} lives in Oslo")
    file = tmp_path / "export.jsonl"
    assert recollect("export", str(file), "--sign-with", ours).returncode == 0
    other = str(tmp_path / "other.db")
    done = recollect("import", str(file), "--trusted-key", ours_public, store=other)
    assert done.returncode == 0, done.stderr
    assert "signed by" in done.stderr
    foreign = recollect("import", str(file), "--trusted-key", theirs_public, store=other)
    assert foreign.returncode == 4
    assert "not signed by a key that you trust" in foreign.stderr
    # Whoever changes the file signs it anew, and brings a key along: that proves nothing.
    file.write_bytes(file.read_bytes().replace(b"Oslo", b"Rome"))
    assert recollect("import", str(file), "--trusted-key", ours_public).returncode == 4
    recollect("export", str(file), "--sign-with", theirs)
    assert recollect("import", str(file), "--trusted-key", ours_public).returncode == 4
    both = recollect(
        "import", str(file), "--trusted-key", ours_public, "--trusted-key", theirs_public
    )
    assert both.returncode == 0, both.stderr


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [(None, 3, "no signature"), ("", 2, "no signature of"), ("{}", 2, "no signature of"),
     ('{"format": "recollect signature", "version": 1, "signature": "AAAA"}', 4, "not signed")],
)  # fmt: skip
def test_what_is_no_signature_is_told_in_one_line(
    recollect: Run, tmp_path: Path, content: str | None, code: int, said: str
) -> None:
    _, public = key_pair(tmp_path, "ours")
    recollect("remember", "Tea is at five")
    file = tmp_path / "export.jsonl"
    recollect("export", str(file))
    if content is not None:
        Path(f"{file}{SUFFIX}").write_text(content)
    done = recollect("import", str(file), "--trusted-key", public)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_key_of_another_kind_is_refused(recollect: Run, tmp_path: Path) -> None:
    recollect("remember", "Tea is at five")
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no key at all")
    done = recollect("export", str(tmp_path / "e"), "--sign-with", str(wrong))
    assert done.returncode == 2
    assert "no private key" in done.stderr


def test_an_export_can_be_for_one_reader_only(recollect: Run, tmp_path: Path) -> None:
    age = pytest.importorskip("pyrage", reason="needs the extra encrypt")
    identity, other = age.x25519.Identity.generate(), age.x25519.Identity.generate()
    mine, theirs = tmp_path / "mine.age-key", tmp_path / "theirs.age-key"
    mine.write_text(f"# made for a test\n{identity}\n")
    theirs.write_text(f"{other}\n")
    recollect("remember", f"The {CANARY} lives in Oslo")
    file = tmp_path / "export.age"
    done = recollect("export", str(file), "--to", str(identity.to_public()))
    assert done.returncode == 0, done.stderr
    assert CANARY.encode() not in file.read_bytes()
    store = str(tmp_path / "other.db")
    denied = recollect("import", str(file), "--identity", str(theirs), store=store)
    assert denied.returncode == 4
    taken = recollect("import", str(file), "--identity", str(mine), store=store)
    assert taken.returncode == 0, taken.stderr
    assert CANARY in recollect("recall", "Oslo", store=store).stdout
    wrong = recollect("export", str(file), "--to", "somebody")
    assert wrong.returncode == 2
    assert "age1" in wrong.stderr
