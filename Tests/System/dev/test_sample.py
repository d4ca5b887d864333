"""The web app that `assay dev --sample` prints, used in Chromium."""

import contextlib
import http.client
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from clients.backends import NO_LENGTHS, posted
from harness.commands import DEV_PROVIDERS, Dev
from harness.service import REPOSITORY, environment, run
from harness.waiting import free_port


def test_the_sample_is_the_file_in_deploy_compose():
    printed = run("dev", "--sample")
    assert printed.returncode == 0
    assert printed.stdout == (REPOSITORY / "deploy/compose/sample.py").read_bytes()


@pytest.fixture(scope="module")
def running():
    port = free_port()
    origin = f"http://localhost:{port}"
    with Dev("--origin", origin) as dev:
        variables = environment(ORIGIN=origin, PORT=str(port), ASSAY=dev.api.address)
        command = [sys.executable, str(REPOSITORY / "deploy/compose/sample.py")]
        with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as app:
            assert app.stdout.readline().decode().split() == ["open", origin]
            dev.origin = origin
            yield dev
            app.terminate()
            assert app.stderr.read() == b""


@pytest.fixture
def page(dev, chromium):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(dev.origin)
    yield page
    context.close()


def sign_in(page, provider: str, person: str = "Kim Example") -> None:
    page.get_by_role("link", name=f"Sign in with {provider}").click()
    page.get_by_role("radio", name=re.compile(person)).check()
    page.get_by_role("button", name="Sign in").click()


@pytest.mark.parametrize("provider", DEV_PROVIDERS)
def test_a_user_signs_in_refreshes_and_signs_out(page, provider):
    sign_in(page, provider)
    expect(page.get_by_role("heading")).to_have_text("Hello Kim Example")
    page.get_by_role("button", name="Refresh").click()
    expect(page.locator("main")).to_contain_text("still a user")
    page.get_by_role("button", name="Sign-out").click()
    expect(page.get_by_role("heading")).to_have_text("Sign in")


@pytest.mark.parametrize("provider", ["apple", "google", "oidc"])
def test_deleting_an_account_revokes_the_grant(page, provider):
    sign_in(page, provider, "Alex Sample")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading")).to_have_text("Sign in")
    # Apple sends the name again only after the grant has been revoked.
    sign_in(page, provider, "Alex Sample")
    expect(page.get_by_role("heading")).to_have_text("Hello Alex Sample")


def test_a_user_can_cancel(page):
    page.get_by_role("link", name="Sign in with apple").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading")).to_have_text("You did not sign in.")


def test_a_refresh_fails_after_the_user_has_removed_the_app(page, dev):
    sign_in(page, "apple")
    expect(page.get_by_role("heading")).to_have_text("Hello Kim Example")
    dev.ask_issuer("POST", "/people", {"provider": "apple", "revoke": "kim"})
    page.get_by_role("button", name="Refresh").click()
    expect(page.get_by_role("heading")).to_have_text("That did not work: grant_invalid.")
    page.get_by_role("link").click()
    expect(page.get_by_role("heading")).to_have_text("Sign in")


@pytest.mark.parametrize(("provider", "type"), [("apple", "account-deleted"), ("google", "sessions-revoked"), ("oidc", "logout")])
def test_a_notification_ends_the_session(page, dev, provider, type):
    sign_in(page, provider)
    expect(page.get_by_role("heading")).to_have_text("Hello Kim Example")
    to = f"{dev.origin}/notifications/{provider}"
    assert dev.ask_issuer("POST", f"/{provider}/notification", {"type": type, "to": to}).json["delivered"] == 200
    page.goto(dev.origin)
    expect(page.get_by_role("heading")).to_have_text("Sign in")


def test_a_forged_notification_has_no_effect(page, dev):
    sign_in(page, "apple")
    expect(page.get_by_role("heading")).to_have_text("Hello Kim Example")
    to = f"{dev.origin}/notifications/apple"
    forged = {"type": "account-deleted", "to": to, "claims": {"aud": "another"}}
    assert dev.ask_issuer("POST", "/apple/notification", forged).json["delivered"] == 400
    page.goto(dev.origin)
    expect(page.get_by_role("heading")).to_have_text("Hello Kim Example")


def test_another_browser_cannot_finish_a_sign_in(page, dev, chromium):
    page.get_by_role("link", name="Sign in with google").click()
    url = page.url
    context = chromium.new_context()
    other = context.new_page()
    other.goto(url)
    other.get_by_role("button", name="Sign in").click()
    expect(other.get_by_role("heading")).to_have_text("That did not work: sign_in_invalid.")
    context.close()


@pytest.mark.parametrize("length", NO_LENGTHS, ids=lambda length: repr(length)[:20])
def test_an_invalid_content_length_is_refused(dev, length):
    address = dev.origin.removeprefix("http://").replace("localhost", "127.0.0.1")
    assert posted(address, "/refresh", f"Content-Length: {length}") == 400


@pytest.mark.parametrize("type", ["application/json", "application/x-www-form-urlencoded", "application/secevent+jwt"])
def test_an_unreadable_notification_is_refused(dev, type):
    address = dev.origin.removeprefix("http://").replace("localhost", "127.0.0.1")
    assert posted(address, "/notifications/apple", f"Content-Type: {type}", "Content-Length: 5") == 400


def test_a_planted_cookie_is_ignored(page, dev):
    sign_in(page, "google")
    expect(page.get_by_role("heading")).to_have_text("Hello Kim Example")
    (session,) = [each["value"] for each in page.context.cookies() if each["name"] == "__Host-session"]
    page.context.clear_cookies()
    for blank in ("\x85", "\xa0"):
        status, body = asked(dev.origin, f"{blank}__Host-session={session}; [odd]=1")
        assert (status, "<h1>Sign in</h1>" in body) == (200, True)
    assert "Hello Kim Example" in asked(dev.origin, f"[odd]=1; __Host-session={session}")[1]


def asked(origin: str, cookie: str) -> tuple[int, str]:
    with contextlib.closing(http.client.HTTPConnection(origin.removeprefix("http://"), timeout=15)) as connection:
        connection.request("GET", "/", headers={"Cookie": cookie})
        response = connection.getresponse()
        return response.status, response.read().decode()
