"""Fixtures for all tests; subfolders define more."""

import pytest

from harness import contract
from harness.issuer import KeyServer
from harness.token_endpoint import TokenEndpoint
from harness.world import World


@pytest.fixture
def server():
    """A key server for one test."""
    with KeyServer() as key_server:
        yield key_server


@pytest.fixture(scope="session")
def shared_server():
    with KeyServer() as key_server:
        yield key_server


@pytest.fixture(scope="module")
def endpoint():
    """A provider's scripted endpoints, for the tests of one module."""
    with TokenEndpoint() as token_endpoint:
        yield token_endpoint


@pytest.fixture(autouse=True)
def without_earlier_requests(request):
    """Connections stay open: one that is closed just when a code or token is sent would be a fault of its own."""
    if "endpoint" in request.fixturenames:
        request.getfixturevalue("endpoint").forget()


@pytest.fixture(scope="session")
def world(shared_server):
    shared = World(shared_server)
    with shared.service:
        shared.service.wait_until_ready()
        yield shared


@pytest.fixture(scope="session")
def service(world):
    """The shared service, once it is ready."""
    return world.service


@pytest.fixture
def oidc(world):
    """The shared issuer with a key of every kind. Its provider allows every algorithm."""
    return world.oidc


@pytest.fixture
def apple(world):
    return world.apple


@pytest.fixture
def google(world):
    return world.google


def pytest_sessionfinish():
    contract.dump_recording()
