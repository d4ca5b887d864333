"""A native finish that exchanges a code: after the claim, once, and only for the user of the sign-in."""

import concurrent.futures
import threading
import time

import pytest

from grants.grants import SECRET, with_client
from harness import client, reload
from harness.apple import Apple
from harness.service import Service, provider
from harness.token_endpoint import FAULTS, ROWS, TokenEndpoint, endlessly, error, grant
from harness.tokens import ec_key

from .calls import ON, Caller, begin

REDIRECT = "https://app.example/callback"


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("exchange")


@pytest.fixture(scope="module")
def service(issuer, endpoint, tmp_path_factory):
    settings = with_client(issuer, endpoint, tmp_path_factory.mktemp("clients"), audiences=["client", "bare"])
    with Service(settings, limits={"provider_timeout": "2s"}, **ON) as service:
        service.wait_until_ready()
        yield service


@pytest.fixture(autouse=True)
def fresh(endpoint):
    # Keeps connections open, because closing one just when a code is sent would be a fault.
    endpoint.forget()


def finish(service: Service | Caller, begun: dict, **members) -> client.Response:
    return service.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"]} | members)


def refused(response: client.Response, code: str, spent: bool, error: str | None = None) -> None:
    problem = client.contract.assert_code(response, code)
    assert problem["spent"] is spent and problem.get("provider_error") == error, problem
    assert b"an access token" not in response.body and b"a refresh token" not in response.body


def test_a_code_alone_finishes_a_sign_in(service, endpoint, issuer):
    begun = begin(service, context="/basket")
    token = issuer.token(nonce=begun["nonce"])
    endpoint.play(grant(id_token=token))
    response = finish(service, begun, code="c1", redirect_uri=REDIRECT)
    assert response.status == 200, response
    answer = response.json
    assert answer["context"] == "/basket" and answer["identity"]["subject"] == "user-1"
    assert answer["grant"]["id_token"] == token and answer["grant"]["refresh_token"] == "a refresh token"
    call = endpoint.last()
    assert call.form == {"grant_type": "authorization_code", "code": "c1", "redirect_uri": REDIRECT}
    assert call.basic == ("client", SECRET)
    refused(finish(service, begun, code="c1"), "sign_in_replayed", True)
    assert endpoint.received() == 1


@pytest.mark.parametrize("nonce", ["same", None])
def test_a_code_is_exchanged_after_the_token_is_verified(service, endpoint, issuer, nonce):
    begun = begin(service)
    endpoint.play(grant(id_token=issuer.token(**({"nonce": begun["nonce"]} if nonce else {}))))
    first = issuer.token(nonce=begun["nonce"], email="first@example.com", email_verified=True)
    answer = finish(service, begun, id_token=first, code="c1").json
    assert answer["identity"]["email"] == "first@example.com" and answer["grant"]["access_token"] == "an access token"
    assert "redirect_uri" not in endpoint.last().form and "code_verifier" not in endpoint.last().form


def test_the_grant_may_lack_an_id_token_if_the_finish_has_one(service, endpoint, issuer):
    begun = begin(service)
    answer = finish(service, begun, id_token=issuer.token(nonce=begun["nonce"]), code="c1").json
    assert answer["grant"]["id_token"] is None and answer["identity"]["subject"] == "user-1"


def test_a_token_for_another_of_the_audiences_says_which_one_the_sign_in_is_for(service, endpoint, issuer):
    begun = begin(service)
    response = finish(service, begun, id_token=issuer.token(aud="bare", nonce=begun["nonce"]))
    problem = client.contract.assert_code(response, "audience_mismatch")
    assert 'is for the audience "client", but the token is for another' in problem["detail"]
    assert "set audience to the token's own (for a sign-in, when it begins)" in problem["detail"]
    other = begin(service, audience="bare")
    assert finish(service, other, id_token=issuer.token(aud="bare", nonce=other["nonce"])).status == 200
    stranger = finish(service, begun, id_token=issuer.token(aud="stranger", nonce=begun["nonce"]))
    assert "None of the token's audiences is configured" in client.contract.assert_code(stranger, "audience_mismatch")["detail"]


@pytest.mark.parametrize("quirks", [["no_token_type"], []])
def test_a_token_type_may_be_missing_where_the_provider_is_known_to_send_none(endpoint, issuer, tmp_path, quirks):
    with Service(with_client(issuer, endpoint, tmp_path, quirks=quirks), **ON) as service:
        service.wait_until_ready()
        begun = begin(service)
        endpoint.play(grant(id_token=issuer.token(nonce=begun["nonce"]), token_type=None))
        response = finish(service, begun, code="c1")
        if quirks:
            assert response.status == 200 and response.json["grant"]["token_type"] is None, response
        else:
            refused(response, "provider_answer_invalid", True)


def test_without_a_client_a_code_is_only_checked_against_its_hash(service, endpoint, issuer):
    begun = begin(service, audience="bare")
    token = issuer.token(aud="bare", nonce=begun["nonce"])
    refused(finish(service, begun, code="c1"), "client_not_configured", False)
    answer = finish(service, begun, id_token=token, code="c1").json
    assert answer["grant"] is None and not endpoint.calls


@pytest.mark.parametrize(
    "members, code",
    [
        ({}, "request_invalid"),
        ({"code": "c1", "response": {"code": "c1"}}, "request_invalid"),
        ({"code": "c1", "access_token": "the app's"}, "request_invalid"),
        ({"code": "c1", "redirect_uri": REDIRECT + "/"}, "redirect_uri_not_configured"),
        ({"code": "naïve"}, "request_invalid"),
        ({"code": "c1", "id_token": "junk"}, "token_malformed"),
    ],
)
def test_a_refusal_before_the_claim_uses_nothing_up(service, endpoint, issuer, members, code):
    begun = begin(service)
    refused(finish(service, begun, **members), code, False)
    assert not endpoint.calls
    endpoint.play(grant(id_token=issuer.token(nonce=begun["nonce"])))
    assert finish(service, begun, code="c1").status == 200


@pytest.mark.parametrize("claims, code", [({"nonce": "other"}, "nonce_mismatch"), ({}, "nonce_missing")])
def test_an_injected_code_is_refused_by_its_nonce(service, endpoint, issuer, claims, code):
    before = dropped(service, code)
    begun = begin(service)
    endpoint.play(grant(id_token=issuer.token(**claims)))
    refused(finish(service, begun, code="c1"), code, True)
    assert dropped(service, code) == before + 1
    refused(finish(service, begun, code="c1"), "sign_in_replayed", True)
    assert endpoint.received() == 1 and endpoint.received("/revoke") == 0


@pytest.mark.parametrize(
    "claims, code",
    [({"sub": "victim"}, "subject_mismatch"), ({"nonce": "other"}, "nonce_mismatch"), ({"aud": "bare"}, "audience_mismatch")],
)
def test_a_code_of_another_user_is_refused_despite_a_valid_token(service, endpoint, issuer, claims, code):
    begun = begin(service)
    endpoint.play(grant(id_token=issuer.token(**({"nonce": begun["nonce"]} | claims))))
    refused(finish(service, begun, id_token=issuer.token(nonce=begun["nonce"]), code="c1"), code, True)
    assert endpoint.received("/revoke") == 0


def test_re_authentication_by_another_user_is_refused(service, endpoint, issuer):
    begun = begin(service, subject="user-1")
    endpoint.play(grant(id_token=issuer.token(nonce=begun["nonce"], sub="user-2")))
    refused(finish(service, begun, code="c1"), "subject_mismatch", True)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.code])
def test_every_refusal_by_the_provider_spends_the_sign_in(service, endpoint, name):
    row = ROWS[name]
    begun = begin(service)
    endpoint.play(row.act)
    refused(finish(service, begun, code="c1"), row.code, True, "other" if row.error == "made_up_here" else row.error)
    refused(finish(service, begun, code="c1"), "sign_in_replayed", True)
    assert endpoint.received() == 1


def entries(service) -> float:
    return reload.metrics(service).value("assay_store_entries")


def test_a_code_that_the_provider_calls_invalid_leaves_no_entry_and_its_handle_stays_refused(service, endpoint, issuer):
    before = entries(service)
    junk = [begin(service) for _ in range(5)]
    for begun in junk:
        endpoint.play(error("invalid_grant"))
        refused(finish(service, begun, code="junk"), "grant_invalid", True, "invalid_grant")
    assert entries(service) == before
    # Neither the code again, nor another one, nor an ID Token.
    for begun in junk:
        for members in ({"code": "junk"}, {"code": "c1"}, {"id_token": issuer.token(nonce=begun["nonce"])}):
            refused(finish(service, begun, **members), "sign_in_replayed", True)
    assert endpoint.received() == len(junk) and entries(service) == before


@pytest.mark.parametrize(
    "answer",
    [ROWS["an error beside a grant"].act, error("server_error"), FAULTS["silence"].act],
    ids=["a grant too", "another error", "no answer"],
)
def test_an_answer_that_does_not_say_what_became_of_the_code_keeps_the_claim(service, endpoint, answer):
    before = entries(service)
    begun = begin(service)
    endpoint.play(answer)
    assert finish(service, begun, code="c1").json["spent"] is True
    assert entries(service) == before + 1
    refused(finish(service, begun, code="c1"), "sign_in_replayed", True)


def test_junk_codes_at_one_provider_leave_room_for_another(shared_server, tmp_path):
    other = shared_server.issuer("exchange-other")
    flooded = shared_server.issuer("exchange-flooded")
    with TokenEndpoint() as endpoint:
        providers = (with_client(flooded, endpoint, tmp_path), provider(other, "other"))
        # Each such answer leaves a claim.
        endpoint.always(error("server_error"))
        with Service(*providers, sign_ins={"store": {"entries": 1000}}) as service:
            service.wait_until_ready()

            def flood() -> client.Response:
                return finish(service, begin(service), code="junk")

            response = flood()
            while response.code == "provider_refused":
                response = flood()
            refused(response, "store_unavailable", False)
            assert reload.metrics(service).value("assay_store_used_ratio") == 0.95
            assert reload.metrics(service).value("assay_store_state", state="full") == 1
            begun = begin(service, "other")
            token = other.token(nonce=begun["nonce"])
            assert finish(service, begun, id_token=token).status == 200


@pytest.mark.parametrize("name", [name for name, row in FAULTS.items() if not row.slow] + ["silence"])
def test_every_fault_after_sending_spends_the_sign_in(service, endpoint, name):
    begun = begin(service)
    endpoint.play(FAULTS[name].act)
    refused(finish(service, begun, code="c1"), FAULTS[name].code, True)
    assert endpoint.received() == 1


def test_a_grant_without_any_id_token_is_invalid(service, endpoint):
    begun = begin(service)
    refused(finish(service, begun, code="c1"), "provider_answer_invalid", True)


def test_the_claim_is_released_if_nothing_was_sent(issuer, tmp_path):
    endpoint = TokenEndpoint()
    with Service(with_client(issuer, endpoint, tmp_path), **ON) as service:
        service.wait_until_ready()
        begun = begin(service)
        endpoint.refuse_connections()
        for _ in range(2):
            response = finish(service, begun, code="c1")
            refused(response, "provider_unavailable", False)
            assert response.header("Retry-After") == "2"
        assert reload.metrics(service).value("assay_store_releases_total", outcome="released") == 2
        # The token alone can still finish the sign-in.
        assert finish(service, begun, id_token=issuer.token(nonce=begun["nonce"])).status == 200


def test_a_finish_beyond_max_calls_claims_nothing(issuer, tmp_path):
    with TokenEndpoint() as endpoint, Service(with_client(issuer, endpoint, tmp_path, max_calls=1), **ON) as service:
        service.wait_until_ready()
        first, second = begin(service), begin(service)
        endpoint.always(FAULTS["silence"].act)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            waiting = pool.submit(finish, Caller(service), first, code="c1")
            endpoint.wait_for(lambda: endpoint.received() == 1)
            # With and without a valid ID Token.
            for members in ({}, {"id_token": issuer.token(nonce=second["nonce"])}):
                response = finish(service, second, code="c2", **members)
                refused(response, "provider_unavailable", False)
                assert "max_calls" in response.json["detail"] and response.header("Retry-After") == "1"
            # An invalid one is refused first.
            refused(finish(service, second, code="c2", id_token=issuer.token(nonce="another")), "nonce_mismatch", False)
            endpoint.heal()
            refused(waiting.result(), "provider_unavailable", True)
        assert endpoint.received() == 1
        endpoint.play(grant(id_token=issuer.token(nonce=second["nonce"])))
        assert finish(service, second, code="c2").status == 200


def test_without_keys_a_code_is_not_sent_and_the_sign_in_is_not_claimed(shared_server, endpoint, tmp_path):
    down = shared_server.issuer("exchange-down")
    down.jwks.status = 500
    with Service(with_client(down, endpoint, tmp_path), limits={"keys_timeout": "1s"}, **ON) as service:
        begun = begin(service)
        response = finish(service, begun, code="c1")
        refused(response, "keys_unavailable", False)
        assert response.header("Retry-After") and not endpoint.calls
        down.jwks.status = 200
        service.wait_until(lambda: service.admin.post("/v1/providers/oidc/refresh").status == 200)
        endpoint.play(grant(id_token=down.token(nonce=begun["nonce"])))
        assert finish(service, begun, code="c1").status == 200


def test_waiting_for_keys_counts_towards_the_time_of_a_finish(shared_server, tmp_path):
    issuer = shared_server.issuer("exchange-slow", ec_key("old"))
    limits = {"keys_timeout": "30s", "provider_timeout": "30s"}
    with TokenEndpoint() as silent, Service(with_client(issuer, silent, tmp_path), limits=limits, **ON) as service:
        service.wait_until_ready()
        silent.always(endlessly)
        begun = begin(service)
        issuer.rotate(ec_key("new"))
        token = issuer.token(nonce=begun["nonce"])
        issuer.jwks.hold()
        fetched = issuer.jwks.count
        with concurrent.futures.ThreadPoolExecutor() as pool:
            started = time.monotonic()
            waiting = pool.submit(finish, Caller(service), begun, id_token=token, code="c1")
            issuer.jwks.wait_for(fetched + 1)
            keys = threading.Timer(4, issuer.jwks.release)
            keys.start()
            refused(waiting.result(), "provider_unavailable", True)
        assert silent.received() == 1 and time.monotonic() - started < 12


def test_apples_token_and_code_finish_a_sign_in(tmp_path):
    with Apple() as apple:
        team = apple.team("com.example.app")
        key = tmp_path / "AuthKey.p8"
        key.write_bytes(team.pem)
        app = {"id": "com.example.app", "auth": "apple", "team_id": team.id, "key_id": team.key_id, "key_file": str(key)}
        with Service(apple.settings(audiences=["com.example.app"], clients=[app]), **ON) as service:
            service.wait_until_ready()
            begun = begin(service, "apple")
            ada = apple.user("Ada")
            code, token, user = apple.native_sign_in("com.example.app", ada, begun["nonce_sha256"])
            response = finish(service, begun, id_token=token, code=code, user=user)
            assert response.status == 200, response
            assert response.json["identity"]["given_name"] == "Ada" and response.json["grant"]["refresh_token"]
            assert not apple.secret_faults


def dropped(service, code: str) -> float:
    return reload.metrics(service).value("assay_grants_dropped_total", provider="oidc", code=code)
