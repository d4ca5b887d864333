"""The service that most attacks are aimed at, with every provider that they need, and a provider with hostile keys."""

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
    """Another key of the same kind under the same kid."""
    return Key(key_for(kid, f"another {kid}").private, kid)


class World:
    """Issuers by what they are for; `op` has a key of every kind and is the default of everything.

    The hostile ones take turns, a case each: each has its keys fetched for an operator once a second at most.
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
        # The same kids as `op`, other keys; and the same kids with the same keys, as moto's Cognito pools have them.
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
            # Whatever might be fetched over https would pass here and be seen.
            variables={"HTTPS_PROXY": self.proxy.url},
        )
        self.service = service
        self.target = Target(service, self.good)
        self.target.keep_secret(*published_secrets(key.jwk() for key in OP_KEYS))
        service.wait_until_ready()
        self.descriptors_at_first = service.descriptors()

    def good(self) -> str:
        """A good token, each time another one."""
        return jws(self.op.key("Ed25519"), self.op.claims(sub=f"user-{next(self._subjects)}"))

    def publish(self, *jwks) -> None:
        """Has the hostile provider publish these keys beside a good one, and has the service fetch them."""
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
        """A good token of the hostile provider, by one of its keys."""
        return jws(key, self.hostile.claims(), **members)

    def strike(self, case: Case) -> dict:
        """Strikes with a case of the catalogue, alone and beside a good token; returns the answer."""
        return self.expect(case.make(self), *case.codes)

    def expect(self, made, *codes: str | None) -> dict:
        return self.target.expect(made, *codes)

    def assert_unharmed(self) -> None:
        """The service runs on, has kept its good keys, and has asked nobody whom it was not told to ask."""
        try:
            self.target.assert_unharmed()
            self.target.expect(self.by(GOOD), ACCEPTED)
            self.hostile = next(self._turns)
        except AssertionError:
            if self.service.process.poll() is not None:
                # The next case is to be judged by itself.
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
