"""The app's side of a sign-in, as far as it runs without a phone; and what the backend keeps, in a real database."""

import json
import secrets
import sqlite3
import subprocess

import pytest
from languages import CLIENTS, environment, run

NOW = 1_700_000_000
# Stands for Apple's and Google's scripts: says what the page gave them, and answers with a token.
PAGE = """
import { offerGoogle, signInWithApple } from "./apps/sign-in.mjs";
const given = {}, nonce = process.argv[1];
const AppleID = { auth: {
  init: (options) => { given.apple = options.nonce },
  signIn: async () => ({ authorization: { id_token: "apple's" }, user: { email: "ada" } }) } };
const google = { accounts: { id: {
  initialize: (options) => { given.google = options.nonce; given.done = options.callback },
  renderButton: () => given.done({ credential: "google's" }) } } };
const sent = [await signInWithApple(AppleID, { nonce })];
offerGoogle(google, { nonce, send: (message) => sent.push(message) });
console.log(JSON.stringify({ apple: given.apple, google: given.google, sent }));
"""


def web_page(nonce: str) -> dict:
    # Debian's is 18, which has the browsers' `crypto` only if told so.
    command = ["node", "--experimental-global-webcrypto", "--input-type=module", "--eval", PAGE, nonce]
    result = subprocess.run(command, cwd=CLIENTS, env=environment(), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_what_a_web_page_gives_the_providers_is_what_assay_expects(world):
    nonce = secrets.token_urlsafe()
    page = web_page(nonce)
    assert page["sent"] == [
        {"provider": "apple", "id_token": "apple's", "user": {"email": "ada"}},
        {"provider": "google", "id_token": "google's"},
    ]
    assert page["apple"] != page["google"]
    for provider, issuer in [("apple", world.apple), ("google", world.google)]:
        token = issuer.token(nonce=page[provider])
        assert world.identity(provider=provider, id_token=token, nonce=nonce)["subject"] == "user-1"


def test_the_ios_app_is_swift():
    """Apple's frameworks are Apple's alone: what can be held here is the form."""
    run("swiftc", "-frontend", "-parse", "-swift-version", "6", "apps/SignInWithApple.swift")


@pytest.fixture
def database():
    with sqlite3.connect(":memory:") as connection:
        connection.executescript((CLIENTS / "sign_ins.sql").read_text())
        yield connection
    connection.close()


def begin(database) -> dict:
    begun = {"id": secrets.token_urlsafe(), "nonce": secrets.token_urlsafe()}
    database.execute("INSERT INTO sign_ins VALUES (:id, :nonce, :now)", begun | {"now": NOW})
    return begun


def take(database, id: str, now: int) -> list:
    return database.execute((CLIENTS / "take_nonce.sql").read_text(), {"id": id, "now": now}).fetchall()


def test_a_nonce_is_taken_once(database):
    first, second = begin(database), begin(database)
    assert take(database, first["id"], NOW + 1) == [(first["nonce"],)]
    assert take(database, first["id"], NOW + 1) == []
    assert take(database, "unknown", NOW + 1) == []
    assert take(database, second["id"], NOW + 599) == [(second["nonce"],)]


def test_a_nonce_is_good_for_ten_minutes(database):
    assert take(database, begin(database)["id"], NOW + 600) == []


def test_a_user_is_an_issuer_and_a_subject(database):
    insert = "INSERT INTO users (issuer, subject) VALUES (?, ?)"
    for user in [("https://a.example", "1"), ("https://a.example", "2"), ("https://b.example", "1")]:
        database.execute(insert, user)
    with pytest.raises(sqlite3.IntegrityError):
        database.execute(insert, ("https://a.example", "1"))
