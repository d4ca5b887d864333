"""Prints README.md of a release: docs/installing.md, whose links say where the page is once the archive of all pages is unpacked."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "installing.md"
# What the archive unpacks to, as the page itself names it.
[FOLDER] = set(re.findall(r"`(assay-docs-[0-9.]+)\.tar\.gz`", PAGE.read_text(encoding="utf-8")))
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#:]+)(?:#[^)\s]*)?\)")


def named(match: re.Match) -> str:
    """Links out of the page lead nowhere in a release."""
    path = str((PAGE.parent / match[2]).resolve().relative_to(ROOT))
    return f"{match[1]} (`{FOLDER}/{re.sub('README.md$', 'index.md', path).removesuffix('.md')}.html`)"


def text() -> str:
    return LINK.sub(named, PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    print(text(), end="")
