"""Conditional requests: a fetch is unconditional while a request waits for new keys, and after a failure."""

import pytest

from harness.fault_table import BROKEN
from harness.faults import FaultServer
from harness.keys import refresh
from harness.service import NETWORK, Service, provider
from harness.tokens import ec_key

OLD, NEW = ec_key("old"), ec_key("new")
VALIDATORS = {"ETag": 'W/"one"', "Last-Modified": "Wed, 01 Jan 2020 00:00:00 GMT"}


@pytest.fixture
def server():
    with FaultServer("op", OLD) as fault_server:
        for document in (fault_server.issuer.discovery, fault_server.issuer.jwks):
            document.headers = VALIDATORS
        yield fault_server


@pytest.fixture
def service(issuer):
    with Service(provider(issuer, network=NETWORK)) as running:
        yield running.wait_until_ready()


def conditions(request) -> dict:
    return {name: value for name, value in request.headers.items() if name.startswith("if-")}


def asked_again(server, service) -> list:
    """The requests of the service's own retries after a failed fetch."""
    server.misbehave(BROKEN)
    assert refresh(service)["last_error"]
    server.heal()
    seen = len(server.requests)
    service.wait_until(lambda: service.provider_state("oidc")["last_error"] is None)
    requests = server.requests[seen:]
    assert requests
    return requests


@pytest.mark.parametrize("cause", ["an unknown key ID", "an operator"])
def test_a_fetch_that_a_request_waits_for_is_unconditional(server, service, issuer, cause):
    """It also bypasses caches."""
    issuer.rotate(NEW, OLD)
    if cause == "an operator":
        refresh(service)
    service.accept(issuer.token())
    assert len(server.requests) == 4
    for request in server.requests[2:]:
        assert conditions(request) == {}
        assert "no-cache" in request.headers["cache-control"]


def test_fetches_after_a_failure_are_unconditional(server, service):
    """Conditional requests may have caused the failure."""
    for request in asked_again(server, service):
        assert conditions(request) == {}
        assert "no-cache" in request.headers["cache-control"]
