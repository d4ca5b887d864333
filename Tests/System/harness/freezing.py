"""Stops a process in the middle of its work, and lets it go on."""

import contextlib
import os
import pathlib
import signal

from .waiting import poll


def freeze(pid: int) -> None:
    """Returns once all threads have stopped: after the signal, those on other processors still run for a while."""
    os.kill(pid, signal.SIGSTOP)
    poll(lambda: all(_state(thread) in "TZX" for thread in pathlib.Path(f"/proc/{pid}/task").iterdir()))


def thaw(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def frozen(pid: int):
    freeze(pid)
    try:
        yield
    finally:
        thaw(pid)


def _state(thread: pathlib.Path) -> str:
    """The letter for a thread's state, which follows its name in parentheses (proc_pid_stat(5))."""
    try:
        return (thread / "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"
