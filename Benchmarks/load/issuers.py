"""Many issuers: entries with one each, a list of ten thousand, and an open entry."""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import issuer_floods
import issuer_lists
from issuer_keys import IssuerKeys
from measure import Bench
from report import Section
from service import NETWORK, Assay, settings

ENTRIES, QUICK_ENTRIES = 3000, 300
ISSUERS, QUICK_ISSUERS = 10_000, 500
HERE = pathlib.Path(__file__).parent


class IssuerServer:
    """See issuer_server.py."""

    def __init__(self, moduli: pathlib.Path):
        command = [sys.executable, HERE / "issuer_server.py", moduli]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(self._process.stdout.readline())

    def url(self, name: int | str) -> str:
        """The issuer with a number, or with a name such as `slow-3`."""
        return f"http://127.0.0.1:{self.port}/{name}"

    def requests(self) -> dict:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with contextlib.closing(connection):
            connection.request("GET", "/requests", headers={"Connection": "close"})
            return json.load(connection.getresponse())

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self._process.terminate()
        self._process.wait()


def measure(bench: Bench, section: Section) -> None:
    count = QUICK_ISSUERS if bench.is_quick else ISSUERS
    bench.say(f"issuers: makes {count} keys")
    # One more is added to the list.
    keys, moduli = IssuerKeys(count + 1), bench.directory / "moduli"
    keys.write(moduli)
    section.text(
        "The issuers are one server on loopback, on the same cores, which has a discovery document and three RSA keys "
        "for each. Verified tokens are not cached."
    )
    for part in (_entries, issuer_lists.measure, issuer_floods.measure):
        with IssuerServer(moduli) as server:
            part(bench, section, server, keys, count)


def _entries(bench: Bench, section: Section, server: IssuerServer, *_) -> None:
    count = QUICK_ENTRIES if bench.is_quick else ENTRIES
    bench.say(f"issuers: {count} entries")
    begun = time.monotonic()
    content = settings([_entry(server, number) for number in range(count)])
    with Assay(bench.assay, bench.directory, content) as service:
        ready = time.monotonic() - begun
        memory, threads = service.resident_bytes() / 1e6, issuer_lists.threads(service)
        bench.say(f"issuers: ready after {ready:.2f} s, {memory:.0f} MB, {threads} threads")
        reload = _reload(service, settings([_entry(server, number) for number in range(count + 1)]), f"p{count}")
        bench.say(f"issuers: reloaded in {reload:.2f} s")
    section.text(
        "### Entries with one issuer",
        f"{count:,} entries. The reload adds one, and ends when the service knows it.",
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


def _entry(server: IssuerServer, number: int) -> dict:
    return {"id": f"p{number}", "issuer": server.url(number), "audiences": ["client"], "network": NETWORK}


def _reload(service: Assay, content: dict, new: str) -> float:
    """Seconds from the signal until the service has the new entry."""
    service.file.write_text(json.dumps(content))
    begun = time.monotonic()
    service.process.send_signal(signal.SIGHUP)
    # The metrics of thousands of entries would be work of their own.
    while service.admin("GET", f"/v1/providers?provider={new}")[0] != 200:
        if time.monotonic() > begun + 120:
            raise RuntimeError("no reload within 120 s")
        time.sleep(0.02)
    return time.monotonic() - begun
