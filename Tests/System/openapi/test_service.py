"""The service agrees with openapi.yaml: examples, bounds, listeners and methods."""

import json
import re

import pytest

from harness.contract import assert_code
from harness.issuer import KeyServer
from harness.service import Service
from harness.token_endpoint import grant
from harness.tokens import b64url, jws, now, parts, unb64url
from openapi.documented import FILE, METHODS, document
from openapi.example_service import ExampleService

TIMES = ("iat", "exp", "auth_time")
verify = document().operation("verify")
batch = document().operation("verifyBatch")
explain = document().operation("explain")
begin = document().operation("beginSignIn")
finish = document().operation("finishSignIn")
notification = document().operation("verifyNotification")
access_token = document().operation("verifyAccessToken")


def renewed(request: dict, examples, **changes: str) -> tuple[dict, int]:
    """An example's request with its token reissued now, and how many seconds that is after the original."""
    header, payload, _ = parts(request["id_token"])
    header, claims = json.loads(unb64url(header)), json.loads(unb64url(payload))
    shift = now() - 5 - claims["iat"]
    claims |= {name: claims[name] + shift for name in TIMES if name in claims} | changes
    return request | {"id_token": jws(examples.issuer_with_key(header["kid"]).keys[0], claims, header=header)}, shift


def later(answer: dict, shift: int) -> dict:
    """An example's answer with shifted token times."""

    def moved(members: dict, names) -> dict:
        return members | {name: members[name] + shift for name in names if members.get(name) is not None}

    answer = answer | {"token": moved(answer["token"], ("issued_at", "expires_at", "not_before", "auth_time"))}
    return answer | ({"claims": moved(answer["claims"], TIMES)} if "claims" in answer else {})


@pytest.mark.parametrize("name", explain.request.examples)
def test_the_example_of_an_explanation_is_accurate(name, examples):
    request, _ = renewed(explain.request.examples[name], examples)
    response = examples.service.admin.post("/v1/explain", request)
    assert response.status == 200, response
    expected = explain.responses[200].content.examples[name]
    for member in ("valid", "provider", "code", "summary", "likely_cause"):
        assert response.json[member] == expected[member]
    for part in ("header", "claims"):
        names = [each["name"] for each in expected["token"][part]]
        members = [timeless(each | {"masked": ""}) for each in response.json["token"][part] if each["name"] in names]
        assert members == [timeless(each | {"masked": ""}) for each in expected["token"][part]]
    # The example has a few of the checks, and of the claims.
    names = [check["name"] for check in expected["checks"]]
    checks = [timeless(check) for check in response.json["checks"] if check["name"] in names]
    assert checks == [timeless(check) for check in expected["checks"]]


def timeless(check: dict) -> dict:
    """A check without the times in its text."""
    dates = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d+( s)?\b"
    return {name: re.sub(dates, "…", value or "") for name, value in check.items()}


def without_keys(answer: dict) -> dict:
    """An answer without the members that depend on when the keys were fetched."""
    return {name: value for name, value in answer.items() if name != "keys"}


@pytest.mark.parametrize("name", verify.request.examples)
def test_the_examples_of_verify_are_accurate(name, api, examples):
    request, shift = renewed(verify.request.examples[name], examples)
    response = api.post("/v1/verify", request)
    assert response.status == 200, response
    expected = later(verify.responses[200].content.examples[name], shift)
    assert without_keys(response.json) == without_keys(expected)


@pytest.mark.parametrize("name", begin.request.examples)
def test_the_examples_of_begin_have_the_right_members(name, api):
    response = api.post("/v1/sign-ins", begin.request.examples[name])
    assert response.status == 201, response
    expected = begin.responses[201].content.examples[name]
    assert {member: value is None for member, value in response.json.items()} == {
        member: value is None for member, value in expected.items()
    }


def test_the_example_of_a_native_finish_is_accurate(api, examples):
    name = "google"
    expected = finish.responses[200].content.examples[name]
    begun = api.post("/v1/sign-ins", {"provider": expected["identity"]["provider"], "context": expected["context"]}).json
    request, shift = renewed(finish.request.examples[name], examples, nonce=begun["nonce"])
    response = api.post("/v1/sign-ins/finish", request | {"sign_in": begun["sign_in"]})
    assert response.status == 200, response
    assert without_keys(response.json) == without_keys(later(expected, shift))


def test_the_example_of_a_finish_in_the_browser_is_accurate(api, examples):
    request, expected = finish.request.examples["browser"], finish.responses[200].content.examples["browser"]
    begun = api.post("/v1/sign-ins", begin.request.examples["browser"]).json
    granted = expected["grant"]
    token, shift = renewed({"id_token": granted["id_token"]}, examples, nonce=begun["nonce"])
    members = {name: granted[name] for name in ("access_token", "token_type", "refresh_token")} | token
    examples.endpoint.play(grant(**members, expires_in=None, scope=" ".join(granted["scopes"])))
    response = request["response"] | {"state": begun["state"]}
    response = api.post("/v1/sign-ins/finish", request | {"sign_in": begun["sign_in"], "response": response})
    assert response.status == 200, response
    expected["grant"] = granted | token | {"expires_at": None}
    assert without_keys(response.json) == without_keys(later(expected, shift))


@pytest.mark.parametrize("name", notification.request.examples)
def test_the_examples_of_notifications_are_accurate(name, api, examples):
    sent, shift = renewed({"id_token": notification.request.examples[name]["payload"]}, examples)
    response = api.post("/v1/notifications/verify", {"payload": sent["id_token"]})
    assert response.status == 200, response
    expected = notification.responses[200].content.examples[name]
    expected["notification"]["issued_at"] += shift
    assert without_keys(response.json) == without_keys(expected)


@pytest.mark.parametrize("name", access_token.request.examples)
def test_the_example_of_an_access_token_is_accurate(name, api, examples):
    request = access_token.request.examples[name]
    sent, shift = renewed({"id_token": request["token"]}, examples)
    response = api.post("/v1/access-tokens/verify", request | {"token": sent["id_token"]})
    assert response.status == 200, response
    expected = later(access_token.responses[200].content.examples[name], shift)
    assert without_keys(response.json) == without_keys(expected)


@pytest.mark.parametrize("name", batch.request.examples)
def test_the_example_of_a_batch_is_accurate(name, api, examples):
    renewals = [renewed(item, examples) for item in batch.request.examples[name]["items"]]
    response = api.post("/v1/verify/batch", {"items": [item for item, _ in renewals]})
    assert response.status == 200, response
    expected = batch.responses[200].content.examples[name]["results"]
    assert len(response.json["results"]) == len(expected)
    for result, example, (_, shift) in zip(response.json["results"], expected, renewals, strict=True):
        if "error" in example:
            assert result == {"error": example["error"] | {"request_id": response.header("X-Request-Id")}}
        else:
            assert without_keys(result) == without_keys(later(example, shift))


@pytest.mark.parametrize("name", verify.request.examples)
def test_the_examples_tokens_are_valid_up_to_their_signature(name, api):
    request = verify.request.examples[name]
    header, payload, signature = parts(request["id_token"])
    assert b64url(unb64url(signature)) == signature and len(unb64url(signature)) == 256
    # The key that signed it was discarded. The service's key has the same ID.
    assert_code(api.post("/v1/verify", request), "signature_invalid")


def test_the_document_is_served_unchanged(api):
    response = api.get("/openapi.yaml")
    assert response.status == 200
    assert response.body == FILE.read_bytes()


def strings():
    """Every string member of a verify request with a maximum length: (path, shortest, longest)."""

    def within(schema: str, path: tuple):
        for name in document()[schema]["properties"]:
            place = document().present(f"{schema}/properties/{name}")
            member = document()[place]
            # Names of claims are free.
            if "properties" in member:
                yield from within(place, (*path, name))
            elif "maxLength" in member:
                yield (*path, name), member.get("minLength", 0), member["maxLength"]

    return list(within("/components/schemas/VerifyRequest", ()))


def request_with(path: tuple, value) -> bytes:
    """A request with a malformed token, so that `token_malformed` shows that the request itself is valid."""
    for name in reversed(path):
        value = {name: value}
    # An issuer is allowed only together with a subject, and a connection only with its issuer and audience.
    beside = {"subject": "s"} if "issuer" in value else {}
    if "connection" in value:
        beside = {"provider": "p", "issuer": "https://a.example", "audience": "a"}
    return json.dumps({"id_token": "a.b"} | beside | value, ensure_ascii=False).encode()


@pytest.mark.parametrize("path,shortest,longest", [pytest.param(*entry, id=".".join(entry[0])) for entry in strings()])
@pytest.mark.parametrize("character", ["x", "é", "\U0001f600"])
def test_strings_have_the_documented_length_in_code_points(path, shortest, longest, character, api):
    lengths = {shortest, longest} if longest * len(character.encode()) < 60_000 else {shortest}
    for length in lengths:
        response = api.post("/v1/verify", request_with(path, character * length))
        assert_code(response, "token_malformed", "provider_unknown")
    wrong = {length + 1 for length in lengths if length == longest} | {shortest - 1} - {-1}
    assert wrong
    for length in wrong:
        assert_code(api.post("/v1/verify", request_with(path, character * length)), "request_invalid")


@pytest.mark.parametrize("name", document()["/components/schemas/VerifyRequest/properties"])
def test_members_may_be_null_as_documented(name, api):
    may_be_null = "null" in document().types(f"/components/schemas/VerifyRequest/properties/{name}")
    # Its presence alone needs a connection.
    if name == "email_domains":
        may_be_null = False
    response = api.post("/v1/verify", request_with((name,), None))
    assert_code(response, "token_malformed" if may_be_null else "request_invalid")


def test_max_age_has_the_documented_range(api):
    member = document()["/components/schemas/VerifyRequest/properties/max_age"]
    for seconds in (member["minimum"], member["maximum"]):
        response = api.post("/v1/verify", request_with(("max_age",), seconds))
        assert_code(response, "token_malformed")
    for seconds in (member["minimum"] - 1, member["maximum"] + 1, 60.0, 1e3, "60", True):
        response = api.post("/v1/verify", request_with(("max_age",), seconds))
        assert_code(response, "request_invalid")


def test_a_batch_has_the_documented_number_of_items(api):
    items = document()["/components/schemas/BatchRequest/properties/items"]
    for count in (items["minItems"], items["maxItems"]):
        response = api.post("/v1/verify/batch", {"items": [{"id_token": "a.b"}] * count})
        assert response.status == 200, response
        assert [result["error"]["code"] for result in response.json["results"]] == ["token_malformed"] * count
    for count in (items["minItems"] - 1, items["maxItems"] + 1):
        response = api.post("/v1/verify/batch", {"items": [{"id_token": "a.b"}] * count})
        assert_code(response, "request_invalid")


BROKEN_ITEMS = [{}, {"id_token": 1}, {"id_token": "a.b", "nonse": "n"}, [], "a.b", 1, None, True]


def test_an_invalid_item_does_not_affect_others(api):
    items = [entry for item in BROKEN_ITEMS for entry in (item, {"id_token": "a.b"})]
    response = api.post("/v1/verify/batch", {"items": items})
    assert response.status == 200, response
    codes = [result["error"]["code"] for result in response.json["results"]]
    assert codes == ["request_invalid", "token_malformed"] * len(BROKEN_ITEMS)


def target(path: str) -> str:
    return path.replace("{id}", "apple").replace("{policy}", "api")


@pytest.mark.parametrize("path", document().tree["paths"])
@pytest.mark.parametrize("listener", ["service", "admin"])
def test_paths_exist_only_on_their_listeners_with_their_methods(path, listener, examples):
    url = {"service": "http://127.0.0.1:8080", "admin": "http://127.0.0.1:9090"}[listener]
    client = {"service": examples.service.api, "admin": examples.service.admin}[listener]
    operations = [each for each in document().operations if each.path == path and url in each.servers]
    documented = set(METHODS) if any(each.is_on_head for each in operations) else {each.method for each in operations}
    if any("access-control-allow-origin" in response.headers for each in operations for response in each.responses.values()):
        # Pages of other origins ask first whether they may.
        documented.add("options")
    for method in METHODS:
        response = client.request(method.upper(), target(path), b"{}" if method == "post" else None)
        if not operations:
            assert response.status == 404, (method, response)
            assert method == "head" or response.code == "not_found"
        elif method in documented:
            assert response.status not in (404, 405), (method, response)
        elif method == "head" and "get" in documented and response.status == 200:
            # GET implies HEAD (RFC 9110, section 9.3.2).
            assert response.body == b""
        else:
            assert response.status == 405, (method, response)
            allowed = {name.strip().lower() for name in response.header("Allow").split(",")}
            assert allowed - {"head"} == documented


def test_operations_of_a_disabled_feature_return_not_found():
    """Checks all optional operations on a service that enables none of them."""
    with Service({"id": "oidc", "issuer": "https://op.example", "audiences": ["app"], "jwks_uri": "https://op.example/keys"}) as service:
        for operation in document().operations:
            if (404, "not_found") in operation.answers:
                client = service.api if "http://127.0.0.1:8080" in operation.servers else service.admin
                body = operation.request and next(iter(operation.request.examples.values()))
                response = client.request(operation.method.upper(), target(operation.path), body and json.dumps(body).encode())
                assert_code(response, "not_found")


NOWHERE = ["//", "/v1", "/v1/", "/v1/verify/", "//v1/verify", "/V1/verify", "/v1/providers/"]


@pytest.mark.parametrize("path", NOWHERE)
def test_undocumented_paths_are_not_found(path, examples):
    for client in (examples.service.api, examples.service.admin):
        assert_code(client.post(path, b"{}"), "not_found")


def test_a_failed_refresh_without_earlier_keys_is_unavailable():
    with KeyServer() as key_server:
        examples = ExampleService(key_server, key_status=500)
        with examples.service as service:
            response = service.admin.post("/v1/providers/apple/refresh")
            assert_code(response, "keys_unavailable")
            assert int(response.header("Retry-After")) >= 1
            assert service.provider_state("apple")["last_error"]["phase"] == "http"
            assert_code(service.admin.post("/v1/providers/nobody/refresh"), "provider_unknown")
            examples.issuers["apple"].jwks.status = 200
            assert service.admin.post("/v1/providers/apple/refresh").json["state"] == "ready"
