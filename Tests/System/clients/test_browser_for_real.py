"""Clients and web backends with a running Assay and a real provider, from the redirect to the deleted account."""

import secrets

import pytest

from clients.backends import BACKENDS, ORIGIN, Backend, Browser
from clients.languages import API_KEY, LANGUAGES
from harness.service import Service
from harness.tokens import sha256_hex
from harness.waiting import poll
from providers.authlib_provider import AuthlibProvider
from providers.authlib_server import CLIENT_SECRET
from providers.relying_party import trusting

CLIENT = AuthlibProvider.client_id
CALLBACK = "/callback/authlib"


@pytest.fixture(scope="module")
def provider():
    with AuthlibProvider() as running:
        yield running


@pytest.fixture(scope="module")
def service(provider, tmp_path_factory):
    secret = tmp_path_factory.mktemp("client") / "secret"
    secret.write_text(CLIENT_SECRET + "\n")
    secret.chmod(0o600)
    client = {"id": CLIENT, "auth": "client_secret_basic", "secret_file": str(secret), "redirect_uris": [ORIGIN + CALLBACK]}
    settings = trusting(provider, "authlib", [CLIENT], clients=[client])
    with Service(settings, sign_ins={}, api_keys=[sha256_hex(API_KEY)]) as service:
        yield service.wait_until_ready()


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request, built, service):
    language = next(each for each in LANGUAGES if each.name == request.param)
    command = BACKENDS[language.name](built(language))
    running = Backend(command, f"http://{service.api.address}", {"authlib": CLIENT}, API_KEY)
    yield running
    running.stop()


@pytest.fixture
def browser(backend):
    return Browser(backend)


def begin(browser: Browser, return_to: str = "/basket?id=1") -> str:
    """Begins a sign-in; returns the URL of the provider's page."""
    page = browser.get("/sign-in", {"provider": "authlib", "return_to": return_to})
    assert page.status == 303, page
    return page.location


def signed_in(browser: Browser) -> bool:
    return "Signed in as" in browser.get("/").body


def test_each_client_signs_in_refreshes_and_revokes(program, service, provider):
    asking, before = program(f"http://{service.api.address}", API_KEY), provider.grants
    begin = {"provider": "authlib", "redirect_uri": ORIGIN + CALLBACK, "context": "/basket", "scopes": ["openid", "email"]}
    begun = asking.call("begin_in_browser", **begin | {"prompt": "login", "login_hint": "maria", "max_age": 60})["begun_in_browser"]
    response = provider.answer_for(begun["authorization_url"])
    assert response["state"] == begun["state"]
    finish = {"sign_in": begun["sign_in"], "response": response, "redirect_uri": ORIGIN + CALLBACK}
    finished = asking.call("finish_in_browser", **finish)["finished"]
    assert (finished["identity"]["subject"], finished["context"]) == (provider.subject, "/basket")
    assert asking.call("finish_in_browser", **finish) == {"error": 422, "code": "sign_in_replayed", "spent": True}

    stored = {"provider": "authlib", "audience": CLIENT, "subject": provider.subject}
    token = finished["grant"]["refresh_token"]
    newer = asking.call("refresh", **stored, refresh_token=token)["refreshed"]["grant"]["refresh_token"]
    gone = {"error": 422, "code": "grant_invalid", "spent": True, "provider_error": "invalid_grant"}
    assert newer != token and asking.call("refresh", **stored, refresh_token=token) == gone
    assert provider.grants == before + 1
    assert asking.call("revoke", provider="authlib", audience=CLIENT, token=newer) == {"revoked": True}
    assert provider.grants == before
    assert asking.call("refresh", **stored, refresh_token=newer) == gone


def test_each_backend_signs_in_and_deletes_the_account(browser, provider):
    before = provider.grants
    response = provider.answer_for(begin(browser))
    assert set(response) == {"code", "state", "iss"}
    assert browser.get(CALLBACK, response).location == ORIGIN + "/basket?id=1"
    assert signed_in(browser) and provider.grants == before + 1
    assert browser.post("/delete-account").status == 303
    assert not signed_in(browser) and provider.grants == before


def test_the_response_may_be_a_posted_form(browser, provider):
    """As Apple's page does. Here the response is otherwise the same."""
    response = provider.answer_for(begin(browser))
    assert browser.post(CALLBACK, response).status == 303
    assert signed_in(browser)


def test_a_response_can_be_used_once(browser, provider):
    url = begin(browser)
    cookies = dict(browser.cookies)
    response = provider.answer_for(url)
    assert browser.get(CALLBACK, response).status == 303
    browser.cookies = cookies
    assert browser.get(CALLBACK, response).status == 400
    assert not signed_in(browser)


def test_two_tabs_can_sign_in_at_once(browser, provider):
    first, second = begin(browser, "/first"), begin(browser, "/second")
    answers = [provider.answer_for(url) for url in (first, second)]
    assert browser.get(CALLBACK, answers[0]).location == ORIGIN + "/first"
    assert browser.get(CALLBACK, answers[1]).location == ORIGIN + "/second"


def test_a_code_of_another_browser_is_refused(browser, backend, provider):
    attacker = Browser(backend)
    response = provider.answer_for(begin(attacker))
    # The victim follows the attacker's link, first without and then with a sign-in of their own.
    assert browser.get(CALLBACK, response).status == 400
    mine = provider.answer_for(begin(browser))
    assert browser.get(CALLBACK, response).status == 400
    # The attacker's code under the victim's own state: PKCE and the nonce belong to another sign-in.
    assert browser.get(CALLBACK, mine | {"code": response["code"]}).status == 400
    assert not signed_in(browser)


def test_a_response_of_another_provider_is_refused(browser, provider):
    response = provider.answer_for(begin(browser))
    assert browser.get(CALLBACK, response | {"iss": "https://evil.example"}).status == 400
    assert not signed_in(browser)


def test_a_user_who_cancels_gets_a_friendly_page(browser, provider):
    response = provider.answer_for(begin(browser), subject="nobody")
    assert response["error"] == "access_denied"
    page = browser.get(CALLBACK, response)
    assert page.status == 200 and f'href="{ORIGIN}/basket?id=1"' in page.body
    assert not signed_in(browser)


def test_sign_ins_work_again_after_an_outage_of_the_provider(browser, provider):
    response = provider.answer_for(begin(browser))
    provider.stop()
    page = browser.get(CALLBACK, response)
    assert (page.status, page.cookies) == (503, {})
    # After a restart, the provider has the same address, but new keys and none of its codes.
    provider.start(secrets.token_hex(4))
    assert browser.get(CALLBACK, response).status == 400
    # The budget for unknown keys may delay the fetch.
    poll(lambda: browser.get(CALLBACK, provider.answer_for(begin(browser))).status == 303, timeout=60, pause=0.5)
    assert signed_in(browser)
