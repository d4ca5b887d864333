"""The service that most contract tests use, with the issuers that it trusts."""

from .issuer import KeyServer
from .service import Service, apple_like, google_like, provider
from .tokens import ALGORITHMS, key_for


class World:
    """A running service and its issuers, shared by tests that change neither."""

    def __init__(self, key_server: KeyServer):
        self.apple = key_server.issuer("apple", key_for("rsa", "apple-1"))
        self.google = key_server.issuer("google", key_for("rsa", "google-1"))
        self.oidc = key_server.issuer("oidc", *(key_for(kind) for kind in dict.fromkeys(ALGORITHMS.values())))
        # Variants of the settings of `oidc`, for issuers with the same keys.
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
