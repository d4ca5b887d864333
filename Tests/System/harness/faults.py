"""A key server that misbehaves on purpose: raw sockets, one port per issuer, one fault at a time.

A fault is a function of one exchange. It may write anything, and may wait for the client to leave. Healing ends every held
exchange, so tests never have to wait for the end of a fault.
"""

import contextlib
import dataclasses
import json
import select
import socket
import struct
import threading
from collections.abc import Callable

from . import tokens
from .issuer import Issuer


@dataclasses.dataclass(frozen=True)
class Fault:
    """A kind of misbehavior."""

    act: Callable
    # What it affects: requests for "keys" or "discovery", every "connection" before its request is read, or the
    # "listener" itself. `act` receives the exchange, or for "listener" the server.
    at: str = "keys"
    # The effect: the response is "refused", is unusual but "read", or "omits" a key in use.
    effect: str = "refused"
    # Whether it lasts until the service's timeout.
    slow: bool = False
    # The maximum number of connections per fetch.
    connections: int = 1
    # The phase of the fetch in which the service reports the failure.
    phases: tuple[str, ...] = ("http",)
    # The minimum and maximum number of seconds until the next scheduled fetch.
    put_off: tuple[int, int] = (0, 300)


class Exchange:
    """A client's connection."""

    def __init__(self, connection: socket.socket, fault: Fault | None):
        self.connection = connection
        self.fault = fault
        self.path: str | None = None
        self.headers: dict[str, str] = {}
        # The body of the honest response.
        self.good = b""
        self.sent = 0
        self.is_healed = False

    def read_head(self) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            octets = self.connection.recv(65536)
            if not octets:
                raise ConnectionResetError
            head += octets
        request, *fields = head.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        self.path = request.split(" ")[1]
        self.headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}

    def send(self, octets: bytes) -> None:
        view = memoryview(octets)
        while view:
            count = self.connection.send(view)
            self.sent += count
            view = view[count:]

    def answer(self, body: bytes | None = None, status: str = "200 OK", headers: dict | None = None) -> None:
        """Sends a complete response, by default the honest one. A header that is `None` is omitted."""
        body = self.good if body is None else body
        fields = {"Content-Type": "application/json", "Content-Length": str(len(body))} | (headers or {})
        lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
        self.send("\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode("latin-1") + body)

    def hold(self) -> None:
        """Sends nothing more until the client leaves."""
        while self.connection.recv(65536):
            pass

    def drip(self, octets: bytes, size: int = 1, pause: float = 0.1) -> None:
        """Sends a little at a time until the client leaves."""
        # Unlike select(), it takes file descriptors beyond 1023.
        poll = select.poll()
        poll.register(self.connection, select.POLLIN)
        for start in range(0, len(octets), size):
            self.send(octets[start : start + size])
            if poll.poll(pause * 1000):
                return
        self.hold()

    def reset(self) -> None:
        """Closes the connection with RST instead of FIN."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def has_left(self) -> bool:
        """Whether the client has closed its side, even with unread data."""
        try:
            poll = select.poll()
            poll.register(self.connection, select.POLLRDHUP)
            return bool(poll.poll(0))
        except (OSError, ValueError):
            return True

    def heal(self) -> None:
        self.is_healed = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


class FaultServer:
    """An issuer's key server, which is honest until it is told to misbehave."""

    def __init__(self, name: str, *keys: tokens.Key, host: str = "127.0.0.1"):
        self.documents = {}
        self.fault: Fault | None = None
        self.connections = 0
        # The maximum number of concurrent exchanges.
        self.most_at_once = 0
        # The maximum number of bytes sent in one exchange.
        self.most_sent = 0
        # The number of a fault's exchanges that clients have ended.
        self.given_up = 0
        self.requests: list[Exchange] = []
        self._open: list[Exchange] = []
        self._condition = threading.Condition()
        self._fillers: list[socket.socket] = []
        self._accepting: threading.Thread | None = None
        self._listener = self._bound((host, 0))
        self.host, self.port = self._listener.getsockname()
        self.url = f"http://{self.host}:{self.port}"
        self.issuer = Issuer(self, name, list(keys))
        self._accept_connections()

    # For tests.

    def misbehave(self, fault: Fault) -> None:
        with self._condition:
            self.fault = fault
        if fault.at == "listener":
            fault.act(self)

    def heal(self, *keys: tokens.Key) -> None:
        """Becomes honest again, ends held exchanges, and publishes these keys, if any."""
        if keys:
            self.issuer.rotate(*keys)
        with self._condition:
            fault, self.fault = self.fault, None
            for exchange in self._open:
                if exchange.fault:
                    exchange.heal()
        if fault and fault.at == "listener":
            for filler in self._fillers:
                filler.close()
            self._fillers = []
            self._accept_connections()

    def holds(self) -> bool:
        """Whether a client is waiting for a fault to end."""
        with self._condition:
            return any(exchange.fault and not exchange.has_left() for exchange in self._open)

    def wait_for(self, condition: Callable[[], bool], timeout: float = 30) -> None:
        """Waits for a condition on the counts."""
        with self._condition:
            assert self._condition.wait_for(condition, timeout), vars(self)

    def asked(self, path: str) -> list[Exchange]:
        """The requests whose path has this suffix."""
        return [request for request in self.requests if request.path.endswith(path)]

    # faults of the listener

    def refuse(self) -> None:
        """Keeps the port, but does not listen."""
        self._stop_accepting()

    def clog(self) -> None:
        """Listens with a full queue, so that connection attempts get no answer."""
        self._stop_accepting()
        self._listener.listen(0)
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex((self.host, self.port))
            self._fillers.append(filler)

    # serving

    @staticmethod
    def _bound(address: tuple[str, int]) -> socket.socket:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        return listener

    def _accept_connections(self) -> None:
        self._listener.listen(64)
        self._accepting = threading.Thread(target=self._accept, args=(self._listener,), daemon=True)
        self._accepting.start()

    def _stop_accepting(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self._listener.close()
        self._listener = self._bound((self.host, self.port))

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with self._condition:
                exchange = Exchange(connection, self.fault)
                self.connections += 1
                self._open.append(exchange)
                under_way = sum(not other.has_left() for other in self._open)
                self.most_at_once = max(self.most_at_once, under_way)
                self._condition.notify_all()
            threading.Thread(target=self._serve, args=(exchange,), daemon=True).start()

    def _serve(self, exchange: Exchange) -> None:
        with contextlib.suppress(OSError):
            self._answer(exchange)
            exchange.connection.shutdown(socket.SHUT_WR)
            exchange.hold()
        with self._condition:
            self._open.remove(exchange)
            self.most_sent = max(self.most_sent, exchange.sent)
            self.given_up += exchange.fault is not None and not exchange.is_healed
            self._condition.notify_all()
        exchange.connection.close()

    def _answer(self, exchange: Exchange) -> None:
        if exchange.fault and exchange.fault.at == "connection":
            return exchange.fault.act(exchange)
        exchange.read_head()
        with self._condition:
            self.requests.append(exchange)
            self._condition.notify_all()
        document = self.documents.get(exchange.path.partition("?")[0])
        if document is None:
            return exchange.answer(b"", "404 Not Found")
        body = document.body() if callable(document.body) else document.body
        exchange.good = body if isinstance(body, bytes) else json.dumps(body).encode()
        if exchange.fault and document is {"keys": self.issuer.jwks, "discovery": self.issuer.discovery}.get(
            exchange.fault.at
        ):
            return exchange.fault.act(exchange)
        return exchange.answer(headers=document.headers)

    def close(self) -> None:
        self.heal()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._condition:
            for exchange in self._open:
                exchange.heal()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
