"""The catalogue of attacks: its rows by ID, and helpers with which test files list their cases.

A section has one or more files. A row (`A01`) has one case for each variant, called `A01-<variant>`. Section O and IDs
from 50 on are additions to the catalogue.

These tests try each row over HTTP with one or a few cases. If a single module implements the rule, that module's tests
have all near misses: see `EVERY_CASE`.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest

# The code for answers that are not problems: the token is accepted.
ACCEPTED = None

# The subject of each row.
ROWS = {
    "A": {
        "A01": "alg none",
        "A03": "a MAC by the public key",
        "A05": "alg absent or not a string",
        "A06": "alg spelled otherwise",
        "A07": "an algorithm that the provider does not use",
        "A09": "alg of another key type than the key's",
        "A10": "alg of another curve than the key's",
        "A12": "a JWK whose alg is not registered",
        "A13": "a digest of another hash",
    },
    "K": {
        "K01": "jwk in the header",
        "K02": "jku in the header",
        "K04": "kid as a path",
        "K06": "no kid, one matching key",
        "K08": "kid of another type or spelling",
        "K09": "one kid, two key types",
        "K11": "keys for something else",
        "K13": "the same kid at another issuer",
        "K15": "another provider's token",
        "K16": "a weaker provider's token",
    },
    "S": {
        "S01": "r and s out of range",
        "S02": "ECDSA signatures in another form",
        "S04": "the twin (r, n - s)",
        "S06": "RSA signatures out of range or length",
        "S08": "one RSA padding for the other",
        "S10": "EdDSA malleability and small order",
        "S11": "a signature of another token",
    },
    "J": {
        "J01": "RSA keys too small or too large",
        "J03": "RSA moduli that are not a product of two primes",
        "J05": "EC points of wrong length or place",
        "J06": "keys of another or unknown type",
        "J08": "x5c beside the key",
        "J09": "invalid sets",
        "J11": "sets of many keys",
    },
    "F": {
        "F01": "other numbers of parts",
        "F02": "padding and the other alphabet",
        "F04": "white space and wrapping",
        "F06": "JSON serializations",
        "F08": "payloads that are not objects",
        "F09": "lengths",
    },
    "N": {
        "N01": "duplicate members",
        "N03": "invalid UTF-8",
        "N05": "depth and length",
        "N06": "numbers",
        "N07": "text that is nearly JSON",
        "N09": "unknown header members, nested tokens",
    },
    "H": {
        "H01": "crit and b64",
        "H03": "zip",
        "H04": "typ",
        "H06": "p2c",
    },
    "C": {
        "C01": "exp",
        "C03": "iat",
        "C05": "aud of another type",
        "C06": "aud that nearly matches",
        "C08": "iss that nearly matches",
        "C10": "sub",
        "C11": "email_verified and is_private_email",
        "C13": "the trust in an address",
        "C14": "an Apple notification",
        "C16": "an access token",
        "C17": "auth_time and max_age",
        "C19": "claims that come back unchanged",
    },
    "Q": {
        "Q01": "a nonce on one side only",
        "Q02": "the hash for the nonce",
        "Q04": "nonces that nearly match",
        "Q06": "a token presented twice",
        "Q08": "misspelt and mistyped members",
    },
    "L": {
        "L01": "handles swapped between two people",
        "L02": "a handle in place of a state, a nonce or a token, and the reverse",
        "L04": "finishes that share an X-Request-Id",
        "L05": "a finish that is repeated, also at another replica",
        "L07": "a hashed nonce downgraded to a plain one",
        "L08": "a token of another provider, client or person",
        "L10": "clocks set around the expiry",
        "L12": "handles that were changed, truncated or combined",
    },
    "R": {
        "R01": "a discovery document of another issuer",
        "R02": "jwks_uri that leads elsewhere",
        "R04": "redirects",
        "R05": "TLS",
        "R07": "compressed bodies",
        "R09": "a provider that flaps",
        "R11": "a flood of unknown kids",
        "R13": "a flood of junk",
        "R15": "providers that collide",
        "R17": "a wall clock that jumps",
    },
    "W": {
        "W01": "framing",
        "W03": "chunks",
        "W04": "slow clients",
        "W06": "body sizes",
        "W08": "body text",
        "W09": "methods",
        "W11": "header sizes",
        "W13": "hosts and protocols",
        "W15": "admin paths and metric labels",
    },
    "D": {
        "D01": "the most expensive input",
        "D03": "a flood of forgeries",
        "D04": "memory and descriptors",
    },
}

# Unit tests that cover every case of a row.
EVERY_CASE = {
    ("A01", "A05", "A06", "A51"): ["JOSETests/JOSEHeaderTests.swift", "JOSETests/JWSVerifierTests.swift"],
    ("A09", "A10", "A12", "A50", "K11"): ["JOSETests/AlgorithmAgreementTests.swift"],
    ("K01", "K02", "H01", "H03"): ["JOSETests/JWSVerifierTests.swift", "JOSETests/JOSEHeaderTests.swift"],
    ("K06", "K08", "K09", "K51", "K52"): ["JOSETests/KeySelectionTests.swift"],
    ("S01", "S02", "S04", "S06", "S08", "S50"): ["OpenSSLTests/SignatureCheckerTests.swift"],
    ("S01", "S06", "S10", "S51"): ["Conformance/WycheproofPrimitives.swift", "Conformance/WycheproofJWS.swift"],
    ("J01", "J03", "J05", "S10"): ["OpenSSLTests/PublicKeyTests.swift", "JOSETests/JWKSetTests.swift"],
    ("J06", "J08", "J09", "J11"): ["JOSETests/JWKSetTests.swift"],
    ("F01", "F02", "F04", "F06"): ["JOSETests/CompactJWSTests.swift", "JOSETests/Base64URLTests.swift"],
    ("F08", "F09"): ["IDTokenTests/UnverifiedTokenTests.swift"],
    ("N01", "N03", "N05", "N06", "N07"): ["JOSETests/JSON/ReaderTests.swift", "Conformance/JSONTestSuite.swift"],
    ("H04",): ["IDTokenTests/TokenTypeTests.swift"],
    ("C01", "C03", "C50"): ["IDTokenTests/TimesTests.swift"],
    ("C05", "C06"): ["IDTokenTests/AudienceTests.swift"],
    ("C08",): ["IDTokenTests/IssuerTests.swift"],
    ("C10", "C14"): ["IDTokenTests/RequiredClaimsTests.swift"],
    ("C11",): ["IDTokenTests/IdentityTests.swift"],
    ("C13",): [
        "IDTokenTests/EmailAddressTests.swift",
        "IDTokenTests/GoogleTests.swift",
        "IDTokenTests/AppleTests.swift",
    ],
    ("C17",): ["IDTokenTests/AuthenticationAgeTests.swift"],
    ("C51",): ["IDTokenTests/AuthorizedPartyTests.swift", "IDTokenTests/NonceTests.swift"],
    ("Q01", "Q02", "Q04"): ["IDTokenTests/NonceTests.swift"],
    ("R01",): ["KeysTests/ProviderMetadataTests.swift"],
    ("R02",): ["KeysTests/FetchURLTests.swift", "KeysTests/AddressVettingTests.swift"],
    ("R04", "R05"): ["KeysTests/DocumentFetcherTests.swift", "KeysTests/DocumentFetcherTLSTests.swift"],
    ("R13",): ["IDTokenTests/UnverifiedTokenTests.swift", "ServiceTests/WaitingForKeysTests.swift"],
    ("R07",): ["KeysTests/BodyEncodingTests.swift"],
    ("Q08",): ["VerificationTests/VerifyRequestTests.swift"],
    ("Q50",): ["IDTokenTests/TokenHashesTests.swift"],
    ("Q06", "L07"): ["SignInsTests/SingleUseNonceTests.swift"],
    ("L05", "L10"): ["SignInsTests/Replay/ClaimMemoryTests.swift"],
    ("L12",): ["SignInsTests/SealedSignInTests.swift"],
}

# Rows that are not or only partly covered here, with the reason. Printed at the end of each run.
NOT_COVERED = {
    "Q04": "constant-time comparison can't be observed over HTTP; the values are covered",
    "D03": "the benchmarks measure throughput and latency; the acceptance of valid tokens during a flood is covered",
    "D04": "sanitizers need a separate build; growth is measured over a few thousand verifications, not 100 000",
}

# Cases that are known to fail, with the reason. If one passes, the run fails, so that it is removed here.
KNOWN_FAULTS: dict[str, str] = {}


class Case(NamedTuple):
    """One attack: `make` receives the world and returns a token, a request (a dict), or a raw body (bytes)."""

    codes: tuple[str | None, ...]
    make: Callable


def cases(*rows: tuple) -> list:
    """Test parameters: rows are `(id, code, {variant: make})`. A tuple of codes allows any of them."""
    return [
        pytest.param(Case(code if isinstance(code, tuple) else (code,), make), id=f"{id}-{variant}")
        for id, code, variants in rows
        for variant, make in variants.items()
    ]


def rows(*table: tuple) -> list:
    """Other test parameters with the same names: rows are `(id, variant, value, …)`."""
    return [pytest.param(*values, id=f"{id}-{variant}") for id, variant, *values in table]
