"""Writes what the service prints of itself: the settings' schema, and the references of settings and presets.

    python docs/site/binary.py BINARY

`SettingsTests` fail if the files are out of date.
"""

import pathlib
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[1]
MARK = "## Reference\n\n"
PAGES = {"configuration.md": ["config", "reference"], "presets.md": ["presets", "reference"]}


def printed(binary: str, *arguments: str) -> str:
    return subprocess.run([binary, *arguments], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    binary = sys.argv[1]
    (DOCS / "assay.schema.json").write_text(printed(binary, "config", "schema"), encoding="utf-8")
    for name, command in PAGES.items():
        head = (DOCS / name).read_text(encoding="utf-8").split(MARK)[0]
        (DOCS / name).write_text(head + MARK + printed(binary, *command), encoding="utf-8")
