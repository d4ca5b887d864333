"""An open entry: many first uses at once, and requests for issuers that don't exist, beside another provider."""

import json
import threading
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


def measure(bench: Bench, section: Section, server, keys: IssuerKeys, _: int) -> None:
    section.text("### An open entry")
    content = settings(
        [
            {"id": PROVIDER, "issuers": "any", "algorithms": ["RS256"], "network": NETWORK},
            apple(jwks_file=str(bench.pools.key_set)),
        ]
    )
    with Assay(bench.assay, bench.directory, content) as service:
        # Compiles the generator, too.
        paced.run(bench, service, service.port, bench.pools.good("RS256"), RATE, 1, CONNECTIONS)
        alone, _ = _beside(bench, service, lambda: time.sleep(1 if bench.is_quick else SECONDS_ALONE))
        first = _first_uses(bench, section, server, keys, service, alone)
        _missing(bench, section, server, service, alone, first)


def named(line: str, issuer: str) -> str:
    """A request with the members that name the connection."""
    members = json.loads(line) | {"provider": PROVIDER, "connection": issuer[-20:].replace("/", "-")}
    return mint.compact(members | {"issuer": issuer, "audience": AUDIENCE}).decode()


def _beside(bench: Bench, service: Assay, work) -> tuple[float, object]:
    """The p99 in milliseconds of the other provider's verifications while `work` runs, and its result."""
    results, spent = [], []

    def run() -> None:
        time.sleep(1)  # The generator opens its connections first.
        begun = time.monotonic()
        results.append(work())
        spent.append((begun, time.monotonic()))

    thread, found = threading.Thread(target=run), []
    thread.start()
    while thread.is_alive():
        found += paced.run(bench, service, service.port, bench.pools.good("RS256"), RATE, 2, CONNECTIONS)
    thread.join()
    if not spent:
        raise RuntimeError("the load failed")
    begun, ended = spent[0]
    ordered = sorted(latency for due, latency in found if begun <= due <= ended)
    return paced.quantile(ordered, 0.99) if ordered else 0, results[0]


def _first_uses(bench: Bench, section: Section, server, keys: IssuerKeys, service: Assay, alone: float) -> list[str]:
    count = QUICK_FIRST_USES if bench.is_quick else FIRST_USES
    bench.say(f"issuers: {count} first uses")
    lines = []
    for number in range(count):
        issuer = server.url(f"slow-{number}")
        lines.append(named(keys.request(number, issuer, PROVIDER), issuer))
    p99, (statuses, latencies) = _beside(bench, service, lambda: asking.ask(service.port, lines, count))
    section.text(
        f"{count} first uses at once of issuers that take 100 ms: {statuses[200]} are verified, the last after "
        f"{max(latencies):.2f} s. p99 of another provider meanwhile: {p99:.2f} ms, alone {alone:.2f} ms."
    )
    section.figures |= {"first uses": statuses[200] / count, "first uses p99": p99 / alone if alone else 0}
    return lines


def _missing(
    bench: Bench, section: Section, server, service: Assay, alone: float, good: list[str]
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
    p99, _ = _beside(bench, service, work)
    after = server.requests()
    statuses, _ = asking.ask(service.port, good, 16)
    growth = (memory[-1] - memory[len(memory) // 2]) / 1e6
    dropped = server.requests()["found"] - before["found"]
    section.text(
        f"{count:,} requests for issuers that don't exist: {after['missing'] - before['missing']:,} were asked for, "
        f"none again within {after['least_gap'] or 0:.0f} s. Memory grows by {growth:.1f} MB in the second half. p99 of "
        f"another provider meanwhile: {p99:.2f} ms, alone {alone:.2f} ms. {statuses[200]} of {len(good)} good issuers are "
        f"then verified, after {dropped} fetches of their documents."
    )
    section.figures |= {
        "missing growth": growth,
        "missing p99": p99 / alone if alone else 0,
        "missing dropped": dropped + len(good) - statuses[200],
    }
