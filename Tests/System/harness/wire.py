"""Raw bytes and thousands of sockets: clients that follow no rules, and what they cost the service."""

import contextlib
import resource
import selectors
import socket
import struct
import time

from .client import Connection, ConnectionClosed, Response
from .metrics import Metrics

KIB, MIB = 1024, 1024 * 1024


def connect(address: str, receive_buffer: int | None = None) -> socket.socket:
    """A connection to `host:port`. With a smaller buffer, unread responses back up sooner."""
    host, port = address.rsplit(":", 1)
    connection = socket.socket(socket.AF_INET6 if host.startswith("[") else socket.AF_INET)
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(30)
    connection.connect((host.strip("[]"), int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def reset(connection: socket.socket) -> None:
    """Closes a connection with RST, unless it has already ended, so that no port stays in TIME_WAIT."""
    if connection.fileno() >= 0:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


def read_to_end(connection: socket.socket) -> bytes:
    """Reads until the service closes the connection."""
    received = bytearray()
    with contextlib.suppress(ConnectionResetError):
        while octets := connection.recv(256 * KIB):
            received += octets
    return bytes(received)


def read_exactly(connection: socket.socket, count: int) -> bytes:
    """Reads exactly this many bytes. On a socket with a timeout, `MSG_WAITALL` would not wait for them."""
    received = bytearray()
    while len(received) < count:
        octets = connection.recv(count - len(received))
        assert octets, f"closed after {len(received)} bytes"
        received += octets
    return bytes(received)


def exchange(address: str, octets: bytes, cuts=()) -> bytes:
    """Sends bytes, split at these offsets, closes the sending side, and returns everything received."""
    with contextlib.closing(connect(address)) as connection:
        # The service may respond and close before it has read everything.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, OSError):
            for start, end in zip([0, *cuts], [*cuts, len(octets)], strict=True):
                connection.sendall(octets[start:end])
            connection.shutdown(socket.SHUT_WR)
        return read_to_end(connection)


class Reader(Connection):
    """Reads responses from a socket."""

    def __init__(self, connection: socket.socket):
        self.socket = connection
        self._buffer = b""


class Received(Connection):
    """Received bytes, with the interface of a socket."""

    def __init__(self, octets: bytes):
        self._buffer = octets

    def _receive(self) -> None:
        raise ConnectionClosed(self._buffer[:200])

    def __bool__(self) -> bool:
        return bool(self._buffer)


def answers(octets: bytes, *methods: str) -> list[Response]:
    """Parses responses, which must be complete and all there is. `methods` are those of the first requests."""
    received, found = Received(octets), []
    while received:
        found.append(received.unchecked_response(methods[len(found)] if len(found) < len(methods) else "GET"))
    return found


def send_to_all(connections: list[socket.socket], octets: bytes, silence: float = 0.5) -> list[int]:
    """Sends as much as each connection accepts, until none has accepted any for this many seconds. Returns how much each
    has accepted.
    """
    taken = dict.fromkeys(connections, 0)
    view = memoryview(octets)
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_WRITE)
        while selector.get_map() and (ready := selector.select(silence)):
            for key, _ in ready:
                connection, at = key.fileobj, taken[key.fileobj]
                try:
                    taken[connection] += connection.send(view[at : at + 256 * KIB])
                except BlockingIOError:
                    continue
                except (BrokenPipeError, ConnectionResetError):
                    selector.unregister(connection)
                    continue
                if taken[connection] == len(octets):
                    selector.unregister(connection)
    return list(taken.values())


class Crowd:
    """Many connections at once, all reset at the end."""

    def __init__(self, address: str, count: int, receive_buffer: int | None = None):
        self.sockets: list[socket.socket] = []
        try:
            for _ in range(count):
                self.sockets.append(connect(address, receive_buffer))
        except BaseException:
            self.leave()
            raise

    def send(self, octets: bytes, silence: float = 0.5) -> list[int]:
        return send_to_all(self.sockets, octets, silence)

    def first_bytes(self, timeout: float = 30) -> list[bytes]:
        """Waits for the next bytes on each connection; empty if the service closes it without a response."""
        found: dict[socket.socket, bytes] = {}
        with selectors.DefaultSelector() as selector:
            for connection in self.sockets:
                connection.setblocking(False)
                selector.register(connection, selectors.EVENT_READ)
            deadline = time.monotonic() + timeout
            while selector.get_map():
                assert time.monotonic() < deadline, f"{len(selector.get_map())} connections have received nothing"
                for key, _ in selector.select(1):
                    try:
                        found[key.fileobj] = key.fileobj.recv(64 * KIB)
                    except ConnectionResetError:
                        found[key.fileobj] = b""
                    selector.unregister(key.fileobj)
        return [found[connection] for connection in self.sockets]

    def leave(self) -> None:
        while self.sockets:
            reset(self.sockets.pop())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()


@contextlib.contextmanager
def many_descriptors():
    """Raises the limit on file descriptors for this process and its children to the maximum, and yields it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        yield hard if hard != resource.RLIM_INFINITY else MIB
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def gauges(service) -> tuple[int, int, int]:
    """Connections, requests in flight, and bytes of incomplete bodies, from the service's metrics."""
    metrics = Metrics(service.admin.get("/metrics").text)
    names = ("assay_connections", "assay_requests_in_flight", "assay_buffered_bytes")
    return tuple(int(metrics.value(name)) for name in names)


def statuses(service) -> dict[int, int]:
    """The number of responses by status, from the service's metrics."""
    metrics = Metrics(service.admin.get("/metrics").text)
    name = "assay_http_requests_total"
    return {int(status): int(metrics.value(name, status=status)) for status in metrics.label_values(name, "status")}
