"""Attacks on key fetches by a provider or the network. Each setup has its own provider.

A setup receives the network and a name, and returns an issuer and the settings of a provider that trusts it.
"""

import contextlib
import gzip
import socket
import ssl
import subprocess
import threading
import warnings

from harness.certificates import Authority
from harness.issuer import KeyServer
from harness.service import NETWORK
from harness.tokens import ec_key, json_bytes, rsa_key

OLD, NEW = ec_key("old"), ec_key("new")


class Network:
    """Key servers and certificates for the setups."""

    def __init__(self, directory, stack: contextlib.ExitStack):
        self.authority = Authority(directory)
        self._directory, self._stack = directory, stack
        self.plain, self.other = self.server(), self.server()
        self.secure = self.server(self.authority.server_context())
        self.trusting = {"allow_private_addresses": True, "ca_file": str(self.authority.certificate_file)}

    def server(self, context: ssl.SSLContext | None = None) -> KeyServer:
        return self._stack.enter_context(KeyServer(context))

    def greeter(self) -> str:
        """The URL of a server that is not HTTP and speaks first, like SSH."""
        listener = self._stack.enter_context(socket.create_server(("127.0.0.1", 0)))

        def greet() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        threading.Thread(target=greet, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/keys"

    def weakly_signed(self) -> tuple[ssl.SSLContext, dict]:
        """A server whose certificate is signed with SHA-1, and its CA."""
        directory = self._directory / "sha1"
        directory.mkdir()
        (directory / "extensions").write_text("subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:false\n")
        for command in (
            "req -x509 -newkey rsa:2048 -nodes -sha256 -days 1 -subj /CN=authority -keyout ca.key -out ca.pem",
            "req -newkey rsa:2048 -nodes -subj /CN=server -keyout server.key -out server.csr",
            "x509 -req -sha1 -days 1 -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial "
            "-extfile extensions -out server.pem",
        ):
            subprocess.run(["openssl", *command.split(" ")], cwd=directory, check=True, capture_output=True)
        context = outdated(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.TLSVersion.TLSv1_3)
        context.load_cert_chain(directory / "server.pem", directory / "server.key")
        return context, {"allow_private_addresses": True, "ca_file": str(directory / "ca.pem")}


def outdated(context: ssl.SSLContext, newest: ssl.TLSVersion) -> ssl.SSLContext:
    """A server that accepts weak signatures, and speaks no TLS version newer than this one."""
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        # Using an outdated version is intended here.
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, newest
    return context


def discovery(**members):
    """A discovery document with these members. Functions receive the issuer; `{port}` is the other server's."""

    def set_up(network: Network, name: str):
        issuer = network.plain.issuer(name, OLD)
        changed = {key: value(issuer) if callable(value) else value for key, value in members.items()}
        changed = {
            key: value.format(port=network.other.port) if type(value) is str else value
            for key, value in changed.items()
        }
        document = issuer.discovery_document(**changed)
        issuer.discovery.body = {key: value for key, value in document.items() if value is not None}
        return issuer, {}

    return set_up


def keys_elsewhere(network: Network, name: str):
    """Keys on a different host than the issuer's, as with Google."""
    issuer = network.plain.issuer(name, OLD)
    network.other.document(f"/{name}/keys", issuer.jwk_set)
    issuer.discovery.body = issuer.discovery_document(jwks_uri=f"{network.other.url}/{name}/keys")
    return issuer, {}


def greeted(network: Network, name: str):
    issuer = network.plain.issuer(name, OLD)
    return issuer, {"jwks_uri": network.greeter()}


def apple_pinned(network: Network, name: str):
    """Apple's document names another issuer, as it did in June 2025. It must not be requested."""
    issuer = network.plain.issuer(name, rsa_key("apple"))
    issuer.discovery.body = issuer.discovery_document(
        issuer="https://account.apple.com", jwks_uri="https://attacker.example.com/"
    )
    return issuer, {"preset": "apple", "jwks_uri": issuer.jwks_uri}


def private(host: str):
    """A host that is not on the public Internet, without permission for private addresses."""

    def set_up(network: Network, name: str):
        issuer = network.plain.issuer(name, OLD)
        return issuer, {"jwks_uri": f"http://{host}:{network.plain.port}/{name}/keys", "network": {"allow_http": True}}

    return set_up


def secure_discovery(jwks_uri: str):
    """A document fetched over https that names keys elsewhere."""

    def set_up(network: Network, name: str):
        issuer = network.secure.issuer(name, OLD)
        network.plain.document(f"/{name}/keys", issuer.jwk_set)
        issuer.discovery.body = issuer.discovery_document(jwks_uri=jwks_uri.format(name=name, plain=network.plain.url))
        return issuer, {"network": network.trusting}

    return set_up


def redirect(location: str, status: int = 302, hops: int = 1, **settings):
    """Keys behind this many redirects. The target can be reached."""

    def set_up(network: Network, name: str):
        issuer = network.plain.issuer(name, OLD)
        places = {"name": name, "plain": network.plain.url, "other": network.other.url, "port": network.plain.port}
        for step in range(1, hops):
            moved(network.plain.document(f"/{name}/step-{step}", b""), f"/{name}/step-{step + 1}", status)
        if hops > 1:
            network.plain.document(f"/{name}/step-{hops}", issuer.jwk_set)
        for server in (network.plain, network.other):
            server.document(f"/{name}/moved", issuer.jwk_set)
        moved(issuer.jwks, location.format(**places), status)
        return issuer, dict(settings)

    return set_up


def moved(document, location: str, status: int) -> None:
    document.status = status
    document.headers = {"Location": location}


def secure_redirect(network: Network, name: str):
    """From https to http, with both allowed."""
    issuer = network.secure.issuer(name, OLD)
    network.plain.document(f"/{name}/moved", issuer.jwk_set)
    moved(issuer.jwks, f"{network.plain.url}/{name}/moved", 302)
    return issuer, {"network": NETWORK | network.trusting}


def tls(make):
    """A key server with its own TLS context, and the CA that the provider trusts."""

    def set_up(network: Network, name: str):
        context, settings = make(network)
        issuer = network.server(context).issuer(name, OLD)
        issuer.url = issuer.url.replace("http:", "https:")
        return issuer, {"network": settings}

    return set_up


def by_authority(**server):
    return tls(lambda network: (network.authority.server_context(**server), network.trusting))


def untrusted(**server):
    return tls(lambda network: (network.authority.server_context(**server), {"allow_private_addresses": True}))


def newest(version: ssl.TLSVersion):
    return tls(lambda network: (outdated(network.authority.server_context(), version), network.trusting))


def asking_for_a_certificate(network: Network):
    context = network.authority.server_context()
    context.load_verify_locations(network.authority.certificate_file)
    context.verify_mode = ssl.CERT_REQUIRED
    return context, network.trusting


def encoded(encoding: str, encode):
    """A key set with a content coding."""

    def set_up(network: Network, name: str):
        issuer = network.plain.issuer(name, OLD)
        issuer.jwks.body = encode(json_bytes(issuer.jwk_set()))
        issuer.jwks.headers |= {"Content-Encoding": encoding}
        return issuer, {}

    return set_up


def bomb(good: bytes) -> bytes:
    """A valid set of 10 MB, compressed to 10 kB."""
    return gzip.compress(good[:-1] + b" " * 10_000_000 + b"}")


def silent(network: Network, name: str):
    issuer = network.plain.issuer(name, OLD)
    issuer.jwks.hold()
    return issuer, {}


def answering(body, status: int = 200, **headers):
    def set_up(network: Network, name: str):
        issuer = network.plain.issuer(name, OLD)
        issuer.jwks.body, issuer.jwks.status = body, status
        issuer.jwks.headers |= headers
        return issuer, {}

    return set_up
