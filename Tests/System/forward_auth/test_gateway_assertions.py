"""Policies that read a load balancer's assertion: a padded token in its own header."""

import pytest

from harness.gateways import ISSUER, LoadBalancer
from harness.service import Service

from .test_forward_auth import INVALID, denied

PATH = "/v1/forward-auth/alb"
POLICY = {"id": "alb", "providers": ["alb"], "token": [{"header": "X-Amzn-Oidc-Data"}]}


@pytest.fixture(scope="module")
def balancer(shared_server):
    return LoadBalancer(shared_server, "forward-auth")


@pytest.fixture(scope="module")
def service(balancer):
    with Service(balancer.provider(), forward_auth={"keys_timeout": "5s", "policies": [POLICY]}) as service:
        service.wait_until_ready()
        yield service


def ask(service, token: str, name: str = "X-Amzn-Oidc-Data"):
    return service.api.request("GET", PATH, None, {name: token})


def test_an_assertion_identifies_the_user(service, balancer):
    answer = ask(service, balancer.assertion())
    assert answer.status == 200
    assert (answer.header("X-Auth-Subject"), answer.header("X-Auth-Issuer")) == ("user-1", ISSUER)
    assert answer.header("X-Auth-Email") == "jane@example.com"


def test_the_first_request_with_a_new_key_waits_for_the_key(service, balancer):
    assert ask(service, balancer.assertion(balancer.publish())).status == 200


def test_another_load_balancer_is_denied(service, balancer):
    answer = ask(service, balancer.assertion(header={"signer": balancer.arn.replace("123456789012", "210987654321")}))
    denied(answer, 401, INVALID)


def test_headers_other_than_the_policys_source_are_not_read(service, balancer):
    """Neither `X-Amzn-Oidc-Accesstoken` nor Authorization is a source of the policy."""
    for name, value in (
        ("X-Amzn-Oidc-Accesstoken", balancer.assertion()),
        ("Authorization", f"Bearer {balancer.assertion()}"),
    ):
        denied(ask(service, value, name), 401, "Bearer")
