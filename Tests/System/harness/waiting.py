"""Polling with a deadline, and ports on which nothing listens."""

import contextlib
import random
import socket
import threading
import time

DEADLINE = 15
# Below the ports that Linux gives to whoever asks for any (`ip_local_port_range`): between a test's look at a port and the start of its
# program, another test's server or connection would otherwise be given the same one.
PORTS = range(12_000, 32_000)


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
    ports: list[int] = []
    with contextlib.ExitStack() as open_sockets:
        while len(ports) < count:
            port = random.choice(PORTS)
            with contextlib.suppress(OSError):
                open_sockets.enter_context(socket.create_server(("127.0.0.1", port), reuse_port=False))
                ports.append(port)
    return ports


def free_port() -> int:
    return free_ports(1)[0]
