"""The double of Apple follows Apple's documentation, and refuses what Apple refuses."""

import http.client
import json
import urllib.parse

import pytest

from harness import tokens
from harness.apple import LONGEST_SECRET, Apple, Refusal

APP, WEB, REDIRECT = "com.example.app", "com.example.web", "https://example.com/callback"


@pytest.fixture
def apple():
    with Apple() as apple:
        yield apple


@pytest.fixture
def team(apple):
    return apple.team(APP, WEB, redirect_uris=[REDIRECT])


@pytest.fixture
def ada(apple):
    return apple.user("Ada", is_private_email=True)


def post(apple, path: str, headers: dict | None = None, **form) -> tuple[int, dict | None]:
    connection = http.client.HTTPConnection("127.0.0.1", int(apple.url.rsplit(":", 1)[1]), timeout=15)
    usual = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", path, urllib.parse.urlencode(form), usual | (headers or {}))
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status, json.loads(text) if text else None


def token(apple, team, client_id: str = APP, secret: str | None = None, **form) -> tuple[int, dict | None]:
    secret = secret or apple.client_secret(team, client_id)
    return post(apple, "/auth/token", client_id=client_id, client_secret=secret, **form)


def exchange(apple, team, code: str, client_id: str = APP, **more) -> tuple[int, dict | None]:
    return token(apple, team, client_id, grant_type="authorization_code", code=code, **more)


def refresh(apple, team, refresh_token: str, client_id: str = APP) -> tuple[int, dict | None]:
    return token(apple, team, client_id, grant_type="refresh_token", refresh_token=refresh_token)


def revoke(apple, team, token: str, client_id: str = APP, **more) -> tuple[int, dict | None]:
    secret = apple.client_secret(team, client_id)
    return post(apple, "/auth/revoke", client_id=client_id, client_secret=secret, token=token, **more)


def claims(text: str) -> dict:
    return json.loads(tokens.unb64url(tokens.parts(text)[1]))


def test_a_native_code_can_be_exchanged_once(apple, team, ada):
    code, id_token, user = apple.native_sign_in(APP, ada, nonce="n")
    assert claims(id_token)["nonce"] == "n" and claims(id_token)["is_private_email"] is True
    assert user == {"name": {"firstName": "Ada", "lastName": "Lovelace"}, "email": ada.email_for(team.id)}
    status, answer = exchange(apple, team, code)
    assert status == 200
    assert set(answer) == {"access_token", "token_type", "expires_in", "refresh_token", "id_token"}
    assert (answer["token_type"], answer["expires_in"]) == ("Bearer", 3600)
    assert claims(answer["id_token"])["sub"] == claims(id_token)["sub"] == ada.subject(team.id)
    assert exchange(apple, team, code) == (400, {"error": "invalid_grant"})
    # The name is sent once.
    assert apple.native_sign_in(APP, ada)[2] is None


def test_a_code_is_valid_for_five_minutes_and_only_for_its_client(apple, team, ada):
    code, _, _ = apple.native_sign_in(APP, ada)
    assert exchange(apple, team, code, WEB) == (400, {"error": "invalid_grant"})
    apple.clock_offset = 300
    assert exchange(apple, team, code) == (400, {"error": "invalid_grant"})
    code, _, _ = apple.native_sign_in(APP, ada)
    apple.clock_offset = 599
    assert exchange(apple, team, code)[0] == 200


def test_a_sign_in_on_the_web_follows_the_documentation(apple, team, ada):
    query = {
        "client_id": WEB, "redirect_uri": REDIRECT, "response_type": "code id_token", "state": "s", "nonce": "n",
        "scope": "name email", "response_mode": "form_post",
    }  # fmt: skip

    def sign_in(user=ada, **changes):
        members = {name: value for name, value in (query | changes).items() if value is not None}
        return apple.web_sign_in("https://x/auth/authorize?" + urllib.parse.urlencode(members), user)

    assert sign_in(None) == (REDIRECT, {"error": "user_cancelled_authorize", "state": "s"})
    _, parameters = sign_in()
    assert set(parameters) == {"code", "id_token", "state", "user"}
    assert "user" not in sign_in()[1]
    assert set(sign_in(response_type="code")[1]) == {"code", "state"}
    for refused in [
        {"redirect_uri": REDIRECT + "/"}, {"client_id": "x"}, {"response_type": "token"}, {"scope": "openid"},
        {"response_mode": "query"}, {"response_mode": None},
    ]:  # fmt: skip
        with pytest.raises(Refusal):
            sign_in(**refused)
    assert exchange(apple, team, parameters["code"], WEB) == (400, {"error": "invalid_client"})
    assert exchange(apple, team, parameters["code"], WEB, redirect_uri=REDIRECT)[0] == 200


def test_a_browser_gets_the_response_as_a_form(apple, team):
    query = {"client_id": WEB, "redirect_uri": REDIRECT, "response_type": "code", "response_mode": "form_post", "scope": "name"}
    connection = http.client.HTTPConnection("127.0.0.1", int(apple.url.rsplit(":", 1)[1]))
    connection.request("GET", "/auth/authorize?" + urllib.parse.urlencode(query))
    page = connection.getresponse().read().decode()
    assert f'action="{REDIRECT}"' in page and 'name="code"' in page and 'name="user"' in page


def test_a_refresh_returns_no_new_refresh_token(apple, team, ada):
    _, first = exchange(apple, team, apple.native_sign_in(APP, ada)[0])
    status, second = refresh(apple, team, first["refresh_token"])
    assert (status, set(second)) == (200, {"access_token", "token_type", "expires_in", "id_token"})
    apple.refreshes_with_id_token = False
    assert "id_token" not in refresh(apple, team, first["refresh_token"])[1]
    assert refresh(apple, team, "made up") == (400, {"error": "invalid_grant"})
    assert refresh(apple, team, first["refresh_token"], WEB) == (400, {"error": "invalid_grant"})


def test_a_refresh_after_a_revocation_is_an_invalid_request(apple, team, ada):
    _, grant = exchange(apple, team, apple.native_sign_in(APP, ada)[0])
    apple.revoke_by_person(ada, team)
    assert refresh(apple, team, grant["refresh_token"]) == (400, {"error": "invalid_request"})
    # The next sign-in counts as the first, and has the name.
    assert apple.native_sign_in(APP, ada)[2] is not None


def test_a_revocation_succeeds_for_any_token(apple, team, ada):
    _, grant = exchange(apple, team, apple.native_sign_in(APP, ada)[0])
    assert revoke(apple, team, "placeholder") == (200, None)
    assert revoke(apple, team, grant["refresh_token"], WEB) == (400, {"error": "invalid_grant"})
    assert revoke(apple, team, grant["refresh_token"], token_type_hint="x") == (400, {"error": "invalid_request"})
    assert revoke(apple, team, grant["refresh_token"], token_type_hint="refresh_token") == (200, None)
    assert revoke(apple, team, grant["refresh_token"]) == (200, None)
    assert refresh(apple, team, grant["refresh_token"]) == (400, {"error": "invalid_request"})
    assert not ada.teams


@pytest.mark.parametrize(
    "changes,fault",
    [
        ({"iss": "TEAM999999"}, "iss"), ({"iss": None}, "iss"), ({"aud": "https://appleid.apple.com/auth/token"}, "aud"),
        ({"aud": ["https://appleid.apple.com"]}, "aud"), ({"sub": WEB}, "sub"), ({"exp": 1}, "exp"), ({"exp": None}, "exp"),
        ({"iat": None}, "iat"), ({"iat": 1 << 40}, "iat"),
    ],
)  # fmt: skip
def test_an_invalid_client_secret_is_refused(apple, team, changes, fault):
    secret = apple.client_secret(team, APP, **changes)
    answer = token(apple, team, secret=secret, grant_type="refresh_token", refresh_token="r")
    assert answer == (400, {"error": "invalid_client"})
    assert apple.secret_faults == [fault]


def test_a_client_secret_is_valid_for_at_most_six_months(apple, team):
    def answer(seconds: int):
        secret = apple.client_secret(team, APP, exp=apple.now() + seconds)
        return token(apple, team, secret=secret, grant_type="refresh_token", refresh_token="r")[1]["error"]

    assert answer(LONGEST_SECRET - 5) == "invalid_grant"
    assert answer(LONGEST_SECRET + 5) == "invalid_client"


def test_a_client_secret_with_another_key_or_form_is_refused(apple, team):
    good = apple.client_secret(team, APP)
    header, payload, signature = tokens.parts(good)
    half = tokens.unb64url(signature)
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

    der = encode_dss_signature(int.from_bytes(half[:32], "big"), int.from_bytes(half[32:], "big"))
    of_another_key = tokens.jws(tokens.ec_key("x"), claims(good), header={"alg": "ES256", "kid": team.key_id})
    for secret in ["text", of_another_key, f"{header}.{payload}.{tokens.b64url(der)}", tokens.jws(team.key, claims(good), kid="x")]:
        answer = token(apple, team, secret=secret, grant_type="refresh_token", refresh_token="r")
        assert answer == (400, {"error": "invalid_client"}), secret
    assert len(apple.secret_faults) == 4


def test_malformed_requests_are_refused(apple, team, ada):
    code, _, _ = apple.native_sign_in(APP, ada)
    secret = apple.client_secret(team, APP)
    form = {"client_id": APP, "client_secret": secret, "grant_type": "authorization_code", "code": code}
    invalid = (400, {"error": "invalid_request"})
    assert post(apple, "/auth/token", {"Content-Type": "application/json"}, **form) == invalid
    assert post(apple, "/auth/token", {"Authorization": "Basic YTpi"}, **form) == invalid
    assert post(apple, "/auth/token", **(form | {"scope": "x"})) == invalid
    assert post(apple, "/auth/token", **{name: value for name, value in form.items() if name != "code"}) == invalid
    assert post(apple, "/auth/token", **{name: value for name, value in form.items() if name != "client_secret"}) == invalid
    assert post(apple, "/auth/token", **(form | {"grant_type": "password"})) == (400, {"error": "unsupported_grant_type"})
    assert post(apple, "/auth/token", **(form | {"client_id": "x"})) == (400, {"error": "invalid_client"})
    assert post(apple, "/auth/nothing", **form) == (404, {})
    # The code is still unused.
    assert post(apple, "/auth/token", **form)[0] == 200


def test_a_user_can_be_moved_to_another_team(apple, team, ada):
    other = apple.team("com.example.sold")
    _, grant = exchange(apple, team, apple.native_sign_in(APP, ada)[0])

    def migrate(team, client_id, access_token, **form):
        secret = apple.client_secret(team, client_id)
        headers = {"Authorization": "Bearer " + access_token}
        return post(apple, "/auth/usermigrationinfo", headers, client_id=client_id, client_secret=secret, **form)

    _, access = token(apple, team, grant_type="client_credentials", scope="user.migration")
    assert set(access) == {"access_token", "token_type", "expires_in"}
    status, answer = migrate(team, APP, access["access_token"], sub=ada.subject(team.id), target=other.id)
    assert (status, set(answer)) == (200, {"transfer_sub"})
    # Any user's access token is accepted too.
    assert migrate(team, APP, grant["access_token"], sub=ada.subject(team.id), target=other.id)[1] == answer
    assert migrate(team, APP, access["access_token"], sub="nobody", target=other.id) == (400, {"error": "invalid_request"})
    _, theirs = token(apple, other, "com.example.sold", grant_type="client_credentials", scope="user.migration")
    status, moved = migrate(other, "com.example.sold", theirs["access_token"], transfer_sub=answer["transfer_sub"])
    assert status == 200
    assert moved == {"sub": ada.subject(other.id), "email": ada.email_for(other.id), "is_private_email": True}
    assert moved["sub"] != ada.subject(team.id)
    bad_scope = token(apple, team, grant_type="client_credentials", scope="openid")
    assert bad_scope == (400, {"error": "invalid_scope"})


@pytest.mark.parametrize("form", ["text", "object", "array"])
def test_notifications_have_the_requested_form(apple, team, ada, form):
    body = apple.notification("email-disabled", APP, ada, form=form)
    assert set(body) == {"payload"}
    said = claims(body["payload"])
    assert (said["iss"], said["aud"]) == ("https://appleid.apple.com", APP)
    event = {"text": json.loads, "object": dict, "array": lambda events: events[0]}[form](said["events"])
    assert event["sub"] == ada.subject(team.id)
    assert event["email"].endswith("@privaterelay.appleid.com")
    assert event["event_time"] > 10**11
