"""Token endpoints without trusted TLS: nothing is sent to them, so nothing is used up."""

import contextlib
import socket
import threading

import pytest

from harness import client, reload
from harness.certificates import Authority, server_context
from harness.service import NETWORK, Service
from harness.token_endpoint import TokenEndpoint, grant
from harness.tokens import ec_key
from sign_ins.calls import ON, begin, finish

from .grants import refresh, refused, revoke, with_client

HOUR = 1 / 24


class Authorities:
    """The CA that the service trusts, and another one."""

    def __init__(self, directory):
        self.trusted, self.stranger = Authority(directory), Authority(directory, "A stranger")


def of(make):
    """Makes a server with this certificate."""
    return lambda by: TokenEndpoint(server_context(make(by)))


class Breaking:
    """A server that runs an act on each connection, without TLS."""

    def __init__(self, act):
        self._act = act
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.endpoints = {"token": f"https://127.0.0.1:{port}/token", "revocation": f"https://127.0.0.1:{port}/revoke"}
        self.received = lambda: 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._take, args=(connection,), daemon=True).start()

    def _take(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            self._act(connection)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()


def held(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


# By name: a server, and a part of the reason in the log.
SERVERS = {
    "expired": (of(lambda by: by.trusted.server_file(ends=-HOUR)), "expired"),
    "not yet valid": (of(lambda by: by.trusted.server_file(begins=HOUR)), "not yet valid"),
    "for another host": (of(lambda by: by.trusted.server_file("127.0.0.2")), "host"),
    "self-signed": (of(lambda by: by.stranger.server_file(is_self_signed=True)), "self-signed"),
    "by a stranger": (of(lambda by: by.stranger.server_file()), "untrusted"),
    "without TLS": (lambda by: TokenEndpoint(), "check that this port speaks https"),
    "closing in the handshake": (lambda by: Breaking(lambda connection: connection.recv(1)), "the server"),
    "garbage in the handshake": (lambda by: Breaking(lambda c: (c.recv(1), c.sendall(b"\x16\x03\x03\xff" * 64), held(c))), "TLS"),
    "silent in the handshake": (lambda by: Breaking(held), "the TLS handshake timed out"),
}  # fmt: skip


@pytest.fixture(scope="module")
def running(shared_server, tmp_path_factory):
    directory = tmp_path_factory.mktemp("tls")
    authorities = Authorities(directory)
    network = NETWORK | {"ca_file": str(authorities.trusted.certificate_file)}
    with contextlib.ExitStack() as stack:
        made = {"good": TokenEndpoint(authorities.trusted.server_context())}
        made |= {name: make(authorities) for name, (make, _) in SERVERS.items()}
        servers = {name.replace(" ", "-"): stack.enter_context(server) for name, server in made.items()}
        issuers = {id: shared_server.issuer(f"tls-{id}", ec_key(id)) for id in servers}
        providers = []
        for id, server in servers.items():
            endpoints = {name: url.replace("http:", "https:") for name, url in server.endpoints.items() if name != "user_info"}
            providers.append(with_client(issuers[id], server, directory, id, endpoints=endpoints, network=network))
        service = stack.enter_context(Service(*providers, limits={"provider_timeout": "4s"}, **ON))
        service.wait_until_ready()
        yield service, issuers, servers


def test_endpoints_with_a_trusted_certificate_are_called(running):
    service, issuers, servers = running
    begun = begin(service, "good")
    servers["good"].play(grant(id_token=issuers["good"].token(nonce=begun["nonce"])))
    assert finish(service, begun, None, code="c1").status == 200
    assert refresh(service, "good").status == 200
    assert revoke(service, "good", token="t").status == 204


@pytest.mark.parametrize("name", SERVERS)
def test_nothing_is_sent_without_trusted_tls(running, name):
    service, issuers, servers = running
    id = name.replace(" ", "-")
    begun = begin(service, id)
    problem = finish(service, begun, None, code="a-code-to-look-for")
    refused(problem, "provider_unavailable", False)
    assert int(problem.header("Retry-After")) >= 1
    refused(refresh(service, id), "provider_unavailable", False)
    refused(revoke(service, id, token="t"), "provider_unavailable", False)
    assert servers[id].received() == 0
    calls = reload.metrics(service)
    outcomes = [calls.value("assay_provider_calls_total", provider=id, endpoint="token", outcome=each) for each in ("unreachable", "timeout")]
    assert sum(outcomes) == 2
    reason = service.wait_for_entry(message="provider calls fail", provider=id)["reason"]
    assert SERVERS[name][1] in reason, reason
    # The claim was released, so the token alone can still finish the sign-in.
    assert finish(service, begun, issuers[id].token(nonce=begun["nonce"])).status == 200
    client.contract.assert_code(finish(service, begun, issuers[id].token(nonce=begun["nonce"])), "sign_in_replayed")


def test_new_connections_are_refused_once_a_certificate_becomes_invalid(shared_server, tmp_path):
    authorities = Authorities(tmp_path)
    context = authorities.trusted.server_context()
    network = NETWORK | {"ca_file": str(authorities.trusted.certificate_file)}
    with TokenEndpoint(context) as endpoint:
        entry = with_client(shared_server.issuer("tls-renewed"), endpoint, tmp_path, network=network)
        with Service(entry) as service:
            service.wait_until_ready()
            assert refresh(service).status == 200
            context.load_cert_chain(authorities.stranger.server_file())
            endpoint.close_connections()
            service.wait_until(lambda: refresh(service).code == "provider_unavailable")
            context.load_cert_chain(authorities.trusted.server_file())
            assert refresh(service).status == 200
