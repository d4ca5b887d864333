"""Every client package, as its users install it, passes the same table of cases: `clients/conformance/cases.json`."""

import base64
import functools
import json
import operator
import time

import pytest

from client_packages.packages import CONFORMANCE
from harness.stranger import Stranger, answer, nowhere
from openapi.documented import document

CASES = json.loads((CONFORMANCE / "cases.json").read_text())["cases"]
SUCCESS = {"begin": 201, "begin_in_browser": 201, "revoke": 204, "revoke_code": 204}
EXAMPLES = {
    "begin": ("/v1/sign-ins", "201", "apple"), "begin_in_browser": ("/v1/sign-ins", "201", "browser"),
    "finish": ("/v1/sign-ins/finish", "200", "browser"), "finish_in_browser": ("/v1/sign-ins/finish", "200", "browser"),
    "refresh": ("/v1/grants/refresh", "200", "apple"), "verify": ("/v1/verify", "200", "google"),
    "verify_notification": ("/v1/notifications/verify", "200", "apple"),
    "verify_access_token": ("/v1/access-tokens/verify", "200", "oidc"), "sign_out": ("/v1/sign-outs", "200", "browser"),
    "proof": ("/v1/grants/proof", "200", "api"), "resource_metadata": ("/v1/resources/{id}/metadata", "200", "mcp"),
}  # fmt: skip


def example(call: str) -> dict:
    path, status, name = EXAMPLES[call]
    operations = document().tree["paths"][path]
    response = (operations.get("post") or operations["get"])["responses"][status]
    if "$ref" in response:
        response = document().tree["components"]["responses"][response["$ref"].rpartition("/")[2]]
    content = response["content"]
    return content["application/json"]["examples"][name]["value"]


def merged(form, changes):
    if not isinstance(form, dict) or not isinstance(changes, dict):
        return changes
    return form | {name: merged(form.get(name), value) for name, value in changes.items()}


def octets(scripted) -> bytes | None:
    """What a scripted server sends."""
    if scripted == "close":
        return b""
    if scripted == "silence":
        return None
    if "raw" in scripted:
        return scripted["raw"].encode()
    if "example" in scripted:
        call = scripted["example"]
        return answer(SUCCESS.get(call, 200), "" if call.startswith("revoke") else merged(example(call), scripted["members"]))
    headers = scripted.get("headers", {}) | ({"Retry-After": str(scripted["retry_after"])} if "retry_after" in scripted else {})
    return answer(scripted["status"], scripted["body"], chunked=scripted.get("chunked", False), **headers)


def difference(expected, found, where: str = "") -> str | None:
    """The first member that differs; others than the expected ones don't matter, and `null` is as good as absent."""
    if isinstance(expected, dict):
        if not isinstance(found, dict):
            return f"{where}: {found!r}"
        return next((said for name, each in expected.items() if (said := difference(each, found.get(name), f"{where}.{name}"))), None)
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return next((said for each, one in zip(expected, found) if (said := difference(each, one, where + "[]"))), None)
    return None if expected == found and isinstance(expected, bool) == isinstance(found, bool) else f"{where}: expected {expected!r}, found {found!r}"


def secrets(value, name: str = "") -> set[str]:
    """The texts in a request that no printed form may have."""
    if isinstance(value, dict):
        return {text for name, each in value.items() for text in secrets(each, name)}
    return {value} if isinstance(value, str) and len(value) > 12 and name not in ("redirect_uri", "issuer", "url", "provider", "certificate") else set()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(package, program, world, case):
    server, options = case.get("server", "assay"), dict(case.get("client", {}))
    if server == "fake":
        run(program, world, case, {"script": case["script"], "case": case["name"]} | options)
        if "fake" in case:
            told = program.call("fake", {"script": case["script"], "case": case["name"]} | options, {})
            assert difference(case["fake"], told["result"]) is None, told
    elif server == "nowhere":
        run(program, world, case, {"url": nowhere()} | options)
    elif isinstance(server, str):
        if server == "tls" and not package.has_tls:
            pytest.skip("it has no TLS")
        client = world.client(server) | world.value(options, {})
        run(program, world, case, {name: value for name, value in client.items() if value is not None})
    else:
        scripted = iter(server)
        with Stranger(lambda _: octets(next(scripted, "close"))) as stranger:
            run(program, world, case, {"url": stranger.url} | options, stranger)
            assert stranger.requests == case.get("requests", stranger.requests)


def claims(token: str) -> dict:
    """Of a JWS, whose signature is not checked."""
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def run(program, world, case: dict, client: dict, stranger=None) -> None:
    kept = {}
    for step in case["steps"]:
        world.script(step.get("endpoint", []), kept)
        members = world.value(step["with"], kept)
        begun = time.monotonic()
        said = program.call(step["call"], client, members)
        took = time.monotonic() - begun
        expected = {name: world.value(step[name], kept) for name in ("result", "error") if name in step}
        assert set(expected) <= set(said), said
        assert difference(expected, said) is None, f"{difference(expected, said)} in {said}"
        assert step.get("least_seconds", 0) <= took + 0.01 and took < step.get("most_seconds", 60), took
        if "endpoint_requests" in step:
            assert world.endpoint_requests() == step["endpoint_requests"]
        if step.get("sends"):
            sent = {name: value for name, value in stranger.members[-1].items() if value is not None}
            assert sent == members
        assert not [each for each in secrets(members) if each in said.get("printed", "")], said["printed"]
        for source, paths in ((said.get("result"), step.get("keep", {})), (members, step.get("keep_request", {}))):
            kept |= {name: functools.reduce(operator.getitem, path.split("."), source) for name, path in paths.items()}
        if "proves" in step:
            assert difference(step["proves"], claims(said["result"]["dpop"])) is None, said


def test_an_error_says_where_there_was_no_answer(program):
    """But nothing of what is there instead of Assay, which may send the request back."""
    url = nowhere()
    said = program.call("verify", {"url": url, "retry_for": 0}, VERIFY)
    assert said["error"]["detail"].startswith(f"can't connect to {url}: ") and said["error"]["detail"] in said["printed"]
    with Stranger(f"{FINISH['sign_in']} {FINISH['id_token']}\r\n\r\n".encode()) as echo:
        said = program.call("finish", {"url": echo.url}, FINISH)
    assert said["error"]["detail"] == f"no whole answer came from {echo.url}" and said["error"]["detail"] in said["printed"]
    assert not [each for each in secrets(FINISH) if each in said["printed"]]


@pytest.mark.parametrize("call", EXAMPLES)
def test_every_member_of_an_answer_is_read(program, call):
    """Each has another value than `null`, so none can be left out."""
    whole = filled(example(call), RESULTS[call])
    with Stranger(answer(SUCCESS.get(call, 200), whole)) as stranger:
        said = program.call(call, {"url": stranger.url, "retry_for": 0}, REQUESTS[call])
    left_out = {"begin": {"state", "authorization_url", "request_expires_at"}, "begin_in_browser": {"nonce", "nonce_sha256"}}.get(call, set())
    expected = {name: value for name, value in whole.items() if name not in left_out}
    assert difference(expected, said.get("result")) is None, said


RESULTS = {
    "begin": "BeginAnswer", "begin_in_browser": "BeginAnswer", "finish": "FinishAnswer", "finish_in_browser": "FinishAnswer",
    "refresh": "RefreshAnswer", "verify": "VerifyAnswer", "verify_notification": "NotificationAnswer",
    "verify_access_token": "AccessTokenAnswer", "sign_out": "SignOutAnswer", "proof": "ProofAnswer",
    "resource_metadata": "ResourceMetadata",
}  # fmt: skip
REQUESTS = {step["call"]: step["with"] for case in CASES if case["name"].endswith(": every member is sent") for step in case["steps"]}


SENT = dict(REQUESTS)
REQUESTS["resource_metadata"] = {"resource": "orders"}
VERIFY, FINISH = (REQUESTS[call] for call in ("verify", "finish"))
GOOD = answer(200, merged(example("verify"), {}))


def test_one_connection_serves_calls_that_use_nothing_up(program):
    with Stranger(GOOD) as stranger:
        for _ in range(5):
            assert "result" in program.call("verify", {"url": stranger.url}, VERIFY)
        assert (stranger.requests, stranger.connections) == (5, 1)


def test_a_finish_has_a_connection_of_its_own(program):
    with Stranger(answer(200, example("finish"))) as stranger:
        for call, members in (("verify", VERIFY), ("finish", FINISH), ("finish", FINISH)):
            program.call(call, {"url": stranger.url}, members)
        assert (stranger.requests, stranger.connections) == (3, 3)


def test_a_connection_that_was_closed_while_idle_is_reopened(program):
    # Repeated, because the client may notice before, while or after it writes the next request.
    times = 30
    with Stranger(GOOD, closes=True) as stranger:
        for _ in range(times):
            assert "result" in program.call("verify", {"url": stranger.url}, VERIFY)
            stranger.wait_until_closed()
        assert (stranger.requests, stranger.connections) == (times, times)


# The members of a request that belong to another call for the same path.
OTHERS = {
    "begin": "redirect_uri scopes prompt login_hint ui_locales acr_values require_acr claims resource id_token_hint response_mode client",
    "finish": "response", "finish_in_browser": "id_token code access_token user", "revoke": "code redirect_uri subject",
    "revoke_code": "token token_type_hint binding", "verify_notification": "payload",
}  # fmt: skip


@pytest.mark.parametrize("call", SENT)
def test_the_cases_send_every_member_of_the_contract(call):
    path = (EXAMPLES | {name: ("/v1/grants/revoke",) for name in ("revoke", "revoke_code")})[call][0]
    schema = document().tree["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    members = document().tree["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"]
    assert set(members) - set(OTHERS.get(call, "").split()) == set(REQUESTS[call])


def filled(value, schema):
    """The answer with a value for each member of its schema that the contract knows."""
    schemas = document().tree["components"]["schemas"]
    schema = schemas[schema] if isinstance(schema, str) else schema
    if "$ref" in schema:
        return filled(value, schema["$ref"].rpartition("/")[2])
    if "oneOf" in schema:
        return filled(value, next(each for each in schema["oneOf"] if each != {"type": "null"}))
    if "enum" in schema:
        return value if value is not None else next(each for each in schema["enum"] if each is not None)
    kinds = schema.get("type", "object")
    kind = next(each for each in (kinds if isinstance(kinds, list) else [kinds]) if each != "null")
    if kind == "object" and "properties" in schema:
        if schema is schemas["Problem"]:
            return {name: f"a {name}" if name != "status" else 503 for name in ("code", "title", "status", "detail")}
        return {name: filled((value or {}).get(name), each) for name, each in schema["properties"].items()}
    if value not in (None, [], {}):
        return [filled(each, schema["items"]) for each in value] if kind == "array" else value
    if kind == "array":
        return [filled(None, schema["items"])]
    return {"string": "a value: ü ✓", "integer": 1_700_000_001, "boolean": True, "object": {"a": [1, {"b": "ü"}], "c": None, "d": 1.5, "e": False}}[kind]


def test_every_code_is_known(program):
    codes = document().tree["components"]["schemas"]["ProblemCode"]["enum"]
    assert program.call("codes", {}, {})["result"] == sorted(codes)
