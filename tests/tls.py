"""Certificates of our own, and TLS in front of servers that were built without it."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

WANTS_TLS = (8).to_bytes(4, "big") + (80877103).to_bytes(4, "big")  # the first words of a client
PIECE = 65536


class Certificates(NamedTuple):
    """Files: that of the authority, and those of a server on 127.0.0.1 and localhost."""

    authority: Path
    certificate: Path
    key: Path


def certificates(folder: Path, host: str = "localhost") -> Certificates:
    """An authority that nobody knows, and a server's certificate by it."""
    authority_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority_name, server_name = (
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        for name in (f"authority of {host}", host)
    )
    ours = _certificate(authority_name, authority_name, authority_key, authority_key)
    names = [x509.DNSName(host)]
    at = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))] if host == "localhost" else []
    theirs = _certificate(server_name, authority_name, server_key, authority_key, [*names, *at])
    found = Certificates(*(folder / name for name in ("ca.pem", "cert.pem", "key.pem")))
    found.authority.write_bytes(ours.public_bytes(serialization.Encoding.PEM))
    found.certificate.write_bytes(theirs.public_bytes(serialization.Encoding.PEM))
    found.key.write_bytes(
        server_key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return found


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signed_by: ec.EllipticCurvePrivateKey,
    names: list[x509.GeneralName] | None = None,
) -> x509.Certificate:
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.BasicConstraints(ca=not names, path_length=None), critical=True)
    )
    if names:
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return made.sign(signed_by, hashes.SHA256())


@contextmanager
def tls_in_front(port: int, files: Certificates, *, asks: bool = True) -> Iterator[int]:
    """Another port of the loopback, which speaks TLS; what is said there goes to the server on
    ``port``. ``asks``: a client asks for TLS first, as PostgreSQL does it; who does not is sent
    away."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    lines: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def let_in(line: socket.socket) -> None:
        line.settimeout(10)
        if asks and line.recv(8) != WANTS_TLS:
            return
        if asks:
            line.sendall(b"S")
        inside = context.wrap_socket(line, server_side=True)
        inside.settimeout(None)
        behind = socket.create_connection(("127.0.0.1", port))
        lines.extend((inside, behind))
        for one, other in ((inside, behind), (behind, inside)):
            threads.append(threading.Thread(target=_pass_on, args=(one, other)))
            threads[-1].start()

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = listening.accept()
                lines.append(line)
                with contextlib.suppress(OSError):
                    let_in(line)
                if line.fileno() >= 0:  # nobody came in by it
                    line.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threads.append(threading.Thread(target=accept))
        threads[0].start()
        try:
            yield listening.getsockname()[1]
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            threads[0].join()
            for line in lines:
                _end(line)
            for thread in threads[1:]:
                thread.join()
            for line in lines:
                line.close()


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := one.recv(PIECE):
            other.sendall(piece)
    _end(one)
    _end(other)


def _end(line: socket.socket) -> None:
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
