"""Processes under measurement: started, asked what they have used, ended."""
import os
import pathlib
import resource
import signal
import socket
import subprocess

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Unavailable(Exception):
    """Something that can't be measured here; the text says why."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def raise_descriptor_limit() -> int:
    """As many file descriptors as the system lets this process and its children have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def output(*command: str) -> str:
    """What a command prints, on either stream; for versions."""
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    except OSError as error:
        raise Unavailable(f"{command[0]}: {error.strerror}") from error
    return run.stdout.strip()


class Process:
    """A server and all processes that it starts, in a session of their own."""

    def __init__(self, command: list[str], *, cores: str | None = None, environment: dict | None = None, **streams):
        self.command = [*(["taskset", "-c", cores] if cores else []), *map(str, command)]
        try:
            self.process = subprocess.Popen(
                self.command, env={**os.environ, **(environment or {})}, start_new_session=True, **streams)
        except OSError as error:
            raise Unavailable(f"{command[0]}: {error.strerror}") from error

    def tree(self) -> list[int]:
        children: dict[int, list[int]] = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit() and (fields := _stat(int(entry))):
                children.setdefault(int(fields[1]), []).append(int(entry))
        found = [self.process.pid]
        for process in found:
            found += children.get(process, [])
        return found

    def cpu_seconds(self) -> float:
        """User and system time of the whole tree."""
        return sum(int(fields[11]) + int(fields[12]) for fields in map(_stat, self.tree()) if fields) / TICKS

    def resident_bytes(self) -> int:
        """Memory of the whole tree; what several processes share counts in each."""
        return sum(_resident_pages(process) for process in self.tree()) * PAGE

    def is_running(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            pass
        try:
            # Workers that have outlived the first process. The session is ours, so nothing else is in its group.
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def _stat(process: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on; nothing if the process has ended."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None


def _resident_pages(process: int) -> int:
    try:
        return int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0
