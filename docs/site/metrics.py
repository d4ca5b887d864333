"""Writes docs/metrics.md from the sources, which have every metric with its kind and help.

    python docs/site/metrics.py            writes the page
    python docs/site/metrics.py --check    fails if the page is out of date
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "metrics.md"
METRIC = re.compile(r'page\.metric\(\s*"(\w+)",\s*\.(\w+),\s*"((?:[^"\\]|\\.)*)"')
MARK = "<!-- Generated from the sources by docs/site/metrics.py: do not edit below. -->"


def metrics() -> list[tuple[str, str, str]]:
    """Name, kind and help of each."""
    sources = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "Sources/Service").rglob("*.swift"))]
    found = [metric for source in sources for metric in METRIC.findall(source)]
    written = sum(source.count("page.metric(") for source in sources)
    assert len(found) == written, f"{written} metrics are written, and {len(found)} of them are read here"
    return sorted(found)


def page() -> str:
    """The expected page. The part above the mark is written by hand."""
    head = PAGE.read_text(encoding="utf-8").split(MARK)[0]
    rows = "".join(f"\n| `{name}` | {kind} | {help} |" for name, kind, help in metrics())
    return f"{head}{MARK}\n\n| metric | kind | meaning |\n|---|---|---|{rows}\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") != page():
            sys.exit("docs/metrics.md is out of date: run python docs/site/metrics.py")
    else:
        PAGE.write_text(page(), encoding="utf-8")
