"""`docs/testing.md`: one entry with all that high assurance asks for, from the begin of a sign-in to the sign-out."""

import base64
import json
import time
import urllib.parse

import pytest

from clients.test_readme import block
from harness.commands import Dev
from harness.contract import assert_code

from .test_requests import answered, visited
from .test_sign_outs import FORM, posted, sign_out

PAGE = "docs/testing.md"
REDIRECT = "https://app.example.com/callback/bank"
SIGNED_OUT = "https://app.example.com/signed-out"
ENCRYPTION = {"algorithm": "ECDH-ES+A256KW", "content": "A256GCM", "key_id": "enc-1"}


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    file = tmp_path_factory.mktemp("assured") / "assay.yaml"
    file.write_text(block(PAGE, "## High assurance", "yaml"))
    with Dev("--config", str(file)) as process:
        yield process


@pytest.fixture
def dev(running):
    yield running
    assert running.ask_issuer("POST", "/reset").status == 200


def header(token: str) -> dict:
    assert token.count(".") == 4, token
    return json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))


def signed_in(dev) -> dict:
    members = {"provider": "bank", "redirect_uri": REDIRECT, "response_mode": "jwt", "prompt": "none"}
    begun = dev.api.post("/v1/sign-ins", members)
    assert begun.status == 201, begun
    url = begun.json["authorization_url"]
    assert set(urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)) == {"client_id", "request_uri"}
    response = answered(visited(dev, url))
    assert set(response) == {"response"} and header(response["response"])["alg"] == "ECDH-ES+A256KW"
    finished = dev.api.post("/v1/sign-ins/finish", {"sign_in": begun.json["sign_in"], "response": response})
    assert finished.status == 200, finished
    return finished.json


def proof(dev, grant: dict, **more) -> str:
    """For a call of the backend's own to the UserInfo endpoint."""
    url = f"http://{dev.issuer_address}/bank/userinfo"
    members = {"provider": "bank", "binding": grant["binding"], "access_token": grant["access_token"], "method": "GET", "url": url}
    response = dev.api.post("/v1/grants/proof", members | more)
    assert response.status == 200, response
    return response.json["dpop"]


def user_info(dev, grant: dict, scheme: str = "DPoP", **headers):
    authorization = {"Authorization": f"{scheme} {grant['access_token']}"}
    return dev.ask_issuer("GET", "/bank/userinfo", headers=authorization | headers)


def test_from_the_begin_to_the_sign_out(dev):
    keys = {key["kid"]: key["use"] for key in dev.api.get("/v1/jwks").json["keys"]}
    assert keys == {"sig-1": "sig", "enc-1": "enc"}

    finished = signed_in(dev)
    grant = finished["grant"]
    assert finished["token"]["encryption"] == ENCRYPTION and finished["token"]["algorithm"] == "PS256", finished
    # The name is in the UserInfo response.
    assert finished["identity"]["name"] == "Kim Example" and grant["token_type"] == "DPoP"

    answer = user_info(dev, grant, DPoP=proof(dev, grant))
    assert answer.status == 200 and answer.header("Content-Type") == "application/jwt", answer
    assert header(answer.body.decode())["kid"] == "enc-1"

    members = {"provider": "bank", "binding": grant["binding"], "subject": finished["identity"]["subject"]}
    refreshed = dev.api.post("/v1/grants/refresh", members | {"refresh_token": grant["refresh_token"]})
    assert refreshed.status == 200 and refreshed.json["grant"]["token_type"] == "DPoP", refreshed

    # An encrypted hint is opened first, and must not be in a URL that others read.
    assert header(grant["id_token"])["enc"] == "A256GCM"
    signed_out = sign_out(dev, "bank", id_token_hint=grant["id_token"], post_logout_redirect_uri=SIGNED_OUT)
    assert signed_out["logout_url"] is None
    answer = posted(dev, signed_out, action="sign-out")
    assert (answer.status, answer.header("Location")) == (303, f"{SIGNED_OUT}?state={signed_out['state']}")


def test_a_token_that_a_script_gets_is_encrypted_too(dev):
    token = dev.token("bank")
    verified = dev.api.post("/v1/verify", token)
    assert verified.status == 200 and verified.json["token"]["encryption"] == ENCRYPTION, verified
    assert_code(dev.api.post("/v1/verify", {name: value for name, value in token.items() if name != "provider"}), "request_invalid")


def test_proofs_are_demanded(dev):
    grant = signed_in(dev)["grant"]
    for answer in (user_info(dev, grant), user_info(dev, grant, "Bearer"), user_info(dev, grant, DPoP="junk")):
        assert answer.status == 401 and answer.json == {"error": "invalid_dpop_proof"}
        assert answer.header("WWW-Authenticate") == 'DPoP error="invalid_dpop_proof", algs="ES256"'
    claims = {"iss": "client-1", "sub": "client-1", "aud": f"http://{dev.issuer_address}/bank", "jti": "1", "exp": int(time.time()) + 60}
    parts = (json.dumps({"alg": "ES256"}), json.dumps(claims), "any key is right")
    form = {
        "grant_type": "refresh_token", "refresh_token": grant["refresh_token"], "client_id": "client-1",
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        "client_assertion": ".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts),
    }  # fmt: skip
    answer = dev.ask_issuer("POST", "/bank/token", urllib.parse.urlencode(form).encode(), FORM)
    assert answer.status == 400 and answer.json == {"error": "invalid_dpop_proof"}


def test_nonces_are_demanded_once_they_are_switched_on(dev):
    assert dev.ask_issuer("POST", "/faults", {"provider": "bank", "fault": "dpop_nonces"}).status == 200
    grant = signed_in(dev)["grant"]
    answer = user_info(dev, grant, DPoP=proof(dev, grant))
    assert answer.status == 401 and answer.json == {"error": "use_dpop_nonce"}
    answer = user_info(dev, grant, DPoP=proof(dev, grant, nonce=answer.header("DPoP-Nonce")))
    assert answer.status == 200, answer
