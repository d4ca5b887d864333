"""Sign-ins in Chromium: the web backends with a real provider's page, and the docs' example with `assay dev`."""

import os
import signal
import subprocess
import urllib.parse

import pytest
from playwright.sync_api import BrowserContext, Error, Page, sync_playwright

from clients.backends import BACKENDS, Backend
from clients.languages import API_KEY, LANGUAGES
from clients.test_readme import blocks
from console.browser import launch
from harness.commands import Dev
from harness.service import REPOSITORY, Service, environment
from harness.tokens import sha256_hex
from harness.waiting import free_port, poll
from providers.authlib_provider import AuthlibProvider
from providers.relying_party import client_of, trusting

SESSION = "__Host-session"


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def person(chromium):
    """A browser profile. `urls` has the requested URLs."""
    context = chromium.new_context()
    context.urls = []
    context.on("request", lambda request: context.urls.append(request.url))
    yield context
    context.close()


def cookies(person: BrowserContext) -> dict[str, dict]:
    return {cookie["name"]: cookie for cookie in person.cookies()}


# MARK: A real provider's page


@pytest.fixture(scope="module")
def provider():
    with AuthlibProvider() as running:
        yield running


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request, built, provider, tmp_path_factory):
    """A backend at `http://localhost`, which may set secure cookies, and is another site than the provider's page."""
    language = next(each for each in LANGUAGES if each.name == request.param)
    port = free_port()
    origin = f"http://localhost:{port}"
    client = client_of(provider, "client_secret_post", tmp_path_factory.mktemp("client"))
    client |= {"redirect_uris": [f"{origin}/callback/authlib"]}
    settings = trusting(provider, "authlib", [client["id"]], clients=[client])
    with Service(settings, sign_ins={}, api_keys=[sha256_hex(API_KEY)]) as service:
        service.wait_until_ready()
        audiences = {"authlib": client["id"]}
        command = BACKENDS[language.name](built(language))
        running = Backend(command, f"http://{service.api.address}", audiences, API_KEY, origin, port)
        yield running
        running.stop()


def begin(person: BrowserContext, backend: Backend, return_to: str) -> Page:
    """Opens a tab and begins a sign-in; returns the tab at the provider's page."""
    tab = person.new_page()
    tab.goto(f"{backend.origin}/sign-in?" + urllib.parse.urlencode({"provider": "authlib", "return_to": return_to}))
    return tab


def state(tab: Page) -> str:
    """The `state` in the URL of the provider's page."""
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(tab.url).query))["state"]


def sign_in(tab: Page, backend: Backend, subject: str = AuthlibProvider.subject) -> None:
    """Submits the provider's form, and waits for the backend's page."""
    tab.get_by_role("textbox").fill(subject)
    tab.get_by_role("button").click()
    tab.wait_for_url(f"{backend.origin}/**")


def test_a_user_signs_in_at_the_providers_page_and_comes_back(person, backend, provider):
    tab = begin(person, backend, "/basket?id=1")
    assert tab.url.startswith(f"{provider.issuer}/authorize?")
    handle = cookies(person)[f"__Host-sign-in-{state(tab)}"]
    assert (handle["httpOnly"], handle["secure"], handle["sameSite"], handle["path"]) == (True, True, "Lax", "/")

    sign_in(tab, backend)
    assert tab.url == f"{backend.origin}/basket?id=1"
    assert tab.evaluate("document.cookie") == ""
    tab.goto(backend.origin)
    assert "Signed in as" in tab.inner_text("body")
    assert set(cookies(person)) == {SESSION}
    session = cookies(person)[SESSION]
    assert (session["httpOnly"], session["secure"], session["sameSite"]) == (True, True, "Lax")
    # Only the cookie has the handle.
    assert not [url for url in person.urls if handle["value"] in url]


def test_two_tabs_can_finish_in_either_order(person, backend):
    first, second = begin(person, backend, "/first"), begin(person, backend, "/second")
    assert set(cookies(person)) == {f"__Host-sign-in-{state(tab)}" for tab in (first, second)}
    sign_in(second, backend)
    sign_in(first, backend)
    assert [tab.url for tab in (first, second)] == [f"{backend.origin}/first", f"{backend.origin}/second"]
    assert set(cookies(person)) == {SESSION}


def test_a_response_of_another_browser_is_refused(person, chromium, backend, provider):
    attackers = begin(person, backend, "/")
    response = urllib.parse.urlencode(provider.answer_for(attackers.url))
    victim = chromium.new_context()
    page = begin(victim, backend, "/")
    # The attacker's page has a link to the backend, which the victim follows.
    page.evaluate(f"location.href = '{backend.origin}/callback/authlib?{response}'")
    page.wait_for_url(f"{backend.origin}/**")
    assert "begun in another browser" in page.inner_text("body")
    assert SESSION not in cookies(victim)
    victim.close()


def test_a_user_who_cancels_is_led_back(person, backend):
    tab = begin(person, backend, "/basket")
    sign_in(tab, backend, "nobody")
    assert "You did not sign in" in tab.inner_text("body")
    tab.get_by_role("link").click()
    tab.wait_for_url(f"{backend.origin}/basket")
    assert cookies(person) == {}


# MARK: As pasted


@pytest.fixture(scope="module")
def pasted():
    """`assay dev` and the backend of `docs/sign-ins.md`, on other ports; returns the backend's origin."""
    port = free_port()
    script = next(block for block in blocks("docs/sign-ins.md", "## In the browser", "sh") if "web.py" in block)
    origin = f"http://localhost:{port}"
    with Dev("--origin", origin) as dev:
        variables = environment(PORT=str(port), ASSAY_URL=f"http://{dev.api.address}", PYTHONDONTWRITEBYTECODE="1")
        command = ["bash", "-euc", script.replace("http://localhost:8000", origin)]
        running = subprocess.Popen(command, cwd=REPOSITORY, env=variables, start_new_session=True)
        yield origin
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


@pytest.mark.parametrize("name", ["google", "apple"])
def test_the_sign_in_of_the_docs_works_with_assay_dev(person, pasted, name):
    page = person.new_page()
    poll(lambda: is_up(page, pasted))
    page.goto(f"{pasted}/sign-in?provider={name}")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{pasted}/")
    assert "Signed in as" in page.inner_text("body")
    assert set(cookies(person)) == {SESSION}


def is_up(page: Page, origin: str) -> bool:
    try:
        return page.goto(origin).ok
    except Error:
        return False
