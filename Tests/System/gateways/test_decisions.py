"""What each gateway does with Assay's decisions: which requests pass, and what backend and client receive."""

import pytest

from gateways.site import IDENTITY, Site, assay, request, token
from harness.tokens import now, rsa_key


def test_an_allowed_request_reaches_the_backend_with_its_identity(site, issuer):
    good = token(issuer, sub="user 1", scope="read write", email="ada@example.com", email_verified=True)
    received = site.passes(good, method="POST", target="/orders?page=2", body="")
    assert (received.method, received.target) == ("POST", "/orders?page=2")
    assert received.values("X-Auth-Subject") == ["user%201"]
    assert received.values("X-Auth-Issuer") == [issuer.url]
    assert received.values("X-Auth-Email") == ["ada@example.com"]
    assert received.values("X-Auth-Email-Trust") == ["verified"]
    assert received.values("X-Auth-Scopes") == ["read write"]
    assert received.values("X-Assay-Key") == []


def test_a_session_cookie_may_be_the_token(site, issuer):
    received = site.passes(None, ("Cookie", f"theme=dark; session={token(issuer)}"))
    assert received.values("X-Auth-Subject") == ["user-1"]


def test_a_request_without_a_token_is_challenged(site):
    response = site.denies(401)
    assert response.all("WWW-Authenticate") == ["Bearer"]


@pytest.mark.parametrize("fault", ["expired", "forged", "garbage"])
def test_an_invalid_token_is_denied(site, issuer, fault):
    bad = {
        "expired": token(issuer, exp=now() - 3600),
        "forged": token(issuer, key=rsa_key("another")),
        "garbage": "garbage",
    }[fault]
    response = site.denies(401, bad)
    assert response.header("WWW-Authenticate").startswith('Bearer error="invalid_')


def test_a_missing_scope_is_forbidden(site, issuer):
    site.denies(403, token(issuer, scope="write"))


def test_each_request_of_a_connection_is_decided_separately(site, issuer):
    before = len(site.backend.received)
    with site.connect() as connection:
        statuses = []
        for each in (token(issuer), None, token(issuer, sub="user-2"), None):
            connection.send(request(each))
            statuses.append(connection.unchecked_response("GET").status)
    assert statuses == [200, 401, 200, 401]
    subjects = [received.values("X-Auth-Subject") for received in site.backend.received[before:]]
    assert subjects == [["user-1"], ["user-2"]]


def test_the_backend_receives_the_body(site, issuer):
    body = "x" * 300_000
    received = site.passes(token(issuer), ("Content-Length", str(len(body))), method="POST", body=body)
    assert received.body == body.encode()
    chunked = f"{len(body):x}\r\n{body}\r\n0\r\n\r\n"
    received = site.passes(token(issuer), ("Transfer-Encoding", "chunked"), method="POST", body=chunked)
    assert received.body == body.encode()
    site.denies(401, None, ("Content-Length", str(len(body))), method="POST", body=body)


def scopes_of(hundreds: int) -> str:
    """Scopes of this many hundred bytes."""
    return " ".join(["read", *(f"{number:099}" for number in range(hundreds))])


def test_four_kilobytes_of_values_arrive_next_to_large_cookies(site, issuer):
    scopes = scopes_of(40)
    received = site.passes(token(issuer, scope=scopes), ("Cookie", "c=" + "c" * 7200))
    assert received.values("X-Auth-Scopes") == [scopes]
    assert received.values("X-Auth-Subject") == ["user-1"]
    assert 4000 < sum(len(value) for name in IDENTITY for value in received.values(name)) < 4096


def test_more_than_four_kilobytes_of_values_are_denied(site, issuer):
    site.denies(403, token(issuer, scope=scopes_of(42)))


def test_envoy_removes_the_token_with_strip_token(issuer, tmp_path):
    api = {"id": "api", "providers": ["api"], "strip_token": True}
    with assay(issuer, forward_auth={"policies": [api]}).wait_until_ready() as service:
        with Site("envoy", service.api.address, tmp_path / "envoy") as site:
            received = site.passes(token(issuer), ("X-Other", "stays"))
            assert received.values("Authorization") == []
            assert received.values("X-Other") == ["stays"]
            assert received.values("X-Auth-Subject") == ["user-1"]
