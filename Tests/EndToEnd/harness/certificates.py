"""A certificate authority for key servers that speak TLS."""

import datetime
import ipaddress
import pathlib
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


class Authority:
    """Signs certificates with a key of its own; `certificate_file` is what a client must trust."""

    def __init__(self, directory: pathlib.Path):
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("End-to-end tests")
        certificate = self._sign(self._name, self._key.public_key(), x509.BasicConstraints(True, None), None, 1)
        self.certificate_file = directory / "ca.pem"
        self.certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def _sign(self, subject, public_key, constraints, address, days) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=10))
            .not_valid_after(now + datetime.timedelta(days=days))
            .add_extension(constraints, critical=True)
        )
        if address:
            names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._key, hashes.SHA256())

    def server_context(self, address: str = "127.0.0.1", days: int = 1) -> ssl.SSLContext:
        """A server with a certificate for an address, valid for so many days from now (or until so many ago)."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign(
            _name("key server"), key.public_key(), x509.BasicConstraints(False, None), address, days
        )
        file = self._directory / f"server-{address}-{days}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context
