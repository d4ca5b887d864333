"""Open-loop callers: they send requests at a fixed rate, whether answered or not, and give up after a timeout. Each request
in flight has its own connection.
"""

import collections
import selectors
import socket
import threading
import time


class Surge:
    """Sends requests at a rate, and reuses connections once their request is answered.

    With a rate of `None`, each of `connections` sends one request after the other, as fast as the service answers.
    """

    def __init__(self, address: str, request: bytes, patience: float = 1.0, connections: int = 2000):
        host, port = address.rsplit(":", 1)
        self._address = (host, int(port))
        self._request = request
        self._patience = patience
        self._most = connections
        self._selector = selectors.EpollSelector()
        self._idle: list[socket.socket] = []
        # In the order of sending, which is also that of the timeouts.
        self._waiting: dict[socket.socket, float] = {}
        self._partial: dict[socket.socket, bytes] = {}
        self.seconds = 0.0
        self.statuses: collections.Counter[int] = collections.Counter()
        # Latencies of requests answered with 200, in seconds.
        self.latencies: list[float] = []
        self.given_up = 0
        # Requests whose connection failed or was closed before the response.
        self.lost = 0

    @property
    def accepted_a_second(self) -> float:
        return self.statuses[200] / self.seconds

    def latency(self, share: float) -> float:
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def run(
        self,
        seconds: float,
        rate: float | None = None,
        closes: bool = True,
        until: threading.Event | None = None,
    ) -> "Surge":
        """Sends requests for some seconds, with new counts. Without `closes`, the next run reuses the connections."""
        self.statuses.clear()
        self.latencies.clear()
        self.given_up = self.lost = 0
        began = now = time.perf_counter()
        sent = 0
        while now < began + seconds and not (until and until.is_set()):
            due = len(self._waiting) < self._most if rate is None else sent < (now - began) * rate
            while due and self._send(now):
                sent += 1
                due = len(self._waiting) < self._most if rate is None else sent < (now - began) * rate
            if due and rate is not None:
                # Too many requests are in flight, so this one is not sent.
                sent += 1
            # Busy-waits at any rate. If two processors share a core, the service would otherwise run faster while this
            # one is idle, which would favor a few callers over a crowd.
            for key, _ in self._selector.select(0):
                self._receive(key.fileobj)
            now = time.perf_counter()
            self._give_up(now)
        self.seconds = now - began
        if not closes:
            return self
        for connection in [*self._idle, *self._waiting]:
            connection.close()
        self._selector.close()
        return self

    def _send(self, now: float) -> bool:
        if self._idle:
            connection = self._idle.pop()
        elif len(self._waiting) < self._most:
            try:
                connection = socket.create_connection(self._address)
            except OSError:
                self.lost += 1
                return True
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(connection, selectors.EVENT_READ)
        else:
            return False
        try:
            connection.sendall(self._request)
        except OSError:
            self.lost += 1
            self._close(connection)
            return True
        self._waiting[connection] = now
        self._partial[connection] = b""
        return True

    def _receive(self, connection: socket.socket) -> None:
        try:
            octets = connection.recv(65536)
        except OSError:
            octets = b""
        if not octets or connection not in self._waiting:
            self.lost += connection in self._waiting
            return self._close(connection)
        answer = self._partial[connection] + octets
        head, end, body = answer.partition(b"\r\n\r\n")
        fields = head.lower()
        if not end or len(body) < int(fields.partition(b"content-length:")[2].split(b"\r\n")[0]):
            self._partial[connection] = answer
            return None
        status = int(answer[9:12])
        self.statuses[status] += 1
        if status == 200:
            self.latencies.append(time.perf_counter() - self._waiting[connection])
        del self._waiting[connection]
        if b"\r\nconnection: close" in fields:
            return self._close(connection)
        return self._idle.append(connection)

    def _give_up(self, now: float) -> None:
        while self._waiting:
            connection = next(iter(self._waiting))
            if self._waiting[connection] + self._patience > now:
                return
            self.given_up += 1
            self._close(connection)

    def _close(self, connection: socket.socket) -> None:
        self._waiting.pop(connection, None)
        if connection in self._idle:
            self._idle.remove(connection)
        self._selector.unregister(connection)
        connection.close()
