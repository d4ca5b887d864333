"""Counts the passed cases of section W, collects their measurements, and writes both to ASSAY_RESULTS."""

import collections
import json
import os
import pathlib
import re

# A case's row in the catalogue, or else the name of its test.
ROW = re.compile(r"attacks/test_(?:http|crowds)\.py::test_\w+\[(W\d\d)-")
SENTENCE = re.compile(r"attacks/test_(?:http|crowds)\.py::test_(\w+)")


class WireResults:
    """A plugin; `register` creates one for the session."""

    def __init__(self):
        self.figures: dict[str, int | float] = {}
        self._outcomes: dict[str, str] = {}

    @classmethod
    def register(cls, config) -> "WireResults":
        found = config.pluginmanager.get_plugin("wire-results")
        if not found:
            found = cls()
            config.pluginmanager.register(found, "wire-results")
        return found

    def measured(self, **figures: int | float) -> None:
        """Records measurements and prints them."""
        self.figures |= figures
        print(", ".join(f"{name} {value}" for name, value in figures.items()))

    def pytest_runtest_logreport(self, report):
        if SENTENCE.search(report.nodeid):
            outcome = "known fault" if hasattr(report, "wasxfail") else report.outcome
            worst = self._outcomes.get(report.nodeid, "passed")
            self._outcomes[report.nodeid] = outcome if worst == "passed" else worst

    def by_kind(self) -> dict[str, dict[str, int]]:
        kinds: dict[str, collections.Counter] = {}
        for nodeid, outcome in self._outcomes.items():
            kind = (ROW.search(nodeid) or SENTENCE.search(nodeid)).group(1)
            kinds.setdefault(kind, collections.Counter(cases=0, passed=0)).update(["cases", outcome])
        return {kind: dict(counts) for kind, counts in kinds.items()}

    def pytest_sessionfinish(self):
        if directory := os.environ.get("ASSAY_RESULTS"):
            file = pathlib.Path(directory) / "http.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            found = {"cases": self.by_kind(), "figures": self.figures}
            file.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n")

    def pytest_terminal_summary(self, terminalreporter):
        if self.figures:
            terminalreporter.section("figures of section W")
            for name, value in self.figures.items():
                terminalreporter.write_line(f"{name}: {value}")
