"""A forward proxy for TLS: answers CONNECT, then relays bytes both ways."""

import socket
import threading


class Proxy:
    """Counts requested tunnels by target."""

    def __init__(self):
        self.targets: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            octets = client.recv(4096)
            if not octets:
                return
            head += octets
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        self.targets.append(target)
        if method != "CONNECT":
            client.sendall(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
            return
        host, port = target.rsplit(":", 1)
        server = socket.create_connection((host, int(port)))
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        threading.Thread(target=self._carry, args=(server, client), daemon=True).start()
        self._carry(client, server)

    @staticmethod
    def _carry(source: socket.socket, sink: socket.socket) -> None:
        try:
            while octets := source.recv(65536):
                sink.sendall(octets)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()
