"""How much other programs disturb a measurement."""

import os
import pathlib
import statistics
import time
from collections.abc import Callable
from typing import TypeVar

from processes import TICKS, tree_times

Found = TypeVar("Found")
QUIET = 0.05
"""The share of the processors that others may use; a run in which they use more is repeated."""
ATTEMPTS = 4
TOLERATED = 0.1
"""The share of disturbed runs above which the page has a warning."""


class Machine:
    """Tracks the share of processor time that goes to other programs and to other machines on the same hardware."""

    def __init__(self):
        self.shares: list[float] = []

    def quietest(self, run: Callable[[], Found]) -> Found:
        """Repeats a run until one is quiet, a few times at most; returns the result of the least disturbed one."""

        def watched() -> tuple[float, Found]:
            began, busy, ours = time.monotonic(), _busy_seconds(), tree_times(os.getpid())
            result = run()
            others = (_busy_seconds() - busy) - (tree_times(os.getpid()) - ours)
            return max(0.0, others / (time.monotonic() - began) / (os.cpu_count() or 1)), result

        found: list[tuple[float, Found]] = []
        while len(found) < ATTEMPTS and (not found or found[-1][0] > QUIET):
            if found:
                time.sleep(1)
            found.append(watched())
        share, result = min(found, key=lambda run: run[0])
        self.shares.append(share)
        return result

    @property
    def loud_runs(self) -> int:
        return sum(share > QUIET for share in self.shares)

    def describe(self) -> str:
        if not self.shares:
            return ""
        return (
            f"other programs and machines used {statistics.median(self.shares):.1%} of the processors (median of "
            f"{len(self.shares)} runs), at most {max(self.shares):.1%}; a run with more than {QUIET:.0%} was repeated, "
            f"up to {ATTEMPTS - 1} times, and the quietest kept; over that even so: {self.loud_runs}"
        )

    def warning(self) -> str:
        """A warning if so many runs were disturbed that the figures mean little."""
        if self.loud_runs <= len(self.shares) * TOLERATED:
            return ""
        return (
            f"**Disturbed**: in {self.loud_runs} of {len(self.shares)} runs others used more than {QUIET:.0%} of the "
            "processors. Measure again on a quiet machine."
        )


def _busy_seconds() -> float:
    """The user, nice, system and steal time of all processors."""
    fields = list(map(int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]))
    return (fields[0] + fields[1] + fields[2] + fields[7]) / TICKS
