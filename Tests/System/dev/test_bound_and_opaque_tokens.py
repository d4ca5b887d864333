"""Access tokens that are bound to a key or a certificate, and opaque ones, from a development provider."""

import base64
import hashlib
import json
import ssl
import urllib.parse

import pytest
from playwright.sync_api import Page, expect

from console.accessibility import faults
from console.browser import Visit
from dev.test_pages import violations
from harness.certificates import Authority
from harness.commands import Dev
from harness.service import run, write_config
from harness.tokens import b64url, unb64url

API = "https://api.example/"
PATH = "/v1/access-tokens/verify"


def opaque(id: str, auth: str, **introspection) -> dict:
    return {
        "id": id, "issuer": f"https://{id}.example.com", "tokens": "opaque", "audiences": [API],
        "clients": [{"id": "api", "auth": auth, "secret_file": "/nowhere/secret"}], "introspection": introspection,
    }  # fmt: skip


@pytest.fixture(scope="module")
def dev(tmp_path_factory):
    settings = {
        "providers": [
            {"id": "auth", "issuer": "https://auth.example.com", "tokens": "access", "audiences": [API]},
            {"id": "nonces", "issuer": "https://nonces.example.com", "tokens": "access", "audiences": [API], "nonce": "required"},
            opaque("legacy", "client_secret_basic", endpoint="https://legacy.example.com/ask"),
            opaque("signed", "client_secret_post", signed="required"),
            {"id": "login", "issuer": "https://auth.example.com", "audiences": ["client"]},
        ],
        "dpop": {},
        "forward_auth": {"policies": [{"id": "web", "providers": ["auth", "legacy"]}]},
    }
    with Dev("--config", str(write_config(tmp_path_factory.mktemp("dev"), settings)), "--listen", "127.0.0.1:0") as dev:
        yield dev


@pytest.fixture
def visit(dev, chromium):
    visits = []

    def open_page(path: str, **context) -> Page:
        visits.append(Visit(chromium, f"http://{dev.issuer_address}{path}", **context))
        return visits[-1].page

    yield open_page
    for each in visits:
        each.close()
        assert each.messages == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> str:
    """A file."""
    return str(Authority(tmp_path_factory.mktemp("ca")).certificate_file)


def thumbprint(certificate: str) -> str:
    with open(certificate, encoding="ascii") as file:
        return b64url(hashlib.sha256(ssl.PEM_cert_to_DER_cert(file.read())).digest())


def basic(client: str) -> str:
    """The header field of a client with any secret."""
    return "Basic " + base64.b64encode(f"{client}:any".encode()).decode()


def verify(dev, members: dict, **changes):
    return dev.api.post(PATH, {name: value for name, value in (members | changes).items() if value is not None})


# MARK: Certificates


def test_a_token_can_be_bound_to_a_certificate(dev, certificate):
    with open(certificate, encoding="ascii") as file:
        members = dev.token("auth", certificate=file.read())
    answer = verify(dev, members)
    assert answer.json["authorization"]["binding"] == {"method": "certificate", "thumbprint": thumbprint(certificate)}
    assert verify(dev, members, certificate=None).code == "binding_required"
    assert verify(dev, members, certificate=b64url(bytes(32))).code == "binding_mismatch"
    both = dev.token("auth", certificate=b64url(bytes(32)), dpop={"url": API})
    assert verify(dev, both).json["authorization"]["binding"]["method"] == "both"
    for provider, text in (("auth", "certificate must be one certificate"), ("login", "certificate is only for access tokens")):
        response = dev.ask_issuer("POST", f"/{provider}/token", {"certificate": "x" if provider == "auth" else b64url(bytes(32))})
        assert (response.status, text in response.json["error"]) == (400, True), response


def test_the_command_binds_a_token_to_the_certificate_in_a_file(dev, certificate, tmp_path):
    def token(*options: str):
        return run("dev", "token", "--at", f"http://{dev.issuer_address}", *options)

    answer = verify(dev, json.loads(token("--provider", "auth", "--certificate", certificate).stdout))
    assert answer.json["authorization"]["binding"]["thumbprint"] == thumbprint(certificate)
    lines = token("--provider", "auth", "--certificate", certificate, "--headers").stdout.decode().splitlines()
    assert len(lines) == 1 and lines[0].startswith("Authorization: Bearer ey")
    missing = token("--provider", "auth", "--certificate", str(tmp_path / "none"))
    assert missing.returncode != 0 and "there is no such file" in missing.stderr.decode()
    body = json.loads(token("--provider", "legacy", "--certificate", certificate).stdout)
    assert verify(dev, body).json["authorization"]["binding"]["method"] == "certificate"


# MARK: Opaque tokens


@pytest.mark.parametrize("provider", ["legacy", "signed"])
def test_an_opaque_token_passes(dev, provider):
    members = dev.token(provider, person="alex")
    assert members.keys() == {"token", "provider"} and "." not in members["token"]
    answer = verify(dev, members)
    assert answer.status == 200, answer
    assert answer.json["introspection"] == {"cached": False, "age_seconds": 0}
    assert answer.json["authorization"]["scopes"] == ["openid", "read"]
    assert (answer.json["keys"] is None) == (provider == "legacy")
    assert verify(dev, {"token": "unknown", "provider": provider}).code == "token_inactive"
    # A person's subject is the same in each token.
    assert answer.json["identity"]["subject"] == verify(dev, dev.token(provider, person="alex")).json["identity"]["subject"]


def test_what_is_said_of_an_opaque_token_can_be_anything(dev):
    for claims, code in (
        ({"active": False}, "token_inactive"),
        ({"active": "yes"}, "provider_answer_invalid"),
        ({"exp": 1}, "token_expired"),
        ({"aud": "https://other.example"}, "audience_mismatch"),
        ({"aud": None}, "claim_missing"),
        ({"iss": "https://other.example"}, "issuer_mismatch"),
    ):
        for provider in ("legacy", "signed"):
            assert verify(dev, dev.token(provider, claims=claims)).code == code, claims
    assert verify(dev, dev.token("legacy", claims={"sub": None})).json["identity"] is None


def test_an_opaque_token_can_be_bound(dev):
    members = dev.token("legacy", dpop={"url": API + "orders", "method": "PUT"})
    assert verify(dev, members).json["authorization"]["binding"]["method"] == "dpop"
    assert verify(dev, members, dpop=None).code == "binding_required"


def test_an_opaque_token_can_be_revoked(dev):
    first, second, third = (dev.token("legacy", person=person) for person in ("kim", "kim", "alex"))
    form = urllib.parse.urlencode({"token": first["token"]}).encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Authorization": basic("api")}
    assert dev.ask_issuer("POST", "/legacy/revoke", form, headers).status == 200
    assert [verify(dev, each).code for each in (first, second, third)] == ["token_inactive", None, None]
    assert dev.ask_issuer("POST", "/people", {"provider": "legacy", "revoke": "kim"}).status == 200
    assert [verify(dev, each).code for each in (first, second, third)] == ["token_inactive", "token_inactive", None]
    assert dev.ask_issuer("POST", "/reset").status == 200
    assert verify(dev, third).code == "token_inactive"


def test_the_introspection_endpoint_knows_its_clients(dev):
    token = dev.token("legacy")["token"]
    form = urllib.parse.urlencode({"token": token}).encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded"}

    def ask(path: str, **more):
        return dev.ask_issuer("POST", path, form, headers | more)

    assert ask("/legacy/introspect", Authorization=basic("api")).json["active"] is True
    assert ask("/legacy/introspect").status == 401
    assert ask("/legacy/introspect", Authorization=basic("other")).status == 401
    assert ask("/auth/introspect", Authorization=basic("api")).status == 404
    document = dev.ask_issuer("GET", "/legacy/.well-known/openid-configuration").json
    assert document["introspection_endpoint"] == f"http://{dev.issuer_address}/legacy/introspect"
    assert "introspection_endpoint" not in dev.ask_issuer("GET", "/auth/.well-known/openid-configuration").json


@pytest.mark.parametrize(("fault", "code"), [("down", "provider_unavailable"), ("refused_clients", "client_rejected")])
def test_faults_apply_to_introspection(dev, fault, code):
    members = dev.token("legacy")
    try:
        dev.ask_issuer("POST", "/faults", {"provider": "legacy", "fault": fault})
        assert verify(dev, members).code == code
    finally:
        dev.ask_issuer("POST", "/faults", {"provider": "legacy", "fault": fault, "on": False})
    assert verify(dev, members).status == 200


def test_a_gateway_takes_opaque_tokens(dev):
    response = dev.api.get("/v1/forward-auth/web", {"Authorization": f"Bearer {dev.token('legacy')['token']}"})
    assert (response.status, response.header("X-Auth-Scopes")) == (200, "openid read")
    assert dev.api.get("/v1/forward-auth/web", {"Authorization": "Bearer unknown"}).status == 401


# MARK: Pages


def get(page: Page, bound: str, fault: str = "nothing") -> None:
    """Gets a token on the page."""
    page.get_by_role("radio", name=bound).check()
    page.get_by_label("What goes wrong").select_option(fault)
    page.get_by_role("button", name="Get it and verify it").click()


def members(page: Page, mark: str) -> list[str]:
    rows = page.get_by_role("region", name="What is checked").locator("tbody tr")
    return [row.locator("th").inner_text() for row in rows.all() if mark in row.inner_text()]


def test_a_page_makes_a_proof_and_shows_what_is_checked(visit):
    page = visit("/auth/native")
    expect(page.get_by_label("URL", exact=True)).to_be_hidden()
    page.get_by_role("radio", name="The owner of a key").check()
    page.get_by_label("Method", exact=True).fill("PUT")
    page.get_by_label("URL", exact=True).fill("https://api.example/orders?page=2")
    get(page, "The owner of a key")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Accepted")
    answer = json.loads(page.get_by_label("Assay's response").inner_text())
    assert answer["authorization"]["binding"]["method"] == "dpop"
    claims = json.loads(page.get_by_label("Claims", exact=True).inner_text())
    assert claims["cnf"]["jkt"] == answer["authorization"]["binding"]["thumbprint"]
    assert members(page, "fits") == ["typ", "htm", "htu", "ath", "jwk"] and members(page, "differs") == []
    page.get_by_text("As JSON", exact=True).click()
    proof = json.loads(page.get_by_label("Claims of the proof").inner_text())
    assert (proof["htm"], proof["htu"]) == ("PUT", "https://api.example/orders")
    assert json.loads(page.get_by_label("Header of the proof").inner_text())["typ"] == "dpop+jwt"
    assert faults(page) == [] and violations(page) == []


@pytest.mark.parametrize(
    ("fault", "code", "member"),
    [
        ("the proof is for another method", "dpop_proof_invalid", "htm"),
        ("the proof is for another URL", "dpop_proof_invalid", "htu"),
        ("the proof is for another token", "dpop_proof_invalid", "ath"),
        ("the proof is of another key", "binding_mismatch", "jwk"),
        ("the proof is two hours old", "dpop_proof_invalid", None),
        ("the proof was used before", "dpop_proof_replayed", None),
        ("nothing proves the key", "binding_required", None),
    ],
)
def test_a_page_makes_a_wrong_proof(visit, fault, code, member):
    page = visit("/auth/native")
    get(page, "The owner of a key", fault)
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Refused {code}")
    assert members(page, "differs") == ([member] if member else [])


def test_a_page_binds_a_token_to_a_certificate(visit):
    page = visit("/auth/native")
    get(page, "The owner of a certificate")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Accepted")
    page.get_by_role("link", name="Another token").click()
    get(page, "The owner of a certificate", "the connection has another certificate")
    expect(page.get_by_role("heading", level=1)).to_have_text("Refused binding_mismatch")


def test_a_page_repeats_a_proof_with_its_nonce(visit):
    page = visit("/nonces/native")
    get(page, "The owner of a key")
    expect(page.get_by_role("heading", level=1)).to_have_text("Refused dpop_nonce_required")
    page.get_by_role("button", name="Repeat with this nonce").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Accepted")
    page.get_by_text("As JSON", exact=True).click()
    assert len(unb64url(json.loads(page.get_by_label("Claims of the proof").inner_text())["nonce"])) == 24


def test_a_page_shows_an_opaque_token(visit):
    page = visit("/legacy/native")
    page.get_by_role("button", name="Get it and verify it").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Accepted")
    expect(page.locator("main")).to_contain_text("It is opaque: Assay asks its provider about it.")
    assert len(page.get_by_label("Token", exact=True).inner_text()) == 24


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1200])
def test_the_pages_are_accessible(visit, width, scheme):
    page = visit("/auth/native", color_scheme=scheme, viewport={"width": width, "height": 800})
    page.get_by_role("radio", name="The owner of a key").check()
    assert faults(page) == [] and violations(page) == []
    get(page, "The owner of a key", "the proof is for another URL")
    assert faults(page) == [] and violations(page) == []
