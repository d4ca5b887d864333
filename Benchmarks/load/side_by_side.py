"""The service and its peers, in one interleaved run per algorithm."""

import contextlib

import peer_process
import peers
import wrk
from measure import Bench, Contender, Series, bare, interleave, loaded
from peer_process import RunningPeer
from pools import Pool
from processes import Unavailable
from report import Bar, Section
from service import Assay, apple, settings

BARE, BOTH = "bare check, one core", "bare check, both cores at once"


def measure(bench: Bench, section: Section) -> None:
    section.text(
        "Each server has two cores, two threads or workers, and no log. The load is 64 connections with 1000 distinct "
        "tokens, each with a nonce, in rotation.",
        "Before the measurement, each peer except the echo must accept 20 valid tokens, and refuse them after a change "
        "of payload or signature. Assay's verified-token cache is off, so every signature is checked.",
    )
    worst: dict[str, float] = {}
    missing: dict[str, str] = {}
    for algorithm in ("RS256", "ES256"):
        series, memory = _run(bench, algorithm, section, missing)
        rows = []
        for label, found in sorted(series.items(), key=lambda entry: entry[1].median()):
            is_server = label in memory
            rows.append(
                [
                    f"**{label}**" if label == "Assay" else label,
                    f"{found.median():.1f}",
                    f"{min(found.values('cpu')):.1f} – {max(found.values('cpu')):.1f}",
                    f"{found.ratio(series[BARE]):.2f}",
                    f"{series['Assay'].ratio(found):.2f}",
                    f"{found.median('rate'):,.0f}" if is_server else "",
                    f"{found.median('p50'):.2f}" if is_server else "",
                    f"{found.median('p99'):.2f}" if is_server else "",
                    f"{memory[label] / 1e6:.0f}" if is_server else "",
                ]
            )
        section.text(f"### {algorithm}")
        section.table(
            [
                "",
                "CPU µs per request",
                "lowest – highest",
                "× bare check",
                "Assay ÷ this",
                "requests/s",
                "p50 ms",
                "p99 ms",
                "memory MB",
            ],
            rows,
        )
        section.figures[f"{algorithm} bare"] = series["Assay"].ratio(series[BARE])
        section.floors[algorithm] = series[BARE].median()
        section.bars[algorithm] = [
            Bar(label, found.median(), label == "Assay") for label, found in series.items() if label not in (BARE, BOTH)
        ]
        for peer in peers.ALL:
            if peer.label in series:
                ratio = series["Assay"].ratio(series[peer.label])
                if peer.name == "envoy":
                    section.figures[f"{algorithm} envoy"] = ratio
                else:
                    worst.setdefault(peer.name, 0)
                    worst[peer.name] = max(worst[peer.name], ratio)
    section.figures |= {name: ratio for name, ratio in worst.items() if name != "echo"}
    section.text(
        "What each reads and returns: Assay: JSON; an identity. "
        + " ".join(f"{peer.label}: {peer.answers}." for peer in peers.ALL if peer.label in section.versions)
    )
    if missing:
        section.text("Not measured:", "\n".join(f"- **{label}**: {reason}" for label, reason in missing.items()))


def _peer(server: RunningPeer, pool: Pool) -> Contender:
    def run(seconds: float) -> wrk.Figures:
        try:
            return wrk.run(server, server.port, pool, seconds)
        except RuntimeError as error:
            raise Unavailable(f"failed under load: {error}") from error

    return run


def _run(
    bench: Bench, algorithm: str, section: Section, missing: dict[str, str]
) -> tuple[dict[str, Series], dict[str, int]]:
    made = bench.pools
    with contextlib.ExitStack() as stack:
        content = settings([apple(jwks_file=str(made.key_set))])
        service = stack.enter_context(Assay(bench.assay, bench.directory, content))
        running = {"Assay": service}
        contenders = {BARE: bare(bench, algorithm), "Assay": loaded(service, service.port, made.good(algorithm))}
        for peer in peers.ALL:
            if peer.name not in bench.peers:
                missing[peer.label] = "not selected (`--peers`)"
                continue
            try:
                bench.say(f"{algorithm}: starts {peer.label}")
                server = peer_process.start(peer, algorithm, made, bench.builder, bench.venv)
            except Unavailable as reason:
                missing[f"{peer.label}, {algorithm}"] = str(reason)
                continue
            stack.enter_context(server)
            section.versions[peer.label] = server.version
            running[peer.label] = server
            contenders[peer.label] = _peer(server, peer.pool(made, algorithm))
        contenders[BOTH] = lambda seconds: max(
            bench.bare(made.tokens(algorithm), algorithm, min(seconds, 2), at_once=2), key=lambda figures: figures.cpu
        )
        dropped: dict[str, str] = {}
        series = interleave(bench, contenders, algorithm, dropped)
        missing |= {f"{label}, {algorithm}": reason for label, reason in dropped.items()}
        return series, {label: server.resident_bytes() for label, server in running.items()}
