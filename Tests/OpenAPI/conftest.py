import pathlib
import sys

import pytest

# The tests' own modules, and the end-to-end tests' harness, whichever way pytest was started.
HERE = pathlib.Path(__file__).parent
for directory in (HERE.parent / "EndToEnd", HERE):
    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))

from example_service import ExampleService  # noqa: E402
from harness import contract  # noqa: E402
from harness.issuer import KeyServer  # noqa: E402


@pytest.fixture(scope="session")
def examples():
    """The examples' service, ready."""
    with KeyServer() as key_server:
        examples = ExampleService(key_server)
        with examples.service:
            examples.service.wait_until_ready()
            yield examples


@pytest.fixture
def api(examples):
    """Requests to the service listener of the examples' service."""
    return examples.service.api


def pytest_collection_modifyitems(items):
    """Whatever looks at all the answers comes after those who get them."""
    items.sort(key=lambda item: item.path.name == "test_openapi_coverage.py")


def pytest_sessionfinish():
    contract.dump_recording()
