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
    """A provider's scripted endpoints, shared by the tests of a module."""
    with TokenEndpoint() as token_endpoint:
        yield token_endpoint


@pytest.fixture(autouse=True)
def without_earlier_requests(request):
    """Forgets earlier requests, but keeps connections open. Closing one just when a code or token is sent would be a fault."""
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
    """The shared service, which is ready."""
    return world.service


@pytest.fixture
def oidc(world):
    """The shared issuer with a key of every type. Its provider allows every algorithm."""
    return world.oidc


@pytest.fixture
def apple(world):
    return world.apple


@pytest.fixture
def google(world):
    return world.google


def pytest_sessionfinish():
    contract.dump_recording()
