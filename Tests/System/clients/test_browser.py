"""The web backends: who is signed in, whose sign-in it was, and what is left when something fails."""

import subprocess
import urllib.parse

import pytest

from clients.backends import BACKENDS, NO_LENGTHS, ORIGIN, Backend, Browser, posted
from clients.languages import LANGUAGES, environment
from clients.strangers import IDENTITY, Stranger, answer, nowhere

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
    """Answers a beginning, a finish and a revocation; the tests change the answers."""

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
    """How to run a language's backend."""
    language = next(each for each in LANGUAGES if each.name == request.param)
    return BACKENDS[language.name](built(language))


@pytest.fixture(scope="module")
def running(command):
    """A language's backend and its Assay. Nothing secret is in its log."""
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


def test_a_person_signs_in_and_is_back_where_they_were(browser, assay):
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
    # Nothing of the grant or the person's subject reached the browser.
    said = repr([begun.body, finished.body, browser.get("/").body, browser.cookies])
    assert [secret for secret in (REFRESH_TOKEN, "the-access-token", "user-1") if secret in said] == []


def test_a_provider_that_posts_a_form(browser, assay):
    begun = {"sign_in": HANDLE, "nonce": None, "nonce_sha256": None, "expires_at": 1_700_000_600, "state": STATE}
    url = "https://appleid.apple.com/auth/authorize?response_type=code&response_mode=form_post"
    assay.answers[BEGIN] = answer(201, begun | {"authorization_url": url})
    assert "SameSite=None" in browser.get("/sign-in", {"provider": "apple"}).cookies[COOKIE][1]
    form = RESPONSE | {"user": '{"name": {"firstName": "Zoë"}}'}
    # The form comes from Apple's page, so no Lax cookie comes with it.
    finished = browser.post("/callback/apple", form, origin="https://appleid.apple.com", with_cookies="__Host-sign-in-")
    assert (finished.status, finished.location) == (303, ORIGIN + "/basket?id=1")
    assert assay.members[-1] == {"sign_in": HANDLE, "response": form, "redirect_uri": ORIGIN + "/callback/apple"}
    assert signed_in(browser)


@pytest.mark.parametrize(
    ("return_to", "context"),
    [("/basket", "/basket"), ("", "/"), ("https://evil.example/", "/"), ("basket", "/"), ("/a b", "/"), ("/\n/evil", "/"),
     ("/" + "a" * 501, "/"), ("/ü", "/"), ("//evil.example/", "//evil.example/"), ("/\\evil.example", "/\\evil.example")],
)  # fmt: skip
def test_it_returns_to_this_site_alone(browser, assay, return_to, context):
    browser.get("/sign-in", {"provider": "oidc", "return_to": return_to})
    assert assay.members[-1]["context"] == context
    assay.answers[FINISH] = answer(200, FINISHED | {"context": context})
    location = browser.get("/callback/oidc", RESPONSE).location
    assert urllib.parse.urlsplit(location)[:2] == ("https", "example.com")


def test_a_new_session_takes_the_place_of_the_old(browser, backend):
    sign_in(browser)
    earlier = Browser(backend)
    earlier.cookies = {SESSION: browser.cookies[SESSION]}
    assert signed_in(earlier)
    sign_in(browser)
    assert browser.cookies[SESSION] != earlier.cookies[SESSION]
    assert signed_in(browser) and not signed_in(earlier)


def test_an_unknown_provider_begins_nothing(browser, assay):
    for query in ({"provider": "elsewhere"}, {"provider": "__proto__"}, {}):
        assert browser.get("/sign-in", query).status == 404
    assert assay.requests == 0


# MARK: Somebody else's


def test_another_browser_finishes_nothing(browser, backend, assay):
    browser.get("/sign-in", {"provider": "oidc"})
    begun = assay.requests
    victim = Browser(backend)
    page = victim.get("/callback/oidc", RESPONSE)
    assert (page.status, page.cookies) == (400, {})
    # Nor does one that has begun another sign-in, one with a made-up state, or one without any.
    victim.cookies = {"__Host-sign-in-another": "another-handle"}
    for response in (RESPONSE, {"code": CODE}, {"code": CODE, "state": ""}, {"code": CODE, "state": "x; y=z\r\nA: b"}):
        page = victim.get("/callback/oidc", response)
        assert (page.status, page.cookies) == (400, {})
    assert assay.requests == begun
    assert browser.get("/callback/oidc", RESPONSE).status == 303


@pytest.mark.parametrize("query", [[*RESPONSE.items(), ("code", "another")], [*RESPONSE.items(), ("state", STATE)]])
def test_a_parameter_that_is_there_twice_finishes_nothing(browser, assay, query):
    browser.get("/sign-in", {"provider": "oidc"})
    assert browser.get("/callback/oidc", query).status == 400
    assert FINISH not in assay.paths


def test_a_form_of_another_site_changes_nothing(browser, assay):
    sign_in(browser)
    for path in ("/sign-out", "/delete-account"):
        for origin in ("https://evil.example", "null"):
            assert browser.post(path, origin=origin).status == 403
    assert signed_in(browser) and REVOKE not in assay.paths


# Bytes that are blank to lenient parsers. Browsers accept cookies with such names from other sites.
BLANKS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\xa0"]


@pytest.mark.parametrize("blank", BLANKS, ids=lambda blank: f"{ord(blank):02x}")
def test_a_planted_cookie_signs_nobody_in(browser, backend, assay, blank):
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


def test_without_an_origin_it_does_not_start(command):
    for origin in ({}, {"ORIGIN": ""}):
        variables = environment(AUDIENCES="{}", PORT="0", PYTHONDONTWRITEBYTECODE="1", **origin)
        result = subprocess.run([str(part) for part in command], env=variables, capture_output=True, timeout=30, check=False)
        assert result.returncode != 0 and b"ORIGIN" in result.stderr


# MARK: When it fails


@pytest.mark.parametrize("length", NO_LENGTHS, ids=lambda length: repr(length)[:20])
def test_a_length_that_is_none_is_refused(browser, backend, length):
    lines = (f"Content-Length: {length}", f"Origin: {ORIGIN}")
    assert posted(f"127.0.0.1:{backend.port}", "/sign-out", *lines) == 400


def test_a_person_who_said_no_is_answered_kindly(browser, assay):
    browser.get("/sign-in", {"provider": "oidc", "return_to": "/basket?a=1&b=\"2"})
    members = {"spent": False, "provider_error": "access_denied", "context": "/basket?a=1&b=\"2"}
    assay.fail(FINISH, 422, "sign_in_denied", **members)
    page = browser.get("/callback/oidc", {"error": "access_denied", "state": STATE})
    assert page.status == 200 and "You did not sign in" in page.body
    assert f'href="{ORIGIN}/basket?a=1&amp;b=' in page.body and '"2' not in page.body
    assert "Max-Age=0" in page.cookies[COOKIE][1] and not signed_in(browser)


def test_what_is_not_spent_may_be_sent_again(browser, assay):
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
def test_what_is_over_signs_nobody_in(browser, assay, status, code, spent, shown):
    browser.get("/sign-in", {"provider": "oidc"})
    assay.fail(FINISH, status, code, spent=spent)
    page = browser.get("/callback/oidc", RESPONSE)
    assert page.status == shown and "sign in again" in page.body and code not in page.body
    assert set(page.cookies) == {COOKIE} and COOKIE not in browser.cookies
    assert assay.paths[FINISH] == 1 and not signed_in(browser)


def test_without_assay_nobody_begins(command):
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
    browser.post("/delete-account")  # of the tests before
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
def test_an_account_is_deleted_whatever_the_provider_answers(browser, assay, status, code):
    sign_in(browser)
    browser.post("/delete-account")
    assay.reset()
    sign_in(browser)
    assay.fail(REVOKE, status, code, spent=False)
    assert browser.post("/delete-account").status == 303
    assert assay.paths[REVOKE] == 1 and not signed_in(browser)
