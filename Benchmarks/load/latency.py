"""Latency at a rate that the service can sustain, while its keys are refreshed."""
import contextlib
import json
import statistics
import subprocess
import threading

import peers
import wrk
from keyserver import KeyServer
from measure import Bench
from processes import Unavailable
from report import Section
from service import NETWORK, Assay, apple, settings

SHARE = 0.7
PLAIN, REFRESHED, ECHO = "Assay", "Assay, keys refreshed every second", "bare echo"


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


def measure(bench: Bench) -> Section:
    section = Section("Latency")
    made = bench.pools
    generator = bench.builder.c("paced")
    pool = made.good("RS256")
    with contextlib.ExitStack() as stack:
        keys = stack.enter_context(KeyServer([key.jwk for key in made.keys.values()], changes=True))
        service = Assay(bench.assay, bench.directory, settings([apple(jwks_uri=keys.url, network=NETWORK)]))
        stack.callback(service.stop)
        ports = {PLAIN: service.port, REFRESHED: service.port}
        try:
            echo = peers.start(peers.named("echo"), "RS256", made, bench.builder, bench.venv)
            stack.callback(echo.stop)
            ports[ECHO] = echo.port
        except Unavailable as reason:
            section.text(f"Not measured: **the bare echo**: {reason}")

        bench.say("latency: looks for the peak rate")
        wrk.run(service, service.port, pool, 1)
        peak = statistics.median(wrk.run(service, service.port, pool, bench.seconds).rate for _ in range(bench.rounds))
        rate, refreshes = peak * SHARE, 0
        rounds: dict[str, list[dict]] = {name: [] for name in ports}

        def run(port: int) -> dict:
            command = [generator, port, pool.file, rate, bench.latency_seconds, wrk.CONNECTIONS]
            found = subprocess.run(list(map(str, command)), capture_output=True, text=True)
            if found.returncode:
                raise RuntimeError(found.stderr.strip())
            return json.loads(found.stdout)

        for index in range(bench.rounds):
            for name in ports if index % 2 == 0 else reversed(ports):
                bench.say(f"latency: round {index + 1} of {bench.rounds}, {name}")
                if name == REFRESHED:
                    with Refreshing(service) as refreshing:
                        figures = run(ports[name])
                    if refreshing.error:
                        raise RuntimeError(refreshing.error)
                    refreshes += refreshing.done
                else:
                    figures = run(ports[name])
                if figures["failures"]:
                    raise RuntimeError(f"{figures['failures']} requests were refused")
                rounds[name].append(figures)

    def median(name: str, key: str) -> float:
        return statistics.median(figures[key] for figures in rounds[name])

    def greatest(name: str, key: str) -> float:
        return max(figures[key] for figures in rounds[name])

    section.text(
        f"{wrk.CONNECTIONS} connections, RS256, {rate:,.0f} requests/s: {SHARE:.0%} of the {peak:,.0f} that wrk reached. "
        f"{bench.rounds} rounds of {bench.latency_seconds:g} s. Requests go out by a timetable, and latency counts from when "
        "one was due. Generator and server share the cores: how late the generator itself was, with a connection idle, is "
        "what the machine does to every figure here, and the echo at the same rate is what HTTP costs without Assay.",
        f"{refreshes} refreshes, each bringing another key set and so new snapshots for all event loops.")
    section.table(
        ["", "rate reached", "p50 ms", "p99 ms", "p99.9 ms", "longest ms (median · of all)", "over 20 ms",
         "generator late, p99 ms", "latest ms"],
        [[name, f"{median(name, 'rate'):,.0f}", f"{median(name, 'p50'):.2f}", f"{median(name, 'p99'):.2f}",
          f"{median(name, 'p999'):.2f}", f"{median(name, 'max'):.1f} · {greatest(name, 'max'):.1f}",
          f"{sum(figures['over_20ms'] for figures in found)} of {sum(figures['requests'] for figures in found):,}",
          f"{median(name, 'own_p99'):.2f}", f"{greatest(name, 'own_max'):.1f}"]
         for name, found in rounds.items()])
    section.figures["p99"] = median(REFRESHED, "p99")
    section.figures["outlier"] = greatest(REFRESHED, "max")
    return section
