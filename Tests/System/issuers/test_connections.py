"""Entries with `issuers: any`: each request names the connection."""

import pytest

from harness.many import accept, connection, open_entry, reject
from harness.service import Service, provider
from harness.tokens import Key, ec_key, jws

KEY = ec_key("shared")


@pytest.fixture
def a(server):
    return server.issuer("a", KEY)


@pytest.fixture
def b(server):
    return server.issuer("b", Key(ec_key("another").private, "shared"))


def test_an_answer_has_the_connection(a):
    with Service(open_entry()) as service:
        identity = accept(service, a, id="customer-1")["identity"]
        assert identity["connection"] == "customer-1"
        assert (identity["provider"], identity["issuer"]) == ("connections", a.url)
        assert accept(service, a, id="customer-2")["identity"]["connection"] == "customer-2"
        assert a.jwks.count == 1


@pytest.mark.parametrize("missing", ["provider", "connection", "issuer", "audience"])
def test_nothing_is_taken_from_the_token(a, missing):
    with Service(open_entry()) as service:
        reject(service, a, "request_invalid", **{missing: None})
        service.reject(a.token(), "provider_unknown")
        service.reject(a.token(), "request_invalid", provider="connections")
        assert a.discovery.count == 0


@pytest.mark.parametrize("is_fetched", [False, True])
def test_a_token_of_one_issuer_is_refused_at_another_connection(a, b, is_fetched):
    with Service(open_entry()) as service:
        if is_fetched:
            accept(service, a)
            accept(service, b)
        reject(service, b, "issuer_mismatch", "signature_invalid", token=a.token())
        # The keys have the same kid, and the token the other's issuer.
        forged = a.token(iss=b.url)
        reject(service, b, "signature_invalid", token=forged)
        reject(service, a, "issuer_mismatch", "signature_invalid", token=forged)


def test_the_token_must_have_the_connections_audience(a):
    with Service(open_entry()) as service:
        reject(service, a, "audience_mismatch", audience="another")
        accept(service, a, audience="another", token=a.token(aud="another"))
        reject(service, a, "audience_mismatch", token=a.token(aud=["client", "another"]))
        accept(service, a, token=a.token(aud=["client", "another"], azp="client"))


def test_domains_are_those_that_the_request_names(a):
    token = a.token(email="anna@customer.example", email_verified=True)
    with Service(open_entry()) as service:
        for domains, trust in [(None, "unverified"), ([], "unverified"), (["other.example"], "unverified"),
                               (["CUSTOMER.example"], "verified")]:
            identity = accept(service, a, token=token, email_domains=domains)["identity"]
            assert identity["email_trust"] == trust


def test_claim_values_are_of_this_connection(a):
    with Service(open_entry(claim_values={"org": ["x"]})) as service:
        accept(service, a, token=a.token(org="x", hd="one"), claim_values={"hd": ["one", "two"]})
        reject(service, a, "claim_invalid", token=a.token(org="x", hd="three"), claim_values={"hd": ["one", "two"]})
        reject(service, a, "claim_missing", token=a.token(org="x"), claim_values={"hd": "one"})
        reject(service, a, "claim_invalid", token=a.token(org="y", hd="one"), claim_values={"hd": ["one"]})
        accept(service, a, token=a.token(org="x", admin=True), claim_values={"admin": True})


@pytest.mark.parametrize(
    "members",
    [
        {"connection": ""}, {"connection": "."}, {"connection": ".."}, {"connection": "x" * 256}, {"connection": 1},
        {"issuer": "http://a.example"}, {"issuer": "https://a.example:8443"}, {"issuer": "https://u@a.example"},
        {"issuer": "https://a.example?x"}, {"issuer": "https://a.example#x"}, {"issuer": "https://a.example/{tid}"},
        {"issuer": "a.example"}, {"issuer": "https://a.example/" + "x" * 240}, {"issuer": "https://"},
        {"claim_values": None, "email_domains": "a.example"}, {"email_domains": ["@a.example"]},
        {"email_domains": [""]}, {"claim_values": []}, {"claim_values": {"hd": []}}, {"claim_values": {"hd": [None]}},
        {"claim_values": {"hd": {}}},
    ],
)
def test_members_are_checked(a, members):
    with Service(open_entry(network=None)) as service:
        response = service.verify(a.token(), **(connection(a, issuer="https://a.example") | members))
        assert response.code == "request_invalid", response


@pytest.mark.parametrize(
    "issuer",
    [
        "https://accounts.google.com",
        "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",
        "https://sts.windows.net/9188040d-6c67-4c5b-b112-36a304b66dad/",
        "https://appleid.apple.com",
        "https://gitlab.com",
        "https://token.actions.githubusercontent.com",
    ],
)
def test_an_issuer_of_everybody_needs_claim_values(a, issuer):
    with Service(open_entry(network=None), limits={"keys_timeout": "1s"}) as service:
        token = a.token(iss=issuer, exp=1000)
        for values in [{}, {"claim_values": {}}]:
            problem = reject(service, a, "request_invalid", token=token, issuer=issuer, **values)
            assert "claim_values" in problem["detail"]
        reject(service, a, "token_expired", token=token, issuer=issuer, claim_values={"hd": ["a.example"]})


def test_an_issuer_of_another_entry_needs_claim_values(a, b):
    with Service(open_entry(), provider(b)) as service:
        service.wait_until_ready()
        reject(service, b, "request_invalid")
        accept(service, b, token=b.token(org="x"), claim_values={"org": ["x"]})
        service.accept(b.token())


def test_members_of_connections_are_for_open_entries_only(a, b):
    with Service(open_entry(), provider(b)) as service:
        service.wait_until_ready()
        service.reject(b.token(), "request_invalid", **connection(b, provider="oidc"))
        service.reject(b.token(), "request_invalid", provider="oidc", claim_values={"a": "b"})
        service.reject(b.token(), "request_invalid", connection="b", issuer=b.url, audience="client")


def test_an_issuer_that_fails_is_left_alone_for_its_backoff(a):
    a.discovery.status = 500
    with Service(open_entry()) as service:
        for _ in range(20):
            problem = reject(service, a, "keys_unavailable")
        assert problem["code"] == "keys_unavailable"
        assert a.discovery.count <= 3
        a.discovery.status = 200
        service.wait_until(lambda: service.verify(a.token(), **connection(a)).status == 200)


def test_sign_ins_of_lists_and_connections_in_a_batch(a, b):
    with Service(open_entry()) as service:
        items = [{"id_token": a.token()} | connection(a), {"id_token": b.token()} | connection(b),
                 {"id_token": b.token()} | connection(a), {"id_token": a.token(), "provider": "connections"}]
        results = service.api.post("/v1/verify/batch", {"items": items}).json["results"]
        assert [result.get("identity", {}).get("connection") for result in results] == ["a", "b", None, None]
        assert results[3]["error"]["code"] == "request_invalid"


def test_notifications_of_a_connection(a, b):
    with Service(open_entry(notifications=["logout"])) as service:
        def logout(issuer, /, **members):
            claims = issuer.claims(
                jti="1", events={"http://schemas.openid.net/event/backchannel-logout": {}}, sid="s"
            )
            token = jws(issuer.keys[0], claims, typ="logout+jwt")
            return service.api.post("/v1/notifications/verify", {"token": token} | members)

        answer = logout(a, **connection(a)).json
        assert answer["notification"]["issuer"] == a.url and answer["notification"]["provider"] == "connections"
        assert logout(a, **connection(b)).code in ("issuer_mismatch", "signature_invalid")
        assert logout(a, provider="connections").code == "request_invalid"
        assert logout(a, **connection(a, audience=None)).code == "request_invalid"
