"""Takes the screenshots for docs/console.md, light and dark.

    ASSAY_BINARY=… PYTHONPATH=Tests/System .venv/bin/python -m console.screenshots
"""

from playwright.sync_api import sync_playwright

from console.browser import Visit, launch
from harness.issuer import KeyServer
from harness.service import REPOSITORY, Service, apple_like, google_like, provider
from harness.tokens import ec_key, rsa_key, sha256_hex
from sign_ins.calls import ON, begin, finish

PICTURES = REPOSITORY / "docs/console"


def main() -> None:
    with KeyServer() as server, sync_playwright() as playwright:
        apple = server.issuer("apple", rsa_key("W6WcOKB"), rsa_key("fh6Bs8C"))
        google = server.issuer("google", rsa_key("5b3706960e3e60024a2655e7"))
        down = server.issuer("auth", ec_key("2026-10"))
        down.jwks.status = 503
        providers = [apple_like(apple), google_like(google), provider(down, "oidc.example", optional=True)]
        console = {"listen": "127.0.0.1:0", "console": True}
        with Service(*providers, admin=console, **ON) as service:
            service.wait_until_ready()
            service.wait_until(lambda: service.provider_state("oidc.example")["last_error"])
            verify(service, apple, google)
            sign_in(service, apple)
            apple.rotate(apple.keys[0], rsa_key("Ey3tWUrUrC"))
            service.admin.post("/v1/providers/apple/refresh")
            browser = launch(playwright)
            for scheme in ("light", "dark"):
                size = {"width": 980, "height": 880}
                visit = Visit(browser, f"http://{service.admin.address}/console", color_scheme=scheme, viewport=size)
                take(visit, scheme, apple.token(nonce=sha256_hex("the nonce of another sign-in")))
                visit.close()
                visit.assert_clean()
            browser.close()


def verify(service, apple, google) -> None:
    for issuer, good, late, foreign in ((apple, 48, 5, 2), (google, 31, 2, 0)):
        for _ in range(good):
            service.accept(issuer.token())
        for _ in range(late):
            service.reject(issuer.token(exp=1), "token_expired")
        for _ in range(foreign):
            service.reject(issuer.token(aud="another"), "audience_mismatch")


def sign_in(service, issuer) -> None:
    for number in range(34):
        begun = begin(service, "apple")
        if number % 8 == 7:
            continue
        token = issuer.token(nonce=begun["nonce_sha256"])
        finish(service, begun, token)
        if number % 16 == 0:
            finish(service, begun, token)


def take(visit: Visit, scheme: str, token: str) -> None:
    page = visit.page
    page.wait_for_selector("#verdict-list article")
    # One picture of what refreshes automatically, and one of an explanation.
    page.evaluate("document.getElementById('explain').hidden = true")
    page.screenshot(path=PICTURES / f"overview-{scheme}.png")
    page.evaluate("document.getElementById('explain').hidden = false")
    page.get_by_label("Token", exact=True).fill(token)
    page.get_by_label("Nonce of the sign-in").fill("n-0S6_WzA2Mj")
    page.get_by_role("button", name="Explain").click()
    page.wait_for_selector("#explanation article")
    page.get_by_label("Token", exact=True).evaluate("each => each.scrollTop = 0")
    page.locator("#explain").evaluate("each => each.scrollIntoView()")
    page.screenshot(path=PICTURES / f"explanation-{scheme}.png")


if __name__ == "__main__":
    main()
