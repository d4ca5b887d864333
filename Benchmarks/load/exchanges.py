"""Sign-ins finished with a code, compared with plain verification; and 1,000 of them in flight at a slow provider."""

import contextlib
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

import mint
import paced
import pools
import wrk
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from measure import Bench, Series, interleave, loaded
from processes import Process
from report import Section
from service import LIMITS, NETWORK, Assay, apple, settings
from sign_ins import WARM_UP_SECONDS, begun, key_file

SIZE, QUICK_SIZE = 60_000, 6_000
"""The number of prepared sign-ins."""
ALGORITHM = "RS256"
VERIFY, EXCHANGE = "verify", "finish with a code"
IN_FLIGHT, DELAY = 1000, 1.0
"""Concurrent finishes, and the provider's mean response time in seconds."""
RATE, CONNECTIONS = 1000, 16
"""Verifications a second meanwhile, and their connections."""
REST_SECONDS = 6
"""Longer than the service keeps idle connections to the provider."""
MEGABYTE = 1e6


class TokenEndpoint(Process):
    """See token_endpoint.py."""

    def __init__(self, answers: pathlib.Path, seconds: float):
        script = pathlib.Path(__file__).with_name("token_endpoint.py")
        super().__init__([sys.executable, script, answers, seconds], stdout=subprocess.PIPE)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}/token"


def measure(bench: Bench, section: Section) -> None:
    made, keys, client = bench.pools, key_file(bench), _client(bench)
    good = made.good(ALGORITHM)
    answers = bench.directory / "token-answers"
    size = QUICK_SIZE if bench.is_quick else SIZE

    def service(endpoint: TokenEndpoint | None = None, **more) -> Assay:
        provider = apple(jwks_file=str(made.key_set))
        if endpoint:
            provider |= {"clients": [client], "endpoints": {"token": endpoint.url}, "network": NETWORK} | more
        return Assay(bench.assay, bench.directory, settings([provider], sign_ins={"key_files": [str(keys)]}))

    with service() as beginning:
        bench.say(f"exchanges: begins {size} sign-ins and signs their tokens")
        finishes = made.add(
            "exchanges",
            lambda: _prepared(made.keys[ALGORITHM], beginning, size, answers),
            path="/v1/sign-ins/finish",
            is_single_use=True,
        )
    reused: list[float] = []
    with contextlib.ExitStack() as stack:
        endpoint = stack.enter_context(TokenEndpoint(answers, 0))
        usual = stack.enter_context(service())
        pools.check(usual.port, good)

        def exchange(seconds: float) -> wrk.Figures:
            # Only a new process has forgotten the sign-ins that the previous round finished.
            with service(endpoint, max_calls=4 * wrk.CONNECTIONS) as fresh:
                loaded(fresh, fresh.port, good)(WARM_UP_SECONDS)
                figures = wrk.run(fresh, fresh.port, finishes, seconds)
                reused.append(1 - _opened(fresh) / figures.tokens)
                return figures

        series = interleave(bench, {VERIFY: loaded(usual, usual.port, good), EXCHANGE: exchange}, "exchanges")
    _costs(section, series, reused)
    with TokenEndpoint(answers, DELAY) as slow, service(slow, max_calls=1024) as busy:
        _in_flight(bench, section, busy, good, finishes)


def _client(bench: Bench) -> dict:
    """A client that authenticates as Apple's clients do, with a secret that the service signs and caches."""
    key = ec.generate_private_key(ec.SECP256R1())
    file = bench.directory / "AuthKey.p8"
    file.touch(mode=0o600)
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    id = "com.example.app"
    return {"id": id, "auth": "apple", "team_id": "ABCDE12345", "key_id": "XYZ123ABCD", "key_file": str(file)}


def _prepared(key: mint.Key, service: Assay, count: int, answers: pathlib.Path) -> Iterator[str]:
    """Yields requests that finish sign-ins with a code; writes the provider's response to each code to `answers`."""
    with answers.open("w") as file:
        for index, (handle, nonce) in enumerate(begun(service, count)):
            claims = mint.claims(index, nonce)
            # This hash belongs to another code.
            del claims["c_hash"]
            grant = {"access_token": f"a{index}", "token_type": "Bearer", "expires_in": 3600, "refresh_token": f"r{index}"}
            file.write(mint.compact(grant | {"id_token": key.token(claims)}).decode() + "\n")
            yield mint.compact({"sign_in": handle, "code": str(index)}).decode()


def _opened(service: Assay) -> float:
    """The number of connections that the service has opened to the provider."""
    lines = service.admin("GET", "/metrics")[1].decode().splitlines()
    found = [line for line in lines if line.startswith("assay_provider_connections_total{") and 'outcome="opened"' in line]
    return sum(float(line.rsplit(" ", 1)[1]) for line in found)


def _costs(section: Section, series: dict[str, Series], reused: list[float]) -> None:
    section.text(
        f"{ALGORITHM}, {wrk.CONNECTIONS} connections, request log and verified-token cache off, store in memory. CPU time is "
        "the service's own: reading the finish, opening the handle, the claim, the call of the token endpoint over HTTP "
        "without TLS, verifying the ID Token that comes, and writing the grant. Each round has a new process. The token "
        "endpoint answers at once, and runs on the same cores."
    )
    baseline = series[VERIFY]
    rows = []
    for name, found in series.items():
        ratios = [a / b for a, b in zip(found.values("cpu"), baseline.values("cpu"), strict=True)]
        rows.append(
            [
                name,
                f"{found.median():.1f}",
                _range(found.values("cpu"), ".1f"),
                f"{found.ratio(baseline):.2f}",
                _range(ratios, ".2f"),
                f"{found.median('rate'):,.0f}",
            ]
        )
    spread = "lowest – highest"
    section.table(["", "CPU µs", spread, "× verify", spread, "requests/s"], rows)
    section.text(f"{statistics.median(reused):.1%} of the calls used a connection again ({_range(reused, '.1%')}).")
    section.figures["exchange"] = series[EXCHANGE].ratio(baseline)


def _in_flight(bench: Bench, section: Section, service: Assay, good: pools.Pool, finishes: pools.Pool) -> None:
    """Uses one process for all rounds, so that leaked memory would add up."""
    seconds = max(3, bench.seconds)
    loaded(service, service.port, good)(WARM_UP_SECONDS)
    alone, beside, peaks, rests = [], [], [], [service.resident_bytes()]
    part = pathlib.Path(str(finishes.file) + "-part")
    lines = finishes.lines(10**9)
    share = len(lines) // (bench.rounds + 1)
    for index in range(bench.rounds + 1):
        bench.say(f"exchanges: {IN_FLIGHT} in flight, round {index} of {bench.rounds}")
        before = paced.run(bench, service, service.port, good, RATE, seconds, CONNECTIONS)
        part.write_text("".join(line + "\n" for line in lines[index * share : (index + 1) * share]))
        pool = pools.Pool(part, path=finishes.path, is_single_use=True)
        with wrk.running(service.port, pool, seconds + 2, IN_FLIGHT):
            _wait_until_full(service)
            during = paced.run(bench, service, service.port, good, RATE, seconds - 1, CONNECTIONS)
            peaks.append(service.resident_bytes())
        time.sleep(REST_SECONDS)
        rests.append(service.resident_bytes())
        # The first round is the warm-up.
        if index:
            alone.append(sorted(before.latencies))
            beside.append(sorted(during.latencies))

    def quantiles(runs: list, share: float) -> list[float]:
        return [paced.quantile(run, share) for run in runs]

    ratio = statistics.median(b / a for a, b in zip(quantiles(alone, 0.99), quantiles(beside, 0.99), strict=True))
    section.text(
        f"### {IN_FLIGHT:,} in flight",
        f"{IN_FLIGHT:,} connections finish sign-ins by a code, one after the other, at a provider that takes {DELAY:g} s on average, with "
        f"`max_calls: 1024`. Beside them, {RATE:,} tokens a second are verified. Everything shares the same cores.",
    )
    rows = [
        [name, *(f"{statistics.median(quantiles(runs, share)):.2f}" for share in (0.5, 0.99)), _range(quantiles(runs, 0.99), ".2f")]
        for name, runs in (("verify alone", alone), (f"verify beside {IN_FLIGHT:,} finishes", beside))
    ]
    section.table(["", "p50 ms", "p99 ms", "lowest – highest"], rows)
    shown = [f"{size / MEGABYTE:.1f}" for size in rests]
    section.text(
        f"Resident memory before: {shown[0]} MB. With {IN_FLIGHT:,} in flight: at most {max(peaks) / MEGABYTE:.1f} MB, "
        f"{(max(peaks) - rests[0]) / IN_FLIGHT / 1e3:.1f} KB a finish, with the client's and the provider's connection. "
        f"{REST_SECONDS} s after each round: {', '.join(shown[1:])} MB."
    )
    section.figures |= {"exchange growth": (rests[-1] - rests[1]) / MEGABYTE, "exchange verify": ratio}


def _wait_until_full(service: Assay) -> None:
    deadline = time.monotonic() + 20
    while service.metric("assay_provider_calls_in_flight") < IN_FLIGHT * 0.9:
        if time.monotonic() > deadline:
            raise RuntimeError("too few finishes are in flight after 20 s")
        time.sleep(0.02)


def _range(values, shape: str) -> str:
    return f"{min(values):{shape}} – {max(values):{shape}}"
