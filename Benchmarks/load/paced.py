"""The generator in paced.c: requests at a fixed rate, or one after the other over connections that stood before."""

import array
import dataclasses
import pathlib
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Protocol

from measure import Bench
from pools import Pool
from processes import put_first


class Measured(Protocol):
    """A server, or several."""

    def cpu_seconds(self) -> float: ...


@dataclasses.dataclass(frozen=True)
class Answers:
    """Of one run."""

    due: array.array
    """When each request was due, in seconds of the monotonic clock; without a rate, when it was sent."""
    latencies: array.array
    """Milliseconds of each request."""
    cpu: float
    """The server's microseconds a request, without what the connections cost."""

    def __len__(self) -> int:
        return len(self.due)

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return zip(self.due, self.latencies, strict=True)

    @property
    def rate(self) -> float:
        began, ended = min(self.due), max(due + latency / 1e3 for due, latency in self)
        return len(self) / (ended - began)


def quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[int((len(ordered) - 1) * share)]


def run(
    bench: Bench,
    server: Measured,
    port: int,
    pool: Pool,
    rate: float,
    seconds: float,
    connections: int,
    cores: Sequence[int] = (),
) -> Answers:
    """A rate of 0 is as fast as answers come; `cores` are those that the generator is confined to, and has to itself as
    far as the system lets it."""
    with tempfile.NamedTemporaryFile(dir=bench.directory) as file:
        kind = "bearer" if pool.is_bearer else "post"
        command = [bench.builder.c("paced"), port, pool.file, pool.path, kind, rate, seconds, connections, file.name]
        if cores:
            command = ["taskset", "-c", ",".join(map(str, cores)), *command]
        with subprocess.Popen(
            list(map(str, command)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=bool(cores),
        ) as process:
            if cores:
                put_first(process.pid)
            if process.stdout.readline() == "connected\n":
                time.sleep(0.3)  # of the half-second for which the generator lets the server come to rest
            before = server.cpu_seconds()
            text, complaint = process.communicate()
            spent = server.cpu_seconds() - before
        if process.returncode:
            raise RuntimeError(complaint.strip())
        if text != "0\n":
            raise RuntimeError(f"{text.strip()} requests were refused")
        numbers = array.array("d", pathlib.Path(file.name).read_bytes())
    return Answers(numbers[::2], numbers[1::2], spent / (len(numbers) / 2) * 1e6)
