"""Records when the machine takes time away from cores, by running core_watch.c on each of them."""

import array
import contextlib
import math
import pathlib
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from build import Builder
from processes import Unavailable
from quiet import WINDOW, Moment, Quiet, losses

Found = TypeVar("Found")
NOT_PERMITTED = 3


class CoreWatch:
    """Watches a set of cores during each run."""

    def __init__(self, builder: Builder, cores: list[int]):
        self._program, self._cores = builder.c("core_watch"), cores
        self._usual = {core: math.inf for core in cores}
        """The 10th percentile of the work's duration on each core, in the best run so far."""

    def during(self, run: Callable[[], Found]) -> tuple[Found, Quiet]:
        """Returns the result of a run, and when the machine was quiet during it."""
        with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
            files = {core: pathlib.Path(name) / str(core) for core in self._cores}
            watches = [stack.enter_context(_watch(self._program, core, file)) for core, file in files.items()]
            found = run()
            time.sleep(2 * WINDOW)  # The last answers are also judged by the window that follows theirs.
            for watch in watches:
                watch.terminate()
            if any(watch.wait(timeout=20) for watch in watches):
                raise RuntimeError("a core's watch failed")
            return found, self._judge({core: _moments(file) for core, file in files.items()})

    def _judge(self, moments: dict[int, list[Moment]]) -> Quiet:
        for core, found in moments.items():
            took = sorted(took for _, _, took in found)
            self._usual[core] = min(self._usual[core], took[len(took) // 10])
        lost = [losses(found, self._usual[core]) for core, found in moments.items()]
        return Quiet({number: max(core[number] for core in lost) for number in set.intersection(*map(set, lost))})


@contextlib.contextmanager
def _watch(program: pathlib.Path, core: int, file: pathlib.Path) -> Iterator[subprocess.Popen]:
    with subprocess.Popen([program, str(core), file], stdout=subprocess.PIPE, text=True) as watch:
        try:
            if watch.stdout.readline() != "watching\n":
                if watch.wait() == NOT_PERMITTED:
                    raise Unavailable("real-time priority is not permitted")
                raise RuntimeError("a core's watch failed")
            yield watch
        finally:
            watch.terminate()


def _moments(file: pathlib.Path) -> list[Moment]:
    numbers = array.array("d", file.read_bytes())
    return list(zip(*[iter(numbers)] * 3, strict=True))
