"""`POST /v1/grants/refresh`: the refresh token is sent once, and a returned ID Token is verified."""

import concurrent.futures

import pytest

from harness import reload
from harness.apple import Apple
from harness.service import Service, provider
from harness.token_endpoint import FAULTS, ROWS, TokenEndpoint, grant

from sign_ins.calls import Caller

from .grants import SECRET, refresh, refused, secret_file, with_client

SLOW = [name for name, row in FAULTS.items() if row.slow]


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("grants")


@pytest.fixture(scope="module")
def service(issuer, endpoint, tmp_path_factory, shared_server):
    directory = tmp_path_factory.mktemp("clients")
    several = shared_server.issuer("grants-several")
    clients = [{"id": id, "auth": "client_secret_post", "secret_file": secret_file(directory, name=id)} for id in ("client", "other")]
    providers = [
        with_client(issuer, endpoint, directory),
        with_client(several, endpoint, directory, "several", audiences=["client", "other", "third"], clients=clients),
        provider(shared_server.issuer("grants-none"), "none"),
    ]
    with Service(*providers, limits={"provider_timeout": "2s"}) as service:
        service.wait_until_ready()
        yield service


def dropped(service, code: str) -> float:
    return reload.metrics(service).value("assay_grants_dropped_total", provider="oidc", code=code)


def test_a_grant_may_have_no_id_token(service, endpoint):
    response = refresh(service, scopes=["openid", "email"])
    assert response.status == 200, response
    answer = response.json
    expires_at = answer["grant"].pop("expires_at")
    assert isinstance(expires_at, int)
    assert answer == {
        "grant": {
            "access_token": "an access token", "token_type": "Bearer", "refresh_token": "a refresh token",
            "scopes": None, "id_token": None,
        },
        "identity": None, "token": None, "keys": None, "problem": None,
    }  # fmt: skip
    call = endpoint.last()
    assert call.parameters == [("grant_type", "refresh_token"), ("refresh_token", "r1"), ("scope", "openid email")]
    assert call.basic == ("client", SECRET)
    assert endpoint.received() == 1


def test_the_id_token_is_verified_except_for_its_nonce(service, endpoint, issuer):
    token = issuer.token(nonce="of the first sign-in", sub="user-1")
    endpoint.play(grant(id_token=token, scope="openid"))
    answer = refresh(service, include_claims=True).json
    assert answer["identity"]["subject"] == "user-1" and answer["claims"]["nonce"]
    assert answer["grant"]["id_token"] == token and answer["grant"]["scopes"] == ["openid"]
    assert answer["problem"] is None


@pytest.mark.parametrize(
    "members, code",
    [
        ({"sub": "somebody-else"}, "subject_mismatch"),
        ({"aud": "another-client"}, "audience_mismatch"),
        ({"exp": 1}, "token_expired"),
        ({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}, "at_hash_mismatch"),
    ],
)
def test_a_refused_id_token_drops_the_grant(service, endpoint, issuer, members, code):
    before = dropped(service, code)
    endpoint.play(grant(id_token=issuer.token(**members)))
    response = refresh(service)
    refused(response, code, spent=True)
    assert b"an access token" not in response.body
    assert dropped(service, code) == before + 1


@pytest.mark.parametrize("name", ROWS)
def test_every_response_becomes_its_code(service, endpoint, name):
    row = ROWS[name]
    endpoint.play(row.act)
    response = refresh(service)
    assert endpoint.received() == 1
    if row.code is None:
        assert response.status == 200, response
        return
    is_unspent = row.code in ("client_rejected", "provider_refused") or name.startswith(("status 429", "status 503"))
    error_name = "other" if row.error == "made_up_here" else row.error
    refused(response, row.code, spent=not is_unspent, error=error_name)
    if row.retry_after:
        assert response.header("Retry-After") == str(row.retry_after)


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in SLOW] + SLOW[:1])
def test_a_fault_after_sending_spends_the_token(service, endpoint, name):
    endpoint.play(FAULTS[name].act)
    refused(refresh(service), FAULTS[name].code, spent=True)
    assert endpoint.received() == 1


@pytest.mark.parametrize(
    "members, code",
    [
        ({"provider": "nobody"}, "provider_unknown"),
        ({"provider": "none"}, "client_not_configured"),
        ({"audience": "elsewhere"}, "audience_not_configured"),
        ({"provider": "several"}, "request_invalid"),
        ({"provider": "several", "audience": "third"}, "client_not_configured"),
        ({"subject": None}, "request_invalid"),
        ({"issuer": None}, "request_invalid"),
        ({"scopes": None}, "request_invalid"),
        ({"scopes": ["two words"]}, "request_invalid"),
        ({"refresh_token": ""}, "request_invalid"),
        ({"refresh_token": "naïve"}, "request_invalid"),
        ({"refresh_token": "x" * 16385}, "request_invalid"),
        ({"nonce": "n"}, "request_invalid"),
    ],
)
def test_invalid_requests_are_refused_before_anything_is_sent(service, endpoint, members, code):
    request = {"provider": "oidc", "refresh_token": "r1", "subject": "user-1"} | members
    refused(service.api.post("/v1/grants/refresh", request), code, spent=False)
    assert endpoint.received() == 0


def test_the_named_client_authenticates(service, endpoint):
    assert refresh(service, "several", audience="other").status == 200
    assert endpoint.last().form == {
        "grant_type": "refresh_token", "refresh_token": "r1", "client_id": "other", "client_secret": SECRET,
    }  # fmt: skip


def test_a_refused_connection_spends_nothing(issuer, tmp_path):
    endpoint = TokenEndpoint()
    with Service(with_client(issuer, endpoint, tmp_path)) as service:
        service.wait_until_ready()
        endpoint.refuse_connections()
        response = refresh(service)
        refused(response, "provider_unavailable", spent=False)
        assert response.header("Retry-After") == "2"


def test_calls_beyond_max_calls_are_refused(issuer, tmp_path):
    with TokenEndpoint() as endpoint, Service(with_client(issuer, endpoint, tmp_path, max_calls=1)) as service:
        service.wait_until_ready()
        endpoint.always(FAULTS["silence"].act)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            waiting = pool.submit(refresh, Caller(service))
            endpoint.wait_for(lambda: endpoint.received() == 1)
            response = refresh(service)
            refused(response, "provider_unavailable", spent=False)
            assert "max_calls" in response.json["detail"] and response.header("Retry-After") == "1"
            endpoint.heal()
            refused(waiting.result(), "provider_unavailable", spent=True)
        assert endpoint.received() == 1
        assert refresh(service).status == 200


def test_without_clients_the_endpoints_do_not_exist(issuer):
    with Service(provider(issuer)) as service:
        assert service.api.post("/v1/grants/refresh", {}).status == 404
        assert service.api.post("/v1/grants/revoke", {}).status == 404


def test_apples_grants_can_be_refreshed_and_revoked(tmp_path):
    with Apple() as apple:
        team = apple.team("com.example.app")
        key = tmp_path / "AuthKey.p8"
        key.write_bytes(team.pem)
        key.chmod(0o600)
        client = {"id": "com.example.app", "auth": "apple", "team_id": team.id, "key_id": team.key_id, "key_file": str(key)}
        with Service(apple.settings(audiences=["com.example.app"], clients=[client])) as service:
            service.wait_until_ready()
            ada = apple.user("Ada")
            code, _, _ = apple.native_sign_in("com.example.app", ada)
            with apple._lock:
                first = apple._exchange("com.example.app", {"code": code})
            subject = ada.subject(team.id)
            answer = refresh(service, "apple", first["refresh_token"], subject).json
            assert answer["identity"]["subject"] == subject and answer["grant"]["refresh_token"] is None
            assert service.api.post("/v1/grants/revoke", {"provider": "apple", "token": first["refresh_token"]}).status == 204
            refused(refresh(service, "apple", first["refresh_token"], subject), "grant_invalid", True, "invalid_request")
            assert not apple.secret_faults
