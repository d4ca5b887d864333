"""Takes the screenshots for docs/testing.md and docs/getting-started.md: light, dark and narrow.

    ASSAY_BINARY=… PYTHONPATH=Tests/System .venv/bin/python -m dev.screenshots
"""

from playwright.sync_api import Page, sync_playwright

from console.browser import Visit, launch
from harness.commands import Dev
from harness.service import REPOSITORY

PICTURES = REPOSITORY / "docs/dev"
ORIGIN = "http://127.0.0.1:9400"
LOOKS = {"light": ("light", 980), "dark": ("dark", 980), "narrow": ("light", 360)}


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    # On the default ports, which the screenshots show.
    options = ("--listen", "127.0.0.1:8080", "--admin-listen", "127.0.0.1:9090", "--issuer-listen", "127.0.0.1:9400")
    with Dev(*options) as dev, sync_playwright() as playwright:
        browser = launch(playwright)
        for look, (scheme, width) in LOOKS.items():
            dev.ask_issuer("POST", "/reset")
            visit = Visit(browser, ORIGIN, color_scheme=scheme, viewport={"width": width, "height": 720})
            take(visit.page, look)
            visit.close()
            assert visit.messages == []
        browser.close()


def take(page: Page, look: str) -> None:
    page.goto(f"{ORIGIN}/apple/browser")
    page.screenshot(path=PICTURES / f"sign-in-{look}.png")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector("text=Accepted")
    page.screenshot(path=PICTURES / f"verdict-{look}.png")
    page.goto(ORIGIN)
    page.get_by_label("Provider").first.select_option("google")
    page.get_by_role("button", name="Switch on: Answer 503").click()
    page.wait_for_selector("text=Providers")
    page.locator("#faults").evaluate("each => each.scrollIntoView()")
    page.screenshot(path=PICTURES / f"panel-{look}.png")


if __name__ == "__main__":
    main()
