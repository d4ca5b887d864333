"""A product whose customers sign in through their own providers: the administrator's page, and the sign-in by address.

    GET  /connections                 the administrator's page: the connection, its redirect URI, and the domains
    POST /connections                 saves issuer, client_id, auth, secret, hd
    POST /connections/test            explains the id_token that the administrator pastes
    POST /connections/enable          switches the connection on, if a token has passed
    POST /domains, /domains/prove     id, name: what to enter in DNS, and whether it is there
    GET  /sign-in?email=ada@example.com
    GET  /callback/CONNECTION         the redirect URI: finishes
    GET  /                            says who is signed in

Standard library only; run it behind TLS. The environment has ORIGIN, DATABASE, SECRETS, ASSAY_URL, ASSAY_ADMIN_URL,
ASSAY_API_KEY, PORT, and ADMINISTRATORS: the sessions of your product's administrators with their customers, as JSON.
"""

import html
import json
import logging
import os
import pathlib
import re
import secrets
import sqlite3
import subprocess
import urllib.parse
from http.server import BaseHTTPRequestHandler, HTTPServer

from assay import Assay, AssayError
from connections import CHALLENGE, METHODS, Connections, Invalid, Secrets

ORIGIN = os.environ["ORIGIN"]  # https://app.example.com
ADMINISTRATORS = json.loads(os.environ.get("ADMINISTRATORS", "{}"))  # replace them with the sessions of your product


def txt_records(name: str) -> list[str]:
    """By `dig`, of Debian's bind9-dnsutils. Ask a resolver that validates DNSSEC."""
    found = subprocess.run(["dig", "+short", "TXT", name], capture_output=True, text=True, timeout=10, check=True)
    return ["".join(re.findall(r'"([^"]*)"', line)) for line in found.stdout.splitlines()]


def opened() -> Connections:
    database = sqlite3.connect(os.environ["DATABASE"])
    assay = Assay(os.environ.get("ASSAY_URL", "http://127.0.0.1:8080"), os.environ.get("ASSAY_API_KEY"))
    explain_url = os.environ.get("ASSAY_ADMIN_URL", "http://127.0.0.1:9090") + "/v1/explain"
    directory = pathlib.Path(os.environ["SECRETS"])
    return Connections(database, assay, Secrets(directory), ORIGIN + "/callback/{connection}", explain_url, txt_records)


connections = opened()
users: dict[str, int] = {}  # the sessions of signed-in users; replace it with your table


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        parameters = urllib.parse.parse_qsl(query, keep_blank_values=True)
        if path == "/connections":
            self.as_administrator(self.show)
        elif path == "/sign-in":
            self.begin(dict(parameters).get("email", ""))
        elif path.startswith("/callback/"):
            self.finish_sign_in(urllib.parse.unquote(path.removeprefix("/callback/")), parameters)
        elif path == "/":
            user = users.get(self.cookie("__Host-session") or "")
            self.page(200, f"<p>Signed in as user {user}.</p>" if user else "<p>Signed out.</p>")
        else:
            self.page(404, "<p>Not found.</p>")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if self.headers.get("Origin") != ORIGIN or not re.fullmatch("[0-9]{1,5}", length):
            return self.page(403, "<p>This form came from another site.</p>")
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(length)).decode(), keep_blank_values=True))
        actions = {
            "/connections": lambda customer: self.save(customer, form),
            "/connections/test": lambda customer: self.test(customer, form),
            "/connections/enable": lambda customer: self.enable(customer, form),
            "/domains": lambda customer: self.claim(customer, form),
            "/domains/prove": lambda customer: self.prove(customer, form),
        }
        action = actions.get(self.path)
        return self.as_administrator(action) if action else self.page(404, "<p>Not found.</p>")

    # What an administrator does

    def as_administrator(self, action) -> None:
        customer = ADMINISTRATORS.get(self.cookie("__Host-session") or "")
        if customer is None:
            return self.page(403, "<p>Only an administrator sees this page.</p>")
        try:
            action(customer)
        except Invalid as reason:
            self.page(400, f"<p>{html.escape(str(reason))}</p>")

    def show(self, _: str) -> None:
        choices = "".join(f"<option>{method}" for method in METHODS)
        self.page(
            200,
            '<form method="post" action="/connections"><input name="id" type="hidden">'
            '<label>Issuer <input name="issuer" required placeholder="https://id.example.com"></label>'
            '<label>Client ID <input name="client_id" required></label>'
            f'<label>Authentication <select name="auth">{choices}</select></label>'
            '<label>Client secret <input name="secret" type="password" autocomplete="off"></label>'
            '<label>Hosted domains, for Google <input name="hd"></label><button>Save</button></form>',
        )

    def save(self, customer: str, form: dict[str, str]) -> None:
        saved = connections.save(customer, form.get("id") or None, form)
        uri = html.escape(connections.redirect_uri(saved.id))
        self.page(200, f"<p>Enter this redirect URI at your provider: <code>{uri}</code></p><p id=id>{saved.id}</p>")

    def test(self, customer: str, form: dict[str, str]) -> None:
        """An administrator sees what is wrong with the customer's own provider, and nothing of other customers."""
        explanation = connections.explain(customer, form.get("id", ""), form.get("id_token", ""))
        if explanation["valid"]:
            return self.page(200, "<p>The token passes. You can switch the connection on.</p>")
        cause = explanation["likely_cause"]
        self.page(422, f"<p>{html.escape(cause['explanation'])}</p><p>{html.escape(cause['fix'] or '')}</p>")

    def enable(self, customer: str, form: dict[str, str]) -> None:
        connections.enable(customer, form.get("id", ""))
        self.page(200, "<p>The connection is on.</p>")

    def claim(self, customer: str, form: dict[str, str]) -> None:
        name = form.get("name", "")
        challenge = connections.claim_domain(customer, form.get("id", ""), name)
        self.page(200, f"<p>Add a TXT record {CHALLENGE}.{html.escape(name)}: <code id=challenge>{challenge}</code></p>")

    def prove(self, customer: str, form: dict[str, str]) -> None:
        connections.prove_domain(customer, form.get("id", ""), form.get("name", ""))
        self.page(200, "<p>The domain is yours.</p>")

    # What a user does

    def begin(self, email: str) -> None:
        connection = connections.of_address(email)
        if connection is None:
            # The same answer for every address without a connection: it tells nobody who the customers are.
            return self.page(404, "<p>Sign in with a password.</p>")
        try:
            begun = connections.begin(connection.id, login_hint=email)
        except AssayError as error:
            logging.warning("begin: %s", error)
            return self.page(503, "<p>Your company's provider can't be reached. Please try again later.</p>")
        # The session says which connection this browser's sign-in is for; the provider's answer does not.
        cookies = [("sign-in", begun.sign_in), ("connection", connection.id)]
        self.redirect(begun.authorization_url, *(cookie(f"__Host-{name}-{begun.state}", value, 600) for name, value in cookies))

    def finish_sign_in(self, named: str, parameters: list[tuple[str, str]]) -> None:
        response = dict(parameters)
        state = response.get("state", "")
        names = [f"__Host-sign-in-{state}", f"__Host-connection-{state}"]
        sign_in, id = (self.cookie(name) for name in names)
        if sign_in is None or id != named or len(response) != len(parameters):
            return self.page(400, "<p>This sign-in was begun in another browser, or too long ago.</p>")
        done = [cookie(name, "", 0) for name in names]
        try:
            user, _ = connections.finish(id, sign_in, response)
        except (AssayError, Invalid) as error:
            logging.warning("finish: %s", error)
            return self.page(400, "<p>That did not work. Please sign in again.</p>", *done)
        session = secrets.token_urlsafe(32)
        users.pop(self.cookie("__Host-session") or "", None)
        users[session] = user
        self.redirect(ORIGIN, *done, cookie("__Host-session", session, 30 * 86_400))

    # HTTP

    def cookie(self, name: str) -> str | None:
        """Two cookies of one name count as none, because one of them may be an attacker's."""
        pairs = (pair.strip(" \t").partition("=") for pair in ";".join(self.headers.get_all("Cookie", [])).split(";"))
        values = [value for each, equals, value in pairs if equals and each == name]
        return values[0] if len(values) == 1 else None

    def redirect(self, url: str, *cookies: str) -> None:
        self.answer(303, b"", ("Location", url), *(("Set-Cookie", each) for each in cookies))

    def page(self, status: int, text: str, *cookies: str) -> None:
        headers = [("Set-Cookie", each) for each in cookies]
        body = f"<!doctype html><title>Example</title>{text}".encode()
        self.answer(status, body, ("Content-Type", "text/html; charset=utf-8"), *headers)

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


def cookie(name: str, value: str, seconds: int) -> str:
    """Sent only to this host over HTTPS, and hidden from scripts."""
    return f"{name}={value}; Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite=Lax"


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Handler).serve_forever()
