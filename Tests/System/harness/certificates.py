"""A certificate authority for TLS servers and clients, with valid and invalid certificates."""

import datetime
import ipaddress
import itertools
import pathlib
import ssl
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


class Authority:
    """A CA with its own key. Clients must trust `certificate_file`.

    With a `parent`, it is an intermediate CA; if `is_authority` is false, its certificate is not marked as a CA's.
    """

    _numbers = itertools.count()

    def __init__(
        self,
        directory: pathlib.Path,
        name: str = "Tests",
        *,
        parent: "Authority | None" = None,
        is_authority: bool = True,
        ends: float = 1,
    ):
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        constraints = x509.BasicConstraints(is_authority, None)
        self.certificate = (parent or self)._sign(self._name, self._key, -10, ends, constraints)
        self.certificate_file = self._file("ca", _pem(self.certificate))

    def _file(self, kind: str, content: bytes) -> pathlib.Path:
        file = self._directory / f"{kind}-{next(self._numbers)}.pem"
        file.write_bytes(content)
        return file

    def _sign(self, subject: x509.Name, key, begins: float, ends: float, *extensions) -> x509.Certificate:
        """Signs a certificate for a subject and its key, valid from `begins` to `ends` in days from now."""
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + datetime.timedelta(days=begins))
            .not_valid_after(now + datetime.timedelta(days=ends))
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        return builder.sign(self._key, hashes.SHA256())

    def server_file(
        self,
        host: str = "127.0.0.1",
        *,
        begins: float = -10,
        ends: float = 1,
        usage=ExtendedKeyUsageOID.SERVER_AUTH,
        is_self_signed: bool = False,
        sent_along: Sequence["Authority"] = (),
        uris: Sequence[str] = (),
        key=None,
    ) -> pathlib.Path:
        """A server's key and certificate for an address or host name, and the CA certificates that it sends."""
        key = key or (self._key if is_self_signed else ec.generate_private_key(ec.SECP256R1()))
        try:
            alternative = x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            alternative = x509.DNSName(host)
        certificate = self._sign(
            self._name if is_self_signed else _name("key server"),
            key,
            begins,
            ends,
            x509.BasicConstraints(False, None),
            x509.SubjectAlternativeName([alternative, *map(x509.UniformResourceIdentifier, uris)]),
            x509.ExtendedKeyUsage([usage]),
        )
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        chain = [certificate, *(authority.certificate for authority in sent_along)]
        return self._file("server", private + b"".join(map(_pem, chain)))

    def client_file(self, host: str = "client.example", **settings) -> pathlib.Path:
        """A client's key and certificate, for a host name and for `uris`."""
        return self.server_file(host, **{"usage": ExtendedKeyUsageOID.CLIENT_AUTH} | settings)

    def client_context(self, file: pathlib.Path | None = None) -> ssl.SSLContext:
        """The TLS context of a client that trusts this CA, optionally with a client certificate."""
        context = ssl.create_default_context(cafile=self.certificate_file)
        if file:
            context.load_cert_chain(file)
        return context

    def server_context(self, *arguments, **settings) -> ssl.SSLContext:
        """A server's TLS context with a new certificate, as in `server_file`."""
        return server_context(self.server_file(*arguments, **settings))


def server_context(file: pathlib.Path) -> ssl.SSLContext:
    """A server's TLS context with this key and certificate. `load_cert_chain` replaces them for new connections."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def certificate(key) -> str:
    """A self-signed, expired certificate in PEM for a token's key. Only the key matters."""
    begins = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(_name("signer"))
        .issuer_name(_name("signer"))
        .public_key(key.private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(begins + datetime.timedelta(days=1))
        .sign(key.private, hashes.SHA256())
    )
    return _pem(made).decode()
