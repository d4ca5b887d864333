"""The providers of `assay dev` take requests that are pushed or signed, and demand them of clients that must send them so."""

import urllib.parse

import pytest
from harness import yaml
from harness.commands import Dev
from harness.contract import assert_code

REDIRECT = "https://example.com/cb"
NOWHERE = {"auth": "private_key_jwt", "key_id": "k", "key_file": "/nowhere/key.pem"}
CLIENTS = {
    "pushed": {"auth": "client_secret_basic", "secret_file": "/nowhere/secret", "request": "pushed"},
    "signed": NOWHERE | {"request": "signed"},
    "both": {"auth": "client_secret_post", "secret_file": "/nowhere/secret", "request": "signed_pushed", "signing_key": "sig"},
}


@pytest.fixture(scope="module")
def dev(tmp_path_factory):
    file = tmp_path_factory.mktemp("dev") / "mine.yaml"
    providers = [
        {"id": name, "issuer": f"https://{name}.example", "audiences": ["mine"], "nonce": {"required": True},
         "clients": [{"id": "mine", "redirect_uris": [REDIRECT]} | client]}
        for name, client in CLIENTS.items()
    ]  # fmt: skip
    keys = [{"id": "sig", "use": "signature", "key_file": "/nowhere/sig.pem", "algorithm": "ES256"}]
    file.write_text(yaml.dump({"providers": providers, "client_keys": keys}))
    with Dev("--config", str(file)) as running:
        yield running


def begin(dev, name: str, **members) -> dict:
    response = dev.api.post("/v1/sign-ins", {"provider": name, "redirect_uri": REDIRECT, "prompt": "none"} | members)
    assert response.status == 201, response
    return response.json


def visited(dev, url: str):
    parts = urllib.parse.urlsplit(url)
    return dev.ask_issuer("GET", f"{parts.path}?{parts.query}")


def answered(response) -> dict[str, str]:
    """The parameters with which the browser comes back."""
    assert response.status == 303, response
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(response.header("Location")).query))


@pytest.mark.parametrize("name", CLIENTS)
def test_a_whole_sign_in(dev, name):
    begun = begin(dev, name)
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(begun["authorization_url"]).query)
    assert set(query) == ({"client_id", "response_type", "scope", "request"} if name == "signed" else {"client_id", "request_uri"})
    response = answered(visited(dev, begun["authorization_url"]))
    finished = dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response})
    assert finished.status == 200, finished


@pytest.mark.parametrize("name", CLIENTS)
def test_a_request_that_came_otherwise_is_refused(dev, name):
    plain = {"client_id": "mine", "redirect_uri": REDIRECT, "response_type": "code", "scope": "openid", "prompt": "none"}
    assert visited(dev, f"http://-/{name}/authorize?{urllib.parse.urlencode(plain)}").status == 400
    unknown = {"client_id": "mine", "request_uri": "urn:ietf:params:oauth:request_uri:another"}
    assert visited(dev, f"http://-/{name}/authorize?{urllib.parse.urlencode(unknown)}").status == 400


def test_the_fault_of_refused_clients_is_seen_at_the_begin(dev):
    assert dev.ask_issuer("POST", "/faults", {"provider": "pushed", "fault": "refused_clients"}).status == 200
    try:
        response = dev.api.post("/v1/sign-ins", {"provider": "pushed", "redirect_uri": REDIRECT})
        assert_code(response, "client_rejected")
    finally:
        dev.ask_issuer("POST", "/reset")
