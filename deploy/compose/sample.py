"""A web app whose users sign in through the browser, with Assay and nothing else: Python's standard library.

    assay dev                        in one terminal
    assay dev --sample > sample.py   in another, to get this file
    python3 sample.py                then open http://localhost:8000

It begins and finishes sign-ins, refreshes, deletes accounts, and receives the providers' notifications. Copy it, replace the
dictionaries with your tables, and run it behind TLS: without TLS, browsers accept these cookies only from localhost.
"""

import html
import http.client
import json
import os
import re
import secrets
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ORIGIN = os.environ.get("ORIGIN") or "http://localhost:8000"  # the redirect URIs are ORIGIN/callback/PROVIDER
ASSAY = os.environ.get("ASSAY", "127.0.0.1:8080")
PROVIDERS = os.environ.get("PROVIDERS", "apple google microsoft oidc").split()
SESSION = "__Host-session"

users: dict[tuple[str, str], dict] = {}  # by issuer and subject, never by address
sessions: dict[str, tuple[str, str]] = {}  # who is signed in


def ask(path: str, **members) -> tuple[int, dict]:
    """Calls Assay. Never retry a finish automatically: a sign-in can be finished only once."""
    connection = http.client.HTTPConnection(ASSAY, timeout=15)
    connection.request("POST", path, json.dumps(members), {"Content-Type": "application/json"})
    response = connection.getresponse()
    body = response.read()
    return response.status, json.loads(body) if body else {}


class App(BaseHTTPRequestHandler):
    # MARK: Sign-in

    def begin_sign_in(self, provider: str):
        status, begun = ask("/v1/sign-ins", provider=provider, redirect_uri=f"{ORIGIN}/callback/{provider}")
        if status != 201:
            return self.problem(begun)
        # The sign-in belongs to this browser, so it stays in its cookie. Apple's form comes from another site.
        posts = any(part in begun["authorization_url"] for part in ("response_mode=form_post", "request=", "request_uri="))
        site = "None" if posts else "Lax"
        cookie = f"__Host-sign-in-{begun['state']}={begun['sign_in']}; Max-Age=600; SameSite={site}"
        self.redirect(begun["authorization_url"], cookie)

    def finish_sign_in(self, provider: str, response: dict[str, str]):
        name = f"__Host-sign-in-{response.get('state')}"
        status, finished = ask(
            "/v1/sign-ins/finish",
            sign_in=self.cookie(name),
            response=response,
            redirect_uri=f"{ORIGIN}/callback/{provider}",
        )
        if status != 200:
            return self.problem(finished)
        identity, grant = finished["identity"], finished["grant"]
        user = identity["issuer"], identity["subject"]
        # Apple sends the name only once, so keep the known values.
        known = users.get(user, {}).get("identity", {})
        identity = {each: known.get(each) if value is None else value for each, value in identity.items()}
        users[user] = {"identity": identity, "refresh_token": grant["refresh_token"]}
        sessions.pop(self.cookie(SESSION), None)
        session = secrets.token_urlsafe(32)
        sessions[session] = user
        self.redirect("/", f"{SESSION}={session}; SameSite=Lax", f"{name}=; Max-Age=0; SameSite=Lax")

    # MARK: Afterwards

    def refresh(self, user: tuple[str, str]):
        """Asks the provider whether the user still uses the app."""
        status, answer = ask("/v1/grants/refresh", **self.grant(user), refresh_token=users[user]["refresh_token"],
                             issuer=user[0], subject=user[1])  # fmt: skip
        if status != 200:
            return self.problem(answer)
        # Some providers give another refresh token each time.
        users[user]["refresh_token"] = answer["grant"]["refresh_token"] or users[user]["refresh_token"]
        self.redirect("/?refreshed")

    def delete(self, user: tuple[str, str]):
        """Deletes the account, and revokes the app's access."""
        ask("/v1/grants/revoke", **self.grant(user), token=users[user]["refresh_token"])
        end(user)
        del users[user]
        self.redirect("/")

    def grant(self, user: tuple[str, str]) -> dict:
        return {"provider": users[user]["identity"]["provider"]}

    def notification(self, provider: str, body: bytes):
        """Handles a notification from a provider. It may be delivered twice."""
        kind = self.headers.get_content_type()
        try:
            if kind == "application/json":
                sent = {"payload": json.loads(body)["payload"]}
            elif kind == "application/x-www-form-urlencoded":
                sent = {"token": urllib.parse.parse_qs(body.decode())["logout_token"][0]}
            else:
                sent = {"token": body.decode()}
        except (ValueError, KeyError, TypeError):
            return self.answer(400, "")
        status, answer = ask("/v1/notifications/verify", provider=provider, **sent)
        for event in answer.get("events", []):
            user = answer["notification"]["issuer"], event["subject"]
            end(user)
            if event["type"] in ("consent_revoked", "account_deleted"):
                users.pop(user, None)
        self.answer(200 if status == 200 else 400, "")

    # MARK: Pages

    def home(self, query: str):
        user = users.get(sessions.get(self.cookie(SESSION), ("", "")))
        if user is None:
            links = [f'<p><a href="/sign-in/{each}">Sign in with {each}</a></p>' for each in PROVIDERS]
            return self.page("Sign in", "".join(links))
        identity = {name: value for name, value in user["identity"].items() if value is not None}
        rows = [f"<dt>{name}</dt><dd>{html.escape(str(value))}</dd>" for name, value in identity.items()]
        buttons = [f'<button formaction="/{each}">{each.capitalize()}</button>' for each in ("refresh", "sign-out", "delete")]
        note = "<p>The provider says: still a user.</p>" if query == "refreshed" else ""
        name = identity.get("name") or identity.get("email") or identity["subject"]
        self.page(f"Hello {name}", f'{note}<dl>{"".join(rows)}</dl><form method="post">{"".join(buttons)}</form>')

    def problem(self, problem: dict):
        if problem["code"] == "grant_invalid":  # The user has removed the app at the provider.
            sessions.pop(self.cookie(SESSION), None)
        text = {"sign_in_denied": "You did not sign in."}.get(problem["code"], f"That did not work: {problem['code']}.")
        self.page(text, '<p><a href="/">Go on</a></p>', 503 if problem["status"] >= 500 else 403)

    def page(self, title: str, main: str, status: int = 200):
        title = html.escape(title)
        self.answer(status, f'<!doctype html><html lang="en"><title>{title}</title><main><h1>{title}</h1>{main}</main></html>')

    def redirect(self, url: str, *cookies: str):
        self.answer(303, "", Location=url, cookies=cookies)

    def answer(self, status: int, text: str, cookies: tuple = (), **headers: str):
        body = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        for cookie in cookies:
            self.send_header("Set-Cookie", f"{cookie}; Path=/; Secure; HttpOnly")
        self.end_headers()
        self.wfile.write(body)

    # MARK: Requests

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        match url.path.split("/")[1:]:
            case [""]:
                self.home(url.query)
            case ["sign-in", provider] if provider in PROVIDERS:
                self.begin_sign_in(provider)
            case ["callback", provider] if provider in PROVIDERS:
                self.finish_sign_in(provider, parameters(url.query))
            case _:
                self.page("Not found", "", 404)

    def do_POST(self):
        body = self.body()
        if body is None:
            return self.page("Bad request", "", 400)
        user = sessions.get(self.cookie(SESSION))
        match self.path.split("/")[1:]:
            case ["callback", provider] if provider in PROVIDERS:
                self.finish_sign_in(provider, parameters(body.decode("ascii", "replace")))
            case ["notifications", provider] if provider in PROVIDERS:
                self.notification(provider, body)
            # Prevents CSRF: other sites' pages must not submit these forms.
            case [("refresh" | "delete" | "sign-out") as action] if user and self.headers["Origin"] == ORIGIN:
                {"refresh": self.refresh, "delete": self.delete, "sign-out": self.sign_out}[action](user)
            case _:
                self.page("Not found", "", 404)

    def sign_out(self, _user: tuple[str, str]):
        sessions.pop(self.cookie(SESSION), None)
        self.redirect("/")

    def cookie(self, name: str) -> str:
        return cookie_value(";".join(self.headers.get_all("Cookie", [])), name) or ""

    def body(self) -> bytes | None:
        """At most 64 KiB; `None` if `Content-Length` is not such a length."""
        length = ",".join(self.headers.get_all("Content-Length", ["0"])).strip(" \t")
        if not re.fullmatch("[0-9]{1,5}", length) or int(length) > 65_536:
            return None
        return self.rfile.read(int(length))

    def log_request(self, *_):
        """Logs nothing, because URLs contain codes."""


def end(user: tuple[str, str]):
    for session in [session for session, whose in sessions.items() if whose == user]:
        del sessions[session]


def cookie_value(header: str, name: str) -> str | None:
    """Returns a cookie's value, byte for byte as the browser sent it (RFC 6265bis). More lenient parsers let other sites plant a
    `__Host-` cookie. Two cookies of one name count as none, because one of them may be an attacker's."""
    pairs = (pair.strip(" \t").partition("=") for pair in header.split(";"))
    values = [value for each, equals, value in pairs if equals and each == name]
    return values[0] if len(values) == 1 else None


def parameters(text: str) -> dict[str, str]:
    """Parses parameters. A repeated parameter may come from an attacker, so all are then dropped."""
    pairs = urllib.parse.parse_qsl(text, keep_blank_values=True)
    return dict(pairs) if len(dict(pairs)) == len(pairs) else {}


if __name__ == "__main__":
    server = ThreadingHTTPServer((os.environ.get("LISTEN", "127.0.0.1"), int(os.environ.get("PORT", "8000"))), App)
    print(f"open {ORIGIN}", flush=True)
    server.serve_forever()
