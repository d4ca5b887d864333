"""Known attacks on forward authentication, at each gateway.

Attackers have their own token, or none. They succeed if the backend receives an identity that does not come from Assay.
"""

import dataclasses

import pytest

from gateways import http2
from gateways.backend import Received
from gateways.site import IDENTITY, token

ADMIN = "admin@example.com"
LAX = "/v1/forward-auth/open"


@dataclasses.dataclass(frozen=True)
class Attack:
    """Header fields that a client sends with its token. A gateway that is not listed passes the request on."""

    fields: tuple[tuple[str, str], ...]
    refusals: dict[str, int] = dataclasses.field(default_factory=dict)


def spoofed(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, ADMIN) for name in names)


ATTACKS = {
    "the identity headers": Attack(spoofed(*IDENTITY)),
    "lower case": Attack(spoofed(*map(str.lower, IDENTITY))),
    "capitals": Attack(spoofed(*map(str.upper, IDENTITY))),
    "duplicates": Attack(spoofed(*IDENTITY, *IDENTITY)),
    "duplicates in other case": Attack(spoofed(*IDENTITY, *map(str.swapcase, IDENTITY))),
    "an empty one and another": Attack((("X-Auth-Email", ""), ("X-Auth-Email", ADMIN))),
    "underscores": Attack(spoofed(*(name.replace("-", "_") for name in IDENTITY)), {"envoy": 400}),
    "one underscore": Attack(spoofed("X-Auth_Subject", "X_Auth-Email", "X-Auth-Email_Trust"), {"envoy": 400}),
    "underscores in lower case": Attack(spoofed("x_auth_subject", "x_auth_email"), {"envoy": 400}),
    **{
        f"separator {mark}": Attack(spoofed(f"X{mark}Auth{mark}Subject", f"X-Auth{mark}Email", f"x{mark}auth-email"))
        for mark in "!#$%&'*+.^`|~"
    },
    "named in Connection": Attack((("Connection", "X-Auth-Subject"),), {"caddy": 400, "haproxy": 400}),
    "named in Connection beside others": Attack(
        (("Connection", "close, x-auth-subject, X-Auth-Email"),), {"caddy": 400, "haproxy": 400}
    ),
    "named in a second Connection": Attack(
        (("Connection", "keep-alive"), ("Connection", "X-Auth-Subject")), {"caddy": 400, "haproxy": 400}
    ),
    "the gateway's key in Connection": Attack((("Connection", "X-Assay-Key"),)),
    "a gateway's key of one's own": Attack((("X-Assay-Key", "guessed"), ("x-assay-key", "again"))),
    "headers that Envoy obeys": Attack(
        (
            ("X-Envoy-Auth-Headers-To-Remove", "x-auth-subject"),
            ("X-Envoy-Internal", "true"),
            ("X-Envoy-Original-Path", LAX),
        )
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_spoofed_identity_headers_do_not_reach_the_backend(site, issuer, attack):
    """The token has no email, so any email at the backend is the attacker's."""
    fields = ATTACKS[attack].fields
    site.denies(ATTACKS[attack].refusals.get(site.name, 401), None, *fields)
    if refusal := ATTACKS[attack].refusals.get(site.name):
        site.denies(refusal, token(issuer), *fields)
    else:
        is_who_the_token_says(site.passes(token(issuer), *fields), issuer)


def is_who_the_token_says(received: Received, issuer) -> None:
    assert received.values("X-Auth-Subject") == ["user-1"]
    assert received.values("X-Auth-Issuer") == [issuer.url]
    assert received.values("X-Auth-Scopes") == ["read"]
    for name in ("X-Auth-Email", "X-Auth-Email-Trust"):
        assert received.values(name) in ([], [""])
    assert ADMIN not in [value for _, value in received.headers]


@pytest.mark.parametrize("announced", [True, False])
def test_a_trailer_never_becomes_a_header(site, issuer, announced):
    trailers = "".join(f"{name}: {ADMIN}\r\n" for name in ("X-Auth-Subject", "X-Auth-Email", "Authorization"))
    fields = [("Transfer-Encoding", "chunked")] + [("Trailer", "X-Auth-Subject, X-Auth-Email")] * announced
    chunked = f"4\r\nbody\r\n0\r\n{trailers}\r\n"
    received = site.passes(token(issuer), *fields, method="POST", body=chunked)
    is_who_the_token_says(received, issuer)
    assert received.body == b"body"
    # HAProxy passes trailers on as trailers.
    assert (received.trailers == []) == (site.name != "haproxy")
    site.denies(401, None, *fields, method="POST", body=chunked)


SPOOFED_PATHS = [
    ("X-Forwarded-Uri", LAX),
    ("X-Forwarded-Prefix", LAX),
    ("X-Forwarded-Path", LAX),
    ("X-Forwarded-Method", "OPTIONS"),
    ("X-Forwarded-Host", "127.0.0.1"),
    ("X-Original-URI", LAX),
    ("X-Original-URL", LAX),
    ("X-Original-Method", "OPTIONS"),
    ("X-Rewrite-URL", LAX),
    ("X-Envoy-Original-Path", LAX),
    ("X-HTTP-Method-Override", "OPTIONS"),
]


@pytest.mark.parametrize("field", SPOOFED_PATHS, ids=lambda field: field[0])
def test_a_spoofed_path_does_not_change_the_policy(site, issuer, field):
    site.denies(403, token(issuer, scope="write"), field)
    site.denies(401, None, field)


# Paths that would lead to another policy if a gateway or Assay joined and normalized them, with the status of gateways
# that refuse such paths themselves.
PATHS = {
    LAX: {},
    # The internal location with which nginx asks Assay.
    "/_assay": {"nginx": 404},
    "/../open": {"nginx": 400},
    "/../../forward-auth/open": {"nginx": 400},
    "/x/../../open": {"nginx": 400},
    "/%2e%2e/open": {"nginx": 400},
    "/..%2fopen": {"nginx": 400},
    "/..;/open": {},
    "//open": {},
    "/./../open": {"nginx": 400},
    "/..\\open": {},
    "/?/../open": {},
    "/%23/../../open": {"nginx": 400},
    "/%00/../open": {"nginx": 400, "envoy": 400},
}


@pytest.mark.parametrize("path", PATHS)
def test_no_path_changes_the_policy(site, issuer, path):
    site.denies(PATHS[path].get(site.name, 403), token(issuer, scope="write"), target=path)


@pytest.mark.parametrize("target", ["-open/orders", "-open", "open", "../open", "*", "api-open/orders"])
def test_a_target_without_a_slash_does_not_change_the_policy(site, issuer, target):
    """If a gateway appended it to the policy's path, `api` would become `api-open`."""
    before = len(site.backend.received)
    assert site.ask(token(issuer, scope="write"), target=target).status in (0, 400, 403, 404)
    if site.name in ("envoy", "haproxy"):
        assert http2.ask(site.gateway.address, target, token(issuer, scope="write")) in (0, 400, 403, 404)
    assert site.backend.received[before:] == []


@pytest.mark.parametrize("target", ["/orders", "*"])
def test_options_requests_need_a_token(site, target):
    before = len(site.backend.received)
    # Caddy answers `OPTIONS *` itself.
    due = {("*", "caddy"): 200, ("*", "nginx"): 400, ("*", "envoy"): 404}.get((target, site.name), 401)
    assert site.ask(None, ("Origin", "https://a.example"), method="OPTIONS", target=target).status == due
    assert site.backend.received[before:] == []


def test_the_method_does_not_change_the_decision(site, issuer):
    for method in ("OPTIONS", "HEAD", "PUT", "DELETE", "PATCH", "PROPFIND"):
        assert site.passes(token(issuer), method=method).method == method
        site.denies(401, None, method=method)


AMBIGUOUS = {
    "two Authorization fields": lambda good: [("Authorization", f"Bearer {good}"), ("Authorization", "Bearer x")],
    "the same twice": lambda good: [("Authorization", f"Bearer {good}")] * 2,
    "in other case": lambda good: [("Authorization", f"Bearer {good}"), ("aUTHORIZATION", "Bearer x")],
    "two tokens in one field": lambda good: [("Authorization", f"Bearer {good}, Bearer {good}")],
    "no scheme": lambda good: [("Authorization", good)],
    "Basic": lambda good: [("Authorization", "Basic dTpw")],
    "an empty bearer": lambda good: [("Authorization", "Bearer ")],
    "a cookie twice": lambda good: [("Cookie", f"session={good}; session=x")],
    "a cookie in two fields": lambda good: [("Cookie", f"session={good}"), ("Cookie", "session=x")],
    "a bad header and a good cookie": lambda good: [("Authorization", "Bearer x"), ("Cookie", f"session={good}")],
    "a byte above 127": lambda good: [("Authorization", f"Bearer {good}\xff")],
}


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_an_ambiguous_token_is_denied(site, issuer, case):
    before = len(site.backend.received)
    fields = AMBIGUOUS[case](token(issuer))
    assert site.ask(None, *fields).status in ((400, 401) if case != "a byte above 127" else (400, 401, 403))
    assert site.backend.received[before:] == []


def test_http_2_requests_are_decided_alike(issuer, site):
    """Envoy and HAProxy accept HTTP/2 without TLS."""
    if site.name not in ("envoy", "haproxy"):
        return
    address, before = site.gateway.address, len(site.backend.received)
    spoof = [(name.lower(), ADMIN) for name in IDENTITY]
    assert http2.ask(address, "/orders", None, *spoof) == 401
    assert site.backend.received[before:] == []
    assert http2.ask(address, "/orders", token(issuer), *spoof) == 200
    assert http2.ask(address, "/orders", token(issuer), trailers=spoof) == 200
    twins = [(name.replace("-", "_"), value) for name, value in spoof]
    # Envoy resets the stream.
    assert http2.ask(address, "/orders", token(issuer), *twins) == {"envoy": 0, "haproxy": 200}[site.name]
    for received in site.backend.received[before:]:
        is_who_the_token_says(received, issuer)
