"""The pages of a development provider in a real browser, as a developer sees them.

After each test, `visit` asserts that there was no error, no violation of the pages' policy, and no request elsewhere.
"""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from console.accessibility import faults
from console.browser import Visit
from harness.commands import DEV_PROVIDERS, Dev
from openapi.documented import document

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'`{{7*7}}"


def identity(page: Page) -> dict:
    return json.loads(page.get_by_label("Assay's response").inner_text())["identity"]


def sign_in(page: Page, person: str = "Kim Example") -> dict:
    page.get_by_role("radio", name=re.compile(person)).check()
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Accepted")
    return identity(page)


# MARK: Sign-ins


@pytest.mark.parametrize("provider", DEV_PROVIDERS)
def test_a_sign_in_shows_the_identity(visit, provider):
    page = visit()
    page.locator(f'a[href="/{provider}/browser"]').click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Sign in with {provider}")
    expect(page.locator("header")).to_contain_text("Development")
    if provider == "apple":
        page.get_by_role("radio", name=re.compile("Share it")).check()
    seen = sign_in(page, "Alex Sample")
    assert seen["provider"] == provider and seen["email"] == "alex@gmail.com"
    assert seen["name"] == "Alex Sample"
    assert seen["name_source"] == ("client" if provider == "apple" else "token")
    claims = json.loads(page.get_by_label("Claims").inner_text())
    assert ("name" in claims) == (provider != "apple")


@pytest.mark.parametrize("provider", DEV_PROVIDERS)
def test_a_user_can_cancel(visit, provider):
    page = visit(f"/{provider}/browser")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Refused sign_in_denied")


def test_a_user_of_apple_can_hide_the_email(visit):
    page = visit("/apple/browser")
    page.get_by_role("radio", name=re.compile("Hide it")).check()
    hidden = sign_in(page)
    assert hidden["is_private_email"] is True and hidden["email"].endswith("@privaterelay.appleid.com")
    page.goto(page.url.split("/apple")[0] + "/apple/browser")
    page.get_by_role("radio", name=re.compile("Share it")).check()
    shown = sign_in(page)
    assert shown["email"] == "kim@example.com" and shown["subject"] == hidden["subject"]
    # Apple sends the name only at the first sign-in.
    assert (hidden["name"], shown["name"]) == ("Kim Example", None)


def test_a_new_user_is_remembered(visit):
    page = visit("/microsoft/browser")
    expect(page.get_by_label("Email address")).to_be_hidden()
    page.get_by_role("radio", name=re.compile("Somebody else")).check()
    page.get_by_label("Name").fill("Ada Lovelace")
    page.get_by_label("Email address").fill("ada@example.net")
    page.get_by_label("The address is verified").uncheck()
    page.get_by_label("Tenant", exact=True).fill("6f2e1a90-1d3b-4c5e-8f70-112233445566")
    page.get_by_label("Groups", exact=True).fill("staff, admins")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Accepted Ada Lovelace")
    seen = identity(page)
    assert seen["tenant"] == "6f2e1a90-1d3b-4c5e-8f70-112233445566" and seen["email_verified"] is False
    assert json.loads(page.get_by_label("Claims").inner_text())["groups"] == ["staff", "admins"]
    page.goto(page.url.split("/microsoft")[0] + "/google/browser")
    assert sign_in(page, "Ada Lovelace")["email"] == "ada@example.net"


def test_hostile_names_stay_text(visit):
    page = visit("/google/browser")
    page.get_by_role("radio", name=re.compile("Somebody else")).check()
    page.get_by_label("Name").fill(HOSTILE)
    page.get_by_label("Email address").fill("a@example.net")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(HOSTILE)
    for path in ("/google/browser", "/google/native", "/"):
        page.goto(page.url.split("/google")[0].rstrip("/") + path)
        expect(page.locator("main")).to_contain_text(HOSTILE)
    assert page.locator("main img, main script").count() == 0


def test_a_sign_in_works_with_the_keyboard(visit):
    page = visit("/apple/browser")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.value") == "kim"
    page.keyboard.press("ArrowDown")
    for _ in range(2):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Sign in"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Accepted")
    assert identity(page)["name"] == "Alex Sample"


def test_an_invalid_authorization_request_is_explained(visit):
    page = visit("/google/authorize?client_id=wrong", allows="400")
    expect(page.locator(".trouble")).to_contain_text("client_id is wrong, which is not registered")


# MARK: Tokens


def test_a_token_is_shown_with_its_verdict(visit):
    page = visit("/apple/native")
    page.get_by_role("button", name="Get it and verify it").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Accepted")
    claims = json.loads(page.get_by_label("Claims").inner_text())
    assert claims["sub"] == identity(page)["subject"]
    page.get_by_role("link", name="Another token").click()
    page.get_by_label("Nonce").select_option("that of another sign-in")
    page.get_by_role("button", name="Get it and verify it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Refused nonce_mismatch")
    page.get_by_role("link", name="Another token").click()
    page.get_by_label("Claims to replace").fill('{"exp": 1}')
    page.get_by_role("button", name="Get it and verify it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Refused token_expired")


def test_a_rejection_is_explained(visit):
    page = visit("/apple/native")
    page.get_by_label("Nonce").select_option("that of another sign-in")
    page.get_by_role("button", name="Get it and verify it").click()
    why = page.get_by_role("region", name="Why")
    expect(why).to_contain_text("does not match the request's")
    expect(why).to_contain_text("Check that the backend stores the nonce")
    expect(why).to_contain_text("Expected")
    assert faults(page) == [] and violations(page) == []


def test_json_members_are_in_the_order_of_the_contract(visit):
    page = visit("/google/native")
    page.get_by_role("button", name="Get it and verify it").click()
    answer = json.loads(page.get_by_label("Assay's response").inner_text())
    schemas = document().tree["components"]["schemas"]
    assert list(answer) == schemas["VerifyAnswer"]["required"]
    assert list(answer["identity"]) == schemas["Identity"]["required"]
    page.get_by_text("The request", exact=True).click()
    request = list(json.loads(page.get_by_label("Request").inner_text()))
    assert request == [name for name in schemas["VerifyRequest"]["properties"] if name in request]


def test_the_audience_of_an_api_is_not_called_a_client_id(chromium, tmp_path):  # noqa: F811
    settings = tmp_path / "assay.yaml"
    settings.write_text("providers: [{ id: api, issuer: https://op.test, audiences: [https://api.test], tokens: access }]\n")
    with Dev("--config", str(settings)) as dev:
        visit = Visit(chromium, f"http://{dev.issuer_address}/")
        expect(visit.page.locator("#provider-api ~ dl")).to_contain_text("Audiences")
        visit.page.get_by_role("link", name="Get an access token").click()
        visit.page.get_by_label("Audience").select_option("https://api.test")
        assert "Client ID" not in visit.page.content()
        visit.close()


# MARK: The panel


def test_every_page_lists_the_active_faults(visit, dev):
    page = visit()
    banner = page.get_by_role("complementary", name="Faults that are on")
    expect(banner).to_have_count(0)
    on = page.get_by_role("button", name="Switch on: Issue expired tokens")
    off = page.get_by_role("button", name="Switch off: Issue expired tokens")
    expect(on).to_have_attribute("aria-pressed", "false")
    expect(off).to_have_attribute("aria-pressed", "true")
    on.click()
    expect(on).to_have_attribute("aria-pressed", "true")
    expect(off).to_have_attribute("aria-pressed", "false")
    dev.ask_issuer("POST", "/faults", {"fault": "expired_tokens", "provider": "google", "on": False})
    page.reload()
    expect(on).to_have_attribute("aria-pressed", "mixed")
    for path in ("apple/native", "google/browser"):
        page.goto(f"http://{dev.issuer_address}/{path}")
        expect(banner).to_contain_text("Issue expired tokens: apple, microsoft, oidc")
        assert violations(page) == []
    banner.get_by_role("link").click()
    off.click()
    expect(banner).to_have_count(0)


def test_a_fault_can_be_switched_on_and_off(visit, dev):
    page = visit()
    faults = page.locator("section", has=page.get_by_role("heading", name="Faults"))
    faults.get_by_label("Provider").first.select_option("google")
    page.get_by_role("button", name="Switch on: Issue expired tokens").click()
    row = page.get_by_role("row").filter(has_text="Issue expired tokens")
    expect(row).to_contain_text("google")
    assert dev.api.post("/v1/verify", dev.token("google")).json["code"] == "token_expired"
    page.get_by_role("button", name="Switch off: Issue expired tokens").click()
    expect(row).not_to_contain_text("google")
    assert dev.api.post("/v1/verify", dev.token("google")).status == 200


def test_keys_can_be_rotated(visit, dev):
    before = dev.ask_issuer("GET", "/oidc/keys").json
    page = visit()
    page.get_by_role("button", name="Rotate the keys").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Providers")
    assert dev.ask_issuer("GET", "/oidc/keys").json != before


def test_a_grant_can_be_revoked_for_a_user(visit, dev):
    begun = dev.api.post("/v1/sign-ins", {"provider": "apple"}).json
    code = dev.token("apple", nonce=begun["nonce"], code=True)["code"]
    finished = dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "code": code}).json
    page = visit()
    page.get_by_role("button", name="Remove the app from their account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Providers")
    refresh = {"provider": "apple", "subject": finished["identity"]["subject"]}
    refresh["refresh_token"] = finished["grant"]["refresh_token"]
    assert dev.api.post("/v1/grants/refresh", refresh).json["code"] == "grant_invalid"


def test_a_notification_can_be_sent(visit, dev):
    page = visit()
    form = page.locator("form", has=page.get_by_role("heading", name="google", level=3))
    form.get_by_label("What happened").select_option("account-disabled")
    form.get_by_label("URL of the backend").fill(f"http://{dev.issuer_address}/nothing")
    form.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("account-disabled")
    expect(page.locator("main")).to_contain_text("The backend answered 404.")


# MARK: Accessibility

PAGES = ["/", "/apple/browser", "/microsoft/browser", "/google/native", "/google/authorize"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1200])
@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible(visit, path, scheme, width):
    context = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    page = visit(path, allows="400", **context)
    if radio := page.query_selector("#somebody"):
        radio.check()
    assert faults(page) == []
    assert violations(page) == []


@pytest.mark.parametrize("width", [320, 1200])
def test_the_verdict_is_accessible(visit, width):
    page = visit("/apple/browser", viewport={"width": width, "height": 800})
    sign_in(page)
    assert faults(page) == []
    assert violations(page) == []


def violations(page: Page) -> list[str]:
    """The violations that axe finds. It runs in the page's own world, bypassing the page's policy."""
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['html']}" for each in found for node in each["nodes"]]
