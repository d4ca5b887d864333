"""Writes docs/metrics.md from the declarations in Sources: each metric's name, kind, help and labels.

    python docs/site/metrics.py            writes the page
    python docs/site/metrics.py --check    fails if the page is out of date
"""

import pathlib
import re
import sys

import generated

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "metrics.md"
MARK = "<!-- Generated from the sources by docs/site/metrics.py: do not edit below. -->"
DECLARATION = re.compile(
    r'\b(?:page\.metric|CounterRow)\(\s*"([a-z0-9_]+)",\s*(?:\.(gauge|histogram|counter),\s*)?'
    r'"((?:[^"\\]|\\.)*)"(?:,\s*labels: \[([^\]]*)\])?'
)


def metrics() -> list[tuple[str, str, str, list[str]]]:
    """Name, kind, help and labels of each metric, by name."""
    found = {}
    calls = 0
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        text = path.read_text(encoding="utf-8")
        calls += len(re.findall(r"\b(?:page\.metric|CounterRow)\(", text))
        for name, kind, about, labels in DECLARATION.findall(text):
            if name in found:
                sys.exit(f"{path}: {name} is declared twice")
            found[name] = (name, kind or "counter", about, re.findall(r'"(\w+)"', labels))
    if len(found) != calls:
        sys.exit("a declaration of a metric was not recognized: write name, kind, help and labels as literals")
    return sorted(found.values())


def page() -> str:
    """The expected page. The part above the mark is written by hand."""
    head = PAGE.read_text(encoding="utf-8").split(MARK)[0]
    rows = ["| metric | kind | labels | meaning |", "|---|---|---|---|"]
    for name, kind, about, labels in metrics():
        rows.append(f"| `{name}` | {kind} | {', '.join(f'`{label}`' for label in labels) or '–'} | {about} |")
    return head + MARK + "\n\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    generated.main(PAGE, page())
