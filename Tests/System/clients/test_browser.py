"""The web backends: sign-ins, attempts to finish another's, failures, sign-outs and deleted accounts."""

import subprocess
import urllib.parse

import pytest

from clients.backends import BACKENDS, NO_LENGTHS, ORIGIN, Backend, Browser, posted
from clients.languages import LANGUAGES, environment
from harness.stranger import IDENTITY, Stranger, answer, nowhere

BEGIN, FINISH, REVOKE = "/v1/sign-ins", "/v1/sign-ins/finish", "/v1/grants/revoke"
HANDLE, STATE, CODE, REFRESH_TOKEN = "the-handle", "the-state", "the-secret-code", "the-refresh-token"
AUTHORIZE = "https://op.example/authorize?client_id=client&state=the-state"
COOKIE, SESSION = f"__Host-sign-in-{STATE}", "__Host-session"
GRANT = {
    "access_token": "the-access-token", "token_type": "Bearer", "expires_at": None, "refresh_token": REFRESH_TOKEN,
    "scopes": None, "id_token": "the.id.token",
}  # fmt: skip
FINISHED = {"identity": IDENTITY, "token": {}, "keys": {}, "context": "/basket?id=1", "grant": GRANT}
RESPONSE = {"code": CODE, "state": STATE, "iss": "https://op.example"}
AUDIENCES = {"oidc": "client", "apple": "com.example.web"}
ATTRIBUTES = {"Path=/", "Secure", "HttpOnly"}


class Assay(Stranger):
    """Stands in for Assay. The tests may change its responses to begin, finish and revoke."""

    def __init__(self):
        super().__init__(lambda path: self.answers[path])
        self.reset()

    def reset(self) -> None:
        self.requests, self.paths, self.members = 0, {}, []
        begun = {"sign_in": HANDLE, "nonce": None, "nonce_sha256": None, "expires_at": 1_700_000_600}
        self.answers = {
            BEGIN: answer(201, begun | {"state": STATE, "authorization_url": AUTHORIZE}),
            FINISH: answer(200, FINISHED),
            REVOKE: answer(204, ""),
        }

    def fail(self, path: str, status: int, code: str, **members) -> None:
        self.answers[path] = answer(status, {"code": code, "request_id": "r-1"} | members)


@pytest.fixture(scope="module", params=BACKENDS)
def command(request, built):
    """The command of a language's backend."""
    language = next(each for each in LANGUAGES if each.name == request.param)
    return BACKENDS[language.name](built(language))


@pytest.fixture(scope="module")
def running(command):
    """A language's backend and its Assay. Asserts that the log contains no secrets."""
    with Assay() as assay:
        backend = Backend(command, assay.url, AUDIENCES)
        yield backend, assay
        backend.stop()
    assert [secret for secret in (HANDLE, CODE, REFRESH_TOKEN, "the-access-token", "user-1") if secret in backend.log] == []


@pytest.fixture
def assay(running):
    running[1].reset()
    return running[1]


@pytest.fixture
def backend(running):
    return running[0]


@pytest.fixture
def browser(backend, assay):
    return Browser(backend)


def signed_in(browser: Browser) -> bool:
    return "Signed in as" in browser.get("/").body


def sign_in(browser: Browser) -> None:
    assert browser.get("/sign-in", {"provider": "oidc"}).status == 303
    assert browser.get("/callback/oidc", RESPONSE).location == ORIGIN + "/basket?id=1"
    assert signed_in(browser)


# MARK: A sign-in


def test_a_sign_in_returns_to_the_page_where_it_began(browser, assay):
    begun = browser.get("/sign-in", {"provider": "oidc", "return_to": "/basket?id=1"})
    assert (begun.status, begun.location) == (303, AUTHORIZE)
    assert begun.cookies == {COOKIE: (HANDLE, ATTRIBUTES | {"Max-Age=600", "SameSite=Lax"})}
    assert assay.members[-1] == {
        "provider": "oidc", "redirect_uri": ORIGIN + "/callback/oidc", "audience": "client", "context": "/basket?id=1",
    }  # fmt: skip
    assert not signed_in(browser)

    finished = browser.get("/callback/oidc", RESPONSE)
    assert (finished.status, finished.location) == (303, ORIGIN + "/basket?id=1")
    assert assay.members[-1] == {"sign_in": HANDLE, "response": RESPONSE, "redirect_uri": ORIGIN + "/callback/oidc"}
    assert set(finished.cookies) == {COOKIE, SESSION}
    assert "Max-Age=0" in finished.cookies[COOKIE][1]
    session, attributes = finished.cookies[SESSION]
    assert len(session) >= 43 and attributes >= ATTRIBUTES | {"SameSite=Lax"}
    for page in (begun, finished):
        assert (page.headers["Cache-Control"], page.headers["Referrer-Policy"]) == ("no-store", "same-origin")
    assert signed_in(browser)
    # Neither the grant nor the user's subject reaches the browser.
    said = repr([begun.body, finished.body, browser.get("/").body, browser.cookies])
    assert [secret for secret in (REFRESH_TOKEN, "the-access-token", "user-1") if secret in said] == []


def test_a_provider_may_post_a_form(browser, assay):
    begun = {"sign_in": HANDLE, "nonce": None, "nonce_sha256": None, "expires_at": 1_700_000_600, "state": STATE}
    url = "https://appleid.apple.com/auth/authorize?response_type=code&response_mode=form_post"
    assay.answers[BEGIN] = answer(201, begun | {"authorization_url": url})
    assert "SameSite=None" in browser.get("/sign-in", {"provider": "apple"}).cookies[COOKIE][1]
    form = RESPONSE | {"user": '{"name": {"firstName": "Zoë"}}'}
    # Apple's page posts the form, so the browser sends no Lax cookie with it.
    finished = browser.post("/callback/apple", form, origin="https://appleid.apple.com", with_cookies="__Host-sign-in-")
    assert (finished.status, finished.location) == (303, ORIGIN + "/basket?id=1")
    assert assay.members[-1] == {"sign_in": HANDLE, "response": form, "redirect_uri": ORIGIN + "/callback/apple"}
    assert signed_in(browser)


@pytest.mark.parametrize(
    ("return_to", "context"),
    [("/basket", "/basket"), ("", "/"), ("https://evil.example/", "/"), ("basket", "/"), ("/a b", "/"), ("/\n/evil", "/"),
     ("/" + "a" * 501, "/"), ("/ü", "/"), ("//evil.example/", "//evil.example/"), ("/\\evil.example", "/\\evil.example")],
)  # fmt: skip
def test_a_sign_in_returns_only_to_the_same_site(browser, assay, return_to, context):
    browser.get("/sign-in", {"provider": "oidc", "return_to": return_to})
    assert assay.members[-1]["context"] == context
    assay.answers[FINISH] = answer(200, FINISHED | {"context": context})
    location = browser.get("/callback/oidc", RESPONSE).location
    assert urllib.parse.urlsplit(location)[:2] == ("https", "example.com")


def test_a_new_session_replaces_the_old_one(browser, backend):
    sign_in(browser)
    earlier = Browser(backend)
    earlier.cookies = {SESSION: browser.cookies[SESSION]}
    assert signed_in(earlier)
    sign_in(browser)
    assert browser.cookies[SESSION] != earlier.cookies[SESSION]
    assert signed_in(browser) and not signed_in(earlier)


def test_an_unknown_provider_is_not_found(browser, assay):
    for query in ({"provider": "elsewhere"}, {"provider": "__proto__"}, {}):
        assert browser.get("/sign-in", query).status == 404
    assert assay.requests == 0


# MARK: Another's sign-in


def test_another_browser_cannot_finish_a_sign_in(browser, backend, assay):
    browser.get("/sign-in", {"provider": "oidc"})
    begun = assay.requests
    victim = Browser(backend)
    page = victim.get("/callback/oidc", RESPONSE)
    assert (page.status, page.cookies) == (400, {})
    # Neither can one that has begun another sign-in, or a response with a made-up state or none.
    victim.cookies = {"__Host-sign-in-another": "another-handle"}
    for response in (RESPONSE, {"code": CODE}, {"code": CODE, "state": ""}, {"code": CODE, "state": "x; y=z\r\nA: b"}):
        page = victim.get("/callback/oidc", response)
        assert (page.status, page.cookies) == (400, {})
    assert assay.requests == begun
    assert browser.get("/callback/oidc", RESPONSE).status == 303


@pytest.mark.parametrize("query", [[*RESPONSE.items(), ("code", "another")], [*RESPONSE.items(), ("state", STATE)]])
def test_a_duplicate_parameter_is_refused(browser, assay, query):
    browser.get("/sign-in", {"provider": "oidc"})
    assert browser.get("/callback/oidc", query).status == 400
    assert FINISH not in assay.paths


def test_forms_of_other_sites_are_refused(browser, assay):
    sign_in(browser)
    for path in ("/sign-out", "/delete-account"):
        for origin in ("https://evil.example", "null"):
            assert browser.post(path, origin=origin).status == 403
    assert signed_in(browser) and REVOKE not in assay.paths


# Bytes that lenient parsers treat as blank. Browsers accept cookies with such names from other sites.
BLANKS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\xa0"]


@pytest.mark.parametrize("blank", BLANKS, ids=lambda blank: f"{ord(blank):02x}")
def test_a_planted_cookie_is_ignored(browser, backend, assay, blank):
    sign_in(browser)
    victim = Browser(backend)
    victim.cookies = {"a": "1", blank + SESSION: browser.cookies[SESSION]}
    assert not signed_in(victim)
    victim.cookies = {"a": "1", blank + COOKIE: HANDLE}
    finishes = assay.paths[FINISH]
    assert victim.get("/callback/oidc", RESPONSE).status == 400
    assert assay.paths[FINISH] == finishes


@pytest.mark.parametrize("odd", ["\x85" + SESSION, "\xa0" + SESSION, "a b", "[x]", '"', "é", ""])
def test_an_odd_cookie_does_not_break_the_page(browser, odd):
    sign_in(browser)
    browser.cookies = {odd: "1"} | browser.cookies
    assert signed_in(browser)


def test_a_backend_without_an_origin_does_not_start(command):
    for origin in ({}, {"ORIGIN": ""}):
        variables = environment(AUDIENCES="{}", PORT="0", PYTHONDONTWRITEBYTECODE="1", **origin)
        result = subprocess.run([str(part) for part in command], env=variables, capture_output=True, timeout=30, check=False)
        assert result.returncode != 0 and b"ORIGIN" in result.stderr


# MARK: When it fails


@pytest.mark.parametrize("length", NO_LENGTHS, ids=lambda length: repr(length)[:20])
def test_an_invalid_content_length_is_refused(browser, backend, length):
    lines = (f"Content-Length: {length}", f"Origin: {ORIGIN}")
    assert posted(f"127.0.0.1:{backend.port}", "/sign-out", *lines) == 400


def test_a_user_who_cancels_gets_a_friendly_page(browser, assay):
    browser.get("/sign-in", {"provider": "oidc", "return_to": "/basket?a=1&b=\"2"})
    members = {"spent": False, "provider_error": "access_denied", "context": "/basket?a=1&b=\"2"}
    assay.fail(FINISH, 422, "sign_in_denied", **members)
    page = browser.get("/callback/oidc", {"error": "access_denied", "state": STATE})
    assert page.status == 200 and "You did not sign in" in page.body
    assert f'href="{ORIGIN}/basket?a=1&amp;b=' in page.body and '"2' not in page.body
    assert "Max-Age=0" in page.cookies[COOKIE][1] and not signed_in(browser)


def test_a_sign_in_that_is_not_spent_can_be_finished_later(browser, assay):
    browser.get("/sign-in", {"provider": "oidc"})
    assay.fail(FINISH, 503, "provider_unavailable", spent=False)
    page = browser.get("/callback/oidc", RESPONSE)
    assert (page.status, page.cookies) == (503, {})
    assay.answers[FINISH] = answer(200, FINISHED)
    assert browser.get("/callback/oidc", RESPONSE).status == 303


@pytest.mark.parametrize(
    ("status", "code", "spent", "shown"),
    [(422, "sign_in_replayed", True, 400), (422, "nonce_mismatch", True, 400), (422, "sign_in_expired", False, 400),
     (503, "provider_unavailable", True, 500), (502, "client_rejected", True, 500), (400, "request_invalid", False, 500)],
)  # fmt: skip
def test_after_a_final_problem_the_user_must_start_over(browser, assay, status, code, spent, shown):
    browser.get("/sign-in", {"provider": "oidc"})
    assay.fail(FINISH, status, code, spent=spent)
    page = browser.get("/callback/oidc", RESPONSE)
    assert page.status == shown and "sign in again" in page.body and code not in page.body
    assert set(page.cookies) == {COOKIE} and COOKIE not in browser.cookies
    assert assay.paths[FINISH] == 1 and not signed_in(browser)


def test_a_sign_in_cannot_begin_while_assay_is_down(command):
    backend = Backend(command, nowhere(), AUDIENCES)
    page = Browser(backend).get("/sign-in", {"provider": "oidc"})
    backend.stop()
    assert (page.status, page.cookies, page.location) == (503, {}, None)


# MARK: The end


def test_signing_out_ends_the_session(browser, backend):
    sign_in(browser)
    other = Browser(backend)
    other.cookies = dict(browser.cookies)
    assert browser.post("/sign-out").location == ORIGIN
    assert not signed_in(browser) and not signed_in(other)


def test_deleting_an_account_revokes_its_grants(browser, assay):
    sign_in(browser)
    browser.post("/delete-account")  # Of earlier tests.
    assay.reset()
    sign_in(browser)
    page = browser.post("/delete-account")
    assert (page.status, page.location) == (303, ORIGIN)
    assert assay.members[-1] == {
        "provider": "oidc", "token": REFRESH_TOKEN, "token_type_hint": "refresh_token", "audience": "client",
    }  # fmt: skip
    assert not signed_in(browser)
    browser.post("/delete-account")
    assert assay.paths[REVOKE] == 1


@pytest.mark.parametrize(("status", "code"), [(503, "provider_unavailable"), (400, "revocation_not_supported")])
def test_an_account_is_deleted_even_if_the_revocation_fails(browser, assay, status, code):
    sign_in(browser)
    browser.post("/delete-account")
    assay.reset()
    sign_in(browser)
    assay.fail(REVOKE, status, code, spent=False)
    assert browser.post("/delete-account").status == 303
    assert assay.paths[REVOKE] == 1 and not signed_in(browser)
