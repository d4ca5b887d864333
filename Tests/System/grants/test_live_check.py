"""`assay config check --live`: its findings about clients. It uses nothing up."""

import json

import pytest

from harness import commands
from harness.service import run, write_config
from harness.token_endpoint import TokenEndpoint, answered, error, grant
from harness.tokens import ec_key

from .grants import SECRET, with_client


@pytest.fixture
def endpoint():
    with TokenEndpoint() as token_endpoint:
        yield token_endpoint


@pytest.fixture
def issuer(server):
    return server.issuer("op", ec_key("op"))


@pytest.fixture
def check(issuer, endpoint, tmp_path):
    def findings(**settings) -> tuple[int, list[tuple[str, str]]]:
        config = write_config(tmp_path, {"providers": [with_client(issuer, endpoint, tmp_path, **settings)]})
        result = run(*commands.config_check(config), "--live", "--json")
        assert SECRET not in result.stdout.decode() + result.stderr.decode()
        found = json.loads(result.stdout)["providers"][0]["findings"]
        return result.returncode, [(item["level"], item["message"]) for item in found if item["subject"] == "clients"]

    return findings


def test_an_accepted_client_is_reported(check, endpoint):
    endpoint.always(error("invalid_grant"))
    status, found = check()
    assert status == 0
    assert [level for level, _ in found] == ["ok", "ok"]
    assert endpoint.url + "/token" in found[0][1] and endpoint.url + "/revoke" in found[0][1]
    assert found[1][1] == 'the provider accepts the client "client"'
    # Only one request is sent, with a made-up refresh token.
    assert [call.form["grant_type"] for call in endpoint.calls] == ["refresh_token"]


@pytest.mark.parametrize(
    ("act", "level", "told"),
    [
        (error("invalid_client", "401 Unauthorized"), "failure", "rejects the client"),
        (
            error("invalid_client", "401 Unauthorized", error_description="AADSTS7000222: The keys are expired.\r\nTrace: 1"),
            "failure",
            '(invalid_client: "AADSTS7000222: The keys are expired. Trace: 1"): check its id',
        ),
        (error("invalid_client", error_description=f"bad {SECRET}"), "failure", "[removed]"),
        (error("invalid_scope", error_description="no offline"), "warning", 'invalid_scope: "no offline" to a made-up'),
        (grant(token_type="Bearer\r\nX: 1"), "failure", "not an OAuth response: token_type is missing, or its type, characters"),
        (error("invalid_scope"), "warning", "does not show whether it accepts the client"),
        (answered(b"<html>"), "failure", "check endpoints.token"),
        (answered(b"", "500 Internal Server Error"), "failure", "can't be used"),
    ],
)
def test_a_client_that_is_not_accepted_is_reported(check, endpoint, act, level, told):
    endpoint.always(act)
    status, found = check()
    assert status == (1 if level == "failure" else 0)
    assert found[1][0] == level and told in found[1][1], found


def test_a_refused_connection_is_reported(check, endpoint):
    endpoint.refuse_connections()
    status, found = check()
    assert status == 1
    assert "the connection was refused" in found[1][1]


def test_a_missing_token_endpoint_is_reported(check, issuer):
    issuer.discovery.body = lambda: issuer.discovery_document(token_endpoint=None)
    status, found = check(endpoints=None)
    assert status == 1
    assert found == [
        (
            "failure",
            "no token endpoint is known: the discovery document names none, so set endpoints.token",
        )
    ]
