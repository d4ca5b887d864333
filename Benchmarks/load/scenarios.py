"""Requests other than single good tokens, in one interleaved run."""

import contextlib

import peer_process
import peers
import pools
from measure import BATCH_CONNECTIONS, Bench, Contender, bare, interleave, loaded
from processes import Unavailable
from report import Section
from service import Assay, apple, settings

REFUSALS = ("malformed", "wrong audience", "expired", "bad signature")
GOOD, ECHO = "good token", "bare echo (NIOHTTP1)"


def measure(bench: Bench, section: Section) -> None:
    made = bench.pools
    with contextlib.ExitStack() as stack:

        def service(**members) -> Assay:
            content = settings([apple(jwks_file=str(made.key_set))], **members)
            return stack.enter_context(Assay(bench.assay, bench.directory, content))

        usual, logging, caching = service(), service(log=None), service(verified_token_cache=None)

        def asked(started: Assay, pool: pools.Pool) -> Contender:
            pools.check(started.port, pool)
            return loaded(started, started.port, pool)

        # Contenders that are compared run one after the other, because a machine's speed changes within minutes.
        contenders = {
            "good token, request log on": asked(logging, made.good("RS256")),
            **{f"refused: {kind}": asked(usual, made.refused(kind)) for kind in REFUSALS},
            GOOD: asked(usual, made.good("RS256")),
            "bare check, RS256": bare(bench, "RS256"),
            "batch of 64, a token": asked(usual, made.batches("RS256")),
            "good token, ES256": asked(usual, made.good("ES256")),
            "bare check, ES256": bare(bench, "ES256"),
            "batch of 64, ES256, a token": asked(usual, made.batches("ES256")),
            "repeated token, cache off": asked(usual, made.repeated("RS256")),
            "1000 tokens in turn, cache on": asked(caching, made.good("RS256")),
            "repeated token, cache on": asked(caching, made.repeated("RS256")),
        }
        echo_missing = None
        try:
            echo = stack.enter_context(
                peer_process.start(peers.named("echo"), "RS256", made, bench.builder, bench.venv)
            )
            contenders[ECHO] = loaded(echo, echo.port, made.repeated("RS256"))
        except Unavailable as reason:
            echo_missing = str(reason)
        series = interleave(bench, contenders, "other requests")

    good, rows = series[GOOD], []
    for name, found in series.items():
        floor = series["bare check, ES256" if "ES256" in name else "bare check, RS256"]
        is_bare = name.startswith("bare check")
        rows.append(
            [
                name,
                f"{found.median():.1f}",
                f"{found.ratio(floor):.2f}",
                f"{found.ratio(good):.2f}",
                f"{found.ratio(series[ECHO]):.2f}" if ECHO in series else "",
                "" if is_bare else f"{found.median('rate'):,.0f}",
                "" if is_bare else f"{found.median('p99'):.2f}",
            ]
        )
    section.text(
        "RS256, with request log and verified-token cache off, unless noted. Batches are sent over "
        f"{BATCH_CONNECTIONS} connections; their CPU time and rate are per token, their p99 per request."
    )
    section.table(["", "CPU µs", "× bare check", "× good token", "× echo", "tokens/s", "p99 ms"], rows)
    section.figures["batch"] = series["batch of 64, a token"].ratio(series["bare check, RS256"])
    section.figures |= {kind: series[f"refused: {kind}"].ratio(good) for kind in REFUSALS}
    if ECHO in series:
        section.figures["repeated"] = series["repeated token, cache on"].ratio(series[ECHO])
    else:
        section.text(f"Not measured: **the bare echo**: {echo_missing}")
