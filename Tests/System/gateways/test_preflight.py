"""Preflight requests, which browsers send without credentials. Each configuration has commented lines for them."""

import re

import pytest

from gateways.gateways import FILES, FOLDER, NAMES
from gateways.site import IDENTITY, Site, token

PREFLIGHT = (("Origin", "https://app.example"), ("Access-Control-Request-Method", "PUT"))
# The lines, with the comment that introduces them.
COMMENTED = re.compile(r"^ *\t*# To let the backend answer preflight requests, remove `# ` here\..*\n((?:[ \t]*# .*\n)+)\n", re.MULTILINE)


@pytest.fixture(scope="module", params=NAMES)
def site(request, service, tmp_path_factory):
    (lines,) = COMMENTED.findall((FOLDER / FILES[request.param]).read_text(encoding="utf-8"))
    changed = {lines: re.sub("^([ \t]*)# ", r"\1", lines, flags=re.MULTILINE)}
    directory = tmp_path_factory.mktemp(f"preflight-{request.param}")
    with Site(request.param, service.api.address, directory, changed=changed) as site:
        yield site


def test_the_backend_answers_preflight_requests(site):
    assert site.passes(None, *PREFLIGHT, method="OPTIONS").method == "OPTIONS"


def test_a_preflight_request_has_no_identity(site, issuer):
    """Neither a spoofed one nor that of a token, because Assay is not asked."""
    forged = [(name, "admin") for name in (*IDENTITY, "X.Auth.Subject")]
    for each in (None, token(issuer)):
        received = site.passes(each, *PREFLIGHT, *forged, method="OPTIONS")
        assert {value for name in IDENTITY for value in received.values(name)} <= {""}


@pytest.mark.parametrize("method", ["GET", "PUT", "options", "OPTIONSX", "PROPFIND"])
def test_other_methods_still_need_a_token(site, method):
    before = len(site.backend.received)
    assert site.ask(None, *PREFLIGHT, method=method).status in (400, 401, 405)
    assert site.backend.received[before:] == []


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-Original-Method", "X-Forwarded-Method"])
def test_a_header_cannot_make_a_request_a_preflight(site, name):
    site.denies(401, None, *PREFLIGHT, (name, "OPTIONS"))


def test_a_preflight_request_cannot_open_a_tunnel(site):
    before = len(site.backend.received)
    assert site.ask(None, *PREFLIGHT, ("Connection", "Upgrade"), ("Upgrade", "tcp"), method="OPTIONS").status == 403
    assert site.backend.received[before:] == []


def test_other_requests_are_decided_as_before(site, issuer):
    site.denies(401, None)
    assert site.passes(token(issuer)).values("X-Auth-Subject") == ["user-1"]
