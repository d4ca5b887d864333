"""Each code block of the pages with which a newcomer begins is run by a test, which takes it from the page."""

import re

import pytest

from harness.service import REPOSITORY

# The blocks of each page in their order: the language, and the test that runs it.
RUN_BY = {
    "README.md": [
        "sh clients/test_readme.py::test_the_readmes_first_screen_has_two_commands",
        "sh clients/test_readme.py::test_the_first_token_verifies_as_pasted",
        "json clients/test_readme.py::test_the_first_token_verifies_as_pasted",
    ],
    "docs/getting-started.md": [
        "sh clients/test_readme.py::test_the_demo_verifies_tokens_and_can_keep_running",
        "sh clients/test_readme.py::test_the_demo_verifies_tokens_and_can_keep_running",
        "sh deploy/test_container.py::test_the_image_is_built_and_started_as_pasted",
        "sh deploy/test_compose.py::test_the_app_signs_in_at_the_backend",
        "yaml clients/test_readme.py::test_the_settings_in_the_docs_are_valid",
        "sh clients/test_readme.py::test_the_pasted_commands_check_the_settings_and_serve",
        "js clients/test_readme.py::test_pasted_calls_accept_and_refuse_tokens",
        "python clients/test_readme.py::test_pasted_calls_accept_and_refuse_tokens",
        "swift clients/test_readme.py::test_the_swift_example_compiles",
    ],
    "docs/installing.md": [
        "sh deploy/test_installing.py::test_the_pasted_sums_are_those_of_the_files",
        "sh deploy/test_installing.py::test_the_pasted_image_verifies_a_first_token",
        "sh deploy/test_installing.py::test_the_pasted_container_serves_with_settings_beside_a_backend",
        "sh deploy/test_installing.py::test_debian_12_runs_the_binary_and_installs_the_package",
        "sh deploy/test_installing.py::test_debian_12_runs_the_binary_and_installs_the_package",
        "yaml deploy/test_installing.py::test_helm_renders_what_the_pasted_command_installs",
        "sh deploy/test_installing.py::test_helm_renders_what_the_pasted_command_installs",
        "sh deploy/test_installing.py::test_compose_as_pasted_verifies_a_first_token",
        "sh deploy/test_installing.py::test_the_pasted_image_verifies_a_first_token",
    ],
    # Only quotes, of the two others: `hooks.py` puts them in.
    "docs/site/front.md": [],
}


@pytest.mark.parametrize("page", RUN_BY)
def test_every_block_is_run(page):
    blocks = re.findall(r"^ *```(\w+)\n", (REPOSITORY / page).read_text(), re.MULTILINE)
    # A drawing is `text`.
    assert [block for block in blocks if block != "text"] == [row.split()[0] for row in RUN_BY[page]]


@pytest.mark.parametrize("test", sorted({row.split()[1] for rows in RUN_BY.values() for row in rows}))
def test_the_test_exists(test):
    file, function = test.split("::")
    assert f"\ndef {function}(" in (REPOSITORY / "Tests/System" / file).read_text()
