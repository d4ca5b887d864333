"""`assay config check --live`: its findings for each provider, and whether the service could serve."""

import email.utils
import json

import pytest

from harness import commands
from harness.certificates import Authority
from harness.clock import WallClock
from harness.fault_table import CONNECTIONS
from harness.faults import Fault, FaultServer
from harness.issuer import KeyServer
from harness.proxy import Proxy
from harness.service import provider, run, write_config
from harness.tokens import ec_key, now, rsa_key


@pytest.fixture
def issuer(server):
    return server.issuer("op", ec_key("op"))


@pytest.fixture
def check(tmp_path):
    """Checks providers; returns whether the service could serve, and each one's findings: subject, level, message."""

    def check_providers(*providers: dict, variables: dict | None = None, **settings):
        config = write_config(tmp_path, settings | {"providers": list(providers)})
        result = run(*commands.config_check(config), "--live", "--json", variables=variables)
        assert not result.stderr, result
        found = json.loads(result.stdout)
        assert result.returncode == (0 if found["could_serve"] else 1)
        assert found["could_serve"] == all(entry["could_serve"] for entry in found["providers"])
        for entry in found["providers"]:
            levels = [finding["level"] for finding in entry["findings"]]
            assert entry["could_serve"] == ("failure" not in levels)
        return found["could_serve"], {
            entry["id"]: [(finding["subject"], finding["level"], finding["message"]) for finding in entry["findings"]]
            for entry in found["providers"]
        }

    return check_providers


def find(findings, subject: str, level: str) -> list[str]:
    return [message for found, of, message in findings if (found, of) == (subject, level)]


def test_every_step_of_a_working_provider_is_reported(check, issuer):
    issuer.jwks.headers |= {"Cache-Control": "public, max-age=3600"}
    could_serve, found = check(provider(issuer))
    assert could_serve
    findings = found["oidc"]
    assert {subject: level for subject, level, _ in findings} == {
        "dns": "ok",
        "tls": "warning",
        "discovery": "ok",
        "keys": "ok",
        "freshness": "ok",
        "clock": "ok",
    }
    assert find(findings, "dns", "ok") == ['"127.0.0.1" is at 127.0.0.1']
    assert "1 of 1 keys" in find(findings, "keys", "ok")[0]
    assert "ES256" in find(findings, "keys", "ok")[0]
    freshness = find(findings, "freshness", "ok")[0]
    assert "public, max-age=3600" in freshness
    assert "1 h" in freshness and "45 min" in freshness and "54 min" in freshness


def test_each_finding_is_printed_on_a_line(issuer, tmp_path):
    config = write_config(tmp_path, {"providers": [provider(issuer)]})
    result = run(*commands.config_check(config), "--live")
    assert result.returncode == 0, result
    lines = result.stdout.decode().splitlines()
    assert "the configuration is valid; providers: oidc" in lines
    findings = [line for line in lines if line.startswith("oidc  ")]
    assert len(findings) == 6
    assert findings[0].split()[:3] == ["oidc", "ok", "dns"]
    assert lines[-1] == "1 of 1 providers could serve"


def test_without_live_nothing_is_sent(issuer, tmp_path):
    config = write_config(tmp_path, {"providers": [provider(issuer)]})
    assert run(*commands.config_check(config)).returncode == 0
    assert issuer.discovery.count == 0


def test_an_invalid_file_is_reported_and_nothing_is_sent(issuer, tmp_path):
    config = write_config(tmp_path, {"providers": [provider(issuer)], "nonsense": 1})
    result = run(*commands.config_check(config), "--live")
    assert result.returncode == 1
    assert b"nonsense" in result.stderr
    assert issuer.discovery.count == 0


def test_json_without_live_is_a_usage_error(issuer, tmp_path):
    config = write_config(tmp_path, {"providers": [provider(issuer)]})
    assert run(*commands.config_check(config), "--json").returncode == 64


def test_a_failing_provider_does_not_hide_the_others(check, server, issuer):
    down = server.issuer("down", ec_key())
    down.discovery.status = 503
    could_serve, found = check(provider(down, "down", optional=True), provider(issuer))
    assert not could_serve
    assert list(found) == ["down", "oidc"]
    assert "503" in find(found["down"], "discovery", "failure")[0]
    assert not [level for _, level, _ in found["oidc"] if level == "failure"]


# names, addresses, connections


def test_a_name_without_an_address_is_reported(check, issuer):
    _, found = check(provider(issuer, discovery_url="http://nobody.invalid/d"))
    message = find(found["oidc"], "dns", "failure")[0]
    assert "nobody.invalid" in message and "no address" in message


def test_a_private_address_is_not_connected_to(check, issuer):
    could_serve, found = check(provider(issuer, network={"allow_http": True}))
    assert not could_serve
    messages = find(found["oidc"], "dns", "failure")
    assert any("127.0.0.1" in message for message in messages)
    assert any("network.allow_addresses" in message for message in messages)
    assert issuer.discovery.count == 0


def test_an_allowed_address_is_connected_to(check, issuer):
    could_serve, _ = check(provider(issuer, network={"allow_http": True, "allow_addresses": ["127.0.0.1"]}))
    assert could_serve


def test_a_refused_connection_is_reported(check):
    with FaultServer("op", ec_key()) as faulty:
        faulty.misbehave(CONNECTIONS["connection refused"])
        could_serve, found = check(provider(faulty.issuer))
    assert not could_serve
    assert find(found["oidc"], "connection", "failure")


# TLS


def tls(authority: Authority) -> dict:
    return {"network": {"allow_private_addresses": True, "ca_file": str(authority.certificate_file)}}


def test_a_trusted_certificate_is_reported_with_its_expiry(check, tmp_path):
    authority = Authority(tmp_path)
    with KeyServer(authority.server_context(ends=30)) as server:
        could_serve, found = check(provider(server.issuer("op", ec_key()), **tls(authority)))
    assert could_serve
    message = find(found["oidc"], "tls", "ok")[0]
    assert "29 more days" in message or "30 more days" in message


def test_a_certificate_that_expires_soon_is_a_warning(check, tmp_path):
    authority = Authority(tmp_path)
    with KeyServer(authority.server_context(ends=3)) as server:
        could_serve, found = check(provider(server.issuer("op", ec_key()), **tls(authority)))
    assert could_serve
    assert "more days" in find(found["oidc"], "tls", "warning")[0]


@pytest.mark.parametrize(
    ("certificate", "word"),
    [({"ends": -1}, "expired"), ({"begins": 1, "ends": 2}, "not yet valid"), ({"host": "127.0.0.2"}, "host")],
)
def test_a_bad_certificate_is_reported_with_the_reason(check, tmp_path, certificate, word):
    authority = Authority(tmp_path)
    with KeyServer(authority.server_context(**certificate)) as server:
        could_serve, found = check(provider(server.issuer("op", ec_key()), **tls(authority)))
    assert not could_serve
    assert word in find(found["oidc"], "tls", "failure")[0]


def test_an_unknown_ca_is_not_trusted(check, tmp_path):
    trusted, stranger = Authority(tmp_path), Authority(tmp_path, "A stranger")
    with KeyServer(stranger.server_context()) as server:
        could_serve, found = check(provider(server.issuer("op", ec_key()), **tls(trusted)))
    assert not could_serve
    assert "network.ca_file" in find(found["oidc"], "tls", "failure")[0]


def test_a_proxy_is_used_and_reported(check, tmp_path):
    authority = Authority(tmp_path)
    with KeyServer(authority.server_context()) as server, Proxy() as proxy:
        issuer = server.issuer("op", ec_key())
        could_serve, found = check(provider(issuer, **tls(authority)), variables={"HTTPS_PROXY": proxy.url})
        assert could_serve
        assert len(proxy.targets) == 2
        assert "proxy" in find(found["oidc"], "dns", "ok")[0]


# discovery


@pytest.mark.parametrize(
    ("offered", "level", "names"),
    [
        (["RS256", "ES256", "none"], "warning", "offers none for ID Tokens"),
        (["RS256", "ES256", "HS256", "NONE", "hs512"], "warning", "offers none, HS256, HS512 for"),
        (["RS256", "ES256", "HS384"], "ok", "offers HS384 for"),
    ],
)
def test_insecure_algorithms_get_a_warning(check, issuer, offered, level, names):
    issuer.discovery.body = issuer.discovery_document(id_token_signing_alg_values_supported=offered)
    _, found = check(provider(issuer))
    assert any(names in message for message in find(found["oidc"], "discovery", level))


def test_another_issuer_is_shown_with_the_configured_one(check, issuer):
    issuer.discovery.body = issuer.discovery_document(issuer=issuer.url + "/")
    could_serve, found = check(provider(issuer))
    assert not could_serve
    message = find(found["oidc"], "discovery", "failure")[0]
    assert f'"{issuer.url}/"' in message and f'"{issuer.url}"' in message
    assert f'issuer: "{issuer.url}/"' in message
    assert issuer.jwks.count == 0


def test_text_from_a_document_is_escaped_and_truncated(check, issuer):
    issuer.discovery.body = issuer.discovery_document(issuer="\x1b[2Jhttps://\u202eevil" + "x" * 1000)
    _, found = check(provider(issuer))
    message = find(found["oidc"], "discovery", "failure")[0]
    assert "\x1b" not in message and "\u202e" not in message
    assert len(message) < 2000


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"body": b"<html>"}, "JSON"),
        ({"status": 404}, "404"),
        ({"body": {"issuer": None}}, "issuer"),
    ],
)
def test_an_invalid_discovery_document_is_reported(check, issuer, change, word):
    for name, value in change.items():
        setattr(issuer.discovery, name, value)
    could_serve, found = check(provider(issuer))
    assert not could_serve
    assert word in find(found["oidc"], "discovery", "failure")[0]


def test_a_document_without_a_supported_algorithm_is_a_failure(check, issuer):
    issuer.discovery.body = issuer.discovery_document(id_token_signing_alg_values_supported=["HS256"])
    could_serve, found = check(provider(issuer))
    assert not could_serve
    assert find(found["oidc"], "discovery", "failure")


# keys


def test_each_unusable_key_is_reported_with_the_reason(check, server):
    good = ec_key("good")
    issuer = server.issuer("op", good)
    private = good.jwk(kid="private") | {"d": "AA"}
    issuer.jwks.body = {
        "keys": [
            good.jwk(),
            rsa_key("small", 1024).jwk(),
            good.jwk(kid="for-encryption", use="enc"),
            private,
            {"kty": "oct", "kid": "symmetric", "k": "AA"},
            {"kty": "new", "kid": "unknown"},
            {"kty": "EC", "kid": "curve", "crv": "secp256k1", "x": "AA", "y": "AA"},
            {"kty": "RSA", "kid": "half", "n": "AQAB"},
            rsa_key("rsa").jwk(),
            7,
        ]
    }
    could_serve, found = check(provider(issuer, algorithms=["ES256"]))
    assert could_serve
    assert "1 of 10 keys" in find(found["oidc"], "keys", "ok")[0]
    warnings = find(found["oidc"], "keys", "warning")
    expected = {
        "small": "2048",
        "for-encryption": "use",
        "private": "private",
        "symmetric": "symmetric",
        "unknown": "kty",
        "curve": "crv",
        "half": "has no e",
        "rsa": "ES256",
        "key 10": "not a JSON object",
    }
    assert len(warnings) == len(expected)
    for name, word in expected.items():
        assert any(name in warning and word in warning for warning in warnings), (name, warnings)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"keys": []}, "no key"),
        ({"keys": [{"kty": "oct", "k": "AA"}]}, "no key"),
        ({"sleutels": []}, "array of keys"),
        (b"\x00", "JSON"),
    ],
)
def test_a_key_set_without_a_usable_key_is_a_failure(check, issuer, body, word):
    issuer.jwks.body = body
    could_serve, found = check(provider(issuer))
    assert not could_serve
    assert any(word in message for message in find(found["oidc"], "keys", "failure"))


def test_keys_without_an_allowed_algorithm_are_a_failure(check, issuer):
    """The service would have keys, but refuse every token."""
    could_serve, found = check(provider(issuer, algorithms=["RS256"]))
    assert not could_serve
    assert find(found["oidc"], "keys", "failure")


def test_a_configured_jwks_uri_needs_no_discovery(check, issuer):
    could_serve, found = check(provider(issuer, jwks_uri=issuer.jwks_uri))
    assert could_serve
    assert not [subject for subject, _, _ in found["oidc"] if subject == "discovery"]
    assert (issuer.discovery.count, issuer.jwks.count) == (0, 1)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({}, ["no Cache-Control", "5 min"]),
        ({"Cache-Control": "no-store"}, ["no-store", "5 min"]),
        ({"Cache-Control": "max-age=10"}, ["10 s", "5 min"]),
        ({"Cache-Control": "max-age=864000"}, ["240 h", "24 h", "18 h"]),
        ({"Cache-Control": "max-age=600", "Age": "120"}, ["8 min"]),
    ],
)
def test_the_lifetime_of_keys_is_reported(check, issuer, header, words):
    issuer.jwks.headers |= header
    _, found = check(provider(issuer))
    message = find(found["oidc"], "freshness", "ok")[0]
    assert all(word in message for word in words), message


# files


def test_a_key_file_is_read(check, issuer, tmp_path):
    file = tmp_path / "keys.json"
    settings = provider(issuer, jwks_file=str(file))
    could_serve, found = check(settings)
    assert not could_serve
    assert "no such file" in find(found["oidc"], "file", "failure")[0]
    file.write_text(json.dumps(issuer.jwk_set()))
    could_serve, found = check(settings)
    assert could_serve
    assert [subject for subject, _, _ in found["oidc"]] == ["file", "keys"]
    assert issuer.discovery.count == 0


def test_a_fallback_file_is_checked_too(check, issuer, tmp_path):
    file = tmp_path / "keys.json"
    could_serve, found = check(provider(issuer, jwks_uri=issuer.jwks_uri, jwks_file=str(file)))
    assert not could_serve
    assert find(found["oidc"], "keys", "ok")
    assert find(found["oidc"], "file", "failure")


# clocks


@pytest.fixture
def clock(tmp_path):
    return WallClock(tmp_path)


@pytest.mark.parametrize(
    ("shift", "skew", "level", "word"),
    [
        (0, "60s", "ok", "agree"),
        (-30, "60s", "warning", "ahead"),
        (30, "60s", "warning", "behind"),
        (100, "60s", "failure", "clock_skew"),
        (-100, "60s", "failure", "clock_skew"),
        (100, "120s", "warning", "behind"),
        (30, "0s", "failure", "clock_skew"),
    ],
)
def test_the_providers_clock_is_compared_with_this_machines(check, issuer, clock, shift, skew, level, word):
    clock.shift(shift)
    could_serve, found = check(provider(issuer), clock_skew=skew, variables=clock.variables)
    assert could_serve == (level != "failure")
    assert word in find(found["oidc"], "clock", level)[0]


def answering(headers: dict) -> Fault:
    return Fault(lambda exchange: exchange.answer(headers=headers), effect="read")


def test_the_age_of_a_cached_response_is_taken_into_account(check):
    """The provider created the response half an hour ago."""
    old = email.utils.formatdate(now() - 1800, usegmt=True)
    with FaultServer("op", ec_key()) as server:
        server.misbehave(answering({"Date": old, "Age": "1800"}))
        could_serve, found = check(provider(server.issuer))
        assert could_serve
        assert find(found["oidc"], "clock", "ok")
        server.misbehave(answering({"Date": old}))
        could_serve, found = check(provider(server.issuer))
        assert not could_serve


@pytest.mark.parametrize("headers", [{}, {"Date": "yesterday"}])
def test_a_response_without_a_date_gets_a_warning(check, headers):
    with FaultServer("op", ec_key()) as server:
        server.misbehave(answering(headers))
        could_serve, found = check(provider(server.issuer))
    assert could_serve
    assert find(found["oidc"], "clock", "warning")
