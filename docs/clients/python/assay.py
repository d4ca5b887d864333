"""Asks Assay whose ID Token it is. Python 3.10 or later, standard library alone."""

import http.client
import json
import socket
import threading
import urllib.parse
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Identity:
    """Who signed in. `(issuer, subject)` is the key under which to store the user."""

    provider: str
    issuer: str
    subject: str
    email: str | None
    email_verified: bool | None
    email_trust: str | None
    is_private_email: bool | None
    name: str | None
    given_name: str | None
    family_name: str | None
    name_source: str | None
    preferred_username: str | None
    picture: str | None
    locale: str | None
    real_user_status: str | None
    transfer_subject: str | None
    tenant: str | None
    hosted_domain: str | None

    @classmethod
    def of(cls, answer: dict) -> "Identity":
        """Raises `KeyError`, `TypeError` or `ValueError` for what is no identity."""
        if not isinstance(answer["issuer"], str) or not isinstance(answer["subject"], str):
            raise ValueError("no identity")
        return cls(**{field.name: answer[field.name] for field in fields(cls)})


@dataclass(frozen=True)
class Verified:
    identity: Identity


@dataclass(frozen=True)
class Refused:
    """Sign nobody in: this token will be refused each time. `claim` is the one missing or invalid."""

    code: str
    claim: str | None
    request_id: str


@dataclass(frozen=True)
class Unavailable:
    """Nobody can say just now; the same request may succeed after so many seconds."""

    retry_after: int


class AssayError(Exception):
    """A mistake of ours or in Assay's configuration (400, 401, 404, …), or a failure of Assay's (500)."""

    def __init__(self, status: int, code: str | None, request_id: str | None):
        super().__init__(f"Assay answered {status} {code}, request {request_id}")
        self.status, self.code, self.request_id = status, code, request_id


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix domain socket."""

    def __init__(self, path: str, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Assay:
    """One for the whole program; each thread keeps a connection of its own."""

    def __init__(self, url: str = "http://127.0.0.1:8080", api_key: str | None = None, timeout: float = 6):
        """`url` may be `unix:/path`. `timeout` is in seconds, a little more than Assay waits for a provider's keys."""
        self._url = urllib.parse.urlsplit(url)
        self._timeout = timeout
        self._headers = {"Content-Type": "application/json"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._thread = threading.local()

    def verify(self, provider: str, id_token: str, nonce: str | None, **more) -> Verified | Refused | Unavailable:
        """Raises `AssayError`. `more`: `audience`, `max_age`, `access_token`, `code`, `user`."""
        request = {"provider": provider, "id_token": id_token, **more}
        if nonce is not None:
            request["nonce"] = nonce
        try:
            status, retry_after, body = self._post(json.dumps(request).encode())
        except (OSError, http.client.HTTPException):
            return Unavailable(retry_after=1)
        if status == 503:
            return Unavailable(int(retry_after or 1))
        try:
            answer = json.loads(body)
            if status == 200:
                return Verified(Identity.of(answer["identity"]))
            code, request_id = answer["code"], answer["request_id"]
            if status == 422:
                return Refused(code, answer.get("claim"), request_id)
        except (ValueError, KeyError, TypeError):
            # Whoever answered, it was not Assay.
            code = request_id = None
        raise AssayError(status, code, request_id)

    def _post(self, body: bytes) -> tuple[int, str | None, bytes]:
        connection = getattr(self._thread, "connection", None)
        if connection is None:
            connection = self._thread.connection = self._connection()
        is_kept = connection.sock is not None
        try:
            return self._exchange(connection, body)
        except ConnectionError:
            if not is_kept:
                raise
            # It was closed while nobody needed it. A token may be asked about twice.
            return self._exchange(connection, body)

    def _exchange(self, connection: http.client.HTTPConnection, body: bytes) -> tuple[int, str | None, bytes]:
        try:
            connection.request("POST", "/v1/verify", body, self._headers)
            response = connection.getresponse()
            return response.status, response.headers["Retry-After"], response.read()
        except BaseException:
            # The next request opens it anew.
            connection.close()
            raise

    def _connection(self) -> http.client.HTTPConnection:
        if self._url.scheme == "unix":
            return UnixConnection(self._url.path, self._timeout)
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        return kind(self._url.hostname, self._url.port, timeout=self._timeout)
