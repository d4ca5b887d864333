"""Fixtures of tests whose `server` is a key server that fails as told."""

import pytest


@pytest.fixture
def issuer(server):
    return server.issuer
