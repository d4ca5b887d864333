"""`nonce.single_use`: nonces from the backend, each of which verifies one token."""

import concurrent.futures
import hashlib
import secrets
import time

import pytest

from harness import client, reload, tokens
from harness.clock import WallClock
from harness.service import Service, apple_like, provider, run
from harness.store import Store

ONCE = {"single_use": True}


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("single-use")


@pytest.fixture(scope="module")
def plain(shared_server):
    return shared_server.issuer("single-use-not")


@pytest.fixture(scope="module")
def apple(shared_server):
    return shared_server.issuer("single-use-apple")


@pytest.fixture(scope="module")
def once(issuer, plain, apple):
    """A service without `sign_ins`, which keeps used nonces in its memory."""
    providers = [
        provider(issuer, nonce=ONCE),
        provider(plain, "plain"),
        apple_like(apple, audiences=["client"], nonce=ONCE | {"match": ["sha256_hex", "plain"]}),
    ]
    with Service(*providers) as service:
        service.wait_until_ready()
        yield service


def nonce() -> str:
    return secrets.token_urlsafe(16)


def replayed(service: Service, token: str, **members) -> None:
    problem = service.reject(token, "nonce_replayed", **members)
    assert "spent" not in problem


def test_a_nonce_verifies_one_token(once, issuer):
    mine = nonce()
    token = issuer.token(nonce=mine)
    once.accept(token, nonce=mine)
    replayed(once, token, nonce=mine)
    # Another token with the same nonce is refused too.
    replayed(once, issuer.token(nonce=mine, sub="somebody else"), nonce=mine)
    other = nonce()
    once.accept(issuer.token(nonce=other), nonce=other)


def test_a_refused_token_uses_no_nonce_up(once, issuer):
    mine = nonce()
    once.reject(issuer.token(nonce=mine, exp=1), "token_expired", nonce=mine)
    once.reject(issuer.token(nonce=mine, aud="other"), "audience_mismatch", nonce=mine)
    once.reject(issuer.token(nonce=mine, sub="a"), "subject_mismatch", nonce=mine, subject="b")
    once.reject(issuer.token(nonce=mine), "nonce_mismatch", nonce=nonce())
    once.accept(issuer.token(nonce=mine), nonce=mine)


def test_a_nonce_is_required(once, issuer):
    once.reject(issuer.token(), "nonce_required")
    once.reject(issuer.token(), "nonce_missing", nonce=nonce())


def test_nonces_are_separate_for_each_provider(once, issuer, apple, plain):
    mine = nonce()
    once.accept(issuer.token(nonce=mine), nonce=mine)
    once.accept(apple.token(nonce=hashlib.sha256(mine.encode()).hexdigest()), nonce=mine)
    for _ in range(2):
        once.accept(plain.token(nonce=mine), nonce=mine)


def test_a_hashed_nonce_cannot_be_reused_as_a_plain_one(once, apple):
    mine = nonce()
    digest = hashlib.sha256(mine.encode()).hexdigest()
    token = apple.token(nonce=digest)
    assert once.accept(token, nonce=mine)["token"]["nonce_match"] == "sha256_hex"
    # The token reveals the hash, which is a valid nonce if plain nonces are accepted.
    replayed(once, token, nonce=digest)
    replayed(once, apple.token(nonce=mine), nonce=mine)


def test_in_a_batch_the_first_item_wins(once, issuer, plain):
    mine, other = nonce(), nonce()
    good = {"id_token": issuer.token(nonce=mine), "nonce": mine}
    items = [
        {"id_token": issuer.token(nonce=mine, exp=1), "nonce": mine},
        good,
        {"id_token": plain.token()},
        good,
        {"id_token": issuer.token(nonce=other), "nonce": other},
    ]
    response = once.api.post("/v1/verify/batch", {"items": items})
    assert response.status == 200, response
    codes = [item["error"]["code"] if "error" in item else "ok" for item in response.json["results"]]
    assert codes == ["token_expired", "ok", "ok", "nonce_replayed", "ok"]
    replayed(once, good["id_token"], nonce=mine)


def test_a_batch_that_waits_for_keys_keeps_the_order(server):
    issuer = server.issuer("single-use-late")
    with Service(provider(issuer, nonce=ONCE)) as service:
        service.wait_until_ready()
        mine = nonce()
        decided = {"id_token": issuer.token(nonce=mine), "nonce": mine}
        new = tokens.rsa_key("new")
        issuer.rotate(*issuer.keys, new)
        waits = {"id_token": tokens.jws(new, issuer.claims(nonce=mine)), "nonce": mine}
        results = service.api.post("/v1/verify/batch", {"items": [waits, decided]}).json["results"]
        assert "identity" in results[0] and results[1]["error"]["code"] == "nonce_replayed"


def test_only_one_of_many_concurrent_requests_is_accepted(once, issuer):
    mine = nonce()
    body = {"id_token": issuer.token(nonce=mine), "nonce": mine}

    def verify(_) -> int:
        api = client.Client(once.api.address)
        status = api.post("/v1/verify", body).status
        api.close()
        return status

    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        statuses = list(threads.map(verify, range(32)))
    assert sorted(statuses) == [200] + [422] * 31


def test_explaining_uses_nothing_up(once, issuer):
    mine = nonce()
    body = {"id_token": issuer.token(nonce=mine), "nonce": mine}
    for _ in range(2):
        explained = once.admin.post("/v1/explain", body).json
        assert explained["valid"] is True and "whether the nonce was already used is not checked" in explained["summary"]
        (check,) = [check for check in explained["checks"] if check["name"] == "nonce"]
        assert "nonce_replayed" in check["explanation"]
    once.accept(body["id_token"], nonce=mine)


def test_a_nonce_is_remembered_as_long_as_its_token_is_valid(server, tmp_path):
    clock = WallClock(tmp_path)
    issuer = server.issuer("single-use-time")
    settings = provider(issuer, nonce=ONCE, max_token_age="1h", clock_skew="60s")
    with Service(settings, variables=clock.variables) as service:
        service.wait_until_ready()
        mine = nonce()
        now = int(time.time())
        token = issuer.token(nonce=mine, iat=now, exp=now + 86400)
        service.accept(token, nonce=mine)
        clock.shift(3600 + 55)
        replayed(service, token, nonce=mine)
        clock.shift(3600 + 65)
        service.reject(token, "token_too_old", nonce=mine)
        clock.shift(0)
        replayed(service, token, nonce=mine)


def test_a_token_may_be_at_most_a_day_old(server):
    issuer = server.issuer("single-use-old")
    with Service(provider(issuer, nonce=ONCE)) as service:
        service.wait_until_ready()
        mine, now = nonce(), int(time.time())
        old = issuer.token(nonce=mine, iat=now - 86400 - 120, exp=now + 600)
        service.reject(old, "token_too_old", nonce=mine)


def test_a_reload_can_turn_single_use_on(server):
    issuer = server.issuer("single-use-reload")
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        assert "store" not in service.api.get("/readyz").json
        reload.change(service, provider(issuer, nonce=ONCE))
        mine = nonce()
        token = issuer.token(nonce=mine)
        service.accept(token, nonce=mine)
        replayed(service, token, nonce=mine)
        assert service.api.get("/readyz").json["store"] == {"state": "ok"}


def test_a_missing_store_affects_only_providers_with_single_use(server, tmp_path):
    issuer, other = server.issuer("single-use-store"), server.issuer("single-use-other")
    key_file = tmp_path / "sign-ins.key"
    key_file.write_bytes(run("key", "new").stdout)
    key_file.chmod(0o600)
    with Store(tmp_path / "store") as store:
        sign_ins = {"key_files": [str(key_file)], "store": {"url": store.url}}
        providers = [provider(issuer, nonce=ONCE), provider(other, "other")]
        with Service(*providers, sign_ins=sign_ins) as service, Service(*providers, sign_ins=sign_ins) as replica:

            def is_accepted(each: Service) -> bool:
                mine = nonce()
                return each.verify(issuer.token(nonce=mine), nonce=mine).status == 200

            for each in (service, replica):
                each.wait_until(lambda each=each: is_accepted(each))
            mine = nonce()
            token = issuer.token(nonce=mine)
            service.accept(token, nonce=mine)
            replayed(replica, token, nonce=mine)
            assert not any(mine in key for key in store.keys())
            store.stop()
            mine = nonce()
            token = issuer.token(nonce=mine)
            service.wait_until(lambda: service.verify(token, nonce=mine).code == "store_unavailable")
            items = [{"id_token": token, "nonce": mine}, {"id_token": other.token()}]
            results = service.api.post("/v1/verify/batch", {"items": items}).json["results"]
            assert results[0]["error"]["code"] == "store_unavailable" and "identity" in results[1]
            service.accept(other.token())
            assert service.api.get("/readyz").status == 200
            store.start()
            service.wait_until(lambda: is_accepted(service))


def test_enabled_features_are_logged_at_the_start(server, once):
    (line,) = once.entries(message="features enabled")
    assert line["features"] == ["nonce.single_use"] and line["store"] == "memory"
    assert line["single_use"] == ["oidc", "apple"]
    issuer = server.issuer("features")
    with Service(provider(issuer), sign_ins={}) as service:
        line = service.wait_for_entry(message="features enabled")
        assert line["features"] == ["sign_ins"] and "single_use" not in line
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        assert not service.entries(message="features enabled")


def test_verdicts_include_sign_ins_and_the_store_if_enabled(server, once, plain):
    answer = once.admin.get("/v1/verdicts").json
    assert answer["sign_ins"] == [] and answer["store"]["state"] == "ok" and answer["store"]["entries"] > 0
    with Service(provider(plain), sign_ins={}) as service:
        service.wait_until_ready()
        begun = service.api.post("/v1/sign-ins", {"provider": "oidc"}).json
        finish = {"sign_in": begun["sign_in"], "id_token": plain.token(nonce=begun["nonce"])}
        for _ in range(2):
            service.api.post("/v1/sign-ins/finish", finish)
        told = service.admin.get("/v1/verdicts").json
        assert sorted((each["outcome"], each["count"]) for each in told["sign_ins"]) == [
            ("begun", 1), ("ok", 1), ("sign_in_replayed", 1),
        ]  # fmt: skip
        assert {each["provider"] for each in told["sign_ins"]} == {"oidc"}
        assert told["store"] == {"state": "ok", "entries": 1}
    with Service(provider(plain)) as service:
        assert service.wait_until_ready().admin.get("/v1/verdicts").json.keys() == {"verdicts"}


def test_each_nonce_takes_at_most_150_bytes(issuer):
    with Service(provider(issuer, nonce=ONCE), verified_token_cache={"entries": 0}) as service:
        service.wait_until_ready()

        def verify(batches: int) -> None:
            for _ in range(batches):
                nonces = [nonce() for _ in range(250)]
                items = [{"id_token": issuer.token(nonce=each), "nonce": each} for each in nonces]
                results = service.api.post("/v1/verify/batch", {"items": items}).json["results"]
                assert all("identity" in result for result in results)

        # Warms up the memory that a batch takes.
        verify(16)
        before = service.resident()
        verify(80)
        assert service.resident() - before <= 80 * 250 * 150
