"""The providers of `assay dev` take requests that are pushed or signed, and demand them of clients that must send them so."""

import html
import re
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
    "fapi": {"auth": "private_key_jwt", "signing_key": "sig", "sender_constraint": "dpop"},
    "hybrid": {"auth": "none", "request": "plain", "response_type": "code id_token"},
}
ENTRIES = {"fapi": {"profile": "fapi2"}}
DEMANDING = ["pushed", "signed", "both", "fapi"]


@pytest.fixture(scope="module")
def dev(tmp_path_factory):
    file = tmp_path_factory.mktemp("dev") / "mine.yaml"
    providers = [
        {"id": name, "issuer": f"https://{name}.example", "audiences": ["mine"], "nonce": {"required": True},
         "clients": [{"id": "mine", "redirect_uris": [REDIRECT]} | client]}
        | ENTRIES.get(name, {})
        for name, client in CLIENTS.items()
    ]  # fmt: skip
    keys = [{"id": "sig", "use": "signature", "key_file": "/nowhere/sig.pem", "algorithm": "ES256"}]
    file.write_text(yaml.dump({"providers": providers, "client_keys": keys, "sign_ins": {"key_files": ["/nowhere/handle"]}}))
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
    """The parameters with which the browser comes back, by redirect or by a form that submits itself."""
    if response.status == 200:
        inputs = re.findall(r'name="([^"]+)" value="([^"]*)"', response.body.decode())
        return {name: html.unescape(value) for name, value in inputs}
    assert response.status == 303, response
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(response.header("Location")).query))


@pytest.mark.parametrize("name", DEMANDING)
def test_a_whole_sign_in(dev, name):
    begun = begin(dev, name)
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(begun["authorization_url"]).query)
    assert set(query) == ({"client_id", "response_type", "scope", "request"} if name == "signed" else {"client_id", "request_uri"})
    response = answered(visited(dev, begun["authorization_url"]))
    finished = dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response})
    assert finished.status == 200, finished


def test_an_entry_keeps_to_its_profile(dev):
    begun = begin(dev, "fapi")
    response = answered(visited(dev, begun["authorization_url"]))
    assert set(response) == {"code", "state", "iss"}
    without = {name: value for name, value in response.items() if name != "iss"}
    assert_code(dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": without}), "response_issuer_mismatch")
    finished = dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response}).json
    assert finished["token"]["algorithm"] == "PS256" and finished["grant"]["token_type"] == "DPoP", finished
    refreshed = {"provider": "fapi", "binding": finished["grant"]["binding"], "subject": finished["identity"]["subject"]}
    response = dev.api.post("/v1/grants/refresh", refreshed | {"refresh_token": finished["grant"]["refresh_token"]})
    assert response.status == 200, response


@pytest.mark.parametrize(("name", "mode"), [("pushed", "jwt"), ("signed", "query.jwt"), ("both", "form_post.jwt"), ("hybrid", "form_post.jwt")])
def test_responses_are_signed_if_asked_for(dev, name, mode):
    essential = {"id_token": {"acr": {"essential": True, "values": ["gold"]}}}
    for members in ({"acr_values": "gold silver", "require_acr": True}, {"claims": essential}):
        begun = begin(dev, name, response_mode=mode, resource=["https://api.example", "https://b.example"], **members)
        response = answered(visited(dev, begun["authorization_url"]))
        assert set(response) == {"response"}
        finished = dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response})
        assert finished.status == 200 and finished.json["token"]["acr"] == "gold", finished


def test_an_id_token_comes_with_the_code(dev):
    begun = begin(dev, "hybrid")
    response = answered(visited(dev, begun["authorization_url"]))
    assert {"code", "id_token", "state", "iss"} <= set(response)
    spoilt = response | {"code": response["code"] + "x"}
    assert_code(dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": spoilt}), "c_hash_mismatch")
    finished = dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response})
    assert finished.status == 200, finished


@pytest.mark.parametrize("name", DEMANDING)
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
