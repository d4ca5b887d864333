"""Access tokens that are more work than a signature: bound to a key, at the API and at a gateway, and opaque ones."""

import contextlib
import hashlib
import itertools
import statistics
import subprocess
import threading
from collections.abc import Iterator

import mint
import paced
import peer_process
import peers
import pools
import wrk
from exchanges import TokenEndpoint
from measure import Bench, Contender, Series, interleave, loaded
from pools import Pool
from processes import Unavailable
from report import Section
from service import LIMITS, NETWORK, Assay, apple, settings

ALGORITHM = "ES256"
ISSUER, API = "https://auth.example.com", "https://api.example.com"
METHOD, PATH = "GET", "/orders/17"
VERIFY_PATH, GATEWAY_PATH = "/v1/access-tokens/verify", "/v1/forward-auth/api"
SIZE, QUICK_SIZE = 60_000, 6_000
"""The number of prepared proofs."""
PLAIN, PROOF, THUMBPRINT, PEM = "unbound token", "token and proof", "token and certificate, thumbprint", "token and certificate, PEM"
AT_GATEWAY, GATEWAY_PROOF = "at a gateway, unbound token", "at a gateway, token and proof"
KNOWN, ECHO = "opaque token, introspection known", "bare echo (NIOHTTP1), the same request"
WARM_UP_SECONDS = 1
CROWD, DELAY = 1000, 0.05
"""Opaque tokens that are asked about at once, and the introspection endpoint's mean response time in seconds."""
RATE, CONNECTIONS = 1000, 16
"""Verifications a second meanwhile, and their connections."""
CROWD_SECONDS = 10


def measure(bench: Bench, section: Section) -> None:
    bound = _Bound(bench)
    answers = bench.directory / "introspections"
    answers.write_text((mint.compact(_introspection()).decode() + "\n") * (pools.SIZE + CROWD))
    with contextlib.ExitStack() as stack:
        endpoint = stack.enter_context(TokenEndpoint(answers, 0))
        usual = stack.enter_context(bound.service())
        knowing = stack.enter_context(_introspecting(bench, endpoint, cache="1h"))
        known = _opaque(bench)
        for service, pool in ((usual, bound.plain), (usual, bound.at_gateway), (knowing, known)):
            pools.check(service.port, pool)
        contenders = {
            PLAIN: loaded(usual, usual.port, bound.plain),
            PROOF: bound.once(bound.proofs),
            THUMBPRINT: bound.loaded(usual, bound.thumbprints),
            PEM: bound.loaded(usual, bound.certificates),
            AT_GATEWAY: loaded(usual, usual.port, bound.at_gateway),
            GATEWAY_PROOF: bound.once(bound.gateway_proofs),
            KNOWN: loaded(knowing, knowing.port, known),
        }
        missing = None
        try:
            echo = stack.enter_context(
                peer_process.start(peers.named("echo"), ALGORITHM, bench.pools, bench.builder, bench.venv)
            )
            contenders[ECHO] = loaded(echo, echo.port, known)
        except Unavailable as reason:
            missing = str(reason)
        series = interleave(bench, contenders, "access tokens")
    _costs(section, series)
    if missing:
        section.text(f"Not measured: **{ECHO}**: {missing}")
    with TokenEndpoint(answers, DELAY) as slow, _introspecting(bench, slow, max_calls=CROWD) as busy:
        _crowd(bench, section, busy)


class _Bound:
    """A provider's access tokens, most of them bound to a key of their client, and the requests with them."""

    def __init__(self, bench: Bench):
        self._bench = bench
        size = QUICK_SIZE if bench.is_quick else SIZE
        bench.say(f"access tokens: signs {size} proofs")
        url = API + PATH
        clients = [mint.ProofKey() for _ in range(pools.SIZE)]
        certificates = [_certificate(bench, number) for number in range(8)]
        unbound = [self._token(index) for index in range(pools.SIZE)]
        proven = [self._token(index, {"jkt": client.thumbprint}) for index, client in enumerate(clients)]
        certified = [
            (self._token(index, {"x5t#S256": thumbprint}), thumbprint, pem)
            for index, (thumbprint, pem) in zip(range(pools.SIZE), itertools.cycle(certificates), strict=False)
        ]
        proofs = [
            (token, client.proof(METHOD, url, token))
            for _, (token, client) in zip(range(size), itertools.cycle(zip(proven, clients, strict=True)), strict=False)
        ]

        def posted(name: str, bodies: Iterator[dict], **kind) -> Pool:
            return bench.pools.add(name, lambda: [mint.compact(body).decode() for body in bodies], path=VERIFY_PATH, **kind)

        def asked(name: str, requests: Iterator[list[str]], **kind) -> Pool:
            forwarded = [f"X-Forwarded-Method: {METHOD}", f"X-Forwarded-Uri: {PATH}"]
            lines = ["\t".join(fields + forwarded) for fields in requests]
            return bench.pools.add(name, lambda: lines, path=GATEWAY_PATH, has_fields=True, **kind)

        def shown(proof: str) -> dict:
            return {"proof": proof, "method": METHOD, "url": url, "scheme": "DPoP"}

        self.plain = posted("unbound", ({"token": token} for token in unbound))
        self.proofs = posted("proofs", ({"token": token, "dpop": shown(proof)} for token, proof in proofs), is_single_use=True)
        self.thumbprints = posted("thumbprints", ({"token": token, "certificate": hash} for token, hash, _ in certified))
        self.certificates = posted("certificates", ({"token": token, "certificate": pem} for token, _, pem in certified))
        self.at_gateway = asked("at-gateway", ([f"Authorization: Bearer {token}"] for token in unbound))
        self.gateway_proofs = asked(
            "gateway-proofs", ([f"Authorization: DPoP {token}", f"DPoP: {proof}"] for token, proof in proofs), is_single_use=True
        )

    def _token(self, index: int, confirmation: dict | None = None) -> str:
        more = {"cnf": confirmation} if confirmation else {}
        return self._bench.pools.keys[ALGORITHM].token(mint.access_claims(index, ISSUER, API, **more), typ="at+jwt")

    def service(self) -> Assay:
        provider = {
            "id": "api",
            "issuer": ISSUER,
            "tokens": "access",
            "audiences": [API],
            "algorithms": [ALGORITHM],
            "jwks_file": str(self._bench.pools.key_set),
        }
        forwarded = {"method": {"header": "X-Forwarded-Method"}, "path": {"header": "X-Forwarded-Uri"}}
        policy = {"id": "api", "providers": ["api"], "request_url": {"origin": API} | forwarded}
        # Proofs are signed before the measurement.
        # A refusal would be no answer to measure, also on a busy machine.
        patient = {"timeout": "10s", "policies": [policy]}
        content = settings([provider], dpop={"max_age": "1h"}, forward_auth=patient, limits=LIMITS | {"queue_timeout": "10s"})
        return Assay(self._bench.assay, self._bench.directory, content)

    def loaded(self, service: Assay, pool: Pool) -> Contender:
        pools.check(service.port, pool)
        return loaded(service, service.port, pool)

    def once(self, pool: Pool) -> Contender:
        """Only a new process has forgotten the proofs of the previous round."""

        def run(seconds: float) -> wrk.Figures:
            with self.service() as fresh:
                unbound = self.at_gateway if pool.has_fields else self.plain
                loaded(fresh, fresh.port, unbound)(WARM_UP_SECONDS)
                return wrk.run(fresh, fresh.port, pool, seconds)

        return run


def _certificate(bench: Bench, number: int) -> tuple[str, str]:
    """The thumbprint of a client's certificate, and its PEM as gateways encode it."""
    key, file = bench.directory / "client.key", bench.directory / "client.pem"
    subject = f"/O=Example/CN=client-{number}"
    command = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 -keyout {key} -out {file} -subj {subject}"
    subprocess.run(command.split(), check=True, stderr=subprocess.DEVNULL)
    der = subprocess.run(["openssl", "x509", "-in", file, "-outform", "DER"], check=True, stdout=subprocess.PIPE).stdout
    return mint.base64url(hashlib.sha256(der).digest()), file.read_text()


def _introspection() -> dict:
    claims = mint.access_claims(0, ISSUER, API)
    return {"active": True, "token_type": "Bearer"} | {name: value for name, value in claims.items() if name != "iss"}


def _introspecting(bench: Bench, endpoint: TokenEndpoint, cache: str | None = None, **more) -> Assay:
    """A service that asks about opaque tokens, and verifies ID Tokens."""
    secret = bench.directory / "api.secret"
    secret.touch(mode=0o600)
    secret.write_text("s" * 40)
    provider = {
        "id": "legacy",
        "issuer": ISSUER,
        "tokens": "opaque",
        "audiences": [API],
        "clients": [{"id": "api", "auth": "client_secret_basic", "secret_file": str(secret)}],
        "introspection": {"endpoint": endpoint.url} | ({"cache": cache} if cache else {}),
        "network": NETWORK,
    } | more
    return Assay(bench.assay, bench.directory, settings([provider, apple(jwks_file=str(bench.pools.key_set))]))


def _opaque(bench: Bench) -> Pool:
    """Each token is the number of its answer."""
    bodies = [{"provider": "legacy", "token": f"{number:032d}"} for number in range(pools.SIZE)]
    return bench.pools.add("opaque", lambda: [mint.compact(body).decode() for body in bodies], path=VERIFY_PATH)


def _costs(section: Section, series: dict[str, Series]) -> None:
    section.text(
        f"{ALGORITHM}, {wrk.CONNECTIONS} connections, request log and verified-token cache off. {pools.SIZE:,} tokens in turn, each of a "
        "client with a key of its own; the certificates are eight. A proof passes once, so a round with proofs has a new "
        "process, whose store in memory is empty, and which verifies other tokens for a second before. The policy of the "
        "gateway takes proofs, and has the default headers. The introspections are known, and kept for an hour."
    )
    rows = []
    for name, found in series.items():
        baseline = series[AT_GATEWAY] if name in (AT_GATEWAY, GATEWAY_PROOF) else series[PLAIN]
        rows.append(
            [
                name,
                f"{found.median():.1f}",
                _range(found.values("cpu"), ".1f"),
                f"{found.ratio(baseline):.2f}" if name != ECHO else "",
                f"{found.ratio(series[ECHO]):.2f}" if ECHO in series else "",
                f"{found.median('rate'):,.0f}",
                f"{found.median('p99'):.2f}",
            ]
        )
    section.table(["", "CPU µs", "lowest – highest", "× unbound token", "× echo", "requests/s", "p99 ms"], rows)
    section.figures |= {
        "proof": series[PROOF].ratio(series[PLAIN]) / 2,
        "gateway proof": series[GATEWAY_PROOF].ratio(series[AT_GATEWAY]) / 2,
        "certificate": series[THUMBPRINT].ratio(series[PLAIN]),
    }
    if ECHO in series:
        section.figures["introspection"] = series[KNOWN].ratio(series[ECHO])


def _crowd(bench: Bench, section: Section, service: Assay) -> None:
    good = bench.pools.good("RS256")
    crowd = _opaque(bench)
    seconds = 2 if bench.is_quick else CROWD_SECONDS
    loaded(service, service.port, good)(WARM_UP_SECONDS)
    alone, beside, slowest = [], [], []
    for index in range(bench.rounds + 1):
        bench.say(f"access tokens: a crowd of {CROWD}, round {index} of {bench.rounds}")
        # Every connection asks once: none is answered before the time is up.
        with paced.standing(bench, service.port, crowd, 0.4 * DELAY, CROWD) as ask:
            before = paced.run(bench, service, service.port, good, RATE, seconds, CONNECTIONS)
            asked: list[paced.Answers] = []
            asking = threading.Timer(seconds / 2, lambda ask, asked: asked.append(ask()), [ask, asked])
            asking.start()
            during = paced.run(bench, service, service.port, good, RATE, seconds, CONNECTIONS)
            asking.join()
        if len(asked[0]) != CROWD:
            raise RuntimeError(f"{len(asked[0])} opaque tokens were asked about, not {CROWD}")
        # The first round is the warm-up.
        if index:
            alone.append(sorted(before.latencies))
            beside.append(sorted(during.latencies))
            slowest.append(max(asked[0].latencies))

    def quantiles(runs: list, share: float) -> list[float]:
        return [paced.quantile(run, share) for run in runs]

    ratio = statistics.median(b / a for a, b in zip(quantiles(alone, 0.99), quantiles(beside, 0.99), strict=True))
    section.text(
        f"### {CROWD:,} at once",
        f"{CROWD:,} connections, which stand before and after, ask about an opaque token each, all at once, at an introspection "
        f"endpoint that takes {DELAY * 1000:g} ms on average, with `max_calls: {CROWD}`. For {seconds} s around that, {RATE:,} tokens a second "
        "are verified. Everything shares the same cores.",
    )
    rows = [
        [name, *(f"{statistics.median(quantiles(runs, share)):.2f}" for share in (0.5, 0.99, 1)), _range(quantiles(runs, 0.99), ".2f")]
        for name, runs in (("verify alone", alone), (f"verify beside {CROWD:,} introspections", beside))
    ]
    section.table(["", "p50 ms", "p99 ms", "longest ms", "p99, lowest – highest"], rows)
    section.text(f"The last of the crowd is answered after {statistics.median(slowest):.0f} ms.")
    section.figures["introspection crowd"] = ratio


def _range(values: list[float], shape: str) -> str:
    return f"{min(values):{shape}} – {max(values):{shape}}"
