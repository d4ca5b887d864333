"""Authorization requests that are pushed to the provider, or signed."""

import json
import time
import urllib.parse

import pytest
from grants.grants import SECRET, secret_file, with_client
from harness import client, commands
from harness.service import Service, run, write_config
from harness.token_endpoint import FAULTS, answered, error, grant
from harness.tokens import ec_key
from jwcrypto import jwk, jws

from .calls import ON, begin
from .connected import POST, Connection, entry

PAR = "/par"
REDIRECT = "https://app.example/callback"
AUTHORIZATION = "https://idp.example/authorize?tenant=1"
REFERENCE = "urn:ietf:params:oauth:request_uri:6esc_11ACC5bwc014ltc14eY22c"
MORE = {"resource": "https://api.example"}
STRUCTURES = {"authorization_details": [{"type": "account_information"}], "claims": {"id_token": {"acr": None}}}
PLAIN = {"id": "client", "auth": "none", "redirect_uris": [REDIRECT]}


def pushed(uri=REFERENCE, expires_in=60, status="201 Created", **members):
    body = {"request_uri": uri, "expires_in": expires_in} | members
    return answered({name: value for name, value in body.items() if value is not None}, status)


def key_file(directory, key: jwk.JWK, name: str) -> str:
    path = directory / f"{name}.pem"
    path.write_bytes(key.export_to_pem(private_key=True, password=None))
    path.chmod(0o600)
    return str(path)


@pytest.fixture(scope="module")
def keys():
    return {name: jwk.JWK.generate(kty="EC", crv="P-256") for name in ("own", "first", "second")}


@pytest.fixture(scope="module")
def providers(shared_server, endpoint, keys, tmp_path_factory):
    """Entries by name: forms that settings choose, and forms that the discovery document requires."""
    directory = tmp_path_factory.mktemp("requests")
    secret = {"auth": "client_secret_basic", "secret_file": secret_file(directory)}
    post = secret | {"auth": "client_secret_post"}
    own = {"auth": "private_key_jwt", "key_id": "k1", "key_file": key_file(directory, keys["own"], "own")}
    clients = {
        "pushed": secret | {"request": "pushed"},
        "posted": post | {"request": "pushed"},
        "public": {"request": "pushed"},
        "signed": own | {"request": "signed"},
        "both": own | {"request": "signed_pushed"},
        "named": secret | {"request": "signed", "signing_key": "second"},
        "first": {"request": "signed", "authorization_parameters": MORE | {name: json.dumps(value) for name, value in STRUCTURES.items()}},
        "required": secret,
        "required_signed": secret,
        "plain": secret | {"request": "plain"},
        "nowhere": secret | {"request": "pushed"},
    }
    documents = {
        "required": {"require_pushed_authorization_requests": True},
        "required_signed": {"require_signed_request_object": True, "require_pushed_authorization_requests": True},
        "plain": {"require_pushed_authorization_requests": True},
        "nowhere": {"pushed_authorization_request_endpoint": None},
    }
    made = {}
    for name, members in clients.items():
        issuer = shared_server.issuer(f"requests-{name}", ec_key("op"))
        document = {"pushed_authorization_request_endpoint": endpoint.url + PAR} | documents.get(name, {})
        issuer.discovery.body = issuer.discovery_document(**{k: v for k, v in document.items() if v is not None})
        endpoints = {"authorization": AUTHORIZATION, "token": endpoint.endpoints["token"]}
        made[name] = (issuer, with_client(issuer, endpoint, directory, name, endpoints=endpoints, clients=[PLAIN | members]))
    made["client_keys"] = [
        {"id": name, "use": "signature", "key_file": key_file(directory, keys[name], name), "algorithm": "ES256"}
        for name in ("first", "second")
    ]  # fmt: skip
    return made


@pytest.fixture(scope="module")
def service(providers, shared_server):
    entries = [made[1] for name, made in providers.items() if name != "client_keys"]
    more = {"client_keys": providers["client_keys"], "limits": {"provider_timeout": "2s"}}
    with Service(*entries, **more, **ON) as service:
        service.wait_until_ready()
        yield service


def parameters(begun: dict) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun["authorization_url"]).query, strict_parsing=True))


def claims(object: str, key: jwk.JWK, kid: str) -> dict:
    token = jws.JWS()
    token.deserialize(object, key)
    header = json.loads(token.objects["protected"])
    assert header == {"alg": "ES256", "kid": kid, "typ": "oauth-authz-req+jwt"}
    return json.loads(token.payload)


def checked(members: dict, issuer) -> dict:
    """The parameters in a request object, without the claims about it, which are checked."""
    now = time.time()
    assert members.pop("iss") == "client" and members.pop("aud") == issuer.url and len(members.pop("jti")) >= 16
    begun = members.pop("nbf")
    assert now - 60 <= begun <= now and members.pop("exp") == begun + 300
    return members


FORM = {"response_type": "code", "client_id": "client", "redirect_uri": REDIRECT, "scope": "openid",
        "code_challenge_method": "S256", "login_hint": "ada@example.com"}  # fmt: skip


def without_random(form: dict, begun: dict) -> dict:
    assert form["state"] == begun["state"] and form["nonce"] == begun["nonce"] and len(form["code_challenge"]) == 43
    return {name: value for name, value in form.items() if name not in ("state", "nonce", "code_challenge")}


@pytest.mark.parametrize("name", ["pushed", "posted", "public", "required"])
def test_a_request_is_pushed_with_the_client_s_authentication(service, endpoint, providers, name):
    endpoint.forget()
    endpoint.play(pushed(), path=PAR)
    before = int(time.time())
    begun = begin(service, name, redirect_uri=REDIRECT, login_hint="ada@example.com", max_age=60)
    assert begun["authorization_url"].startswith(AUTHORIZATION + "&")
    assert parameters(begun) == {"tenant": "1", "client_id": "client", "request_uri": REFERENCE}
    assert before + 60 <= begun["request_expires_at"] <= time.time() + 60
    call = endpoint.last(PAR)
    form = dict(call.form)
    assert call.method == "POST" and call.basic == (("client", SECRET) if name in ("pushed", "required") else None)
    assert form.pop("client_secret", None) == (SECRET if name == "posted" else None)
    assert without_random(form, begun) == FORM | {"max_age": "60"}
    endpoint.play(grant(id_token=providers[name][0].token(nonce=begun["nonce"], auth_time=int(time.time()))))
    response = {"state": begun["state"], "code": "c1"}
    assert service.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response}).status == 200
    assert [call.path for call in endpoint.calls] == [PAR, "/token"]


@pytest.mark.parametrize(("name", "key", "kid"), [("signed", "own", "k1"), ("named", "second", "second"), ("first", "first", "first")])
def test_a_signed_request_is_in_the_url(service, endpoint, providers, keys, name, key, kid):
    endpoint.forget()
    begun = begin(service, name, redirect_uri=REDIRECT, login_hint="ada@example.com", max_age=60)
    outside = parameters(begun)
    members = checked(claims(outside.pop("request"), keys[key], kid), providers[name][0])
    assert outside == {"tenant": "1", "client_id": "client", "response_type": "code", "scope": "openid"}
    # JSON in the settings is a structure in the object (RFC 9101, section 4).
    more = MORE | STRUCTURES if name == "first" else {}
    assert without_random(members, begun) == FORM | {"max_age": 60} | more
    assert begun["request_expires_at"] - time.time() <= 300
    assert not endpoint.calls


@pytest.mark.parametrize(("name", "key", "kid"), [("both", "own", "k1"), ("required_signed", "first", "first")])
@pytest.mark.parametrize("expires_in", [60, 3600])
def test_a_signed_request_is_pushed(service, endpoint, providers, keys, name, key, kid, expires_in):
    endpoint.play(pushed(expires_in=expires_in, status="200 OK"), path=PAR)
    before = int(time.time())
    begun = begin(service, name, redirect_uri=REDIRECT, login_hint="ada@example.com")
    assert parameters(begun) == {"tenant": "1", "client_id": "client", "request_uri": REFERENCE}
    end = min(expires_in, 300)
    assert before + end <= begun["request_expires_at"] <= time.time() + end
    form = dict(endpoint.last(PAR).form)
    assert without_random(checked(claims(form.pop("request"), keys[key], kid), providers[name][0]), begun) == FORM
    assert form.pop("client_id") == "client"
    assert not set(form) - {"client_assertion", "client_assertion_type"}


def test_settings_come_before_the_document(service, endpoint):
    endpoint.forget()
    begun = begin(service, "plain", redirect_uri=REDIRECT)
    assert parameters(begun)["redirect_uri"] == REDIRECT and "request_expires_at" not in begun
    assert not endpoint.calls


def test_nothing_weaker_begins_before_the_document_has_been_read(shared_server, endpoint, tmp_path):
    """The settings name the endpoint, but the document may demand more than a plain request."""
    issuer = shared_server.issuer("requests-unread", ec_key("op"))
    issuer.discovery.status = 503
    entries = [
        with_client(issuer, endpoint, tmp_path, endpoints={"authorization": AUTHORIZATION}, optional=True, clients=[PLAIN]),
        with_client(
            shared_server.issuer("requests-keys", ec_key("op")), endpoint, tmp_path, "keys", clients=[PLAIN],
            endpoints={"authorization": AUTHORIZATION, "token": endpoint.endpoints["token"]}, jwks_uri=issuer.jwks_uri),
    ]  # fmt: skip
    with Service(*entries, **ON) as service:
        service.wait_until_ready()
        refused(service, "oidc", "provider_unavailable")
        # No document is read for this one.
        assert parameters(begin(service, "keys", redirect_uri=REDIRECT))["redirect_uri"] == REDIRECT
    entries[0]["clients"] = [PLAIN | {"request": "plain"}]
    with Service(entries[0], **ON) as service:
        service.wait_until_ready()
        assert parameters(begin(service, redirect_uri=REDIRECT))["redirect_uri"] == REDIRECT


def test_a_template_is_no_audience_of_a_signed_request(shared_server, endpoint, tmp_path):
    issuer = shared_server.issuer("requests-tenants", ec_key("op"))
    issuer.discovery.body = issuer.discovery_document(require_signed_request_object=True, authorization_endpoint=AUTHORIZATION)
    entry = with_client(
        issuer, endpoint, tmp_path, clients=[PLAIN], endpoints={}, discovery_issuer=issuer.url,
        discovery_url=issuer.url + "/.well-known/openid-configuration",
    )  # fmt: skip
    entry["issuer"] = issuer.url + "/{tid}"
    keys = [{"id": "k", "use": "signature", "key_file": key_file(tmp_path, jwk.JWK.generate(kty="EC", crv="P-256"), "k"), "algorithm": "ES256"}]
    with Service(entry, client_keys=keys, **ON) as service:
        service.wait_until_ready()
        assert "differs by tenant" in refused(service, "oidc", "sign_in_not_supported")["detail"]


def test_a_native_sign_in_pushes_nothing(service, endpoint):
    endpoint.forget()
    assert begin(service, "pushed")["authorization_url"] is None
    assert not endpoint.calls


def refused(service, name: str, code: str, error: str | None = None) -> dict:
    response = service.api.post("/v1/sign-ins", {"provider": name, "redirect_uri": REDIRECT})
    problem = client.contract.assert_code(response, code)
    assert problem.get("provider_error") == error and "spent" not in problem
    return problem


@pytest.mark.parametrize(
    ("act", "code", "name"),
    [
        (error("invalid_request"), "provider_refused", "invalid_request"),
        (error("invalid_request_object"), "provider_refused", "invalid_request_object"),
        (error("invalid_grant"), "provider_refused", "invalid_grant"),
        (error("made_up"), "provider_refused", "other"),
        (error("invalid_client", "401 Unauthorized"), "client_rejected", "invalid_client"),
        (answered(b"", "503 Service Unavailable"), "provider_unavailable", None),
        (FAULTS["closed without an answer"].act, "provider_unavailable", None),
        (answered(b"", "302 Found", {"Location": "/"}), "provider_answer_invalid", None),
        (pushed(status="204 No Content"), "provider_answer_invalid", None),
        (pushed(uri=None), "provider_answer_invalid", None),
        (pushed(uri=""), "provider_answer_invalid", None),
        (pushed(uri="urn:a b"), "provider_answer_invalid", None),
        (pushed(uri="u" * 2049), "provider_answer_invalid", None),
        (pushed(expires_in=None), "provider_answer_invalid", None),
        (pushed(expires_in=0), "provider_answer_invalid", None),
        (pushed(expires_in="soon"), "provider_answer_invalid", None),
        (answered(b"[]", "201 Created"), "provider_answer_invalid", None),
    ],
)
def test_nothing_begins_if_the_provider_does_not_take_the_request(service, endpoint, act, code, name):
    endpoint.forget()
    endpoint.play(act, path=PAR)
    refused(service, "pushed", code, name)
    # A refusal is final: a request is pushed once.
    assert endpoint.received(PAR) == 1
    endpoint.heal()


def test_a_provider_without_the_endpoint(service):
    assert "pushed_authorization_request" in refused(service, "nowhere", "sign_in_not_supported")["detail"]


def test_a_document_that_requires_signatures_of_a_client_without_a_key(shared_server, endpoint, tmp_path):
    issuer = shared_server.issuer("requests-keyless", ec_key("op"))
    issuer.discovery.body = issuer.discovery_document(
        require_signed_request_object=True, authorization_endpoint=AUTHORIZATION, token_endpoint=endpoint.endpoints["token"]
    )
    with Service(with_client(issuer, endpoint, tmp_path, "keyless", endpoints={}), **ON) as service:
        service.wait_until_ready()
        assert "client_keys" in refused(service, "keyless", "sign_in_not_supported")["detail"]


def test_a_connection_s_client_authenticates_at_the_begin(shared_server, endpoint, tmp_path):
    issuer = shared_server.issuer("requests-connection", ec_key("op"))
    customer = Connection("acme", issuer, endpoint)
    issuer.discovery.body = issuer.discovery_document(
        authorization_endpoint=AUTHORIZATION, token_endpoint=endpoint.endpoints["token"],
        pushed_authorization_request_endpoint=endpoint.url + PAR, require_pushed_authorization_requests=True,
    )  # fmt: skip
    with Service(entry(tmp_path), **ON) as service:
        endpoint.play(pushed(), path=PAR)
        begun = customer.begun(service, client=POST)
        assert parameters(begun) == {"tenant": "1", "client_id": "client", "request_uri": REFERENCE}
        form = dict(endpoint.last(PAR).form)
        assert form["client_secret"] == POST["secret"] and form["redirect_uri"] == customer.redirect_uri
        service.hides(POST["secret"], form["state"])
        assert "client" in client.contract.assert_code(customer.begin(service), "request_invalid")["detail"]
    with Service(with_client(issuer, endpoint, tmp_path), **ON) as service:
        request = {"provider": "oidc", "redirect_uri": REDIRECT, "client": POST}
        client.contract.assert_code(service.api.post("/v1/sign-ins", request), "request_invalid")


def test_secrets_and_what_the_provider_repeats_are_not_logged(service, endpoint, keys):
    """The provider repeats all that it got; its explanation comes into the log without it."""
    endpoint.forget()

    def repeated(call):
        return {"error": "invalid_request", "error_description": " ".join(["bad:", *call.form.values()])}

    endpoint.play(answered(repeated, "400 Bad Request"), path=PAR)
    request = {"provider": "posted", "redirect_uri": REDIRECT, "login_hint": "ada@example.com"}
    response = service.api.post("/v1/sign-ins", request)
    client.contract.assert_code(response, "provider_refused")
    form = endpoint.last(PAR).form
    service.wait_for(lambda: any("pushed_authorization_request" in line for line in service.log))
    secrets = [form["state"], form["nonce"], form["login_hint"], form["client_secret"], keys["own"].export(as_dict=True)["d"]]
    service.hides(*secrets)
    assert not [secret for secret in secrets if secret.encode() in response.body]


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ({"request": "pulled"}, "request must be one of plain, pushed, signed, signed_pushed"),
        ({"request": "signed"}, "needs key_id and key_file with auth: private_key_jwt, or a key with use: signature"),
        ({"signing_key": "first"}, "signing_key only has an effect with auth: private_key_jwt, or with signed requests"),
    ],
)
def test_settings_that_can_t_work(shared_server, endpoint, tmp_path, client, text):
    entry = with_client(shared_server.issuer("requests-refused"), endpoint, tmp_path, clients=[PLAIN | client])
    result = run(*commands.config_check(write_config(tmp_path, {"providers": [entry]} | ON)))
    assert result.returncode != 0 and text in result.stdout.decode() + result.stderr.decode()
