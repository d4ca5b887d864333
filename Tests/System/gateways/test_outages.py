"""Gateways fail closed: if Assay fails, or a gateway asks it wrongly, the backend receives nothing."""

import contextlib
import socket
import threading
import time

import pytest

from gateways.gateways import NAMES
from gateways.site import API, KEY, SETTINGS, Site, assay, refresh, token
from harness.freezing import frozen
from harness.service import Service
from harness.token_endpoint import INTROSPECTION, answered, held
from harness.waiting import free_port, poll
from introspection.opaque import members, opaque
from introspection.opaque import token as opaque_token

# The status for clients without a decision of Assay. Caddy uses 502 and 504 for a failed upstream.
UNDECIDED = {"nginx": 503, "envoy": 503, "caddy": 502, "haproxy": 503}
TOO_SLOW = UNDECIDED | {"caddy": 504}


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def test_requests_are_denied_while_assay_is_stopped(name, issuer, tmp_path):
    listen = {"service": {"listen": f"127.0.0.1:{free_port()}"}}
    with assay(issuer, **listen).wait_until_ready() as service:
        with Site(name, service.api.address, tmp_path / name) as site:
            site.passes(token(issuer))
            service.stop()
            site.denies(UNDECIDED[name], token(issuer))
            site.denies(UNDECIDED[name])
            with assay(issuer, **listen).wait_until_ready():
                poll(lambda: site.ask(token(issuer)).status == 200)
                site.passes(token(issuer))


def test_requests_are_denied_in_time_while_assay_hangs(name, issuer, tmp_path):
    with assay(issuer) as service, Site(name, service.wait_until_ready().api.address, tmp_path / name) as site:
        site.passes(token(issuer))
        with frozen(service.process.pid):
            begun = time.monotonic()
            site.denies(TOO_SLOW[name], token(issuer))
            # The gateways wait for 1.2 s, but the machine may be busy.
            assert time.monotonic() - begun < 5
        poll(lambda: site.ask(token(issuer)).status == 200)
        site.denies(401)


def test_the_answer_about_an_opaque_token_is_awaited(name, issuer, endpoint, tmp_path):
    """Its provider may take longer than Assay does for any other token."""
    slow = answered(lambda call: threading.Event().wait(0.4) or members(scope="read"))
    endpoint.always(slow, INTROSPECTION)
    trusted = opaque(issuer, endpoint, tmp_path, id="api", audiences=[API])
    with (
        Service(trusted, **SETTINGS) as service,
        Site(name, service.wait_until_ready().api.address, tmp_path / name) as site,
    ):
        site.passes(opaque_token())
        endpoint.always(held(), INTROSPECTION)
        site.denies(503, opaque_token())


def test_requests_are_denied_until_keys_are_available(name, shared_server, tmp_path):
    down = shared_server.issuer(f"down-behind-{name}")
    down.jwks.status = 500
    with assay(down) as service, Site(name, service.api.address, tmp_path / name) as site:
        site.denies(503, token(down))
        down.jwks.reset(down.jwk_set)
        refresh(service)
        service.wait_until_ready()
        site.passes(token(down))


@pytest.mark.parametrize("key", [None, "", "another-key"])
def test_a_gateway_without_its_key_denies_every_request(name, issuer, service, tmp_path, key):
    with Site(name, service.api.address, tmp_path / name, key) as site:
        site.denies(403, token(issuer))
        site.denies(403)


@pytest.mark.parametrize("key", [None, "", "another-key"])
def test_a_client_cannot_supply_the_gateways_key(name, issuer, service, tmp_path, key):
    with Site(name, service.api.address, tmp_path / name, key) as site:
        site.denies(403, token(issuer), ("X-Assay-Key", KEY))


def test_a_misspelt_policy_denies_every_request(name, issuer, service, tmp_path):
    due = {"nginx": 503, "envoy": 404, "caddy": 404, "haproxy": 503}[name]
    with Site(name, service.api.address, tmp_path / name, changed={"forward-auth/api": "forward-auth/apj"}) as site:
        site.denies(due, token(issuer))
        site.denies(due)


# Responses of a server that is not Assay. None is a complete 200.
STRANGE = {
    "a redirect": b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
    "an error": b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
    "overload": b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
    "half a head": b"HTTP/1.1 200 OK\r\nX-Auth-Subject: admin",
    "garbage": b"\x16\x03\x01\x02\x00\r\n\r\n",
    "nothing": b"",
}


@pytest.mark.parametrize("answer", STRANGE)
def test_an_unexpected_response_denies_the_request(name, tmp_path, answer):
    with answering(STRANGE[answer]) as address, Site(name, address, tmp_path / name) as site:
        before = len(site.backend.received)
        passed_on = answer == "a redirect" and name in ("envoy", "caddy")
        assert site.ask("a-token").status in ({302} if passed_on else {500, 502, 503})
        assert site.backend.received[before:] == []


@contextlib.contextmanager
def answering(octets: bytes):
    """A server that answers each connection with these bytes and closes it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(octets)

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def test_an_error_in_lua_denies_the_request(issuer, service, tmp_path):
    """After an error, HAProxy continues with the next rule."""
    script = tmp_path / "assay.lua"
    script.write_text('core.register_action("assay", { "http-req" }, function() error("broken") end, 1)\n')
    changed = {"/etc/haproxy/assay.lua": str(script)}
    with Site("haproxy", service.api.address, tmp_path / "haproxy", changed=changed) as site:
        site.denies(503, token(issuer))
