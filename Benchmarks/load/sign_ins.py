"""Sign-ins that are begun and finished, compared with plain verification in one interleaved run."""

import contextlib
import http.client
import json
import pathlib
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator

import mint
import pools
import wrk
from measure import Bench, Series, interleave, loaded
from processes import Unavailable
from report import Section
from service import Assay, apple, settings
from valkey import Valkey

SIZE, QUICK_SIZE = 100_000, 10_000
"""The number of prepared sign-ins. The first is the default capacity of the in-memory store."""
LIFETIME = 3600
"""The longest lifetime of a sign-in that the service allows, in seconds."""
WARM_UP_SECONDS = 1
FILL_SECONDS = 10
"""Enough time to finish them all."""
ALGORITHM = "RS256"
VERIFY, BEGIN, MEMORY, VALKEY = "verify", "begin", "finish, store in memory", "finish, Valkey"
BEGIN_BODY = {"provider": "apple", "context": "/basket"}


def measure(bench: Bench, section: Section) -> None:
    made, keys = bench.pools, key_file(bench)
    good = made.good(ALGORITHM)
    begin = made.add("begin", lambda: [json.dumps(BEGIN_BODY)], path="/v1/sign-ins", status=201)
    size = QUICK_SIZE if bench.is_quick else SIZE
    store_cpu: list[float] = []
    missing, connections = None, 0
    with contextlib.ExitStack() as stack:

        def service(store: str | None = None, has_sign_ins: bool = True) -> Assay:
            sign_ins = {"key_files": [str(keys)]} | ({"store": {"url": store}} if store else {})
            content = settings([apple(jwks_file=str(made.key_set))], sign_ins=sign_ins if has_sign_ins else None)
            return Assay(bench.assay, bench.directory, content)

        usual, beginning = (stack.enter_context(service(has_sign_ins=is_on)) for is_on in (False, True))
        bench.say(f"sign-ins: begins {size} and signs their tokens")
        finishes = made.add(
            "finishes",
            lambda: _prepared(made.keys[ALGORITHM], beginning, size),
            path="/v1/sign-ins/finish",
            is_single_use=True,
        )
        for asked, pool in ((usual, good), (beginning, begin), (beginning, finishes)):
            pools.check(asked.port, pool)

        def finish_in_memory(seconds: float) -> wrk.Figures:
            # Only a new process has forgotten the sign-ins that the previous round finished.
            with service() as fresh:
                loaded(fresh, fresh.port, good)(WARM_UP_SECONDS)
                return wrk.run(fresh, fresh.port, finishes, seconds)

        contenders = {
            VERIFY: loaded(usual, usual.port, good),
            BEGIN: loaded(beginning, beginning.port, begin),
            MEMORY: finish_in_memory,
        }
        try:
            store = stack.enter_context(Valkey(bench.directory))
        except Unavailable as reason:
            missing = str(reason)
        else:
            section.versions["Valkey"] = Valkey.version()
            remote = stack.enter_context(service(store.url))
            _wait_for_store(remote)
            pools.check(remote.port, finishes)

            def finish_in_valkey(seconds: float) -> wrk.Figures:
                store.command("FLUSHALL")
                loaded(remote, remote.port, good)(WARM_UP_SECONDS)
                before = store.cpu_seconds()
                figures = wrk.run(remote, remote.port, finishes, seconds)
                store_cpu.append((store.cpu_seconds() - before) / figures.tokens * 1e6)
                return figures

            contenders[VALKEY] = finish_in_valkey
        series = interleave(bench, contenders, "sign-ins")
        if not missing:
            connections = store.command("CLIENT LIST").count(b" addr=") - 1  # without the one that asks
        bench.say("sign-ins: memory")
        filled = [_fill(service, good, finishes) for _ in range(min(3, bench.rounds))]

    section.text(
        f"{ALGORITHM}, {wrk.CONNECTIONS} connections, request log and verified-token cache off. CPU time is the "
        f"service's own. A sign-in can be finished once, so {size:,} are begun and their tokens signed before the "
        "measurement. Each round finishes them from the first on, with an empty store: a new process, or a Valkey that "
        "was flushed. The service verifies other tokens for a second before that."
    )
    _table(section, series)
    if missing:
        section.text(f"Not measured: **{VALKEY}**: {missing}")
    else:
        section.text(
            f"Valkey runs on the same cores. It takes {statistics.median(store_cpu):.1f} µs of CPU time a finish in "
            f"addition, which is not counted above. The service has {connections} connections to it, one for each event "
            "loop."
        )
    _memory(section, filled)


def _table(section: Section, series: dict[str, Series]) -> None:
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
                _range(found.values("rate"), ",.0f"),
                f"{found.median('p99'):.2f}",
            ]
        )
    spread = "lowest – highest"
    section.table(["", "CPU µs", spread, "× verify", spread, "requests/s", spread, "p99 ms"], rows)
    section.figures |= {"begin": series[BEGIN].ratio(baseline), "finish memory": series[MEMORY].ratio(baseline)}
    if VALKEY in series:
        section.figures["finish Valkey"] = series[VALKEY].ratio(baseline)
        section.figures["finish rate"] = series[VALKEY].median("rate")


def _memory(section: Section, filled: list[tuple[int, int]]) -> None:
    """`filled` has the number of finished sign-ins of each process, and its growth in bytes."""
    each = [grown / count for count, grown in filled]
    count, grown = filled[0]
    section.text(
        f"After a second of verifying other tokens, a new process with its store in memory finished {count:,} sign-ins. "
        f"They made it grow by {grown / 1e6:.1f} MB: {statistics.median(each):.0f} bytes a sign-in (median of "
        f"{len(each)}; {_range(each, '.0f')}). `ClaimMemoryTests` holds 100,000 claims to 15 MB, also when later ones "
        "replace those that have expired."
    )
    section.figures["entry"] = statistics.median(each)


def key_file(bench: Bench) -> pathlib.Path:
    file = bench.directory / "sign-ins.key"
    file.touch(mode=0o600)
    file.write_bytes(subprocess.run([bench.assay, "key", "new"], stdout=subprocess.PIPE, check=True).stdout)
    return file


def begun(service: Assay, count: int) -> Iterator[tuple[str, str]]:
    """Begins sign-ins; yields their handles and nonces."""
    body = json.dumps(BEGIN_BODY | {"expires_in": LIFETIME})
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=5)
    with contextlib.closing(connection):
        for _ in range(count):
            connection.request("POST", "/v1/sign-ins", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read())
            if response.status != 201:
                raise RuntimeError(f"beginning a sign-in failed: {answer}")
            yield answer["sign_in"], answer["nonce"]


def _prepared(key: mint.Key, service: Assay, count: int) -> Iterator[str]:
    """Requests that finish a service's sign-ins. Each needs a token of its own, which contains the nonce."""
    for index, (handle, nonce) in enumerate(begun(service, count)):
        token = key.token(mint.claims(index, nonce))
        yield mint.compact({"sign_in": handle, "id_token": token}).decode()


def _wait_for_store(service: Assay) -> None:
    deadline = time.monotonic() + 20
    while json.loads(service.admin("GET", "/readyz")[1])["store"]["state"] != "ok":
        if time.monotonic() > deadline:
            raise RuntimeError("assay cannot reach the store")
        time.sleep(0.05)


def _fill(service: Callable[[], Assay], good: pools.Pool, finishes: pools.Pool) -> tuple[int, int]:
    """The number of sign-ins that a new process finished, and the growth of its resident memory in bytes."""
    with service() as fresh:
        loaded(fresh, fresh.port, good)(WARM_UP_SECONDS)
        before = fresh.resident_bytes()
        count = wrk.run(fresh, fresh.port, finishes, FILL_SECONDS).tokens
        return count, fresh.resident_bytes() - before


def _range(values, shape: str) -> str:
    return f"{min(values):{shape}} – {max(values):{shape}}"
