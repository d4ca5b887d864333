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


LIBRARIES = ["IDToken", "JOSE", "RemoteKeys", "TokenDiagnostics"]
LIBRARY_PAGES = [
    REPOSITORY / "docs/libraries.md",
    *(file for name in LIBRARIES for file in sorted((REPOSITORY / "Sources" / name).rglob("*.md"))),
    *(file for name in LIBRARIES for file in sorted((REPOSITORY / "Sources" / name).rglob("*.swift")) if "```swift" in file.read_text()),
]


def lines(text: str) -> str:
    """The lines of code without their indentation and without those that are empty."""
    return "\n" + "".join(line.strip() + "\n" for line in text.splitlines() if line.strip())


@pytest.mark.parametrize("page", LIBRARY_PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_the_libraries_documentation_shows_code_that_is_built(page):
    """`scripts/client-package` builds these packages but the last, which `scripts/bench --libraries` builds."""
    packages = [REPOSITORY / "Tests" / name for name in ("Client", "Middleware", "Server")]
    packages.append(REPOSITORY / "Benchmarks/libraries")
    built = [lines(file.read_text()) for package in packages for file in package.rglob("*.swift")]
    text = page.read_text()
    if page.suffix == ".swift":
        text = re.sub(r"^ *///? ?", "", text, flags=re.MULTILINE)
    blocks = re.findall(r"^```swift\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert [block for block in blocks if not any(lines(block) in code for code in built)] == []


def test_the_page_of_problem_codes_is_current():
    script = REPOSITORY / "docs/site/problems.py"
    result = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_readme_is_short():
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= 130
