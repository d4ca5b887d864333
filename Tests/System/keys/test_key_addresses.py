"""Keys are fetched only from public addresses, and from those that an operator allows."""

import pytest

from harness import commands
from harness.fault_table import reply
from harness.faults import Fault, FaultServer
from harness.keys import refresh, unavailable
from harness.service import Service, provider, run, write_config
from harness.tokens import ec_key

KEY = ec_key("op")

# `Tests/KeysTests/AddressBlockTests.swift` tests every block, and `Tests/SettingsTests` tests invalid ones.
ALLOWED = [["127.0.0.1"], ["::1", "10.0.0.0/8", "127.0.0.0/8"]]
NOT_ALLOWED = [[], ["127.0.0.2"], ["10.0.0.0/8", "::/0"]]


def network(allow_addresses: list[str]) -> dict:
    return {"allow_http": True} | ({"allow_addresses": allow_addresses} if allow_addresses else {})


@pytest.fixture
def server():
    with FaultServer("op", KEY) as fault_server:
        yield fault_server


def test_only_allowed_addresses_are_connected_to(server):
    """Each provider of a service has its own list."""
    issuer, providers, issuers = server.issuer, [], {}
    for number, entry in enumerate(ALLOWED + NOT_ALLOWED):
        issuers[f"op-{number}"] = f"https://op-{number}.example.com"
        settings = provider(issuer, f"op-{number}", jwks_uri=issuer.jwks_uri, network=network(entry))
        providers.append(settings | {"issuer": issuers[f"op-{number}"]})
    with Service(*providers) as service:
        for number, (id, url) in enumerate(issuers.items()):
            if number < len(ALLOWED):
                service.accept(issuer.token(iss=url))
            else:
                unavailable(service, issuer.token(iss=url))
                assert service.provider_state(id)["last_error"]["phase"] == "address"
        assert server.connections == len(ALLOWED)


@pytest.mark.parametrize("way", ["redirect", "discovery"])
def test_a_key_server_cannot_lead_to_an_address_that_is_not_allowed(server, way):
    issuer = server.issuer
    with FaultServer("trap", KEY, host="127.0.0.2") as trap:
        target = trap.issuer.jwks_uri
        if way == "redirect":
            server.misbehave(Fault(reply(b"", "302 Found", {"Location": target})))
        else:
            issuer.discovery.body = issuer.discovery_document(jwks_uri=target)
        named = {"allow_http": True, "allow_addresses": ["127.0.0.1"]}
        both = {"allow_http": True, "allow_addresses": ["127.0.0.0/30"]}
        with Service(provider(issuer, "strict", network=named)) as service:
            unavailable(service, issuer.token())
            assert service.provider_state("strict")["last_error"]["phase"] == "address"
            assert trap.connections == 0
        with Service(provider(issuer, "both", network=both)) as service:
            service.accept(issuer.token())
            assert trap.connections == 1


def test_ipv6_addresses_can_be_allowed(server):
    issuer = server.issuer
    uri = f"http://[::1]:{server.port}/op/keys"
    with Service(provider(issuer, jwks_uri=uri, network=network(["::1"]))) as service:
        # Nothing listens there, but a connection was attempted.
        unavailable(service, issuer.token())
        assert refresh(service)["code"] == "keys_unavailable"
        assert service.provider_state("oidc")["last_error"]["phase"] == "connect"


@pytest.mark.parametrize(
    "entry",
    ["localhost", "127.0.0.1/8"],
)
def test_config_check_refuses_an_invalid_address(server, tmp_path, entry):
    settings = provider(server.issuer, network={"allow_http": True, "allow_addresses": [entry]})
    config = write_config(tmp_path, {"providers": [settings]})
    checked = run(*commands.config_check(config))
    assert checked.returncode != 0
    assert b"allow_addresses" in checked.stderr and b"line " in checked.stderr
