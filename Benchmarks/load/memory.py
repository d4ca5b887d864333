"""Memory: idle, after requests, under a long load, and per connection."""

import contextlib
import http.client
import secrets
import socket
import time

import mint
import pools
import wrk
from keyserver import KeyServer
from measure import Bench
from report import Section
from service import NETWORK, Assay, apple, settings

CONNECTIONS = 5000
MEGABYTE = 1e6
WARM_UP = 0.2
"""The share of the long load after which growth counts."""


def measure(bench: Bench, section: Section) -> None:
    made = bench.pools
    # Twice as many tokens as the verified-token cache has entries: in rotation, every lookup misses.
    count = 2000 if bench.is_quick else 20000
    bench.say(f"memory: signs {count} tokens")
    pool = made.add("many", lambda: _many(made.keys["RS256"], count))
    with KeyServer([key.jwk for key in made.keys.values()]) as keys:
        content = settings(
            [apple(jwks_uri=keys.url, network=NETWORK)], log=None, verified_token_cache=None, limits=None
        )
        with Assay(bench.assay, bench.directory, content) as service:
            time.sleep(2)
            idle = service.resident_bytes()
            pools.check(service.port, pool)
            _first_requests(service, pool)
            first = service.resident_bytes()
            samples = _long_load(bench, service, pool)
        with Assay(bench.assay, bench.directory, content) as service:
            _first_requests(service, pool)
            silent, used = _connections(bench, service, pool)
    start = next(sample for sample in samples if sample[0] >= WARM_UP * samples[-1][0] or sample is samples[-2])
    (asked, before), (total, after) = start, samples[-1]
    growth = (after - before) / MEGABYTE / ((total - asked) / 1e6)
    section.text(
        f"Resident memory of the process, with default settings: verified-token cache and request log on. {count:,} "
        "distinct RS256 tokens in rotation"
        + (", twice the size of the cache, so that every lookup misses." if not bench.is_quick else ".")
    )
    section.table(
        ["", "MB"],
        [
            ["idle, keys fetched, no request yet", f"{idle / MEGABYTE:.1f}"],
            ["after the first 1000 requests", f"{first / MEGABYTE:.1f}"],
            *(
                [f"after {requests / 1e6:.2f} million requests", f"{resident / MEGABYTE:.1f}"]
                for requests, resident in _thinned(samples)
            ),
            ["growth per million requests after warm-up", f"{growth:.3f}"],
        ],
    )
    section.text(
        f"Warm-up is the first {asked / 1e6:.2f} million requests. A connection takes {silent:,.0f} bytes before its "
        f"first request, and {used:,.0f} while idle after one: with {CONNECTIONS} connections, and without the kernel's "
        "memory."
    )
    section.figures |= {"idle": idle / MEGABYTE, "growth": growth}


def _many(key: mint.Key, count: int) -> list[str]:
    def line(index: int) -> str:
        nonce = secrets.token_urlsafe(24)
        return pools.body(key.token(mint.claims(index, nonce)), nonce)

    return [line(index) for index in range(count)]


def _first_requests(service: Assay, pool: pools.Pool) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=5)
    for line in pool.lines(1000):
        connection.request("POST", pool.path, line, {"Content-Type": "application/json"})
        connection.getresponse().read()
    connection.close()


def _long_load(bench: Bench, service: Assay, pool: pools.Pool) -> list[tuple[int, int]]:
    """Samples of the number of requests so far and the service's resident memory."""
    samples: list[tuple[int, int]] = []
    total = 0
    while total < bench.requests or len(samples) < 3:
        total += wrk.run(service, service.port, pool, min(10, bench.seconds * 2)).tokens
        samples.append((total, service.resident_bytes()))
        bench.say(f"memory: {total / 1e6:.2f} of {bench.requests / 1e6:g} million requests")
    return samples


def _thinned(samples: list, count: int = 8) -> list:
    """The first sample, the last, and some at even distances between them."""
    step = max(1, (len(samples) - 1) / (count - 1))
    return [samples[round(index * step)] for index in range(count) if round(index * step) < len(samples)]


def _connections(bench: Bench, service: Assay, pool: pools.Pool) -> tuple[float, float]:
    """Bytes per connection, before and after its first request."""
    bench.say(f"memory: {CONNECTIONS} connections")
    body = pool.lines(1)[0].encode()
    request = (
        b"POST /v1/verify HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        % len(body)
    ) + body
    with contextlib.ExitStack() as stack:
        before = service.resident_bytes()
        opened = []
        for _ in range(CONNECTIONS):
            opened.append(stack.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=10)))
        deadline = time.monotonic() + 20
        while service.metric("assay_connections") < CONNECTIONS:
            if time.monotonic() > deadline:
                raise RuntimeError("the service does not accept all connections")
            time.sleep(0.1)
        silent = service.resident_bytes()
        for connection in opened:
            connection.sendall(request)
            if not connection.recv(65536).startswith(b"HTTP/1.1 200"):
                raise RuntimeError("the service refused a good token")
        used = service.resident_bytes()
    return (silent - before) / CONNECTIONS, (used - before) / CONNECTIONS
