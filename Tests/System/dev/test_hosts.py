"""No listener of `assay dev` accepts requests from public web pages whose name resolves here (DNS rebinding)."""

import json

import pytest

from harness.contract import assert_code

OURS = ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "192.0.2.1", "assay", "assay:8080", "api.test", "host.docker.internal"]
PUBLIC = ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "test.example", "a.testing"]
BEGIN = json.dumps({"provider": "apple"}).encode()


def begin(dev, host: str):
    return dev.api.request("POST", "/v1/sign-ins", BEGIN, {"Host": host, "Content-Type": "application/json"})


@pytest.mark.parametrize("host", OURS)
def test_the_service_accepts_host_names_that_cannot_be_registered(host, dev):
    assert begin(dev, host).status == 201


@pytest.mark.parametrize("host", PUBLIC)
def test_the_service_rejects_host_names_that_can_be_registered(host, dev):
    assert_code(begin(dev, host), "request_invalid")
    assert_code(dev.api.get("/v1/nothing", {"Host": host}), "request_invalid")


@pytest.mark.parametrize("host", PUBLIC)
def test_the_other_listeners_reject_them_too(host, dev):
    assert_code(dev.admin.get("/v1/verdicts", {"Host": host}), "request_invalid")
    assert dev.ask_issuer("GET", "/people", headers={"Host": host}).status == 421
