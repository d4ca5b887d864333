"""How cost grows with providers, keys, the length of tokens, and connections."""
import contextlib
import secrets
import time

import mint
import pools
import wrk
from keyserver import KeyServer
from measure import Bench, Series, bare, interleave, loaded
from pools import Pool
from report import Section
from service import NETWORK, Assay, apple, settings

PROVIDERS = (1, 10, 1000)
KEYS = (1, 10, 1000)
TOKEN_LENGTHS = (None, 4096, 16384)
CONNECTIONS = (1, 10, 100, 1000, 10000)
NOISE = 1.15
"""A cost that is at most so many times the first is called flat."""


def measure(bench: Bench) -> Section:
    section = Section("How cost grows")
    section.text("CPU time a request, RS256, in one interleaved run for each table. *Flat* is what costs at most "
                 f"{NOISE:g} times the first row, which is about the noise of a shared machine.")
    for table in (_providers, _keys, _tokens, _connections):
        table(bench, section)
    return section


def _table(section: Section, title: str, series: dict[str, Series], head: str, **more: list[str]) -> None:
    names = list(series)
    first = series[names[0]]
    section.text(f"### {title}")
    rows = []
    for index, name in enumerate(names):
        ratio = series[name].ratio(first)
        rows.append([name, f"{series[name].median():.1f}", f"{ratio:.2f}", "" if name == names[0] else
                     "flat" if ratio <= NOISE else f"+{series[name].median() - first.median():.1f} µs",
                     *(column[index] for column in more.values())])
    section.table([head, "CPU µs", "× first", "", *more], rows)


def _providers(bench: Bench, section: Section) -> None:
    made, key = bench.pools, bench.pools.keys["RS256"]

    def issuer(index: int) -> str:
        return f"https://issuer-{index}.example"

    def lines(count: int) -> list[str]:
        found = []
        for index in range(pools.SIZE):
            nonce = secrets.token_urlsafe(24)
            token = key.token(mint.claims(index, nonce, iss=issuer(index % count), nonce=nonce))
            found.append(pools.body(token, nonce, f"p{index % count}"))
        return found

    contenders, memory = {}, []
    with contextlib.ExitStack() as stack:
        keys = stack.enter_context(KeyServer([key.jwk]))
        for count in PROVIDERS:
            bench.say(f"growth: {count} providers")
            service = Assay(bench.assay, bench.directory, settings([
                {"id": f"p{index}", "issuer": issuer(index), "audiences": [mint.AUDIENCE], "algorithms": ["RS256"],
                 "jwks_uri": f"{keys.url}/{index}", "network": NETWORK} for index in range(count)]))
            stack.callback(service.stop)
            pool = made.add(f"providers-{count}", lambda: lines(count))
            pools.check(service.port, pool)
            memory.append(service)
            contenders[str(count)] = loaded(service, service.port, pool)
        series = interleave(bench, contenders, "providers")
        resident = [f"{service.resident_bytes() / 1e6:.0f}" for service in memory]
    _table(section, "Providers", series, "providers, asked in turn", **{"memory MB": resident})


def _keys(bench: Bench, section: Section) -> None:
    made, key = bench.pools, bench.pools.keys["RS256"]
    bench.say("growth: makes keys")
    others = mint.public_rsa_keys(max(KEYS) - 1)
    contenders, memory = {}, []
    with contextlib.ExitStack() as stack:
        for count in KEYS:
            file = bench.directory / f"jwks-{count}.json"
            # The key in use is the last: whoever looks for it one by one sees all others first.
            file.write_bytes(mint.compact({"keys": [*others[:count - 1], key.jwk]}))
            service = Assay(bench.assay, bench.directory, settings([apple(jwks_file=str(file))]))
            stack.callback(service.stop)
            pools.check(service.port, made.good("RS256"))
            memory.append(service)
            contenders[str(count)] = loaded(service, service.port, made.good("RS256"))
        series = interleave(bench, contenders, "keys")
        resident = [f"{service.resident_bytes() / 1e6:.0f}" for service in memory]
    _table(section, "Keys in a set", series, "keys of the provider, the last in use", **{"memory MB": resident})


def _tokens(bench: Bench, section: Section) -> None:
    made, key = bench.pools, bench.pools.keys["RS256"]
    contenders, labels = {}, []
    with contextlib.ExitStack() as stack:
        service = Assay(bench.assay, bench.directory, settings([apple(jwks_file=str(made.key_set))]))
        stack.callback(service.stop)
        for length in TOKEN_LENGTHS:
            tokens = made.add(f"length-{length}.tokens", lambda: [
                key.token(mint.short_claims(index, length)) for index in range(pools.SIZE)], is_bearer=True)
            pool = made.add(f"length-{length}", lambda: [pools.body(token) for token in tokens.lines(pools.SIZE)])
            pools.check(service.port, pool)
            label = f"{len(tokens.lines(1)[0]) / 1024:.1f} KiB"
            labels.append(label)
            contenders[label] = loaded(service, service.port, pool)
            contenders[f"{label}, bare check"] = bare(bench, "RS256", tokens)
        series = interleave(bench, contenders, "tokens")
    floors = [series[f"{label}, bare check"] for label in labels]
    _table(section, "Length of a token", {label: series[label] for label in labels}, "token, without nonce", **{
        "bare check µs": [f"{floor.median():.1f}" for floor in floors],
        "× bare check": [f"{series[label].ratio(floor):.2f}" for label, floor in zip(labels, floors)]})


def _connections(bench: Bench, section: Section) -> None:
    pool = bench.pools.good("RS256")
    with contextlib.ExitStack() as stack:
        service = Assay(bench.assay, bench.directory, settings([apple(jwks_file=str(bench.pools.key_set))]))
        stack.callback(service.stop)

        def window(count: int):
            return lambda seconds: _while_connected(service, pool, seconds, count)

        series = interleave(bench, {f"{count:,}": window(count) for count in CONNECTIONS}, "connections")
    _table(section, "Connections", series, "connections, all busy", **{
        "requests/s": [f"{found.median('rate'):,.0f}" for found in series.values()]})


def _while_connected(service: Assay, pool: Pool, seconds: float, count: int) -> wrk.Figures:
    """Of a time in which all connections stand, so that what it takes to make them does not count."""
    with wrk.running(service.port, pool, seconds + (3 if count < 1000 else 10), count):
        deadline = time.monotonic() + 9
        while service.metric("assay_connections") < count:
            if time.monotonic() > deadline:
                raise RuntimeError(f"the service does not get {count} connections")
            time.sleep(0.1)
        time.sleep(0.5)
        began, cpu, requests = time.monotonic(), service.cpu_seconds(), service.metric("assay_http_requests_total")
        time.sleep(seconds)
        took = time.monotonic() - began
        cpu, requests = service.cpu_seconds() - cpu, service.metric("assay_http_requests_total") - requests
    return wrk.Figures(int(requests), requests / took, cpu / requests * 1e6, 0, 0)
