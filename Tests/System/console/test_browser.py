"""The console in a real browser, as an operator sees it.

After each test, `visit` asserts that there was no error, no violation of the page's policy, and no request elsewhere.
"""

import re

import pytest
from playwright.sync_api import expect

from console.accessibility import faults
from console.browser import Visit, launch
from harness.service import Service, apple_like, google_like, provider, with_console
from harness.tokens import ec_key, jws, rsa_key, sha256_hex

KEY = "operator-key-0123456789"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'`{{7*7}}"


@pytest.fixture
def apple(server):
    return server.issuer("apple", rsa_key("apple-1"))


@pytest.fixture
def service(server, apple):
    google = server.issuer("google", rsa_key("google-1"))
    with with_console(apple_like(apple), google_like(google)) as running:
        yield running.wait_until_ready()


def seen(locator) -> bool:
    """Whether an element is visible on the screen, not only to screen readers."""
    box = locator.bounding_box()
    return box is not None and box["width"] > 24 and box["height"] > 12


def card(page, section: str, provider_id: str):
    heading = page.get_by_role("heading", name=re.compile(f"^{re.escape(provider_id)}"), level=3)
    return page.locator(f"#{section} article").filter(has=heading)


# MARK: Contents


def test_providers_and_their_keys_are_shown(service, visit, apple):
    page = visit(service).page
    expect(page.get_by_role("heading", level=1)).to_have_text("Assay console")
    for id, kid in (("apple", "apple-1"), ("google", "google-1")):
        shown = card(page, "providers", id)
        expect(shown).to_contain_text("ready")
        expect(shown.get_by_role("row").nth(1)).to_contain_text(kid)
        expect(shown.get_by_role("row").nth(1)).to_contain_text("in use")
    expect(card(page, "providers", "apple")).to_contain_text(apple.url)


def test_an_unreachable_provider_is_shown_with_its_error(server, visit):
    down = server.issuer("down")
    down.jwks.status = 500
    with with_console(provider(down, optional=True)) as service:
        service.wait_until(lambda: service.provider_state("oidc")["last_error"])
        page = visit(service).page
        shown = card(page, "providers", "oidc")
        expect(shown).to_contain_text("unavailable")
        expect(shown).to_contain_text("http: " + service.provider_state("oidc")["last_error"]["message"])
        expect(page.locator("#events")).to_contain_text("Fetch failed (http)")


def test_a_rotation_appears_without_reloading_the_page(service, visit, apple):
    page = visit(service).page
    expect(page.locator("#event-list")).to_contain_text("added 1: apple-1")
    apple.rotate(rsa_key("apple-2"))
    page.get_by_role("button", name="Fetch the keys of apple now").click()
    expect(page.get_by_role("status")).to_have_text("The keys of apple were fetched.")
    shown = card(page, "providers", "apple")
    expect(shown.get_by_role("row").filter(has_text="apple-2")).to_contain_text("in use")
    # One response may be incomplete, so missing keys are dropped only if an operator asks for it.
    expect(shown.get_by_role("row").filter(has_text="apple-1")).to_contain_text("omitted by the last response")
    events = page.locator("#event-list li")
    expect(events.filter(has_text="added 1: apple-2")).to_contain_text("apple")
    assert service.admin.post("/v1/providers/apple/refresh?drop_omitted=true").status == 200
    expect(shown).not_to_contain_text("apple-1")
    expect(events.filter(has_text="removed 1: apple-1")).to_contain_text("apple")


def test_a_failed_fetch_is_reported_until_the_next(service, visit, apple):
    page = visit(service).page
    button = page.get_by_role("button", name="Fetch the keys of apple now")
    expect(button).to_be_visible()
    apple.jwks.status = 500
    button.click()
    told = re.compile("^The keys of apple could not be fetched: http: .*500")
    expect(page.get_by_role("status")).to_have_text(told)
    shown = card(page, "providers", "apple").get_by_text("could not be fetched")
    expect(shown).to_have_text(re.compile("^✕ The keys of apple could not be fetched: http: .*500"))
    assert seen(shown)
    expect(card(page, "providers", "apple")).to_contain_text("Last error")
    assert faults(page) == []
    # The next outcome replaces the error.
    apple.jwks.status = 200
    button.click()
    expect(card(page, "providers", "apple")).to_contain_text("✓ The keys of apple were fetched.")
    expect(shown).to_have_count(0)


def test_a_failed_fetch_without_older_keys_is_reported(server, visit):
    down = server.issuer("down")
    down.jwks.status = 500
    with with_console(provider(down, optional=True)) as service:
        page = visit(service, allows="the server responded with a status of 503").page
        page.get_by_role("button", name="Fetch the keys of oidc now").click()
        shown = card(page, "providers", "oidc").get_by_text("could not be fetched")
        expect(shown).to_have_text(re.compile("^✕ The keys of oidc could not be fetched: http: .*500"))
        expect(page.get_by_role("status")).to_have_text(re.compile("could not be fetched: http: .*500"))


def test_version_uptime_and_time_zone_are_shown(service, visit):
    told = service.admin.get("/v1/providers").json["service"]
    page = visit(service, timezone_id="Asia/Kolkata").page
    line = page.locator("#instance")
    expect(line).to_have_text(
        re.compile(f"^Assay {re.escape(told['version'])} · up for \\d+ (s|min)( \\d+ s)? · times are in Asia/(Kolkata|Calcutta) \\(UTC\\+05:30\\)$")
    )
    for id, audience in (("apple", "client"), ("google", "client")):
        expect(card(page, "providers", id).get_by_text("Audience", exact=True)).to_be_visible()
        expect(card(page, "providers", id)).to_contain_text(audience)


def test_the_root_redirects_to_the_console(service, visit):
    page = visit(service).page
    page.goto(f"http://{service.admin.address}/")
    expect(page).to_have_url(f"http://{service.admin.address}/console")
    expect(card(page, "providers", "apple")).to_be_visible()


def test_the_page_updates_itself(service, visit, apple):
    """The operator's input and focus survive updates."""
    page = visit(service).page
    expect(page.locator("#verdicts")).to_contain_text("No token has been verified yet.")
    page.get_by_label("Token", exact=True).fill("half a tok")
    service.accept(apple.token())
    expect(card(page, "verdicts", "apple")).to_contain_text("1 token", timeout=15_000)
    expect(page.get_by_label("Token", exact=True)).to_have_value("half a tok")
    expect(page.get_by_label("Token", exact=True)).to_be_focused()


def test_sign_ins_and_their_store_are_shown_if_enabled(service, server, visit):
    page = visit(service).page
    expect(page.locator("#verdicts")).to_contain_text("No token has been verified yet.")
    expect(page.locator("#sign-ins")).to_be_hidden()
    expect(page.get_by_role("link", name="Sign-ins")).to_be_hidden()
    issuer = server.issuer("signing")
    console = {"listen": "127.0.0.1:0", "console": True}
    with Service(provider(issuer), admin=console, sign_ins={}) as signing:
        signing.wait_until_ready()
        begun = [signing.api.post("/v1/sign-ins", {"provider": "oidc"}).json for _ in range(3)]
        for each in (begun[0], begun[0], {"sign_in": "x", "nonce": "x"}):
            body = {"sign_in": each["sign_in"], "id_token": issuer.token(nonce=each["nonce"])}
            signing.api.post("/v1/sign-ins/finish", body)
        page = visit(signing).page
        shown = card(page, "sign-ins", "oidc").get_by_role("listitem")
        outcomes = [re.compile("begun *3"), re.compile("finished *1"), re.compile("sign_in_replayed *1")]
        expect(shown).to_have_text(outcomes)
        expect(card(page, "sign-ins", "No provider found")).to_contain_text("sign_in_invalid")
        expect(page.locator("#store")).to_have_text(
            re.compile("The sign-in store .* is available, and holds 1 in this process.")
        )


def test_notifications_are_shown_if_enabled(service, server, visit):
    page = visit(service).page
    expect(page.locator("#verdicts")).to_contain_text("No token has been verified yet.")
    expect(page.locator("#notifications")).to_be_hidden()
    issuer = server.issuer("notifying")
    console = {"listen": "127.0.0.1:0", "console": True}
    with Service(provider(issuer, notifications=["logout"]), admin=console) as notified:
        notified.wait_until_ready()
        page = visit(notified).page
        expect(page.locator("#notifications")).to_contain_text("No notification has been verified yet.")
        events = {"http://schemas.openid.net/event/backchannel-logout": {}}
        for claims in ({"jti": "1"}, {"jti": "1"}, {}):
            token = issuer.token(events=events, **claims)
            notified.api.post("/v1/notifications/verify", {"token": token})
        notified.api.post("/v1/notifications/verify", {"token": "x"})
        page = visit(notified).page
        shown = card(page, "notifications", "oidc").get_by_role("listitem")
        expect(shown).to_have_text([re.compile("logout *2"), re.compile("claim_missing *1")])
        expect(card(page, "notifications", "No provider found")).to_contain_text("token_malformed")


def test_access_tokens_and_gateways_are_shown_if_enabled(service, server, visit):
    page = visit(service).page
    expect(page.locator("#verdicts")).to_contain_text("No token has been verified yet.")
    for section in ("#access-tokens", "#gateways"):
        expect(page.locator(section)).to_be_hidden()
    issuer = server.issuer("granting")
    access = provider(issuer, "api", tokens="access", audiences=["https://api.example/"])
    policies = {"policies": [{"id": "edge", "providers": ["api"]}]}
    with Service(access, admin={"listen": "127.0.0.1:0", "console": True}, forward_auth=policies) as asked:
        asked.wait_until_ready()
        page = visit(asked).page
        expect(page.locator("#gateways")).to_contain_text("No gateway has sent a request yet.")
        claims = {"aud": "https://api.example/", "client_id": "app", "jti": "1"}
        token = jws(issuer.keys[0], issuer.claims(**claims), typ="at+jwt")
        for headers in ({"Authorization": f"Bearer {token}"}, {"Authorization": f"Bearer {token}"}, {}):
            asked.api.get("/v1/forward-auth/edge/path", headers)
        asked.api.post("/v1/access-tokens/verify", {"token": token, "scopes": ["more"]})
        page = visit(asked).page
        shown = card(page, "gateways", "edge").get_by_role("listitem")
        expect(shown).to_have_text([re.compile("allowed *2"), re.compile("token_missing *1")])
        expect(card(page, "access-tokens", "api")).to_contain_text("scope_missing")


def test_verdicts_are_bars_in_proportion_to_their_share(service, visit, apple):
    for _ in range(3):
        service.accept(apple.token())
    service.reject(apple.token(exp=1), "token_expired")
    service.reject("x", "token_malformed")
    page = visit(service).page
    shown = card(page, "verdicts", "apple")
    expect(shown).to_contain_text("4 tokens")
    expect(shown.get_by_role("listitem")).to_have_text([re.compile("ok *3"), re.compile("token_expired *1")])
    shares = shown.locator(".bar > span").evaluate_all(
        "bars => bars.map(bar => bar.getBoundingClientRect().width / bar.parentElement.getBoundingClientRect().width)"
    )
    assert shares == pytest.approx([0.75, 0.25], abs=0.01)
    expect(card(page, "verdicts", "No provider found")).to_contain_text("token_malformed")


def test_events_can_be_filtered_by_provider(service, visit):
    page = visit(service).page
    events = page.locator("#event-list li")
    expect(events.filter(has_text="google")).not_to_have_count(0)
    page.get_by_label("Of the provider").select_option("apple")
    expect(events.filter(has_text="google")).to_have_count(0)
    expect(events.filter(has_text="apple")).not_to_have_count(0)


def test_an_unreachable_listener_is_reported(server, visit):
    service = with_console(provider(server.issuer("short"), optional=True))
    with service:
        opened = visit(service, allows="net::ERR_CONNECTION_REFUSED")
        expect(opened.page.get_by_role("heading", name="oidc")).to_be_visible()
        service.stop()
        expect(opened.page.get_by_role("alert")).to_have_text("The listener can’t be reached.", timeout=15_000)
        # The last known state stays visible.
        expect(opened.page.get_by_role("heading", name="oidc")).to_be_visible()


# MARK: Explaining


def test_a_valid_token_is_explained(service, visit, apple):
    page = visit(service).page
    page.get_by_label("Token", exact=True).fill("  " + apple.token(nonce=sha256_hex("n-1")) + "\n")
    page.get_by_label("Nonce of the sign-in").fill("n-1")
    page.get_by_role("button", name="Explain").click()
    result = page.locator("#explanation")
    expect(result.get_by_role("heading", level=3)).to_be_visible()
    expect(result.get_by_role("listitem").filter(has_text="signature").first).to_contain_text("passed")
    expect(result.get_by_role("listitem").filter(has_text="failed")).to_have_count(0)


def test_a_refused_token_is_explained_with_a_fix(service, visit, apple):
    page = visit(service).page
    page.get_by_label("Token", exact=True).fill(apple.token(exp=1))
    page.get_by_label("Provider", exact=True).select_option("apple")
    page.get_by_role("button", name="Explain").click()
    result = page.locator("#explanation")
    expect(result).to_contain_text("token_expired")
    failed = result.get_by_role("listitem").filter(has_text="failed")
    expect(failed).not_to_have_count(0)
    expect(failed.first).to_contain_text("What to do:")
    assert faults(page) == []
    page.get_by_role("button", name="Clear").click()
    expect(result).to_be_empty()
    expect(page.get_by_label("Token", exact=True)).to_have_value("")


def test_access_tokens_and_policies_are_explained(server, visit):
    issuer = server.issuer("explained-in-console")
    access = provider(issuer, "api", tokens="access", audiences=["https://api.example/"])
    policies = {"policies": [{"id": "edge", "providers": ["api"], "require": {"scopes": ["write"]}}]}
    claims = {"aud": "https://api.example/", "client_id": "app", "jti": "1", "scope": "read"}
    token = jws(issuer.keys[0], issuer.claims(**claims), typ="at+jwt")
    with Service(access, admin={"listen": "127.0.0.1:0", "console": True}, forward_auth=policies) as asked:
        asked.wait_until_ready()
        page = visit(asked).page
        result = page.locator("#explanation")
        expect(page.get_by_label("Policy", exact=True)).to_be_hidden()
        page.get_by_label("Token", exact=True).fill(token)
        page.get_by_label("Verify as").select_option("access")
        expect(page.get_by_label("Nonce of the sign-in")).to_be_hidden()
        page.get_by_label("Required scopes").fill("read  write")
        page.get_by_role("button", name="Explain").click()
        expect(result).to_contain_text("The token does not grant write.")
        page.get_by_label("Verify as").select_option("policy")
        expect(page.get_by_label("Provider", exact=True)).to_be_hidden()
        page.get_by_label("Policy", exact=True).fill("edge")
        page.get_by_role("button", name="Explain").click()
        expect(result).to_contain_text("require.scopes of the policy edge")
        assert faults(page) == []
        page.get_by_role("button", name="Clear").click()
        expect(page.get_by_label("Nonce of the sign-in")).to_be_visible()
        expect(page.get_by_label("Policy", exact=True)).to_be_hidden()


def test_a_malformed_token_is_explained_and_escaped(service, visit):
    page = visit(service).page
    page.get_by_label("Token", exact=True).fill(HOSTILE)
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("#explanation")).to_contain_text("token_malformed")
    assert page.locator("#explanation").locator("img, script").count() == 0


def test_checks_that_were_not_reached_are_folded_into_one_line(service, visit):
    page = visit(service).page
    page.get_by_label("Token", exact=True).fill("no.token")
    page.get_by_role("button", name="Explain").click()
    result = page.locator("#explanation")
    folded = result.get_by_text(re.compile(r"\d+ checks were not reached$"))
    expect(folded).to_be_visible()
    rows = result.locator("details h4")
    expect(rows.first).to_be_hidden()
    assert faults(page) == []
    folded.click()
    expect(rows.first).to_have_text(re.compile("not reached$"))
    expect(rows.first).to_be_visible()
    assert faults(page) == []


def test_a_tokens_contents_are_shown_on_request(service, visit, apple):
    page = visit(service).page
    page.get_by_label("Token", exact=True).fill(apple.token(email="somebody@example.com"))
    page.get_by_role("button", name="Explain").click()
    shown = page.locator("#explanation .contents")
    expect(shown.get_by_text("apple-1")).to_be_hidden()
    shown.get_by_text("Contents of the token").click()
    expect(shown.get_by_text("apple-1")).to_be_visible()
    expect(shown.get_by_text("email", exact=True)).to_be_visible()
    assert "somebody@example.com" not in shown.inner_text()
    assert faults(page) == []


def test_tokens_are_not_stored(service, visit, apple):
    token = apple.token()
    opened = visit(service)
    opened.page.get_by_label("Token", exact=True).fill(token)
    opened.page.get_by_role("button", name="Explain").click()
    expect(opened.page.locator("#explanation").get_by_role("heading", level=3)).to_be_visible()
    assert opened.page.url == opened.url
    assert kept(opened) == [{}, {}, ""]
    assert not [url for url in opened.requests if token in url]
    opened.page.reload()
    expect(opened.page.get_by_label("Token", exact=True)).to_have_value("")


# MARK: The API key


def kept(opened: Visit) -> list:
    return opened.page.evaluate("[{ ...sessionStorage }, { ...localStorage }, document.cookie]")


def test_the_page_asks_for_a_required_api_key(server, visit):
    issuer = server.issuer("guarded", ec_key("guarded-1"))
    with with_console(provider(issuer), api_keys=[sha256_hex(KEY)]) as service:
        service.wait_until(lambda: issuer.jwks.count)
        opened = visit(service, allows="the server responded with a status of 401")
        page = opened.page
        field = page.get_by_label(re.compile("One of the keys"))
        expect(field).to_be_focused()
        expect(page.locator("#provider-list")).to_be_empty()
        expect(page.get_by_role("alert")).to_be_hidden()
        assert faults(page) == []

        field.fill("wrong")
        field.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("The API key was refused: it is not one of this listener’s.")
        expect(field).to_be_visible()
        assert seen(page.get_by_role("alert"))
        expect(field).to_have_attribute("aria-invalid", "true")
        assert faults(page) == []
        assert kept(opened) == [{}, {}, ""]

        field.fill(KEY)
        field.press("Enter")
        expect(page.get_by_role("heading", name="oidc")).to_be_visible()
        expect(field).to_be_hidden()
        page.get_by_role("button", name="Fetch the keys of oidc now").click()
        expect(page.get_by_role("status")).to_have_text("The keys of oidc were fetched.")
        # The key is kept only for this tab.
        assert kept(opened) == [{"assay-api-key": KEY}, {}, ""]
        assert KEY not in page.content() and not [url for url in opened.requests if KEY in url]
        page.reload()
        expect(page.get_by_role("heading", name="oidc")).to_be_visible()

        page.get_by_role("button", name="Forget the API key").click()
        expect(page.get_by_role("heading", name="oidc")).to_have_count(0)
        expect(field).to_be_focused()
        assert kept(opened) == [{}, {}, ""]


# MARK: Hostile text


def test_a_kid_that_is_markup_stays_text(server, visit):
    hostile = server.issuer("hostile", ec_key(HOSTILE))
    with with_console(provider(hostile)) as service:
        service.wait_until_ready()
        page = visit(service).page
        expect(card(page, "providers", "oidc").locator("code")).to_have_text(HOSTILE)
        expect(page.locator("#event-list code").first).to_have_text(HOSTILE)
        assert page.locator("img, main script").count() == 0


def test_any_response_stays_text(service, visit):
    """The service never sends such text, but the page does not rely on that."""

    def spoil(value):
        if isinstance(value, dict):
            return {name: value[name] if name in ("state", "event") else spoil(value[name]) for name in value}
        if isinstance(value, list):
            return [spoil(each) for each in value]
        return HOSTILE if isinstance(value, str) else value

    def answer(route):
        route.fulfill(json=spoil(route.fetch().json()))

    service.reject("x", "token_malformed")
    opened = visit(service)
    opened.page.route("**/v1/*", answer)
    opened.page.reload()
    for place in ("#provider-list", "#verdict-list", "#event-list", "#event-filter"):
        expect(opened.page.locator(place)).to_contain_text(HOSTILE)
    assert opened.page.locator("img, main script").count() == 0


# MARK: Access control


def test_other_sites_can_neither_frame_nor_call_it(server, chromium, service, apple):
    page_of_another = server.document("/elsewhere", b"<!doctype html><title>elsewhere</title>")
    page_of_another.headers = {"Content-Type": "text/html"}
    other = chromium.new_page()
    other.goto(f"{server.url}/elsewhere")
    admin = f"http://{service.admin.address}"
    fetches = apple.jwks.count
    sent = other.evaluate(
        """async (url) => {
            const answer = await fetch(url, { method: "POST", mode: "no-cors" });
            const read = await fetch(url.replace(/apple.*/, ""), { mode: "cors" }).then(() => "read", () => "refused");
            return [answer.type, read];
        }""",
        f"{admin}/v1/providers/apple/refresh",
    )
    assert sent == ["opaque", "refused"]
    assert apple.jwks.count == fetches
    refused = service.wait_for_entry(message="request", route="/v1/providers/{id}/refresh")
    assert (refused["status"], refused["code"]) == (400, "request_invalid")

    other.evaluate(
        """(url) => new Promise((done) => {
            const frame = document.createElement("iframe");
            frame.onload = done;
            frame.src = url;
            document.body.append(frame);
        })""",
        f"{admin}/console",
    )
    assert "Assay console" not in [frame.title() for frame in other.frames]
    other.close()


def test_another_host_name_for_this_machine_is_refused(playwright, service):
    """DNS rebinding would give the console the attacker's origin."""
    browser = launch(playwright, "--host-resolver-rules=MAP evil.example 127.0.0.1")
    try:
        page = browser.new_page()
        port = service.admin.address.rsplit(":", 1)[1]
        assert page.goto(f"http://evil.example:{port}/console").status == 400
        statuses = page.evaluate(
            """() => Promise.all(["/v1/providers", "/v1/events", "/v1/verdicts"].map(
                (path) => fetch(path).then((answer) => answer.status)))"""
        )
        assert statuses == [400, 400, 400]
        assert page.goto(f"http://localhost:{port}/console").status == 200
    finally:
        browser.close()


# MARK: Accessibility


@pytest.fixture
def busy(server, apple):
    """A service with data for each part of the page."""
    down = server.issuer("down", ec_key("down"))
    down.jwks.status = 500
    with with_console(apple_like(apple), provider(down, "oidc.example", optional=True)) as service:
        service.wait_until_ready()
        service.accept(apple.token())
        service.reject(apple.token(exp=1), "token_expired")
        apple.rotate(apple.keys[0], rsa_key("a-rather-long-name-of-a-key-that-has-no-place-to-break-5b3706960e3e60024a2655e7"))
        service.admin.post("/v1/providers/apple/refresh")
        service.wait_until(lambda: service.provider_state("oidc.example")["last_error"])
        yield service


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 640, 320])
def test_the_page_is_accessible_at_any_width(busy, visit, scheme, width):
    page = visit(busy, color_scheme=scheme, viewport={"width": width, "height": 800}).page
    expect(card(page, "verdicts", "apple")).to_be_visible()
    assert faults(page) == []


def test_light_and_dark_follow_the_system(busy, visit):
    page = visit(busy, color_scheme="light").page
    ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    assert min(page.evaluate(ground)) > 220
    page.emulate_media(color_scheme="dark")
    assert max(page.evaluate(ground)) < 50


def test_high_contrast_and_double_size_are_readable(busy, visit):
    page = visit(busy, forced_colors="active").page
    expect(card(page, "verdicts", "apple").locator(".bar").first).to_have_css("border-top-style", "solid")
    page.add_init_script("addEventListener('DOMContentLoaded', () => document.documentElement.style.fontSize = '200%')")
    page.reload()
    expect(card(page, "verdicts", "apple")).to_be_visible()
    assert "wider than the window" not in faults(page)


def test_states_are_never_shown_by_colour_alone(busy, visit):
    page = visit(busy).page
    for badge, word in (("apple", "ready"), ("oidc.example", "unavailable")):
        expect(card(page, "providers", badge).locator(".badge")).to_have_text(re.compile(rf"\S {word}"))


def test_everything_can_be_done_with_the_keyboard(service, visit, apple):
    page = visit(service).page
    expect(card(page, "providers", "google")).to_be_visible()
    focused = "document.activeElement"

    def press(key: str) -> str:
        """Presses a key; returns the focused element's name. Asserts that the focus is visible."""
        page.keyboard.press(key)
        outline, height = page.evaluate(
            f"[getComputedStyle({focused}).outlineStyle, {focused}.getBoundingClientRect().height]"
        )
        assert outline != "none" and height > 0
        return page.evaluate(f"{focused}.getAttribute('aria-label') ?? ({focused}.id || {focused}.textContent)")

    assert press("Tab") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate(f"{focused}.id") == "main"
    assert press("Tab") == "Fetch the keys of apple now"
    apple.rotate(rsa_key("apple-2"))
    page.keyboard.press("Enter")
    expect(card(page, "providers", "apple")).to_contain_text("apple-2")
    # The focus survives the redrawn card.
    assert page.evaluate(f"{focused}.getAttribute('aria-label')") == "Fetch the keys of apple now"
    assert press("Tab") == "Fetch the keys of google now"
    assert press("Tab") == "token-field"
    page.keyboard.insert_text(apple.token())
    assert press("Tab") == "kind-field"
    assert press("Tab") == "provider-field"
    page.keyboard.type("apple")
    expect(page.get_by_label("Provider", exact=True)).to_have_value("apple")
    assert press("Tab") == "nonce-field"
    assert press("Tab") == "Explain"
    page.keyboard.press("Enter")
    expect(page.locator("#explanation").get_by_role("heading", level=3)).to_be_visible()
    assert press("Tab") == "Clear"
    assert press("Tab") == "Contents of the token"
    assert press("Tab") == "event-filter"
    assert press("Shift+Tab") == "Contents of the token"


def test_outcomes_are_announced(service, visit):
    page = visit(service).page
    status = page.get_by_role("status")
    assert status.get_attribute("aria-live") in (None, "polite")
    page.get_by_role("button", name="Fetch the keys of apple now").click()
    expect(status).to_have_text("The keys of apple were fetched.")
    # Automatic updates are not announced.
    assert page.locator("[aria-live]").count() == 0
    assert page.locator("#updated").get_attribute("role") is None


def test_without_javascript_the_page_says_that_it_is_needed(service, visit):
    page = visit(service, java_script_enabled=False).page
    expect(page.get_by_text("needs JavaScript")).to_be_visible()
