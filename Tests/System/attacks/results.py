"""Counts the cases of the catalogue that ran and passed, prints the counts at the end, and writes them to ASSAY_RESULTS."""

import json
import os
import pathlib
import re

from attacks.catalogue import KNOWN_FAULTS, NOT_COVERED, ROWS

CASE = re.compile(r"attacks/[^\[]+\[([A-Z])(\d\d)\b")


class Results:
    def __init__(self):
        self._outcomes: dict[str, bool] = {}

    def add(self, report) -> None:
        """Records one phase of a case. A case has passed if its setup, call and teardown have."""
        if CASE.search(report.nodeid):
            self._outcomes[report.nodeid] = self._outcomes.get(report.nodeid, True) and report.passed

    def by_section(self) -> dict[str, dict[str, dict[str, int]]]:
        sections: dict = {}
        for nodeid, passed in self._outcomes.items():
            section, number = CASE.search(nodeid).groups()
            counts = sections.setdefault(section, {}).setdefault(section + number, {"cases": 0, "passed": 0})
            counts["cases"] += 1
            counts["passed"] += passed
        return sections

    def summary(self) -> list[str]:
        lines = []
        for section, ids in sorted(self.by_section().items()):
            cases, passed = (sum(counts[name] for counts in ids.values()) for name in ("cases", "passed"))
            lines.append(f"{section}: {len(ids)} rows, {cases} cases, {passed} passed")
        lines += [f"known fault: {case}: {why}" for case, why in KNOWN_FAULTS.items()]
        return lines + [f"not covered: {id} ({subject(id)}): {why}" for id, why in NOT_COVERED.items()]

    def write(self) -> None:
        if directory := os.environ.get("ASSAY_RESULTS"):
            file = pathlib.Path(directory) / "attacks.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            not_covered = [{"id": id, "subject": subject(id), "why": why} for id, why in NOT_COVERED.items()]
            faults = [{"case": case, "why": why} for case, why in KNOWN_FAULTS.items()]
            found = self.by_section() | {"not_covered": not_covered, "known_faults": faults}
            file.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n")

    def __bool__(self) -> bool:
        return bool(self._outcomes)


def subject(id: str) -> str:
    return ROWS[id[0]][id]
