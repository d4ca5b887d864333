"""What long runs share: their duration, actions in the background, and samples that must not grow."""

import os
import statistics
import threading

from harness.service import Service

MINUTES = float(os.environ.get("ASSAY_SOAK_MINUTES", "3"))
# By how much the median of the last third of the samples may exceed that of the second. Lower for long runs.
MEMORY_GROWTH_KIB = 300 if MINUTES >= 60 else 1024
DESCRIPTOR_GROWTH = 8

# Resident memory in KiB, and open file descriptors.
Sample = tuple[int, int]


def sample(service: Service) -> Sample:
    return service.resident() // 1024, service.descriptors()


def check_growth(samples: list[Sample], memory_growth: int = MEMORY_GROWTH_KIB) -> None:
    third = len(samples) // 3
    before, after = samples[third : 2 * third], samples[2 * third :]
    memory = [statistics.median(resident for resident, _ in part) for part in (before, after)]
    descriptors = [statistics.median(count for _, count in part) for part in (before, after)]
    print(f"KiB {memory[0]:.0f} -> {memory[1]:.0f}, descriptors {descriptors[0]:.0f} -> {descriptors[1]:.0f}")
    assert memory[1] <= memory[0] + memory_growth, samples
    assert descriptors[1] <= descriptors[0] + DESCRIPTOR_GROWTH, samples


class Background(threading.Thread):
    """Runs an action in a loop, and keeps its errors."""

    def __init__(self, once):
        super().__init__(daemon=True)
        self._once = once
        self._stopped = threading.Event()
        self.times = 0
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            while not self._stopped.wait(0.01):
                self._once()
                self.times += 1
        except BaseException as error:
            self.error = error

    def check(self) -> None:
        if self.error:
            raise self.error

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        self.join()
