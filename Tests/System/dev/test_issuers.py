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


# With the service.


def begin(dev, number: int, **members) -> dict:
    named = {"connection": str(number), "issuer": f"http://{dev.issuer_address}/connections/{number}", "audience": f"client-{number}"}
    request = {"provider": "connections", "redirect_uri": f"http://localhost:8000/callback/{number}", "prompt": "none"}
    answer = dev.api.post("/v1/sign-ins", request | named | members)
    assert answer.status == 201, answer
    return answer.json


def finish(dev, number: int, begun: dict, response: dict, **members):
    request = {"sign_in": begun["sign_in"], "response": response, "redirect_uri": f"http://localhost:8000/callback/{number}"}
    client = {"auth": "client_secret_basic", "secret": "any"}
    return dev.api.post("/v1/sign-ins/finish", request | {"connection": str(number), "client": client} | members)


def response(dev, begun: dict) -> dict:
    location = dev.ask_issuer("GET", path(dev, begun["authorization_url"])).header("Location")
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(location).query))


@pytest.mark.parametrize("number", [7, 4711, COUNT])
def test_the_service_accepts_the_tokens_of_all(dev, number):
    answer = dev.api.post("/v1/verify", dev.token(f"connections/{number}"))
    assert answer.status == 200, answer
    identity = answer.json["identity"]
    assert (identity["connection"], identity["provider"]) == (str(number), "connections")
    another = dev.token(f"connections/{number - 1}")["id_token"]
    refused = dev.api.post("/v1/verify", dev.token(f"connections/{number}") | {"id_token": another})
    # Its key is looked for first, among those of the connection's issuer.
    assert refused.code == "key_not_found"


@pytest.mark.parametrize("auth", ["client_secret_post", "client_secret_basic", "private_key_jwt", "none"])
def test_a_whole_sign_in_of_a_customer(dev, auth):
    begun = begin(dev, 31)
    client = {"auth": auth} | ({"secret": "s"} if auth.startswith("client_secret") else {})
    finished = finish(dev, 31, begun, response(dev, begun), client=client)
    assert finished.status == 200, finished
    assert finished.json["identity"]["connection"] == "31" and finished.json["grant"]["refresh_token"]
    refresh = {
        "provider": "connections", "connection": "31", "issuer": f"http://{dev.issuer_address}/connections/31", "audience": "client-31",
        "client": client, "refresh_token": finished.json["grant"]["refresh_token"], "subject": finished.json["identity"]["subject"],
    }  # fmt: skip
    assert dev.api.post("/v1/grants/refresh", refresh).status == 200


def test_a_sign_in_of_one_customer_is_not_anothers(dev):
    begun, other = begin(dev, 32), begin(dev, 33)
    answer = response(dev, begun)
    assert finish(dev, 33, begun, answer).code == "sign_in_invalid"
    assert finish(dev, 33, other, answer | {"state": other["state"]}).code == "response_issuer_mismatch"
    assert finish(dev, 32, begun, answer).status == 200


def test_the_providers_own_pages_sign_in_through_the_browser(dev):
    begun = dev.ask_issuer("GET", "/connections/1/browser", None, {"Host": dev.issuer_address})
    assert begun.status == 303, begun.body
    cookie = begun.header("Set-Cookie").split(";")[0]
    form = b"person=kim&action=sign-in"
    signed_in = dev.ask_issuer("POST", path(dev, begun.header("Location")), form, FORM)
    verdict = dev.ask_issuer("GET", path(dev, signed_in.header("Location")), None, {"Cookie": cookie})
    assert verdict.status == 200 and b"Signed in" in verdict.body, verdict.body


def test_a_teams_own_entries_have_ten_issuers(tmp_path):
    (tmp_path / "customers").write_text("https://id.acme.example their-client\n")
    entries = [
        {"id": "customers", "issuers_file": str(tmp_path / "customers")},
        {"id": "open", "issuers": "any", "nonce": {"required": True}},
    ]
    file = tmp_path / "assay.yaml"
    file.write_text(json.dumps({"providers": entries}))
    with Dev("--config", str(file)) as dev:
        for entry in ("customers", "open"):
            assert dev.api.post("/v1/verify", dev.token(f"{entry}/10")).status == 200
            assert dev.ask_issuer("GET", f"/{entry}/11/keys").status == 404
        assert "connection" not in dev.token("customers/1") and dev.token("open/1")["provider"] == "open"


def test_issuers_need_an_entry_that_has_many(tmp_path):
    file = tmp_path / "assay.yaml"
    file.write_text(json.dumps({"providers": [{"id": "google", "preset": "google", "audiences": ["a"]}]}))
    result = run("dev", "--config", str(file), "--issuers", "3", "--listen", "127.0.0.1:0")
    assert result.returncode == 1 and b"--issuers" in result.stderr
