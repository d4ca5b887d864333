"""The checks of responses against openapi.yaml detect every kind of undocumented response."""

import json

import pytest

from openapi.documented import PROBLEM, document

VERIFY, LIST, READY = "/v1/verify", "/v1/providers", "/readyz"
COMMON = [("X-Request-Id", "1"), ("Cache-Control", "no-store")]


def problem(code: str) -> str:
    """The body of a documented problem."""
    return json.dumps(document().problems[code])


identity = json.dumps(document().operation("verify").responses[200].content.examples["apple"])

DOCUMENTED = {
    "an identity": ("POST", VERIFY, 200, identity),
    "with a query": ("POST", VERIFY + "?a=b", 200, identity),
    "a rejection": ("POST", VERIFY, 422, problem("signature_invalid")),
    "on the other listener": ("GET", LIST, 404, problem("not_found")),
    "a path of none": ("GET", "/nowhere", 404, problem("not_found")),
    "another method": ("DELETE", VERIFY, 405, problem("method_not_allowed")),
    "too large, to no operation": ("DELETE", VERIFY, 413, problem("request_too_large")),
    "a refresh": ("POST", "/v1/providers/some.id/refresh", 404, problem("provider_unknown")),
    "path unknown": ("POST", "", 422, problem("signature_invalid")),
    "ready": ("GET", READY, 200, '{"status": "ready", "providers": []}'),
    "a refused sign-in": ("POST", "/v1/sign-ins/finish", 422, problem("state_mismatch")),
    "stopping": ("GET", READY, 503, '{"status": "shutting_down", "providers": []}'),
    "turned away": ("GET", READY, 503, problem("overloaded")),
}
UNDOCUMENTED = {
    "another operation's answer": ("POST", "/v1/verify/batch", 200, identity),
    "another status": ("POST", VERIFY, 400, problem("signature_invalid")),
    "another operation's code": ("GET", LIST, 503, problem("shutting_down")),
    "a code of single calls in a batch": ("POST", "/v1/verify/batch", 404, problem("provider_unknown")),
    "an undocumented status": ("POST", VERIFY, 418, problem("signature_invalid")),
    "an answer to no operation": ("GET", "/nowhere", 200, identity),
    "a provider unknown to no operation": ("GET", "/nowhere", 404, problem("provider_unknown")),
    "not found where a method is": ("DELETE", "/nowhere", 405, problem("method_not_allowed")),
    "a member more": ("POST", VERIFY, 200, identity[:-1] + ', "more": 1}'),
    "a member less": ("POST", VERIFY, 200, identity.replace('"locale": null, ', "")),
    "no JSON": ("POST", VERIFY, 200, identity[:-1]),
    "a refused sign-in that does not say whether it is spent": (
        "POST",
        "/v1/sign-ins/finish",
        422,
        problem("state_mismatch").replace('"spent": false, ', ""),
    ),
    "an empty body": ("POST", VERIFY, 422, ""),
    "ready with the status of not ready": ("GET", READY, 503, '{"status": "ready", "providers": []}'),
    "path unknown, status too": ("POST", "", 418, problem("signature_invalid")),
}


@pytest.mark.parametrize("answer", DOCUMENTED.values(), ids=DOCUMENTED)
def test_a_documented_response_passes(answer):
    assert document().faults(*answer) == []


@pytest.mark.parametrize("answer", UNDOCUMENTED.values(), ids=UNDOCUMENTED)
def test_an_undocumented_response_is_detected(answer):
    assert document().faults(*answer) != []


HEADERS = {
    "all of them": (COMMON + [("Content-Type", "application/json")], True),
    "in another case": (
        [(name.upper(), value) for name, value in COMMON] + [("content-type", "application/json")],
        True,
    ),
    "no request id": (COMMON[1:] + [("Content-Type", "application/json")], False),
    "two request ids": (COMMON[:1] + COMMON + [("Content-Type", "application/json")], False),
    "a request id with a space": ([("X-Request-Id", "a b"), COMMON[1], ("Content-Type", "application/json")], False),
    "may be stored": ([COMMON[0], ("Cache-Control", "private"), ("Content-Type", "application/json")], False),
    "another type": (COMMON + [("Content-Type", "text/html")], False),
    "no type": (COMMON, False),
}


@pytest.mark.parametrize("headers,is_documented", HEADERS.values(), ids=HEADERS)
def test_headers_must_match_the_document(headers, is_documented):
    assert (document().faults("POST", VERIFY, 200, identity, headers) == []) is is_documented


@pytest.mark.parametrize("retry_after,is_documented", [("1", True), ("0", False), ("soon", False), (None, False)])
def test_a_503_needs_a_valid_retry_after(retry_after, is_documented):
    headers = COMMON + [("Content-Type", PROBLEM)] + [("Retry-After", retry_after)] * (retry_after is not None)
    assert (document().faults("POST", VERIFY, 503, problem("overloaded"), headers) == []) is is_documented
