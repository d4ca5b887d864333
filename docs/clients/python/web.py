"""A web backend whose users sign in through the browser. Standard library only; run it behind TLS.

    GET  /sign-in?provider=google&return_to=/basket   begins, and redirects to the provider
    GET  /callback/google, or POST                    the redirect URI: finishes
    GET  /                                            says who is signed in
    POST /sign-out
    POST /delete-account                              revokes the grants, and deletes the account

The redirect URI of each provider's client, in Assay's settings and at the provider, is ORIGIN/callback/PROVIDER. The
environment has ORIGIN, AUDIENCES, ASSAY_URL, ASSAY_API_KEY and PORT.
"""

import html
import json
import logging
import os
import re
import secrets
import threading
import urllib.parse
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from assay import Assay, AssayError, FinishedSignIn

ORIGIN = os.environ["ORIGIN"]  # https://example.com
if not ORIGIN:
    raise ValueError("ORIGIN is empty; set it to the URL of this site, such as https://example.com")
AUDIENCES = json.loads(os.environ["AUDIENCES"])  # the client of each provider: {"google": "123.apps.googleusercontent.com"}
assay = Assay(os.environ.get("ASSAY_URL", "http://127.0.0.1:8080"), os.environ.get("ASSAY_API_KEY"))


@dataclass(frozen=True)
class StoredGrant:
    """A refresh token is valid only with the other members, none of which may come from the browser."""

    provider: str
    audience: str
    issuer: str
    subject: str
    refresh_token: str = field(repr=False)


class Database:
    """In memory; replace it with your tables."""

    def __init__(self):
        self._lock = threading.Lock()
        self._accounts: dict[tuple[str, str], str] = {}
        self._grants: dict[str, dict[tuple[str, str], StoredGrant]] = {}
        self._sessions: dict[str, str] = {}
        self.to_revoke: list[StoredGrant] = []

    def sign_in(self, provider: str, finished: FinishedSignIn, old_session: str) -> str:
        """Finds or creates the account, stores the grant, and returns the ID of a new session.

        The old session ends, so that nobody who knows its ID is then signed in (session fixation).
        """
        identity, grant = finished.identity, finished.grant
        with self._lock:
            account = self._accounts.setdefault((identity.issuer, identity.subject), secrets.token_urlsafe())
            if grant and grant.refresh_token:
                whose = (provider, AUDIENCES[provider], identity.issuer, identity.subject)
                self._grants.setdefault(account, {})[whose[:2]] = StoredGrant(*whose, grant.refresh_token)
            self._sessions.pop(old_session, None)
            session = secrets.token_urlsafe(32)
            self._sessions[session] = account
        return session

    def account(self, session: str) -> str | None:
        return self._sessions.get(session)

    def sign_out(self, session: str) -> None:
        with self._lock:
            self._sessions.pop(session, None)

    def delete(self, account: str) -> list[StoredGrant]:
        """Deletes all data of an account. Returns the grants to revoke."""
        with self._lock:
            self._accounts = {who: each for who, each in self._accounts.items() if each != account}
            self._sessions = {session: each for session, each in self._sessions.items() if each != account}
            return list(self._grants.pop(account, {}).values())


database = Database()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        parameters = urllib.parse.parse_qsl(query, keep_blank_values=True)
        if path == "/sign-in":
            self.begin(dict(parameters))
        elif path.startswith("/callback/"):
            self.finish_sign_in(path.removeprefix("/callback/"), parameters)
        elif path == "/":
            account = database.account(self.cookie("__Host-session") or "")
            self.page(200, f"Signed in as {account}." if account else "Signed out.")
        else:
            self.page(404, "Not found.")

    def do_POST(self) -> None:
        body = self.body()
        if body is None:
            return self.page(400, "That did not work.")
        session = self.cookie("__Host-session") or ""
        if self.path.startswith("/callback/"):
            # The provider's page posts this form (`response_mode=form_post`).
            parameters = urllib.parse.parse_qsl(body, keep_blank_values=True)
            self.finish_sign_in(self.path.removeprefix("/callback/"), parameters)
        elif self.headers.get("Origin") != ORIGIN:
            self.page(403, "This form came from another site.")
        elif self.path == "/sign-out":
            database.sign_out(session)
            self.redirect(ORIGIN, cookie("__Host-session", "", 0))
        elif self.path == "/delete-account" and (account := database.account(session)):
            revoke(database.delete(account))
            self.redirect(ORIGIN, cookie("__Host-session", "", 0))
        else:
            self.page(404, "Not found.")

    def begin(self, parameters: dict[str, str]) -> None:
        provider, return_to = parameters.get("provider", ""), parameters.get("return_to", "")
        if provider not in AUDIENCES:
            return self.page(404, "Not found.")
        # Assay does not validate the context, so accept only a path of this site.
        context = return_to if re.fullmatch(r"/[\x21-\x7e]{0,500}", return_to) else "/"
        try:
            begun = assay.begin_in_browser(
                provider, f"{ORIGIN}/callback/{provider}", audience=AUDIENCES[provider], context=context
            )
        except AssayError as error:
            logging.warning("begin: %s", error)
            return self.page(503, "Signing in is not possible right now. Please try again later.")
        # The provider's page posts a form from another site, and browsers send no Lax cookie with it.
        # A request that was pushed or signed does not show how it is answered.
        posts = any(part in begun.authorization_url for part in ("response_mode=form_post", "request=", "request_uri="))
        same_site = "None" if posts else "Lax"
        self.redirect(begun.authorization_url, cookie(f"__Host-sign-in-{begun.state}", begun.sign_in, 600, same_site))

    def finish_sign_in(self, provider: str, parameters: list[tuple[str, str]]) -> None:
        response = dict(parameters)
        name = f"__Host-sign-in-{response.get('state', '')}"
        # The cookie binds the sign-in to this browser. Without it, another browser began the sign-in.
        sign_in = self.cookie(name)
        if provider not in AUDIENCES or sign_in is None or len(response) != len(parameters):
            return self.page(400, "This sign-in was begun in another browser, or too long ago. Please sign in again.")
        done = cookie(name, "", 0)
        try:
            finished = assay.finish_in_browser(sign_in, response, redirect_uri=f"{ORIGIN}/callback/{provider}")
        except AssayError as error:
            if error.code == "sign_in_denied":
                return self.page(200, "You did not sign in, and nothing has changed.", done, back=error.context or "/")
            logging.warning("finish: %s", error)
            if error.status in (0, 503) and not error.spent:
                # The cookie stays, so that reloading the page repeats the finish.
                return self.page(503, "Signing in takes longer than usual. Please reload this page in a moment.")
            return self.page(400 if error.status == 422 else 500, "That did not work. Please sign in again.", done)
        session = database.sign_in(provider, finished, self.cookie("__Host-session") or "")
        self.redirect(ORIGIN + (finished.context or "/"), done, cookie("__Host-session", session, 30 * 86_400))

    def cookie(self, name: str) -> str | None:
        return cookie_value(";".join(self.headers.get_all("Cookie", [])), name)

    def body(self) -> str | None:
        """At most 64 KiB; `None` if `Content-Length` is not such a length."""
        length = ",".join(self.headers.get_all("Content-Length", ["0"])).strip(" \t")
        if not re.fullmatch("[0-9]{1,5}", length) or int(length) > 65_536:
            return None
        return self.rfile.read(int(length)).decode("ascii", "replace")

    def redirect(self, url: str, *cookies: str) -> None:
        self.answer(303, b"", ("Location", url), *(("Set-Cookie", each) for each in cookies))

    def page(self, status: int, text: str, *cookies: str, back: str = "/") -> None:
        body = f'<!doctype html><title>Example</title><p>{html.escape(text)}</p><a href="{html.escape(ORIGIN + back)}">Back</a>'
        headers = [("Set-Cookie", each) for each in cookies]
        self.answer(status, body.encode(), ("Content-Type", "text/html; charset=utf-8"), *headers)

    def answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        # The URL of a callback contains a code, which no other site may see.
        common = [("Cache-Control", "no-store"), ("Referrer-Policy", "same-origin"), ("Content-Length", str(len(body)))]
        for name, value in [*common, *headers]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code="-", size="-") -> None:
        """Without the query, which may contain a code."""
        logging.info("%s %s %s", self.command, self.path.partition("?")[0], int(code))


def revoke(grants: list[StoredGrant]) -> None:
    """The account is deleted even if a provider does not answer. Your own job has to retry `to_revoke`."""
    for grant in grants:
        try:
            assay.revoke(grant.provider, grant.refresh_token, token_type_hint="refresh_token", audience=grant.audience)
        except AssayError as error:
            logging.warning("revoke: %s", error)
            if error.code != "revocation_not_supported":
                database.to_revoke.append(grant)


def cookie_value(header: str, name: str) -> str | None:
    """Returns a cookie's value, byte for byte as the browser sent it (RFC 6265bis). More lenient parsers let other sites plant a
    `__Host-` cookie. Two cookies of one name count as none, because one of them may be an attacker's."""
    pairs = (pair.strip(" \t").partition("=") for pair in header.split(";"))
    values = [value for each, equals, value in pairs if equals and each == name]
    return values[0] if len(values) == 1 else None


def cookie(name: str, value: str, seconds: int, same_site: str = "Lax") -> str:
    """Sent only to this host over HTTPS, and hidden from scripts."""
    return f"{name}={value}; Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite={same_site}"


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Handler).serve_forever()
