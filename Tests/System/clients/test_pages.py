"""The pages of `docs/clients` show all code that is tested here, and their links work."""

import json
import re
import subprocess
import sys

import pytest

from clients.languages import LANGUAGES, WITH_PACKAGES
from clients.quotes import CLIENTS, OTHERS, linked, pages, part, with_quotes
from harness.service import REPOSITORY


@pytest.mark.parametrize("page", [*pages(), *OTHERS], ids=lambda page: str(page.relative_to(REPOSITORY / "docs")))
def test_pages_quote_files_exactly(page):
    assert page.read_text() == with_quotes(page), "update the quotes with: python Tests/System/clients/quotes.py"


def test_every_file_is_linked_from_a_page():
    files = {file for file in CLIENTS.rglob("*") if file.is_file() and "__pycache__" not in file.parts}
    assert files - set(pages()) - {file for page in [*pages(), *OTHERS] for file in linked(page)} == set()


def test_a_quoted_part_spans_its_first_and_last_lines(tmp_path):
    file = tmp_path / "file.py"
    file.write_text("import a\n\ndef f():\n    one()\n    if two:\n        three()\n        end()\n    end()\n")
    assert part(file, "one()\nend()\n") == "one()\nif two:\n    three()\n    end()\nend()\n"
    with pytest.raises(LookupError):
        part(file, "one()\nfive()\n")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(CLIENTS)))
def test_links_are_valid(page):
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    assert links
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_typescript_page_installs_its_packages_first():
    """No other test runs `npm install`, because Debian has no `@types/node`."""
    page = (CLIENTS / "typescript/README.md").read_text()
    assert page.index("npm install") < page.index("npx tsc")
    needed = json.loads((CLIENTS / "typescript/package.json").read_text())["devDependencies"]
    assert set(needed) == {"@types/node", "typescript"}


def test_the_index_links_every_language():
    linked = set(re.findall(r"\]\((\w+)/README\.md\)", (CLIENTS / "README.md").read_text()))
    assert linked == {language.name for language in LANGUAGES + WITH_PACKAGES} | {"apps"}


def test_the_libraries_page_shows_the_tested_programs():
    """`scripts/test` builds and runs `Tests/Client` and `Tests/Server`."""
    page = (REPOSITORY / "docs/libraries.md").read_text()
    assert (REPOSITORY / "Tests/Client/Sources/Client/Main.swift").read_text() in page
    middleware = (REPOSITORY / "Tests/Server/Sources/SignInMiddleware/SignInMiddleware.swift").read_text()
    assert middleware in page
    assert middleware in (REPOSITORY / "Sources/RemoteKeys/RemoteKeys.docc/SignInMiddleware.md").read_text()
    manifest = (REPOSITORY / "Tests/Client/Package.swift").read_text()
    for block in re.findall(r"^```swift\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[:2]:
        assert all(line.strip() in manifest for line in block.splitlines())


def test_the_page_of_problem_codes_is_current():
    script = REPOSITORY / "docs/site/problems.py"
    result = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_readme_is_short():
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= 130
