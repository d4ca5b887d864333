"""The service that most attacks target, with all providers that they need, including hostile ones."""

import itertools
import shutil

from attacks.catalogue import ACCEPTED, Case
from attacks.target import Target, published_secrets
from harness.issuer import KeyServer
from harness.proxy import Proxy
from harness.service import Service, apple_like, google_like, provider
from harness.tokens import ALGORITHMS, Key, jws, key_for, rsa_key

OP_KEYS = [key_for(kind) for kind in dict.fromkeys(ALGORITHMS.values())]
APPLE = Key(rsa_key("apple").private, "apple-1")
GOOD = Key(rsa_key("rsa").private, "good")


def other_key(kid: str) -> Key:
    """Another key of the same type with the same kid."""
    return Key(key_for(kid, f"another {kid}").private, kid)


class World:
    """Issuers by purpose. `op` has a key of every type and is the default.

    The hostile ones take turns, one per case: an operator can refresh each one's keys at most once per second.
    """

    def __init__(self):
        self.server = KeyServer()
        self.proxy = Proxy()
        self.op = self.server.issuer("op", *OP_KEYS)
        self.rs256_only = self.server.issuer("rs256-only", *OP_KEYS)
        self.short_lived = self.server.issuer("short-lived", *OP_KEYS)
        self.any_nonce = self.server.issuer("any-nonce", *OP_KEYS)
        self.apple = self.server.issuer("apple", APPLE)
        self.google = self.server.issuer("google", Key(rsa_key("google").private, "google-1"))
        # The same kids as `op` with other keys, and with the same keys, as in moto's Cognito pools.
        self.namesake = self.server.issuer("namesake", *(other_key(key.kid) for key in OP_KEYS))
        self.twin = self.server.issuer("twin", *OP_KEYS)
        self.hostiles = [self.server.issuer(f"hostile-{number}", GOOD) for number in range(6)]
        self._turns = itertools.cycle(self.hostiles)
        self.hostile = next(self._turns)
        self._subjects = itertools.count()
        self.start()

    def start(self) -> None:
        everything = list(ALGORITHMS)
        service = Service(
            provider(self.op, "op", audiences=["client", "other-client"], algorithms=everything),
            provider(self.rs256_only, "rs256-only", algorithms=["RS256"]),
            provider(self.short_lived, "short-lived", max_token_age="1h", algorithms=everything),
            provider(self.any_nonce, "any-nonce", nonce={"match": ["sha256_hex", "plain"]}),
            apple_like(self.apple),
            google_like(self.google),
            provider(self.namesake, "namesake", algorithms=everything),
            provider(self.twin, "twin", audiences=["twin-client"], algorithms=everything),
            *(provider(each, each.name, jwks_uri=each.jwks_uri, algorithms=everything) for each in self.hostiles),
            log={"level": "debug"},
            # Any fetch over https would pass through here and be noticed.
            variables={"HTTPS_PROXY": self.proxy.url},
        )
        self.service = service
        self.target = Target(service, self.good)
        self.target.keep_secret(*published_secrets(key.jwk() for key in OP_KEYS))
        service.wait_until_ready()
        self.descriptors_at_first = service.descriptors()

    def good(self) -> str:
        """A valid token, different each time."""
        return jws(self.op.key("Ed25519"), self.op.claims(sub=f"user-{next(self._subjects)}"))

    def publish(self, *jwks) -> None:
        """Publishes these keys at the hostile provider next to a valid one, and refreshes them."""
        self.publish_document({"keys": [*jwks, GOOD.jwk()]})
        state = self.refresh()
        assert state["state"] == "ready" and not state["last_error"], state
        self.target.keep_secret(*published_secrets(jwks))

    def publish_document(self, body, status: int = 200, **headers: str) -> None:
        self.hostile.jwks.reset(body)
        self.hostile.jwks.status = status
        self.hostile.jwks.headers |= headers

    def refresh(self) -> dict:
        return self.service.admin.post(f"/v1/providers/{self.hostile.name}/refresh?drop_omitted=true").json

    def by(self, key, **members) -> str:
        """A valid token of the hostile provider, signed with one of its keys."""
        return jws(key, self.hostile.claims(), **members)

    def strike(self, case: Case) -> dict:
        """Runs a case of the catalogue, alone and in a batch with a valid token; returns the answer."""
        return self.expect(case.make(self), *case.codes)

    def expect(self, made, *codes: str | None) -> dict:
        return self.target.expect(made, *codes)

    def assert_unharmed(self) -> None:
        """Asserts that the service runs, has kept its valid keys, and has made no unexpected request."""
        try:
            self.target.assert_unharmed()
            self.target.expect(self.by(GOOD), ACCEPTED)
            self.hostile = next(self._turns)
        except AssertionError:
            if self.service.process.poll() is not None:
                # Resets the state for the next case.
                self._tidy()
                self.start()
            raise
        assert self.server.unexpected == []
        assert self.proxy.targets == []

    def _tidy(self) -> None:
        self.service.kill()
        shutil.rmtree(self.service.directory, ignore_errors=True)

    def close(self) -> None:
        with self.server, self.proxy, self.service:
            self.target.assert_pages_are_discreet()
        self.target.assert_log_is_discreet()
