"""Every response to the tests is documented, and every documented response occurs in the tests."""

import json
import os
import subprocess
import sys

import pytest

from harness import contract
from harness.service import TESTS
from openapi.documented import document

# Where responses are recorded: in other folders, and in this one.
ELSEWHERE = [TESTS / folder for folder in ("access_tokens", "contract", "forward_auth", "grants", "introspection", "keys", "listeners", "notifications", "settings", "sign_ins", "telemetry")]
HERE = [TESTS / "openapi/test_service.py", TESTS / "openapi/test_transport.py"]

# Documented responses that no test can cause: the code, or (operation, code), with the reason.
NOT_PRODUCED = {
    "internal": "a fault of the service's own, which nothing that a caller sends brings about",
}


@pytest.fixture(scope="module")
def recording(request, tmp_path_factory):
    """Every response of this session, and of others that have written theirs to the folder ASSAY_RECORD.

    Runs the suites of which there are no responses.
    """
    entries = list(contract.recording)
    missing = [suite for suite in ELSEWHERE + HERE if not any(item.path.is_relative_to(suite) for item in request.session.items)]
    if folder := os.environ.get("ASSAY_RECORD"):
        entries += contract.recorded(folder)
        missing = [suite for suite in missing if suite not in ELSEWHERE]
    if missing:
        folder = str(tmp_path_factory.mktemp("recording"))
        command = [sys.executable, "-m", "pytest", "-q", *map(str, missing)]
        subprocess.run(command, env=os.environ | {"ASSAY_RECORD": folder}, capture_output=True, check=False)
        entries += contract.recorded(folder)
    assert len(entries) > 500, "too few responses"
    return entries


def test_every_response_is_documented(recording):
    faults = [
        fault
        for entry in recording
        for fault in document().faults(
            entry["method"], entry["path"], entry["status"], entry["body"], entry.get("headers")
        )
    ]
    assert sorted(set(faults)) == []


def test_every_documented_response_occurs(recording):
    got = set()
    for entry in recording:
        operation = document().find(entry["method"], entry["path"])
        if operation is not None:
            got.add((operation.id, entry["status"], entry["code"]))
    expected = {
        (operation.id, status, code)
        for operation in document().operations
        for status, code in operation.answers
        if code not in NOT_PRODUCED and (operation.id, code) not in NOT_PRODUCED
    }
    assert sorted(expected - got, key=str) == []


def test_responses_without_an_operation_occur(recording):
    assert {"not_found", "method_not_allowed"} <= {entry["code"] for entry in recording}


def test_exceptions_do_not_occur(recording):
    got = {entry["code"] for entry in recording}
    got |= {(op.id, entry["code"]) for entry in recording if (op := document().find(entry["method"], entry["path"]))}
    assert got & set(NOT_PRODUCED) == set()


def problems(recording):
    """Every problem in the responses, including those in batches."""
    for entry in recording:
        if entry["method"] == "HEAD" or not entry["body"].startswith("{"):
            continue
        body = json.loads(entry["body"])
        if "type" in body:
            yield body
        yield from (result["error"] for result in body.get("results", []) if "error" in result)


def test_the_examples_of_problems_have_the_services_wording(recording):
    titles, details = {}, {}
    for problem in problems(recording):
        titles.setdefault(problem["code"], set()).add(problem["title"])
        detail = problem["detail"].replace(problem.get("claim", "\0"), "…")
        details.setdefault(problem["code"], set()).add(detail)
    examples = document().problems
    assert titles.keys() == examples.keys() - set(NOT_PRODUCED)
    for code in titles.keys() & examples.keys():
        example = examples[code]
        assert titles[code] == {example["title"]}
        assert example["detail"].replace(example.get("claim", "\0"), "…") in details[code], code
