"""Many providers, each an entry with one issuer: the start, a reload, memory and threads."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from measure import Bench
from report import Section
from service import NETWORK, Assay, settings

ENTRIES = 3000
HERE = pathlib.Path(__file__).parent


def measure(bench: Bench, section: Section) -> None:
    count = 300 if bench.is_quick else ENTRIES
    bench.say(f"issuers: {count} entries")
    server = subprocess.Popen([sys.executable, HERE / "issuer_server.py"], stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline())
        content = settings([_entry(port, number) for number in range(count)])
        begun = time.monotonic()
        with Assay(bench.assay, bench.directory, content) as service:
            ready = time.monotonic() - begun
            memory, threads = service.resident_bytes() / 1e6, _threads(service)
            bench.say(f"issuers: ready after {ready:.2f} s, {memory:.0f} MB, {threads} threads")
            reload = _reload(service, settings([_entry(port, number) for number in range(count + 1)]))
            bench.say(f"issuers: reloaded in {reload:.2f} s")
    finally:
        server.terminate()
        server.wait()
    section.text(
        f"{count:,} entries with one issuer each. The issuers are one server on loopback, on the same cores, which has a "
        "discovery document and three RSA keys for each. The reload adds one entry, and ends when its keys are there."
    )
    section.table(
        ["ready", "memory MB", "threads", "reload"], [[f"{ready:.2f} s", f"{memory:.0f}", threads, f"{reload:.2f} s"]]
    )
    section.figures |= {
        "issuers start": ready,
        "issuers memory": memory,
        "issuers threads": threads - 2 * min(2, len(os.sched_getaffinity(0))),
        "issuers reload": reload,
    }


def _entry(port: int, number: int) -> dict:
    issuer = f"http://127.0.0.1:{port}/{number}"
    return {"id": f"p{number}", "issuer": issuer, "audiences": ["client"], "network": NETWORK}


def _threads(service: Assay) -> int:
    return sum(len(os.listdir(f"/proc/{process}/task")) for process in service.tree())


def _reload(service: Assay, content: dict) -> float:
    """Seconds from the signal until the service has the new settings."""
    service.file.write_text(json.dumps(content))
    begun = time.monotonic()
    service.process.send_signal(signal.SIGHUP)
    while service.metric("assay_configuration_reloads_total") == 0:
        if time.monotonic() > begun + 120:
            raise RuntimeError("no reload within 120 s")
        time.sleep(0.02)
    return time.monotonic() - begun
