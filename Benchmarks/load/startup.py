"""The time from exec to the first answer, with keys from disk."""

import json
import pathlib
import shutil
import socket
import statistics
import subprocess
import time

from keyserver import KeyServer
from measure import Bench
from processes import free_port
from report import Section
from service import NETWORK, Assay, apple, settings

STARTS = 10


def measure(bench: Bench, section: Section) -> None:
    made = bench.pools
    cache = bench.directory / "cache"
    cache.mkdir(mode=0o700)
    port = free_port()
    with KeyServer([key.jwk for key in made.keys.values()]) as keys:
        content = settings(
            [apple(jwks_uri=keys.url, network=NETWORK)],
            cache_directory=str(cache),
            service={"listen": f"127.0.0.1:{port}"},
        )
        Assay(bench.assay, bench.directory, content).stop()
    # From here on, the provider is unreachable.
    file = bench.directory / "startup.yaml"
    file.write_text(json.dumps(content))
    body = made.good("RS256").lines(1)[0].encode()
    times = []
    for index in range(3 if bench.is_quick else STARTS):
        bench.say(f"start: {index + 1}")
        times.append(_first_answer(bench.assay, file, port, body) * 1000)
    section.text(
        f"{len(times)} starts while the provider can't be reached, with its keys in `cache_directory`. From the "
        f"creation of the process to the first `200` of `POST /v1/verify`: median {statistics.median(times):.1f} "
        f"ms, lowest {min(times):.1f}, highest {max(times):.1f}."
    )
    section.figures["start"] = statistics.median(times)
    shutil.rmtree(cache)


def _first_answer(binary: pathlib.Path, settings_file: pathlib.Path, port: int, body: bytes) -> float:
    """Seconds until the first good answer, polled with a negligible pause."""
    request = (
        b"POST /v1/verify HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
        b"Connection: close\r\n\r\n" % len(body)
    ) + body
    start = time.perf_counter()
    process = subprocess.Popen(
        [binary, "serve", "--config", settings_file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while True:
            answer = _ask(port, request)
            took = time.perf_counter() - start
            if answer.startswith(b"HTTP/1.1 200"):
                break
            if process.poll() is not None or took > 10:
                raise RuntimeError(f"no good answer after the start: {answer[:300]!r}")
            time.sleep(0.0005)
        if json.loads(answer.partition(b"\r\n\r\n")[2])["keys"]["source"] != "disk":
            raise RuntimeError("the keys are not from disk")
        return took
    finally:
        process.terminate()
        process.wait(timeout=20)


def _ask(port: int, request: bytes) -> bytes:
    """The whole response; empty if the connection was refused or reset."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(request)
            answer = b""
            while octets := connection.recv(65536):
                answer += octets
            return answer
    except (ConnectionRefusedError, ConnectionResetError):
        return b""
