"""`POST /v1/verify/batch`: many requests, each with its own answer."""

import pytest

from harness.contract import assert_code
from harness.tokens import jws


def batch(service, items, **headers):
    return service.api.post("/v1/verify/batch", {"items": items}, headers)


def codes(response) -> list[str | None]:
    assert response.status == 200, response
    return [result["error"]["code"] if "error" in result else None for result in response.json["results"]]


def test_each_item_is_answered_in_order(service, apple, google, oidc):
    items = [
        {"id_token": apple.token(sub="first")},
        {"id_token": "not a token"},
        {"id_token": google.token(exp=1)},
        {"id_token": oidc.token(nonce="n"), "nonce": "n", "include_claims": True},
        {"id_token": oidc.token(nonce="n"), "nonce": "other"},
        {"id_token": oidc.token(sub="last"), "provider": "oidc"},
    ]
    response = batch(service, items)
    assert codes(response) == [None, "token_malformed", "token_expired", None, "nonce_mismatch", None]
    results = response.json["results"]
    assert results[0]["identity"]["subject"] == "first"
    assert results[3]["claims"]["nonce"] == "n"
    assert "claims" not in results[5]
    assert results[5]["identity"]["subject"] == "last"


def test_an_item_gets_the_same_answer_as_a_single_request(service, oidc):
    token = oidc.token(email="a@example.com", jti="1")
    single = service.accept(token)
    [result] = batch(service, [{"id_token": token}]).json["results"]
    assert (result["identity"], result["token"]) == (single["identity"], single["token"])


def test_each_item_is_refused_with_its_own_code(service, oidc):
    items = [
        {"id_token": oidc.token(), "provider": "nobody"},
        {"id_token": oidc.token(), "audience": "stranger"},
        {"id_token": jws(oidc.keys[0], oidc.claims(), typ="at+jwt")},
        {"id_token": oidc.token()[:-4] + "AAAA"},
        {"id_token": oidc.token(sub=None)},
    ]
    expected = [
        "provider_unknown",
        "audience_not_configured",
        "header_unsupported",
        "signature_invalid",
        "claim_missing",
    ]
    response = batch(service, items)
    assert codes(response) == expected
    assert response.json["results"][4]["error"]["claim"] == "sub"


@pytest.mark.parametrize("body", [b"[]", b'{"items":null}', b'{"items":[{"id_token":"x"}],"more":1}'])
def test_a_body_that_is_not_a_batch_is_invalid(service, body):
    assert_code(service.api.post("/v1/verify/batch", body), "request_invalid")


def test_a_batch_may_be_larger_than_a_single_body(service, oidc):
    item = {"id_token": oidc.token(filler="x" * 6000)}
    assert codes(batch(service, [item] * 100)) == [None] * 100


def test_problems_in_a_batch_have_its_request_id(service):
    response = batch(service, [{"id_token": "x"}], **{"X-Request-Id": "batch-7"})
    assert response.json["results"][0]["error"]["request_id"] == "batch-7"
