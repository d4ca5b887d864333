"""Overload: requests arrive on a fixed schedule, faster than the service can answer."""

import contextlib
import dataclasses
import statistics

import pools
from harness.surge import Surge
from measure import Bench
from processes import apart, confined
from report import Section
from service import Assay, apple, settings

TIMES = 3
CONNECTIONS, CROWD = 8, 2000
PATIENCE = 2
SECONDS, WARMING = 4, 2.5
ITEMS = 32
"""Tokens per request: so many that clients written in Python can overload the service."""


@dataclasses.dataclass(frozen=True)
class Figures:
    peak: float
    goodput: float
    refused: float
    p99: float
    given_up: int


def measure(bench: Bench, section: Section) -> None:
    made = bench.pools
    server_cores, others = apart()
    content = settings([apple(jwks_file=str(made.key_set))])
    items = ",".join(pools.body(*pair) for pair in made.sign_ins("RS256")[:ITEMS])
    request = _request('{"items":[%s]}' % items)
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(Assay(bench.assay, bench.directory, content, cores=server_cores[:1]))
        stack.enter_context(confined(others))

        def surge(connections: int) -> Surge:
            return Surge(f"127.0.0.1:{service.port}", request, patience=PATIENCE, connections=connections)

        def run() -> Figures:
            before = surge(CONNECTIONS).run(WARMING)
            crowd = surge(CROWD)
            crowd.run(WARMING, rate=TIMES * before.accepted_a_second, closes=False)
            crowd.run(SECONDS, rate=TIMES * before.accepted_a_second)
            while set(surge(1).run(0.1).statuses) != {200}:
                pass
            # The machine's speed may have changed since the first measurement.
            after = surge(CONNECTIONS).run(WARMING)
            if strange := {*before.statuses, *after.statuses} - {200} | set(crowd.statuses) - {200, 503}:
                raise RuntimeError(f"unexpected statuses: {strange}")
            peak = (before.accepted_a_second + after.accepted_a_second) / 2
            return Figures(
                peak * ITEMS,
                crowd.accepted_a_second / peak,
                crowd.statuses[503] / crowd.seconds / peak,
                crowd.latency(0.99) * 1e3,
                crowd.given_up + crowd.lost,
            )

        found = []
        for index in range(bench.rounds):
            bench.say(f"overload: round {index + 1} of {bench.rounds}")
            found.append(bench.machine.quietest(run))

    def median(name: str) -> float:
        return statistics.median(getattr(figures, name) for figures in found)

    section.text(
        f"The peak is the throughput of {CONNECTIONS} connections that send the next request after each answer: batches of "
        f"{ITEMS} tokens, RS256, on one core, with the callers on another. Then {TIMES} times that rate is sent, on a fixed "
        f"schedule, over as many connections as needed, up to {CROWD:,}; callers time out after {PATIENCE} s. "
        f"{bench.rounds} rounds of {SECONDS} s, with the default settings."
    )
    section.table(
        ["", "median", "lowest", "highest"],
        [
            [label, *(shape.format(value) for value in (median(name), *_range(found, name)))]
            for label, name, shape in (
                ("peak, tokens/s", "peak", "{:,.0f}"),
                ("answered with 200 under overload, × peak", "goodput", "{:.2f}"),
                ("rejected with `overloaded`, × peak", "refused", "{:.2f}"),
                ("p99 of answers with 200, ms", "p99", "{:.0f}"),
                ("timed out or lost", "given_up", "{:.0f}"),
            )
        ],
    )
    section.figures["goodput"] = median("goodput")
    section.figures["goodput p99"] = median("p99")


def _range(found: list[Figures], name: str) -> tuple[float, float]:
    values = [getattr(figures, name) for figures in found]
    return min(values), max(values)


def _request(body: str) -> bytes:
    head = (
        "POST /v1/verify/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return (head + body).encode()
