"""What operators see of entries with many issuers, and what they can do."""

import json
from urllib.parse import quote

import pytest

from harness.many import accept, connection, in_file, listed, open_entry, reject
from harness.service import NETWORK, Service, provider, run, write_config
from harness.tokens import ec_key, jws

KEYS = [ec_key(f"key-{number}") for number in range(6)]


@pytest.fixture
def issuers(server):
    return [server.issuer(f"op-{number}", key) for number, key in enumerate(KEYS[:3])]


@pytest.fixture
def others(server):
    """Issuers that no list has."""
    return [server.issuer(f"other-{number}", key) for number, key in enumerate(KEYS[3:])]


@pytest.fixture
def service(issuers):
    with Service(listed(*issuers), open_entry(), keys={"max_fetches": 8}) as running:
        yield running


def one(service, issuer, id: str = "customers") -> dict:
    [found] = service.admin.get(f"/v1/providers?provider={id}&issuer={quote(issuer.url, safe='')}").json["providers"]
    return found


def test_the_list_counts_issuers_and_names_those_that_fail(service, issuers):
    issuers[2].discovery.status = 500
    service.accept(issuers[0].token())
    service.reject(issuers[2].token(), "keys_unavailable")
    entry = service.provider_state("customers")
    assert entry["issuers"] == "listed" and entry["listed"] == 3 and entry["audiences"] == ["client"]
    assert entry["states"] == {"ready": 1, "stale": 0, "unavailable": 1, "waiting": 0}
    [failing] = entry["failing"]
    assert failing["issuer"] == issuers[2].url and failing["last_error"]["phase"] == "http"
    entry = service.provider_state("connections")
    assert entry["issuers"] == "any" and entry["listed"] is None


def test_one_issuer_is_shown_as_a_provider(service, issuers):
    assert one(service, issuers[0])["state"] == "waiting"
    service.accept(issuers[0].token())
    entry = one(service, issuers[0])
    assert entry["issuer"] == issuers[0].url and entry["state"] == "ready" and entry["source"] == "network"
    assert [key["kid"] for key in entry["keys"]] == ["key-0"]


def test_queries_are_strict(service, issuers):
    for query, code in [
        ("provider=nobody", "provider_unknown"), ("issuer=https://a.example", "request_invalid"),
        ("provider=customers&issuer=https://a.example", "provider_unknown"), ("all", "request_invalid"),
        ("provider=customers&provider=customers", "request_invalid"), ("provider=%zz", "request_invalid"),
        ("provider=connections&issuer=ftp://a.example", "request_invalid"),
    ]:
        assert service.admin.get(f"/v1/providers?{query}").code == code, query


def test_a_refresh_names_the_issuer(service, issuers):
    path = "/v1/providers/customers/refresh"
    response = service.admin.post(path, {"issuer": issuers[1].url})
    assert response.status == 200 and response.json["state"] == "ready" and response.json["issuer"] == issuers[1].url
    assert issuers[1].jwks.count == 1
    service.accept(issuers[1].token())
    assert issuers[1].jwks.count == 1
    issuers[1].rotate(ec_key("next"))
    response = service.admin.post(path + "?drop_omitted=true", {"issuer": issuers[1].url})
    assert [key["kid"] for key in response.json["keys"]] == ["next"]
    assert service.admin.post(path).code == "request_invalid"
    assert service.admin.post(path, {"issuer": "https://a.example"}).code == "provider_unknown"
    assert service.admin.post(path, {"issuer": issuers[1].url, "more": 1}).code == "request_invalid"
    assert service.admin.post("/v1/providers/connections/refresh", {"issuer": issuers[0].url}).status == 200


def test_explain_knows_both_kinds(service, issuers, others):
    answer = service.admin.post("/v1/explain", {"id_token": issuers[0].token()}).json
    assert answer["valid"] and answer["provider"] == "customers" and answer["keys"]["state"] == "ready"
    answer = service.admin.post("/v1/explain", {"id_token": others[0].token()} | connection(others[0])).json
    assert answer["valid"] and answer["provider"] == "connections"
    answer = service.admin.post("/v1/explain", {"id_token": others[1].token()} | connection(others[0])).json
    assert not answer["valid"] and answer["code"] in ("signature_invalid", "key_not_found")
    answer = service.admin.post("/v1/explain", {"id_token": others[1].token()} | connection(others[2])).json
    assert answer["code"] == "issuer_mismatch" and others[2].discovery.count == 0
    assert "connection's issuer" in answer["likely_cause"]["fix"]
    answer = service.admin.post("/v1/explain", {"id_token": others[0].token(aud="b")} | connection(others[0])).json
    assert "audience of the request's connection" in answer["likely_cause"]["fix"]
    answer = service.admin.post("/v1/explain", {"id_token": issuers[2].token(exp=1000), "provider": "customers"}).json
    assert answer["code"] == "token_expired"
    response = service.admin.post("/v1/explain", {"id_token": issuers[0].token(), "provider": "connections"})
    assert response.code == "request_invalid"


def test_an_explanation_of_a_token_of_an_unlisted_issuer(service, server):
    stranger = server.issuer("stranger", KEYS[0])
    answer = service.admin.post("/v1/explain", {"id_token": stranger.token(), "provider": "customers"}).json
    assert answer["code"] == "issuer_mismatch" and not answer["valid"]
    assert stranger.discovery.count == 0


def test_events_and_log_know_issuers_and_metrics_do_not(service, others):
    issuers = others
    issuers[0].discovery.status = 500
    reject(service, issuers[0], "keys_unavailable", id="a-connection")
    events = service.admin.get("/v1/events").json["events"]
    assert [(each["provider"], each["event"], each["issuer"]) for each in events] == [
        ("connections", "fetch_failed", issuers[0].url)
    ]
    assert service.wait_for_entry(message="keys can't be fetched")["issuer"] == issuers[0].url
    accept(service, issuers[1], id="b-connection")
    metrics = service.admin.get("/metrics").text
    assert 'assay_issuers{provider="connections",state="ready"} 1' in metrics
    assert 'assay_verifications_total{provider="connections",code="ok"} 1' in metrics
    for text in [issuers[0].url, issuers[1].url, "a-connection", "b-connection"]:
        assert text not in metrics
    service.hides("a-connection", "b-connection")


def test_access_tokens_of_a_list(issuers):
    entry = listed(*issuers, id="api", tokens="access", audiences=["https://api.example"])
    with Service(entry) as service:
        def verify(issuer, **claims):
            payload = issuer.claims(**({"aud": "https://api.example", "client_id": "client", "jti": "1"} | claims))
            token = jws(issuer.keys[0], payload, typ="at+jwt")
            return service.api.post("/v1/access-tokens/verify", {"token": token})

        assert verify(issuers[1], exp=1000).code == "token_expired"
        assert issuers[1].discovery.count == 0
        answer = verify(issuers[0])
        assert answer.status == 200 and answer.json["identity"]["issuer"] == issuers[0].url
        assert answer.json["authorization"]["client_id"] == "client"
        assert verify(issuers[0], aud="another").code == "audience_mismatch"


def test_config_check_tries_some_of_a_list_or_the_named_issuer(tmp_path, server):
    issuers = [server.issuer(f"op-{number}", KEYS[0]) for number in range(50)]
    config = write_config(tmp_path, {"providers": [listed(*issuers), open_entry()]})

    def check(*arguments: str):
        ended = run("config", "check", "--config", str(config), "--live", "--json", *arguments)
        return ended.returncode, json.loads(ended.stdout)["providers"] if ended.stdout.strip() else ended.stderr.decode()

    code, entries = check()
    assert code == 0 and len(entries) == 20 and sum(issuer.discovery.count > 0 for issuer in issuers) == 20
    code, entries = check("--issuer", issuers[7].url)
    assert code == 0 and {entry["id"] for entry in entries} == {"customers", "connections"}
    config = write_config(tmp_path, {"providers": [listed(*issuers)]})
    code, text = check("--issuer", "https://a.example")
    assert code == 1 and "--issuer" in text


def test_a_gateways_policy_may_use_a_list_but_not_an_open_entry(tmp_path, issuers):
    def check(entry: dict, **policy) -> str:
        settings = {
            "providers": [entry],
            "forward_auth": {"policies": [{"id": "app", "providers": [entry["id"]], "require_key": False} | policy]},
        }
        return run("config", "check", "--config", str(write_config(tmp_path, settings))).stderr.decode()

    headers = {"X-Auth-Subject": "subject", "X-Auth-Issuer": "issuer"}
    assert check(listed(*issuers), headers=headers) == ""
    assert "issuers: any" in check(open_entry(), headers=headers)
    assert "mail addresses" in check(listed(*issuers), headers=headers | {"X-Auth-Email": "email"})
    assert "mail addresses" in check(listed(*issuers), headers=headers, require={"email_trust": "verified"})
    file = tmp_path / "issuers"
    file.write_text(f"{issuers[0].url} - @a.example\n")
    entry = listed(issuers=None, issuers_file=str(file))
    assert check(entry, headers=headers | {"X-Auth-Email": "email"}) == ""


def test_a_gateway_asks_about_a_token_of_a_list(issuers):
    policy = {
        "id": "app", "providers": ["customers"], "require_key": False,
        "headers": {"X-Auth-Subject": "subject", "X-Auth-Issuer": "issuer"},
    }
    with Service(listed(*issuers), forward_auth={"policies": [policy], "keys_timeout": "5s"}) as service:
        def ask(token):
            return service.api.get("/v1/forward-auth/app", {"Authorization": f"Bearer {token}"})

        response = ask(issuers[0].token())
        assert response.status == 200 and response.header("X-Auth-Issuer") == issuers[0].url
        assert ask(issuers[0].token(aud="another")).status == 401
        assert ask(issuers[0].token(iss="https://a.example")).status == 401


def test_a_gateways_backend_gets_no_address_of_another_customers_domain(tmp_path, issuers):
    file = tmp_path / "issuers"
    file.write_text(f"{issuers[0].url} - @a.example\n{issuers[1].url} - @b.example\n")
    names = {"X-Auth-Subject": "subject", "X-Auth-Issuer": "issuer", "X-Auth-Email": "email", "X-Verified": "email_verified"}
    policy = {"id": "app", "providers": ["customers"], "require_key": False, "headers": names}
    with Service(in_file(file), forward_auth={"policies": [policy], "keys_timeout": "5s"}) as service:
        for issuer, domain, forwarded in [(0, "a", True), (0, "b", False), (1, "a", False), (1, "b", True)]:
            email = f"user@{domain}.example"
            token = issuers[issuer].token(email=email, email_verified=True)
            response = service.api.get("/v1/forward-auth/app", {"Authorization": f"Bearer {token}"})
            assert response.status == 200 and response.header("X-Auth-Subject") == "user-1"
            values = [response.header("X-Auth-Email"), response.header("X-Verified")]
            assert values == ([email, "true"] if forwarded else ["", ""])


@pytest.mark.parametrize(
    "entry, text",
    [
        ({"preset": "google"}, "preset"), ({"discovery_url": "https://a.example/d"}, "discovery_url"),
        ({"jwks_uri": "https://a.example/k"}, "jwks_uri"), ({"issuer": "https://a.example"}, "issuer"),
        ({"issuers_file": "/nowhere"}, "not both"), ({"max_issuers": 0}, "max_issuers"), ({"issuers": []}, ""),
        ({"issuers": ["https://a.example/{tid}"]}, "braces"), ({"clients": []}, "clients"),
    ],
)
def test_settings_are_checked(tmp_path, issuers, entry, text):
    config = write_config(tmp_path, {"providers": [listed(*issuers) | entry]})
    ended = run("config", "check", "--config", str(config))
    if text:
        assert ended.returncode == 1 and text in ended.stderr.decode(), ended.stderr


@pytest.mark.parametrize("entry, text", [({"audiences": ["a"]}, "audiences"), ({"tokens": "access"}, "ID Tokens only")])
def test_settings_of_open_entries_are_checked(tmp_path, entry, text):
    config = write_config(tmp_path, {"providers": [open_entry(**entry)]})
    ended = run("config", "check", "--config", str(config))
    assert ended.returncode == 1 and text in ended.stderr.decode(), ended.stderr


def test_max_issuers_is_for_many(tmp_path, issuers):
    config = write_config(tmp_path, {"providers": [provider(issuers[0], max_issuers=5, network=dict(NETWORK))]})
    ended = run("config", "check", "--config", str(config))
    assert ended.returncode == 1 and "max_issuers" in ended.stderr.decode()
