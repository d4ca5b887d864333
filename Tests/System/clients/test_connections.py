"""The product of `docs/clients/python/sso.py`, with many providers of customers that `assay dev --issuers` stands in for."""

import html
import json
import re
import sqlite3
import urllib.parse

import pytest

from clients.backends import Backend, Browser
from clients.languages import CLIENTS
from harness.commands import Dev
from harness.waiting import free_port

ADMINISTRATORS = {"a-session": "acme", "b-session": "blob"}
SECRET = "acmes-client-secret-4711"


class Product(Backend):
    """The web backend with a database of its own. In place of DNS, it asks a `dig` that reads files."""

    def __init__(self, dev: Dev, directory, port: int):
        self.directory = directory
        self.database = directory / "database"
        with sqlite3.connect(self.database) as database:
            database.executescript((CLIENTS / "connections.sql").read_text())
        self.dns = directory / "dns"
        self.dns.mkdir()
        dig = directory / "dig"
        dig.write_text(f'#!/bin/sh\ncat "{self.dns}/$3" 2>/dev/null || true\n')
        dig.chmod(0o755)
        variables = {
            "DATABASE": str(self.database), "SECRETS": str(directory / "secrets"), "ADMINISTRATORS": json.dumps(ADMINISTRATORS),
            "ASSAY_ADMIN_URL": f"http://{dev.listening('admin')}", "PATH": f"{directory}:/usr/bin:/bin",
        }  # fmt: skip
        command = ["env", *(f"{name}={value}" for name, value in variables.items()), "python3", CLIENTS / "python/sso.py"]
        super().__init__(command, f"http://{dev.listening('service')}", {}, origin=f"http://localhost:{port}", port=port)

    def rows(self, query: str) -> list[tuple]:
        with sqlite3.connect(self.database) as database:
            return database.execute(query).fetchall()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    port = free_port()
    with Dev("--issuers", "100", "--origin", f"http://localhost:{port}") as dev:
        product = Product(dev, tmp_path_factory.mktemp("product"), port)
        yield dev, product
        product.stop()
    assert SECRET not in product.log


@pytest.fixture
def dev(running):
    return running[0]


@pytest.fixture
def product(running):
    return running[1]


def administrator(product, session: str) -> Browser:
    browser = Browser(product)
    browser.cookies["__Host-session"] = session
    return browser


def issuer(dev, number: int) -> str:
    return f"http://{dev.issuer_address}/connections/{number}"


def save(browser: Browser, dev, number: int, **more) -> str:
    """The id of the new connection with this number's issuer."""
    entered = {"issuer": issuer(dev, number), "client_id": f"client-{number}", "auth": "client_secret_post", "secret": SECRET}
    page = browser.post("/connections", entered | more)
    assert page.status == 200, page.body
    found = re.search("id=id>([^<]+)<", page.body)[1]
    assert f"/callback/{found}" in page.body
    return found


def switch_on(browser: Browser, dev, number: int, domain: str = "") -> str:
    connection = save(browser, dev, number)
    token = dev.token(f"connections/{number}", nonce="theirs")["id_token"]
    page = browser.post("/connections/test", {"id": connection, "id_token": token})
    assert page.status == 200, page.body
    assert browser.post("/connections/enable", {"id": connection}).status == 200
    if domain:
        assert prove(browser, connection, domain) == 200
    return connection


def prove(browser: Browser, connection: str, domain: str) -> int:
    page = browser.post("/domains", {"id": connection, "name": domain})
    challenge = re.search("id=challenge>([^<]+)<", page.body)[1]
    (browser._backend.dns / f"_product-challenge.{domain}").write_text(f'"other"\n"{challenge}"\n')
    return browser.post("/domains/prove", {"id": connection, "name": domain}).status


def provider_answers(dev, url: str, person: str = "kim") -> dict[str, str]:
    """What the provider sends to the redirect URI once the person has signed in."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = dev.ask_issuer("POST", url.split(dev.issuer_address)[1], f"person={person}&action=sign-in".encode(), form)
    assert answer.status == 303, answer.body
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.header("Location")).query))


def sign_in(dev, product, email: str) -> tuple[Browser, str]:
    """A browser that has signed in, and what the product's first page says."""
    browser = Browser(product)
    begun = browser.get("/sign-in", {"email": email})
    assert begun.status == 303, begun.body
    redirect_uri = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun.location).query))["redirect_uri"]
    done = browser.get(urllib.parse.urlsplit(redirect_uri).path, provider_answers(dev, begun.location))
    assert done.status == 303, done.body
    return browser, browser.get("/").body


def test_a_customer_enters_tests_and_uses_its_own_provider(dev, product):
    connection = switch_on(administrator(product, "a-session"), dev, 1, "acme.example")
    _, first = sign_in(dev, product, "kim@acme.example")
    assert "Signed in as user" in first
    _, again = sign_in(dev, product, "KIM@ACME.EXAMPLE")
    assert again == first
    rows = product.rows(f"SELECT customer, issuer FROM connection_users WHERE connection = '{connection}'")
    assert rows == [("acme", issuer(dev, 1))]
    # The secret is where secrets are, and nowhere else.
    assert SECRET.encode() not in product.database.read_bytes()
    assert (product.directory / "secrets" / connection).read_text() == SECRET


def test_two_customers_may_name_the_same_issuer(dev, product):
    """The second is not an administrator of that issuer, but it has a client there."""
    switch_on(administrator(product, "a-session"), dev, 2, "two.example")
    switch_on(administrator(product, "b-session"), dev, 2, "three.example")
    users = {sign_in(dev, product, f"kim@{domain}.example")[1] for domain in ("two", "three")}
    assert len(users) == 2


def test_a_connection_is_off_until_a_token_has_passed(dev, product):
    browser = administrator(product, "a-session")
    connection = save(browser, dev, 3)
    assert browser.post("/connections/enable", {"id": connection}).status == 400
    of_another = dev.token("connections/4")["id_token"]
    page = browser.post("/connections/test", {"id": connection, "id_token": of_another})
    assert page.status == 422 and issuer(dev, 4) in html.unescape(page.body)
    expired = dev.token("connections/3", claims={"exp": 1})["id_token"]
    assert browser.post("/connections/test", {"id": connection, "id_token": expired}).status == 422
    assert browser.post("/connections/enable", {"id": connection}).status == 400
    good = dev.token("connections/3")["id_token"]
    assert browser.post("/connections/test", {"id": connection, "id_token": good}).status == 200
    # Any change needs another test.
    changed = {"id": connection, "issuer": issuer(dev, 4), "client_id": "client-4", "auth": "none"}
    assert browser.post("/connections", changed).status == 200
    assert browser.post("/connections/enable", {"id": connection}).status == 400


def test_an_administrator_reaches_only_the_customers_own_connections(dev, product):
    connection = switch_on(administrator(product, "a-session"), dev, 5)
    other = administrator(product, "b-session")
    attempts = [
        ("/connections", {"id": connection, "issuer": issuer(dev, 6), "client_id": "x", "auth": "none"}),
        ("/connections/test", {"id": connection, "id_token": dev.token("connections/5")["id_token"]}),
        ("/connections/enable", {"id": connection}),
    ]
    for path, form in attempts:
        assert other.post(path, form).status == 400
    assert product.rows(f"SELECT issuer FROM connections WHERE id = '{connection}'") == [(issuer(dev, 5),)]
    assert Browser(product).get("/connections").status == 403
    assert Browser(product).post("/connections", attempts[0][1]).status == 403
    assert other.post("/connections", attempts[0][1], origin="https://evil.example").status == 403


@pytest.mark.parametrize(
    "entered",
    [{"issuer": "ftp://a.example"}, {"issuer": "https://a.example/?x"}, {"issuer": "https://u@a.example"}, {"auth": "magic"},
     {"client_id": ""}],
)  # fmt: skip
def test_what_cannot_be_a_connection_is_not_saved(dev, product, entered):
    usual = {"issuer": "https://id.example", "client_id": "c", "auth": "none"}
    before = product.rows("SELECT count(*) FROM connections")
    assert administrator(product, "a-session").post("/connections", usual | entered).status == 400
    assert product.rows("SELECT count(*) FROM connections") == before


def test_a_domain_is_proved_by_dns_and_belongs_to_one_customer(dev, product):
    acme, blob = administrator(product, "a-session"), administrator(product, "b-session")
    acmes, blobs = save(acme, dev, 11), save(blob, dev, 12)
    asked = {"id": acmes, "name": "contested.example"}
    # Both may ask; the one that can write the record has it.
    assert acme.post("/domains", asked).status == 200
    assert acme.post("/domains/prove", asked).status == 400
    assert prove(blob, blobs, "contested.example") == 200
    assert prove(acme, acmes, "contested.example") == 400
    assert acme.post("/domains", {"id": acmes, "name": "not a domain"}).status == 400
    assert acme.post("/domains", {"id": blobs, "name": "blob.example"}).status == 400
    assert Browser(product).get("/sign-in", {"email": "kim@unproved.example"}).status == 404
    # Its connection is not on.
    assert Browser(product).get("/sign-in", {"email": "kim@contested.example"}).status == 404


def test_a_callback_of_another_connection_signs_nobody_in(dev, product):
    """Another customer's provider returns the code to its own redirect URI: a mix-up."""
    first = switch_on(administrator(product, "a-session"), dev, 7, "seven.example")
    second = switch_on(administrator(product, "b-session"), dev, 8, "eight.example")
    browser = Browser(product)
    begun = browser.get("/sign-in", {"email": "kim@seven.example"})
    response = provider_answers(dev, begun.location)
    assert browser.get(f"/callback/{second}", response).status == 400
    # A handle that was swapped, with the session of the other connection: Assay refuses before it sends anything.
    other = Browser(product)
    of_other = other.get("/sign-in", {"email": "kim@eight.example"})
    answer = provider_answers(dev, of_other.location)
    handle = f"__Host-sign-in-{response['state']}"
    other.cookies |= {
        f"__Host-sign-in-{response['state']}": browser.cookies[handle], f"__Host-connection-{response['state']}": second,
    }  # fmt: skip
    assert other.get(f"/callback/{second}", answer | {"state": response["state"]}).status == 400
    # The browser that began it can still finish.
    assert browser.get(f"/callback/{first}", response).status == 303
    assert other.get(f"/callback/{second}", answer).status == 303


def test_a_provider_that_is_down_stops_only_its_own_users(dev, product):
    switch_on(administrator(product, "a-session"), dev, 9, "nine.example")
    switch_on(administrator(product, "b-session"), dev, 10, "ten.example")
    dev.ask_issuer("POST", "/faults", {"provider": "connections/9", "fault": "down"})
    begun = Browser(product).get("/sign-in", {"email": "kim@nine.example"})
    if begun.status == 303:
        # Its document is known; its token endpoint is not reached. The page of the provider is down, too.
        assert dev.ask_issuer("GET", begun.location.split(dev.issuer_address)[1]).status == 503
    assert "Signed in" in sign_in(dev, product, "kim@ten.example")[1]
    dev.ask_issuer("POST", "/reset")
