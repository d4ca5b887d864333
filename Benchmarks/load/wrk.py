"""wrk: as many requests as the server can take, over persistent connections."""

import contextlib
import dataclasses
import os
import pathlib
import re
import subprocess

from pools import Pool
from processes import Process

SCRIPT = pathlib.Path(__file__).parent / "pool.lua"
CONNECTIONS = 64


@dataclasses.dataclass(frozen=True)
class Figures:
    """The figures of one run. Counts, rate and CPU time are per token, not per request; these differ for batches."""

    tokens: int
    rate: float
    cpu: float
    """Microseconds of the server's user and system time per token."""
    p50: float
    p99: float
    """Milliseconds per request."""


def _command(port: int, pool: Pool, seconds: float, connections: int) -> dict:
    threads = min(2, connections)
    return {
        "args": [
            "wrk",
            f"-t{threads}",
            f"-c{connections}",
            f"-d{max(1, round(seconds))}s",
            "--latency",
            "--timeout",
            "10s",
            "-s",
            str(SCRIPT),
            f"http://127.0.0.1:{port}",
        ],
        "env": {
            **os.environ,
            "POOL": str(pool.file),
            "POOL_PATH": pool.path,
            "POOL_BEARER": "yes" if pool.is_bearer else "",
            "POOL_FIELDS": "yes" if pool.has_fields else "",
            "POOL_SHARES": str(threads) if pool.is_single_use else "",
        },
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
    }


def _milliseconds(text: str) -> float:
    number, unit = re.match(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60000}[unit]


def _requests(output: str, pool: Pool) -> int:
    """The number of answered requests; raises if one was not answered as the pool expects."""
    found = re.search(r"(\d+) requests in", output)
    if not found or not int(found[1]):
        raise RuntimeError(f"wrk: {output[-500:]}")
    others = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    refused = int(others[1]) if others else 0
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output)
    if errors and any(map(int, errors.groups())):
        raise RuntimeError(f"wrk on {pool.file.name}: {errors[0]}")
    if refused != (0 if pool.status < 400 else int(found[1])):
        raise RuntimeError(f"wrk on {pool.file.name}: {refused} of {found[1]} requests were refused")
    return int(found[1])


def run(server: Process, port: int, pool: Pool, seconds: float, connections: int = CONNECTIONS) -> Figures:
    before = server.cpu_seconds()
    output = subprocess.run(**_command(port, pool, seconds, connections)).stdout
    spent = server.cpu_seconds() - before
    tokens = _requests(output, pool) * pool.tokens
    used_up = re.search(r"Pool used up in ([\d.]+) s", output)
    reported = float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1]) * pool.tokens
    return Figures(
        tokens=tokens,
        rate=tokens / float(used_up[1]) if used_up else reported,
        cpu=spent / tokens * 1e6,
        p50=_milliseconds(re.search(r"^\s+50%\s+(\S+)", output, re.M)[1]),
        p99=_milliseconds(re.search(r"^\s+99%\s+(\S+)", output, re.M)[1]),
    )


@contextlib.contextmanager
def running(port: int, pool: Pool, seconds: float, connections: int = CONNECTIONS):
    """Generates load during a block of code, which should end before the load does."""
    with subprocess.Popen(**_command(port, pool, seconds, connections)) as process:
        try:
            yield
            _requests(process.communicate(timeout=seconds + 60)[0], pool)
        finally:
            process.kill()
