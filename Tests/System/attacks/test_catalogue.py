"""The catalogue is complete: each row has a case, or is listed as not covered."""

import pathlib
import re

import pytest

from attacks.catalogue import EVERY_CASE, KNOWN_FAULTS, NOT_COVERED, ROWS
from harness.service import REPOSITORY

HERE = pathlib.Path(__file__).parent
SECTIONS = [*ROWS, "O"]
# The files with each section's cases.
FILES = {
    "A": ["test_algorithm.py"],
    "K": ["test_key_selection.py"],
    "S": ["test_signature.py"],
    "J": ["test_key_sets.py"],
    "F": ["test_token_form.py"],
    "N": ["test_json.py"],
    "H": ["test_header.py"],
    "C": ["test_claims.py", "test_real_tokens.py"],
    "Q": ["test_request.py", "test_sign_ins.py"],
    "L": ["test_sign_ins.py", "test_browser_sign_ins.py"],
    "R": ["test_fetching.py", "test_floods.py", "test_hostile_providers.py"],
    "W": ["test_http.py", "test_crowds.py", "test_admin.py", "wire_cases.py", "wire_results.py"],
    "D": ["test_cost.py"],
    "O": ["test_oracle.py"],
}
# Rows without a table, and the tests that cover them.
TESTS = {"W04": "test_slow_clients_in_a_crowd_gain_no_time"}


def text_of(section: str) -> str:
    """The source of all files of a section."""
    return "\n".join((HERE / name).read_text(encoding="utf-8") for name in FILES[section])


def ids_in(section: str) -> set[str]:
    text = text_of(section)
    return set(re.findall(rf"\b{section}\d\d\b", text)) | {id for id, test in TESTS.items() if f"def {test}(" in text}


@pytest.mark.parametrize("section", ROWS)
def test_each_row_has_a_case_or_is_listed_as_not_covered(section):
    assert set(ROWS[section]) - ids_in(section) - set(NOT_COVERED) == set()


@pytest.mark.parametrize("section", SECTIONS)
def test_each_case_belongs_to_a_row_or_is_an_addition(section):
    additions = {id for id in ids_in(section) if section == "O" or int(id[1:]) >= 50}
    assert ids_in(section) - additions <= set(ROWS.get(section, ()))


def test_exceptions_are_rows_of_the_catalogue():
    ids = {id for section in ROWS.values() for id in section}
    assert {*NOT_COVERED, *(case.split("-")[0] for case in KNOWN_FAULTS)} <= ids


def test_the_unit_tests_of_each_row_exist():
    assert {name for names in EVERY_CASE.values() for name in names if not (REPOSITORY / "Tests" / name).is_file()} == set()
    rows = {id for ids in EVERY_CASE for id in ids}
    assert {id for id in rows if id not in ids_in(id[0])} == set()
