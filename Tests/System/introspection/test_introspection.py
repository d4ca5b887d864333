"""Opaque access tokens over HTTP: what the provider is asked, what its answer must say, and which token goes where."""

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from requests_oauth2client import DPoPKey

from grants.grants import SECRET
from harness.certificates import certificate
from harness.issuer import KeyServer
from harness.metrics import Metrics
from harness.service import Service, provider
from harness.token_endpoint import ERRORS, FAULTS, INTROSPECTION, TokenEndpoint, answered, error, grant
from harness.tokens import b64url, ec_key, jws, now

from .opaque import API, accepted, active, members, opaque, refused, sha256, token, verify

TIMEOUT = 2


@pytest.fixture(scope="module")
def issuers():
    with KeyServer() as server:
        yield {name: server.issuer(name, ec_key(name)) for name in ("op", "jwt", "strict", "scoped", "bound")}


@pytest.fixture(scope="module")
def service(endpoint, issuers, tmp_path_factory):
    directory = tmp_path_factory.mktemp("clients")
    providers = [
        opaque(issuers["op"], endpoint, directory, clock_skew="5s"),
        provider(issuers["op"]),
        provider(issuers["jwt"], "jwt", tokens="access", audiences=[API]),
        opaque(issuers["jwt"], endpoint, directory, "jwt-opaque"),
        opaque(issuers["strict"], endpoint, directory, "strict", audiences="none", authorized_parties=["app"],
               max_token_age="1h", required_claims=["tenant"], claim_values={"tenant": "a"}),
        opaque(issuers["scoped"], endpoint, directory, "scoped", audiences="none", required_scopes=["orders:read"]),
        opaque(issuers["bound"], endpoint, directory, "bound", binding="any"),
    ]  # fmt: skip
    with Service(*providers, limits={"provider_timeout": f"{TIMEOUT}s"}, dpop={}) as running:
        running.wait_until_ready()
        yield running


@pytest.fixture(autouse=True)
def healed(endpoint):
    endpoint.usually(active(), INTROSPECTION)
    yield
    endpoint.heal()


def asked(endpoint) -> int:
    return endpoint.received(INTROSPECTION)


def test_the_answer_is_that_for_a_jwt_without_what_only_a_jwt_has(service, endpoint, issuers):
    endpoint.always(
        active(roles=["clerk"], groups=["staff"], email="a@example.com", jti="j1", nbf=now() - 5, iss=issuers["op"].url),
        INTROSPECTION,
    )
    answer = accepted(service, scopes=["orders:read"], include_claims=True)
    assert answer["identity"]["subject"] == "user-1"
    assert (answer["identity"]["provider"], answer["identity"]["issuer"]) == ("legacy", issuers["op"].url)
    assert answer["identity"]["email"] == "a@example.com"
    assert answer["authorization"] == {
        "client_id": "app", "scopes": ["orders:read", "openid"], "roles": ["clerk"], "groups": ["staff"], "entitlements": [],
        "binding": None,
    }  # fmt: skip
    assert (answer["token"]["algorithm"], answer["token"]["key_id"], answer["keys"]) == (None, None, None)
    assert (answer["token"]["audience"], answer["token"]["token_id"]) == ([API], "j1")
    assert answer["introspection"] == {"cached": False, "age_seconds": 0}
    assert answer["claims"]["active"] is True


def test_the_question_names_the_token_and_the_client(service, endpoint):
    text = token()
    accepted(service, text)
    call = endpoint.last(INTROSPECTION)
    assert (call.method, call.form) == ("POST", {"token": text, "token_type_hint": "access_token"})
    assert call.basic == ("api-client", SECRET)
    assert call.headers["accept"] == "application/json"


def test_without_a_cache_each_request_asks(service, endpoint):
    text = token()
    accepted(service, text)
    accepted(service, text)
    assert asked(endpoint) == 2


def test_an_inactive_token_costs_one_question_in_five_seconds(service, endpoint):
    endpoint.always(answered({"active": False, "sub": 7}), INTROSPECTION)
    text = token()
    for _ in range(3):
        refused(verify(service, text), "token_inactive")
    refused(verify(service), "token_inactive")
    assert asked(endpoint) == 2
    page = Metrics(service.admin.get("/metrics").text)
    assert page.value("assay_introspections_total", provider="legacy", source="cache") >= 2


MISTYPED = {
    "active missing": ({"active": None}, "active"),
    "active a text": ({"active": "true"}, "active"),
    "active a number": ({"active": 1}, "active"),
    "exp a text": ({"exp": "soon"}, "exp"),
    "nbf a text": ({"nbf": "1"}, "nbf"),
    "iat a list": ({"iat": [1]}, "iat"),
    "iss a number": ({"iss": 1}, "iss"),
    "sub a number": ({"sub": 1}, "sub"),
    "aud a number": ({"aud": 1}, "aud"),
    "aud with a number": ({"aud": [API, 1]}, "aud"),
    "client_id a list": ({"client_id": ["app"]}, "client_id"),
    "scope an object": ({"scope": {}}, "scope"),
    "token_type a number": ({"token_type": 1}, "token_type"),
    "DPoP without cnf": ({"token_type": "DPoP"}, "jkt"),
    "DPoP without jkt": ({"token_type": "dpop", "cnf": {"x5t#S256": "x"}}, "jkt"),
}


@pytest.mark.parametrize("name", MISTYPED)
def test_a_mistyped_member_is_the_provider_s_fault_and_named(service, endpoint, name):
    changes, member = MISTYPED[name]
    endpoint.always(active(**changes), INTROSPECTION)
    assert f"{member} " in refused(verify(service), "provider_answer_invalid")["detail"].replace(",", " ")


REFUSED = {
    "expired": ({"exp": lambda: now() - 60}, "token_expired", None),
    "not yet valid": ({"nbf": lambda: now() + 60}, "token_not_yet_valid", None),
    "issued in the future": ({"iat": lambda: now() + 60}, "token_not_yet_valid", None),
    "of another issuer": ({"iss": "https://other.example"}, "issuer_mismatch", None),
    "for another API": ({"aud": "https://other.example"}, "audience_mismatch", None),
    "without aud": ({"aud": None}, "claim_missing", "aud"),
    "with cnf that is no object": ({"cnf": "x"}, "claim_invalid", "cnf"),
    "with an empty cnf": ({"cnf": {}}, "binding_required", None),
    "bound to a certificate": ({"cnf": {"x5t#S256": "x" * 43}}, "binding_required", None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_active_token_is_refused_as_a_jwt_would_be(service, endpoint, name):
    changes, code, claim = REFUSED[name]
    made = {member: value() if callable(value) else value for member, value in changes.items()}
    endpoint.always(active(**made), INTROSPECTION)
    refused(verify(service), code, claim)


def test_what_rfc_7662_makes_optional_may_be_absent_null_or_empty(service, endpoint):
    absent = ("exp", "iat", "nbf", "iss", "sub", "client_id", "scope", "token_type")
    for nothing in ({}, dict.fromkeys(absent), dict.fromkeys(absent, "")):
        endpoint.always(answered({"active": True, "aud": [API]} | nothing), INTROSPECTION)
        answer = accepted(service)
        assert (answer["identity"], answer["token"]["expires_at"], answer["token"]["issued_at"]) == (None, None, None)
        assert (answer["authorization"]["client_id"], answer["authorization"]["scopes"]) == (None, [])
        refused(verify(service, subject="user-1"), "subject_mismatch")
        refused(verify(service, authenticated_after=now()), "claim_missing", "iat")


def test_the_request_s_own_conditions_are_checked(service, endpoint):
    accepted(service, subject="user-1", audience=API, scopes=["openid"])
    refused(verify(service, subject="user-2"), "subject_mismatch")
    refused(verify(service, scopes=["orders:write"]), "scope_missing")
    refused(verify(service, authenticated_after=now() + 3600), "session_revoked")
    before = asked(endpoint)
    refused(verify(service, audience="https://other.example"), "audience_not_configured")
    assert asked(endpoint) == before


def test_without_audiences_client_or_scopes_tie_the_token_to_the_api(service, endpoint):
    endpoint.always(active(aud=None, tenant="a"), INTROSPECTION)
    accepted(service, provider="strict")
    accepted(service, provider="scoped")
    endpoint.always(active(tenant="a"), INTROSPECTION)
    refused(verify(service, provider="strict"), "audience_mismatch")
    refused(verify(service, provider="scoped"), "audience_mismatch")
    for changes in ({"client_id": "other"}, {"client_id": None}):
        endpoint.always(active(aud=None, tenant="a", **changes), INTROSPECTION)
        refused(verify(service, provider="strict"), "authorized_party_mismatch")
    endpoint.always(active(aud=None, scope="orders:write"), INTROSPECTION)
    refused(verify(service, provider="scoped"), "scope_missing")
    endpoint.always(active(aud=None, tenant="b"), INTROSPECTION)
    refused(verify(service, provider="strict"), "claim_invalid", "tenant")
    endpoint.always(active(aud=None), INTROSPECTION)
    refused(verify(service, provider="strict"), "claim_missing", "tenant")
    endpoint.always(active(aud=None, tenant="a", iat=now() - 7200), INTROSPECTION)
    refused(verify(service, provider="strict"), "token_too_old")
    endpoint.always(active(aud=None, tenant="a", iat=None), INTROSPECTION)
    refused(verify(service, provider="strict"), "claim_missing", "iat")


def test_a_proof_proves_the_key_of_an_opaque_token(service, endpoint):
    key, text = DPoPKey.generate(alg="ES256"), token()
    endpoint.always(active(token_type="DPoP", cnf={"jkt": key.dpop_jkt}), INTROSPECTION)
    url = "https://api.example/orders"

    def proof(of: str = text) -> dict:
        return {"proof": str(key.proof(htm="GET", htu=url, ath=sha256(of))), "method": "GET", "url": url, "scheme": "DPoP"}

    shown = proof()
    answer = accepted(service, text, dpop=shown)
    assert answer["authorization"]["binding"] == {"method": "dpop", "thumbprint": key.dpop_jkt}
    refused(verify(service, text, dpop=shown), "dpop_proof_replayed")
    refused(verify(service, text), "binding_required")
    refused(verify(service, text, dpop=proof("another token")), "dpop_proof_invalid")
    endpoint.always(active(), INTROSPECTION)
    refused(verify(service, text, dpop=proof()), "binding_missing")
    refused(verify(service, text, provider="bound"), "binding_missing")


def test_a_certificate_proves_the_key_of_an_opaque_token(service, endpoint):
    pem = certificate(ec_key("client"))
    thumbprint = b64url(x509.load_pem_x509_certificate(pem.encode()).fingerprint(hashes.SHA256()))
    endpoint.always(active(cnf={"x5t#S256": thumbprint}), INTROSPECTION)
    answer = accepted(service, provider="bound", certificate=pem)
    assert answer["authorization"]["binding"] == {"method": "certificate", "thumbprint": thumbprint}
    refused(verify(service, certificate="A" * 43), "binding_mismatch")


# Whose token goes where.


def nobody_is_asked(endpoint) -> None:
    assert asked(endpoint) == 0


def test_an_opaque_token_without_a_provider_is_sent_to_nobody(service, endpoint):
    problem = refused(verify(service, provider=None), "provider_unknown")
    assert "opaque" in problem["detail"]
    refused(verify(service, provider="jwt"), "token_malformed")
    refused(verify(service, provider="oidc"), "provider_unknown")
    refused(service.api.post("/v1/verify", {"id_token": token(), "provider": "legacy"}), "provider_unknown")
    nobody_is_asked(endpoint)


@pytest.mark.parametrize("text", ["", " ", "a b", "a\nb", "ä", "a,b", "=", "a=b", "a" * 16385, "a\u0000"])
def test_what_is_no_bearer_token_is_sent_to_nobody(service, endpoint, text):
    refused(verify(service, text), "token_malformed")
    nobody_is_asked(endpoint)


@pytest.mark.parametrize("text", ["a", "a" * 16384, "a-._~+/9==", "a.b", "a.b.c", "v2.local.abc", "..", "a.b.c.d.e"])
def test_every_bearer_token_that_is_no_jwt_is_asked_about(service, endpoint, text):
    accepted(service, text)
    assert endpoint.last(INTROSPECTION).form["token"] == text


def test_a_long_token_is_asked_about_where_the_settings_allow_it(endpoint, issuers, tmp_path):
    with Service(opaque(issuers["op"], endpoint, tmp_path), limits={"max_token": "48KiB"}) as service:
        service.wait_until_ready()
        longest = "a" * 48 * 1024
        accepted(service, longest)
        assert endpoint.last(INTROSPECTION).form["token"] == longest
        endpoint.forget()
        refused(verify(service, longest + "a"), "token_malformed")
        nobody_is_asked(endpoint)


def test_a_jwt_of_a_jwt_entry_is_never_asked_about(service, endpoint, issuers):
    good = jws(issuers["jwt"].keys[0], issuers["jwt"].claims(aud=API, client_id="app", jti="1"), typ="at+jwt")
    assert verify(service, good, provider=None).status == 200
    expired = jws(issuers["jwt"].keys[0], issuers["jwt"].claims(aud=API, client_id="app", jti="1", exp=now() - 3600), typ="at+jwt")
    for text in (good, expired, issuers["jwt"].token(), good[:-8] + "AAAAAAAA"):
        # Neither by the entry of the same issuer, nor by another one's.
        refused(verify(service, text, provider="jwt-opaque"), "issuer_mismatch")
        refused(verify(service, text, provider="legacy"), "issuer_mismatch")
    refused(verify(service, expired, provider=None), "token_expired")
    nobody_is_asked(endpoint)


def test_a_jwt_goes_to_its_own_issuer_only(service, endpoint, issuers):
    own = jws(issuers["op"].keys[0], issuers["op"].claims(aud=API))
    accepted(service, own)
    accepted(service, own, provider=None)
    assert asked(endpoint) == 2
    refused(verify(service, own, provider="strict"), "issuer_mismatch")
    stranger = jws(ec_key("x"), {"iss": "https://stranger.example", "sub": "a"})
    refused(verify(service, stranger), "issuer_mismatch")
    refused(verify(service, stranger, provider=None), "provider_unknown")
    assert asked(endpoint) == 2


def test_a_jwt_that_can_t_be_read_is_sent_to_nobody(service, endpoint, issuers):
    good = jws(issuers["jwt"].keys[0], issuers["jwt"].claims(aud=API))
    header, payload, signature = good.split(".")
    doubled = b64url(b'{"iss":"a","iss":"b"}')
    for text in (f"{header}.{doubled}.{signature}", f"{header}=.{payload}.{signature}", f"{header}..", f"{header}.x.{signature}"):
        refused(verify(service, text), "token_malformed")
    nobody_is_asked(endpoint)


# Answers that are none.


ANSWERS = {
    "status 401 without a body": (answered(b"", "401 Unauthorized"), "client_rejected"),
    "status 401 with an error": (error("invalid_client", "401 Unauthorized"), "client_rejected"),
    "status 401 with a page": (answered(b"<html>", "401 Unauthorized"), "client_rejected"),
    "status 403": (answered({}, "403 Forbidden"), "provider_answer_invalid"),
    "status 404": (answered(b"", "404 Not Found"), "provider_answer_invalid"),
    "status 302": (answered(b"", "302 Found", {"Location": "/introspect"}), "provider_answer_invalid"),
    "status 429": (answered({}, "429 Too Many Requests"), "provider_unavailable"),
    "status 500": (answered({"active": True}, "500 Internal Server Error"), "provider_unavailable"),
    "status 503": (answered(b"", "503 Service Unavailable"), "provider_unavailable"),
    "status 201": (answered({"active": True}, "201 Created"), "provider_answer_invalid"),
    "no body": (answered(b""), "provider_answer_invalid"),
    "an empty object": (answered({}), "provider_answer_invalid"),
    "an array": (answered([{"active": True}]), "provider_answer_invalid"),
    "a page": (answered(b"<html>", headers={"Content-Type": "text/html"}), "provider_answer_invalid"),
    "active twice": (answered(b'{"active":false,"active":true}'), "provider_answer_invalid"),
    "bad UTF-8": (answered(b'{"active":true,"sub":"\xff"}'), "provider_answer_invalid"),
    "a body over 64 KiB": (answered({"active": True, "padding": "x" * (64 << 10)}), "provider_answer_invalid"),
    "a grant": (grant(), "provider_answer_invalid"),
    "a JWT of another type": (answered(b"e30.e30.AA", headers={"Content-Type": "application/jwt"}), "provider_answer_invalid"),
    **{
        f"error {name}": (error(name), "provider_refused" if code == "grant_invalid" else code)
        for name, code in ERRORS.items()
    },
}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_that_says_nothing_becomes_its_code(service, endpoint, name):
    act, code = ANSWERS[name]
    endpoint.always(act, INTROSPECTION)
    text = token()
    refused(verify(service, text), code)
    # Nothing of it is remembered.
    refused(verify(service, text), code)
    assert asked(endpoint) == 2


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in ("endless headers", "endless header")])
def test_every_fault_becomes_its_code(service, endpoint, name):
    row = FAULTS[name]
    endpoint.play(row.act, path=INTROSPECTION)
    refused(verify(service), row.code)


def test_nobody_is_reached(service, issuers, tmp_path):
    with TokenEndpoint() as gone:
        gone.refuse_connections()
        with Service(opaque(issuers["op"], gone, tmp_path)) as running:
            running.wait_until_ready()
            refused(verify(running), "provider_unavailable")


def test_the_secret_and_the_tokens_are_nowhere(service, endpoint):
    text = token()
    endpoint.play(error("invalid_client", "401 Unauthorized", error_description=f"no {SECRET} for {text}"), path=INTROSPECTION)
    problem = refused(verify(service, text), "client_rejected")
    accepted(service, text)
    service.hides(text, SECRET, members()["sub"])
    everything = str(problem) + service.admin.get("/metrics").text
    for secret in (text, SECRET):
        assert secret not in everything
