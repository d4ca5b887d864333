import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
# The tests' own modules and the harness, whichever directory and import mode pytest was started with.
sys.path[:0] = [str(HERE), str(HERE.parent / "EndToEnd")]

from catalogue import KNOWN_FAULTS  # noqa: E402
from harness.issuer import KeyServer  # noqa: E402
from results import Results  # noqa: E402
from world import World  # noqa: E402

RESULTS = Results()


@pytest.fixture
def server():
    """A key server for one test."""
    with KeyServer() as key_server:
        yield key_server


@pytest.fixture(scope="session")
def shared_world():
    shared = World()
    yield shared
    shared.close()


@pytest.fixture
def world(shared_world):
    """The issuers and the service that trusts them; after each case it must be as it was before."""
    yield shared_world
    shared_world.assert_unharmed()


def pytest_collection_modifyitems(items):
    """Cases marked `first` and `last`: what one has begun, time must pass for the other to see."""
    items.sort(key=lambda item: bool(item.get_closest_marker("last")) - bool(item.get_closest_marker("first")))
    for item in items:
        callspec = getattr(item, "callspec", None)
        if HERE in item.path.parents and callspec and callspec.id in KNOWN_FAULTS:
            item.add_marker(pytest.mark.xfail(strict=True, reason=KNOWN_FAULTS[callspec.id]))


def pytest_configure(config):
    config.addinivalue_line("markers", "first: runs before all others")
    config.addinivalue_line("markers", "last: runs after all others")


def pytest_runtest_logreport(report):
    RESULTS.add(report)


def pytest_terminal_summary(terminalreporter):
    if RESULTS:
        terminalreporter.section("catalogue of attacks")
        for line in RESULTS.summary():
            terminalreporter.write_line(line)


def pytest_sessionfinish():
    RESULTS.write()
