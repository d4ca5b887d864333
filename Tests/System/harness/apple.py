"""A double of Apple's endpoints on loopback: authorization, codes, client secrets, refresh, revocation, team transfers and
notifications.

It follows Apple's documentation, or else what others have observed. Tests can set what nobody has described. joserfc verifies
client secrets, independently of the service.

    with Apple() as apple:
        team = apple.team("com.example.app", "com.example.web", redirect_uris=["https://example.com/callback"])
        code, id_token, user = apple.native_sign_in("com.example.app", apple.user("Ada"), nonce="…")

Sources: developer.apple.com/documentation/signinwithapplerestapi ("Creating a client secret", "Token validation", "Token
revocation", "TokenResponse", "ErrorResponse"), TN3107, TN3159, TN3194, "Processing changes for Sign in with Apple accounts".
"""

import contextlib
import dataclasses
import hashlib
import html
import json
import secrets
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

from . import tokens
from .issuer import QuietServer

ISSUER = AUDIENCE = "https://appleid.apple.com"
# The maximum lifetime of a client secret: six months in seconds.
LONGEST_SECRET = 15_777_000
CODE_LIFETIME = 300


class Fault(Exception):
    """Raised to send another response than Apple's usual one."""

    def __init__(self, status: int, body: bytes = b"", headers: dict | None = None):
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers or {}


class Refusal(Exception):
    """Raised to send an ErrorResponse with status 400."""

    def __init__(self, error: str):
        super().__init__(error)
        self.error = error


@dataclasses.dataclass
class User:
    """A user with an Apple Account."""

    name: str
    email: str | None
    is_private_email: bool
    # The teams that the user has authorized, and whether the name has been sent.
    teams: set[str] = dataclasses.field(default_factory=set)

    def subject(self, team: str) -> str:
        """The subject, which all client IDs of a team share."""
        digest = hashlib.sha256(f"{team} {self.name}".encode()).hexdigest()
        return f"{int(digest[:4], 16):06}.{digest[:32]}.{int(digest[-3:], 16):04}"

    def email_for(self, team: str) -> str | None:
        """The email for a team. Each team has another relay address."""
        if not self.is_private_email:
            return self.email
        return hashlib.sha256(f"{team} {self.name} relay".encode()).hexdigest()[:10] + "@privaterelay.appleid.com"


@dataclasses.dataclass
class Team:
    """A developer team, with its key for client secrets and its client IDs."""

    id: str
    key_id: str
    key: tokens.Key
    client_ids: list[str]
    redirect_uris: list[str]

    @property
    def pem(self) -> bytes:
        """The contents of the .p8 file."""
        return self.key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@dataclasses.dataclass
class Issued:
    """A code or a token, and what it was issued for."""

    client_id: str
    user: User | None
    at: float
    redirect_uri: str | None = None
    nonce: str | None = None
    scope: str | None = None
    is_used: bool = False


class Apple:
    """The provider. `clock_offset` moves its clock, in seconds."""

    def __init__(self):
        self.keys = [tokens.rsa_key("apple-double")]
        self.teams: list[Team] = []
        self.clock_offset = 0.0
        # Reports differ on whether the response to a refresh has an `id_token`.
        self.refreshes_with_id_token = True
        # The error of a refresh after the user has revoked the app. TN3107 says `invalid_request`.
        self.revoked_error = "invalid_request"
        # The lifetime of access tokens, in seconds.
        self.access_lifetime = 3600
        # Called for each request to `/auth/usermigrationinfo` with its form and its number for this user. May raise `Fault`.
        self.on_migration = lambda form, count: None
        # Path and form of every request to an endpoint.
        self.requests: list[tuple[str, dict[str, str]]] = []
        # Why client secrets were refused, newest last.
        self.secret_faults: list[str] = []
        self._codes: dict[str, Issued] = {}
        self._refresh_tokens: dict[str, Issued] = {}
        self._access_tokens: dict[str, Issued] = {}
        self._transfers: dict[str, tuple[User, str]] = {}
        self._lock = threading.Lock()
        apple = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                url = urllib.parse.urlsplit(self.path)
                if url.path == "/auth/keys":
                    self.reply(200, {"keys": [key.jwk(alg="RS256") for key in apple.keys]})
                elif url.path == "/auth/authorize":
                    apple.show_authorization(self, dict(urllib.parse.parse_qsl(url.query)))
                else:
                    self.reply(404, {})

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                headers = {}
                with apple._lock:
                    try:
                        status, answer = 200, apple.answer(self.path, self.headers, body)
                    except Refusal as refusal:
                        status, answer = 400, {"error": refusal.error}
                    except Fault as fault:
                        status, answer, headers = fault.status, fault.body, fault.headers
                    except KeyError:
                        status, answer = 404, {}
                self.reply(status, answer, headers)

            def reply(self, status: int, answer, headers: dict | None = None) -> None:
                text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                text = b"" if answer is None else text
                usual = {"Content-Type": "application/json", "Content-Length": str(len(text)), "Cache-Control": "no-store"}
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.send_response(status)
                    for name, value in (usual | (headers or {})).items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(text)

            def log_message(self, *_):
                pass

        self._server = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    # For tests.

    def now(self) -> int:
        return int(time.time() + self.clock_offset)

    def team(self, *client_ids: str, redirect_uris: list[str] | None = None, number: int | None = None) -> Team:
        """Registers a team with its key and its client IDs: bundle IDs, and Services IDs with redirect URIs."""
        number = len(self.teams) if number is None else number
        key_id = f"KEY{number:07}"
        team = Team(f"TEAM{number:06}", key_id, tokens.ec_key(key_id), list(client_ids), redirect_uris or [])
        self.teams.append(team)
        return team

    def user(self, name: str, email: str | None = None, is_private_email: bool = False) -> User:
        return User(name, email or f"{name.lower()}@example.com", is_private_email)

    def settings(self, id: str = "apple", **more) -> dict:
        """Settings of a provider with these endpoints and keys. The caller adds `audiences` and `clients`."""
        endpoints = {name: f"{self.url}/auth/{path}" for name, path in ENDPOINTS.items()}
        network = {"allow_http": True, "allow_private_addresses": True}
        usual = {"id": id, "preset": "apple", "jwks_uri": self.url + "/auth/keys", "endpoints": endpoints, "network": network}
        return usual | more

    def native_sign_in(
        self, client_id: str, user: User, nonce: str | None = None, scope: str = "name email"
    ) -> tuple[str, str, dict | None]:
        """What AuthenticationServices returns to an app: code, ID Token, and the name at the first sign-in."""
        with self._lock:
            return self._authorize(client_id, user, nonce, scope, redirect_uri=None)

    def web_sign_in(self, url: str, user: User | None) -> tuple[str, dict[str, str]]:
        """Opens an authorization URL; returns the called URI and its parameters. Without a user, cancels.

        - Raises `Refusal` if Apple would show an error page.
        """
        with self._lock:
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query, strict_parsing=True))
            redirect_uri, state = self._check_authorization(query), {}
            if "state" in query:
                state = {"state": query["state"]}
            if user is None:
                return redirect_uri, {"error": "user_cancelled_authorize"} | state
            code, id_token, name = self._authorize(
                query["client_id"], user, query.get("nonce"), query.get("scope", ""), redirect_uri
            )
            parameters = {"code": code} | state
            if "id_token" in query["response_type"].split():
                parameters["id_token"] = id_token
            if name is not None:
                parameters["user"] = json.dumps(name)
            return redirect_uri, parameters

    def revoke_by_person(self, user: User, team: Team) -> None:
        """Revokes the app as in Settings, so that the next sign-in is a first one again."""
        user.teams.discard(team.id)

    def notification(
        self, type: str, client_id: str, user: User, form: str = "text", milliseconds: bool = True, **claims
    ) -> dict:
        """The body of a notification. `form` is that of its events: `text` as delivered, `object` as documented, or `array`."""
        team = self._team_of(client_id)
        event = {"type": type, "sub": user.subject(team.id), "event_time": self.now() * (1000 if milliseconds else 1)}
        if type.startswith("email-"):
            event |= {"email": user.email_for(team.id), "is_private_email": "true"}
        events = {"text": json.dumps(event), "object": event, "array": [event]}[form]
        usual = {
            "iss": ISSUER, "aud": client_id, "iat": self.now(), "exp": self.now() + 86400, "jti": secrets.token_urlsafe(16),
            "events": events,
        }  # fmt: skip
        claims = {name: value for name, value in (usual | claims).items() if value is not None}
        return {"payload": tokens.jws(self.keys[0], claims, typ=None)}

    def client_secret(self, team: Team, client_id: str, **changes) -> str:
        """A valid client secret, or one with other claims; `None` removes one."""
        claims = {"iss": team.id, "iat": self.now(), "exp": self.now() + 300, "aud": AUDIENCE, "sub": client_id}
        claims = {name: value for name, value in (claims | changes).items() if value is not None}
        return tokens.jws(team.key, claims, typ=None)

    def to(self, path: str) -> list[dict[str, str]]:
        """The forms of all requests to an endpoint."""
        return [form for requested, form in self.requests if requested == path]

    # Authorization.

    def _team_of(self, client_id: str) -> Team:
        for team in self.teams:
            if client_id in team.client_ids:
                return team
        raise Refusal("invalid_client")

    def _check_authorization(self, query: dict[str, str]) -> str:
        team = self._team_of(query.get("client_id", ""))
        if query.get("redirect_uri") not in team.redirect_uris:
            raise Refusal("invalid_client")
        types = query.get("response_type", "").split()
        if "code" not in types or set(types) - {"code", "id_token"}:
            raise Refusal("unsupported_response_type")
        if set(query.get("scope", "").split()) - {"name", "email"}:
            raise Refusal("invalid_scope")
        # With scopes or an ID Token, the response must be a form.
        if (query.get("scope") or "id_token" in types) and query.get("response_mode") != "form_post":
            raise Refusal("invalid_request")
        return query["redirect_uri"]

    def _authorize(
        self, client_id: str, user: User, nonce: str | None, scope: str, redirect_uri: str | None
    ) -> tuple[str, str, dict | None]:
        team = self._team_of(client_id)
        is_first = team.id not in user.teams
        user.teams.add(team.id)
        code = f"c{secrets.token_hex(16)}.0.{secrets.token_urlsafe(8)}"
        self._codes[code] = Issued(client_id, user, self.now(), redirect_uri, nonce)
        id_token = self._id_token(client_id, user, nonce, c_hash=tokens.half_hash(code, "RS256"))
        name = None
        if is_first and "name" in scope.split():
            name = {"name": {"firstName": user.name, "lastName": "Lovelace"}}
            if "email" in scope.split():
                name["email"] = user.email_for(team.id)
        return code, id_token, name

    def _id_token(self, client_id: str, user: User, nonce: str | None, **more) -> str:
        team = self._team_of(client_id)
        claims = {
            "iss": ISSUER, "aud": client_id, "exp": self.now() + 86400, "iat": self.now(), "sub": user.subject(team.id),
            "nonce": nonce, "email": user.email_for(team.id), "email_verified": True, "auth_time": self.now(),
            "nonce_supported": True,
        } | more  # fmt: skip
        if user.is_private_email:
            claims["is_private_email"] = True
        return tokens.jws(self.keys[0], {name: value for name, value in claims.items() if value is not None}, typ=None)

    def show_authorization(self, handler, query: dict[str, str]) -> None:
        """For a browser: signs in the user of `login_hint`, and responds in the requested mode."""
        try:
            user = self.user(query.get("login_hint") or "Ada")
            url = self.url + "/auth/authorize?" + urllib.parse.urlencode(query)
            redirect_uri, parameters = self.web_sign_in(url, user)
        except Refusal as refusal:
            return handler.reply(400, refusal.error.encode(), {"Content-Type": "text/plain"})
        if query.get("response_mode") == "form_post":
            inputs = "".join(
                f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
                for name, value in parameters.items()
            )
            page = f'<form method="post" action="{html.escape(redirect_uri)}">{inputs}</form><script>document.forms[0].submit()</script>'
            return handler.reply(200, page.encode(), {"Content-Type": "text/html; charset=utf-8"})
        separator = "#" if query.get("response_mode") == "fragment" else "?"
        return handler.reply(302, b"", {"Location": redirect_uri + separator + urllib.parse.urlencode(parameters)})

    # Endpoints.

    def answer(self, path: str, headers, body: bytes):
        """The response to a request; `None` is an empty body. Raises `Refusal`, or `KeyError` for an unknown path."""
        act = {
            "/auth/token": self._token,
            "/auth/revoke": self._revoke,
            "/auth/usermigrationinfo": self._migrate,
        }[path]
        if headers["Content-Type"] != "application/x-www-form-urlencoded":
            raise Refusal("invalid_request")
        try:
            pairs = urllib.parse.parse_qsl(body.decode("ascii"), keep_blank_values=True, strict_parsing=True)
        except ValueError:
            raise Refusal("invalid_request") from None
        form = dict(pairs)
        self.requests.append((path, form))
        if len(form) != len(pairs) or headers["Authorization"] and path != "/auth/usermigrationinfo":
            raise Refusal("invalid_request")
        return act(form, headers)

    def _client(self, form: dict[str, str]) -> Team:
        """Verifies the client secret, and returns the client's team."""
        self._take(form, "client_id", "client_secret")
        team = self._team_of(form["client_id"])
        fault = self._secret_fault(team, form["client_id"], form["client_secret"])
        if fault:
            self.secret_faults.append(fault)
            raise Refusal("invalid_client")
        return team

    def _secret_fault(self, team: Team, client_id: str, secret: str) -> str | None:
        try:
            token = jwt.decode(secret, ECKey.import_key(team.key.jwk()), algorithms=["ES256"])
        except (JoseError, ValueError) as error:
            return f"{type(error).__name__}: {error}"
        claims, now = token.claims, self.now()
        expected = {"iss": team.id, "aud": AUDIENCE, "sub": client_id}
        faults = [name for name, value in expected.items() if claims.get(name) != value]
        if token.header.get("kid") != team.key_id:
            faults.append("kid")
        if not isinstance(claims.get("iat"), int) or claims["iat"] > now:
            faults.append("iat")
        if not isinstance(claims.get("exp"), int) or not now < claims["exp"] <= now + LONGEST_SECRET:
            faults.append("exp")
        return ", ".join(faults) or None

    @staticmethod
    def _take(form: dict[str, str], *required: str, optional: tuple[str, ...] = ()) -> None:
        """Takes parameters, which must be present."""
        if any(not form.get(name) for name in required):
            raise Refusal("invalid_request")

    @staticmethod
    def _only(form: dict[str, str], *names: str) -> None:
        """Refuses parameters other than the client's and these."""
        if set(form) - {"client_id", "client_secret", *names}:
            raise Refusal("invalid_request")

    def _token(self, form: dict[str, str], _) -> dict:
        self._take(form, "grant_type")
        team = self._client(form)
        client_id = form["client_id"]
        match form["grant_type"]:
            case "authorization_code":
                self._only(form, "grant_type", "code", "redirect_uri", "code_verifier")
                self._take(form, "code")
                return self._exchange(client_id, form)
            case "refresh_token":
                self._only(form, "grant_type", "refresh_token")
                self._take(form, "refresh_token")
                return self._refresh(client_id, team, form["refresh_token"])
            case "client_credentials":
                self._only(form, "grant_type", "scope")
                if form.get("scope") != "user.migration":
                    raise Refusal("invalid_scope")
                return self._access(client_id, None, scope="user.migration")
        raise Refusal("unsupported_grant_type")

    def _exchange(self, client_id: str, form: dict[str, str]) -> dict:
        code = self._codes.get(form["code"])
        if code is None or code.client_id != client_id or code.is_used or self.now() - code.at >= CODE_LIFETIME:
            raise Refusal("invalid_grant")
        if form.get("redirect_uri") != code.redirect_uri:
            # A native code has no redirect URI. Apple reports a wrong redirect URI as a wrong client.
            raise Refusal("invalid_client")
        code.is_used = True
        refresh_token = f"r{secrets.token_hex(16)}.0.{secrets.token_urlsafe(8)}"
        self._refresh_tokens[refresh_token] = Issued(client_id, code.user, self.now())
        access = self._access(client_id, code.user)
        at_hash = tokens.half_hash(access["access_token"], "RS256")
        id_token = self._id_token(client_id, code.user, code.nonce, at_hash=at_hash)
        return access | {"refresh_token": refresh_token, "id_token": id_token}

    def _refresh(self, client_id: str, team: Team, token: str) -> dict:
        issued = self._refresh_tokens.get(token)
        if issued is None or issued.client_id != client_id:
            raise Refusal("invalid_grant")
        if issued.is_used or team.id not in issued.user.teams:
            raise Refusal(self.revoked_error)
        # The refresh token stays the same.
        answer = self._access(client_id, issued.user)
        if self.refreshes_with_id_token:
            at_hash = tokens.half_hash(answer["access_token"], "RS256")
            answer["id_token"] = self._id_token(client_id, issued.user, None, at_hash=at_hash)
        return answer

    def _access(self, client_id: str, user: User | None, scope: str | None = None) -> dict:
        token = f"a{secrets.token_hex(16)}.0.{secrets.token_urlsafe(8)}"
        self._access_tokens[token] = Issued(client_id, user, self.now(), scope=scope)
        return {"access_token": token, "token_type": "Bearer", "expires_in": self.access_lifetime}

    def _revoke(self, form: dict[str, str], _) -> None:
        self._only(form, "token", "token_type_hint")
        self._take(form, "token")
        team = self._client(form)
        if form.get("token_type_hint", "refresh_token") not in ("refresh_token", "access_token"):
            raise Refusal("invalid_request")
        issued = self._refresh_tokens.get(form["token"]) or self._access_tokens.get(form["token"])
        # Any other token counts as already invalid, so the response is 200 too.
        if issued is None:
            return
        if issued.client_id != form["client_id"]:
            raise Refusal("invalid_grant")
        # Revokes the user's authorization of the app.
        issued.is_used = True
        if issued.user is not None:
            issued.user.teams.discard(team.id)

    @staticmethod
    def _user_of(form: dict[str, str]) -> str | None:
        return form.get("sub") or form.get("transfer_sub")

    def _migrate(self, form: dict[str, str], headers) -> dict:
        same = [earlier for earlier in self.to("/auth/usermigrationinfo") if self._user_of(earlier) == self._user_of(form)]
        self.on_migration(form, len(same))
        scheme, _, token = (headers["Authorization"] or "").partition(" ")
        access = self._access_tokens.get(token)
        if scheme != "Bearer" or access is None or self.now() - access.at >= self.access_lifetime:
            raise Refusal("invalid_request")
        team = self._client(form)
        if self._team_of(access.client_id) is not team:
            raise Refusal("invalid_client")
        if "transfer_sub" in form:
            self._only(form, "transfer_sub")
            user, target = self._transfers.get(form["transfer_sub"], (None, None))
            if user is None or target != team.id:
                raise Refusal("invalid_request")
            user.teams.add(team.id)
            answer = {"sub": user.subject(team.id)}
            if user.is_private_email:
                answer |= {"email": user.email_for(team.id), "is_private_email": True}
            return answer
        self._only(form, "sub", "target")
        self._take(form, "sub", "target")
        for issued in [*self._refresh_tokens.values(), *self._codes.values()]:
            user = issued.user
            if user is not None and user.subject(team.id) == form["sub"] and team.id in user.teams:
                # All apps that move between these teams share it.
                transfer = "001." + hashlib.sha256(f"{form['sub']} {form['target']}".encode()).hexdigest()[:32]
                self._transfers[transfer] = (user, form["target"])
                return {"transfer_sub": transfer}
        # The user has revoked the app.
        raise Refusal("invalid_request")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


ENDPOINTS = {"authorization": "authorize", "token": "token", "revocation": "revoke"}
