"""Third-party test data from `Tests/Conformance/Vectors`; its `SOURCES.md` lists origins and licenses."""

import json

from harness.service import REPOSITORY

FOLDER = REPOSITORY / "Tests" / "Conformance" / "Vectors"


def read(path: str):
    return json.loads((FOLDER / path).read_text(encoding="utf-8"))


def json_suite() -> dict[str, bytes]:
    """The texts of JSONTestSuite by name: `y_` is valid, `n_` is invalid, `i_` is implementation-defined."""
    files = sorted((FOLDER / "json-test-suite").glob("*.json"))
    assert len(files) == 212
    return {file.stem: file.read_bytes() for file in files}


def encrypted_tokens() -> dict[str, str]:
    """Wycheproof's compact JWEs."""
    return {f"JWE {case['tcId']}": case["jwe"] for case in read("wycheproof/jwe_compact_strings.json")["jwe"]}


def weak_rsa_key() -> dict[str, int]:
    """The numbers of Wycheproof's key with a ROCA fingerprint (CVE-2017-15361)."""
    groups = read("wycheproof/json_web_key_test.json")["testGroups"]
    [key] = next(group for group in groups if group["comment"] == "jws_rsa_roca_key")["private"]["keys"]
    return key
