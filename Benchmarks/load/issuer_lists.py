"""A list of ten thousand issuers: start, memory, CPU time, and a new line; and Envoy with a thousand providers."""

import contextlib
import json
import os
import pathlib
import signal
import time
from collections.abc import Iterable

import asking
import peers
import pools
import wrk
from issuer_keys import AUDIENCE, IssuerKeys
from measure import Bench, Contender, interleave, loaded
from peers import Site
from processes import Process, Unavailable, free_port
from report import Section
from service import NETWORK, Assay, settings

PROVIDER = "customers"
ENVOY_PROVIDERS, QUICK_ENVOY_PROVIDERS = 1000, 100

def threads(service: Process) -> int:
    return sum(len(os.listdir(f"/proc/{process}/task")) for process in service.tree())


class Listed:
    """A service whose only provider has a list of issuers: at first, those with the numbers below `count`."""

    def __init__(self, bench: Bench, server, count: int):
        self.list = bench.directory / f"issuers-{free_port()}"
        self.write(server, range(count))
        entry = {"id": PROVIDER, "issuers_file": str(self.list), "algorithms": ["RS256"], "network": NETWORK}
        begun = time.monotonic()
        self.service = Assay(bench.assay, bench.directory, settings([entry]))
        self.started = time.monotonic() - begun

    def write(self, server, numbers: Iterable[int]) -> None:
        """Replaces the list, so that nobody reads half of it."""
        new = self.list.with_suffix(".new")
        new.write_text("".join(f"{server.url(number)} {AUDIENCE}\n" for number in numbers))
        new.rename(self.list)

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.service.stop()


def measure(bench: Bench, section: Section, server, keys: IssuerKeys, count: int) -> None:
    section.text(f"### A list of {count:,} issuers")
    bench.say(f"issuers: signs {count} tokens")
    lines = [keys.request(number, server.url(number), PROVIDER) for number in range(count)]
    _memory(bench, section, server, count, lines)
    _processor(bench, section, server, count, lines)
    _new_line(bench, section, server, keys, count, lines)
    _beside_envoy(bench, section, server, keys)


def _memory(bench: Bench, section: Section, server, count: int, lines: list[str]) -> None:
    with Listed(bench, server, 1) as alone:
        base = alone.service.resident_bytes()
    with Listed(bench, server, count) as listed:
        service, ready = listed.service, listed.started
        unused = service.resident_bytes()
        bench.say(f"issuers: ready after {ready:.2f} s, {(unused - base) / 1e6:.1f} MB above one")
        # Twice over 64 connections, so that every loop has most of the issuers.
        for _ in range(2):
            statuses, _ = asking.ask(service.port, lines, wrk.CONNECTIONS)
            if set(statuses) != {200}:
                raise RuntimeError(f"issuers: {dict(statuses)}")
        used, count_of_threads = service.resident_bytes(), threads(service)
        each, page = (used - unused) / count / 1024, len(service.admin("GET", "/metrics")[1])
    section.table(
        ["ready", "MB above one issuer", "KiB for each in use", "MB, all in use", "threads", "`/metrics` KB"],
        [
            [
                f"{ready:.2f} s",
                f"{(unused - base) / 1e6:.1f}",
                f"{each:.1f}",
                f"{used / 1e6:.0f}",
                count_of_threads,
                f"{page / 1e3:.0f}",
            ]
        ],
    )
    section.figures |= {
        "list start": ready,
        "list memory": (unused - base) / 1e6,
        "list each": each,
        "list used": used / 1e6,
        "list threads": count_of_threads - 2 * min(2, len(os.sched_getaffinity(0))),
        "list metrics": page / 1e3,
    }


def _pool(bench: Bench, name: str, lines: list[str]) -> pools.Pool:
    return bench.pools.add(name, lambda: lines)


def _warm(service: Assay, pool: pools.Pool, count: int) -> None:
    statuses, _ = asking.ask(service.port, pool.lines(count), wrk.CONNECTIONS)
    if set(statuses) != {200}:
        raise RuntimeError(f"issuers: {dict(statuses)}")


def _processor(bench: Bench, section: Section, server, count: int, lines: list[str]) -> None:
    """The same number of distinct tokens for each, spread evenly over its issuers."""
    contenders: dict[str, Contender] = {}
    with contextlib.ExitStack() as stack:
        for used in (1, min(100, count), count):
            # A thousand tokens are enough for a few issuers, and are all distinct for many.
            spread = [lines[index % used] for index in range(max(used, pools.SIZE))]
            pool = _pool(bench, f"issuers-{used}", spread)
            listed = stack.enter_context(Listed(bench, server, count))
            _warm(listed.service, pool, len(spread))
            contenders[f"{used:,}"] = loaded(listed.service, listed.service.port, pool)
        series = interleave(bench, contenders, "issuers")
    one, *_ = series.values()
    section.text("CPU time of a verification, by the number of issuers in use:")
    section.table(
        ["in use", "CPU µs", "× one"],
        [[name, f"{found.median():.1f}", f"{found.ratio(one):.2f}"] for name, found in series.items()],
    )
    _, hundred, all_of_them = series.values()
    section.figures |= {"list of 100": hundred.ratio(one), "list of 10,000": all_of_them.ratio(one)}


def _new_line(bench: Bench, section: Section, server, keys: IssuerKeys, count: int, lines: list[str]) -> None:
    """The time until the tokens of an issuer that replaces another in the list are accepted, under load; no request may
    fail, no other key be fetched."""
    pool = _pool(bench, f"issuers-{count}-but-one", lines[:-1])
    new = keys.request(count, server.url(count), PROVIDER)
    seconds = 6
    with Listed(bench, server, count) as listed:
        service = listed.service
        _warm(service, pool, count - 1)
        before = server.requests()["found"]
        with wrk.running(service.port, pool, seconds, wrk.CONNECTIONS):
            time.sleep(1)
            listed.write(server, [*range(count - 1), count])
            begun = time.monotonic()
            service.process.send_signal(signal.SIGHUP)
            while asking.ask(service.port, [new], 1)[0] != {200: 1}:
                if time.monotonic() > begun + seconds:
                    raise RuntimeError("the new issuer's token is not accepted")
                time.sleep(0.01)
            took = time.monotonic() - begun
        fetches = server.requests()["found"] - before - 1
    section.text(
        f"A line that replaces another, under load: {took:.2f} s after the signal to read the list, its issuer's token is "
        f"accepted. No request failed; other issuers' documents were fetched {fetches} times."
    )
    section.figures |= {"line reload": took, "line fetches": fetches}


class Envoy(Process):
    """Envoy's jwt_authn with a provider for each issuer, whose keys it fetches at the first use."""

    def __init__(self, bench: Bench, server, count: int):
        site = Site("RS256", free_port(), bench.pools, bench.builder, bench.venv, bench.directory / "envoy-issuers")
        site.own.mkdir(parents=True, exist_ok=True)
        self.port = site.port
        command = peers.named("envoy").command(site)
        file = pathlib.Path(command[2])
        file.write_text(json.dumps(_envoy_settings(site.port, server, count)))
        begun = time.monotonic()
        super().__init__(command[:1] + ["-c", file.rename(file.with_suffix(".json")), *command[3:]])
        self.started = self._wait(begun)
        self.version = peers.named("envoy").version(site)

    def _wait(self, begun: float) -> float:
        while True:
            try:
                pools.ask(self.port, pools.Pool(pathlib.Path(), "/", is_bearer=True), "x")
                return time.monotonic() - begun
            except OSError:
                if not self.is_running() or time.monotonic() > begun + 60:
                    self.stop()
                    raise Unavailable("Envoy did not start") from None
                time.sleep(0.02)


def _envoy_settings(port: int, server, count: int) -> dict:
    def typed(name: str, **members) -> dict:
        return {"@type": f"type.googleapis.com/envoy.extensions.filters.http.{name}", **members}

    providers = {
        f"p{number}": {
            "issuer": server.url(number),
            "audiences": [AUDIENCE],
            "remote_jwks": {
                "http_uri": {"uri": server.url(number) + "/keys", "cluster": "issuers", "timeout": "5s"},
                "cache_duration": "600s",
            },
        }
        for number in range(count)
    }
    requirement = {"requires_any": {"requirements": [{"provider_name": name} for name in providers]}}
    address = {"socket_address": {"address": "127.0.0.1", "port_value": port}}
    authentication = typed(
        "jwt_authn.v3.JwtAuthentication", providers=providers, rules=[{"match": {"prefix": "/"}, "requires": requirement}]
    )
    answer = {"status": 200, "body": {"inline_string": '{"valid":true}'}}
    manager = {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "service",
        "codec_type": "HTTP1",
        "generate_request_id": False,
        "http_filters": [
            {"name": "envoy.filters.http.jwt_authn", "typed_config": authentication},
            {"name": "envoy.filters.http.router", "typed_config": typed("router.v3.Router")},
        ],
        "route_config": {
            "virtual_hosts": [
                {"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "direct_response": answer}]}
            ]
        },
    }
    listener = {
        "name": "service",
        "address": address,
        "filter_chains": [
            {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}
        ],
    }
    endpoint = {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": server.port}}}}
    cluster = {
        "name": "issuers",
        "type": "STATIC",
        "load_assignment": {"cluster_name": "issuers", "endpoints": [{"lb_endpoints": [endpoint]}]},
    }
    return {"static_resources": {"listeners": [listener], "clusters": [cluster]}}


def _beside_envoy(bench: Bench, section: Section, server, keys: IssuerKeys) -> None:
    count = QUICK_ENVOY_PROVIDERS if bench.is_quick else ENVOY_PROVIDERS
    bench.say(f"issuers: {count} in Envoy")
    lines = [keys.request(number, server.url(number), PROVIDER) for number in range(count)]
    tokens = [json.loads(line)["id_token"] for line in lines]
    bearers = bench.pools.add(f"issuers-{count}.tokens", lambda: tokens, is_bearer=True, path="/")
    bodies = _pool(bench, f"issuers-{count}.bodies", lines)
    section.text(f"{count:,} issuers, all in use, beside Envoy's jwt_authn with a provider for each:")
    with contextlib.ExitStack() as stack:
        listed = stack.enter_context(Listed(bench, server, count))
        _warm(listed.service, bodies, count)
        services: dict[str, tuple[Process, float]] = {"Assay": (listed.service, listed.started)}
        contenders: dict[str, Contender] = {"Assay": loaded(listed.service, listed.service.port, bodies)}
        try:
            envoy = stack.enter_context(Envoy(bench, server, count))
            for token in tokens:
                status, answer = pools.ask(envoy.port, bearers, token)
                if status != 200:
                    raise Unavailable(f"Envoy answers {status}: {answer[:100]!r}")
            services["Envoy jwt_authn"] = (envoy, envoy.started)
            contenders["Envoy jwt_authn"] = loaded(envoy, envoy.port, bearers)
            section.versions["Envoy jwt_authn"] = envoy.version
        except Unavailable as reason:
            section.text(f"Envoy is not measured: {reason}.")
        series = interleave(bench, contenders, "beside Envoy")
        rows = [
            [name, f"{started:.2f} s", f"{process.resident_bytes() / 1e6:.0f}", threads(process), f"{series[name].median():.1f}"]
            for name, (process, started) in services.items()
        ]
    section.table(["", "ready", "memory MB", "threads", "CPU µs"], rows)
