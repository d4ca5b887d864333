"""Sources of keys: discovery, refresh, outages, hostile documents, redirects, files."""

import json
import time

from harness.certificates import Authority
from harness.client import request_bytes
from harness.contract import assert_code
from harness.issuer import KeyServer
from harness.keys import refresh, unavailable, unknown
from harness.proxy import Proxy
from harness.service import Service, provider
from harness.tokens import Key, ec_key, jws, rsa_key

OLD, NEW = ec_key("old"), ec_key("new")


# unknown key IDs


def test_a_new_key_is_found_on_the_first_try_after_a_rotation(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        service.accept(issuer.token())
        issuer.rotate(NEW, OLD)
        assert service.accept(issuer.token())["token"]["key_id"] == "new"
        assert issuer.jwks.count == 2
        service.accept(jws(OLD, issuer.claims()))
        assert issuer.jwks.count == 2


def test_requests_that_need_no_new_key_do_not_wait_for_a_fetch(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        issuer.jwks.hold()
        with service.api.connect() as parked:
            parked.send(request_bytes("POST", "/v1/verify", json.dumps({"id_token": unknown(issuer)}).encode()))
            issuer.jwks.wait_for(2)
            for _ in range(20):
                service.accept(issuer.token())
            issuer.jwks.release()
            assert_code(parked.response("POST", "/v1/verify"), "key_not_found")


def test_a_token_whose_key_cannot_be_fetched_is_retryable(server, tmp_path):
    """The provider goes down after a rotation. The rule also holds after a restart with archived keys."""
    issuer = server.issuer("op", OLD)
    settings = {"cache_directory": str(tmp_path)}
    with Service(provider(issuer), **settings) as service:
        service.wait_until(lambda: list(tmp_path.glob("*.keys")))
        issuer.rotate(NEW, OLD)
        issuer.jwks.status = 500
        for _ in range(4):
            unavailable(service, issuer.token())
        answer = service.admin.post("/v1/explain", {"id_token": issuer.token()}).json
        assert answer["code"] == "keys_unavailable" and answer["keys"]["last_error"]["phase"] == "http"
        [key] = [check for check in answer["checks"] if check["name"] == "key"]
        assert "could not be fetched: the server answered with status 500" in key["explanation"]
    with Service(provider(issuer), **settings) as service:
        service.wait_until_ready()
        assert service.accept(jws(OLD, issuer.claims()))["keys"]["source"] == "disk"
        for _ in range(4):
            unavailable(service, issuer.token())
        issuer.jwks.status = 200
        service.wait_until(lambda: service.verify(issuer.token()).status == 200)


def test_a_key_that_replaces_another_with_the_same_id_is_found(server, tmp_path):
    """Archived keys are old enough that a bad signature causes a fetch."""
    issuer = server.issuer("op", OLD)
    settings = {"cache_directory": str(tmp_path)}
    with Service(provider(issuer), **settings) as service:
        service.wait_until(lambda: list(tmp_path.glob("*.keys")))
    issuer.jwks.status = 500
    with Service(provider(issuer), **settings) as service:
        service.wait_until_ready()
        service.wait_until(lambda: service.provider_state("oidc")["last_error"])
        replacing = Key(NEW.private, "old")
        # While the provider can't be reached, the current keys decide.
        service.reject(jws(replacing, issuer.claims()), "signature_invalid")
        issuer.rotate(replacing)
        issuer.jwks.status = 200
        service.accept(jws(replacing, issuer.claims()))
        service.reject(jws(OLD, issuer.claims()), "signature_invalid")
        asked = issuer.jwks.count
        for _ in range(5):
            service.reject(jws(OLD, issuer.claims()), "signature_invalid")
        assert issuer.jwks.count == asked


# key ownership


def test_the_algorithms_default_to_those_of_the_discovery_document(server):
    issuer = server.issuer("op", rsa_key(), OLD)
    issuer.discovery.body = issuer.discovery_document(id_token_signing_alg_values_supported=["RS256", "none", "HS256"])
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        service.accept(jws(rsa_key(), issuer.claims()))
        service.reject(jws(OLD, issuer.claims()), "algorithm_not_allowed")
        service.reject(jws(rsa_key(), issuer.claims(), algorithm="PS256"), "algorithm_not_allowed")
        service.reject(jws(OLD, issuer.claims(), alg="none"), "algorithm_not_allowed")
        service.reject(jws(OLD, issuer.claims(), alg="HS256"), "algorithm_not_allowed")


def test_a_provider_may_start_to_use_another_algorithm(server):
    issuer = server.issuer("op", rsa_key())
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        service.accept(issuer.token())
        issuer.rotate(OLD, rsa_key())
        service.accept(issuer.token())
        assert (issuer.discovery.count, issuer.jwks.count) == (2, 2)


def test_unlisted_algorithms_cause_at_most_two_fetches_in_half_a_minute(server):
    issuer = server.issuer("op", rsa_key())
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        for algorithm in ["PS256", "RS512", "PS512"] * 5:
            service.reject(jws(rsa_key(), issuer.claims(), algorithm=algorithm), "algorithm_not_allowed")
        for alg in ("none", "HS256", "ES256K"):
            service.reject(jws(rsa_key(), issuer.claims(), alg=alg), "algorithm_not_allowed")
        assert issuer.jwks.count <= 3
        assert issuer.discovery.count <= 3


def test_a_refresh_fetches_the_discovery_document_too(server):
    issuer = server.issuer("op", OLD)
    moved = server.document("/op/moved", {"keys": [NEW.jwk()]})
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        issuer.discovery.body = issuer.discovery_document(jwks_uri=issuer.url + "/moved")
        assert refresh(service)["state"] == "ready"
        assert (issuer.jwks.count, moved.count) == (1, 1)
        service.accept(jws(NEW, issuer.claims()))


def test_if_the_key_set_url_fails_discovery_finds_the_new_one(server):
    issuer = server.issuer("op", OLD)
    moved = server.document("/op/moved", {"keys": [OLD.jwk(), NEW.jwk()]})
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        issuer.discovery.body = issuer.discovery_document(jwks_uri=issuer.url + "/moved")
        issuer.jwks.status = 404
        service.accept(issuer.token())
        service.wait_until(lambda: service.verify(jws(NEW, issuer.claims())).status == 200)
        assert moved.count >= 1


def test_configured_algorithms_override_the_discovery_document(server):
    issuer = server.issuer("op", OLD)
    issuer.discovery.body = issuer.discovery_document(id_token_signing_alg_values_supported=["none", "HS256"])
    with Service(provider(issuer, algorithms=["ES256"])) as service:
        service.wait_until_ready()
        service.accept(issuer.token())
        service.reject(jws(OLD, issuer.claims(), alg="HS256"), "algorithm_not_allowed")


# untrusted documents


def test_a_discovery_document_of_another_issuer_is_refused(server):
    faults = [
        lambda url: url + "/",
        lambda url: [url],
        lambda url: None,
    ]
    issuers = [server.issuer(f"op-{number}", OLD) for number in range(len(faults))]
    for issuer, fault in zip(issuers, faults, strict=False):
        issuer.discovery.body = issuer.discovery_document(issuer=fault(issuer.url))
    with Service(*(provider(issuer, issuer.name) for issuer in issuers)) as service:
        for issuer in issuers:
            unavailable(service, issuer.token())
            assert service.provider_state(issuer.name)["state"] == "unavailable"
            assert issuer.jwks.count == 0
        assert service.api.get("/readyz").status == 503


# outage


def test_a_provider_that_is_down_at_the_start_is_retried(server):
    issuer = server.issuer("op", OLD)
    issuer.discovery.status = 503
    with Service(provider(issuer)) as service:
        unavailable(service, issuer.token())
        assert service.api.get("/readyz").status == 503
        assert service.api.get("/livez").status == 200
        issuer.discovery.status = 200
        service.wait_until_ready()
        service.accept(issuer.token())


def test_requests_wait_for_a_hanging_key_server_no_longer_than_keys_timeout(server):
    issuer = server.issuer("op", OLD)
    issuer.jwks.hold()
    with Service(provider(issuer), limits={"keys_timeout": "1s"}) as service:
        started = time.monotonic()
        unavailable(service, issuer.token())
        assert 0.5 < time.monotonic() - started < 4
        issuer.jwks.release()
        service.wait_until_ready()
        service.accept(issuer.token())


# redirects


# addresses


def test_private_addresses_are_not_connected_to_by_default(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer, network={"allow_http": True})) as service:
        unavailable(service, issuer.token())
        assert issuer.discovery.count == issuer.jwks.count == 0
        assert service.provider_state("oidc")["last_error"]


def test_network_permissions_are_logged_as_warnings_at_the_start(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        warnings = [entry for entry in service.entries(level="warning") if "oidc" in json.dumps(entry)]
        assert warnings, service.log


# proxies


def test_keys_are_fetched_through_the_proxy_of_the_environment(tmp_path):
    authority = Authority(tmp_path)
    network = {"ca_file": str(authority.certificate_file)}
    with Proxy() as proxy, KeyServer(authority.server_context()) as server:
        issuer = server.issuer("op", OLD)
        with Service(provider(issuer, network=network), variables={"HTTPS_PROXY": proxy.url}) as service:
            service.wait_until_ready()
            service.accept(issuer.token())
        assert set(proxy.targets) == {f"127.0.0.1:{server.port}"}


def test_hosts_in_no_proxy_bypass_the_proxy(tmp_path):
    authority = Authority(tmp_path)
    network = {"ca_file": str(authority.certificate_file), "allow_private_addresses": True}
    with Proxy() as proxy, KeyServer(authority.server_context()) as server:
        issuer = server.issuer("op", OLD)
        variables = {"HTTPS_PROXY": proxy.url, "NO_PROXY": "example.com,127.0.0.1"}
        with Service(provider(issuer, network=network), variables=variables) as service:
            service.wait_until_ready()
            service.accept(issuer.token())
        assert proxy.targets == []


# files


def test_keys_may_come_from_a_file(server, tmp_path):
    issuer = server.issuer("op", OLD)
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(issuer.jwk_set()))
    with Service(provider(issuer, jwks_file=str(file))) as service:
        service.wait_until_ready()
        answer = service.accept(issuer.token())
        assert (answer["keys"]["source"], answer["keys"]["stale"]) == ("file", False)
        assert issuer.discovery.count == issuer.jwks.count == 0
        file.write_text(json.dumps({"keys": [NEW.jwk()]}))
        service.accept(jws(NEW, issuer.claims()))
        file.write_text("{")
        assert refresh(service)["last_error"]
        service.accept(jws(NEW, issuer.claims()))
