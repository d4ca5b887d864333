"""A provider's JWKS endpoint on loopback."""

import http.server
import threading

import mint


class KeyServer:
    """Serves a JWK Set under every path. If it `changes`, every other response has one more key, so that each fetch finds
    a new set."""

    def __init__(self, keys: list[dict], changes: bool = False):
        extra = mint.Key("ES256", "now-and-then").jwk
        answers = [mint.compact({"keys": keys}), mint.compact({"keys": [*keys, extra]} if changes else {"keys": keys})]

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            served = 0

            def do_GET(self) -> None:
                body = answers[Handler.served % 2]
                Handler.served += 1
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 4096
            daemon_threads = True

        self._handler = Handler
        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/keys"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def served(self) -> int:
        return self._handler.served

    def __enter__(self) -> "KeyServer":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
