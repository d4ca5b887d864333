"""`POST /v1/grants/revoke`: revokes a token, or the grant of a code."""

import pytest

from harness import reload
from harness.apple import Apple
from harness.service import Service, provider
from harness.token_endpoint import FAULTS, REVOCATION, TOKEN, answered, error, grant

from .grants import SECRET, refused, revoke, with_client

REDIRECT = "https://app.example/callback"


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("revocations")


def in_body(shared_server, endpoint):
    """An issuer whose revocation endpoint accepts a client's secret in the body only."""
    issuer = shared_server.issuer("revocations-in-body")
    issuer.discovery.body = issuer.discovery_document(
        revocation_endpoint=endpoint.endpoints["revocation"],
        revocation_endpoint_auth_methods_supported=["private_key_jwt", "client_secret_post"],
    )
    return issuer


@pytest.fixture(scope="module")
def service(issuer, endpoint, tmp_path_factory, shared_server):
    directory = tmp_path_factory.mktemp("clients")
    endpoints = {"token": endpoint.endpoints["token"]}
    providers = [
        with_client(issuer, endpoint, directory),
        with_client(shared_server.issuer("revocations-none"), endpoint, directory, "without", endpoints=endpoints),
        with_client(in_body(shared_server, endpoint), endpoint, directory, "in-body", endpoints=endpoints),
    ]
    with Service(*providers, limits={"provider_timeout": "2s"}) as service:
        service.wait_until_ready()
        yield service


@pytest.mark.parametrize("hint", ["refresh_token", "access_token", None])
def test_a_token_is_revoked(service, endpoint, hint):
    response = revoke(service, token="t 1", token_type_hint=hint)
    assert response.status == 204 and response.body == b"", response
    # RFC 9110, section 8.6.
    assert response.header("Content-Length") is None and response.header("Content-Type") is None
    form = [("token", "t 1")] + ([("token_type_hint", hint)] if hint else [])
    assert endpoint.last(REVOCATION).parameters == form and endpoint.last(REVOCATION).basic
    assert endpoint.received(REVOCATION) == 1 and endpoint.received(TOKEN) == 0


def test_a_secret_is_sent_as_the_revocation_endpoint_accepts_it(service, endpoint):
    assert revoke(service, "in-body", token="t").status == 204
    sent = endpoint.last(REVOCATION)
    assert sent.basic is None and sent.form == {"token": "t", "client_id": "client", "client_secret": SECRET}


@pytest.mark.parametrize("act", [answered(b"", "204 No Content"), answered(b"nothing"), error("invalid_token")])
def test_an_already_revoked_token_is_a_success(service, endpoint, act):
    endpoint.play(act, path=REVOCATION)
    assert revoke(service, token="t").status == 204


@pytest.mark.parametrize(
    "act, code, name",
    [
        (error("invalid_client", "401 Unauthorized"), "client_rejected", "invalid_client"),
        (error("unsupported_token_type"), "provider_refused", "unsupported_token_type"),
        (error("invalid_grant"), "grant_invalid", "invalid_grant"),
        (answered(b"", "404 Not Found"), "provider_answer_invalid", None),
    ],
)
def test_a_refusal_is_not_retried_and_spends_nothing(service, endpoint, act, code, name):
    endpoint.play(act, path=REVOCATION)
    refused(revoke(service, token="t"), code, False, name)
    assert endpoint.received(REVOCATION) == 1


def test_an_outage_is_retried_twice(service, endpoint):
    endpoint.play(FAULTS["closed without an answer"].act, answered(b"", "503 Service Unavailable"), path=REVOCATION)
    assert revoke(service, token="t").status == 204
    assert endpoint.received(REVOCATION) == 3
    endpoint.forget()
    endpoint.play(*[answered(b"", "500 Internal Server Error")] * 3, path=REVOCATION)
    refused(revoke(service, token="t"), "provider_unavailable", False)
    assert endpoint.received(REVOCATION) == 3


@pytest.mark.parametrize("refresh_token, hint", [("r1", "refresh_token"), (None, "access_token")])
def test_a_code_is_exchanged_and_its_tokens_are_revoked(service, endpoint, issuer, refresh_token, hint):
    endpoint.play(grant(id_token=issuer.token(nonce="unknown"), refresh_token=refresh_token))
    assert revoke(service, code="c1", redirect_uri=REDIRECT, subject="user-1").status == 204
    assert endpoint.last(TOKEN).form == {"grant_type": "authorization_code", "code": "c1", "redirect_uri": REDIRECT}
    assert endpoint.last(REVOCATION).form == {"token": refresh_token or "an access token", "token_type_hint": hint}


@pytest.mark.parametrize("claims, code", [({"sub": "somebody-else"}, "subject_mismatch"), (None, "provider_answer_invalid")])
def test_a_grant_whose_id_token_is_refused_or_missing_is_dropped(service, endpoint, issuer, claims, code):
    def dropped() -> float:
        return reload.metrics(service).value("assay_grants_dropped_total", provider="oidc", code=code)

    before = dropped()
    endpoint.play(grant(id_token=issuer.token(**claims)) if claims else grant())
    refused(revoke(service, code="c1", subject="user-1"), code, True)
    assert endpoint.received(TOKEN) == 1 and endpoint.received(REVOCATION) == 0
    assert dropped() == before + 1


@pytest.mark.parametrize(
    "act, code, name",
    [
        (grant(), "provider_answer_invalid", None),
        (error("invalid_grant"), "grant_invalid", "invalid_grant"),
        (answered(b"", "503 Service Unavailable"), "provider_unavailable", None),
        (FAULTS["reset without an answer"].act, "provider_unavailable", None),
    ],
)
def test_a_code_that_was_sent_is_spent(service, endpoint, act, code, name):
    endpoint.play(act)
    refused(revoke(service, code="c1"), code, True, name)
    assert endpoint.received(TOKEN) == 1 and endpoint.received(REVOCATION) == 0


def test_a_failed_revocation_spends_the_code_that_was_sent(service, endpoint, issuer):
    endpoint.play(grant(id_token=issuer.token()))
    endpoint.play(error("unsupported_token_type"), path=REVOCATION)
    refused(revoke(service, code="c1"), "provider_refused", True, "unsupported_token_type")


@pytest.mark.parametrize(
    "members, code",
    [
        ({}, "request_invalid"),
        ({"token": "t", "code": "c"}, "request_invalid"),
        ({"token": "t", "subject": "user-1"}, "request_invalid"),
        ({"token": "t", "redirect_uri": REDIRECT}, "request_invalid"),
        ({"token": "t", "token_type_hint": "code"}, "request_invalid"),
        ({"code": "c", "token_type_hint": "access_token"}, "request_invalid"),
        ({"code": "c", "subject": None}, "request_invalid"),
        ({"code": "c", "issuer": "https://issuer.example"}, "request_invalid"),
        ({"code": "c", "redirect_uri": REDIRECT + "/"}, "redirect_uri_not_configured"),
        ({"provider": "nobody", "token": "t"}, "provider_unknown"),
        ({"audience": "elsewhere", "token": "t"}, "audience_not_configured"),
        ({"provider": "without", "token": "t"}, "revocation_not_supported"),
        ({"provider": "without", "code": "c"}, "revocation_not_supported"),
    ],
)
def test_invalid_requests_are_refused_before_anything_is_sent(service, endpoint, members, code):
    refused(service.api.post("/v1/grants/revoke", {"provider": "oidc"} | members), code, False)
    assert not endpoint.calls


def test_apples_authorization_can_be_revoked_by_code(tmp_path):
    with Apple() as apple:
        team = apple.team("com.example.app")
        key = tmp_path / "AuthKey.p8"
        key.write_bytes(team.pem)
        client = {"id": "com.example.app", "auth": "apple", "team_id": team.id, "key_id": team.key_id, "key_file": str(key)}
        with Service(apple.settings(audiences=["com.example.app"], clients=[client])) as service:
            service.wait_until_ready()
            ada, eve = apple.user("Ada"), apple.user("Eve")
            code, _, _ = apple.native_sign_in("com.example.app", eve)
            refused(revoke(service, "apple", code=code, subject=ada.subject(team.id)), "subject_mismatch", True)
            assert team.id in eve.teams
            code, _, _ = apple.native_sign_in("com.example.app", ada)
            assert revoke(service, "apple", code=code, subject=ada.subject(team.id)).status == 204
            assert team.id not in ada.teams and not apple.secret_faults


def test_a_provider_without_clients_is_refused(issuer, shared_server, endpoint, tmp_path):
    bare = provider(shared_server.issuer("revocations-bare"), "bare")
    with Service(bare, with_client(issuer, endpoint, tmp_path)) as service:
        service.wait_until_ready()
        refused(revoke(service, "bare", token="t"), "client_not_configured", False)
