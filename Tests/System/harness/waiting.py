"""Waiting for what comes about on its own time, always with a deadline; and ports that nobody listens on."""

import contextlib
import socket
import threading
import time

DEADLINE = 15


def poll(condition, timeout: float = DEADLINE, pause: float = 0.02, tells=lambda: ""):
    """Asks again and again; the first true result. `tells` is what a test that fails should say besides."""
    deadline = time.monotonic() + timeout
    waiting = threading.Event()
    while not (result := condition()):
        assert time.monotonic() < deadline, f"not seen in time {tells()}"
        waiting.wait(pause)
    return result


def free_ports(count: int) -> list[int]:
    """Loopback ports, each another one."""
    with contextlib.ExitStack() as open_sockets:
        sockets = [open_sockets.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


def free_port() -> int:
    return free_ports(1)[0]
