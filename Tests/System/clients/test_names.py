"""ARCHITECTURE.md and the design pages name only files and types that exist."""

import re
import subprocess

import pytest

from harness.service import REPOSITORY as ROOT

PAGES = ["ARCHITECTURE.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs/design").glob("*.md"))]
FOREIGN = {"FoundationEssentials"}
"""Modules of other projects."""


@pytest.fixture(scope="module")
def files():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def declared(files):
    """The names of modules, types and alerts."""
    names = {folder.name for folder in (ROOT / "Sources").iterdir()}
    for name in files:
        if name.endswith((".swift", "alerts.yaml")):
            text = (ROOT / name).read_text()
            names |= set(re.findall(r"\b(?:actor|class|enum|protocol|struct|typealias|alert:) (\w+)", text))
    return names


def quoted(page):
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    return dict.fromkeys(re.findall(r"`([^`\s]+)`", text))


def is_path(name):
    return re.search(r"^\w.*(\w/\w|/$|\.(swift|py|c|md|yaml)$)", name) and "://" not in name and "…" not in name


def is_type(name):
    """`KeyStore`, `KeyStore.StateMachine` or `KeyStore.prove`, but neither `ETag` nor `EVP_PKEY_verify`."""
    return re.fullmatch(r"(?:[A-Z]+[a-z]+){2,}(?:\.\w+)*", name) and not is_path(name)


@pytest.mark.parametrize("page", PAGES)
def test_every_type_exists(page, declared):
    types = {name.split(".")[0] for name in quoted(page) if is_type(name)}
    assert types - declared - FOREIGN == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_path_exists(page, files):
    """A path may leave out the folders that it begins with."""
    paths = [f"/{name}/" for name in files]
    named = {name for name in quoted(page) if is_path(name)}
    assert {name for name in named if not any(f"/{name.strip('/')}/" in path for path in paths)} == set()
