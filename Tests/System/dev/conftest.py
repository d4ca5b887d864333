import pytest

from console.browser import Visit
from console.conftest import chromium, playwright  # noqa: F401 (fixtures)
from harness.commands import Dev


@pytest.fixture(scope="module")
def running():
    with Dev() as process:
        yield process


@pytest.fixture
def dev(running):
    """A development provider, reset so that it has neither faults nor additional users."""
    yield running
    assert running.ask_issuer("POST", "/reset").status == 200


@pytest.fixture
def visit(dev, chromium):  # noqa: F811
    """Opens a page of the development provider. Asserts after the test that no page has reported an error."""
    visits = []

    def open_page(path: str = "/", **context):
        visits.append(Visit(chromium, f"http://{dev.issuer_address}{path}", **context))
        return visits[-1].page

    yield open_page
    for each in visits:
        each.close()
    for each in visits:
        assert [text for text in each.messages if not (each.allows and each.allows in text)] == []
        origin = f"http://{dev.issuer_address}/"
        assert [url for url in each.requests if not url.startswith((origin, "data:,"))] == []
