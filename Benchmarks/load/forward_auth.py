"""Forward-auth: alone, compared with an echo and with Envoy's own check, and behind a real nginx."""

import contextlib
import dataclasses
import statistics

import paced
import peer_process
import peers
import pools
import wrk
from measure import Bench, bare, interleave, loaded
from nginx import Nginx
from pools import Pool
from processes import Process, Unavailable
from report import Section
from service import Assay, apple, settings

ALGORITHM = "RS256"
PATH = "/v1/forward-auth/api"
SHARE = 0.7
DISTINCT, REPEATED = "forward-auth, distinct tokens, cache off", "forward-auth, a repeated token"
BARE, ECHO, ENVOY = "bare check, RS256", "bare echo (NIOHTTP1), the same request", "Envoy jwt_authn, its token cache"
CONSTANT, ASSAY = "nginx and a constant answer", "nginx and Assay"


def measure(bench: Bench, section: Section) -> None:
    with contextlib.ExitStack() as stack:
        caching = stack.enter_context(_service(bench, verified_token_cache=None))
        echoes = [stack.enter_context(_peer(bench, peers.named("echo"))) for _ in range(2)]
        _alone(bench, section, caching, echoes[0])
        _behind_nginx(bench, section, caching, *echoes)


def _service(bench: Bench, **members) -> Assay:
    policies = {"policies": [{"id": "api", "providers": ["apple"]}]}
    content = settings([apple(jwks_file=str(bench.pools.key_set))], forward_auth=policies, **members)
    return Assay(bench.assay, bench.directory, content)


def _peer(bench: Bench, peer: peers.Peer) -> Process:
    return peer_process.start(peer, ALGORITHM, bench.pools, bench.builder, bench.venv)


def _asked(pool: Pool) -> Pool:
    return dataclasses.replace(pool, path=PATH)


def _alone(bench: Bench, section: Section, caching: Assay, echo: Process) -> None:
    distinct, repeated = bench.pools.tokens(ALGORITHM), bench.pools.repeated_token(ALGORITHM)
    missing = None
    with contextlib.ExitStack() as stack:
        plain = stack.enter_context(_service(bench))
        for service, pool in ((plain, distinct), (caching, repeated)):
            pools.check(service.port, _asked(pool))
        contenders = {
            DISTINCT: loaded(plain, plain.port, _asked(distinct)),
            BARE: bare(bench, ALGORITHM),
            REPEATED: loaded(caching, caching.port, _asked(repeated)),
            ECHO: loaded(echo, echo.port, repeated),
        }
        try:
            envoy = stack.enter_context(_peer(bench, peers.CACHING_ENVOY))
            contenders[ENVOY] = loaded(envoy, envoy.port, repeated)
            section.versions[peers.CACHING_ENVOY.label] = envoy.version
        except Unavailable as reason:
            missing = str(reason)
        series = interleave(bench, contenders, "gateways")
    section.text(
        f"{ALGORITHM}, {wrk.CONNECTIONS} connections, request log off. The policy accepts the tokens of one provider and "
        "has the default headers. The echo answers the same `GET` with the same token."
    )
    section.table(
        ["", "CPU µs", "lowest – highest", "× bare check", "× echo", "requests/s", "p99 ms"],
        [
            [
                name,
                f"{found.median():.1f}",
                _range(found.values("cpu"), ".1f"),
                f"{found.ratio(series[BARE]):.2f}",
                f"{found.ratio(series[ECHO]):.2f}",
                "" if name == BARE else f"{found.median('rate'):,.0f}",
                "" if name == BARE else f"{found.median('p99'):.2f}",
            ]
            for name, found in series.items()
        ],
    )
    if missing:
        section.text(f"Not measured: **{ENVOY}**: {missing}")
    section.figures["gateway distinct"] = series[DISTINCT].ratio(series[BARE])
    section.figures["gateway repeated"] = series[REPEATED].ratio(series[ECHO])
    if ENVOY in series:
        section.figures["gateway envoy"] = series[REPEATED].ratio(series[ENVOY])


@dataclasses.dataclass(frozen=True)
class Together:
    servers: tuple[Process, ...]

    def cpu_seconds(self) -> float:
        return sum(server.cpu_seconds() for server in self.servers)


def _behind_nginx(bench: Bench, section: Section, caching: Assay, backend: Process, constant: Process) -> None:
    """`constant` responds in Assay's place for comparison. The backend's CPU time is not counted."""
    repeated = bench.pools.repeated_token(ALGORITHM)
    with contextlib.ExitStack() as stack:
        fronts = {
            name: (stack.enter_context(Nginx(bench.directory, asked.port, backend.port, repeated)), asked)
            for name, asked in ((CONSTANT, constant), (ASSAY, caching))
        }
        section.versions["nginx"] = Nginx.version()
        answers: dict[str, list[paced.Answers]] = {name: [] for name in fronts}
        rates = []
        for index in range(bench.rounds + 1):
            bench.say(f"behind nginx: round {index} of {bench.rounds}" if index else "behind nginx: warming up")
            front, asked = fronts[CONSTANT]
            peak = wrk.run(front, front.port, repeated, bench.seconds).rate
            for name in list(fronts) if index % 2 else reversed(fronts):
                front, asked = fronts[name]
                found = paced.run(
                    bench, Together((front, asked)), front.port, repeated, peak * SHARE, bench.seconds, wrk.CONNECTIONS
                )
                if index:
                    answers[name].append(found)
            if index:
                rates.append(peak * SHARE)
    ratios = [ours.cpu / theirs.cpu for ours, theirs in zip(answers[ASSAY], answers[CONSTANT], strict=True)]
    section.text(
        f"Behind nginx, with the configuration of `deploy/gateways`: at {SHARE:.0%} of the peak rate that nginx reaches if "
        "the echo answers in Assay's place, which is measured in each round. CPU time is that of nginx and of what it asks "
        "together. The backend is another echo, whose CPU time is not counted."
    )
    section.table(
        ["", "CPU µs", "lowest – highest", "× constant answer", "lowest – highest", "requests/s", "p99 ms"],
        [
            [
                name,
                f"{statistics.median(each.cpu for each in found):.1f}",
                _range([each.cpu for each in found], ".1f"),
                f"{statistics.median(ratios):.2f}" if name == ASSAY else "1.00",
                _range(ratios, ".2f") if name == ASSAY else "",
                f"{statistics.median(rates):,.0f}",
                f"{statistics.median(paced.quantile(sorted(each.latencies), 0.99) for each in found):.2f}",
            ]
            for name, found in answers.items()
        ],
    )
    section.figures["gateway nginx"] = statistics.median(ratios)


def _range(values: list[float], shape: str) -> str:
    return f"{min(values):{shape}} – {max(values):{shape}}"
