import pathlib
import sys

import pytest
from playwright.sync_api import sync_playwright

# The tests' own modules, and the end-to-end tests' harness, whichever way pytest was started.
HERE = pathlib.Path(__file__).parent
for directory in (HERE.parent / "EndToEnd", HERE):
    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))

from browser import Visit, launch  # noqa: E402
from harness.issuer import KeyServer  # noqa: E402


@pytest.fixture
def server():
    """A key server for one test."""
    with KeyServer() as key_server:
        yield key_server


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
    """Opens a service's console: `visit(service)`. At the end of the test, nothing may have gone wrong in any of them."""
    visits = []

    def open_console(service, **context) -> Visit:
        visits.append(Visit(chromium, f"http://{service.admin.address}/console", **context))
        return visits[-1]

    yield open_console
    for each in visits:
        each.close()
    for each in visits:
        each.assert_clean()
