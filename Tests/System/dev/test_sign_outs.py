"""Signing out at a development provider: the URL of the service, the provider's page, and the way back."""

import html
import re
import urllib.parse

import pytest
from playwright.sync_api import expect

from harness.contract import assert_code

BACK = "http://localhost:8000/signed-out"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def sign_out(dev, provider: str, **members) -> dict:
    response = dev.api.post("/v1/sign-outs", {"provider": provider} | members)
    assert response.status == 200, response
    return response.json


def path(dev, url: str) -> str:
    prefix = f"http://{dev.issuer_address}"
    assert url.startswith(prefix)
    return url.removeprefix(prefix)


def posted(dev, signed_out: dict, headers: dict | None = None, **more):
    body = urllib.parse.urlencode(signed_out["parameters"] | more).encode()
    return dev.ask_issuer("POST", path(dev, signed_out["endpoint"]), body, FORM | (headers or {}))


@pytest.mark.parametrize("provider", ["oidc", "microsoft"])
def test_signing_out_and_coming_back(dev, provider):
    hint = dev.token(provider, claims={"exp": 1_000_000_000, "iat": 999_999_000})["id_token"]
    signed_out = sign_out(dev, provider, id_token_hint=hint, post_logout_redirect_uri=BACK)
    page = dev.ask_issuer("GET", path(dev, signed_out["logout_url"]))
    text = page.body.decode()
    assert page.status == 200 and f"Sign out of {provider}?" in text
    fields = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', text))
    assert {name: html.unescape(value) for name, value in fields.items()} == signed_out["parameters"]
    answer = posted(dev, signed_out, action="sign-out")
    assert (answer.status, answer.header("Location")) == (303, f"{BACK}?state={signed_out['state']}")


def test_a_form_on_the_app_s_page(dev):
    signed_out = sign_out(dev, "oidc", post_logout_redirect_uri=BACK)
    page = posted(dev, signed_out, {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:8000"})
    assert page.status == 200 and b"Sign out of oidc?" in page.body


def test_what_the_provider_refuses(dev):
    signed_out = sign_out(dev, "oidc")
    for change in ({"id_token_hint": "junk"}, {"client_id": "stranger"}, {"post_logout_redirect_uri": "https://example.com/"}):
        page = posted(dev, signed_out | {"parameters": signed_out["parameters"] | change})
        assert page.status == 400 and b"The request was refused" in page.body


def test_providers_that_have_no_such_endpoint(dev):
    for provider in ("apple", "google"):
        assert_code(dev.api.post("/v1/sign-outs", {"provider": provider}), "sign_out_not_supported")
        assert dev.ask_issuer("GET", f"/{provider}/logout").status == 404


def test_the_page_in_a_browser(dev, visit):
    hint = dev.token("oidc")["id_token"]
    signed_out = sign_out(dev, "oidc", id_token_hint=hint, ui_locales="<b>de</b>")
    page = visit(path(dev, signed_out["logout_url"]))
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign out of oidc?")
    expect(page.locator("main")).to_contain_text("example-client")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Signed out of oidc")
