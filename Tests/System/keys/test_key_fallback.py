"""Keys in a file: a fallback while the provider can't be reached, or, without a URL, the only source."""

import json
import pathlib

import pytest

from harness.fault_table import BROKEN
from harness.faults import Fault, FaultServer
from harness.keys import refresh, unavailable, unknown
from harness.service import NETWORK, Service, provider
from harness.tokens import Key, ec_key, jws

OLD, NEW, FILED, FORGER = ec_key("old"), ec_key("new"), ec_key("filed"), ec_key("forger")
REFUSING = Fault(FaultServer.refuse, "listener")


class KeyFile:
    def __init__(self, path: pathlib.Path, *keys: Key):
        self.path = path
        self.write(*keys)

    def write(self, *keys: Key) -> None:
        """Replaces the file atomically."""
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"keys": [key.jwk() for key in keys]}))
        new.rename(self.path)


@pytest.fixture
def server():
    with FaultServer("op", OLD) as fault_server:
        yield fault_server


@pytest.fixture
def file(tmp_path):
    return KeyFile(tmp_path / "fallback.json", FILED)


def serve(issuer, file: KeyFile, **settings) -> Service:
    return Service(provider(issuer, jwks_uri=issuer.jwks_uri, jwks_file=str(file.path), network=NETWORK), **settings)


def origin(answer: dict) -> tuple[str, bool]:
    return answer["keys"]["source"], answer["keys"]["stale"]


@pytest.mark.parametrize("fault", [BROKEN, REFUSING])
@pytest.mark.parametrize("place", ["jwks_uri", "discovery_url"])
def test_the_file_is_used_while_the_key_server_fails(server, issuer, file, fault, place):
    discovery = issuer.url + "/.well-known/openid-configuration"
    address = {"jwks_uri": issuer.jwks_uri, "discovery_url": discovery}[place]
    server.misbehave(fault)
    settings = provider(issuer, jwks_file=str(file.path), network=NETWORK, **{place: address})
    with Service(settings) as service:
        service.wait_until_ready()
        assert origin(service.accept(jws(FILED, issuer.claims()))) == ("file", True)
        service.reject(jws(FORGER, issuer.claims(), kid="filed"), "signature_invalid")
        service.reject(jws(FILED, issuer.claims(aud="someone else")), "audience_mismatch")
        unavailable(service, unknown(issuer))
        state = service.provider_state("oidc")
        assert (state["state"], state["source"]) == ("stale", "file")
        assert state["last_error"]["phase"] in ("http", "connect")


def test_keys_of_the_key_server_replace_those_of_the_file(server, issuer, file):
    server.misbehave(BROKEN)
    with serve(issuer, file) as service:
        service.accept(jws(FILED, issuer.claims()))
        server.heal()
        state = refresh(service)
        assert (state["state"], state["source"]) == ("ready", "network")
        assert [key["kid"] for key in state["keys"]] == ["old"]
        assert origin(service.accept(issuer.token())) == ("network", False)
        service.reject(jws(FILED, issuer.claims()), "key_not_found")


def test_a_key_that_the_file_lacks_is_fetched(server, issuer, file):
    server.misbehave(BROKEN)
    with serve(issuer, file) as service:
        service.accept(jws(FILED, issuer.claims()))
        server.heal()
        # A fetch that is already in flight still fails.
        service.wait_until(lambda: service.provider_state("oidc")["next_fetch_at"])
        assert origin(service.accept(issuer.token())) == ("network", False)


def test_a_missing_or_invalid_file_is_used_once_it_is_valid(server, issuer, tmp_path):
    contents = [None, b"", b"{}", b'{"keys":[]}', b"\0" * 1000]
    files = [KeyFile(tmp_path / f"op-{number}.json", FILED) for number in range(len(contents))]
    providers, tokens = [], []
    for number, (file, content) in enumerate(zip(files, contents, strict=True)):
        if content is None:
            file.path.unlink()
        else:
            file.path.write_bytes(content)
        url = f"https://op-{number}.example.com"
        settings = provider(issuer, f"op-{number}", jwks_uri=issuer.jwks_uri, jwks_file=str(file.path), network=NETWORK)
        providers.append(settings | {"issuer": url})
        tokens.append(jws(FILED, issuer.claims(iss=url)))
    server.misbehave(BROKEN)
    with Service(*providers) as service:
        for token in tokens:
            unavailable(service, token)
        assert service.api.get("/readyz").status == 503
        for file in files:
            file.write(FILED)
        service.wait_until_ready()
        for token in tokens:
            assert origin(service.accept(token)) == ("file", True)


def test_changes_of_a_fallback_file_are_noticed(server, issuer, file):
    server.misbehave(BROKEN)
    with serve(issuer, file) as service:
        service.accept(jws(FILED, issuer.claims()))
        file.write(NEW)
        service.wait_until(lambda: service.verify(jws(NEW, issuer.claims())).status == 200)
        unavailable(service, jws(FILED, issuer.claims()))


def test_changes_of_a_file_that_is_the_only_source_are_noticed(issuer, server, file):
    file.write(OLD, FILED)
    with Service(provider(issuer, jwks_file=str(file.path))) as service:
        service.accept(jws(FILED, issuer.claims()))
        file.write(OLD)
        service.wait_until(lambda: service.verify(jws(FILED, issuer.claims())).code == "key_not_found")
        assert origin(service.accept(jws(OLD, issuer.claims()))) == ("file", False)
        file.path.unlink()
        service.wait_until(lambda: service.provider_state("oidc")["last_error"])
        service.accept(jws(OLD, issuer.claims()))
        file.write(NEW)
        service.wait_until(lambda: service.verify(jws(NEW, issuer.claims())).status == 200)
        assert server.connections == 0
