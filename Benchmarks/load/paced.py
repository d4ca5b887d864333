"""The generator in paced.c: requests at a fixed rate, or one after the other, over connections opened beforehand."""

import array
import contextlib
import dataclasses
import pathlib
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from measure import Bench
from pools import Pool
from processes import put_first


class Measured(Protocol):
    """One or more servers."""

    def cpu_seconds(self) -> float: ...


@dataclasses.dataclass(frozen=True)
class Answers:
    """The answers of one run."""

    due: array.array
    """When each request was due, in seconds of the monotonic clock; without a fixed rate, when it was sent."""
    latencies: array.array
    """Each request's latency in milliseconds."""
    cpu: float
    """The server's CPU microseconds per request, without the cost of opening connections."""

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


def _command(
    bench: Bench, port: int, pool: Pool, rate: float, seconds: float, connections: int, file: str, *more: str
) -> list[str]:
    kind = "bearer" if pool.is_bearer else "post"
    command = [bench.builder.c("paced"), port, pool.file, pool.path, kind, rate, seconds, connections, file, *more]
    return list(map(str, command))


def _read(file: str, refused: str, cpu: float = 0) -> Answers:
    if refused != "0\n":
        raise RuntimeError(f"{refused.strip()} requests were refused")
    numbers = array.array("d", pathlib.Path(file).read_bytes())
    return Answers(numbers[::2], numbers[1::2], cpu / (len(numbers) / 2) * 1e6)


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
    """With a rate of 0, each connection sends its next request at once. The generator is confined to `cores`, with
    priority there if the system allows it."""
    with tempfile.NamedTemporaryFile(dir=bench.directory) as file:
        command = _command(bench, port, pool, rate, seconds, connections, file.name)
        if cores:
            command = ["taskset", "-c", ",".join(map(str, cores)), *command]
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=bool(cores),
        ) as process:
            if cores:
                put_first(process.pid)
            if process.stdout.readline() == "connected\n":
                time.sleep(0.3)  # The generator pauses for half a second, so that the server can settle.
            before = server.cpu_seconds()
            text, complaint = process.communicate()
            spent = server.cpu_seconds() - before
        if process.returncode:
            raise RuntimeError(complaint.strip())
        return _read(file.name, text, spent)


@contextlib.contextmanager
def standing(
    bench: Bench, port: int, pool: Pool, seconds: float, connections: int
) -> Iterator[Callable[[], Answers]]:
    """Connections that stand before and after they are used. The function asks on all of them, again and again until
    `seconds` have passed, and may be called once. Its answers are without CPU time."""
    with tempfile.NamedTemporaryFile(dir=bench.directory) as file:
        command = _command(bench, port, pool, 0, seconds, connections, file.name, "held")
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            if process.stdout.readline() != "connected\n":
                raise RuntimeError("the connections were not opened")

            def ask() -> Answers:
                process.stdin.write("\n")
                process.stdin.flush()
                return _read(file.name, process.stdout.readline())

            yield ask
            process.stdin.close()
