"""The service answers valid and invalid requests, which Schemathesis generates from openapi.yaml, as documented."""

import json
import os
import subprocess
import sys

import pytest

from harness import token_endpoint
from harness.issuer import KeyServer
from harness.service import TESTS
from harness.token_endpoint import TokenEndpoint
from harness.tokens import jws, now
from openapi.documented import FILE, document
from openapi.example_service import API, PROVIDERS, ExampleService

EXAMPLES = 60
# By default, every run has the same requests. Set another seed, or `random`, for others.
SEED = os.environ.get("ASSAY_FUZZ_SEED", "1")
# Schemathesis assumes that a request which matches the schema succeeds (with an invalid token, it does not), and that any
# other is rejected as a whole (a batch is not). `fuzz_checks` has stricter checks instead.
UNFIT_CHECKS = "positive_data_acceptance,negative_data_rejection"
ISSUERS = {"apple": "https://appleid.apple.com", "google": "https://accounts.google.com"}
# How to make a token of each kind from a valid one; `None` removes a claim.
CHANGES = [
    {},
    {"nonce": "n"},
    {"exp": 1},
    {"iss": "https://elsewhere.example.com"},
    {"aud": "another"},
    {"email_verified": "perhaps"},
    {"sub": None},
    {"auth_time": 0, "amr": ["pwd"], "acr": "1"},
]


@pytest.fixture(scope="module")
def examples():
    """The service of the examples, with working endpoints, because an unreachable provider would be a server error."""
    with KeyServer() as key_server, TokenEndpoint() as endpoints:
        for path in (token_endpoint.TOKEN, token_endpoint.REVOCATION):
            endpoints.always(token_endpoint.error("invalid_grant"), path)
        examples = ExampleService(key_server, endpoints=endpoints.url)
        with examples.service:
            examples.service.wait_until_ready()
            yield examples


@pytest.fixture(scope="module")
def known_values(examples, tmp_path_factory):
    """A file with known values for generated requests, by member."""
    tokens = []
    for id in PROVIDERS:
        issuer = examples.issuers[id]
        usual = {"iss": ISSUERS[id], "aud": PROVIDERS[id]["audience"], "email": "ada@example.com", "exp": now() + 3600}
        for change in CHANGES:
            claims = issuer.claims(**(usual | change))
            tokens.append(jws(issuer.keys[0], claims))
        tokens.append(tokens[-1][:-1])
    api = examples.issuers["api"]
    claims = api.claims(iss=API["issuer"], aud=API["audiences"][0], client_id="app", jti="a", scope="orders:read")
    access_token = jws(api.keys[0], claims, typ="at+jwt")
    values = {
        "id_token": tokens,
        "token": [access_token, access_token[:-1]],
        "scopes": [["orders:read"], ["orders:write"]],
        "policy": ["api"],
        "provider": list(PROVIDERS),
        "audience": [entry["audience"] for entry in PROVIDERS.values()],
        "nonce": ["n"],
    }
    file = tmp_path_factory.mktemp("fuzz") / "values.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    return file


@pytest.mark.parametrize("listener", ["service", "admin"])
def test_generated_requests_are_answered_as_documented(listener, examples, known_values, tmp_path):
    port = {"service": 8080, "admin": 9090}[listener]
    operations = [each.id for each in document().operations if f"http://127.0.0.1:{port}" in each.servers]
    assert operations
    address = examples.service.listening(listener)
    environment = os.environ | {
        "SCHEMATHESIS_HOOKS": "openapi.fuzz_checks",
        "PYTHONPATH": str(TESTS),
        "ASSAY_FUZZ_VALUES": str(known_values),
    }
    result = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", str(FILE), "--url", f"http://{address}"),
            *(argument for id in operations for argument in ("--include-operation-id", id)),
            *("--phases", "examples,coverage,fuzzing", "--max-examples", str(EXAMPLES)),
            *("--checks", "all", "--exclude-checks", UNFIT_CHECKS),
            *("--generation-allow-x00", "false", "--generation-codec", "utf-8", "--generation-database", "none"),
            *("--request-timeout", "10", "--continue-on-failure", "--no-color"),
            *(("--seed", SEED) if SEED != "random" else ()),
        ],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        # A hanging run must fail; the time depends on what else the machine does.
        timeout=1200,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-12000:] + result.stderr[-2000:]
    assert f"Tested: {len(operations)}" in result.stdout, result.stdout[-3000:]
