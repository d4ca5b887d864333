import pathlib
import sys

import pytest

# The tests' own modules, whichever directory and import mode pytest was started with.
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from harness import contract  # noqa: E402
from harness.issuer import KeyServer  # noqa: E402
from harness.service import Service, apple_like, google_like, provider  # noqa: E402
from harness.tokens import ALGORITHMS, key_for  # noqa: E402


@pytest.fixture
def server():
    """A key server for one test."""
    with KeyServer() as key_server:
        yield key_server


@pytest.fixture(scope="session")
def shared_server():
    with KeyServer() as key_server:
        yield key_server


class World:
    """A running service with the issuers that it trusts, shared by tests that change neither."""

    def __init__(self, key_server: KeyServer):
        self.apple = key_server.issuer("apple", key_for("rsa", "apple-1"))
        self.google = key_server.issuer("google", key_for("rsa", "google-1"))
        self.oidc = key_server.issuer("oidc", *(key_for(kind) for kind in dict.fromkeys(ALGORITHMS.values())))
        # What a test changes of the `oidc` provider, at issuers with the same keys.
        self.issuers = {name: key_server.issuer(name, *self.oidc.keys) for name in self.variants}
        self.service = Service(
            apple_like(self.apple),
            google_like(self.google),
            provider(self.oidc, "oidc", audiences=["client", "other-client"], algorithms=list(ALGORITHMS)),
            *(provider(self.issuers[name], name, **settings) for name, settings in self.variants.items()),
            clock_skew="60s",
        )

    variants = {
        "rs256-only": {"algorithms": ["RS256"]},
        "es256-only": {"algorithms": ["ES256"]},
        "trusting": {"trusted_audiences": ["partner"], "authorized_parties": ["client", "android"]},
        "aliased": {"issuer_aliases": ["https://old.example.com", "https://account.example.com"]},
        "short-lived": {"max_token_age": "1h", "clock_skew": "30s"},
        "no-skew": {"clock_skew": "0s"},
        "demanding": {"required_claims": ["email", "phone_number"]},
        "nonce-required": {"nonce": {"required": True}},
        "nonce-any": {"nonce": {"match": ["sha256_hex", "sha256_base64url", "plain"]}},
        "nonce-base64url": {"nonce": {"match": ["sha256_base64url"]}},
        "nonce-off": {"nonce": {"check": "off"}},
        "own-relay": {"private_email_domains": ["relay.example.com"]},
    }

    def __getitem__(self, name: str):
        return self.issuers[name]


@pytest.fixture(scope="session")
def world(shared_server):
    shared = World(shared_server)
    with shared.service:
        shared.service.wait_until_ready()
        yield shared


@pytest.fixture(scope="session")
def service(world):
    """The shared service, ready."""
    return world.service


@pytest.fixture
def oidc(world):
    """The shared issuer with a key of every kind; its provider allows every algorithm."""
    return world.oidc


@pytest.fixture
def apple(world):
    return world.apple


@pytest.fixture
def google(world):
    return world.google


def pytest_sessionfinish():
    contract.dump_recording()
