"""C. Tokens from past years, including Apple's and Google's own, verified with the clock of their time."""

import json

import pytest

from attacks.catalogue import ACCEPTED, rows
from attacks.target import attacked
from attacks.vectors import FOLDER, read
from harness.clock import WallClock
from harness.service import Service

APPLE, FIREBASE = read("real/apple/tokens_2021.json"), read("real/firebase/token.json")
IMITATION = read("synthetic/apple_like_string_iat.json")
DAY = 86_400


@pytest.fixture(scope="module")
def clock(tmp_path_factory):
    return WallClock(tmp_path_factory.mktemp("clock"))


@pytest.fixture(scope="module")
def then(clock):
    """A service with the keys that Apple and Google had at the time."""
    apple = {"id": "apple", "preset": "apple", "audiences": [APPLE["audience"]]}
    firebase = {"id": "firebase", "issuer": FIREBASE["issuer"], "audiences": [FIREBASE["audience"]]}
    service = Service(
        apple | {"jwks_file": str(FOLDER / "real/apple/jwks_2021.json")},
        firebase | {"jwks_file": str(FOLDER / "real/firebase/jwks.json")},
        variables=clock.variables,
    )

    def good() -> str:
        clock.set(APPLE["tokens"][0]["verify_at"])
        return APPLE["tokens"][0]["jwt"]

    with attacked(service, good) as target:
        service.wait_until_ready()
        yield target


@pytest.mark.parametrize(
    ("token", "later", "code"),
    rows(
        ("C14", "Apple's notification", APPLE["tokens"][2], 0, "claim_missing"),
        ("C53", "Apple's ID Token", APPLE["tokens"][0], 0, ACCEPTED),
        ("C53", "Apple's ID Token without an address", APPLE["tokens"][1], 0, ACCEPTED),
        ("C53", "Firebase's ID Token", FIREBASE["tokens"][0], 0, ACCEPTED),
        ("C53", "Apple's ID Token a day later", APPLE["tokens"][0], DAY + 60, "token_expired"),
        ("C53", "Apple's ID Token a little early", APPLE["tokens"][0], -30, ACCEPTED),
        ("C53", "Apple's ID Token too early", APPLE["tokens"][0], -120, "token_not_yet_valid"),
        ("C53", "Apple's notification a day later", APPLE["tokens"][2], DAY + 60, "token_expired"),
    ),
)
def test_a_real_token_passes_only_at_its_time(then, clock, token, later, code):
    clock.set(token["verify_at"] + later)
    response = then.ask(token["jwt"])
    assert response.code == code, response
    if code is ACCEPTED:
        assert response.json["identity"]["subject"] == token["claims"]["sub"]


@pytest.mark.parametrize(
    "token", rows(*(("C03", f"an imitation of Apple's, {n}", token) for n, token in enumerate(IMITATION["tokens"])))
)
def test_times_that_are_strings_are_refused_despite_a_valid_signature(clock, tmp_path, token):
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps(IMITATION["jwks"]))
    clock.set(int(token["claims"]["iat"]))
    apple = {"id": "apple", "preset": "apple", "audiences": [token["claims"]["aud"]], "jwks_file": str(keys)}
    with Service(apple, variables=clock.variables) as service:
        service.wait_until_ready()
        assert service.reject(token["jwt"], "claim_invalid")["claim"] == "iat"
