"""An example backend that signs users in with ID Tokens, verified by Assay. It needs Python's standard library, and Assay's
Python client (docs/clients/python/assay.py) on PYTHONPATH.

    POST /sign-in                                      returns a nonce for one sign-in, and a cookie that identifies it
    POST /sign-in/finish {"provider": …, "id_token": …}  returns the identity, or the reason of the refusal

As an example, it keeps everything in memory. Three rules apply: the backend creates the nonce and uses it once, a user is
identified by issuer and subject, and tokens are never logged.
"""

import dataclasses
import http.cookies
import http.server
import json
import os
import secrets
import sys
import threading

import assay

ASSAY = assay.Assay(os.environ.get("ASSAY_URL", "http://127.0.0.1:8080"), os.environ.get("ASSAY_API_KEY"))
GREATEST_BODY = 64 * 1024
GREATEST_NUMBER_OF_SIGN_INS = 10_000


class Refused(Exception):
    """A refusal; `status` and `code` are for the app."""

    def __init__(self, status: int, code: str):
        self.status = status
        self.code = code


class SignIns:
    """Sign-ins in progress: their nonces by the value of the cookie."""

    def __init__(self):
        self._lock = threading.Lock()
        self._nonces: dict[str, str] = {}

    def begin(self) -> tuple[str, str]:
        """Starts a sign-in; returns the value of the cookie, and the nonce."""
        key, nonce = secrets.token_urlsafe(), secrets.token_urlsafe()
        with self._lock:
            # Removes the oldest, so that abandoned sign-ins can't fill the memory.
            while len(self._nonces) >= GREATEST_NUMBER_OF_SIGN_INS:
                del self._nonces[next(iter(self._nonces))]
            self._nonces[key] = nonce
        return key, nonce

    def take(self, key: str) -> str:
        """Removes and returns the nonce, which is valid for one attempt."""
        with self._lock:
            nonce = self._nonces.pop(key, None)
        if nonce is None:
            raise Refused(401, "sign_in_unknown")
        return nonce


class Users:
    """Users by issuer and subject. Unlike these, an email address can be reassigned."""

    def __init__(self):
        self._lock = threading.Lock()
        self._numbers: dict[tuple[str, str], int] = {}

    def number(self, identity: assay.Identity) -> int:
        with self._lock:
            return self._numbers.setdefault((identity.issuer, identity.subject), len(self._numbers) + 1)


def verified_identity(provider: str, id_token: str, nonce: str) -> assay.Identity:
    """Verifies a token of this sign-in with Assay."""
    try:
        verdict = ASSAY.verify(provider, id_token, nonce)
    except assay.AssayError as error:
        # A mistake in this program or in Assay's settings. The app can't fix it, so alert the operator.
        print(error, file=sys.stderr, flush=True)
        raise Refused(500, error.code or "internal") from None
    match verdict:
        case assay.Verified(identity):
            return identity
        case assay.Refused(code):
            raise Refused(401, code)
        case assay.Unavailable():
            raise Refused(503, "unavailable")


class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sign_ins = SignIns()
    users = Users()

    def do_POST(self):
        try:
            body = self.body()
            if self.path == "/sign-in":
                key, nonce = self.sign_ins.begin()
                # Add `Secure` once the app uses https.
                self.answer(200, {"nonce": nonce}, {"Set-Cookie": f"sign_in={key}; HttpOnly; SameSite=Lax"})
            elif self.path == "/sign-in/finish":
                self.answer(200, self.finish(body))
            else:
                raise Refused(404, "not_found")
        except Refused as refusal:
            self.answer(refusal.status, {"code": refusal.code})

    def finish(self, body: bytes) -> dict:
        cookie = http.cookies.SimpleCookie(self.headers.get("Cookie", "")).get("sign_in")
        nonce = self.sign_ins.take(cookie.value if cookie else "")
        try:
            sent = json.loads(body)
            provider, id_token = str(sent["provider"]), str(sent["id_token"])
        except (ValueError, KeyError, TypeError):
            raise Refused(400, "request_invalid") from None
        identity = verified_identity(provider, id_token, nonce)
        return {"user": self.users.number(identity), "identity": dataclasses.asdict(identity)}

    def body(self) -> bytes:
        try:
            length = int(self.headers.get("Content-Length", "0"))
        except ValueError:
            length = -1
        if not 0 <= length <= GREATEST_BODY:
            # The body is not read, so the connection can't be reused.
            self.close_connection = True
            raise Refused(413, "request_too_large")
        return self.rfile.read(length)

    def answer(self, status: int, body: dict, headers: dict | None = None) -> None:
        octets = json.dumps(body).encode()
        self.send_response(status)
        fields = {"Content-Type": "application/json", "Content-Length": str(len(octets))} | (headers or {})
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(octets)


def main():
    host, port = os.environ.get("LISTEN", "0.0.0.0:8000").rsplit(":", 1)
    with http.server.ThreadingHTTPServer((host, int(port)), Backend) as server:
        print(f"listening on {host}:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
