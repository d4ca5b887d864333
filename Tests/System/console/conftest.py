
import pytest
from playwright.sync_api import sync_playwright

from console.browser import Visit, launch


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def chromium(playwright):
    browser = launch(playwright)
    yield browser
    browser.close()


@pytest.fixture
def visit(chromium):
    """Opens a service's console: `visit(service)`. Asserts after the test that none has reported an error."""
    visits = []

    def open_console(service, **context) -> Visit:
        visits.append(Visit(chromium, f"http://{service.admin.address}/console", **context))
        service.guests.append(visits[-1].close)
        return visits[-1]

    yield open_console
    for each in visits:
        each.close()
    for each in visits:
        each.assert_clean()
