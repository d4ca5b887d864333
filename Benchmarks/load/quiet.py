"""Which answers count: those during which the measured cores lost almost no time to the machine."""

import array
import collections
import math
import statistics
from collections.abc import Iterable

from paced import Answers

WINDOW = 0.1
"""The length of a window in seconds."""
INTERVAL, PUNCTUAL = 1.0, 0.1
"""Milliseconds between two moments of a watch, and how late one may be because a sleeping core has to wake up."""
TOLERATED = 15
"""Milliseconds that a core may lose in a quiet window: at 70 % load, the server still keeps up."""
AFTERMATH = 0.5
"""Seconds for which requests delayed by a disturbance may still be in flight."""
FEWEST = 10
"""The number of quiet windows that a rate needs."""

Moment = tuple[float, float, float]
"""The time in seconds of the monotonic clock; the lateness and the duration of the work in milliseconds."""


def window(time: float) -> int:
    """The index of the window that contains a time."""
    return math.floor(time / WINDOW)


def losses(moments: Iterable[Moment], usual: float) -> dict[int, float]:
    """Milliseconds lost in each window; `usual` is the work's duration on an undisturbed core. A moment stands for its
    interval. If it was late, the core was taken away. Otherwise, the core was as slow as the work on it."""
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
    """The windows in which no core lost more than `TOLERATED`."""

    def __init__(self, lost: dict[int, float] | None = None):
        """`lost` has the most that any core lost in each window, except windows in which a core has no moment. Without
        it, all windows count as quiet."""
        self._lost = lost

    def all(self, windows: Iterable[int]) -> bool:
        return self._lost is None or all(self._lost.get(number, math.inf) <= TOLERATED for number in windows)


def undisturbed(answers: Answers, quiet: Quiet) -> array.array:
    """The latencies of the answers that count: the machine was quiet from half a second before they were due, or from
    the first request on, to the end of the next window. The latency itself plays no part."""
    first, before = window(min(answers.due)), round(AFTERMATH / WINDOW)
    counts = {
        number: quiet.all(range(max(first, number - before), number + 2))
        for number in range(first, window(max(answers.due)) + 1)
    }
    return array.array("d", (latency for due, latency in answers if counts[window(due)]))


def best_rate(answers: Answers, quiet: Quiet) -> float | None:
    """Answers per second while the machine was quiet; `None` if there were too few quiet windows."""
    found = collections.Counter(window(due + latency / 1e3) for due, latency in answers)
    whole = range(window(min(answers.due)) + 1, window(max(answers.due)))
    in_quiet = [found[number] for number in whole if quiet.all([number])]
    return statistics.mean(in_quiet) / WINDOW if len(in_quiet) >= FEWEST else None
