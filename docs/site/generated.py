"""The main program of the scripts that generate a page: writes it, or with `--check` fails if it is out of date."""

import pathlib
import sys


def main(page: pathlib.Path, expected: str) -> None:
    if sys.argv[1:] != ["--check"]:
        page.write_text(expected, encoding="utf-8")
    elif page.read_text(encoding="utf-8") != expected:
        sys.exit(f"docs/{page.name} is out of date: run scripts/docs --write")
