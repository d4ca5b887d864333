"""Key servers with TLS: which certificates are trusted, and what the log says about the others."""

import contextlib
import pathlib
import socket
import ssl
import threading
import urllib.request
import warnings

import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID

from harness.certificates import Authority, server_context
from harness.issuer import KeyServer
from harness.keys import refresh, unavailable
from harness.service import DEADLINE, NETWORK, Service, provider
from harness.tokens import ec_key, jws

OLD, NEW = ec_key("old"), ec_key("new")
HOUR = 1 / 24


class Authorities:
    """The CA that the service trusts, CAs related to it, and an unrelated one."""

    def __init__(self, directory: pathlib.Path):
        self.trusted = Authority(directory)
        self.namesake = Authority(directory)
        self.stranger = Authority(directory, "A stranger")
        self.intermediate = Authority(directory, "An intermediate", parent=self.trusted)
        self.expired = Authority(directory, "An expired intermediate", parent=self.trusted, ends=-1)
        self.server = Authority(directory, "A server, no authority", parent=self.trusted, is_authority=False)

    @property
    def network(self) -> dict:
        """Settings of a provider whose key server has a certificate of the trusted CA."""
        return {"allow_private_addresses": True, "ca_file": str(self.trusted.certificate_file)}


@pytest.fixture(scope="module")
def authorities(tmp_path_factory):
    return Authorities(tmp_path_factory.mktemp("certificates"))


def speaking(context: ssl.SSLContext, version: ssl.TLSVersion) -> ssl.SSLContext:
    """Limits a context to this TLS version."""
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        # Using an outdated version is intended here.
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, version
    return context


# Valid certificates that are close to the faults below.
GOOD = {
    "between-two-hours": lambda by: by.trusted.server_context(begins=-HOUR, ends=HOUR),
    "by-an-intermediate": lambda by: by.intermediate.server_context(sent_along=[by.intermediate]),
    "with-the-authority-sent-along": lambda by: by.trusted.server_context(sent_along=[by.trusted]),
    "by-tls-1.2": lambda by: speaking(by.trusted.server_context(), ssl.TLSVersion.TLSv1_2),
}

# By name: a server's certificate, and words of which the message must contain one.
# `Tests/KeysTests/DocumentFetcherTLSTests.swift` has more cases.
BAD_CERTIFICATES = {
    "expired": (lambda by: by.trusted.server_file(ends=-HOUR), ["expired"]),
    "not-yet-valid": (lambda by: by.trusted.server_file(begins=HOUR), ["not yet valid"]),
    "for-another-address": (lambda by: by.trusted.server_file("127.0.0.2"), ["host"]),
    "self-signed": (lambda by: by.stranger.server_file(is_self_signed=True), ["self-signed"]),
    "by-a-stranger": (lambda by: by.stranger.server_file(), ["untrusted"]),
    "by-a-namesake": (lambda by: by.namesake.server_file(), ["untrusted"]),
    "by-an-expired-intermediate": (
        lambda by: by.expired.server_file(sent_along=[by.expired]),
        ["expired", "untrusted"],
    ),
    "by-another-server": (lambda by: by.server.server_file(sent_along=[by.server]), ["untrusted"]),
    "for-clients": (lambda by: by.trusted.server_file(usage=ExtendedKeyUsageOID.CLIENT_AUTH), ["certificate"]),
}

# A server with a valid certificate, or without one.
BAD_PROTOCOLS = {
    "by-tls-1.1": (lambda by: speaking(by.trusted.server_context(), ssl.TLSVersion.TLSv1_1), ["TLS 1.2"]),
    "without-tls": (lambda by: None, ["plain HTTP"]),
}


@contextlib.contextmanager
def service_with_key_servers(authorities: Authorities, contexts: dict):
    """A service that trusts one CA, with a provider for each key server; and the issuers by name."""
    with contextlib.ExitStack() as stack:
        issuers = {}
        for name, context in contexts.items():
            issuer = issuers[name] = stack.enter_context(KeyServer(context)).issuer(name, OLD)
            issuer.url = issuer.url.replace("http:", "https:")
        settings = [provider(issuer, name, network=authorities.network) for name, issuer in issuers.items()]
        yield stack.enter_context(Service(*settings)), issuers


def test_valid_certificates_close_to_invalid_ones_are_trusted(authorities):
    contexts = {name: make(authorities) for name, make in GOOD.items()}
    with service_with_key_servers(authorities, contexts) as (service, issuers):
        service.wait_until_ready()
        for issuer in issuers.values():
            service.accept(issuer.token())


@pytest.fixture(scope="module")
def bad(authorities):
    contexts = {name: server_context(make(authorities)) for name, (make, _) in BAD_CERTIFICATES.items()}
    contexts |= {name: make(authorities) for name, (make, _) in BAD_PROTOCOLS.items()}
    with service_with_key_servers(authorities, contexts) as servers:
        yield servers


@pytest.mark.parametrize("name", BAD_CERTIFICATES | BAD_PROTOCOLS)
def test_a_key_server_with_a_bad_certificate_is_not_trusted(bad, name):
    service, issuers = bad
    unavailable(service, issuers[name].token())
    assert issuers[name].discovery.count == issuers[name].jwks.count == 0
    error = service.provider_state(name)["last_error"]
    _, words = (BAD_CERTIFICATES | BAD_PROTOCOLS)[name]
    assert error["phase"] == "tls" and any(word in error["message"] for word in words), error
    warning = service.wait_for_entry(message="keys can't be fetched", provider=name)
    assert (warning["level"], warning["phase"], warning["reason"]) == ("warning", "tls", error["message"])


def test_an_http_url_with_a_tls_port_is_reported_as_such(authorities):
    with KeyServer(authorities.trusted.server_context()) as server:
        issuer = server.issuer("op", OLD)
        settings = provider(issuer) | {"jwks_uri": issuer.jwks_uri.replace("https://", "http://")}
        with Service(settings) as service:
            error = service.wait_until(lambda: service.provider_state("oidc")["last_error"])
            assert "write https:// instead of http://" in error["message"], error
            assert issuer.jwks.count == 0


def test_the_tls_1_1_server_of_these_tests_works(authorities):
    client = ssl.create_default_context(cafile=authorities.trusted.certificate_file)
    https = urllib.request.HTTPSHandler(context=speaking(client, ssl.TLSVersion.TLSv1_3))
    with KeyServer(speaking(authorities.trusted.server_context(), ssl.TLSVersion.TLSv1_1)) as server:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), https)
        with opener.open(server.issuer("op", OLD).jwks_uri, timeout=10) as response:
            assert response.status == 200


@pytest.mark.parametrize("name", ["expired", "not-yet-valid", "for-another-address", "by-a-stranger"])
def test_keys_stay_in_use_until_a_bad_certificate_is_replaced(authorities, name):
    make, words = BAD_CERTIFICATES[name]
    context = authorities.trusted.server_context()
    with service_with_key_servers(authorities, {"op": context}) as (service, issuers):
        issuer = issuers["op"]
        service.wait_until_ready()
        asked = issuer.jwks.count

        context.load_cert_chain(make(authorities))
        state = refresh(service, "op")
        assert (state["state"], state["last_error"]["phase"]) == ("ready", "tls")
        assert any(word in state["last_error"]["message"] for word in words), state
        service.accept(issuer.token())
        issuer.rotate(NEW, OLD)
        service.reject(issuer.token(), "key_not_found", "keys_unavailable")
        service.accept(jws(OLD, issuer.claims()))
        assert issuer.jwks.count == asked

        context.load_cert_chain(authorities.trusted.server_file())
        # The service retries by itself.
        service.wait_until(lambda: service.provider_state("op")["last_error"] is None)
        assert service.accept(issuer.token())["token"]["key_id"] == "new"
        assert service.wait_for_entry(message="keys can be fetched again")["provider"] == "op"


class FallsSilent:
    """A key server that presents a bad certificate on the first connection, and stays silent on the next."""

    def __init__(self, context: ssl.SSLContext):
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        self.was_let_go = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        first, _ = self._listener.accept()
        with contextlib.suppress(OSError), self._context.wrap_socket(first, server_side=True) as connection:
            connection.recv(1)
        second, _ = self._listener.accept()
        with second, contextlib.suppress(ConnectionResetError):
            while second.recv(65536):
                pass
        self.was_let_go.set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()


def test_the_diagnosis_of_a_refused_certificate_times_out(authorities):
    """The service reconnects to diagnose the certificate, and the server then stays silent."""
    with FallsSilent(authorities.stranger.server_context()) as server:
        settings = {"id": "op", "issuer": server.url, "audiences": ["client"], "network": authorities.network}
        with Service(settings) as service:
            error = service.wait_until(lambda: service.provider_state("op")["last_error"])
            assert error["phase"] == "tls", error
            assert server.was_let_go.wait(DEADLINE)


def test_a_redirect_from_https_to_http_is_not_followed(tmp_path, server):
    authority = Authority(tmp_path)
    plain = server.document("/keys", {"keys": [OLD.jwk()]})
    with KeyServer(authority.server_context()) as secure:
        issuer = secure.issuer("op", OLD)
        issuer.jwks.status = 302
        issuer.jwks.headers = {"Location": server.url + "/keys"}
        with Service(provider(issuer, network=NETWORK | {"ca_file": str(authority.certificate_file)})) as service:
            unavailable(service, issuer.token())
            assert plain.count == 0
            assert issuer.jwks.count >= 1
