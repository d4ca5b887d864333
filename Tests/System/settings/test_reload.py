"""Settings that change while the service runs: by a signal, a changed file, or a ConfigMap's links."""

import json
import os
import pathlib
import signal

import pytest

from harness.client import Client, request_bytes
from harness.contract import assert_code
from harness.issuer import KeyServer
from harness.keys import unavailable
from harness.load import Load
from harness.reload import REFUSED, ConfigMap, change, hang_up, metrics, refuse, reloads, replace, text
from harness.service import Process, Service, provider
from harness.tokens import ec_key, jws, now, sha256_hex

KEY, OTHER, NEW = ec_key("key"), ec_key("other"), ec_key("new")
VERDICTS = "assay_verifications_total"


@pytest.fixture
def issuer(server):
    return server.issuer("op", KEY)


@pytest.fixture
def other(server):
    return server.issuer("other", OTHER)


@pytest.fixture
def service(issuer):
    with Service(provider(issuer)) as service:
        yield service.wait_until_ready()


def is_ready(service) -> bool:
    return service.api.get("/readyz").status == 200


def gauge(service, name: str, **labels) -> float:
    return metrics(service).value(f"assay_configuration_{name}", **labels)


# detecting changes


def test_a_rewritten_file_is_loaded(service, issuer):
    service.accept(issuer.token())
    replace(service.config, text(provider(issuer, audiences=["another"])))
    service.wait_until(lambda: service.verify(issuer.token()).code == "audience_mismatch")
    service.accept(issuer.token(aud="another"))
    assert service.wait_for_entry(message="configuration reloaded")["level"] == "info"


def test_a_file_that_is_written_in_place_is_loaded_once_it_is_complete(service, issuer, other):
    """Half of it would be valid settings without one of the providers."""
    whole = text(provider(issuer), provider(other, "other"))
    half = whole[: whole.index("  - id: other")]
    with service.config.open("w") as file:
        file.write(half)
        file.flush()
        file.write(whole[len(half) :])
    service.wait_until(lambda: reloads(service) != (0, 0))
    assert reloads(service) == (1, 0)
    service.accept(other.token())


def test_a_changed_config_map_is_loaded(issuer, tmp_path):
    mounted = ConfigMap(tmp_path, text(provider(issuer)))
    process = Process("serve", "--config", str(mounted.file))
    try:
        api, admin = Client(process.listening("service")), Client(process.listening("admin"))
        process.wait_for_entry(message="keys changed")
        before = issuer.jwks.count
        mounted.update(text(provider(issuer, audiences=["another"])))
        process.wait_for_entry(message="configuration reloaded")
        assert_code(api.post("/v1/verify", {"id_token": issuer.token()}), "audience_mismatch")
        mounted.update("providers: []\n")
        process.wait_for_entry(message=REFUSED)
        assert api.post("/v1/verify", {"id_token": issuer.token(aud="another")}).status == 200
        assert issuer.jwks.count == before
        for client in (api, admin):
            client.close()
        process.terminate()
        assert process.wait() == 0
    finally:
        process.kill()


def test_sighup_reloads_even_an_unchanged_file(service, issuer):
    assert hang_up(service)
    assert hang_up(service)
    service.accept(issuer.token())
    assert issuer.jwks.count == 1


def test_many_signals_do_no_harm(service, issuer):
    for number in range(50):
        replace(service.config, text(provider(issuer, audiences=[f"client-{number}"])))
        service.process.send_signal(signal.SIGHUP)
    service.wait_until(lambda: service.verify(issuer.token(aud="client-49")).status == 200)
    assert issuer.jwks.count == 1


def test_a_touched_file_is_not_reloaded(service, issuer):
    """Only the content counts. The later change shows that there was time to notice."""
    os.utime(service.config)
    replace(service.config, service.config.read_bytes())
    replace(service.config, text(provider(issuer, audiences=["another"])))
    service.wait_until(lambda: reloads(service) != (0, 0))
    assert reloads(service) == (1, 0)


def test_the_environment_still_overrides_the_file(issuer):
    with Service(provider(issuer), variables={"ASSAY_CLOCK_SKEW": "300s"}) as service:
        service.wait_until_ready()
        change(service, provider(issuer), clock_skew="0s")
        service.accept(issuer.token(exp=issuer.claims()["iat"] - 100))


# rejected changes


BAD = {
    "an unknown key": ("nonsense: 1\n", "line 1: unknown setting nonsense"),
    "no text": (b"\xff\xfe", "UTF-8"),
}


@pytest.mark.parametrize("fault", BAD)
def test_an_invalid_file_is_refused_and_the_old_settings_stay(service, issuer, fault):
    content, words = BAD[fault]
    started = gauge(service, "last_reload_success_timestamp_seconds")
    assert gauge(service, "last_reload_successful") == 1
    assert words in refuse(service, content)
    assert service.entries(message=REFUSED)[0]["level"] == "warning"
    assert gauge(service, "last_reload_successful") == 0
    assert gauge(service, "last_reload_success_timestamp_seconds") == started
    assert reloads(service) == (0, 1)
    service.accept(issuer.token())
    assert is_ready(service)
    change(service, provider(issuer))
    assert gauge(service, "last_reload_successful") == 1
    assert gauge(service, "last_reload_success_timestamp_seconds") >= started
    assert issuer.jwks.count == 1


def test_the_error_names_file_and_line(service, issuer):
    good = text(provider(issuer))
    reason = refuse(service, good + "typo: 1\n")
    assert f"line {good.count(chr(10)) + 1}: unknown setting typo" in reason
    assert str(service.config) in reason


def test_no_part_of_an_invalid_file_is_used(service, issuer, other):
    bad = text(provider(issuer, audiences=["another"]), provider(other, "other"), clock_skw="1s")
    refuse(service, bad)
    service.accept(issuer.token())
    service.reject(other.token(), "provider_unknown")
    assert other.discovery.count == 0


def test_a_missing_file_is_reported_once_and_loaded_when_it_returns(service, issuer):
    content = service.config.read_bytes()
    service.config.unlink()
    service.wait_until(lambda: reloads(service) == (0, 1))
    service.accept(issuer.token())
    replace(service.config, content)
    service.wait_until(lambda: reloads(service) == (1, 1))
    service.stop()
    assert len(service.entries(message=REFUSED)) == 1


NEED_A_RESTART = {
    "service.listen": {"service": {"listen": "127.0.0.1:1"}},
    "admin.listen": {"admin": {"listen": "127.0.0.1:1"}},
    "cache_directory": {"cache_directory": "/tmp"},
    "limits.max_connections": {"limits": {"max_connections": 5}},
    "limits.max_in_flight": {"limits": {"max_in_flight": 5}},
    "limits.idle_timeout": {"limits": {"idle_timeout": "5s"}},
}


@pytest.mark.parametrize("name", NEED_A_RESTART)
def test_settings_that_need_a_restart_are_named_and_nothing_is_applied(service, issuer, name):
    settings = NEED_A_RESTART[name]
    reason = refuse(service, text(provider(issuer, audiences=["another"]), **settings))
    assert name in reason
    assert "restart" in reason
    service.accept(issuer.token())


def test_errors_contain_no_secrets(service, issuer):
    refuse(service, text(provider(issuer), api_keys=["canary-no-digest"]))
    refuse(service, text(provider(issuer, network={"ca_fil": "canary"})))
    service.hides("canary")


# providers


def test_a_provider_whose_policy_changes_keeps_its_keys(service, issuer):
    token = issuer.token(nonce="n")
    service.accept(token, nonce="n")
    issuer.jwks.status = issuer.discovery.status = 500
    changes = [
        ({"audiences": ["another"]}, "audience_mismatch"),
        ({"nonce": {"match": ["sha256_hex"]}}, "nonce_mismatch"),
        ({"required_claims": ["email"]}, "claim_missing"),
        ({"clock_skew": "0s", "max_token_age": "1h"}, None),
        ({"optional": True}, None),
    ]
    for settings, code in changes:
        change(service, provider(issuer, **settings))
        assert service.verify(token, nonce="n").code == code, settings
        assert is_ready(service)
    assert (issuer.discovery.count, issuer.jwks.count) == (1, 1)
    assert service.provider_state("oidc")["last_error"] is None


def test_a_cached_signature_does_not_bypass_changed_settings(issuer):
    """The token has been verified repeatedly, so its signature and its header are cached."""
    with Service(provider(issuer, algorithms=["ES256"]), verified_token_cache={"entries": 100}) as service:
        service.wait_until_ready()
        token = issuer.token(iat=now() - 300)
        for _ in range(20):
            service.accept(token)
        cache = {"verified_token_cache": {"entries": 100}}
        change(service, provider(issuer, algorithms=["RS256"]), **cache)
        service.reject(token, "algorithm_not_allowed")
        change(service, provider(issuer, algorithms=["ES256"], max_token_age="1m"), **cache)
        service.reject(token, "token_too_old")
        elsewhere = provider(issuer, jwks_uri=issuer.jwks_uri) | {"issuer": "https://elsewhere.example"}
        change(service, elsewhere, **cache)
        service.reject(token, "issuer_mismatch", provider="oidc")
        issuer.rotate(NEW)
        change(service, provider(issuer, jwks_uri=issuer.jwks_uri), **cache)
        service.reject(token, "key_not_found")


def test_a_provider_can_be_added_and_removed(service, issuer, other):
    service.reject(other.token(), "provider_unknown")
    change(service, provider(issuer), provider(other, "other"))
    assert service.accept(other.token())["identity"]["provider"] == "other"
    service.accept(issuer.token())
    change(service, provider(other, "other"))
    service.accept(other.token())
    service.reject(issuer.token(), "provider_unknown")
    service.reject(issuer.token(), "provider_unknown", provider="oidc")
    assert_code(service.admin.post("/v1/providers/oidc/refresh"), "provider_unknown")
    assert [entry["id"] for entry in service.admin.get("/v1/providers").json["providers"]] == ["other"]
    assert [entry["id"] for entry in service.api.get("/readyz").json["providers"]] == ["other"]
    assert (issuer.jwks.count, other.jwks.count) == (1, 1)


def test_a_removed_providers_keys_are_no_longer_fetched(server, issuer, other):
    """Both providers fail, so both are retried. The one that stays shows how often the other would have been."""
    issuer.discovery.status = other.discovery.status = 500
    with Service(provider(issuer), provider(other, "other")) as service:
        issuer.discovery.wait_for(1)
        change(service, provider(other, "other"))
        removed, kept = issuer.discovery.count, other.discovery.count
        other.discovery.wait_for(kept + 3, timeout=30)
        # One fetch may have been in flight.
        assert issuer.discovery.count <= removed + 1


def test_a_changed_key_location_causes_a_fetch(server, service, issuer):
    moved = server.issuer("moved", NEW)
    place, moved.url = moved.jwks_uri, issuer.url
    change(service, provider(issuer, jwks_uri=place))
    assert moved.jwks.count == 1
    service.reject(issuer.token(), "key_not_found")
    service.accept(moved.token())
    assert issuer.jwks.count == 1


def test_a_provider_with_a_reused_id_gets_none_of_the_old_keys(service, issuer, other):
    service.accept(issuer.token())
    change(service, provider(other, "oidc"))
    service.accept(other.token(), provider="oidc")
    service.reject(jws(KEY, other.claims()), "key_not_found")
    service.reject(issuer.token(), "issuer_mismatch", "key_not_found", provider="oidc")


def test_two_providers_can_swap_places(service, issuer, other):
    change(service, provider(issuer), provider(other, "other"))
    change(service, provider(other, "other"), provider(issuer))
    assert service.accept(other.token())["identity"]["provider"] == "other"
    assert service.accept(issuer.token())["identity"]["provider"] == "oidc"
    assert (issuer.jwks.count, other.jwks.count) == (1, 1)


def test_stale_for_can_change_without_a_fetch(issuer):
    """The new expiry is hours away, so this only shows that keys stay in use and are not fetched again."""
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        for stale_for in ("0s", "1h", "24h"):
            change(service, provider(issuer), keys={"stale_for": stale_for})
            service.accept(issuer.token())
        assert issuer.jwks.count == 1


# readiness


def test_an_unreachable_added_provider_does_not_make_the_service_unready(service, issuer, other):
    other.discovery.status = 500
    change(service, provider(issuer), provider(other, "other"))
    assert is_ready(service)
    states = {entry["id"]: entry["state"] for entry in service.api.get("/readyz").json["providers"]}
    assert states == {"oidc": "ready", "other": "unavailable"}
    unavailable(service, other.token())
    service.accept(issuer.token())
    other.discovery.status = 200
    service.wait_until(lambda: service.provider_state("other")["state"] == "ready")
    service.accept(other.token())


def test_an_unreachable_new_key_location_does_not_make_the_service_unready(server, service, issuer):
    change(service, provider(issuer, jwks_uri=server.url + "/nowhere"))
    assert is_ready(service)
    unavailable(service, issuer.token())
    # Neither does a later change.
    change(service, provider(issuer, jwks_uri=server.url + "/nowhere"), clock_skew="1s")
    assert is_ready(service)


def test_a_provider_that_becomes_required_does_not_make_the_service_unready(issuer, other):
    other.discovery.status = 500
    with Service(provider(issuer), provider(other, "other", optional=True)) as service:
        service.wait_until_ready()
        change(service, provider(issuer), provider(other, "other"))
        assert is_ready(service)


def test_a_service_that_was_never_ready_waits_for_added_providers(issuer, other):
    issuer.discovery.status = other.discovery.status = 500
    with Service(provider(issuer)) as service:
        change(service, provider(issuer), provider(other, "other"))
        issuer.discovery.status = 200
        service.wait_until(lambda: service.provider_state("oidc")["state"] == "ready")
        assert not is_ready(service)
        change(service, provider(issuer))
        assert is_ready(service)


def test_only_a_restart_waits_for_an_added_provider(service, issuer, other):
    other.discovery.status = 500
    change(service, provider(issuer), provider(other, "other"))
    assert is_ready(service)
    with Service(provider(issuer), provider(other, "other")) as restarted:
        restarted.wait_until(lambda: restarted.provider_state("oidc")["state"] == "ready")
        assert not is_ready(restarted)


# requests in flight


def test_no_request_fails_while_settings_change(service, issuer, other):
    """Repeatedly changes audiences, other providers, the verified-token cache, the log and limits."""
    rounds = {
        "oidc": [(issuer.token(sub=f"user-{n}"), None) for n in range(5)] + [(issuer.token(exp=1), "token_expired")]
    }
    with Load(service.api.address, rounds, threads=4) as load:
        for number in range(12):
            providers = [provider(issuer, audiences=["client", f"c-{number}"])]
            if number % 2:
                providers.insert(0, provider(other, "other"))
            settings = {
                "verified_token_cache": {"entries": number % 3 * 50},
                "log": {"requests": number % 2 == 0},
                "limits": {"max_body": ["64KiB", "32KiB"][number % 2]},
            }
            change(service, *providers, **settings)
            load.passes("oidc")
    assert not load.surprises["oidc"]
    assert load.verified > 12 * 6
    assert issuer.jwks.count == 1


def test_no_request_fails_or_waits_while_its_providers_keys_move(server, issuer):
    """All URLs have the same keys. Each is fetched before the previous one is dropped, or else several requests would
    wait.
    """
    rounds = {"oidc": [(issuer.token(sub=f"user-{n}"), None) for n in range(5)]}
    elsewhere = [server.document(f"/elsewhere-{n}", issuer.jwk_set) for n in range(6)]
    settings = {"limits": {"max_in_flight": 1}}
    with Service(provider(issuer), **settings) as service:
        service.wait_until_ready()
        with Load(service.api.address, rounds, threads=4) as load:
            for number in range(6):
                change(service, provider(issuer, jwks_uri=f"{server.url}/elsewhere-{number}"), **settings)
                load.passes("oidc")
    assert not load.surprises["oidc"]
    assert [document.count for document in elsewhere] == [1] * 6


def test_a_request_that_waits_for_keys_keeps_its_settings(server):
    issuer = server.issuer("op", KEY)
    issuer.jwks.hold()
    with Service(provider(issuer), limits={"keys_timeout": "30s"}) as service:
        issuer.jwks.wait_for(1)
        with service.api.connect(timeout=30) as connection:
            body = b'{"id_token":"' + issuer.token().encode() + b'"}'
            connection.send(request_bytes("GET", "/livez") + request_bytes("POST", "/v1/verify", body))
            assert connection.response("GET", "/livez").status == 200
            service.wait_until(lambda: metrics(service).value("assay_requests_in_flight") == 1)
            change(service, provider(issuer, audiences=["another"]), limits={"keys_timeout": "30s"})
            issuer.jwks.release()
            assert connection.response("POST", "/v1/verify").status == 200
        service.reject(issuer.token(), "audience_mismatch")


def test_a_request_that_waits_for_a_removed_provider_is_answered(server, other):
    issuer = server.issuer("op", KEY)
    issuer.jwks.hold()
    settings = {"limits": {"keys_timeout": "30s"}}
    with Service(provider(issuer, optional=True), provider(other, "other"), **settings) as service:
        service.wait_until_ready()
        issuer.jwks.wait_for(1)
        with service.api.connect(timeout=30) as connection:
            connection.send(request_bytes("POST", "/v1/verify", b'{"id_token":"' + issuer.token().encode() + b'"}'))
            service.wait_until(lambda: metrics(service).value("assay_requests_in_flight") == 1)
            change(service, provider(other, "other"), **settings)
            service.reject(issuer.token(), "provider_unknown")
            issuer.jwks.release()
            response = connection.response("POST", "/v1/verify")
        assert response.json["identity"]["provider"] == "oidc"
        service.wait_until(lambda: metrics(service).value(VERDICTS, provider="oidc", code="ok") == 1)
        entry = service.wait_for(lambda: service.entries(message="request", provider="oidc"))[0]
        assert entry["status"] == 200


# other settings


def test_api_keys_can_be_rotated(service, issuer):
    def status(key: str | None) -> int:
        return service.verify(issuer.token(), {"Authorization": f"Bearer {key}" if key else None}).status

    old, new = "old-key-0123456789", "new-key-0123456789"
    assert status(None) == 200
    change(service, provider(issuer), api_keys=[sha256_hex(old)])
    assert (status(None), status(old), status(new)) == (401, 200, 401)
    change(service, provider(issuer), api_keys=[sha256_hex(old), sha256_hex(new)])
    assert (status(None), status(old), status(new)) == (401, 200, 200)
    change(service, provider(issuer), api_keys=[sha256_hex(new)])
    assert (status(None), status(old), status(new)) == (401, 401, 200)


def test_log_settings_can_change(service, issuer):
    change(service, provider(issuer), log={"level": "warning", "requests": False})
    count = len(service.entries(message="request"))
    service.accept(issuer.token())
    change(service, provider(issuer), log={"level": "info"})
    service.verify(issuer.token(), {"X-Request-Id": "after"})
    service.wait_for_entry(message="request", request_id="after")
    # Neither the request in between nor the first reload is logged.
    between = [entry for entry in service.entries(message="request")[count:] if entry["route"] == "/v1/verify"]
    assert [entry["request_id"] for entry in between] == ["after"]
    assert len(service.entries(message="configuration reloaded")) == 1


def test_body_limits_can_change(service, issuer):
    token = issuer.token(filler="x" * 1000)
    service.accept(token)
    change(service, provider(issuer), limits={"max_body": "1KiB"})
    service.reject(token, "request_too_large")


def test_a_risky_setting_causes_a_warning_when_it_is_added(service, issuer):
    risky = "nonces are not checked"

    def warnings() -> int:
        return sum(risky in entry["setting"] for entry in service.entries(message="configuration warning"))

    assert warnings() == 0
    for _ in range(2):
        change(service, provider(issuer, nonce={"check": "off"}))
    service.wait_for(lambda: service.entries(message="configuration reloaded"))
    assert warnings() == 1


# counters


def test_counters_keep_their_provider_and_never_decrease(service, issuer, other):
    def counted() -> dict:
        found = metrics(service)
        return {id: found.value(VERDICTS, provider=id, code="ok") for id in ("oidc", "other", "third")}

    third = other
    service.accept(issuer.token())
    service.accept(issuer.token())
    assert counted() == {"oidc": 2, "other": 0, "third": 0}
    # With another provider first, then without the original, then with it last.
    change(service, provider(other, "other"), provider(issuer))
    service.accept(other.token())
    assert counted() == {"oidc": 2, "other": 1, "third": 0}
    change(service, provider(other, "other"))
    service.accept(other.token())
    assert counted() == {"oidc": 2, "other": 2, "third": 0}
    change(service, provider(third, "third"), provider(issuer))
    service.accept(third.token())
    service.accept(issuer.token())
    assert counted() == {"oidc": 3, "other": 2, "third": 1}
    found = metrics(service)
    assert found.label_values("assay_keys_state", "provider") == {"oidc", "third"}
    assert found.value("assay_key_fetches_total", provider="other") == 1


def test_scrapes_during_changes_are_complete(service, issuer, other):
    """A new provider's counter must find its name, whichever event loop has counted."""
    load = Load(service.api.address, {"other": [(other.token(), None)]}, threads=2)
    with load:
        for number in range(20):
            replace(service.config, text(provider(other, f"other-{number}")))
            service.process.send_signal(signal.SIGHUP)
            for _ in range(5):
                found = metrics(service)
                assert found.label_values(VERDICTS, "provider") <= {f"other-{n}" for n in range(20)} | {""}
        service.wait_until(lambda: metrics(service).value(VERDICTS, provider="other-19") > 0)


# costs


def threads(service) -> int:
    return len(list(pathlib.Path(f"/proc/{service.process.pid}/task").iterdir()))


def test_added_and_removed_providers_do_not_leak(service, issuer, tmp_path):
    """Each provider has its own threads."""
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [KEY.jwk()]}))
    with KeyServer() as server:
        others = [server.issuer(f"other-{n}", OTHER) for n in range(10)]

        def come_and_go() -> None:
            added = [provider(one, one.name) for one in others]
            added += [
                provider(one, one.name + "-file", jwks_file=str(file)) | {"issuer": one.url + "/f"} for one in others
            ]
            change(service, provider(issuer), *added)
            change(service, provider(issuer))

        come_and_go()
        service.wait_until(lambda: threads(service) < 40)
        before = threads(service)
        descriptors = service.descriptors()
        for _ in range(5):
            come_and_go()
        service.wait_until(lambda: threads(service) <= before)
        service.wait_until(lambda: service.descriptors() <= descriptors + 2)


def test_a_stop_does_not_wait_for_a_reload(service, issuer, other):
    other.discovery.hold()
    replace(service.config, text(provider(issuer), provider(other, "other")))
    service.process.send_signal(signal.SIGHUP)
    other.discovery.wait_for(1)
    service.stop()
