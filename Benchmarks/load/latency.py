"""Latency at a sustainable rate, while keys are refreshed."""

import array
import contextlib
import dataclasses
import itertools
import statistics
from collections.abc import Iterable

import paced
import peer_process
import peers
import wrk
from core_watch import CoreWatch
from keyserver import KeyServer
from measure import Bench
from processes import Process, Unavailable, apart, confined, put_first
from quiet import AFTERMATH, FEWEST, TOLERATED, Quiet, best_rate, undisturbed
from report import Section
from service import NETWORK, Assay, Refreshing, apple, settings

SHARE = 0.7
REFRESHED = "Assay, keys refreshed every second"
LONG_ENOUGH = 2
"""The least seconds of a run that finds a peak rate."""
ENOUGH = 0.5
"""A round needs this share of one run's answers to count."""
ATTEMPTS = 4
"""The most runs for that in a round, and the most attempts to find a peak rate."""


@dataclasses.dataclass(frozen=True)
class Contender:
    server: Process
    measured: Process
    """The server whose peak rate determines the request rate."""
    refreshed: Assay | None = None
    """The service whose keys are refreshed during the run."""


class Generator:
    """Sends the requests, and watches the machine meanwhile."""

    def __init__(self, bench: Bench, cores: list[int], own: int):
        self._bench, self._own = bench, own
        self._pool = bench.pools.good("RS256")
        self._watch: CoreWatch | None = CoreWatch(bench.builder, [*cores, own])

    def ask(self, server: Process, rate: float, seconds: float) -> tuple[paced.Answers, Quiet]:
        def run() -> paced.Answers:
            return paced.run(
                self._bench, server, server.port, self._pool, rate, seconds, wrk.CONNECTIONS, [self._own]
            )

        return self._watch.during(run) if self._watch else (run(), Quiet())

    def best_rate(self, server: Process) -> float | None:
        for _ in range(ATTEMPTS):
            found = best_rate(*self.ask(server, 0, max(LONG_ENOUGH, self._bench.seconds)))
            if found is not None:
                return found
        return None

    def warm_up(self, servers: list[Process]) -> None:
        """Lets the watch learn the cores' usual speed. If watching is not permitted, raises and disables it for later runs."""
        try:
            for server in servers:
                self.ask(server, 0, self._bench.seconds)
        except Unavailable:
            self._watch = None
            raise


@dataclasses.dataclass
class Round:
    """A contender's results in one round."""

    answers: int = 0
    counted: array.array = dataclasses.field(default_factory=lambda: array.array("d"))
    """The latencies of the answers that count."""
    longest: float = 0
    """The longest latency of all answers."""
    peaks: list[float] = dataclasses.field(default_factory=list)
    rates: list[float] = dataclasses.field(default_factory=list)
    cpu: list[float] = dataclasses.field(default_factory=list)
    refreshes: int = 0

    def run(self, bench: Bench, generator: Generator, contender: Contender) -> None:
        """Does nothing if no peak rate was found."""
        best = generator.best_rate(contender.measured)
        if best is None:
            return
        with Refreshing(contender.refreshed) if contender.refreshed else contextlib.nullcontext() as refreshing:
            answers, quiet = generator.ask(contender.server, best * SHARE, bench.latency_seconds)
        if refreshing:
            self.refreshes += refreshing.completed()
        self.answers += len(answers)
        self.counted += undisturbed(answers, quiet)
        self.longest = max(self.longest, max(answers.latencies))
        self.peaks.append(best)
        self.rates.append(answers.rate)
        self.cpu.append(answers.cpu)


def _has_enough(rounds: list[Round]) -> bool:
    """Whether enough answers count for the figures to mean something."""
    runs = sum(len(found.peaks) for found in rounds)
    counted, answers = sum(len(found.counted) for found in rounds), sum(found.answers for found in rounds)
    return runs > 0 and counted >= ENOUGH * answers / runs


def _counted(rounds: list[Round]) -> list[float]:
    """The latencies of all answers that count, in ascending order; empty if there are too few."""
    return sorted(itertools.chain.from_iterable(found.counted for found in rounds)) if _has_enough(rounds) else []


def _row(name: str, rounds: list[Round], counted: list[float]) -> list[str]:
    def median(values: Iterable[list[float]], decimals: int = 0) -> str:
        found = list(itertools.chain.from_iterable(values))
        return f"{statistics.median(found):,.{decimals}f}" if found else ""

    return [
        name,
        median(found.peaks for found in rounds),
        median(found.rates for found in rounds),
        median((found.cpu for found in rounds), 1),
        f"{sum(found.answers for found in rounds):,}",
        f"{sum(len(found.counted) for found in rounds):,}",
        *(f"{paced.quantile(counted, share):.2f}" if counted else "" for share in (0.5, 0.99, 0.999)),
        f"{counted[-1]:.1f}" if counted else "",
        f"{max(found.longest for found in rounds):.1f}",
    ]


def measure(bench: Bench, section: Section) -> None:
    cores, others = apart()
    with contextlib.ExitStack() as stack:
        # Keeps the key server off the service's cores: in reality, it is on another machine.
        stack.enter_context(confined(others))
        keys = stack.enter_context(KeyServer([key.jwk for key in bench.pools.keys.values()], changes=True))
        content = settings([apple(jwks_uri=keys.url, network=NETWORK)])
        service = stack.enter_context(Assay(bench.assay, bench.directory, content, cores=cores))
        contenders = {
            "Assay": Contender(service, service),
            REFRESHED: Contender(service, service, refreshed=service),
        }
        try:
            peer = peers.named("echo")
            echo = peer_process.start(peer, "RS256", bench.pools, bench.builder, bench.venv, cores)
            stack.enter_context(echo)
            contenders["bare echo"] = Contender(echo, service)
            contenders["bare echo, at the same share of its own best rate"] = Contender(echo, echo)
        except Unavailable as reason:
            section.text(f"Not measured: **the bare echo**: {reason}")
        servers = list(dict.fromkeys(found.server for found in contenders.values()))
        for server in servers:
            put_first(server.process.pid)
        generator = Generator(bench, cores, others[0])
        section.text(*_method(bench, len(cores)))
        bench.say("latency: warming up")
        try:
            generator.warm_up(servers)
        except Unavailable as reason:
            section.text(f"Not measured: **time that the machine takes away**: {reason}. Therefore all answers count.")
        rounds: dict[str, list[Round]] = {name: [] for name in contenders}
        for index in range(bench.rounds):
            for name in contenders if index % 2 == 0 else reversed(contenders):
                bench.say(f"latency: round {index + 1} of {bench.rounds}, {name}")
                found = Round()
                for _ in range(ATTEMPTS):
                    if not _has_enough([found]):
                        found.run(bench, generator, contenders[name])
                rounds[name].append(found)
    section.text(
        f"{sum(found.refreshes for found in rounds[REFRESHED])} refreshes, each with a different key set, and so new "
        "snapshots for all event loops."
    )
    counted = {name: _counted(found) for name, found in rounds.items()}
    section.table(
        [
            "",
            "best rate",
            "rate reached",
            "CPU µs",
            "answers",
            "that count",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
            "longest ms that counts",
            "longest ms of all answers",
        ],
        [_row(name, found, counted[name]) for name, found in rounds.items()],
    )
    if latencies := counted[REFRESHED]:
        section.figures["p99"] = paced.quantile(latencies, 0.99)
        section.figures["outlier"] = latencies[-1]


def _method(bench: Bench, cores: int) -> tuple[str, str]:
    return (
        f"{wrk.CONNECTIONS} connections, RS256, at {SHARE:.0%} of the peak rate (each connection sends its next request at "
        "once). The peak is measured right before each run, because the machine's speed varies over minutes. "
        f"{bench.rounds} rounds of {bench.latency_seconds:g} s. Requests follow a fixed schedule, and latency counts from the "
        f"scheduled time. The server has {cores} of the machine's cores and the load generator another, both with priority "
        "over other programs if the system allows it. The echo at the same rate shows the cost of HTTP without Assay. At the "
        "same share of its own peak, it shows the latency of any program under that load.",
        "Time that the machine takes away from a core is not the server's latency. A real-time task runs every millisecond on "
        "each of these cores and does a small piece of work. It is late if the core was taken away, and slow if another "
        f"machine shares the core. An answer counts if no core lost more than {TOLERATED} ms of any tenth of a second, from "
        f"{AFTERMATH:g} s before the scheduled time to the end of the tenth after it. The answer's own latency plays no part, "
        "and time taken by other programs is not excused. A server that blocked its core in the kernel would lose answers that "
        f"the echo does not lose. A best rate is taken from at least {FEWEST} such tenths. A round continues for at most "
        f"{ATTEMPTS} runs, until the answers that count are {ENOUGH:.0%} of a run's; if all rounds together have fewer, no "
        "figures are given. The figures cover all answers that count. The longest of all answers includes those that the "
        "machine disturbed.",
    )
