"""Latency at a rate that the service can sustain, while its keys are refreshed."""

import contextlib
import statistics
import threading

import paced
import peer_process
import peers
import wrk
from keyserver import KeyServer
from machine import least_disturbed
from measure import Bench
from processes import Unavailable, apart, confined
from report import Section
from service import NETWORK, Assay, apple, settings
from standstill import Standstill

SHARE = 0.7
PLAIN, REFRESHED, ECHO = "Assay", "Assay, keys refreshed every second", "bare echo"
LADEN_ECHO = "bare echo, at that share of its own best rate"


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


STANDSTILL = 10
"""Milliseconds by which the generator may be late, and that the server's cores may lose within a tenth of a second; more,
and the machine stood still, whatever it measures."""
DRIFT = 0.1
"""The share by which the peak may differ after a run from that before; more, and the rate was of no known share of it."""
ATTEMPTS = 3


def disturbance(figures: dict[str, float]) -> float:
    """How much the machine did to a run, beside what is tolerated."""
    drift = abs(figures["peak_after"] / figures["peak"] - 1)
    return max(figures["own_max"] / STANDSTILL, figures["lost"] / STANDSTILL, drift / DRIFT)


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
        servers = {PLAIN: service, REFRESHED: service}
        try:
            echo = stack.enter_context(
                peer_process.start(peers.named("echo"), "RS256", made, bench.builder, bench.venv, cores)
            )
            servers |= {ECHO: echo, LADEN_ECHO: echo}
        except Unavailable as reason:
            section.text(f"Not measured: **the bare echo**: {reason}")

        def ask(server, rate: float, seconds: float) -> dict[str, float]:
            return paced.run(bench, server, server.port, pool, rate, seconds, wrk.CONNECTIONS, others)

        def peak(name: str) -> float:
            return ask(servers[LADEN_ECHO] if name == LADEN_ECHO else service, 0, bench.seconds)["rate"]

        watched = cores
        try:
            with Standstill(bench.builder, watched):
                pass
        except Unavailable as reason:
            watched = []
            section.text(f"Not measured: **what the server's cores lost**: {reason}")
        ask(service, 0, 1)
        refreshes = 0
        rounds: dict[str, list[dict]] = {name: [] for name in servers}

        def run(name: str) -> dict[str, float]:
            before = peak(name)
            with Refreshing(service) if name == REFRESHED else contextlib.nullcontext() as refreshing:
                with Standstill(bench.builder, watched) as watch:
                    figures = ask(servers[name], before * SHARE, bench.latency_seconds)
            figures |= {"peak": before, "peak_after": peak(name), "lost": watch.most}
            if refreshing is None:
                return figures
            if refreshing.error:
                raise RuntimeError(refreshing.error)
            return figures | {"refreshes": refreshing.done}

        for index in range(bench.rounds):
            for name in servers if index % 2 == 0 else reversed(servers):
                bench.say(f"latency: round {index + 1} of {bench.rounds}, {name}")
                figures = least_disturbed(
                    lambda: bench.machine.quietest(lambda: run(name)), disturbance, 1, ATTEMPTS
                )
                refreshes += figures.get("refreshes", 0)
                rounds[name].append(figures)

    def median(name: str, key: str) -> float:
        return statistics.median(figures[key] for figures in rounds[name])

    def greatest(name: str, key: str) -> float:
        return max(figures[key] for figures in rounds[name])

    section.text(
        f"{wrk.CONNECTIONS} connections, RS256, at {SHARE:.0%} of the rate at which Assay answers when each connection "
        "asks again at once, which is measured right before each run: a rate from some minutes ago is another share of "
        f"what the machine can do by now. {bench.rounds} rounds of {bench.latency_seconds:g} s. Requests go out by a "
        "timetable, and latency counts from when one was due. The server has "
        f"{len(cores)} of the machine's cores and the generator others. How late the generator itself was, with a "
        "connection idle, is what the machine does to every figure here; so is what the server's cores lost within a tenth "
        "of a second, which something of real-time priority notes that wants to run each millisecond. The echo at the "
        "same rate is what HTTP costs without Assay; as laden as Assay is, it shows how long answers get on this machine "
        f"whatever the program. A run is repeated, up to {ATTEMPTS - 1} times, in which one of "
        f"these was more than {STANDSTILL} ms, or behind which the best rate was more than {DRIFT:.0%} from that before "
        "it; the least disturbed one counts.",
        f"{refreshes} refreshes, each bringing another key set and so new snapshots for all event loops.",
    )
    section.table(
        [
            "",
            "best rate, before · after",
            "rate reached",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
            "longest ms (median · of all)",
            "over 20 ms",
            "generator late, p99 ms",
            "latest ms",
            "server's cores lost, most ms",
            "CPU µs",
        ],
        [
            [
                name,
                f"{median(name, 'peak'):,.0f} · {median(name, 'peak_after'):,.0f}",
                f"{median(name, 'rate'):,.0f}",
                f"{median(name, 'p50'):.2f}",
                f"{median(name, 'p99'):.2f}",
                f"{median(name, 'p999'):.2f}",
                f"{median(name, 'max'):.1f} · {greatest(name, 'max'):.1f}",
                f"{sum(figures['over_20ms'] for figures in found)} of "
                f"{sum(figures['requests'] for figures in found):,}",
                f"{median(name, 'own_p99'):.2f}",
                f"{greatest(name, 'own_max'):.1f}",
                f"{greatest(name, 'lost'):.1f}" if watched else "",
                f"{median(name, 'cpu'):.1f}",
            ]
            for name, found in rounds.items()
        ],
    )
    section.figures["p99"] = median(REFRESHED, "p99")
    section.figures["outlier"] = greatest(REFRESHED, "max")
