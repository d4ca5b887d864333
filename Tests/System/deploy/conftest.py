import pytest

from deploy.containers import Engine
from deploy.released import release


@pytest.fixture(scope="session")
def engine():
    with Engine() as engine:
        yield engine


@pytest.fixture(scope="session")
def image(engine):
    """The name of an image that has the binary under test."""
    return engine.image()


@pytest.fixture(scope="session")
def dist():
    return release()
