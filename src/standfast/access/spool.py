"""Temporary files that nobody can read, not even from the disk: encrypted with a key that is drawn
for each and never leaves this process."""

from __future__ import annotations

import io
import os
import tempfile
from typing import IO, Any, cast

BLOCK = 16
BUFFER_BYTES = 1 << 16


def private_spool() -> IO[bytes]:
    """An empty file without a name. Where there is no library to encrypt with, it is a plain one;
    whoever wants a store encrypted is told to install it."""
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher  # noqa: F401
    except ImportError:
        return cast(IO[bytes], tempfile.TemporaryFile())
    return cast(IO[bytes], io.BufferedRandom(_Veiled(), BUFFER_BYTES))


class _Veiled(io.RawIOBase):
    """AES in counter mode, so that any place can be read. A place is written once: spools are
    filled from the front, and read then."""

    def __init__(self) -> None:
        super().__init__()
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  closed with this one
        self._key = os.urandom(32)
        self._at = 0

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        self._at = self._file.seek(
            place if whence != os.SEEK_CUR else self._at + place,
            whence if whence != os.SEEK_CUR else os.SEEK_SET,
        )
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, into: Any) -> int:
        self._file.seek(self._at)
        found = self._file.read(len(into)) or b""
        into[: len(found)] = self._crossed(found)
        self._at += len(found)
        return len(found)

    def write(self, data: Any) -> int:
        self._file.seek(self._at)
        hidden = self._crossed(bytes(data))
        done = 0
        while done < len(hidden):
            done += self._file.write(hidden[done:]) or 0
        self._at += done
        return done

    def _crossed(self, data: bytes) -> bytes:
        """From plain to hidden, and back: the same."""
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import AES
        from cryptography.hazmat.primitives.ciphers.modes import CTR

        block, inside = divmod(self._at, BLOCK)
        cipher = Cipher(AES(self._key), CTR(block.to_bytes(BLOCK, "big"))).encryptor()
        cipher.update(bytes(inside))
        return cipher.update(data)

    def close(self) -> None:
        self._file.close()
        super().close()
