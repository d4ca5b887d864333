"""Which answers count: those during which the machine gave the cores that are measured nearly all they have."""

import array
import collections
import math
import statistics
from collections.abc import Iterable

from paced import Answers

WINDOW = 0.1
"""Seconds."""
INTERVAL, PUNCTUAL = 1.0, 0.1
"""Milliseconds from one moment of a watch to the next, and how late one may be because a core that sleeps has to wake."""
TOLERATED = 15
"""Milliseconds that a core may lose in a window that is quiet: what is loaded to 70 % still gets done."""
AFTERMATH = 0.5
"""Seconds for which what a disturbance held up may still be under way."""
FEWEST = 10
"""The windows that must have been quiet for a rate to be known."""

Moment = tuple[float, float, float]
"""When, in seconds of the monotonic clock; how late, and how long the work took, in milliseconds."""


def window(time: float) -> int:
    """The number of the window that a time is in."""
    return math.floor(time / WINDOW)


def losses(moments: Iterable[Moment], usual: float) -> dict[int, float]:
    """Milliseconds lost in each window; `usual` is what the work takes on a core that is all there. A moment stands for
    its interval: if it was late, the core was away; if not, the core gave what it gave to the work."""
    lost: dict[int, float] = collections.defaultdict(float)
    for time, late, took in moments:
        if late > INTERVAL:
            began = time - late / 1e3
            for number in range(window(began), window(time) + 1):
                lost[number] += 1e3 * (min(time, (number + 1) * WINDOW) - max(began, number * WINDOW))
        else:
            lost[window(time)] += INTERVAL * (1 if late > PUNCTUAL else max(0, 1 - usual / took))
    return lost


class Quiet:
    """In which windows no core lost more than is tolerated."""

    def __init__(self, lost: dict[int, float] | None = None):
        """By window, the most that a core lost; windows in which a core has no moment are left out. Without any, nothing
        is known, and all pass for quiet."""
        self._lost = lost

    def all(self, windows: Iterable[int]) -> bool:
        return self._lost is None or all(self._lost.get(number, math.inf) <= TOLERATED for number in windows)


def undisturbed(answers: Answers, quiet: Quiet) -> array.array:
    """Latencies of those that count: the machine was quiet from half a second before they were due, or from the first on,
    to the end of the window after. How long an answer took has no say in it."""
    first, before = window(min(answers.due)), round(AFTERMATH / WINDOW)
    counts = {
        number: quiet.all(range(max(first, number - before), number + 2))
        for number in range(first, window(max(answers.due)) + 1)
    }
    return array.array("d", (latency for due, latency in answers if counts[window(due)]))


def best_rate(answers: Answers, quiet: Quiet) -> float | None:
    """Answers a second while the machine was quiet; nothing, if it hardly was."""
    found = collections.Counter(window(due + latency / 1e3) for due, latency in answers)
    whole = range(window(min(answers.due)) + 1, window(max(answers.due)))
    in_quiet = [found[number] for number in whole if quiet.all([number])]
    return statistics.mean(in_quiet) / WINDOW if len(in_quiet) >= FEWEST else None
