"""One Assay, and each gateway with its own backend, shared by all tests that don't stop them."""

import pytest

from gateways.gateways import NAMES, missing
from gateways.site import Site, assay
from harness.tokens import rsa_key


@pytest.fixture(scope="session")
def issuer(shared_server):
    return shared_server.issuer("gateways", rsa_key("gateways"))


@pytest.fixture(scope="session")
def service(issuer):
    assert not missing(), "not installed: run scripts/bootstrap test"
    with assay(issuer) as service:
        yield service.wait_until_ready()


@pytest.fixture(scope="session", params=NAMES)
def site(request, service, tmp_path_factory):
    with Site(request.param, service.api.address, tmp_path_factory.mktemp(request.param)) as site:
        yield site
