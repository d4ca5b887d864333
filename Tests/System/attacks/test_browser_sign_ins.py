"""L. Sign-ins in the browser: nobody finishes another's sign-in, and a code finishes only its own sign-in."""

import base64
import hashlib
import json
import secrets
import urllib.parse

import pytest

from attacks.catalogue import rows
from grants.grants import with_client
from harness import client, reload
from harness.service import Service
from harness.token_endpoint import REVOCATION, TOKEN, TokenEndpoint, answered, error, grant
from sign_ins.calls import ON, begin

HONEST, OTHER = "https://app.example/callback/honest", "https://app.example/callback/other"


class Codes:
    """The codes of an authorization server, each with its request and user. It may fail to check PKCE."""

    def __init__(self, issuer, checks_pkce: bool = True):
        self.issuer = issuer
        self._checks_pkce = checks_pkce
        self._requests: dict[str, tuple[dict, str]] = {}

    def authorize(self, begun: dict, subject: str = "user-1") -> str:
        """The user signs in, and the browser receives this code."""
        code = secrets.token_urlsafe(16)
        query = urllib.parse.urlsplit(begun["authorization_url"]).query
        self._requests[code] = dict(urllib.parse.parse_qsl(query)), subject
        return code

    def redeem(self, call):
        request, subject = self._requests.get(call.form["code"], ({}, ""))
        verifier = call.form.get("code_verifier", "")
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        if not request or self._checks_pkce and challenge != request.get("code_challenge"):
            return error("invalid_grant")
        return grant(id_token=self.issuer.token(sub=subject, nonce=request.get("nonce")))


@pytest.fixture(scope="module")
def scene(shared_server, tmp_path_factory):
    """`honest` binds codes by PKCE and nonce, `nonce` and `pkce` by only one of them. `hostile` is an attacker's."""
    with TokenEndpoint() as endpoint, TokenEndpoint() as attackers:
        codes = {}
        providers = []
        for id, settings in {
            "honest": {}, "nonce": {"pkce": "off"}, "pkce": {"nonce": {"check": "off"}}, "hostile": {},
        }.items():  # fmt: skip
            issuer = shared_server.issuer("browser-" + id)
            codes[id] = Codes(issuer, checks_pkce=id != "nonce")
            server = attackers if id == "hostile" else endpoint
            entry = with_client(issuer, server, tmp_path_factory.mktemp(id), id, **settings)
            # The hostile provider shares a redirect URI with the honest one, by a mistake in the settings.
            entry["clients"][0]["redirect_uris"] = [HONEST, OTHER] if id == "hostile" else [HONEST]
            providers.append(entry)
        with Service(*providers, **ON) as service:
            service.wait_until_ready()
            service.codes, service.endpoint, service.attackers = codes, endpoint, attackers
            yield service


@pytest.fixture(autouse=True)
def fresh(scene):
    for server in (scene.endpoint, scene.attackers):
        server.heal()
        server.forget()


def begun(scene, provider: str = "honest", redirect_uri: str = HONEST, **members) -> dict:
    return begin(scene, provider, redirect_uri=redirect_uri, **members)


def finish(scene, begun: dict, response, redirect_uri: str | None = HONEST) -> client.Response:
    body = {"sign_in": begun["sign_in"], "response": response, "redirect_uri": redirect_uri}
    return scene.api.post("/v1/sign-ins/finish", body)


def response_to(begun: dict, code: str, **members) -> dict:
    return {"code": code, "state": begun["state"]} | members


def refused(response: client.Response, code: str, spent: bool = False) -> None:
    assert client.contract.assert_code(response, code)["spent"] is spent
    assert b"an access token" not in response.body and b"a refresh token" not in response.body


def honest_finish(scene, started: dict, provider: str = "honest") -> client.Response:
    codes = scene.codes[provider]
    scene.endpoint.choose(lambda call: codes.redeem(call) if call.path == TOKEN else None)
    return finish(scene, started, response_to(started, codes.authorize(started)))


# By variant: whether the response names its issuer, the `redirect_uri` of the finish, and the code.
MIXED_UP = rows(
    ("L50", "the response names the honest issuer", True, HONEST, "response_issuer_mismatch"),
    ("L50", "it was received at the honest provider's address", False, HONEST, "redirect_uri_mismatch"),
)


@pytest.mark.parametrize(("is_named", "received_at", "code"), MIXED_UP)
def test_a_code_of_the_honest_provider_is_not_sent_to_an_attacker(scene, is_named, received_at, code):
    """Mix-up: the user chose the attacker's provider, which redirected to the honest one with the same `state`."""
    attackers = begun(scene, "hostile", redirect_uri=HONEST if is_named else OTHER)
    honest = begun(scene)
    members = {"iss": scene.codes["honest"].issuer.url} if is_named else {}
    response = response_to(attackers, scene.codes["honest"].authorize(honest), **members)
    refused(finish(scene, attackers, response, received_at), code)
    assert not scene.attackers.calls and not scene.endpoint.calls
    assert any("is listed for honest and for nonce" in line for line in scene.log)


FIXED = rows(
    ("L51", "the attacker's response", lambda victims, attackers: {"state": attackers["state"]}),
    ("L51", "the attacker's nonce as state", lambda victims, attackers: {"state": attackers["nonce"]}),
    ("L51", "the victim's handle as state", lambda victims, attackers: {"state": victims["sign_in"]}),
    ("L51", "no state", lambda victims, attackers: {}),
    ("L51", "an empty state", lambda victims, attackers: {"state": ""}),
    ("L51", "a longer state", lambda victims, attackers: {"state": victims["state"] + "A"}),
    ("L51", "a shorter state", lambda victims, attackers: {"state": victims["state"][:-1]}),
    ("L51", "another case", lambda victims, attackers: {"state": victims["state"].swapcase()}),
)


@pytest.mark.parametrize("state", FIXED)
def test_a_state_chosen_by_an_attacker_is_refused(scene, state):
    """State fixation: the victim's browser has its own handle, and receives the attacker's response."""
    victims, attackers = begun(scene), begun(scene)
    response = {"code": scene.codes["honest"].authorize(attackers)} | state(victims, attackers)
    refused(finish(scene, victims, response), "state_mismatch")
    # A forged cancellation must not end the victim's sign-in.
    refused(finish(scene, victims, response | {"error": "access_denied"}), "state_mismatch")
    assert not scene.endpoint.calls
    assert honest_finish(scene, victims).status == 200


@pytest.mark.parametrize("member", rows(("L51", "state", "state"), ("L51", "nonce", "nonce"), ("L51", "code_verifier", "code_verifier")))
def test_a_begin_accepts_no_secret_from_outside(scene, member):
    body = {"provider": "honest", "redirect_uri": HONEST, member: "chosen-by-an-attacker"}
    client.contract.assert_code(scene.api.post("/v1/sign-ins", body), "request_invalid")


# By provider: how the injected code is refused. With PKCE alone, only the provider can detect it.
INJECTED = rows(
    ("L52", "PKCE and nonce", "honest", "grant_invalid"),
    ("L52", "PKCE alone", "pkce", "grant_invalid"),
    ("L53", "nonce alone", "nonce", "nonce_mismatch"),
)


@pytest.mark.parametrize("is_victims", rows(("L53", "the victim's code, the attacker's browser", True), ("L53", "the other way round", False)))
@pytest.mark.parametrize(("provider", "code"), INJECTED)
def test_a_code_of_another_sign_in_is_refused(scene, provider, code, is_victims):
    """Code injection: a stolen code in the attacker's sign-in, or the attacker's code in the victim's."""
    mine, theirs = begun(scene, provider), begun(scene, provider)
    codes = scene.codes[provider]
    scene.endpoint.choose(lambda call: codes.redeem(call) if call.path == TOKEN else None)
    injected = codes.authorize(theirs, "victim" if is_victims else "attacker")
    refused(finish(scene, mine, response_to(mine, injected)), code, spent=True)
    assert scene.endpoint.received() == 1
    # Nothing is revoked: an injected code must not sign its owner out.
    assert scene.endpoint.received(REVOCATION) == 0
    refused(finish(scene, mine, response_to(mine, codes.authorize(mine))), "sign_in_replayed", spent=True)
    if code == "nonce_mismatch":
        assert reload.metrics(scene).value("assay_grants_dropped_total", provider=provider, code=code) >= 1


def test_a_handle_of_another_browser_is_refused(scene):
    """L54: one browser receives the response, and another sends its cookie."""
    mine, theirs = begun(scene), begun(scene)
    codes = scene.codes["honest"]
    for handle, response in ((mine, theirs), (theirs, mine)):
        refused(finish(scene, handle, response_to(response, codes.authorize(response))), "state_mismatch")
    refused(finish(scene, {"sign_in": mine["state"]}, response_to(mine, "c")), "sign_in_invalid")
    # A native sign-in takes no response, and a browser's no token.
    native = begin(scene, "honest")
    refused(finish(scene, native, {"code": "c", "state": "s"}, None), "request_invalid")
    body = {"sign_in": mine["sign_in"], "id_token": codes.issuer.token(nonce=mine["nonce"])}
    refused(scene.api.post("/v1/sign-ins/finish", body), "request_invalid")
    assert not scene.endpoint.calls
    assert honest_finish(scene, mine).status == honest_finish(scene, theirs).status == 200


ERRORS = rows(
    ("L55", "beside a code", {"error": "access_denied"}, "sign_in_denied"),
    ("L55", "of Apple's beside a code", {"error": "user_cancelled_authorize"}, "sign_in_denied"),
    ("L55", "with text", {"error": "server_error", "error_description": "<script>", "error_uri": "https://evil.example"}, "provider_refused"),
    ("L55", "that nobody registered", {"error": "<script>alert(1)</script>"}, "provider_refused"),
    ("L55", "of another issuer", {"error": "access_denied", "iss": "https://evil.example"}, "response_issuer_mismatch"),
)  # fmt: skip


@pytest.mark.parametrize(("members", "code"), ERRORS)
def test_an_error_response_sends_no_code_and_its_text_is_not_shown(scene, members, code):
    started = begun(scene, context="/basket")
    response = finish(scene, started, response_to(started, "a-code", **members))
    refused(response, code)
    assert not scene.endpoint.calls
    assert b"script" not in response.body and b"evil" not in response.body
    if code == "provider_refused":
        assert response.json["provider_error"] == ("server_error" if members["error"] == "server_error" else "other")
    assert honest_finish(scene, started).status == 200


def text(started: dict, response: str) -> bytes:
    """A finish with this JSON text as its response."""
    return ('{"sign_in": %s, "response": %s}' % (json.dumps(started["sign_in"]), response.replace("STATE", started["state"]))).encode()


MALFORMED = rows(
    ("L56", "code twice", '{"state": "STATE", "code": "a", "code": "b"}', "request_invalid"),
    ("L56", "state twice", '{"state": "STATE", "state": "STATE", "code": "a"}', "request_invalid"),
    ("L56", "state twice, escaped", '{"state": "STATE", "st\\u0061te": "STATE", "code": "a"}', "request_invalid"),
    ("L56", "iss twice", '{"state": "STATE", "code": "a", "iss": "x", "iss": "y"}', "request_invalid"),
    ("L56", "an unknown member twice", '{"state": "STATE", "code": "a", "x": "1", "x": "1"}', "request_invalid"),
    ("L56", "33 members", json.dumps({"state": "STATE", "code": "a"} | {f"x{n}": "" for n in range(31)}), "request_invalid"),
    ("L56", "a code of 16,385 characters", json.dumps({"state": "STATE", "code": "c" * 16385}), "request_invalid"),
    ("L56", "a state of 16,385 characters", json.dumps({"state": "S" * 16385, "code": "c"}), "state_mismatch"),
    ("L56", "more than a body may have", json.dumps({"state": "STATE", "code": "c", "x": "x" * 70_000}), "request_too_large"),
    ("L56", "a code beyond ASCII", '{"state": "STATE", "code": "\\u00e9"}', "request_invalid"),
    ("L56", "a code with a line end", '{"state": "STATE", "code": "a\\r\\nX: y"}', "request_invalid"),
    ("L56", "a list of codes", '{"state": "STATE", "code": ["a"]}', "request_invalid"),
    ("L56", "code null", '{"state": "STATE", "code": null}', "request_invalid"),
    ("L56", "an unknown member that is no text", '{"state": "STATE", "code": "a", "x": 1}', "request_invalid"),
    ("L56", "a list", '["STATE"]', "request_invalid"),
    ("L56", "a query", '"state=STATE&code=a"', "request_invalid"),
)  # fmt: skip


@pytest.mark.parametrize(("response", "code"), MALFORMED)
def test_a_malformed_response_uses_nothing_up(scene, response, code):
    started = begun(scene)
    refused(scene.api.post("/v1/sign-ins/finish", text(started, response)), code)
    assert not scene.endpoint.calls
    assert honest_finish(scene, started).status == 200


IGNORED = rows(
    ("L56", "an ID Token that was not asked for", lambda scene, started: {"id_token": scene.codes["honest"].issuer.token(sub="victim")}),
    ("L56", "an access token", lambda scene, started: {"access_token": "a", "token_type": "Bearer"}),
    ("L56", "a session state, scopes, and a verifier", lambda *_: {"session_state": "s", "scope": "admin", "code_verifier": "v" * 43}),
    ("L56", "30 unknown members", lambda *_: {f"x{number}": "y" for number in range(30)}),
    ("L56", "Apple's user, but no JSON", lambda *_: {"user": '{"name": '}),
    ("L56", "a user with members twice", lambda *_: {"user": '{"name": {"firstName": "a", "firstName": "b"}}'}),
)


@pytest.mark.parametrize("members", IGNORED)
def test_other_members_of_a_response_are_ignored(scene, members):
    started = begun(scene)
    codes = scene.codes["honest"]
    scene.endpoint.choose(lambda call: codes.redeem(call) if call.path == TOKEN else None)
    response = response_to(started, codes.authorize(started), **members(scene, started))
    answer = finish(scene, started, response)
    assert answer.status == 200, answer
    assert answer.json["identity"]["subject"] == "user-1" and answer.json["identity"]["given_name"] is None
    assert set(scene.endpoint.last().form) == {"grant_type", "code", "redirect_uri", "code_verifier"}


PERSONS = rows(
    ("L57", "another person's code", {"sub": "victim"}, "subject_mismatch"),
    ("L57", "a code of the same person's other sign-in", {"nonce": "another"}, "nonce_mismatch"),
    ("L57", "a code of another issuer", {"iss": "https://evil.example"}, "issuer_mismatch"),
)


@pytest.mark.parametrize(("claims", "code"), PERSONS)
def test_id_token_and_code_must_be_of_one_sign_in(scene, claims, code):
    native = begin(scene, "honest")
    issuer = scene.codes["honest"].issuer
    scene.endpoint.play(grant(id_token=issuer.token(**({"nonce": native["nonce"]} | claims))))
    mine = issuer.token(nonce=native["nonce"])
    body = {"sign_in": native["sign_in"], "id_token": mine, "code": "a-stolen-code"}
    refused(scene.api.post("/v1/sign-ins/finish", body), code, spent=True)
    assert scene.endpoint.received() == 1 and scene.endpoint.received(REVOCATION) == 0
    refused(scene.api.post("/v1/sign-ins/finish", body), "sign_in_replayed", spent=True)


def test_user_info_of_another_user_is_refused(shared_server, tmp_path):
    """L57: the access token is another user's, so the claims are too."""
    issuer = shared_server.issuer("browser-informed")
    with TokenEndpoint() as endpoint:
        endpoints = {name: endpoint.endpoints[name] for name in ("token", "user_info")}
        with Service(with_client(issuer, endpoint, tmp_path, endpoints=endpoints, user_info=True), **ON) as service:
            service.wait_until_ready()
            native = begin(service)
            endpoint.play(grant(id_token=issuer.token(nonce=native["nonce"])))
            endpoint.play(answered({"sub": "victim", "email": "victim@example.com"}), path="/userinfo")
            response = service.api.post("/v1/sign-ins/finish", {"sign_in": native["sign_in"], "code": "c"})
            refused(response, "provider_answer_invalid", spent=True)
            assert b"victim" not in response.body
