"""Polling with a deadline, and ports on which nothing listens."""

import contextlib
import socket
import threading
import time

DEADLINE = 15


def poll(condition, timeout: float = DEADLINE, pause: float = 0.02, tells=lambda: ""):
    """Polls until the result is true, and returns it. `tells` returns additional text for the failure message."""
    deadline = time.monotonic() + timeout
    waiting = threading.Event()
    while not (result := condition()):
        assert time.monotonic() < deadline, f"not seen in time {tells()}"
        waiting.wait(pause)
    return result


def free_ports(count: int) -> list[int]:
    """Distinct loopback ports."""
    with contextlib.ExitStack() as open_sockets:
        sockets = [open_sockets.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


def free_port() -> int:
    return free_ports(1)[0]
