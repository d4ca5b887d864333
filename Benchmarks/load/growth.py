"""How cost grows with the number of providers, keys and connections, and with token length."""

import contextlib
import resource
import secrets

import mint
import paced
import pools
import wrk
from keyserver import KeyServer
from measure import Bench, Contender, Series, bare, interleave, loaded
from report import Section
from service import LIMITS, NETWORK, Assay, apple, settings

PROVIDERS = (1, 10, 1000)
KEYS = (1, 10, 1000)
TOKEN_LENGTHS = (None, 4096, 16384)
CONNECTIONS = (1, 10, 100, 1000, 10000)
NOISE = 1.15
"""A cost up to this many times the first is called flat."""


def measure(bench: Bench, section: Section) -> None:
    section.text(
        f"CPU time per request, RS256, in one interleaved run for each table. *Flat* means at most {NOISE:g} times the "
        "first row, which is about the noise of a shared machine."
    )
    for table in (_providers, _keys, _tokens, _connections):
        table(bench, section)


def _table(section: Section, head: str, series: dict[str, Series], more: dict[str, list[str]]) -> None:
    """Compares each row with the first; `more` are additional columns."""
    first = next(iter(series.values()))
    rows = []
    for index, (name, found) in enumerate(series.items()):
        ratio = found.ratio(first)
        grown = "" if index == 0 else "flat" if ratio <= NOISE else f"+{found.median() - first.median():.1f} µs"
        rows.append(
            [name, f"{found.median():.1f}", f"{ratio:.2f}", grown, *(column[index] for column in more.values())]
        )
    section.table([head, "CPU µs", "× first", "", *more], rows)


def _megabytes(services: list[Assay]) -> dict[str, list[str]]:
    return {"memory MB": [f"{service.resident_bytes() / 1e6:.0f}" for service in services]}


def _providers(bench: Bench, section: Section) -> None:
    made, key = bench.pools, bench.pools.keys["RS256"]

    def issuer(index: int) -> str:
        return f"https://issuer-{index}.example"

    def line(index: int, count: int) -> str:
        nonce, provider = secrets.token_urlsafe(24), index % count
        token = key.token(mint.claims(index, nonce, iss=issuer(provider)) | {"nonce": nonce})
        return pools.body(token, nonce, f"p{provider}")

    def provider(index: int, keys: KeyServer) -> dict:
        return {
            "id": f"p{index}",
            "issuer": issuer(index),
            "audiences": [mint.AUDIENCE],
            "algorithms": ["RS256"],
            "jwks_uri": f"{keys.url}/{index}",
            "network": NETWORK,
        }

    section.text("### Providers")
    services, contenders = [], {}
    with contextlib.ExitStack() as stack:
        keys = stack.enter_context(KeyServer([key.jwk]))
        for count in PROVIDERS:
            bench.say(f"growth: {count} providers")
            content = settings([provider(index, keys) for index in range(count)])
            service = stack.enter_context(Assay(bench.assay, bench.directory, content))
            lines = [line(index, count) for index in range(pools.SIZE)]
            pool = made.add(f"providers-{count}", lambda lines=lines: lines)
            pools.check(service.port, pool)
            services.append(service)
            contenders[f"{count:,}"] = loaded(service, service.port, pool)
        series = interleave(bench, contenders, "providers")
        _table(section, "providers, in rotation", series, _megabytes(services))


def _keys(bench: Bench, section: Section) -> None:
    made, key = bench.pools, bench.pools.keys["RS256"]
    bench.say("growth: makes keys")
    others = mint.public_rsa_keys(max(KEYS) - 1)
    section.text("### Keys in a set")
    services, contenders = [], {}
    with contextlib.ExitStack() as stack:
        for count in KEYS:
            file = bench.directory / f"jwks-{count}.json"
            # The key in use is the last, so a linear search would have to pass all others.
            file.write_bytes(mint.compact({"keys": [*others[: count - 1], key.jwk]}))
            content = settings([apple(jwks_file=str(file))])
            service = stack.enter_context(Assay(bench.assay, bench.directory, content))
            pools.check(service.port, made.good("RS256"))
            services.append(service)
            contenders[f"{count:,}"] = loaded(service, service.port, made.good("RS256"))
        series = interleave(bench, contenders, "keys")
        _table(section, "keys of the provider, the last in use", series, _megabytes(services))


def _tokens(bench: Bench, section: Section) -> None:
    made, key = bench.pools, bench.pools.keys["RS256"]
    section.text("### Length of a token")
    contenders: dict[str, Contender] = {}
    floors: dict[str, Contender] = {}
    with Assay(bench.assay, bench.directory, settings([apple(jwks_file=str(made.key_set))])) as service:
        for length in TOKEN_LENGTHS:
            tokens = [key.token(mint.short_claims(index, length)) for index in range(pools.SIZE)]
            alone = made.add(f"length-{length}.tokens", lambda tokens=tokens: tokens, is_bearer=True, path="/")
            pool = made.add(f"length-{length}", lambda tokens=tokens: map(pools.body, tokens))
            pools.check(service.port, pool)
            name = f"{len(tokens[0]) / 1024:.1f} KiB"
            contenders[name] = loaded(service, service.port, pool)
            floors[f"{name}, bare"] = bare(bench, "RS256", alone)
        series = interleave(bench, contenders | floors, "tokens")
    ours = {name: series[name] for name in contenders}
    bases = [series[name] for name in floors]
    columns = {
        "bare check µs": [f"{base.median():.1f}" for base in bases],
        "× bare check": [f"{found.ratio(base):.2f}" for found, base in zip(ours.values(), bases, strict=True)],
    }
    _table(section, "token, without nonce", ours, columns)


def _connections(bench: Bench, section: Section) -> None:
    pool = bench.pools.good("RS256")
    # The service needs some descriptors of its own.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 500
    section.text(
        "### Connections",
        "One request after the other on each connection; all connections are open before the first request. `queue_timeout` "
        "is ten seconds here: 10,000 requests at once are queued for longer than the default 500 ms, and would be rejected.",
    )
    limits = LIMITS | {"queue_timeout": "10s"}
    content = settings([apple(jwks_file=str(bench.pools.key_set))], limits=limits)
    with Assay(bench.assay, bench.directory, content) as service:

        def over(count: int) -> Contender:
            def run(seconds: float) -> wrk.Figures:
                found = paced.run(bench, service, service.port, pool, 0, seconds, count)
                ordered = sorted(found.latencies)
                p50, p99 = (paced.quantile(ordered, share) for share in (0.5, 0.99))
                return wrk.Figures(len(found), found.rate, found.cpu, p50, p99)

            return run

        contenders = {f"{count:,}": over(count) for count in CONNECTIONS if count <= most}
        series = interleave(bench, contenders, "connections")
    columns = {
        head: [f"{found.median(name):{form}}" for found in series.values()]
        for head, name, form in (("requests/s", "rate", ",.0f"), ("p50 ms", "p50", ".2f"), ("p99 ms", "p99", ".2f"))
    }
    _table(section, "connections, all busy", series, columns)
    if most < max(CONNECTIONS):
        section.text(f"Not measured: more than {most:,} connections, because this machine has too few file descriptors.")
