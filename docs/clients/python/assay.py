"""Signs users in with Assay. Python 3.10 or later, standard library only."""

import contextlib
import http.client
import json
import socket
import threading
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field, fields


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
    # Only for a provider with `issuers: any`. Store its users under (connection, issuer, subject).
    connection: str | None = None

    @classmethod
    def of(cls, answer: dict) -> "Identity":
        """Raises `KeyError`, `TypeError` or `ValueError` if it is not an identity."""
        if not isinstance(answer["issuer"], str) or not isinstance(answer["subject"], str):
            raise ValueError("no identity")
        return cls(**{each.name: answer[each.name] for each in fields(cls) if each.name != "connection"}, connection=answer.get("connection"))


@dataclass(frozen=True)
class BegunSignIn:
    """A sign-in to be finished before `expires_at` (Unix seconds). The app gives the provider `nonce_sha256` or `nonce`.

    `sign_in` stays with this one app or browser, in the app's memory or in a `__Host-` cookie. Never log it, put it into a
    URL, or look it up by a value from a request.
    """

    sign_in: str = field(repr=False)
    nonce: str = field(repr=False)
    nonce_sha256: str
    expires_at: int


@dataclass(frozen=True)
class BegunBrowserSignIn:
    """A sign-in to be finished before `expires_at` (Unix seconds). Redirect the browser to `authorization_url`.

    `sign_in` stays with this one browser, in a `__Host-` cookie whose name ends in `state`. Never log it or put it into a URL.
    """

    sign_in: str = field(repr=False)
    state: str = field(repr=False)
    authorization_url: str = field(repr=False)
    expires_at: int


@dataclass(frozen=True)
class Grant:
    """The provider's tokens, for the backend only: never log them, or send them to an app or a page.

    Store a refresh token with the provider, audience, issuer and subject of its sign-in. If `refresh_token` is `None` after
    a refresh, the old one stays valid. If `scopes` is `None`, the provider granted those that were requested.
    """

    access_token: str = field(repr=False)
    token_type: str
    expires_at: int | None
    refresh_token: str | None = field(repr=False)
    scopes: list[str] | None
    id_token: str | None = field(repr=False)
    # Only of clients with `sender_constraint: dpop`: store the latest beside the refresh token.
    binding: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, answer: dict) -> "Grant":
        """Raises `KeyError`, `TypeError` or `ValueError` if it is not a grant."""
        if not isinstance(answer["access_token"], str):
            raise ValueError("not a grant")
        return cls(**{each.name: answer[each.name] for each in fields(cls) if each.name != "binding"}, binding=answer.get("binding"))


@dataclass(frozen=True)
class FinishedSignIn:
    """Sign this user in. `context` is the begin call's; `grant` is set if a code was exchanged."""

    identity: Identity
    context: str | None
    grant: Grant | None


@dataclass(frozen=True)
class Refreshed:
    """Store the new refresh token, if there is one, before anything else: the old one may be used up.

    `identity` is `None` if the provider sent no ID Token, or if Assay has no keys to verify it: then `problem` is
    `keys_unavailable`.
    """

    grant: Grant
    identity: Identity | None
    problem: str | None


@dataclass(frozen=True)
class Event:
    """What happened. `subject` is the user's, as in `Identity`; `data` has the rest of the event."""

    type: str
    subject: str | None
    session_id: str | None
    email: str | None
    is_private_email: bool | None
    occurred_at: int | None
    reason: str | None
    data: dict


@dataclass(frozen=True)
class Notification:
    """A verified notification. `(provider, id)` is the same for repeated deliveries."""

    provider: str
    issuer: str
    kind: str
    id: str
    issued_at: int
    events: list[Event]


@dataclass(frozen=True)
class Verified:
    identity: Identity


@dataclass(frozen=True)
class Refused:
    """Sign nobody in: this token will be refused every time. `claim` is the one missing or invalid."""

    code: str
    claim: str | None
    request_id: str


@dataclass(frozen=True)
class Unavailable:
    """Assay cannot decide now. Unless the nonce is single-use, the same request may succeed after this many seconds."""

    retry_after: int


class AssayError(Exception):
    """A problem. Without a response, `status` is 0 and `code` is `None`.

    `spent` is for a finish, a refresh or a revocation. If it is `False`, nothing was used up: at 0 or 503, the request may be
    sent again, after `retry_after` seconds if that is not `None`. If it is `True`, the sign-in, code or refresh token is, or
    may be, used up: begin a new sign-in, or get a new code. A refresh token is certainly used up only if `code` is
    `grant_invalid`; otherwise, try it once more later.

    `provider_error` is the provider's error code. `context` is the begin call's, if the user or the provider
    ended it (`sign_in_denied`, `provider_refused`): don't log it.
    """

    def __init__(
        self,
        status: int,
        code: str | None,
        request_id: str | None,
        spent: bool = False,
        retry_after: int | None = None,
        provider_error: str | None = None,
        context: str | None = None,
    ):
        super().__init__(f"Assay answered {status} {code}, request {request_id}" if status else "Assay did not answer")
        self.status, self.code, self.request_id = status, code, request_id
        self.spent, self.retry_after = spent, retry_after
        self.provider_error, self.context = provider_error, context

    @classmethod
    def of(cls, status: int, answer: dict, retry_after: int | None, spent: bool = False) -> "AssayError":
        code, request_id = answer.get("code"), answer.get("request_id")
        return cls(status, code, request_id, spent, retry_after, answer.get("provider_error"), answer.get("context"))


class NoAnswer(Exception):
    """The connection failed. `sent`: Assay may have received the request anyway."""

    def __init__(self, sent: bool):
        super().__init__("no answer")
        self.sent = sent


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

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        api_key: str | None = None,
        timeout: float = 6,
        finish_timeout: float = 12,
    ):
        """`url` may be `unix:/path`. Timeouts are in seconds: a little more than Assay waits for a provider.

        `finish_timeout` is for a finish, a refresh and a revocation.
        """
        self._url = urllib.parse.urlsplit(url)
        self._timeout, self._finish_timeout = timeout, finish_timeout
        self._headers = {"Content-Type": "application/json"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._thread = threading.local()

    def begin(self, provider: str, **more) -> BegunSignIn:
        """Raises `AssayError`. `more`: `audience`, `max_age`, `subject`, `issuer`, `context`, `expires_in`."""
        return self._begin(BegunSignIn, {"provider": provider, **more})

    def begin_in_browser(self, provider: str, redirect_uri: str, **more) -> BegunBrowserSignIn:
        """Raises `AssayError`. `redirect_uri`: one of the client's `redirect_uris` in Assay's settings.

        `more`: as for `begin`, and `scopes`, `prompt`, `login_hint`, `ui_locales`, `acr_values`, `response_mode`.
        """
        return self._begin(BegunBrowserSignIn, {"provider": provider, "redirect_uri": redirect_uri, **more})

    def finish(self, sign_in: str, id_token: str | None = None, **more) -> FinishedSignIn:
        """Raises `AssayError`. `more`: `access_token`, `code`, `redirect_uri`, `user`. An ID Token or a code is required.

        The request is sent only once.
        """
        token = {} if id_token is None else {"id_token": id_token}
        return self._finish({"sign_in": sign_in, **token, **more})

    def finish_in_browser(self, sign_in: str, response: dict[str, str], **more) -> FinishedSignIn:
        """Raises `AssayError`. `response`: all parameters that the redirect URI received. `more`: that `redirect_uri`.

        The request is sent only once.
        """
        return self._finish({"sign_in": sign_in, "response": response, **more})

    def refresh(self, provider: str, refresh_token: str, subject: str, **more) -> Refreshed:
        """Raises `AssayError`. `more`: `issuer`, `audience`, `scopes`. The request is sent only once."""

        def read(answer: dict) -> Refreshed:
            grant, identity, problem = answer["grant"], answer["identity"], answer["problem"]
            who = None if identity is None else Identity.of(identity)
            return Refreshed(Grant.of(grant), who, None if problem is None else problem["code"])

        request = {"provider": provider, "refresh_token": refresh_token, "subject": subject, **more}
        return self._call_once("/v1/grants/refresh", request, 200, read)

    def revoke(self, provider: str, token: str, **more) -> None:
        """Raises `AssayError`, never `spent`: it is safe to revoke a token again. `more`: `token_type_hint`, `audience`."""
        request = {"provider": provider, "token": token, **more}
        self._call_once("/v1/grants/revoke", request, 204, lambda _: None, uses_up=False)

    def revoke_by_code(self, provider: str, code: str, **more) -> None:
        """Exchanges the code, and revokes the tokens. Raises `AssayError`. The request is sent only once.

        `more`: `redirect_uri`, `audience`, and `subject` with `issuer`: a code of another user is refused.
        """
        self._call_once("/v1/grants/revoke", {"provider": provider, "code": code, **more}, 204, lambda _: None)

    def verify(
        self, provider: str, id_token: str, nonce: str | None, *, single_use: bool = False, **more
    ) -> Verified | Refused | Unavailable:
        """Raises `AssayError`. `single_use`: the provider has `nonce.single_use`, so the request is sent once.

        `more`: `audience`, `max_age`, `access_token`, `code`, `user`, `subject`, `issuer`, `authenticated_after`.
        """
        request = {"provider": provider, "id_token": id_token, **more}
        if nonce is not None:
            request["nonce"] = nonce
        try:
            if single_use:
                status, retry_after, answer = self._post_once("/v1/verify", request, self._timeout)
            else:
                status, retry_after, answer = self._post("/v1/verify", request)
        except NoAnswer:
            return Unavailable(retry_after=1)
        if status == 503:
            return Unavailable(retry_after or 1)
        try:
            if status == 200:
                return Verified(Identity.of(answer["identity"]))
            if status == 422:
                return Refused(answer["code"], answer.get("claim"), answer["request_id"])
        except (ValueError, KeyError, TypeError):
            # The response is not from Assay.
            answer = {}
        raise AssayError.of(status, answer, retry_after)

    def notification(self, **sent) -> Notification:
        """Raises `AssayError`. `sent`: either `token`, or `payload`, the body that Apple sent; perhaps `provider`."""
        try:
            status, retry_after, answer = self._post("/v1/notifications/verify", sent)
        except NoAnswer as error:
            raise AssayError(0, None, None) from error
        try:
            if status == 200:
                names = [each.name for each in fields(Event)]
                events = [Event(**{name: event[name] for name in names}) for event in answer["events"]]
                members = {each.name: answer["notification"].get(each.name) for each in fields(Notification)}
                return Notification(**members | {"events": events})
        except (KeyError, TypeError, AttributeError):
            # The response is not from Assay.
            answer = {}
        raise AssayError.of(status, answer, retry_after)

    def _begin(self, kind: type, request: dict):
        try:
            status, retry_after, answer = self._post("/v1/sign-ins", request)
        except NoAnswer as error:
            raise AssayError(0, None, None) from error
        members = {each.name: answer.get(each.name) for each in fields(kind)}
        if status == 201 and all(type(members[each.name]) is each.type for each in fields(kind)):
            return kind(**members)
        raise AssayError.of(status, answer, retry_after)

    def _finish(self, request: dict) -> FinishedSignIn:
        def read(answer: dict) -> FinishedSignIn:
            identity, context, grant = answer["identity"], answer["context"], answer.get("grant")
            return FinishedSignIn(Identity.of(identity), context, None if grant is None else Grant.of(grant))

        return self._call_once("/v1/sign-ins/finish", request, 200, read)

    def _call_once(self, path: str, request: dict, success: int, read: Callable, uses_up: bool = True):
        """Sends the request once, and returns what `read` makes of the answer. Raises `AssayError`.

        `uses_up`: without a response, something may be used up.
        """
        try:
            status, retry_after, answer = self._post_once(path, request, self._finish_timeout)
        except NoAnswer as error:
            raise AssayError(0, None, None, uses_up and error.sent) from error
        try:
            if status == success:
                return read(answer)
        except (ValueError, KeyError, TypeError):
            # The response is not from Assay.
            answer = {}
        # A response without `spent` is not Assay's, and the request may have arrived.
        raise AssayError.of(status, answer, retry_after, uses_up and answer.get("spent") is not False)

    def _post(self, path: str, request: dict) -> tuple[int, int | None, dict]:
        """Over the thread's connection. Raises `NoAnswer`."""
        connection = getattr(self._thread, "connection", None)
        if connection is None:
            connection = self._thread.connection = self._connection(self._timeout)
        is_kept = connection.sock is not None
        try:
            return self._exchange(connection, path, request)
        except NoAnswer as error:
            if not is_kept or not isinstance(error.__cause__, ConnectionError):
                raise
            # It was closed while it was idle. The request has no side effects, so it is safe to resend.
            return self._exchange(connection, path, request)

    def _post_once(self, path: str, request: dict, timeout: float) -> tuple[int, int | None, dict]:
        """Over a new connection, which Assay has not closed as idle. Raises `NoAnswer`."""
        with contextlib.closing(self._connection(timeout)) as connection:
            return self._exchange(connection, path, request)

    def _exchange(
        self, connection: http.client.HTTPConnection, path: str, request: dict
    ) -> tuple[int, int | None, dict]:
        """The status, `Retry-After` in seconds, and the answer's members: none if it is not a JSON object."""
        body, sent = json.dumps(request).encode(), False
        try:
            if connection.sock is None:
                connection.connect()
            sent = True
            connection.request("POST", path, body, self._headers)
            response = connection.getresponse()
            text = response.read()
        except BaseException as error:
            # The next request reopens it.
            connection.close()
            if isinstance(error, (OSError, http.client.HTTPException)):
                raise NoAnswer(sent) from error
            raise
        seconds = response.headers["Retry-After"] or ""
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        retry_after = int(seconds) if seconds.isdecimal() else None
        return response.status, retry_after, answer if isinstance(answer, dict) else {}

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self._url.scheme == "unix":
            return UnixConnection(self._url.path, timeout)
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        return kind(self._url.hostname, self._url.port, timeout=timeout)
