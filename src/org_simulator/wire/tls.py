"""A self-signed certificate for this machine, so that a client can speak TLS and verify it."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

DAYS = 30
KEY_BITS = 2048


def ensure(folder: Path, host: str) -> tuple[Path, Path]:
    """Write `cert.pem` and `key.pem` for `host` and localhost into the folder, unless both are there; their paths."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    if certificate.exists() and key.exists():
        return certificate, key
    folder.mkdir(parents=True, exist_ok=True)
    private = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
    key.touch(mode=0o600)
    key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )
    certificate.write_bytes(_signed(private, host).public_bytes(serialization.Encoding.PEM))
    return certificate, key


def _signed(private: rsa.RSAPrivateKey, host: str) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    names: list[x509.GeneralName] = [x509.DNSName(each) for each in dict.fromkeys(("localhost", host))]
    names += [x509.IPAddress(ip_address("127.0.0.1")), x509.IPAddress(ip_address("::1"))]
    identifier = x509.SubjectKeyIdentifier.from_public_key(private.public_key())
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(identifier, critical=False)
        .sign(private, hashes.SHA256())
    )


def context(certificate: Path, key: Path) -> ssl.SSLContext:
    """A server's TLS context."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate, key)
    return made
