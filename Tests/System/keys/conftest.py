"""Fixtures for tests whose `server` is a key server with configurable faults."""

import pytest


@pytest.fixture
def issuer(server):
    return server.issuer
