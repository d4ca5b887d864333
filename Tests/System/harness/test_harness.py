"""The checks of every response detect failures."""

import json

import pytest

from harness import yaml
from harness.client import Response
from harness.contract import assert_promised
from harness.metrics import Metrics

HEADERS = {"Content-Type": "application/problem+json", "X-Request-Id": "r-1", "Cache-Control": "no-store"}
PROBLEM = {
    "type": "urn:assay:problem:claim_missing",
    "title": "Claim missing",
    "status": 422,
    "detail": "The claim sub is missing.",
    "code": "claim_missing",
    "claim": "sub",
    "request_id": "r-1",
}


def answer(status=422, headers=None, body=None) -> Response:
    fields = HEADERS | (headers or {})
    octets = body if isinstance(body, bytes) else json.dumps(PROBLEM | (body or {})).encode()
    return Response(status, [(name, value) for name, value in fields.items() if value is not None], octets)


def problem(code: str, status: int, headers: dict | None = None) -> Response:
    body = PROBLEM | {"type": "urn:assay:problem:" + code, "status": status, "code": code}
    del body["claim"]
    return answer(status, headers, json.dumps(body).encode())


def test_valid_responses_pass():
    assert_promised("POST", "/v1/verify", answer(), "r-1")
    assert_promised("POST", "/v1/verify", problem("overloaded", 503, {"Retry-After": "1"}), "r-1")
    assert_promised("GET", "/v1/verify", problem("method_not_allowed", 405, {"Allow": "POST"}), "r-1")


FAULTS = {
    "no request id": answer(headers={"X-Request-Id": None}),
    "another request id": answer(headers={"X-Request-Id": "r-2"}),
    "a request id of spaces": answer(headers={"X-Request-Id": "r 1"}),
    "may be cached": answer(headers={"Cache-Control": None}),
    "another content type": answer(headers={"Content-Type": "application/json"}),
    "status 500": problem("internal", 500),
    "an unknown code": problem("token_odd", 422),
    "another status than the code's": problem("token_expired", 400),
    "another status within": answer(400),
    "another type": answer(body={"type": "about:blank"}),
    "an empty detail": answer(body={"detail": ""}),
    "a claim that the detail does not name": answer(body={"claim": "aud"}),
    "one member more": answer(body={"instance": "/x"}),
    "another request id within": answer(body={"request_id": "r-2"}),
    "no claim": problem("claim_missing", 422),
    "no Retry-After": problem("overloaded", 503),
    "no Allow": problem("method_not_allowed", 405),
    "a duplicate member": answer(body=json.dumps(PROBLEM).encode()[:-1] + b',"status":422}'),
    "no JSON": answer(body=b"Unprocessable"),
    "an identity without members": answer(
        200, {"Content-Type": "application/json"}, b'{"identity":{},"token":{},"keys":{}}'
    ),
    "a batch without results": answer(200, {"Content-Type": "application/json"}, b"{}"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_response_that_breaks_a_promise_is_detected(name):
    with pytest.raises((AssertionError, ValueError)):
        assert_promised("POST", "/v1/verify", FAULTS[name], "r-1")


GOOD = '# HELP a_total x\n# TYPE a_total counter\na_total{b="c"} 1\n'
HISTOGRAM = '# HELP h x\n# TYPE h histogram\nh_bucket{{le="1"}} {}\nh_bucket{{le="+Inf"}} 2\nh_sum 1\nh_count {}\n'


def test_valid_metrics_are_parsed():
    assert Metrics(GOOD).value("a_total", b="c") == 1
    assert Metrics(HISTOGRAM.format(1, 2)).value("h_count") == 2


@pytest.mark.parametrize(
    "text",
    [
        GOOD.rstrip("\n"),
        GOOD + 'a_total{b="c"} 2\n',
        GOOD + "b_total 2\n",
        GOOD + "# TYPE a_total counter\n",
        GOOD.replace('"c"', "c"),
        GOOD.replace(" 1\n", " one\n"),
        GOOD + "# HELP b x\n# TYPE b gauge\nb 1\n" + 'a_total{b="d"} 1\n',
        HISTOGRAM.format(3, 2),
        HISTOGRAM.format(1, 3),
    ],
)
def test_invalid_metrics_are_detected(text):
    with pytest.raises((AssertionError, ValueError)):
        Metrics(text)


def test_settings_are_written_in_a_common_style():
    settings = {"clock_skew": "60s", "keys": {"stale_for": "24h"}, "providers": [{"id": "a", "list": ["x y", 1]}]}
    assert yaml.dump(settings) == (
        'clock_skew: 60s\nkeys:\n  stale_for: 24h\nproviders:\n  - id: a\n    list: ["x y", 1]'
    )
