"""What the machine takes away from cores, and when: core_watch.c on each of some."""

import array
import contextlib
import math
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Iterator

from build import Builder
from processes import Unavailable
from quiet import Moment, Quiet, losses


class CoreWatch:
    """Watches cores for one block of code after the other."""

    def __init__(self, builder: Builder, cores: list[int]):
        self._program, self._cores = builder.c("core_watch"), cores
        self._usual = {core: math.inf for core in cores}

    @contextlib.contextmanager
    def watching(self) -> Iterator[Callable[[], Quiet]]:
        """What it gives can be called behind the block."""
        with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
            files = {core: pathlib.Path(name) / str(core) for core in self._cores}
            watches = [stack.enter_context(_watch(self._program, core, file)) for core, file in files.items()]
            found: list[Quiet] = []
            yield found.pop
            for watch in watches:
                watch.terminate()
            if any(watch.wait(timeout=20) for watch in watches):
                raise RuntimeError("a core's watch failed")
            found.append(self._judge({core: _moments(file) for core, file in files.items()}))

    def _judge(self, moments: dict[int, list[Moment]]) -> Quiet:
        for core, found in moments.items():
            took = sorted(took for _, _, took in found)
            self._usual[core] = min([self._usual[core], *took[len(took) // 10 :][:1]])
        lost = [losses(found, self._usual[core]) for core, found in moments.items()]
        return Quiet({number: max(core[number] for core in lost) for number in set.intersection(*map(set, lost))})


@contextlib.contextmanager
def _watch(program: pathlib.Path, core: int, file: pathlib.Path) -> Iterator[subprocess.Popen]:
    with subprocess.Popen([program, str(core), file], stdout=subprocess.PIPE, text=True) as watch:
        try:
            if watch.stdout.readline() != "watching\n":
                raise Unavailable("real-time priority is not permitted")
            yield watch
        finally:
            watch.terminate()


def _moments(file: pathlib.Path) -> list[Moment]:
    numbers = array.array("d", file.read_bytes())
    return list(zip(*[iter(numbers)] * 3, strict=True))
