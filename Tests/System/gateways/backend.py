"""The backend behind a gateway. It records requests exactly as they arrive, with trailers, and accepts every tunnel."""

import dataclasses
import re
import socketserver
import threading

Fields = list[tuple[str, str]]


@dataclasses.dataclass(frozen=True)
class Received:
    method: str
    target: str
    headers: Fields
    body: bytes
    trailers: Fields

    def values(self, name: str) -> list[str]:
        """The values of a header and of all names that CGI, WSGI, PHP and others can't distinguish from it."""
        return [value for field, value in self.headers if twin(field) == twin(name)]


def twin(name: str) -> str:
    return re.sub("[^a-z0-9]", "-", name.lower())


class Backend:
    """Answers every request with an empty 200, as Assay does when it allows a request."""

    def __init__(self):
        self.received: list[Received] = []
        self.connections = 0
        # Data that arrived in tunnels.
        self.tunnelled = b""
        self._server = _Server(("127.0.0.1", 0), _Conversation)
        self._server.backend = self
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 512
    backend: Backend

    def handle_error(self, request, client_address):
        """A gateway may close its connections at any time."""


class _Conversation(socketserver.StreamRequestHandler):
    """HTTP/1.1 on one connection, until it is closed."""

    server: _Server
    disable_nagle_algorithm = True

    def handle(self):
        self.server.backend.connections += 1
        while line := self.rfile.readline():
            method, target, _ = line.decode("latin-1").split(" ")
            headers = self._fields()
            body, trailers = self._body(headers)
            self.server.backend.received.append(Received(method, target, headers, body, trailers))
            if method == "CONNECT":
                return self._tunnel("200 Connection established")
            if upgrade := dict((name.lower(), value) for name, value in headers).get("upgrade"):
                return self._tunnel(f"101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: {upgrade}")
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    def _tunnel(self, answer: str) -> None:
        self.wfile.write(f"HTTP/1.1 {answer}\r\n\r\n".encode("latin-1"))
        while octets := self.rfile.read1(65536):
            self.server.backend.tunnelled += octets

    def _fields(self) -> Fields:
        found = []
        while (line := self.rfile.readline()).strip():
            name, _, value = line.decode("latin-1").partition(":")
            found.append((name, value.strip()))
        return found

    def _body(self, headers: Fields) -> tuple[bytes, Fields]:
        fields = {name.lower(): value for name, value in headers}
        if fields.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            return body, self._fields()
        return self.rfile.read(int(fields.get("content-length", "0"))), []
