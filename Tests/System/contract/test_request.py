"""The request to `POST /v1/verify`: its members, its JSON, its content type, methods and paths."""

import json

import pytest

from harness.contract import assert_code
from harness.tokens import jws


def post(service, body: bytes | str, path: str = "/v1/verify", **headers):
    return service.api.post(path, body.encode() if isinstance(body, str) else body, headers)


# Members. `Tests/VerificationTests/VerifyRequestTests.swift` tests every member and type.


@pytest.mark.parametrize("request_body", [{}, {"id_token": "x", "max_age": "60"}, {"id_token": "x", "nonse": "x"}], ids=json.dumps)
def test_missing_misspelt_or_mistyped_members_are_invalid(service, request_body):
    assert_code(service.api.post("/v1/verify", request_body), "request_invalid")


def test_a_null_member_counts_as_absent_except_the_nonce(service, apple):
    """Backends forward what they receive, and only the first sign-in with Apple has a user object."""
    names = ("provider", "audience", "max_age", "access_token", "code", "user", "include_claims")
    absent = service.verify(apple.token()).json
    for members in ({name: None for name in names}, {"user": {"name": None, "email": None}}):
        answer = service.accept(apple.token(), **members)
        assert answer["identity"] == absent["identity"] and answer.keys() == absent.keys()
    item = {"id_token": apple.token()} | dict.fromkeys(names)
    results = service.api.post("/v1/verify/batch", {"items": [item, item | {"nonce": None}]}).json["results"]
    assert "identity" in results[0]
    problem = results[1]["error"]
    assert problem["code"] == "request_invalid" and problem["detail"].startswith("nonce must not be null"), problem


def test_a_problem_names_the_member_or_the_position(service, oidc):
    def detail(body, path="/v1/verify"):
        return assert_code(service.api.post(path, body), "request_invalid")["detail"]

    token = oidc.token()
    assert 'unknown member "nonse";' in detail({"id_token": token, "nonse": "s3cret"})
    item = {"items": [{"id_token": token, "user": {"name": {"middleName": "x"}}}]}
    problem = service.api.post("/v1/verify/batch", item).json["results"][0]["error"]
    assert 'user.name has an unknown member "middleName";' in problem["detail"]
    assert 'unknown member "more";' in detail({"items": [], "more": 1}, "/v1/verify/batch")
    # The name may be a misplaced token, so it is not shown.
    text = detail({token: "id_token"})
    assert f"a name of {len(token)} bytes" in text and not any(part in text for part in token.split("."))
    assert "syntax error at byte offset 12 (line 2, column 11)" in detail(b'{\n"id_token"="x"}')
    assert "ends too early, at byte offset 13 (line 1, column 14)" in detail(b'{"id_token":5', "/v1/verify/batch")
    assert detail(b"") == "The body is empty; send one JSON object."


@pytest.mark.parametrize("text", ["60.0", "6e1", "1e18"])
def test_a_max_age_written_as_a_real_number_never_disables_the_check(service, oidc, text):
    """JSON Schema treats 60.0 as an integer, and many parsers do not."""
    body = json.dumps({"id_token": oidc.token(auth_time=1)})[:-1] + f',"max_age":{text}}}'
    response = post(service, body)
    assert response.code in ("request_invalid", "auth_time_too_old") or text == "1e18", response


def test_a_duplicate_member_is_invalid_even_if_escaped(service, oidc):
    token = oidc.token(nonce="a")
    for twin in ('"nonce":"b"', '"nonce":"a"', '"\\u006eonce":"b"', '"nonc\\u0065":"a"', '"id_token":"x"'):
        assert_code(post(service, f'{{"id_token":"{token}","nonce":"a",{twin}}}'), "request_invalid")
    body = f'{{"id_token":"{token}","nonce":"a","user":{{"name":{{"firstName":"A","firstName":"B"}}}}}}'
    assert_code(post(service, body), "request_invalid")


def test_escaped_names_and_values_are_decoded(service, oidc):
    token = oidc.token(nonce="é/\n")
    body = f'\n\t{{ "id\\u005ftoken" : "{token}" ,\r\n "nonce":"\\u00e9\\/\\n" }} '
    assert post(service, body).status == 200


# JSON


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'{"id_token":"x"', b'{"id_token":"x"}{}', b"{'id_token':'x'}", b'\xef\xbb\xbf{"id_token":"x"}', b'{"id_token":"\x80"}'],
)
def test_a_body_that_is_not_one_strict_json_object_is_invalid(service, body):
    assert_code(post(service, body), "request_invalid")


@pytest.mark.parametrize(
    "member, code",
    [("id_token", "token_malformed"), ("nonce", "nonce_mismatch"), ("provider", "provider_unknown"),
     ("code", "c_hash_missing")],
)
def test_a_nul_does_not_end_a_string(service, oidc, member, code):
    token = oidc.token(nonce="MARK")
    body = json.dumps({"id_token": token, "nonce": "MARK"} | {member: "MARK\0"})
    assert_code(post(service, body), code)


@pytest.mark.parametrize("depth", [2049, 15_000])
def test_deep_nesting_is_invalid(service, depth):
    for text in ("[" * depth + "]" * depth, '{"a":' * (depth // 3) + "1" + "}" * (depth // 3), "[" * (2 * depth)):
        assert_code(post(service, '{"id_token":' + text + "}"), "request_invalid")


def test_unusual_json_bodies_are_invalid(service):
    for body in ("[" + "1," * 20_000 + "1]", '{"a":' + "9" * 60_000 + "}", " " * 60_000, '"' + "x" * 60_000 + '"'):
        assert_code(post(service, body), "request_invalid")
    many = "{" + ",".join(f'"m{n}":1' for n in range(5000)) + "}"
    assert len(many) < 65536
    assert_code(post(service, many), "request_invalid")


# provider and audience


def test_a_provider_that_is_not_configured_is_unknown(service, oidc):
    for name in ("nobody", "OIDC", "oidc ", "", "../oidc", "apple\n"):
        codes = ["provider_unknown"] + (["request_invalid"] if name in ("", "apple\n") else [])
        assert_code(service.verify(oidc.token(), provider=name), *codes)


def test_an_issuer_that_is_not_configured_is_unknown(service, oidc):
    problem = service.reject(oidc.token(iss="https://unknown.example.com"), "provider_unknown")
    assert "unknown.example.com" not in json.dumps(problem)


def test_a_request_may_narrow_the_audience(service, oidc):
    service.accept(oidc.token(aud="client"), audience="client")
    service.accept(oidc.token(aud="other-client"), audience="other-client")
    service.reject(oidc.token(aud="other-client"), "audience_mismatch", audience="client")
    service.reject(oidc.token(aud="client"), "audience_mismatch", audience="other-client")


def test_a_request_cannot_widen_the_audience(service, world, oidc):
    for audience in ("stranger", "", "Client", "client "):
        codes = ["audience_not_configured"] + (["request_invalid"] if audience == "" else [])
        service.reject(oidc.token(aud="stranger"), *codes, audience=audience)
        service.reject(oidc.token(), *codes, audience=audience)
    service.reject(world["trusting"].token(aud=["client", "partner"]), "audience_not_configured", audience="partner")


def test_a_malformed_token_is_refused_for_its_form(service):
    service.reject("not a token", "token_malformed", provider="oidc")
    service.reject("not a token", "provider_unknown", "token_malformed", provider="nobody")


# content type, methods, paths


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"'],
)
def test_json_is_accepted_with_and_without_parameters(service, oidc, content_type):
    body = json.dumps({"id_token": oidc.token()})
    assert post(service, body, **{"Content-Type": content_type}).status == 200


def test_a_body_with_a_content_encoding_is_unsupported(service):
    assert_code(post(service, b"\x1f\x8b\x08", **{"Content-Encoding": "gzip"}), "content_type_unsupported")


def test_a_method_cannot_be_overridden(service, oidc):
    body = json.dumps({"id_token": oidc.token()}).encode()
    for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        assert_code(service.api.request("GET", "/v1/verify", None, {name: "POST"}), "method_not_allowed")
        assert service.api.request("POST", "/v1/verify", body, {name: "GET"}).status == 200


@pytest.mark.parametrize("path", ["/", "/v1/verify/x", "/v1/verify%20", "/v1/../v1/verify", "/metrics", "/v1/providers/oidc/refresh"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_path_is_not_found(service, path, method):
    assert_code(service.api.request(method, path, b"{}" if method == "POST" else None), "not_found")


# A path of each feature that is off here, and the setting that its answer names.
FEATURES = {
    "/v1/sign-ins": "sign_ins",
    "/v1/sign-ins/finish": "sign_ins",
    "/v1/grants/refresh": "clients",
    "/v1/grants/revoke": "clients",
    "/v1/notifications/verify": "notifications",
    "/v1/access-tokens/verify": "tokens: access",
    "/v1/forward-auth/api": "forward_auth",
}


@pytest.mark.parametrize("path", FEATURES)
def test_a_path_of_a_feature_that_is_off_names_its_setting(service, path):
    for method in ("POST", "GET", "PURGE"):
        answer = service.api.request(method, path, b"{}" if method == "POST" else None)
        assert_code(answer, "not_found")
        assert FEATURES[path] in answer.json["detail"]
    assert not any(word in service.api.get("/nowhere").json["detail"] for word in FEATURES.values())


def test_the_nearest_provider_is_suggested(service, oidc):
    answer = service.api.post("/v1/verify", {"id_token": oidc.token(), "provider": "odic"})
    assert_code(answer, "provider_unknown")
    assert "the nearest is oidc;" in answer.json["detail"]
    other = service.api.post("/v1/verify", {"id_token": oidc.token(), "provider": "facebook"})
    assert_code(other, "provider_unknown")
    assert "nearest" not in other.json["detail"]


def test_a_query_has_no_effect(service, oidc):
    body = json.dumps({"id_token": oidc.token()})
    assert post(service, body, "/v1/verify?include_claims=true").status in (200, 404)
    assert service.api.get("/livez?verbose").status == 200


def test_the_request_is_checked_before_its_token(service, oidc):
    assert_code(service.verify("not a token", nonce=""), "request_invalid")
    assert_code(
        service.verify("not a token", audience="stranger", provider="oidc"),
        "audience_not_configured",
        "token_malformed",
    )
    assert_code(service.verify(jws(oidc.keys[0], b"[]"), nonse="x"), "request_invalid")
