"""An open entry: many first uses at once, and requests for issuers that don't exist, beside another provider."""

import concurrent.futures
import json
import statistics
import time

import asking
import mint
import paced
import pools
from issuer_keys import AUDIENCE, IssuerKeys, forged
from measure import Bench
from report import Section
from service import NETWORK, Assay, apple, settings

PROVIDER = "connections"
FIRST_USES, QUICK_FIRST_USES = 300, 50
MISSING, QUICK_MISSING = 100_000, 3_000
RATE, CONNECTIONS = 500, 16
"""Verifications a second of the other provider, and their connections."""
SECONDS_ALONE = 3


class Bystander:
    """The verifications of another provider, at a service that has other work and at one that has none: all share the
    cores with the generators and the issuers, so only the difference is the service's."""

    def __init__(self, bench: Bench, service: Assay, control: Assay):
        self._bench, self._services = bench, (service, control)
        # Compiles the generator, too.
        for each in self._services:
            self._ask(each, 1)
        self.alone, *_ = self.beside(lambda: time.sleep(1 if bench.is_quick else SECONDS_ALONE))

    def _ask(self, service: Assay, seconds: float) -> paced.Answers:
        pool = self._bench.pools.good("RS256")
        return paced.run(self._bench, service, service.port, pool, RATE, seconds, CONNECTIONS)

    def beside(self, work) -> tuple[float, float, object]:
        """The p99s in milliseconds at both services while `work` runs, and its result."""
        with concurrent.futures.ThreadPoolExecutor() as threads:

            def timed():
                time.sleep(1)  # The generators open their connections first.
                begun = time.monotonic()
                return work(), begun, time.monotonic()

            working, found = threads.submit(timed), ([], [])
            while not working.done():
                for answers, each in zip(found, threads.map(self._ask, self._services, (2, 2))):
                    answers += each
            result, begun, ended = working.result()
        p99s = [
            paced.quantile(sorted(latency for due, latency in answers if begun <= due <= ended), 0.99) for answers in found
        ]
        return *p99s, result


def measure(bench: Bench, section: Section, server, keys: IssuerKeys, _: int) -> None:
    section.text("### An open entry")
    content = settings(
        [
            {"id": PROVIDER, "issuers": "any", "algorithms": ["RS256"], "network": NETWORK},
            apple(jwks_file=str(bench.pools.key_set)),
        ]
    )
    with Assay(bench.assay, bench.directory, content) as service, Assay(bench.assay, bench.directory, content) as control:
        other = Bystander(bench, service, control)
        section.text(
            f"Another provider's {RATE} verifications a second have a p99 of {other.alone:.2f} ms. Meanwhile the same are "
            "sent to an Assay that has nothing else to do, on the same cores, for comparison."
        )
        first = _first_uses(bench, section, server, keys, service, other)
        _missing(bench, section, server, service, other, first)


def named(line: str, issuer: str) -> str:
    """A request with the members that name the connection."""
    members = json.loads(line) | {"provider": PROVIDER, "connection": issuer[-20:].replace("/", "-")}
    return mint.compact(members | {"issuer": issuer, "audience": AUDIENCE}).decode()


def _first_uses(
    bench: Bench, section: Section, server, keys: IssuerKeys, service: Assay, other: Bystander
) -> list[str]:
    count = QUICK_FIRST_USES if bench.is_quick else FIRST_USES
    lines, p99s, controls, verified, slowest = [], [], [], [], 0
    for turn in range(bench.rounds):
        bench.say(f"issuers: {count} first uses, round {turn + 1}")
        lines = [
            named(keys.request(number, issuer, PROVIDER), issuer)
            for number in range(turn * count, (turn + 1) * count)
            for issuer in [server.url(f"slow-{number}")]
        ]
        p99, control, (statuses, latencies) = other.beside(lambda: asking.ask(service.port, lines, count))
        p99s.append(p99)
        controls.append(control)
        verified.append(statuses[200])
        slowest = max(slowest, *latencies)
    ratios = [p99 / control for p99, control in zip(p99s, controls)]
    section.text(
        f"{count} first uses at once of issuers that take 100 ms, in {bench.rounds} rounds: at least {min(verified)} are "
        f"verified, the last after {slowest:.2f} s. p99 of the other provider meanwhile: {_listed(p99s)} ms, without them {_listed(controls)} ms; "
        f"{statistics.median(ratios):.2f} × in the median."
    )
    section.figures |= {"first uses": min(verified) / count, "first uses p99": statistics.median(ratios)}
    return lines


def _listed(milliseconds: list[float]) -> str:
    return ", ".join(f"{each:.2f}" for each in milliseconds)


def _missing(
    bench: Bench, section: Section, server, service: Assay, other: Bystander, good: list[str]
) -> None:
    count = QUICK_MISSING if bench.is_quick else MISSING
    bench.say(f"issuers: {count} that don't exist")

    def lines(first: int, last: int):
        for number in range(first, last):
            issuer = server.url(f"none-{number}")
            yield named(pools.body(forged(issuer), "n", PROVIDER), issuer)

    memory = []

    def work():
        for part in range(10):
            statuses, _ = asking.ask(service.port, lines(part * count // 10, (part + 1) * count // 10), 64)
            if set(statuses) != {503}:
                raise RuntimeError(f"issuers that don't exist: {dict(statuses)}")
            memory.append(service.resident_bytes())
        # The same issuers again, within their backoff.
        asking.ask(service.port, lines(count - 100, count), 16)

    before = server.requests()
    p99, control, _ = other.beside(work)
    after = server.requests()
    statuses, _ = asking.ask(service.port, good, 16)
    gap = after["least_gap"]
    again = "none twice" if gap is None else f"none again within {gap:.1f} s"
    growth = (memory[-1] - memory[len(memory) // 2]) / 1e6
    dropped = server.requests()["found"] - before["found"]
    section.text(
        f"{count:,} requests for issuers that don't exist: {after['missing'] - before['missing']:,} were asked for, "
        f"{again}. Memory grows by {growth:.1f} MB in the second half. p99 of "
        f"the other provider meanwhile: {p99:.2f} ms, without them {control:.2f} ms. {statuses[200]} of {len(good)} good issuers are "
        f"then verified, after {dropped} fetches of their documents."
    )
    section.figures |= {
        "missing growth": growth,
        "missing p99": p99 / control,
        "missing dropped": dropped + len(good) - statuses[200],
    }
