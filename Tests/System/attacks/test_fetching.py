"""R. Key fetches from a hostile provider or network: no request is made that the settings don't allow."""

import contextlib
import gzip
import json
import ssl
import zlib

import pytest

from attacks.catalogue import ACCEPTED, rows
from attacks.hostile_providers import (
    NEW,
    OLD,
    Network,
    answering,
    apple_pinned,
    asking_for_a_certificate,
    bomb,
    by_authority,
    discovery,
    encoded,
    greeted,
    keys_elsewhere,
    newest,
    private,
    redirect,
    secure_discovery,
    secure_redirect,
    silent,
    tls,
    untrusted,
)
from attacks.target import attacked
from harness.service import Service, provider

UNAVAILABLE = "keys_unavailable"
# `Tests/KeysTests` has every spelling: FetchURLTests, AddressVettingTests, ProviderMetadataTests.
PRIVATE_HOSTS = ("localhost", "[::ffff:127.0.0.1]", "169.254.169.254", "2130706433")
ISSUERS = {
    "a slash": lambda issuer: issuer.url + "/",
    "another host": lambda issuer: "https://account.apple.com",
    "absent": lambda issuer: None,
}
ADDRESSES = ("file:///etc/passwd", "/keys", "http://user:password@127.0.0.1:{port}/", "http://127.0.0.1:{port}/\r\nX: y")
LOCATIONS = ("file:///etc/passwd", "//127.0.0.1:{port}/{name}/moved", "http://user:password@127.0.0.1:{port}/{name}/moved")
PINNED = {"network": {"allow_http": True, "allow_addresses": ["127.0.0.1"]}}

# Row, variant, the answer to a valid token, the phase in which the fetch fails, the setup.
TABLE = [
    *(("R01", name, UNAVAILABLE, "parse", discovery(issuer=change)) for name, change in ISSUERS.items()),
    ("R01", "Apple's document is wrong", ACCEPTED, None, apple_pinned),
    *(("R02", ascii(uri), UNAVAILABLE, "address", discovery(jwks_uri=uri)) for uri in ADDRESSES),
    *(("R02", repr(uri), UNAVAILABLE, "parse", discovery(jwks_uri=uri)) for uri in (None, 5, ["https://127.0.0.1/"])),
    *(("R02", f"private {host}", UNAVAILABLE, "address", private(host)) for host in PRIVATE_HOSTS),
    ("R02", "from https to http", UNAVAILABLE, "address", secure_discovery("{plain}/{name}/keys")),
    ("R02", "to a port where SSH answers", UNAVAILABLE, "http", greeted),
    ("R02", "another host", ACCEPTED, None, keys_elsewhere),
    ("R04", "one step", ACCEPTED, None, redirect("/{name}/moved")),
    ("R04", "307", ACCEPTED, None, redirect("/{name}/moved", 307)),
    ("R04", "three steps", ACCEPTED, None, redirect("/{name}/step-1", hops=3)),
    ("R04", "four steps", UNAVAILABLE, "http", redirect("/{name}/step-1", hops=4)),
    ("R04", "21 steps", UNAVAILABLE, "http", redirect("/{name}/step-1", hops=21)),
    ("R04", "in a loop", UNAVAILABLE, "http", redirect("/{name}/keys")),
    *(("R04", f"to {ascii(to)}", UNAVAILABLE, "address", redirect(to)) for to in LOCATIONS),
    ("R04", "from https to http", UNAVAILABLE, "http", secure_redirect),
    ("R04", "to cloud metadata", UNAVAILABLE, "address", redirect("http://169.254.169.254/latest/", **PINNED)),
    (
        "R04",
        "to an address that is not allowed",
        UNAVAILABLE,
        "address",
        redirect("http://127.0.0.2:{port}/{name}/moved", **PINNED),
    ),
    ("R04", "to an address that is", ACCEPTED, None, redirect("{other}/{name}/moved", **PINNED)),
    ("R05", "self-signed", UNAVAILABLE, "tls", untrusted(is_self_signed=True)),
    ("R05", "an authority that is not trusted", UNAVAILABLE, "tls", untrusted()),
    ("R05", "expired", UNAVAILABLE, "tls", by_authority(ends=-1)),
    ("R05", "not yet valid", UNAVAILABLE, "tls", by_authority(begins=0.5)),
    ("R05", "another host", UNAVAILABLE, "tls", by_authority(host="127.0.0.2")),
    ("R05", "a host's name", UNAVAILABLE, "tls", by_authority(host="localhost")),
    ("R05", "SHA-1", UNAVAILABLE, "tls", tls(Network.weakly_signed)),
    ("R05", "TLS 1.0 alone", UNAVAILABLE, "tls", newest(ssl.TLSVersion.TLSv1)),
    ("R05", "TLS 1.1 at most", UNAVAILABLE, "tls", newest(ssl.TLSVersion.TLSv1_1)),
    ("R05", "TLS 1.2 at most", ACCEPTED, None, newest(ssl.TLSVersion.TLSv1_2)),
    ("R05", "a client's certificate asked for", UNAVAILABLE, "tls", tls(asking_for_a_certificate)),
    ("R05", "no TLS at all", UNAVAILABLE, "tls", tls(lambda network: (None, network.trusting))),
    ("R05", "a good one", ACCEPTED, None, by_authority()),
    ("R07", "gzip", ACCEPTED, None, encoded("gzip", gzip.compress)),
    ("R07", "deflate", ACCEPTED, None, encoded("deflate", zlib.compress)),
    ("R07", "identity", ACCEPTED, None, encoded("identity", bytes)),
    ("R07", "a bomb", UNAVAILABLE, "http", encoded("gzip", bomb)),
    ("R07", "a bomb of zeros", UNAVAILABLE, "http", encoded("gzip", lambda _: gzip.compress(bytes(50_000_000)))),
    ("R07", "br", UNAVAILABLE, "http", encoded("br", bytes)),
    ("R07", "zstd", UNAVAILABLE, "http", encoded("zstd", bytes)),
    ("R07", "gzip twice", UNAVAILABLE, "http", encoded("gzip, gzip", lambda good: gzip.compress(gzip.compress(good)))),
    ("R07", "gzip by name alone", UNAVAILABLE, "http", encoded("gzip", bytes)),
    ("R07", "gzip cut off", UNAVAILABLE, None, encoded("gzip", lambda good: gzip.compress(good)[:-20])),
    ("R09", "silence", UNAVAILABLE, None, silent),
    ("R09", "500", UNAVAILABLE, "http", answering({"keys": [OLD.jwk()]}, 500)),
    ("R09", "304 to a first request", UNAVAILABLE, "http", answering(b"", 304, **{"Content-Length": None})),
    ("R09", "an empty set", UNAVAILABLE, "parse", answering({"keys": []})),
]


@pytest.fixture(scope="module")
def fetching(tmp_path_factory):
    """One service with a provider for each row."""
    with contextlib.ExitStack() as stack:
        network = Network(tmp_path_factory.mktemp("network"), stack)
        issuers, settings = {}, []
        for number, (id, variant, _, _, set_up) in enumerate(TABLE):
            name = f"{id.lower()}-{number}"
            issuer, changes = set_up(network, name)
            issuers[id, variant] = issuer
            settings.append(provider(issuer, name, **changes))
        good = network.plain.issuer("good", OLD)
        service = Service(*settings, provider(good, "good"), limits={"keys_timeout": "1s"}, log={"level": "debug"})
        with attacked(service, good.token) as target:
            # The last provider. `expect` sends its token with each row's.
            service.wait_until(lambda: service.provider_state("good")["state"] == "ready")
            yield target, issuers, network


@pytest.mark.parametrize(
    ("key", "code", "phase"),
    rows(*((id, variant, (id, variant), code, phase) for id, variant, code, phase, _ in TABLE)),
)
def test_keys_are_fetched_only_as_the_settings_allow(fetching, key, code, phase):
    target, issuers, network = fetching
    issuer = issuers[key]

    def state() -> dict:
        return target.service.provider_state(issuer.name)

    if code is ACCEPTED:
        target.service.wait_until(lambda: state()["state"] == "ready" and not state()["last_error"])
        target.expect(issuer.token(), code)
    else:
        target.expect(issuer.token(), code)
        failure = target.service.wait_until(lambda: state()["last_error"])
        assert phase in (None, failure["phase"]), failure
        assert state()["state"] == "unavailable"
        assert not [word for word in ("password", "attacker", "passwd") if word in json.dumps(failure)]
    assert network.plain.unexpected == network.other.unexpected == network.secure.unexpected == []
    if key[0] in ("R01", "R02") and code == UNAVAILABLE:
        assert issuer.jwks.count == 0
    if key == ("R01", "Apple's document is wrong"):
        assert issuer.discovery.count == 0


FLAPS = rows(
    ("R09", "500", b"", 500, {}),
    ("R09", "503", b"", 503, {}),
    ("R09", "404", b"", 404, {}),
    ("R09", "401", b"", 401, {}),
    ("R09", "204", b"", 204, {"Content-Length": None}),
    ("R09", "206", {"keys": [NEW.jwk()]}, 206, {}),
    ("R09", "304 to an unconditional request", b"", 304, {"Content-Length": None}),
    ("R09", "an empty 200", b"", 200, {}),
    ("R09", "truncated", b'{"keys":[{"kty":"EC"', 200, {}),
    ("R09", "a maintenance page", b"<html>We are back soon</html>", 200, {"Content-Type": "text/html"}),
    ("R09", "an empty set", {"keys": []}, 200, {}),
    ("R09", "cut off", b'{"keys":[]}', 200, {"Content-Length": "1000", "Connection": "close"}),
    ("R09", "a redirect to nowhere", b"", 302, {}),
)


@pytest.mark.parametrize(("body", "status", "headers"), FLAPS)
def test_failed_fetches_do_not_remove_valid_keys(world, body, status, headers):
    world.publish(OLD.jwk())
    world.publish_document(body, status, **headers)
    for _ in range(3):
        state = world.refresh()
        assert state["last_error"] and state["state"] in ("ready", "stale"), state
        world.expect(world.by(OLD), ACCEPTED)
    asked = world.hostile.jwks.count
    world.publish(NEW.jwk())
    world.expect(world.by(NEW), ACCEPTED)
    world.expect(world.by(OLD), "key_not_found")
    # The service's own retries come only after a backoff.
    assert world.hostile.jwks.count <= asked + 3
