"""Assertions of an AWS load balancer: their padding and header, and keys that are fetched one by one."""

import uuid

import pytest

from harness import commands
from harness.gateways import ISSUER, LoadBalancer
from harness.reload import change
from harness.service import Service, provider, run, write_config
from harness.tokens import ec_key, now, rsa_key
from harness.waiting import free_port, poll

from .test_access_tokens import access, access_token, accepted, refused, verify


@pytest.fixture
def balancer(server):
    return LoadBalancer(server, "web")


@pytest.fixture(scope="module")
def shared(shared_server):
    return LoadBalancer(shared_server, "shared")


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("beside", rsa_key("beside"))


@pytest.fixture(scope="module")
def service(shared, issuer):
    with Service(shared.provider(), provider(issuer), access(issuer)) as service:
        service.wait_until_ready()
        yield service


def test_an_assertion_identifies_the_user_and_the_client(service, shared):
    answer = accepted(service, shared.assertion(email_verified="true"), include_claims=True)
    identity = answer["identity"]
    assert (identity["provider"], identity["issuer"], identity["subject"]) == ("alb", ISSUER, "user-1")
    assert (identity["email"], identity["email_verified"]) == ("jane@example.com", True)
    assert answer["authorization"] == {"client_id": "my-client", "scopes": [], "roles": [], "groups": [], "entitlements": [], "binding": None}
    assert (answer["token"]["audience"], answer["token"]["issued_at"]) == ([], None)
    assert answer["token"]["key_id"] == shared.key.kid
    assert answer["keys"]["source"] == "network"
    assert "signer" not in answer["claims"]
    accepted(service, shared.assertion(), provider="alb", subject="user-1", issuer=ISSUER)


def test_only_the_configured_load_balancer_may_sign(service, shared):
    """All load balancers of a region publish their keys at the same URL, so a key does not identify one."""
    stranger = shared.publish()
    arn = shared.arn.replace("123456789012", "210987654321")
    for members in ({}, {"provider": "alb"}):
        problem = refused(verify(service, shared.assertion(stranger, {"signer": arn}), **members), "claim_invalid", "signer")
        assert "another load balancer" in problem["detail"]
        # The payload comes from the identity provider, so its `signer` does not count.
        unsigned = shared.assertion(header={"signer": None}, signer=shared.arn)
        if members:
            refused(verify(service, unsigned, **members), "claim_missing", "signer")
        else:
            refused(verify(service, unsigned), "token_malformed")
    assert shared.published[stranger.kid].count == 0


REFUSALS = {
    "another client": ({"header": {"client": "other"}}, "authorized_party_mismatch", None),
    "no client": ({"header": {"client": None}}, "claim_missing", "client"),
    "an expired header": ({"header": {"exp": 1_700_000_000}}, "token_expired", None),
    "a header that expires later": ({"exp": 1_700_000_000}, "claim_invalid", "exp"),
    "a header without expiry": ({"header": {"exp": None}, "exp": 4_000_000_000}, "claim_missing", "exp"),
    "a payload without expiry": ({"exp": None}, "claim_invalid", "exp"),
    "another issuer": ({"iss": "https://other.example"}, "issuer_mismatch", None),
    "another issuer in the header": ({"header": {"iss": "https://other.example"}}, "issuer_mismatch", None),
    "a kid that is not a UUID": ({"header": {"kid": "../../secret"}}, "key_not_found", None),
    "no kid": ({"header": {"kid": None}}, "key_not_found", None),
    "another algorithm": ({"header": {"alg": "RS256"}}, "algorithm_not_allowed", None),
    "none": ({"header": {"alg": "none"}}, "algorithm_not_allowed", None),
    "an audience": ({"aud": "my-client"}, "audience_mismatch", None),
    "nobody": ({"sub": None}, "claim_missing", "sub"),
    "an ID Token's nonce": ({"nonce": "n"}, "claim_invalid", "nonce"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_each_invalid_assertion_is_refused_with_its_code(service, shared, case):
    changes, code, claim = REFUSALS[case]
    accepted(service, shared.assertion())
    refused(verify(service, shared.assertion(**changes), provider="alb"), code, claim)


def test_a_signature_of_another_key_is_refused(service, shared):
    accepted(service, shared.assertion())
    count = shared.published[shared.key.kid].count
    refused(verify(service, shared.assertion(ec_key("other"), {"kid": shared.key.kid})), "signature_invalid")
    assert shared.published[shared.key.kid].count == count


def test_only_load_balancers_may_pad(service, shared, issuer):
    token = shared.assertion()
    header, payload, signature = token.split(".")
    refused(verify(service, token.replace("=", "")), "provider_unknown")
    refused(verify(service, token.replace("=", ""), provider="alb"), "token_malformed")
    refused(verify(service, f"{header}.{payload}.{signature.rstrip('=')}", provider="alb"), "token_malformed")
    refused(verify(service, f"{header}.{payload}.{signature}="), "token_malformed")
    refused(verify(service, token, provider="api"), "token_malformed")
    service.reject(token, "token_malformed")
    good = access_token(issuer)
    accepted(service, good)
    refused(verify(service, ".".join(part + "=" * (-len(part) % 4) for part in good.split("."))), "token_malformed")
    refused(verify(service, good, provider="alb"), "token_malformed")


def test_authenticated_after_needs_iat(service, shared):
    refused(verify(service, shared.assertion(), authenticated_after=1), "claim_missing", "iat")
    accepted(service, shared.assertion(iat=now()), authenticated_after=now() - 5)


def test_load_balancers_and_the_provider_itself_may_share_an_issuer(server):
    first, second = LoadBalancer(server, "first"), LoadBalancer(server, "second")
    issuer = server.issuer("idp", rsa_key("idp"))
    own = access(issuer, jwks_uri=issuer.jwks_uri) | {"issuer": ISSUER}
    with Service(own, first.provider("one"), second.provider("two", client="other")) as service:
        service.wait_until_ready()
        for balancer, id, client in ((first, "one", "my-client"), (second, "two", "other")):
            answer = accepted(service, balancer.assertion(header={"client": client}))
            assert (answer["identity"]["provider"], answer["authorization"]["client_id"]) == (id, client)
        assert accepted(service, access_token(issuer, iss=ISSUER))["identity"]["provider"] == "api"
        refused(verify(service, second.assertion()), "authorized_party_mismatch")
        elsewhere = "https://elsewhere.example"
        refused(verify(service, first.assertion(header={"iss": elsewhere}, iss=elsewhere)), "provider_unknown")


# The keys


def test_the_provider_is_ready_without_keys_and_fetches_each_on_first_use(balancer):
    with Service(balancer.provider()) as service:
        service.wait_until_ready()
        assert service.provider_state("alb")["state"] == "ready"
        assert balancer.published[balancer.key.kid].count == 0
        for _ in range(3):
            accepted(service, balancer.assertion())
        assert balancer.published[balancer.key.kid].count == 1


def test_a_new_key_is_found_and_the_old_one_stays_in_use(balancer):
    with Service(balancer.provider()) as service:
        service.wait_until_ready()
        old = balancer.key
        accepted(service, balancer.assertion())
        balancer.key = balancer.publish()
        accepted(service, balancer.assertion())
        accepted(service, balancer.assertion(old))
        assert balancer.published[balancer.key.kid].count == 1


def test_unknown_key_ids_are_limited_to_two_fetches(balancer):
    with Service(balancer.provider()) as service:
        service.wait_until_ready()
        accepted(service, balancer.assertion())
        codes = [verify(service, balancer.assertion(header={"kid": str(uuid.uuid4())})).code for _ in range(50)]
        # The real key has used one fetch of the budget.
        assert codes[0] == "key_not_found"
        assert set(codes[1:]) == {"keys_unavailable"}
        assert len(balancer.asked()) == 1
        accepted(service, balancer.assertion())
        # A key that is published during the flood is retryable, not refused.
        balancer.key = balancer.publish()
        response = verify(service, balancer.assertion())
        refused(response, "keys_unavailable")
        assert 1 <= int(response.header("Retry-After")) <= 30


def test_assertions_that_would_be_refused_anyway_cause_no_fetch(balancer):
    with Service(balancer.provider()) as service:
        service.wait_until_ready()
        arn = balancer.arn.replace("123456789012", "210987654321")
        hopeless = [{"signer": arn}, {"client": "other"}, {"exp": 1}, {"iss": "https://other.example"}, {"kid": "a"}]
        for members in hopeless:
            assert verify(service, balancer.assertion(header=members), provider="alb").status == 422
        assert balancer.published[balancer.key.kid].count == 0
        assert balancer.asked() == []


def test_known_keys_stay_in_use_while_the_endpoint_fails(balancer):
    with Service(balancer.provider()) as service:
        service.wait_until_ready()
        accepted(service, balancer.assertion())
        new = balancer.publish()
        balancer.published[new.kid].status = 500
        response = verify(service, balancer.assertion(new))
        refused(response, "keys_unavailable")
        assert int(response.header("Retry-After")) >= 1
        accepted(service, balancer.assertion())
        assert service.admin.get("/readyz").status == 200


def test_a_403_for_a_key_means_that_it_does_not_exist(balancer):
    """S3 answers 403 for an object that does not exist."""
    with Service(balancer.provider()) as service:
        service.wait_until_ready()
        hidden = balancer.publish()
        balancer.published[hidden.kid].status = 403
        refused(verify(service, balancer.assertion(hidden)), "key_not_found")
        accepted(service, balancer.assertion())


@pytest.mark.parametrize("body", [b"", b"<html></html>", rsa_key("alb-rsa").pem()])
def test_an_unusable_key_document_is_not_used(balancer, body):
    with Service(balancer.provider()) as service:
        service.wait_until_ready()
        balancer.published[balancer.key.kid].body = body
        code = "key_not_found" if b"PUBLIC" in body else "keys_unavailable"
        refused(verify(service, balancer.assertion()), code)


def test_a_used_key_survives_a_restart_during_an_outage(balancer, tmp_path):
    settings = {"cache_directory": str(tmp_path)}
    with Service(balancer.provider(), **settings) as service:
        service.wait_until_ready()
        accepted(service, balancer.assertion())
        poll(lambda: (tmp_path / "alb.keys").exists() or None)
    balancer.published[balancer.key.kid].status = 500
    with Service(balancer.provider(), **settings) as service:
        service.wait_until_ready()
        assert accepted(service, balancer.assertion())["keys"]["source"] == "disk"


def test_a_reload_keeps_the_keys(balancer):
    with Service(balancer.provider()) as service:
        service.wait_until_ready()
        accepted(service, balancer.assertion())
        change(service, balancer.provider(clock_skew="30s"))
        accepted(service, balancer.assertion())
        assert balancer.published[balancer.key.kid].count == 1


def test_a_live_check_asks_the_endpoint_for_a_key(balancer, tmp_path):
    config = write_config(tmp_path, {"providers": [balancer.provider()]})
    report = run(*commands.config_check(config), "--live")
    assert report.returncode == 0, report
    assert "each key is fetched when a token first names it" in report.stdout.decode()
    assert len(balancer.asked()) == 1
    nowhere = balancer.provider(public_key_uri=f"http://127.0.0.1:{free_port()}/{{kid}}")
    assert run(*commands.config_check(write_config(tmp_path, {"providers": [nowhere]})), "--live").returncode != 0


def test_a_load_balancer_does_not_support_sign_ins(balancer):
    with Service(balancer.provider(), sign_ins={}) as service:
        service.wait_until_ready()
        assert service.api.post("/v1/sign-ins", {"provider": "alb"}).code == "sign_in_not_supported"
