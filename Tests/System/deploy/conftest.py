import pytest

from deploy.containers import Engine


@pytest.fixture(scope="session")
def engine():
    with Engine() as engine:
        yield engine


@pytest.fixture(scope="session")
def image(engine):
    """The name of the image of the binary that is tested."""
    return engine.image()
