"""A scripted token endpoint, with revocation, user info and introspection: plays any response or fault, and records what it receives.

    with TokenEndpoint() as endpoint:
        endpoint.play(error("invalid_grant"))          # the next request gets this, later ones a grant
        endpoint.always(FAULTS["silence"].act)         # every request, until `heal`
        assert endpoint.received("/token") == 1

Connections stay open between requests, as with real servers. Each request is read completely before the act runs, except for
faults that are marked as `unread`.
"""

import base64
import contextlib
import dataclasses
import gzip
import json
import os
import socket
import ssl
import threading
import urllib.parse
from collections.abc import Callable

from .fault_table import CHUNKED, HEAD, endless, held, raw, reply, reset_after
from .faults import Exchange

TOKEN, REVOCATION, USER_INFO, INTROSPECTION = "/token", "/revoke", "/userinfo", "/introspect"


class Call(Exchange):
    """A request to an endpoint."""

    def __init__(self, connection: socket.socket, number: int):
        super().__init__(connection, None)
        self.connection_number = number
        self.method: str | None = None
        self.body = b""
        # Whether the request was received completely.
        self.is_whole = False
        # Whether it waits for `release`, which then owns the connection.
        self.is_parked = False

    def read(self) -> bool:
        """Reads the request; returns `False` if the client has closed the connection instead."""
        head = b""
        while b"\r\n\r\n" not in head:
            octets = self.connection.recv(65536)
            if not octets:
                return False
            head += octets
        head, _, self.body = head.partition(b"\r\n\r\n")
        request, *fields = head.decode("latin-1").split("\r\n")
        self.method, self.path = request.split(" ")[:2]
        self.headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        length = int(self.headers.get("content-length", 0))
        while len(self.body) < length:
            octets = self.connection.recv(65536)
            if not octets:
                return True
            self.body += octets
        self.is_whole = True
        return True

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The form's parameters, in order."""
        return urllib.parse.parse_qsl(self.body.decode(), keep_blank_values=True, strict_parsing=bool(self.body))

    @property
    def form(self) -> dict[str, str]:
        """The form's parameters by name. Asserts that none is duplicated."""
        parameters = self.parameters
        assert len({name for name, _ in parameters}) == len(parameters), parameters
        return dict(parameters)

    @property
    def basic(self) -> tuple[str, str] | None:
        """The client's ID and secret from HTTP Basic, decoded as in RFC 6749, section 2.3.1."""
        scheme, _, credentials = self.headers.get("authorization", "").partition(" ")
        if scheme != "Basic":
            return None
        id, _, secret = base64.b64decode(credentials).decode().partition(":")
        return urllib.parse.unquote_plus(id), urllib.parse.unquote_plus(secret)


class TokenEndpoint:
    """The endpoints of one provider, on their own port."""

    def __init__(self, tls: ssl.SSLContext | None = None):
        self.calls: list[Call] = []
        self.connections = 0
        self._tls = tls
        self._scripts: dict[str, list[Callable]] = {}
        self._always: dict[str, Callable] = {}
        self._choice: Callable[[Call], Callable | None] = lambda call: None
        self._usual: dict[str, Callable] = {
            TOKEN: grant(), REVOCATION: answered(b""),
            USER_INFO: answered({"sub": "user-1"}), INTROSPECTION: answered({"active": False}),
        }
        self._open: set[socket.socket] = set()
        # Calls that are being answered.
        self._answering: set[socket.socket] = set()
        # Calls that wait for `release`, without a thread each.
        self._parked: list[Call] = []
        self._condition = threading.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    # For tests.

    @property
    def endpoints(self) -> dict[str, str]:
        """The value of the provider's setting `endpoints`."""
        return {"token": self.url + TOKEN, "revocation": self.url + REVOCATION, "user_info": self.url + USER_INFO}

    def usually(self, act: Callable, path: str = TOKEN) -> None:
        """The act for requests without a script."""
        self._usual[path] = act

    def play(self, *acts: Callable, path: str = TOKEN) -> None:
        """Scripts the next requests, one act each."""
        with self._condition:
            self._scripts.setdefault(path, []).extend(acts)

    def always(self, act: Callable, path: str = TOKEN) -> None:
        """Scripts every request until `heal`."""
        self._always[path] = act

    def choose(self, choice: Callable[[Call], Callable | None]) -> None:
        """Scripts every request until `heal` by a function that returns its act."""
        self._choice = choice

    def heal(self) -> None:
        """Removes the script and ends held requests. Keeps idle connections open, since a client that has not yet noticed
        a close would lose its next request."""
        with self._condition:
            self._scripts.clear()
            self._always.clear()
            self._choice = lambda call: None
        self._close(self._answering)

    def release(self, body: Callable[[Call], bytes]) -> None:
        """Answers the calls that `parked` holds, one after the other, and closes their connections."""
        with self._condition:
            calls, self._parked = self._parked, []
        for call in calls:
            with contextlib.suppress(OSError), call.connection:
                call.answer(body(call), headers={"Connection": "close"})
            self._open.discard(call.connection)

    def forget(self) -> None:
        """Forgets the requests so far."""
        with self._condition:
            self.calls.clear()

    def to(self, path: str = TOKEN) -> list[Call]:
        """The requests to an endpoint."""
        return [call for call in self.calls if call.path == path]

    def received(self, path: str = TOKEN) -> int:
        """The number of requests of which any byte was received."""
        return len(self.to(path))

    def last(self, path: str = TOKEN) -> Call:
        return self.to(path)[-1]

    def wait_for(self, condition: Callable[[], bool], timeout: float = 30) -> None:
        with self._condition:
            assert self._condition.wait_for(condition, timeout), f"{len(self.calls)} calls, to {sorted({call.path for call in self.calls})}"

    def close_connections(self) -> None:
        """Closes all connections, including idle ones."""
        self._close(self._open)

    def _close(self, connections: set[socket.socket]) -> None:
        for connection in list(connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def refuse_connections(self) -> None:
        """Stops listening permanently, so that connections are refused."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.close_connections()

    # Serving.

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._condition:
                self.connections += 1
                number = self.connections
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            self._open.add(connection)
            while self._answer(call := Call(connection, number)):
                pass
            if call.is_parked:
                return
        self._open.discard(connection)
        with contextlib.suppress(OSError):
            connection.close()

    def _answer(self, call: Call) -> bool:
        """Answers one request; returns whether the connection stays open."""
        if not call.read():
            return False
        with self._condition:
            self.calls.append(call)
            script = self._scripts.get(call.path)
            always = self._choice(call) or self._always.get(call.path) or self._usual.get(call.path)
            act = script.pop(0) if script else always
            if act is parked:
                call.is_parked = True
                self._parked.append(call)
            self._condition.notify_all()
        if call.is_parked:
            return False
        if act is None:
            call.answer(b"", "404 Not Found")
            return True
        self._answering.add(call.connection)
        try:
            act(call)
        finally:
            self._answering.discard(call.connection)
        # After a complete response, the connection stays open.
        return getattr(act, "keeps", False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.refuse_connections()


# Acts that respond.


def parked(call: Call) -> None:
    """Holds the call until `TokenEndpoint.release`. A thousand threads that wake at once would starve the service of a machine with two
    cores."""


def answered(body, status: str = "200 OK", headers: dict | None = None) -> Callable:
    """Sends a well-formed response: a JSON value, bytes, or a function of the call. Keeps the connection open."""

    def act(call: Call) -> None:
        made = body(call) if callable(body) else body
        call.answer(made if isinstance(made, bytes) else json.dumps(made).encode(), status, headers)

    act.keeps = True
    return act


GRANT = {"access_token": "an access token", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "a refresh token"}


def grant(status: str = "200 OK", headers: dict | None = None, **members) -> Callable:
    """Sends a grant with other members. `None` removes one, and a function is called with the request."""

    def body(call: Call) -> dict:
        made = {name: value(call) if callable(value) else value for name, value in (GRANT | members).items()}
        return {name: value for name, value in made.items() if value is not None}

    return answered(body, status, {"Cache-Control": "no-store"} | (headers or {}))


def error(name, status: str = "400 Bad Request", headers: dict | None = None, **members) -> Callable:
    """Sends an error of OAuth 2.0 (RFC 6749, section 5.2)."""
    return answered({"error": name} | members, status, headers)


# Responses, and what they mean.


@dataclasses.dataclass(frozen=True)
class Row:
    """A response or fault of a token endpoint, and the problem code that it becomes; `None` for a grant."""

    act: Callable
    code: str | None
    # The response's `error`, if the problem passes it on.
    error: str | None = None
    # Whether it lasts until the service's timeout.
    slow: bool = False
    # The problem's `Retry-After`, in seconds.
    retry_after: int | None = None


INVALID, UNAVAILABLE = "provider_answer_invalid", "provider_unavailable"

# Registered errors and others, with the problem codes that they become.
ERRORS = {
    "invalid_grant": "grant_invalid",
    "invalid_client": "client_rejected",
    "unauthorized_client": "client_rejected",
    "invalid_request": "provider_refused",
    "unsupported_grant_type": "provider_refused",
    "invalid_scope": "provider_refused",
    "invalid_target": "provider_refused",
    "slow_down": "provider_refused",
    "made_up_here": "provider_refused",
}

ROWS = {
    "a grant": Row(grant(), None),
    "a grant without a refresh token": Row(grant(refresh_token=None), None),
    "a grant with unknown members": Row(grant(more={"a": [1.5, None]}, not_before_policy=0), None),
    "a grant of another media type": Row(grant(headers={"Content-Type": "text/plain"}), None),
    "token_type in small letters": Row(grant(token_type="bearer"), None),
    "expires_in as text": Row(grant(expires_in="3600"), None),
    "expires_in null": Row(grant(expires_in=None), None),
    "expires_in negative": Row(grant(expires_in=-1), None),
    "expires_in beyond 64 bits": Row(grant(expires_in=10**20), None),
    "expires_in no number": Row(grant(expires_in="soon"), None),
    "error null beside a grant": Row(answered(GRANT | {"error": None}), None),
    **{f"error {name}": Row(error(name), code, name) for name, code in ERRORS.items()},
    "invalid_client with 401": Row(
        error("invalid_client", "401 Unauthorized", {"WWW-Authenticate": "Basic"}), "client_rejected", "invalid_client"
    ),
    "an error with status 200": Row(error("invalid_grant", "200 OK"), "grant_invalid", "invalid_grant"),
    "an error beside a grant": Row(answered(GRANT | {"error": "invalid_grant"}), "grant_invalid", "invalid_grant"),
    "an error that is no text": Row(error(7), "provider_refused", "other"),
    "status 429": Row(answered({"error": "invalid_grant"}, "429 Too Many Requests"), UNAVAILABLE, retry_after=2),
    "status 429 for half a minute": Row(
        answered({}, "429 Too Many Requests", {"Retry-After": "30"}), UNAVAILABLE, retry_after=30
    ),
    "status 429 for a day": Row(
        answered({}, "429 Too Many Requests", {"Retry-After": "86400"}), UNAVAILABLE, retry_after=60
    ),
    "status 500": Row(answered({"error": "invalid_grant"}, "500 Internal Server Error"), UNAVAILABLE),
    "status 502 with a page": Row(answered(b"<html>", "502 Bad Gateway", {"Content-Type": "text/html"}), UNAVAILABLE),
    "status 503": Row(answered(b"", "503 Service Unavailable", {"Retry-After": "5"}), UNAVAILABLE, retry_after=5),
    "status 302": Row(answered(b"", "302 Found", {"Location": "/token"}), INVALID),
    "status 307": Row(answered(b"", "307 Temporary Redirect", {"Location": "/token"}), INVALID),
    "status 204": Row(answered(b"", "204 No Content", {"Content-Length": None}), INVALID),
    "status 404": Row(answered(b"", "404 Not Found"), INVALID),
    "status 401 without a body": Row(answered(b"", "401 Unauthorized"), INVALID),
    "status 201 with a grant": Row(grant("201 Created"), INVALID),
    "status 400 without error": Row(answered({}, "400 Bad Request"), INVALID),
    "no body": Row(answered(b""), INVALID),
    "an empty object": Row(answered({}), INVALID),
    "an array": Row(answered([GRANT]), INVALID),
    "a form": Row(answered(b"access_token=a&token_type=bearer"), INVALID),
    "a page": Row(answered(b"<html>", headers={"Content-Type": "text/html"}), INVALID),
    "duplicate members": Row(answered(b'{"access_token":"a","access_token":"b","token_type":"Bearer"}'), INVALID),
    "bad UTF-8": Row(answered(b'{"access_token":"\xff","token_type":"Bearer"}'), INVALID),
    "trailing bytes": Row(answered(json.dumps(GRANT).encode() + b"x"), INVALID),
    "ten thousand levels": Row(answered(b'{"a":' + b"[" * 10_000), INVALID),
    "a body over 64 KiB": Row(grant(padding="x" * (64 << 10)), INVALID),
    "a content coding": Row(
        answered(lambda _: gzip.compress(json.dumps(GRANT).encode()), headers={"Content-Encoding": "gzip"}), INVALID
    ),
    **{
        f"{name} {'missing' if value is None else 'no text'}": Row(grant(**{name: value}), INVALID)
        for name in ("access_token", "token_type")
        for value in (None, 1)
    },
    **{f"{name} no text": Row(grant(**{name: {}}), INVALID) for name in ("refresh_token", "id_token", "scope")},
}


def sized(call: Exchange, difference: int = 0) -> bytes:
    body = json.dumps(GRANT).encode()
    return HEAD + b"Content-Length: %d\r\n\r\n" % (len(body) + difference) + body


def endlessly(call: Exchange) -> None:
    """Sends a complete head, and then one byte after the other, until the timeout of the whole call."""
    call.send(HEAD + b"Content-Length: 65536\r\n\r\n")
    call.drip(b" " * 65536)


def sending(octets) -> Callable:
    """Sends these octets, or a function of the call, and closes the connection."""
    return lambda call: call.send(octets(call) if callable(octets) else octets)


# Faults after the request was sent. It is unknown whether the provider has acted on it.
FAULTS = {
    "closed without an answer": Row(sending(b""), UNAVAILABLE),
    "reset without an answer": Row(reset_after(b""), UNAVAILABLE),
    "silence": Row(held(), UNAVAILABLE, slow=True),
    "half a head": Row(sending(HEAD), UNAVAILABLE),
    "half a head then silence": Row(held(HEAD), UNAVAILABLE, slow=True),
    "reset within the head": Row(reset_after(HEAD), UNAVAILABLE),
    "reset within the body": Row(lambda call: (call.send(sized(call, 20)), call.reset()), UNAVAILABLE),
    "body shorter than said": Row(sending(lambda call: sized(call, 100)), UNAVAILABLE),
    "body shorter than said then silence": Row(
        lambda call: (call.send(sized(call, 100)), call.hold()), UNAVAILABLE, slow=True
    ),
    "chunks without an end": Row(sending(CHUNKED + b"2\r\n{}\r\n"), UNAVAILABLE),
    "chunks then silence": Row(held(CHUNKED + b"2\r\n{}\r\n"), UNAVAILABLE, slow=True),
    "dripping head": Row(lambda call: call.drip(HEAD + b"X: " + b"x" * 10_000), UNAVAILABLE, slow=True),
    "dripping body": Row(lambda call: call.drip(sized(call)), UNAVAILABLE, slow=True),
    "garbage": Row(raw(lambda _: b"\x16\x03" + os.urandom(4096)), INVALID),
    "HTTP 0.9": Row(raw(lambda _: json.dumps(GRANT).encode()), INVALID),
    "HTTP 2": Row(raw(bytes.fromhex("000012040000000000000300000064")), INVALID),
    "no status": Row(raw(b"HTTP/1.1 OK\r\n\r\n{}"), INVALID),
    "status of four digits": Row(raw(b"HTTP/1.1 2000 OK\r\n\r\n{}"), INVALID),
    "a header without a name": Row(raw(HEAD + b": x\r\n\r\n{}"), INVALID),
    "a NUL in a header": Row(raw(HEAD + b"X: \0\r\n\r\n{}"), INVALID),
    "two lengths": Row(raw(HEAD + b"Content-Length: 9\r\nContent-Length: 2\r\n\r\n{}"), INVALID),
    "negative length": Row(raw(HEAD + b"Content-Length: -1\r\n\r\n{}"), INVALID),
    "length beyond 64 bits": Row(raw(HEAD + b"Content-Length: 99999999999999999999\r\n\r\n{}"), INVALID),
    "chunk size no number": Row(raw(CHUNKED + b"zz\r\n{}"), INVALID),
    "endless headers": Row(endless(HEAD, (b"X-Filler: " + b"x" * 1000 + b"\r\n") * 64), INVALID),
    "endless header": Row(endless(HEAD + b"X-Filler: ", b"x" * 65536), INVALID),
    "endless body": Row(endless(HEAD + b"\r\n", b" " * 65536), INVALID),
    "endless chunks": Row(endless(CHUNKED, b"1\r\n \r\n" * 4096), INVALID),
    "endless continues": Row(endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2000), INVALID),
    "switching protocols": Row(
        reply(b"", "101 Switching Protocols", {"Upgrade": "h2c", "Connection": "Upgrade", "Content-Length": None}), INVALID
    ),
}

# Responses of the other endpoints. The code `None` is a success.
REVOCATION_ROWS = {
    "status 200 without a body": Row(answered(b""), None),
    "status 200 with an object": Row(answered({}), None),
    "status 200 with a page": Row(answered(b"<html>", headers={"Content-Type": "text/html"}), None),
    "status 204": Row(answered(b"", "204 No Content", {"Content-Length": None}), None),
    "a token that is already invalid": Row(error("invalid_token"), None),
    "a kind of token that it does not revoke": Row(
        error("unsupported_token_type"), "provider_refused", "unsupported_token_type"
    ),
    "a wrong client": Row(error("invalid_client", "401 Unauthorized"), "client_rejected", "invalid_client"),
    "a token of another client": Row(error("invalid_grant"), "grant_invalid", "invalid_grant"),
    "an error with status 200": Row(error("invalid_client", "200 OK"), "client_rejected", "invalid_client"),
    "status 400 without error": Row(answered({}, "400 Bad Request"), INVALID),
    "status 404": Row(answered(b"", "404 Not Found"), INVALID),
    "status 302": Row(answered(b"", "302 Found", {"Location": "/revoke"}), INVALID),
    "status 429": Row(answered(b"", "429 Too Many Requests"), UNAVAILABLE),
    "status 500": Row(answered(b"", "500 Internal Server Error"), UNAVAILABLE),
    "status 503": Row(answered(b"", "503 Service Unavailable", {"Retry-After": "2"}), UNAVAILABLE),
}

# The `sub` of the ID Token is `user-1`.
USER_INFO_ROWS = {
    "the user": Row(answered({"sub": "user-1", "email": "ada@example.com", "email_verified": True}), None),
    "no sub": Row(answered({"email": "ada@example.com"}), INVALID),
    "another sub": Row(answered({"sub": "user-2", "email": "eve@example.com"}), INVALID),
    "sub no text": Row(answered({"sub": 1}), INVALID),
    "sub twice": Row(answered(b'{"sub":"user-1","sub":"user-1"}'), INVALID),
    "an array": Row(answered([{"sub": "user-1"}]), INVALID),
    "a signed answer": Row(answered(b"e30.e30.AA", headers={"Content-Type": "application/jwt"}), INVALID),
    "a page": Row(answered(b"<html>", headers={"Content-Type": "text/html"}), INVALID),
    "status 401": Row(answered(b"", "401 Unauthorized", {"WWW-Authenticate": "Bearer"}), INVALID),
    "a token that it does not accept": Row(
        answered({"error": "invalid_token"}, "401 Unauthorized", {"WWW-Authenticate": "Bearer"}), "provider_refused", "invalid_token"
    ),
    "an error with status 200": Row(error("invalid_token", "200 OK"), "provider_refused", "invalid_token"),
    "status 403": Row(answered({}, "403 Forbidden"), INVALID),
    "status 404": Row(answered(b"", "404 Not Found"), INVALID),
    "status 302": Row(answered(b"", "302 Found", {"Location": "/userinfo"}), INVALID),
    "status 429": Row(answered(b"", "429 Too Many Requests"), UNAVAILABLE),
    "status 500": Row(answered({"sub": "user-1"}, "500 Internal Server Error"), UNAVAILABLE),
    "status 503": Row(answered(b"", "503 Service Unavailable"), UNAVAILABLE),
}
