"""An example backend that signs users in with two calls to Assay. It needs Python's standard library, and Assay's Python
client (docs/clients/python/assay.py) on PYTHONPATH.

    POST /sign-in {"provider": …}         begins: returns a nonce for the provider, and a cookie for the finish
    POST /sign-in/finish {"id_token": …}  returns the identity, or the reason for the refusal

As an example, it keeps its users in memory. Three rules apply: a sign-in stays in the cookie of the browser or app that
began it, a user is identified by issuer and subject, and neither a token nor a sign-in is ever logged.
"""

import dataclasses
import http.server
import json
import os
import re
import sys
import threading

import assay

ASSAY = assay.Assay(os.environ.get("ASSAY_URL", "http://127.0.0.1:8080"), os.environ.get("ASSAY_API_KEY"))
GREATEST_BODY = 64 * 1024
COOKIE = "__Host-sign-in"


class Refused(Exception):
    """A refusal; `status` and `code` are for the app."""

    def __init__(self, status: int, code: str):
        self.status = status
        self.code = code


class Users:
    """Users by issuer and subject. Unlike these, an email address can be reassigned."""

    def __init__(self):
        self._lock = threading.Lock()
        self._numbers: dict[tuple[str, str], int] = {}

    def number(self, identity: assay.Identity) -> int:
        with self._lock:
            return self._numbers.setdefault((identity.issuer, identity.subject), len(self._numbers) + 1)


def refusal(error: assay.AssayError) -> Refused:
    """The response to the app for a problem."""
    if error.status == 422:
        return Refused(401, error.code)
    if error.code == "provider_unknown":
        return Refused(400, error.code)
    if error.status in (0, 503):
        # The app may send the same request again only if nothing was used up. Otherwise it begins a new sign-in.
        return Refused(401, "sign_in_spent") if error.spent else Refused(503, "unavailable")
    # A mistake in this program or in Assay's settings: the app can do nothing about it, so alert the operator.
    print(error, file=sys.stderr, flush=True)
    return Refused(500, error.code or "internal")


def texts(body: bytes, *names: str) -> list[str]:
    """Members of what the app sent."""
    try:
        return [str(json.loads(body)[name]) for name in names]
    except (ValueError, KeyError, TypeError):
        raise Refused(400, "request_invalid") from None


def cookie_value(header: str, name: str) -> str | None:
    """Returns a cookie's value, byte for byte as the browser sent it (RFC 6265bis). More lenient parsers let other sites plant a
    `__Host-` cookie. Two cookies of one name count as none, because one of them may be an attacker's."""
    pairs = (pair.strip(" \t").partition("=") for pair in header.split(";"))
    values = [value for each, equals, value in pairs if equals and each == name]
    return values[0] if len(values) == 1 else None


class Backend(http.server.BaseHTTPRequestHandler):
    users = Users()

    def do_POST(self):
        try:
            body = self.body()
            if self.path == "/sign-in":
                self.begin(*texts(body, "provider"))
            elif self.path == "/sign-in/finish":
                self.finish(*texts(body, "id_token"))
            else:
                raise Refused(404, "not_found")
        except Refused as refused:
            self.answer(refused.status, {"code": refused.code})
        except assay.AssayError as error:
            refused = refusal(error)
            self.answer(refused.status, {"code": refused.code})

    def begin(self, provider: str) -> None:
        begun = ASSAY.begin(provider)
        cookie = f"{COOKIE}={begun.sign_in}; Max-Age=600; Path=/; Secure; HttpOnly; SameSite=Lax"
        self.answer(200, {"nonce": begun.nonce, "nonce_sha256": begun.nonce_sha256}, {"Set-Cookie": cookie})

    def finish(self, id_token: str) -> None:
        sign_in = cookie_value(";".join(self.headers.get_all("Cookie", [])), COOKIE)
        if sign_in is None:
            raise Refused(401, "sign_in_unknown")
        identity = ASSAY.finish(sign_in, id_token).identity
        self.answer(200, {"user": self.users.number(identity), "identity": dataclasses.asdict(identity)})

    def body(self) -> bytes:
        length = ",".join(self.headers.get_all("Content-Length", ["0"])).strip(" \t")
        if not re.fullmatch("[0-9]{1,9}", length):
            raise Refused(400, "request_invalid")
        if int(length) > GREATEST_BODY:
            raise Refused(413, "request_too_large")
        return self.rfile.read(int(length))

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
