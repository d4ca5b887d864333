"""The receiver in each language: what senders post, what it responds, and that each notification takes effect once."""

import json
import urllib.parse

import pytest

from clients.languages import API_KEY, LANGUAGES, WITH_PACKAGES
from harness.stranger import Stranger, answer, nowhere
from harness.tokens import jws, now

JSON, FORM, SET = "application/json; charset=utf-8", "application/x-www-form-urlencoded", "application/secevent+jwt"
LOGOUT = "http://schemas.openid.net/event/backchannel-logout"
RISC = "https://schemas.openid.net/secevent/risc/event-type/"


@pytest.fixture(params=LANGUAGES + WITH_PACKAGES, ids=lambda language: language.name)
def language(request):
    return request.param


def apple(world, id: str = "a1", **claims) -> str:
    event = json.dumps({"type": "consent-revoked", "sub": "001234.5678", "event_time": 1_700_000_000_000})
    usual = {"sub": None, "jti": id, "events": event}
    return json.dumps({"payload": jws(world.apple.keys[0], world.apple.claims(**(usual | claims)), typ=None)})


def logout(issuer, id: str = "l1", **claims) -> str:
    token = jws(issuer.keys[0], issuer.claims(jti=id, events={LOGOUT: {}}, **claims), typ="logout+jwt")
    return urllib.parse.urlencode({"logout_token": token})


def security_event(world, id: str = "s1") -> str:
    events = {RISC + "sessions-revoked": {}, RISC + "account-disabled": {"reason": "hijacking"}}
    return jws(world.oidc.keys[0], world.oidc.claims(jti=id, exp=None, events=events), typ="secevent+jwt")


def test_every_senders_notification_takes_effect_once(program, world):
    receiver = program(world.url, API_KEY)
    assert receiver.receive(JSON, apple(world)) == (200, ["consent_revoked"])
    assert receiver.receive(FORM, logout(world.oidc)) == (200, ["logged_out"])
    assert receiver.receive(SET, security_event(world)) == (200, ["sessions_revoked", "account_disabled"])
    # Delivered again, one of them with another signature.
    assert receiver.receive(JSON, apple(world, iat=now() - 1)) == (200, [])
    assert receiver.receive(FORM, logout(world.oidc)) == (200, [])
    assert receiver.receive(SET, security_event(world) + "\r\n") == (200, [])
    assert receiver.receive(JSON, apple(world, "a2")) == (200, ["consent_revoked"])


def test_refused_notifications_get_400_and_have_no_effect(program, world):
    receiver = program(world.url, API_KEY)
    refused = [
        (JSON, apple(world, aud="another")), (JSON, apple(world, iss="https://elsewhere.example")), (JSON, "{}"), (JSON, "no JSON"),
        (JSON, json.dumps({"payload": world.apple.token(jti="1")})), (FORM, logout(world.oidc, nonce="n")),
        (FORM, "token=x"), (FORM, ""), (SET, "no token"), (SET, ""),
    ]  # fmt: skip
    for content_type, body in refused:
        assert receiver.receive(content_type, body) == (400, []), body
    assert receiver.receive(JSON, apple(world)) == (200, ["consent_revoked"])


def test_a_notification_that_cannot_be_verified_gets_503(program, world):
    receiver = program(world.url, API_KEY)
    assert receiver.receive(FORM, logout(world.down)) == (503, [])


def test_while_assay_is_down_notifications_get_503(program):
    receiver = program(nowhere(), API_KEY)
    assert receiver.receive(SET, "a.b.c") == (503, [])


STRANGE = {
    "a wrong key": (answer(401, {"code": "caller_unauthenticated", "request_id": "1"}), 500),
    "a page": (answer(200, "<html>"), 500),
    "another object": (answer(200, {"events": []}), 500),
    "a broken gateway": (answer(502, "<html>"), 500),
    "overload": (answer(503, {"code": "overloaded", "request_id": "1"}, Retry_After="1"), 503),
}


@pytest.mark.parametrize("name", STRANGE)
def test_responses_that_assay_never_sends_have_no_effect(program, name):
    octets, status = STRANGE[name]
    receiver = program(Stranger(octets).url, API_KEY)
    assert receiver.receive(SET, "a.b.c") == (status, [])
