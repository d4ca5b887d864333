"""The generator in paced.c: requests at a fixed rate, or one after the other over connections that stood before."""

import json
import subprocess
import time

from measure import Bench
from pools import Pool
from processes import Process


def run(
    bench: Bench,
    server: Process,
    port: int,
    pool: Pool,
    rate: float,
    seconds: float,
    connections: int,
    cores: list[int] | None = None,
) -> dict[str, float]:
    """What paced.c prints, and `cpu`: the server's microseconds a request, without what the connections cost. A rate of
    0 is as fast as answers come; `cores` are those that the generator is confined to."""
    command = [bench.builder.c("paced"), port, pool.file, rate, seconds, connections]
    if cores:
        command = ["taskset", "-c", ",".join(map(str, cores)), *command]
    with subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        if process.stdout.readline() == "connected\n":
            time.sleep(0.3)  # of the half-second for which the generator lets the server come to rest
        before = server.cpu_seconds()
        text, complaint = process.communicate()
        spent = server.cpu_seconds() - before
    if process.returncode:
        raise RuntimeError(complaint.strip())
    figures = json.loads(text)
    if figures["failures"]:
        raise RuntimeError(f"{figures['failures']:.0f} requests were refused")
    return figures | {"cpu": spent / figures["requests"] * 1e6}
