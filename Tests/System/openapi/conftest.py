
import pytest

from harness.issuer import KeyServer
from harness.token_endpoint import TokenEndpoint
from openapi.example_service import ExampleService


@pytest.fixture(scope="session")
def examples():
    """The service of the examples, which is ready."""
    with KeyServer() as key_server, TokenEndpoint() as endpoint:
        examples = ExampleService(key_server, endpoints=endpoint.url)
        examples.endpoint = endpoint
        with examples.service:
            examples.service.wait_until_ready()
            yield examples


@pytest.fixture
def api(examples):
    """A client of the service listener of the examples' service."""
    return examples.service.api


def pytest_collection_modifyitems(items):
    """Runs the tests that check all responses last."""
    items.sort(key=lambda item: item.path.name == "test_coverage.py")
