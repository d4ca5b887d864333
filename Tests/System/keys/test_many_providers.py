"""Hundreds of providers: what they share, and how many of their fetches are under way at once."""

import os

import pytest

from harness.issuer import Issuer
from harness.service import Service, provider
from harness.tokens import ec_key
from harness.waiting import poll

KEY = ec_key()


@pytest.fixture
def issuers(server) -> list[Issuer]:
    return [server.issuer(f"op-{number}", KEY) for number in range(300)]


def serve(issuers: list[Issuer], **settings) -> Service:
    return Service(*(provider(issuer, issuer.name) for issuer in issuers), **settings)


def waiting(issuers: list[Issuer]) -> list[Issuer]:
    """Those whose key set has been requested."""
    return [issuer for issuer in issuers if issuer.jwks.count]


def test_providers_have_no_threads_of_their_own(issuers):
    with serve(issuers) as service:
        service.wait_until_ready()
        assert service.threads() <= 24 + 2 * len(os.sched_getaffinity(0))
        for issuer in (issuers[0], issuers[-1]):
            service.accept(issuer.token())
            assert (issuer.discovery.count, issuer.jwks.count) == (1, 1)


def test_a_fetch_begins_when_another_has_ended(issuers):
    """None more than `keys.max_fetches` is under way, whether a provider's answer is slow, an error or good."""
    some = issuers[:8]
    for issuer in some:
        issuer.jwks.hold()
    with serve(some, keys={"max_fetches": 2}) as service:
        ended: list[Issuer] = []
        for count in range(2, 9):
            poll(lambda: len(waiting(some)) == count)
            assert sum(issuer.discovery.count > 0 for issuer in some) == count
            [first, _] = [issuer for issuer in waiting(some) if issuer not in ended]
            first.jwks.status = 500 if count == 3 else 200
            first.jwks.release()
            ended.append(first)
        for issuer in some:
            issuer.jwks.status = 200
            issuer.jwks.release()
        service.wait_until_ready()
