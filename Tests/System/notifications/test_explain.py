"""`POST /v1/explain` and `assay explain` with a notification: every check, and the same code as the verification."""

import json

import pytest

from harness import commands
from harness.client import contract
from harness.service import Service, provider, run, write_config
from harness.tokens import now, rsa_key

from .test_notifications import LOGOUT, PATH, RISC, logout_token

NAMES = [
    *("token_form", "provider", "header", "algorithm", "key", "signature", "issuer", "key_issuer", "audience", "events"),
    *("expiry", "not_before", "issued_at", "token_age", "token_id", "nonce", "subject"),
]


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("explained-logout", rsa_key("op"))


@pytest.fixture(scope="module")
def settings(issuer, shared_server):
    silent = shared_server.issuer("explained-silent", rsa_key("silent"))
    return [provider(issuer, notifications=["logout"]), provider(silent, "silent")]


@pytest.fixture(scope="module")
def service(settings):
    with Service(*settings) as service:
        service.wait_until_ready()
        yield service


def explain(service, token, **members) -> dict:
    """The explanation, which gives the code of the verification."""
    response = service.admin.post("/v1/explain", {"as": "notification", "token": token} | members)
    assert response.status == 200, response
    answer = response.json
    assert [check["name"] for check in answer["checks"]] == NAMES
    verified = service.api.post(PATH, {"token": token} | members)
    assert answer["code"] == (None if verified.status == 200 else verified.json["code"])
    assert answer["valid"] == (verified.status == 200)
    return answer


def test_a_valid_notification(service, issuer):
    answer = explain(service, logout_token(issuer))
    assert answer["summary"] == "The notification is valid: the provider oidc sent it to this app."
    assert answer["provider"] == "oidc" and answer["keys"]["state"] == "ready" and answer["token"]["claims"]
    assert [check["name"] for check in answer["checks"] if check["state"] == "not_asked"] == ["key_issuer"]


@pytest.mark.parametrize(
    "check, code, claims, words",
    [
        ("header", "header_unsupported", {"header": {"typ": "at+jwt"}}, ("another kind of token", "logout_token")),
        ("audience", "audience_mismatch", {"aud": "another"}, ("has other audiences", "audiences of the provider oidc")),
        ("events", "claim_missing", {"events": None}, ("no events", "logout_token")),
        ("events", "claim_invalid", {"events": {"x": 1}}, ("none of the known forms", "Check that")),
        ("events", "claim_invalid", {"events": {RISC + "account-disabled": {}}}, ("of the kind security_event", "add security_event")),
        ("events", "header_unsupported", {"header": {"typ": "secevent+jwt"}}, ("declares one kind of notification", "Report it")),
        ("expiry", "token_expired", {"exp": now() - 3600}, ("expired", "queue")),
        ("token_age", "token_too_old", {"iat": now() - 9 * 86_400}, ("notifications_max_age", "raise notifications_max_age")),
        ("token_id", "claim_missing", {"jti": None}, ("has no jti", "jti")),
        ("nonce", "claim_invalid", {"nonce": "n"}, ("must not have", "logout_token")),
        ("subject", "claim_missing", {"sub": None, "sid": None}, ("neither sub nor sid", "add one")),
    ],
)
def test_each_check_says_what_is_wrong_and_what_to_do(service, issuer, check, code, claims, words):
    answer = explain(service, logout_token(issuer, **claims))
    assert (answer["code"], answer["likely_cause"]["check"]) == (code, check)
    [failed] = [each for each in answer["checks"] if each["state"] == "failed"]
    assert failed["name"] == check
    assert words[0] in failed["explanation"] and words[1] in failed["fix"]


def test_a_logout_token_that_is_sent_as_another_kind_is_told_where_it_goes(service, issuer):
    for members in ({"id_token": logout_token(issuer, {"typ": "JWT"})}, {"id_token": logout_token(issuer)}):
        answer = service.admin.post("/v1/explain", members).json
        cause = answer["likely_cause"]
        assert cause["check"] == "events" and "is a logout token" in cause["explanation"]
        assert "POST /v1/notifications/verify" in cause["fix"] and '"as": "notification"' in cause["fix"]


def test_what_is_no_notification_of_a_provider(service, issuer):
    assert explain(service, "x.y")["checks"][0]["state"] == "failed"
    answer = explain(service, json.dumps({"logout_token": logout_token(issuer)}))
    assert "whose member logout_token is a token" in answer["summary"]
    answer = explain(service, logout_token(issuer, iss="https://elsewhere.example"))
    assert (answer["code"], answer["provider"]) == ("provider_unknown", None)


def test_the_requests_own_problems_are_those_of_the_verification(service, issuer):
    token = logout_token(issuer)
    for members in ({"provider": "nobody"}, {"provider": "silent"}, {"nonce": "n"}, {"payload": token}):
        verified = service.api.post(PATH, {"token": token} | members)
        explained = service.admin.post("/v1/explain", {"as": "notification", "token": token} | members)
        assert (verified.status, verified.json["code"]) == (explained.status, explained.json["code"])
        assert verified.status >= 400


def test_as_names_the_kind_of_the_request(service, issuer):
    token = issuer.token()
    for kind, member in (("id_token", "id_token"), ("access_token", "token"), (None, "id_token"), (None, "token")):
        answer = service.admin.post("/v1/explain", {"as": kind, member: token})
        assert answer.status == 200, answer
    for wrong in ("logout_token", "", 1, ["notification"]):
        contract.assert_code(service.admin.post("/v1/explain", {"as": wrong, "token": token}), "request_invalid")
    contract.assert_code(service.admin.post("/v1/explain", {"as": "id_token", "token": token}), "request_invalid")
    contract.assert_code(service.api.post("/v1/verify", {"as": "id_token", "id_token": token}), "request_invalid")


def test_the_command_explains_a_notification(settings, issuer, tmp_path):
    config = write_config(tmp_path, {"providers": settings})
    good = run(*commands.explain(config, "--tokens", "notification"), stdin=logout_token(issuer))
    assert good.returncode == 0, good
    assert good.stdout.decode().splitlines()[0] == "valid (provider oidc)"
    bad = run(*commands.explain(config, "--tokens", "notification", "--json"), stdin=logout_token(issuer, events={LOGOUT: 1}))
    assert bad.returncode == 1
    assert json.loads(bad.stdout)["code"] == "claim_invalid"
    wrong = run(*commands.explain(config, "--tokens", "notification", "--nonce", "n"), stdin="x")
    assert wrong.returncode == 64 and b"--provider" in wrong.stderr
