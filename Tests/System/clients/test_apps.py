"""The app's side of a sign-in, as far as it runs without a phone, and the backend's storage in a real database."""

import hashlib
import importlib
import json
import pathlib
import secrets
import shutil
import sqlite3
import subprocess
import sys
import urllib.parse

import pytest

from clients.languages import API_KEY, CLIENTS, environment, run
from harness.stranger import nowhere

NOW = 1_700_000_000
# Stands in for Apple's and Google's scripts: reports what the page passes to them, and returns a token.
PAGE = """
import { offerGoogle, signInWithApple } from "./apps/sign-in.mjs";
const given = {}, { nonce, nonce_sha256: nonceSha256 } = JSON.parse(process.argv[1]);
const AppleID = { auth: {
  init: (options) => { given.apple = options.nonce },
  signIn: async () => ({ authorization: { id_token: "apple's" }, user: { email: "ada" } }) } };
const google = { accounts: { id: {
  initialize: (options) => { given.google = options.nonce; given.done = options.callback },
  renderButton: () => given.done({ credential: "google's" }) } } };
const sent = [await signInWithApple(AppleID, { nonceSha256 })];
offerGoogle(google, { nonce, send: (message) => sent.push(message) });
console.log(JSON.stringify({ apple: given.apple, google: given.google, sent }));
"""


def node(script: str, *arguments: str, directory: pathlib.Path = CLIENTS):
    """The JSON that a script prints."""
    # In Debian's version 18, the browsers' `crypto` needs a flag. `--` protects nonces that begin with a hyphen
    # from being parsed as options.
    command = ["node", "--experimental-global-webcrypto", "--input-type=module", "--eval", script, "--", *arguments]
    result = subprocess.run(command, cwd=directory, env=environment(), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def nonces(begun: dict) -> str:
    """What the backend sends to an app or page for a sign-in: everything but the handle."""
    return json.dumps({form: begun[form] for form in ("nonce", "nonce_sha256")})


def test_the_web_page_sends_providers_the_nonce_that_assay_expects(world):
    for provider, issuer in [("apple", world.apple), ("google", world.google)]:
        begun = world.begin(provider)
        page = node(PAGE, nonces(begun))
        assert page["sent"] == [
            {"provider": "apple", "id_token": "apple's", "user": {"email": "ada"}},
            {"provider": "google", "id_token": "google's"},
        ]
        assert page["apple"] != page["google"]
        assert world.finish(begun, issuer.token(nonce=page[provider]))["subject"] == "user-1"


CANCELLED = """
import { signInWithApple } from "./apps/sign-in.mjs";
const page = (error) => ({ auth: { init() {}, signIn: async () => { throw { error } } } });
const errors = ["popup_closed_by_user", "user_cancelled_authorize", "invalid_client"];
const ask = (error) => signInWithApple(page(error), { nonceSha256: "n" }).then((sent) => sent, (refusal) => refusal.error);
console.log(JSON.stringify(await Promise.all(errors.map(ask))));
"""


def test_a_cancelled_sign_in_on_the_web_is_not_an_error():
    assert node(CANCELLED) == [None, None, "invalid_client"]


# Stands in for React Native's packages, and reports the nonce that each provider receives.
REACT_NATIVE = """
import { signInWithApple, signInWithAppleByExpo, signInWithGoogle } from "./react-native.mjs";
const { nonce, nonce_sha256: nonceSha256 } = JSON.parse(process.argv[1]), given = {};
const sha256 = async (text) => Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
  (octet) => octet.toString(16).padStart(2, "0")).join("");
const name = { givenName: "Ada", familyName: null, nickname: null };
const appleAuth = { Operation: { LOGIN: 1 }, Scope: {}, Error: { CANCELED: "1001" }, performRequest: async (options) => {
  given.apple = await sha256(options.nonce);
  return { identityToken: "apple's", fullName: name };
} };
const expo = { AppleAuthenticationScope: {}, signInAsync: async (options) => {
  given.expo = options.nonce;
  return { identityToken: "apple's", fullName: { givenName: null, familyName: null } };
} };
const google = { configure() {}, presentExplicitSignIn: async (options) => {
  given.google = options.nonce;
  return { type: "success", data: { idToken: "google's" } };
} };
const fails = (code) => async () => { throw { code } };
const sent = [await signInWithApple(appleAuth, nonce), await signInWithAppleByExpo(expo, nonceSha256),
  await signInWithGoogle(google, "web", nonce)];
const cancelled = [await signInWithApple({ ...appleAuth, performRequest: fails("1001") }, nonce),
  await signInWithAppleByExpo({ ...expo, signInAsync: fails("ERR_REQUEST_CANCELED") }, nonceSha256),
  await signInWithGoogle({ ...google, presentExplicitSignIn: async () => ({ type: "cancelled", data: null }) }, "web", nonce)];
const failed = await signInWithApple({ ...appleAuth, performRequest: fails("1000") }, nonce).catch((error) => error.code);
console.log(JSON.stringify({ given, sent, cancelled, failed }));
"""


def test_react_native_sends_providers_the_nonce_that_assay_expects(world, tmp_path):
    shutil.copy(CLIENTS / "apps/react-native.js", tmp_path / "react-native.mjs")
    begun = world.begin("apple")
    said = node(REACT_NATIVE, nonces(begun), directory=tmp_path)
    apple = {"id_token": "apple's"}
    user = {"name": {"firstName": "Ada", "lastName": None}}
    assert said["sent"] == [apple | {"user": user}, apple, {"id_token": "google's"}]
    assert (said["cancelled"], said["failed"]) == ([None, None, None], "1000")
    assert said["given"]["apple"] == said["given"]["expo"]
    token = world.apple.token(nonce=said["given"]["apple"])
    assert world.finish(begun, token, user=user)["given_name"] == "Ada"
    begun = world.begin("google")
    given = node(REACT_NATIVE, nonces(begun), directory=tmp_path)["given"]
    assert world.finish(begun, world.google.token(nonce=given["google"]))["subject"] == "user-1"


@pytest.mark.parametrize("file", sorted((CLIENTS / "apps").glob("*.swift")), ids=lambda file: file.name)
def test_the_ios_app_is_valid_swift(file):
    """Only checks the syntax, because Apple's and Google's frameworks exist only on Apple's systems."""
    run("swiftc", "-frontend", "-parse", "-swift-version", "6", file)


NAMES = """
import Foundation
var name = PersonNameComponents()
let encoder = JSONEncoder()
func line(_ user: AppleUser?) throws { print(String(decoding: try encoder.encode(user), as: UTF8.self)) }
try line(AppleUser(nil))
try line(AppleUser(name))
name.familyName = "Lovelace"
try line(AppleUser(name))
name.givenName = "Ada"
try line(AppleUser(name))
"""


def test_assay_accepts_the_user_object_from_ios(world, tmp_path):
    (tmp_path / "main.swift").write_text(NAMES)
    run("swiftc", "-swift-version", "6", "-o", tmp_path / "names", "apps/AppleUser.swift", tmp_path / "main.swift")
    output = subprocess.run([tmp_path / "names"], capture_output=True, text=True, check=True).stdout
    without, empty, family, full = (json.loads(line) for line in output.splitlines())
    assert (without, empty, family) == (None, None, {"name": {"lastName": "Lovelace"}})
    token = world.apple.token(nonce=None)
    identity = world.identity(provider="apple", id_token=token, user=full)
    assert (identity["name"], identity["name_source"]) == ("Ada Lovelace", "client")


# MARK: A backend


@pytest.fixture
def backend(world, monkeypatch):
    """A function that imports a module of the pages, and a client of the running service."""
    for folder in (".", "python", "apps"):
        monkeypatch.syspath_prepend(CLIENTS / folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    client = importlib.import_module("assay")
    return importlib.import_module, client.Assay(world.url, API_KEY)


def test_the_pages_backend_finishes_a_sign_in_once(world, backend, caplog):
    load, assay = backend
    page = load("sign_in")
    page.assay = assay
    begun = page.begin("google")
    assert set(begun) == {"sign_in", "nonce", "nonce_sha256"}
    token = world.google.token(nonce=begun["nonce"])
    message = {"sign_in": begun["sign_in"], "id_token": token}
    assert page.finish(message | {"id_token": world.google.token(nonce="another")}) == (401, {"error": "start a new sign-in"})
    status, user = page.finish(message)
    assert (status, user["subject"]) == (200, "user-1")
    assert page.finish(message) == (401, {"error": "start a new sign-in"})
    assert page.finish(message | {"sign_in": 5}) == (500, {"error": "internal error"})
    page.assay = type(assay)(nowhere())
    assert page.finish(message) == (503, {"error": "try again later"})
    assert ["nonce_mismatch" in caplog.text, begun["sign_in"] in caplog.text, token in caplog.text] == [True, False, False]


def test_a_web_page_keeps_its_sign_in_in_a_cookie(world, backend):
    load, assay = backend
    module = load("web_sign_in")
    sign_ins = module.WebSignIns(assay, {"google": "client", "apple": "client"})
    page, apples = sign_ins.begin("apple")
    assert set(page) == {"nonce", "nonce_sha256"}
    name, _, attributes = apples.partition("=")
    assert (name, attributes.partition("; ")[2]) == (
        "__Host-sign-in-apple",
        "Max-Age=600; Path=/; Secure; HttpOnly; SameSite=Lax",
    )
    # The page's other button has its own cookie.
    _, googles = sign_ins.begin("google")
    cookies = "; ".join(["session=1", *(each.partition(";")[0] for each in (googles, apples))])
    message = {"provider": "apple", "id_token": world.apple.token(nonce=page["nonce_sha256"])}
    finished, dropped = sign_ins.finish(cookies, message)
    assert finished.identity.subject == "user-1"
    assert dropped.startswith("__Host-sign-in-apple=; Max-Age=0; Path=/; Secure;")
    with pytest.raises(load("assay").AssayError, match="sign_in_replayed"):
        sign_ins.finish(cookies, message)
    for other in ("session=1", googles.partition(";")[0]):
        with pytest.raises(KeyError):
            sign_ins.finish(other, message)
    with pytest.raises(KeyError):
        sign_ins.begin("another")


# MARK: Apple's form


@pytest.fixture
def apple_sign_ins(backend):
    load, assay = backend
    module = load("apple_callback")
    return module.AppleSignIns(assay, "client", "https://backend.example/apple", "https://app.example/signed-in")


@pytest.fixture
def refusal(backend):
    """Expects that a finish is refused with a code."""
    error = backend[0]("assay").AssayError
    return lambda code: pytest.raises(error, match=code)


def begin_with_apple(sign_ins) -> tuple[str, dict]:
    """Begins a sign-in; returns the app's handle and the parameters for Apple's page."""
    begun = sign_ins.begin()
    url = urllib.parse.urlsplit(begun["url"])
    assert (url.scheme, url.netloc, url.path) == ("https", "appleid.apple.com", "/auth/authorize")
    assert begun["sign_in"] not in begun["url"]
    return begun["sign_in"], dict(urllib.parse.parse_qsl(url.query))


def answer(sign_ins, **form: str) -> dict:
    """Posts Apple's form; returns the query of the app link."""
    link = urllib.parse.urlsplit(sign_ins.callback(urllib.parse.urlencode(form).encode()))
    assert (link.netloc, link.path) == ("app.example", "/signed-in")
    return dict(urllib.parse.parse_qsl(link.query))


def test_apples_form_signs_in_the_user_who_began_the_sign_in(world, apple_sign_ins):
    sign_in, asked = begin_with_apple(apple_sign_ins)
    assert (asked["response_mode"], asked["scope"]) == ("form_post", "name email")
    token = world.apple.token(nonce=asked["nonce"])
    user = json.dumps({"name": {"firstName": "Ada", "middleName": "King", "lastName": "Lovelace"}, "email": "ada@example.com"})
    form = {"state": asked["state"], "code": "c", "id_token": token, "user": user}
    ticket = answer(apple_sign_ins, **form)["ticket"]
    assert apple_sign_ins.finish(ticket, sign_in).identity.name == "Ada Lovelace"
    # Ticket and form are single-use.
    assert apple_sign_ins.finish(ticket, sign_in) is None
    assert answer(apple_sign_ins, **form) == {"error": "sign_in_unknown"}


def test_apples_form_signs_in_no_one_else(world, apple_sign_ins, refusal):
    sign_in, asked = begin_with_apple(apple_sign_ins)
    token = world.apple.token(nonce=asked["nonce"])
    ticket = answer(apple_sign_ins, state=asked["state"], id_token=token)["ticket"]
    # An intercepted ticket, with the handle of another user's sign-in and with a made-up one.
    others, other = begin_with_apple(apple_sign_ins)
    with refusal("nonce_mismatch"):
        apple_sign_ins.finish(ticket, others)
    with refusal("sign_in_invalid"):
        apple_sign_ins.finish(ticket, "made-up")
    # A token of another sign-in, and no sign-in at all.
    with refusal("nonce_mismatch"):
        apple_sign_ins.finish(answer(apple_sign_ins, state=other["state"], id_token=token)["ticket"], others)
    assert answer(apple_sign_ins, state="made-up", id_token=token) == {"error": "sign_in_unknown"}
    assert answer(apple_sign_ins) == {"error": "sign_in_unknown"}
    # None of these used it up.
    assert apple_sign_ins.finish(ticket, sign_in).identity.subject == "user-1"


@pytest.mark.parametrize(("error", "told"), [("user_cancelled_authorize", "cancelled"), ("invalid_request", "refused")])
def test_apples_form_may_report_that_the_user_cancelled(apple_sign_ins, error, told):
    _, asked = begin_with_apple(apple_sign_ins)
    assert answer(apple_sign_ins, state=asked["state"], error=error) == {"error": told}


@pytest.mark.parametrize("user", ["", "{}", "nonsense", "[]", '{"name": null}', '{"name": {"firstName": 5}}'])
def test_a_user_object_without_a_name_is_ignored(world, apple_sign_ins, user):
    sign_in, asked = begin_with_apple(apple_sign_ins)
    ticket = answer(apple_sign_ins, state=asked["state"], id_token=world.apple.token(nonce=asked["nonce"]), user=user)["ticket"]
    assert apple_sign_ins.finish(ticket, sign_in).identity.name is None


# MARK: Without the service


@pytest.fixture
def database():
    with sqlite3.connect(":memory:") as connection:
        connection.executescript((CLIENTS / "sign_ins.sql").read_text())
        connection.executescript((CLIENTS / "users.sql").read_text())
        yield connection
    connection.close()


def begin(database) -> dict:
    begun = {"id": secrets.token_urlsafe(), "nonce": secrets.token_urlsafe()}
    database.execute("INSERT INTO sign_ins VALUES (:id, :nonce, :now)", begun | {"now": NOW})
    return begun


def take(database, id: str, now: int) -> list:
    return database.execute((CLIENTS / "take_nonce.sql").read_text(), {"id": id, "now": now}).fetchall()


def test_a_nonce_can_be_taken_once(database):
    first, second = begin(database), begin(database)
    assert take(database, first["id"], NOW + 1) == [(first["nonce"],)]
    assert take(database, first["id"], NOW + 1) == []
    assert take(database, "unknown", NOW + 1) == []
    assert take(database, second["id"], NOW + 599) == [(second["nonce"],)]


def test_a_nonce_expires_after_ten_minutes(database):
    assert take(database, begin(database)["id"], NOW + 600) == []


def test_issuer_and_subject_identify_a_user(database):
    insert = "INSERT INTO users (issuer, subject) VALUES (?, ?)"
    for user in [("https://a.example", "1"), ("https://a.example", "2"), ("https://b.example", "1")]:
        database.execute(insert, user)
    with pytest.raises(sqlite3.IntegrityError):
        database.execute(insert, ("https://a.example", "1"))


def test_assay_accepts_the_pages_request(world):
    page = (CLIENTS / "doing-it-yourself.md").read_text()
    head, body = page.partition("```http\n")[2].partition("\n```")[0].split("\n\n")
    assert head.splitlines() == ["POST /v1/verify HTTP/1.1", "Content-Type: application/json"]
    request = json.loads(body)
    token = world.apple.token(nonce=hashlib.sha256(request["nonce"].encode()).hexdigest())
    assert world.identity(**request | {"id_token": token})["subject"] == "user-1"
