"""Interleaved rounds: each measures all contenders in turn, so that a change in the machine's speed affects all."""

import dataclasses
import pathlib
import statistics
import subprocess
from collections.abc import Callable

import wrk
from build import Builder
from machine import Machine
from pools import Pool, Pools
from processes import Process, Unavailable


@dataclasses.dataclass(frozen=True)
class Bench:
    """The context that every part receives."""

    assay: pathlib.Path
    builder: Builder
    pools: Pools
    venv: pathlib.Path
    machine: Machine
    rounds: int
    seconds: float
    latency_seconds: float
    requests: int
    is_quick: bool
    peers: list[str]
    say: Callable[[str], None]

    @property
    def directory(self) -> pathlib.Path:
        return self.pools.directory

    def bare(self, tokens: Pool, algorithm: str, seconds: float, at_once: int = 1) -> list[wrk.Figures]:
        """Runs the bare check, alone or several at once. Its rate is calculated from its CPU microseconds."""
        program = self.builder.c("bare_verify", "-lcrypto")
        command = [program, self.directory / f"{algorithm}.pem", tokens.file, algorithm, str(seconds)]
        running = [subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) for _ in range(at_once)]
        outputs = [process.communicate()[0] for process in running]
        if any(process.returncode for process in running):
            raise RuntimeError("the bare check refused a good token")
        costs = [float(text) for text in outputs]
        return [wrk.Figures(0, 1e6 / cost, cost, 0, 0) for cost in costs]


Contender = Callable[[float], wrk.Figures]
"""Measures for the given number of seconds."""


@dataclasses.dataclass
class Series:
    """The rounds of one contender."""

    rounds: list[wrk.Figures] = dataclasses.field(default_factory=list)

    def values(self, name: str) -> list[float]:
        return [getattr(figures, name) for figures in self.rounds]

    def median(self, name: str = "cpu") -> float:
        return statistics.median(self.values(name))

    def ratio(self, other: "Series", name: str = "cpu") -> float:
        """The median of the ratios within each round."""
        return statistics.median(a / b for a, b in zip(self.values(name), other.values(name), strict=True))


def interleave(
    bench: Bench, contenders: dict[str, Contender], what: str, dropped: dict[str, str] | None = None
) -> dict[str, Series]:
    """Every other round runs in reverse order. The first, short round is the warm-up and not counted. A contender that
    turns out to be unavailable is left out, and `dropped` gets the reason."""
    series = {name: Series() for name in contenders}
    for index in range(bench.rounds + 1):
        bench.say(f"{what}: round {index} of {bench.rounds}" if index else f"{what}: warming up")
        for name in list(series) if index % 2 else list(reversed(series)):
            try:
                if index:
                    series[name].rounds.append(bench.machine.quietest(lambda: contenders[name](bench.seconds)))
                else:
                    contenders[name](1)
            except Unavailable as reason:
                if dropped is None:
                    raise
                dropped[name] = str(reason)
                del series[name]
    return series


BATCH_CONNECTIONS = 8
"""Requests in flight at the end have used CPU time and are not counted. With 64 batches, that would be too much."""


def loaded(server: Process, port: int, pool: Pool) -> Contender:
    connections = wrk.CONNECTIONS if pool.tokens == 1 else BATCH_CONNECTIONS
    return lambda seconds: wrk.run(server, port, pool, seconds, connections)


def bare(bench: Bench, algorithm: str, tokens: Pool | None = None) -> Contender:
    return lambda seconds: bench.bare(tokens or bench.pools.tokens(algorithm), algorithm, min(seconds, 2))[0]
