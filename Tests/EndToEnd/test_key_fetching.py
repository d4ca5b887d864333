"""Where keys come from: discovery, refresh, outage, hostile documents, redirects, TLS, files, disk."""

import contextlib
import gzip
import json
import secrets
import time

import pytest

from harness.certificates import Authority
from harness.client import request_bytes
from harness.contract import assert_code
from harness.issuer import KeyServer
from harness.proxy import Proxy
from harness.service import NETWORK, Service, provider
from harness.tokens import Key, ec_key, jws, now, rsa_key

OLD, NEW = ec_key("old"), ec_key("new")


def unknown(issuer, **claims) -> str:
    """A token with a key ID that nobody has seen; claims as of a good one, but for these."""
    return jws(OLD, issuer.claims(**claims), kid=secrets.token_hex(8))


def refresh(service, id: str = "oidc") -> dict:
    return service.admin.post(f"/v1/providers/{id}/refresh").json


def unavailable(service, token: str, **members) -> None:
    response = service.verify(token, **members)
    assert_code(response, "keys_unavailable")
    assert 1 <= int(response.header("Retry-After")) <= 300


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


def test_requests_that_need_the_same_new_key_share_a_fetch(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        issuer.rotate(NEW, OLD)
        issuer.jwks.hold()
        connections = [service.api.connect() for _ in range(12)]
        for number, connection in enumerate(connections):
            body = json.dumps({"id_token": issuer.token(sub=f"user-{number}")}).encode()
            connection.send(request_bytes("POST", "/v1/verify", body))
        issuer.jwks.wait_for(2)
        issuer.jwks.release()
        for number, connection in enumerate(connections):
            response = connection.response("POST", "/v1/verify")
            assert response.json["identity"]["subject"] == f"user-{number}"
            connection.close()
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


def test_random_key_ids_cost_at_most_two_fetches_in_half_a_minute(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        for _ in range(60):
            service.reject(unknown(issuer), "key_not_found")
        assert 2 <= issuer.jwks.count <= 3
        service.accept(issuer.token())


def test_failed_fetches_count_too(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        issuer.jwks.status = 500
        for _ in range(30):
            service.reject(unknown(issuer), "key_not_found", "keys_unavailable")
        # Two for unknown key IDs, and what the service tries of its own accord after a failure.
        assert issuer.jwks.count <= 5
        service.accept(issuer.token())


def test_a_flood_of_random_key_ids_does_not_hide_a_rotation_behind_a_refresh(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        for _ in range(20):
            service.reject(unknown(issuer), "key_not_found")
        issuer.rotate(NEW)
        service.reject(issuer.token(), "key_not_found")
        assert refresh(service)["state"] == "ready"
        service.accept(issuer.token())


def test_junk_with_random_key_ids_costs_no_fetch(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer, algorithms=["ES256"])) as service:
        service.wait_until_ready()
        junk = [
            {"iss": "https://elsewhere.example.com"},
            {"iss": None},
            {"aud": "someone else"},
            {"aud": None},
            {"aud": ["client", "stranger"]},
            {"exp": now() - 3600},
            {"exp": None},
            {"exp": "tomorrow"},
        ]
        for claims in junk * 3:
            service.reject(unknown(issuer, **claims), "key_not_found", provider="oidc")
        service.reject(unknown(issuer, aud="someone else"), "key_not_found")
        service.reject(jws(OLD, issuer.claims(), alg="none", kid="x"), "algorithm_not_allowed")
        service.reject(jws(rsa_key(), issuer.claims(), kid="x"), "algorithm_not_allowed")
        service.reject(jws(OLD, issuer.claims(), kid="x", crit=["x"]), "header_unsupported")
        assert issuer.jwks.count == 1
        assert issuer.discovery.count == 1


def test_a_bad_signature_by_a_known_key_costs_no_fetch(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        for _ in range(10):
            service.reject(jws(NEW, issuer.claims(), kid="old"), "signature_invalid")
        assert issuer.jwks.count == 1


def test_keys_are_kept_though_the_provider_says_not_to(server):
    issuer = server.issuer("op", OLD)
    issuer.jwks.headers = {"Cache-Control": "no-store, max-age=0", "Expires": "0"}
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        for _ in range(20):
            service.accept(issuer.token())
        assert issuer.jwks.count == 1


# whose keys


def test_a_key_counts_for_its_own_issuer_only(server):
    """Both issuers call their key the same; only the issuer tells them apart."""
    first = server.issuer("first", Key(ec_key("one").private, "dummy"))
    second = server.issuer("second", Key(ec_key("two").private, "dummy"))
    with Service(provider(first, "first"), provider(second, "second")) as service:
        service.wait_until_ready()
        service.accept(first.token())
        service.accept(second.token())
        service.reject(jws(first.keys[0], second.claims()), "signature_invalid")
        service.reject(jws(second.keys[0], first.claims()), "signature_invalid")
        service.reject(first.token(), "signature_invalid", "issuer_mismatch", provider="second")


def test_the_discovery_documents_algorithms_are_the_default(server):
    issuer = server.issuer("op", rsa_key(), OLD)
    issuer.discovery.body = issuer.discovery_document(id_token_signing_alg_values_supported=["RS256", "none", "HS256"])
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        service.accept(jws(rsa_key(), issuer.claims()))
        service.reject(jws(OLD, issuer.claims()), "algorithm_not_allowed")
        service.reject(jws(rsa_key(), issuer.claims(), algorithm="PS256"), "algorithm_not_allowed")
        service.reject(jws(OLD, issuer.claims(), alg="none"), "algorithm_not_allowed")
        service.reject(jws(OLD, issuer.claims(), alg="HS256"), "algorithm_not_allowed")


def test_an_algorithm_that_the_provider_has_begun_to_use_is_found(server):
    issuer = server.issuer("op", rsa_key())
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        service.accept(issuer.token())
        issuer.rotate(OLD, rsa_key())
        service.accept(issuer.token())
        assert (issuer.discovery.count, issuer.jwks.count) == (2, 2)


def test_tokens_of_algorithms_that_are_not_listed_cost_at_most_two_fetches_in_half_a_minute(server):
    issuer = server.issuer("op", rsa_key())
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        for algorithm in ["PS256", "RS512", "PS512"] * 5:
            service.reject(jws(rsa_key(), issuer.claims(), algorithm=algorithm), "algorithm_not_allowed")
        for alg in ("none", "HS256", "ES256K"):
            service.reject(jws(rsa_key(), issuer.claims(), alg=alg), "algorithm_not_allowed")
        assert issuer.jwks.count <= 3
        assert issuer.discovery.count <= 3


def test_a_refresh_asks_the_discovery_document_again(server):
    issuer = server.issuer("op", OLD)
    moved = server.document("/op/moved", {"keys": [NEW.jwk()]})
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        issuer.discovery.body = issuer.discovery_document(jwks_uri=issuer.url + "/moved")
        assert refresh(service)["state"] == "ready"
        assert (issuer.jwks.count, moved.count) == (1, 1)
        service.accept(jws(NEW, issuer.claims()))


def test_keys_that_have_moved_are_found_when_their_old_address_fails(server):
    issuer = server.issuer("op", OLD)
    moved = server.document("/op/moved", {"keys": [OLD.jwk(), NEW.jwk()]})
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        issuer.discovery.body = issuer.discovery_document(jwks_uri=issuer.url + "/moved")
        issuer.jwks.status = 404
        service.accept(issuer.token())
        service.wait_until(lambda: service.verify(jws(NEW, issuer.claims())).status == 200)
        assert moved.count >= 1


def test_settings_win_over_the_discovery_documents_algorithms(server):
    issuer = server.issuer("op", rsa_key(), OLD)
    issuer.discovery.body = issuer.discovery_document(id_token_signing_alg_values_supported=["RS256"])
    with Service(provider(issuer, algorithms=["ES256"])) as service:
        service.wait_until_ready()
        service.accept(jws(OLD, issuer.claims()))
        service.reject(jws(rsa_key(), issuer.claims()), "algorithm_not_allowed")


# documents that must not be believed


def test_a_discovery_document_of_another_issuer_is_refused(server):
    faults = [
        lambda url: url + "/",
        str.upper,
        lambda url: url.replace("127.0.0.1", "localhost"),
        lambda url: "https://account.apple.com",
        lambda url: "",
        lambda url: 5,
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


BAD_DISCOVERY = {
    "not JSON": b"<html>",
    "empty": b"",
    "array": b"[]",
    "no keys address": {"jwks_uri": None},
    "keys address no string": {"jwks_uri": 5},
    "file": {"jwks_uri": "file:///etc/passwd"},
    "ftp": {"jwks_uri": "ftp://127.0.0.1/keys"},
    "data": {"jwks_uri": "data:application/json,{}"},
    "gopher": {"jwks_uri": "gopher://127.0.0.1/"},
    "no scheme": {"jwks_uri": "//127.0.0.1/keys"},
    "relative": {"jwks_uri": "/op/keys"},
    "user info": {"jwks_uri": "http://user:secret@127.0.0.1/keys"},
    "newline": {"jwks_uri": "http://127.0.0.1/\r\nX: y"},
    "space": {"jwks_uri": "http://127.0.0.1/a b"},
    "backslash": {"jwks_uri": "http://127.0.0.1\\@evil/"},
    "port 0": {"jwks_uri": "http://127.0.0.1:0/"},
    "port 99999": {"jwks_uri": "http://127.0.0.1:99999/"},
    "too large": b'{"x":"' + b"x" * 600_000 + b'"}',
}


@pytest.fixture(scope="module")
def bad_discovery():
    """One service with a provider for each bad discovery document."""
    with KeyServer() as key_server:
        issuers = {}
        for name, wrong in BAD_DISCOVERY.items():
            issuer = issuers[name] = key_server.issuer(name.replace(" ", "-"), OLD)
            body = wrong
            if isinstance(wrong, dict):
                body = {key: value for key, value in issuer.discovery_document(**wrong).items() if value is not None}
            issuer.discovery.body = body
        with Service(*(provider(issuer, issuer.name) for issuer in issuers.values())) as service:
            yield service, issuers


@pytest.mark.parametrize("name", BAD_DISCOVERY)
def test_a_bad_discovery_document_gives_no_keys(bad_discovery, name):
    service, issuers = bad_discovery
    issuer = issuers[name]
    unavailable(service, issuer.token())
    state = service.provider_state(issuer.name)
    assert state["state"] == "unavailable"
    assert state["last_error"]
    assert "secret" not in json.dumps(state)
    assert issuer.jwks.count == 0


def bad_sets() -> dict:
    """What a key server might answer instead of a usable JWK Set: body, status, headers."""
    good = {"keys": [OLD.jwk()]}
    text = json.dumps(good).encode()
    return {
        "500": (good, 500, {}),
        "404": (good, 404, {}),
        "401": (good, 401, {}),
        "204": (b"", 204, {"Content-Length": None}),
        "206": (good, 206, {}),
        "304": (b"", 304, {"Content-Length": None}),
        "empty": (b"", 200, {}),
        "HTML": (b"<html>maintenance</html>", 200, {}),
        "truncated": (text[:-5], 200, {}),
        "trailing": (text + b"x", 200, {}),
        "duplicate member": (text[:-1] + b',"keys":[]}', 200, {}),
        "bad UTF-8": (text.replace(b'"old"', b'"\xff"'), 200, {}),
        "no keys member": ({"key": [NEW.jwk()]}, 200, {}),
        "keys null": ({"keys": None}, 200, {}),
        "keys an object": ({"keys": {"0": NEW.jwk()}}, 200, {}),
        "keys a string": ({"keys": "x"}, 200, {}),
        "keys empty": ({"keys": []}, 200, {}),
        "keys of junk": ({"keys": [None, 1, "x", {}]}, 200, {}),
        "an array": ([NEW.jwk()], 200, {}),
        "for encryption": ({"keys": [NEW.jwk(use="enc")]}, 200, {}),
        "symmetric": ({"keys": [{"kty": "oct", "k": "AAAA", "kid": "old"}]}, 200, {}),
        "too small": ({"keys": [rsa_key("small", 1024).jwk(kid="old")]}, 200, {}),
        "over 512 KiB": ({"keys": [OLD.jwk()], "x": "x" * (512 * 1024)}, 200, {}),
        "ten thousand keys": ({"keys": [NEW.jwk(kid=str(n)) for n in range(10_000)]}, 200, {}),
        "deep": (b'{"x":' + b"[" * 100_000, 200, {}),
        "gzip": (gzip.compress(text), 200, {"Content-Encoding": "gzip"}),
        "gzip bomb": (gzip.compress(bytes(10_000_000)), 200, {"Content-Encoding": "gzip"}),
        "deflate by name only": (good, 200, {"Content-Encoding": "deflate"}),
        "cut off": (text, 200, {"Content-Length": str(len(text) + 100), "Connection": "close"}),
    }


@pytest.fixture(scope="module")
def flapping():
    """A service that has good keys, and whose key server then answers as the test says."""
    with KeyServer() as key_server:
        issuer = key_server.issuer("flapping", OLD)
        with Service(provider(issuer)) as service:
            service.wait_until_ready()
            yield service, issuer


@pytest.mark.parametrize("name", bad_sets())
def test_a_bad_answer_never_replaces_a_good_set(flapping, name):
    service, issuer = flapping
    body, status, headers = bad_sets()[name]
    issuer.jwks.body, issuer.jwks.status = body, status
    issuer.jwks.headers = {"Content-Type": "application/json"} | headers
    try:
        state = refresh(service)
        assert state["last_error"], state
        assert state["state"] in ("ready", "stale")
        service.accept(issuer.token())
    finally:
        issuer.jwks.reset(issuer.jwk_set)
    assert refresh(service)["state"] == "ready"
    assert not service.provider_state("oidc")["last_error"]


@pytest.mark.parametrize("content_type", ["text/html", "application/octet-stream", None])
def test_a_key_sets_content_type_is_not_trusted(flapping, content_type):
    service, issuer = flapping
    issuer.jwks.headers = {"Content-Type": content_type}
    assert not refresh(service)["last_error"]
    service.accept(issuer.token())


def test_a_set_just_under_the_limit_is_read(flapping):
    service, issuer = flapping
    issuer.jwks.body = {"keys": [OLD.jwk()], "x": "x" * (500 * 1024)}
    assert not refresh(service)["last_error"]
    service.accept(issuer.token())
    issuer.jwks.reset(issuer.jwk_set)


def test_a_bad_answer_at_the_start_gives_no_keys(server):
    names = ["500", "empty", "truncated", "keys empty", "for encryption", "over 512 KiB", "gzip"]
    issuers = [server.issuer(name.replace(" ", "-"), OLD) for name in names]
    for name, issuer in zip(names, issuers, strict=False):
        issuer.jwks.body, issuer.jwks.status, headers = bad_sets()[name]
        issuer.jwks.headers = {"Content-Type": "application/json"} | headers
    with Service(*(provider(issuer, issuer.name) for issuer in issuers)) as service:
        for issuer in issuers:
            unavailable(service, issuer.token())


# outage


def test_a_provider_that_is_down_at_the_start_is_found_when_it_is_back(server):
    issuer = server.issuer("op", OLD)
    issuer.discovery.status = 503
    with Service(provider(issuer)) as service:
        unavailable(service, issuer.token())
        assert service.api.get("/readyz").status == 503
        assert service.api.get("/livez").status == 200
        issuer.discovery.status = 200
        service.wait_until_ready()
        service.accept(issuer.token())


def test_a_provider_that_nobody_listens_for_is_unavailable(server):
    issuer = server.issuer("op", OLD)
    unreachable = provider(issuer, jwks_uri="http://127.0.0.1:1/keys")
    with Service(unreachable) as service:
        unavailable(service, issuer.token())
        service.reject("not a token", "token_malformed", provider="oidc")


def test_a_key_server_that_hangs_is_waited_for_no_longer_than_keys_timeout(server):
    issuer = server.issuer("op", OLD)
    issuer.jwks.hold()
    with Service(provider(issuer), limits={"keys_timeout": "1s"}) as service:
        started = time.monotonic()
        unavailable(service, issuer.token())
        assert 0.5 < time.monotonic() - started < 4
        issuer.jwks.release()
        service.wait_until_ready()
        service.accept(issuer.token())


def test_a_token_that_can_never_pass_does_not_wait_for_keys(server):
    """Form, header and algorithm are judged before the key: no key could mend them."""
    issuer = server.issuer("op", OLD)
    issuer.jwks.hold()
    with Service(provider(issuer, algorithms=["ES256"]), limits={"keys_timeout": "2s"}) as service:
        service.reject("not a token", "token_malformed")
        service.reject(jws(OLD, issuer.claims(), typ="at+jwt"), "header_unsupported")
        service.reject(jws(OLD, issuer.claims(), alg="none"), "algorithm_not_allowed")
        service.reject(jws(OLD, issuer.claims(), alg="RS256"), "algorithm_not_allowed")
        issuer.jwks.release()


def test_one_providers_outage_does_not_touch_another(server):
    up, down = server.issuer("up", OLD), server.issuer("down", OLD)
    down.jwks.status = 500
    with Service(provider(up, "up"), provider(down, "down")) as service:
        service.wait_until(lambda: service.provider_state("up")["state"] == "ready")
        for _ in range(5):
            service.accept(up.token())
            unavailable(service, down.token())


# redirects


def test_a_redirect_is_followed_a_few_times_at_most(server):
    issuer = server.issuer("op", OLD)
    moved = server.document("/moved", issuer.jwk_set)
    issuer.jwks.status = 302
    issuer.jwks.headers = {"Location": "/moved"}
    loop = server.issuer("loop", OLD)
    loop.jwks.status = 302
    loop.jwks.headers = {"Location": loop.jwks_uri}
    with Service(provider(issuer), provider(loop, "loop")) as service:
        service.accept(issuer.token())
        assert moved.count == 1
        unavailable(service, loop.token())
        # The first fetch and a few attempts after it, each of them bounded.
        assert loop.jwks.count <= 20


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
        "gopher://127.0.0.1/",
        "//127.0.0.1/x",
        "data:,{}",
        "",
        "http://u:p@127.0.0.1/",
    ],
)
def test_a_redirect_leads_to_no_other_scheme(server, location):
    issuer = server.issuer("op", OLD)
    issuer.jwks.status = 302
    issuer.jwks.headers = {"Location": location}
    with Service(provider(issuer)) as service:
        unavailable(service, issuer.token())
        assert server.unexpected == []


def test_a_redirect_without_a_location_is_a_failure(server):
    issuer = server.issuer("op", OLD)
    issuer.jwks.status = 302
    with Service(provider(issuer)) as service:
        unavailable(service, issuer.token())


# addresses


def test_a_private_address_is_not_connected_to_unless_allowed(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer, network={"allow_http": True})) as service:
        unavailable(service, issuer.token())
        assert issuer.discovery.count == issuer.jwks.count == 0
        assert service.provider_state("oidc")["last_error"]


@pytest.mark.parametrize(
    "host",
    ["localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254", "10.0.0.1", "2130706433", "127.1"],
)
def test_a_private_address_is_not_connected_to_however_it_is_written(server, host):
    issuer = server.issuer("op", OLD)
    settings = provider(issuer, jwks_uri=f"http://{host}:{server.port}/op/keys", network={"allow_http": True})
    with Service(settings) as service:
        unavailable(service, issuer.token())
        assert issuer.jwks.count == 0


def test_what_is_not_allowed_is_said_at_the_start(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        warnings = [entry for entry in service.entries(level="warning") if "oidc" in json.dumps(entry)]
        assert warnings, service.log


# TLS


def test_a_key_server_with_a_certificate_of_a_trusted_authority_is_believed(tmp_path):
    authority = Authority(tmp_path)
    with KeyServer(authority.server_context()) as server:
        issuer = server.issuer("op", OLD)
        network = {"allow_private_addresses": True, "ca_file": str(authority.certificate_file)}
        with Service(provider(issuer, network=network)) as service:
            service.wait_until_ready()
            service.accept(issuer.token())


def test_a_key_server_with_a_bad_certificate_is_not_believed(tmp_path):
    authority = Authority(tmp_path)
    trusting = {"allow_private_addresses": True, "ca_file": str(authority.certificate_file)}
    faults = {
        "unknown-authority": (authority.server_context(), {"allow_private_addresses": True}),
        "expired": (authority.server_context(days=-1), trusting),
        "another-address": (authority.server_context(address="127.0.0.2"), trusting),
        "no-tls": (None, trusting),
    }
    with contextlib.ExitStack() as servers:
        issuers, settings = {}, []
        for name, (context, network) in faults.items():
            issuer = issuers[name] = servers.enter_context(KeyServer(context)).issuer(name, OLD)
            issuer.url = issuer.url.replace("http:", "https:")
            settings.append(provider(issuer, name, network=network))
        with Service(*settings) as service:
            for name, issuer in issuers.items():
                unavailable(service, issuer.token())
                assert service.provider_state(name)["last_error"], name
                assert issuer.discovery.count == issuer.jwks.count == 0, name


def test_a_redirect_from_https_to_http_is_not_followed(tmp_path, server):
    authority = Authority(tmp_path)
    plain = server.document("/keys", {"keys": [OLD.jwk()]})
    with KeyServer(authority.server_context()) as secure:
        issuer = secure.issuer("op", OLD)
        issuer.jwks.status = 302
        issuer.jwks.headers = {"Location": server.url + "/keys"}
        with Service(provider(issuer, network=NETWORK | {"ca_file": str(authority.certificate_file)})) as service:
            unavailable(service, issuer.token())
            assert plain.count == 0
            assert issuer.jwks.count >= 1


# proxies


def test_keys_are_fetched_through_the_proxy_that_the_environment_names(tmp_path):
    authority = Authority(tmp_path)
    network = {"ca_file": str(authority.certificate_file)}
    with Proxy() as proxy, KeyServer(authority.server_context()) as server:
        issuer = server.issuer("op", OLD)
        with Service(provider(issuer, network=network), variables={"HTTPS_PROXY": proxy.url}) as service:
            service.wait_until_ready()
            service.accept(issuer.token())
        assert set(proxy.targets) == {f"127.0.0.1:{server.port}"}


def test_no_proxy_is_asked_for_a_host_that_is_excepted(tmp_path):
    authority = Authority(tmp_path)
    network = {"ca_file": str(authority.certificate_file), "allow_private_addresses": True}
    with Proxy() as proxy, KeyServer(authority.server_context()) as server:
        issuer = server.issuer("op", OLD)
        variables = {"HTTPS_PROXY": proxy.url, "NO_PROXY": "example.com,127.0.0.1"}
        with Service(provider(issuer, network=network), variables=variables) as service:
            service.wait_until_ready()
            service.accept(issuer.token())
        assert proxy.targets == []


# files and disk


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


def test_the_last_good_keys_survive_a_restart_during_an_outage(server, tmp_path):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        service.wait_until_ready()
        assert service.accept(issuer.token())["keys"]["source"] == "network"
    issuer.discovery.status = issuer.jwks.status = 503
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        service.wait_until_ready()
        answer = service.accept(issuer.token())
        assert answer["keys"]["source"] == "disk"
        issuer.discovery.status = issuer.jwks.status = 200
        refresh(service)
        assert service.accept(issuer.token())["keys"]["source"] == "network"


def test_keys_on_disk_serve_only_the_issuer_they_came_from(server, tmp_path):
    issuer, other = server.issuer("op", OLD), server.issuer("other", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        service.wait_until_ready()
    other.discovery.status = 503
    with Service(provider(other), cache_directory=str(tmp_path)) as service:
        unavailable(service, other.token())


@pytest.mark.parametrize("damage", [b"", b"{}", b"\0" * 1000, None])
def test_damaged_keys_on_disk_are_not_used(server, tmp_path, damage):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        service.wait_until_ready()
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    for file in files:
        content = file.read_bytes()
        half = len(content) // 2
        file.write_bytes(
            damage if damage is not None else content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]
        )
    issuer.discovery.status = 503
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        unavailable(service, issuer.token())


@pytest.mark.parametrize("change", ["writable by all", "a link", "another provider's"])
def test_keys_on_disk_that_others_could_have_put_there_are_not_used(server, tmp_path, change):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        service.wait_until_ready()
    [file] = [file for file in tmp_path.rglob("*") if file.is_file()]
    if change == "writable by all":
        file.chmod(0o666)
    elif change == "a link":
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    else:
        file.rename(file.with_name(file.name.replace("oidc", "other")))
    issuer.discovery.status = 503
    id = "other" if change == "another provider's" else "oidc"
    with Service(provider(issuer, id), cache_directory=str(tmp_path)) as service:
        unavailable(service, issuer.token())


def test_keys_on_disk_are_no_one_elses_to_read(server, tmp_path):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        service.wait_until_ready()
    [file] = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert file.stat().st_mode & 0o077 == 0


def test_without_a_cache_directory_nothing_is_written(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        assert [file.name for file in service.directory.iterdir()] == ["assay.yaml"]


def test_an_unusable_cache_directory_does_not_stop_the_service(server, tmp_path):
    issuer = server.issuer("op", OLD)
    file = tmp_path / "a file"
    file.write_text("")
    with Service(provider(issuer), cache_directory=str(file / "below")) as service:
        service.wait_until_ready()
        service.accept(issuer.token())
