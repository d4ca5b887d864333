"""A real key server on loopback, with discovery documents and JWK Sets of many issuers, distinguished by path.

Its responses can be changed at any time, and it counts requests. A delayed response waits for an event of the test, never
for a sleep.
"""

import contextlib
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from . import tokens


class Document:
    """A URL of the key server: its response, and the number of requests."""

    def __init__(self, body):
        self._condition = threading.Condition()
        self._gate = threading.Event()
        self._gate.set()
        self.count = 0
        self.requests = []
        self.reset(body)

    def reset(self, body) -> None:
        """Resets the status to 200, with this body: a JSON value, bytes, or a function that is called for each response."""
        self.body = body
        self.status = 200
        self.headers = {"Content-Type": "application/json"}

    def hold(self) -> None:
        """From now on, requests are received but not answered until `release`."""
        self._gate.clear()

    def release(self) -> None:
        self._gate.set()

    def wait_for(self, count: int, timeout: float = 10) -> None:
        """Waits until it has received `count` requests in total."""
        with self._condition:
            assert self._condition.wait_for(lambda: self.count >= count, timeout), f"requested {self.count} times"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        with self._condition:
            self.count += 1
            self.requests.append(dict(handler.headers))
            self._condition.notify_all()
        self._gate.wait(30)
        body = self.body() if callable(self.body) else self.body
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(self.status)
        headers = {"Content-Length": str(len(body))} | self.headers
        for name, value in headers.items():
            if value is not None:
                handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)


class Issuer:
    """An OpenID Provider as a verifier sees it."""

    def __init__(self, server: "KeyServer", name: str, keys: list[tokens.Key]):
        self.name = name
        self.url = f"{server.url}/{name}"
        self.keys = keys
        self.discovery = Document(self.discovery_document)
        self.jwks = Document(self.jwk_set)
        server.documents[f"/{name}/.well-known/openid-configuration"] = self.discovery
        server.documents[f"/{name}/keys"] = self.jwks

    @property
    def jwks_uri(self) -> str:
        return self.url + "/keys"

    def discovery_document(self, **members) -> dict:
        return {
            "issuer": self.url,
            "authorization_endpoint": self.url + "/authorize",
            "token_endpoint": self.url + "/token",
            "jwks_uri": self.jwks_uri,
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": sorted({key.default_algorithm for key in self.keys}),
        } | members

    def jwk_set(self) -> dict:
        return {"keys": [key.jwk() for key in self.keys]}

    def claims(self, **claims) -> dict:
        """The claims of a valid token for the audience `client`; `None` removes a claim."""
        now = tokens.now()
        usual = {"iss": self.url, "sub": "user-1", "aud": "client", "exp": now + 600, "iat": now}
        return {name: value for name, value in (usual | claims).items() if value is not None}

    def key(self, kid: str) -> tokens.Key:
        return next(key for key in self.keys if key.kid == kid)

    def token(self, **claims) -> str:
        """A token signed with the first key. Claims as in `claims`."""
        return tokens.jws(self.keys[0], self.claims(**claims))

    def rotate(self, *keys: tokens.Key) -> None:
        """Publishes other keys from now on."""
        self.keys = list(keys)


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True
    # A service fetches the keys of all providers at once. A full queue would drop connection attempts, and the client's
    # kernel retries only after a second.
    request_queue_size = 1024

    def handle_error(self, request, client_address):
        """Ignores clients that disconnect, or that reject the certificate."""


class KeyServer:
    """The HTTP server for all issuers of a test. With a context, it uses TLS."""

    def __init__(self, tls: ssl.SSLContext | None = None):
        self.documents: dict[str, Document] = {}
        self.unexpected: list[str] = []
        documents, unexpected = self.documents, self.unexpected

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                document = documents.get(self.path)
                if document is None:
                    unexpected.append(self.path)
                    self.send_error(404)
                    return
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    document.answer(self)

            def log_message(self, *_):
                pass

        self._server = QuietServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        if tls:
            # The handshake must not block the accepting thread.
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def issuer(self, name: str, *keys: tokens.Key) -> Issuer:
        return Issuer(self, name, list(keys) or [tokens.rsa_key()])

    def document(self, path: str, body) -> Document:
        """Adds a document at any other path."""
        self.documents[path] = Document(body)
        return self.documents[path]

    def close(self) -> None:
        for document in self.documents.values():
            document.release()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
