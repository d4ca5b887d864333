"""Processes under measurement: their start, resource usage and end."""

import contextlib
import os
import pathlib
import resource
import signal
import socket
import subprocess

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Unavailable(Exception):
    """Something can't be measured here; the text gives the reason."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def raise_descriptor_limit() -> None:
    """Raises the soft limit to the hard limit, for this process and its later children."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def two_cores() -> list[int]:
    """The first two cores, for servers: all compared servers have two threads or workers."""
    return sorted(os.sched_getaffinity(0))[:2]


def apart() -> tuple[list[int], list[int]]:
    """Separate cores for a server and for its clients, so that neither delays the other."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise Unavailable("there is only one core")
    server = cores[: min(2, len(cores) - 1)]
    return server, cores[len(server) :]


@contextlib.contextmanager
def confined(cores: list[int]):
    """Confines this process, with the threads that it starts, to these cores for a block of code."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def put_first(session: int) -> None:
    """Gives a session's processes priority over all other sessions, if the system allows it. With autogroups, a
    process's nice value has no effect outside of its session."""
    with contextlib.suppress(OSError):
        pathlib.Path(f"/proc/{session}/autogroup").write_text("-20")


def output(*command: str) -> str:
    """A command's stdout and stderr, for version numbers."""
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    except OSError as error:
        raise Unavailable(f"{command[0]}: {error.strerror}") from error
    return run.stdout.strip()


class Process:
    """A server and all processes that it starts, in a session of their own; by default on two cores."""

    def __init__(self, command: list, *, cores: list[int] | None = None, environment: dict | None = None, **streams):
        confined = ["taskset", "-c", ",".join(map(str, cores or two_cores()))]
        # The service would read the scripts' own variables as settings.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        try:
            self.process = subprocess.Popen(
                [*confined, *map(str, command)],
                env={**inherited, **(environment or {})},
                start_new_session=True,
                **streams,
            )
        except OSError as error:
            raise Unavailable(f"{command[0]}: {error.strerror}") from error

    def tree(self) -> list[int]:
        return tree(self.process.pid)

    def cpu_seconds(self) -> float:
        """User and system time of the whole tree, including processes that have ended."""
        return tree_times(self.process.pid)

    def resident_bytes(self) -> int:
        """Resident memory of the whole tree. Shared memory counts once per process."""
        return sum(_resident_pages(process) for process in self.tree()) * PAGE

    def is_running(self) -> bool:
        return self.process.poll() is None

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            pass
        try:
            # Kills workers that outlive the first process. The session is ours, so nothing else is in its group.
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def tree(process: int) -> list[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (fields := _stat(int(entry))):
            children.setdefault(int(fields[1]), []).append(int(entry))
    found = [process]
    for parent in found:
        found += children.get(parent, [])
    return found


def tree_times(process: int) -> float:
    """The CPU seconds of a process and all its descendants, including those that have ended."""
    return sum(sum(map(int, fields[11:15])) for fields in map(_stat, tree(process)) if fields) / TICKS


def _stat(process: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on; `None` if the process has ended."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None


def _resident_pages(process: int) -> int:
    try:
        return int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0
