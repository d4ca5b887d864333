"""Measures the service and its peers side by side; writes RESULTS.md and load.svg.

usage: main.py ASSAY [--only PART,…] [--peers NAME,…] [--rounds N] [--seconds S] [--latency-seconds S]
                     [--requests N] [--quick] [--out DIR] [--build DIR] [--venv DIR]

The exit status is 1 if a part failed. A peer that can't be measured is only named in the report. A missed target is not
a failure either.
"""

import argparse
import pathlib
import shlex
import sys
import tempfile
import time
import traceback

import apis
import cores
import exchanges
import forward_auth
import growth
import issuers
import latency
import memory
import overload
import peers
import picture
import report
import scenarios
import side_by_side
import sign_ins
import startup
from build import Builder
from machine import Machine
from measure import Bench
from pools import Pools
from processes import raise_descriptor_limit

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = {
    "peers": ("Side by side", side_by_side.measure),
    "requests": ("Other requests", scenarios.measure),
    "sign-ins": ("Sign-ins", sign_ins.measure),
    "exchanges": ("Codes that are exchanged", exchanges.measure),
    "gateways": ("Asked by a gateway", forward_auth.measure),
    "apis": ("Access tokens", apis.measure),
    "cores": ("Two cores against one", cores.measure),
    "latency": ("Latency", latency.measure),
    "overload": ("Overload", overload.measure),
    "memory": ("Memory", memory.measure),
    "start": ("Start", startup.measure),
    "growth": ("How cost grows", growth.measure),
    "issuers": ("Many providers", issuers.measure),
}


def chosen(known: list[str]):
    def names(text: str) -> list[str]:
        found = [name for name in text.split(",") if name]
        if unknown := [name for name in found if name not in known]:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
        return found

    return names


def arguments() -> argparse.Namespace:
    names = [peer.name for peer in peers.ALL]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("assay", type=pathlib.Path, help="the service's binary, a release build")
    parser.add_argument(
        "--only",
        type=chosen(list(PARTS)),
        default=list(PARTS),
        metavar="PART,…",
        help=f"parts to measure: {', '.join(PARTS)}",
    )
    parser.add_argument(
        "--peers", type=chosen(names), default=names, metavar="NAME,…", help=f"peers to measure: {', '.join(names)}"
    )
    parser.add_argument("--rounds", type=int, help="rounds of each measurement (default: 5)")
    parser.add_argument("--seconds", type=float, help="seconds of each round (default: 3)")
    parser.add_argument("--latency-seconds", type=float, help="seconds of each latency round (default: 20)")
    parser.add_argument("--requests", type=int, help="requests of the long load (default: 10 million)")
    parser.add_argument("--quick", action="store_true", help="one short round of everything, as a smoke test")
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        help="directory for the results (default: Benchmarks for a whole run, that of --build for a partial or quick one)",
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / ".build-peers", help="directory in which peers are built")
    parser.add_argument(
        "--venv", type=pathlib.Path, default=ROOT / ".venv-bench", help="virtual environment of the peers"
    )
    options = parser.parse_args()
    rounds, seconds, latency_seconds, requests = (1, 1, 3, 100_000) if options.quick else (5, 3, 20, 10_000_000)
    is_whole = not options.quick and len(options.only) == len(PARTS) and len(options.peers) == len(names)
    options.out = options.out or (ROOT / "Benchmarks" if is_whole else options.build)
    options.rounds = options.rounds or rounds
    options.seconds = options.seconds or seconds
    options.latency_seconds = options.latency_seconds or latency_seconds
    options.requests = options.requests or requests
    return options


def main() -> int:
    options = arguments()
    raise_descriptor_limit()
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", file=sys.stderr, flush=True)

    sections: dict[str, report.Section] = {}
    failures: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)  # Apache's workers run as another user.
        bench = Bench(
            assay=options.assay.resolve(),
            builder=Builder(options.build),
            pools=Pools(directory),
            venv=options.venv.absolute(),
            machine=Machine(),
            rounds=options.rounds,
            seconds=options.seconds,
            latency_seconds=options.latency_seconds,
            requests=options.requests,
            is_quick=options.quick,
            peers=options.peers,
            say=say,
        )
        for part in options.only:
            title, measure = PARTS[part]
            sections[part] = report.Section(title)
            try:
                measure(bench, sections[part])
            except Exception as error:  # One failed part must not cost the results of the others.
                traceback.print_exc()
                failures[part] = f"{type(error).__name__}: {error}"
                sections[part].text(f"**Failed**: {failures[part]}")

    bars = {algorithm: found for section in sections.values() for algorithm, found in section.bars.items()}
    floors = {algorithm: floor for section in sections.values() for algorithm, floor in section.floors.items()}
    versions = {label: version for section in sections.values() for label, version in section.versions.items()}
    command = f"scripts/bench {shlex.join(sys.argv[2:])}".strip()
    say("writing the results")
    options.out.mkdir(parents=True, exist_ok=True)
    head = report.circumstances(options.assay, command, options, bench.machine.describe(), versions)
    text = report.page(sections, failures, bench.machine.warning(), head, bool(bars))
    (options.out / "RESULTS.md").write_text(text)
    if bars:
        (options.out / "load.svg").write_text(picture.draw(bars, floors))
    print(text, end="")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
