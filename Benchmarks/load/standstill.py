"""How much of the cores the machine took away: standstill.c on each of some."""

import subprocess

from build import Builder
from processes import Unavailable


class Standstill:
    """Watches cores for a block of code; then `most` is the milliseconds that one of them lost within a tenth of a second."""

    def __init__(self, builder: Builder, cores: list[int]):
        self._command, self._cores, self.most = builder.c("standstill"), cores, 0.0

    def __enter__(self) -> "Standstill":
        self._watches = [
            subprocess.Popen([self._command, str(core)], stdout=subprocess.PIPE, text=True) for core in self._cores
        ]
        if any(watch.stdout.readline() != "watching\n" for watch in self._watches):
            self._end()
            raise Unavailable("what the machine takes away can't be told: real-time priority is not permitted")
        return self

    def __exit__(self, *_) -> None:
        self.most = max(map(float, self._end()), default=0)

    def _end(self) -> list[str]:
        for watch in self._watches:
            watch.terminate()
        return [watch.communicate(timeout=20)[0] for watch in self._watches]
