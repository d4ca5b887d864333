"""Writes docs/endpoints.md from the rows of Route.swift, and the summaries in openapi.yaml.

    python docs/site/endpoints.py            writes the page
    python docs/site/endpoints.py --check    fails if the page is out of date
"""

import pathlib
import re
import sys
import typing

import generated
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "endpoints.md"
MARK = "<!-- Generated from Route.swift and openapi.yaml by docs/site/endpoints.py: do not edit below. -->"
ROW = re.compile(r'\bRow\(\s*pattern: "(/[^"]*)",\s*method: (?:\.(\w+)|nil),\s*((?:[^()]|\([^()]*\))*)\)')


class Route(typing.NamedTuple):
    path: str
    method: str | None
    """In lower case; `None`: any."""
    listeners: list[str]
    feature: str | None
    """The feature without which the path does not exist."""
    access: str
    """Who may call it: a case of `Route.Access`."""


def routes() -> list[Route]:
    """The rows of Route.swift that have a path."""
    text = (ROOT / "Sources/Service/Routes/Route.swift").read_text(encoding="utf-8")
    found = []
    for path, method, others in ROW.findall(text):
        feature = re.search(r"feature: \.(\w+)", others)
        is_of_console = path == "/" or "consoleFile" in others
        name = "console" if is_of_console else feature[1] if feature else None
        access = re.search(r"access: \.(\w+)", others)
        if not access:
            sys.exit(f"the row of {path} in Route.swift does not say who may call it")
        listeners = re.search(r"listeners: \[([^\]]+)\]", others)
        # A row that names no listener is the service's.
        named = re.findall(r"\.(\w+)", listeners[1]) if listeners else ["service"]
        found.append(Route(path, method or None, named, name, access[1]))
    if len(found) != text.count('pattern: "/'):
        sys.exit("a row of Route.swift was not recognized: write its pattern and method first, and as literals")
    return found


def absences() -> dict[str, str]:
    """Why the paths of a feature do not exist: the details of the problems for that."""
    text = (ROOT / "Sources/Verification/Problems/Problem.swift").read_text(encoding="utf-8")
    of_features = text[text.index("var absence: String") :]
    details = dict(re.findall(r'case \.(\w+):\s*"([^"]+)"', of_features))
    return details | {"console": re.search(r'case \.consoleOff:\s*"([^"]+)"', text)[1]}


def page() -> str:
    """The expected page. The part above the mark is written by hand."""
    paths = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))["paths"]
    reasons = absences()
    rows = ["| request | listener | what it does | why it may be absent |", "|---|---|---|---|"]
    for route in routes():
        method = route.method.upper() if route.method else "any method"
        summary = paths[route.path][route.method or "get"]["summary"]
        reason = reasons[route.feature] if route.feature else "–"
        rows.append(f"| {method} `{route.path}` | {', '.join(route.listeners)} | {summary} | {reason} |")
    head = PAGE.read_text(encoding="utf-8").split(MARK)[0]
    return head + MARK + "\n\n## All endpoints\n\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    generated.main(PAGE, page())
