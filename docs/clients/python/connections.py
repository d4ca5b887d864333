"""Customers' connections to their own providers: the tables, and what a backend asks Assay. Standard library only."""

import base64
import json
import os
import pathlib
import re
import secrets
import sqlite3
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

from assay import Assay, BegunBrowserSignIn, FinishedSignIn, Refreshed

PROVIDER = "connections"  # the entry of Assay's settings that has `issuers: any`
METHODS = ("client_secret_post", "client_secret_basic", "private_key_jwt", "none")
CHALLENGE = "_product-challenge"  # the label of the TXT record that proves a domain


class Invalid(Exception):
    """What the administrator has to change."""


@dataclass(frozen=True)
class Connection:
    id: str
    customer: str
    issuer: str
    client_id: str
    auth: str
    claim_values: str
    is_tested: int
    is_enabled: int


class Secrets:
    """Client secrets in files; replace it with your secret manager. Neither the database nor its backups have them."""

    def __init__(self, directory: pathlib.Path):
        self._directory = directory
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def put(self, name: str, secret: str) -> None:
        with open(os.open(self._directory / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secret)

    def get(self, name: str) -> str:
        return (self._directory / name).read_text()


class Connections:
    """The tables of `connections.sql`.

    `redirect_uri` has `{connection}`, as in Assay's settings. `explain_url` is `/v1/explain` of Assay's admin listener.
    `txt_records` looks a DNS name up.
    """

    def __init__(
        self,
        database: sqlite3.Connection,
        assay: Assay,
        secrets: Secrets,
        redirect_uri: str,
        explain_url: str,
        txt_records: Callable[[str], list[str]],
    ):
        self._database, self._assay, self._secrets = database, assay, secrets
        self._redirect_uri, self._explain_url, self._txt_records = redirect_uri, explain_url, txt_records
        database.row_factory = sqlite3.Row

    # What an administrator enters

    def save(self, customer: str, id: str | None, entered: dict[str, str]) -> Connection:
        """Adds a connection, or changes one of this customer. It is off until it has been tested."""
        issuer, client_id, auth = (entered.get(name, "").strip() for name in ("issuer", "client_id", "auth"))
        # Assay refuses issuers by the same rule and more: names that resolve to private addresses, redirects.
        if not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", issuer) or len(issuer) > 255:
            raise Invalid("The issuer is a URL that begins with https://, as the provider's discovery document has it.")
        if not client_id or len(client_id) > 255 or auth not in METHODS:
            raise Invalid("The client ID, or how the client authenticates, is missing.")
        id = secrets.token_urlsafe(12) if id is None else self.of_customer(customer, id).id
        if secret := entered.get("secret"):
            self._secrets.put(id, secret)
        hosted = [name for name in entered.get("hd", "").split() if name]
        row = (id, customer, issuer, client_id, auth, json.dumps({"hd": hosted} if hosted else {}))
        with self._database:
            self._database.execute(
                "INSERT INTO connections (id, customer, issuer, client_id, auth, claim_values) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET issuer = excluded.issuer, client_id = excluded.client_id, "
                "auth = excluded.auth, claim_values = excluded.claim_values, is_tested = 0, is_enabled = 0",
                row,
            )
        return self.find(id)

    def find(self, id: str) -> Connection:
        row = self._database.execute("SELECT * FROM connections WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise Invalid("There is no such connection.")
        return Connection(**row)

    def of_customer(self, customer: str, id: str) -> Connection:
        """For another customer's connection, the same error as for one that does not exist."""
        connection = self.find(id)
        if connection.customer != customer:
            raise Invalid("There is no such connection.")
        return connection

    def redirect_uri(self, id: str) -> str:
        """What the administrator enters at the provider. No other connection has it."""
        return self._redirect_uri.replace("{connection}", id)

    def explain(self, customer: str, id: str, id_token: str) -> dict:
        """Has Assay explain whether a token of the provider would pass. A token that does is the test of the connection.

        No sign-in of ours began this token, so it is compared with its own nonce. It signs nobody in.
        """
        members = {"provider": PROVIDER, "id_token": id_token, "nonce": nonce_in(id_token)}
        members |= self._named(self.of_customer(customer, id))
        body = json.dumps({name: value for name, value in members.items() if value is not None}).encode()
        request = urllib.request.Request(self._explain_url, body, {"Content-Type": "application/json"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=12) as response:
            explanation = json.load(response)
        if explanation["valid"]:
            with self._database:
                self._database.execute("UPDATE connections SET is_tested = 1 WHERE id = ?", (id,))
        return explanation

    def enable(self, customer: str, id: str) -> None:
        with self._database:
            changed = self._database.execute(
                "UPDATE connections SET is_enabled = 1 WHERE id = ? AND customer = ? AND is_tested = 1", (id, customer)
            )
        if not changed.rowcount:
            raise Invalid("Test the connection first.")

    # Domains

    def claim_domain(self, customer: str, id: str, name: str) -> str:
        """The value of the TXT record with which the customer proves that the domain is its own."""
        name = name.strip().lower()
        row = (self.of_customer(customer, id).id, name, secrets.token_urlsafe(24))
        if not re.fullmatch(r"([a-z0-9-]+\.)+[a-z0-9-]+", name):
            raise Invalid("That is not a domain.")
        with self._database:
            self._database.execute("INSERT OR IGNORE INTO domains (connection, name, challenge) VALUES (?, ?, ?)", row)
        found = self._database.execute("SELECT challenge FROM domains WHERE connection = ? AND name = ?", row[:2])
        return found.fetchone()["challenge"]

    def prove_domain(self, customer: str, id: str, name: str) -> None:
        """Look again every day, and set `proved_at` to NULL once the record is gone: domains change hands."""
        name = name.strip().lower()
        if self.claim_domain(customer, id, name) not in self._txt_records(f"{CHALLENGE}.{name}"):
            raise Invalid(f"{CHALLENGE}.{name} has no TXT record with the challenge yet.")
        try:
            with self._database:
                proved = "UPDATE domains SET proved_at = ? WHERE connection = ? AND name = ?"
                self._database.execute(proved, (int(time.time()), id, name))
        except sqlite3.IntegrityError:
            raise Invalid("Another connection has proved this domain.") from None

    def of_address(self, email: str) -> Connection | None:
        """The connection that somebody with this address signs in through."""
        row = self._database.execute(
            "SELECT connections.* FROM connections JOIN domains ON domains.connection = connections.id "
            "WHERE domains.name = ? AND proved_at IS NOT NULL AND is_enabled = 1",
            (email.rpartition("@")[2].strip().lower(),),
        ).fetchone()
        return row and Connection(**row)

    def _domains(self, id: str) -> list[str]:
        proved = "SELECT name FROM domains WHERE connection = ? AND proved_at IS NOT NULL ORDER BY name"
        return [row["name"] for row in self._database.execute(proved, (id,))]

    # Sign-ins

    def _named(self, connection: Connection) -> dict:
        """The members that name a connection. They come from the table, never from a token or a browser."""
        named = {"connection": connection.id, "issuer": connection.issuer, "audience": connection.client_id}
        if values := json.loads(connection.claim_values):
            named["claim_values"] = values
        if domains := self._domains(connection.id):
            named["email_domains"] = domains
        return named

    def _client(self, connection: Connection) -> dict:
        """How the backend authenticates to the provider. Assay keeps nothing of it."""
        client = {"auth": connection.auth}
        if connection.auth.startswith("client_secret"):
            client["secret"] = self._secrets.get(connection.id)
        return client

    def begin(self, id: str, **more) -> BegunBrowserSignIn:
        connection = self.find(id)
        if not connection.is_enabled:
            raise Invalid("This connection is switched off.")
        return self._assay.begin_in_browser(PROVIDER, self.redirect_uri(id), **self._named(connection), **more)

    def finish(self, id: str, sign_in: str, response: dict[str, str]) -> tuple[int, FinishedSignIn]:
        """Finishes a sign-in of the connection that the backend's own session says, and returns the user's ID.

        Assay compares it with the one that the sign-in began with: the browser has `sign_in`, and could send another's.
        """
        connection = self.find(id)
        finished = self._assay.finish_in_browser(
            sign_in, response, redirect_uri=self.redirect_uri(id), connection=id, client=self._client(connection)
        )
        who = (connection.customer, id, finished.identity.issuer, finished.identity.subject)
        with self._database:
            insert = "INSERT OR IGNORE INTO connection_users (customer, connection, issuer, subject) VALUES (?, ?, ?, ?)"
            self._database.execute(insert, who)
        user = "SELECT user_id FROM connection_users WHERE connection = ? AND issuer = ? AND subject = ?"
        return self._database.execute(user, who[1:]).fetchone()["user_id"], finished

    def refresh(self, id: str, refresh_token: str, subject: str) -> Refreshed:
        """Both members come from the row with the grant, whose connection this is."""
        connection = self.find(id)
        return self._assay.refresh(
            PROVIDER, refresh_token, subject, **self._named(connection), client=self._client(connection)
        )


def nonce_in(id_token: str) -> str | None:
    """The nonce of a token that has not been verified."""
    try:
        payload = id_token.split(".")[1]
        nonce = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))).get("nonce")
    except (ValueError, IndexError, AttributeError):
        return None
    return nonce if isinstance(nonce, str) else None
