"""Latency at a rate that the service can sustain, while its keys are refreshed."""

import contextlib
import dataclasses
import itertools
import math
import statistics
import threading

import paced
import peer_process
import peers
import wrk
from core_watch import CoreWatch
from keyserver import KeyServer
from measure import Bench
from processes import Process, Unavailable, apart, confined, put_first
from quiet import AFTERMATH, TOLERATED, WINDOW, Quiet, best_rate, undisturbed
from report import Section
from service import NETWORK, Assay, apple, settings

SHARE = 0.7
PLAIN, REFRESHED, ECHO = "Assay", "Assay, keys refreshed every second", "bare echo"
LADEN_ECHO = "bare echo, at that share of its own best rate"
ENOUGH = 0.5
"""The share of a round's answers that are to count; where fewer do, it goes on, up to so many times as long."""
ATTEMPTS = 4


class Refreshing:
    """Has the service fetch its keys every second."""

    def __init__(self, service: Assay):
        self._service, self._stop, self.done, self.error = service, threading.Event(), 0, ""
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop.wait(1):
            try:
                status, body = self._service.admin("POST", "/v1/providers/apple/refresh")
            except OSError as error:
                status, body = 0, str(error).encode()
            if status != 200:
                self.error = f"a refresh was answered with {status}: {body[:200]!r}"
                return
            self.done += 1

    def __enter__(self) -> "Refreshing":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stop.set()
        self._thread.join()


@dataclasses.dataclass
class Round:
    """What a contender did in one round."""

    asked: int = 0
    counted: list[float] = dataclasses.field(default_factory=list)
    """Latencies, undisturbed."""
    longest: float = 0
    """Of all answers, disturbed or not."""
    peaks: list[float] = dataclasses.field(default_factory=list)
    rates: list[float] = dataclasses.field(default_factory=list)
    cpu: list[float] = dataclasses.field(default_factory=list)
    refreshes: int = 0

    def add(self, peak: float, answers: paced.Answers, quiet: Quiet) -> None:
        self.asked += len(answers)
        self.counted += undisturbed(answers, quiet)
        self.longest = max(self.longest, *answers.latencies)
        self.peaks.append(peak)
        self.rates.append(answers.rate)
        self.cpu.append(answers.cpu)

    @property
    def has_enough(self) -> bool:
        return len(self.counted) >= ENOUGH * self.asked / len(self.peaks)

    def quantile(self, share: float) -> float:
        return paced.quantile(sorted(self.counted), share)


def _row(name: str, rounds: list[Round]) -> list[str]:
    def median(values: list[list[float]]) -> float:
        return statistics.median(itertools.chain.from_iterable(values))

    counted = [found for found in rounds if found.counted]
    longest = [found.quantile(1) for found in counted] or [math.nan]
    return [
        name,
        f"{median([found.peaks for found in rounds]):,.0f}",
        f"{median([found.rates for found in rounds]):,.0f}",
        f"{median([found.cpu for found in rounds]):.1f}",
        f"{sum(len(found.counted) for found in rounds):,} of {sum(found.asked for found in rounds):,}",
        *(f"{median([[found.quantile(share)] for found in counted] or [[math.nan]]):.2f}" for share in (0.5, 0.99, 0.999)),
        f"{statistics.median(longest):.1f} · {max(longest):.1f}",
        str(sum(latency > 20 for found in counted for latency in found.counted)),
        f"{max(found.longest for found in rounds):.1f}",
    ]


def measure(bench: Bench, section: Section) -> None:
    made = bench.pools
    pool = made.good("RS256")
    cores, others = apart()
    with contextlib.ExitStack() as stack:
        # The provider is not on the service's machine.
        stack.enter_context(confined(others))
        keys = stack.enter_context(KeyServer([key.jwk for key in made.keys.values()], changes=True))
        content = settings([apple(jwks_uri=keys.url, network=NETWORK)])
        service = stack.enter_context(Assay(bench.assay, bench.directory, content, cores=cores))
        servers: dict[str, Process] = {PLAIN: service, REFRESHED: service}
        try:
            echo = stack.enter_context(
                peer_process.start(peers.named("echo"), "RS256", made, bench.builder, bench.venv, cores)
            )
            servers |= {ECHO: echo, LADEN_ECHO: echo}
        except Unavailable as reason:
            section.text(f"Not measured: **the bare echo**: {reason}")
        for server in set(servers.values()):
            put_first(server.process.pid)
        watch = CoreWatch(bench.builder, [*cores, *others])
        try:
            with watch.watching():
                pass
        except Unavailable as reason:
            watch = None
            section.text(f"Not measured: **what the cores lost**: {reason}. So all answers count.")

        def ask(server: Process, rate: float, seconds: float) -> tuple[paced.Answers, Quiet]:
            with watch.watching() if watch else contextlib.nullcontext(Quiet) as quiet:
                answers = paced.run(bench, server, server.port, pool, rate, seconds, wrk.CONNECTIONS, others)
            return answers, quiet()

        def run(name: str, found: Round) -> None:
            server = servers[name]
            peak = best_rate(*ask(server if name == LADEN_ECHO else service, 0, bench.seconds))
            with Refreshing(service) if name == REFRESHED else contextlib.nullcontext() as refreshing:
                answers, quiet = ask(server, peak * SHARE, bench.latency_seconds)
            if refreshing:
                if refreshing.error:
                    raise RuntimeError(refreshing.error)
                found.refreshes += refreshing.done
            found.add(peak, answers, quiet)

        ask(service, 0, 1)
        rounds: dict[str, list[Round]] = {name: [] for name in servers}
        for index in range(bench.rounds):
            for name in servers if index % 2 == 0 else reversed(servers):
                bench.say(f"latency: round {index + 1} of {bench.rounds}, {name}")
                rounds[name].append(found := Round())
                for _ in range(ATTEMPTS):
                    run(name, found)
                    if found.has_enough:
                        break

    section.text(
        f"{wrk.CONNECTIONS} connections, RS256, at {SHARE:.0%} of the rate at which Assay answers when each connection "
        "asks again at once, which is measured right before each run: a rate from some minutes ago is another share of "
        f"what the machine can do by now. {bench.rounds} rounds of {bench.latency_seconds:g} s. Requests go out by a "
        f"timetable, and latency counts from when one was due. The server has {len(cores)} of the machine's cores and the "
        "generator others, both before other programs. The echo at the same rate is what HTTP costs without Assay; as "
        "laden as Assay is, it shows how long answers get whatever the program.",
        "What the machine takes away from a core is no latency of a server's. Something of real-time priority wants to run "
        "each millisecond on each core, the generator's too, and do a small piece of work: it is late where the core was "
        "taken away altogether, and slow where another machine shares what does the computing. An answer counts if no core "
        f"lost more than {TOLERATED} ms of any tenth of a second, from {AFTERMATH:g} s before it was due to the end of the "
        "tenth after; how long the answer took has no say. A server that kept its core in the kernel would lose answers by that "
        "which the echo does not lose. A round goes on until half its answers count, or for "
        f"{ATTEMPTS} times as long. The last column is the longest of all answers, those too that the machine disturbed.",
        f"{sum(found.refreshes for found in rounds[REFRESHED])} refreshes, each bringing another key set and so new "
        "snapshots for all event loops.",
    )
    section.table(
        [
            "",
            "best rate",
            "rate reached",
            "CPU µs",
            "answers that count",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
            "longest ms (median · of all)",
            "over 20 ms",
            "longest, disturbed or not",
        ],
        [_row(name, found) for name, found in rounds.items()],
    )
    if counted := [found for found in rounds[REFRESHED] if found.counted]:
        section.figures["p99"] = statistics.median(found.quantile(0.99) for found in counted)
        section.figures["outlier"] = max(found.quantile(1) for found in counted)
