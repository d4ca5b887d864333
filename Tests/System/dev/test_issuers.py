"""`assay dev --issuers`: the providers of a product's customers, each with an issuer of its own."""

import base64
import json
import time
import urllib.parse

import pytest

from harness.commands import Dev
from harness.service import run

COUNT = 10_000
REDIRECT = "http://localhost:8000/callback/7"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def started():
    begun = time.monotonic()
    with Dev("--issuers", str(COUNT)) as process:
        yield process, time.monotonic() - begun


@pytest.fixture
def dev(started):
    yield started[0]
    assert started[0].ask_issuer("POST", "/reset").status == 200


def document(dev, number) -> dict:
    answer = dev.ask_issuer("GET", f"/connections/{number}/.well-known/openid-configuration")
    assert answer.status == 200, answer
    return answer.json


def path(dev, url: str) -> str:
    return url.split(dev.issuer_address)[1]


def key_ids(dev, number) -> list[str]:
    return [key["kid"] for key in dev.ask_issuer("GET", path(dev, document(dev, number)["jwks_uri"])).json["keys"]]


def decoded(token: str) -> tuple[dict, dict]:
    """Header and claims."""
    return tuple(json.loads(base64.urlsafe_b64decode(part + "==")) for part in token.split(".")[:2])


def test_ten_thousand_issuers_take_no_time(started):
    dev, seconds = started
    begun = time.monotonic()
    with Dev():
        without = time.monotonic() - begun
    # Generating the keys alone would take many times this.
    assert seconds < without + 3
    assert document(dev, COUNT)["issuer"] == f"http://{dev.issuer_address}/connections/{COUNT}"


@pytest.mark.parametrize("number", ["0", str(COUNT + 1), "01", "-1", "x", "", "1.0"])
def test_there_are_no_others(dev, number):
    answer = dev.ask_issuer("GET", f"/connections/{number}/.well-known/openid-configuration")
    assert answer.status == 404 and "/connections/{n}" in answer.json["error"]


def test_each_issuer_has_its_own_document_and_keys(dev):
    seven, eight = document(dev, 7), document(dev, 8)
    base = f"http://{dev.issuer_address}/connections/7"
    assert seven["issuer"] == base
    assert (seven["authorization_endpoint"], seven["token_endpoint"]) == (f"{base}/authorize", f"{base}/token")
    assert not {value for value in seven.values() if isinstance(value, str)} & {eight["issuer"], eight["jwks_uri"], eight["token_endpoint"]}
    assert not set(key_ids(dev, 7)) & set(key_ids(dev, 8))


def test_a_token_comes_with_the_members_of_a_request(dev):
    token = dev.token("connections/7", nonce="n", person="alex")
    header, claims = decoded(token.pop("id_token"))
    assert header["kid"] in key_ids(dev, 7)
    assert (claims["iss"], claims["aud"], claims["nonce"]) == (f"http://{dev.issuer_address}/connections/7", "client-7", "n")
    assert claims["email"] == "alex@gmail.com"
    issuer = {"issuer": claims["iss"], "audience": "client-7"}
    assert token == {"provider": "connections", "connection": "7", "nonce": "n"} | issuer


def test_a_person_has_another_subject_at_each_issuer(dev):
    subjects = {decoded(dev.token(f"connections/{number}")["id_token"])[1]["sub"] for number in (1, 2, 3)}
    assert len(subjects) == 3


def code(dev, number: int, client: str) -> dict:
    query = {"response_type": "code", "client_id": client, "redirect_uri": REDIRECT, "scope": "openid", "prompt": "none"}
    endpoint = path(dev, document(dev, number)["authorization_endpoint"])
    answer = dev.ask_issuer("GET", f"{endpoint}?{urllib.parse.urlencode(query | {'nonce': 'n', 'state': 's'})}")
    location = urllib.parse.urlsplit(answer.header("Location") or "")
    return dict(urllib.parse.parse_qsl(location.query)) if answer.status == 303 else {"status": answer.status}


def exchange(dev, number: int, client: str, code: str):
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "client_id": client, "client_secret": "x"}
    endpoint = path(dev, document(dev, number)["token_endpoint"])
    return dev.ask_issuer("POST", endpoint, urllib.parse.urlencode(form).encode(), FORM)


def test_a_code_is_exchanged_where_it_was_issued(dev):
    response = code(dev, 7, "client-7")
    assert (response["state"], response["iss"]) == ("s", f"http://{dev.issuer_address}/connections/7")
    assert exchange(dev, 8, "client-8", response["code"]).status == 400
    assert exchange(dev, 7, "client-8", response["code"]).status == 401
    granted = exchange(dev, 7, "client-7", response["code"])
    assert granted.status == 200 and decoded(granted.json["id_token"])[1]["aud"] == "client-7"
    assert code(dev, 7, "client-8") == {"status": 400}


def test_one_issuer_can_fail_alone(dev):
    answer = dev.ask_issuer("POST", "/faults", {"provider": "connections/7", "fault": "down"}).json
    assert next(fault["on"] for fault in answer if fault["fault"] == "down") == ["connections/7"]
    assert dev.ask_issuer("GET", "/connections/7/keys").status == 503
    assert dev.ask_issuer("GET", "/connections/8/keys").status == 200
    assert dev.ask_issuer("POST", "/reset").status == 200
    assert dev.ask_issuer("GET", "/connections/7/keys").status == 200


def test_all_issuers_can_fail_at_once_even_those_not_yet_used(dev):
    key_ids(dev, 11)
    dev.ask_issuer("POST", "/faults", {"provider": "connections", "fault": "down"})
    assert [dev.ask_issuer("GET", f"/connections/{number}/keys").status for number in (11, 4711)] == [503, 503]
    assert dev.ask_issuer("GET", "/google/keys").status == 200
    dev.ask_issuer("POST", "/faults", {"provider": "connections/11", "fault": "down", "on": False})
    assert [dev.ask_issuer("GET", f"/connections/{number}/keys").status for number in (11, 4711)] == [200, 503]


def test_keys_of_one_issuer_can_be_rotated(dev):
    before = key_ids(dev, 21), key_ids(dev, 22)
    assert dev.ask_issuer("POST", "/rotate", {"provider": "connections/21"}).status == 200
    after = key_ids(dev, 21), key_ids(dev, 22)
    assert after[0][1:] == before[0] and after[1] == before[1]
    assert decoded(dev.token("connections/21")["id_token"])[0]["kid"] == after[0][0]


def test_an_issuer_that_is_not_there_is_named(dev):
    answer = dev.ask_issuer("POST", "/faults", {"provider": f"connections/{COUNT + 1}", "fault": "down"})
    assert answer.status == 400 and "connections/{n}" in answer.json["error"]


def test_the_page_has_one_card_for_all(dev):
    page = dev.ask_issuer("GET", "/").body.decode()
    assert page.count("/connections/{n}") == 1 and f"1 to {COUNT}" in page and 'href="/connections/1/native"' in page


def test_the_ready_line_says_how_many():
    with Dev("--issuers", "3", "--json") as dev:
        entry = json.loads(dev.output[0])["providers"][-1]
        issuer = f"http://{dev.issuer_address}/connections/{{n}}"
        assert entry == {
            "id": "connections", "preset": "oidc", "issuer": issuer, "url": issuer, "audiences": ["client-{n}"], "issuers": 3,
        }  # fmt: skip


@pytest.mark.parametrize("count", ["0", "-1", "1000001", "many"])
def test_the_number_has_bounds(count):
    result = run("dev", f"--issuers={count}", "--listen", "127.0.0.1:0")
    assert result.returncode == 64 and b"issuers" in result.stderr
