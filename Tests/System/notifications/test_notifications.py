"""Notifications over HTTP: each kind, every code of a refusal, rotated and unavailable keys, and the settings for them."""

import json

import pytest

from harness import collector as collectors
from harness.apple import Apple
from harness.client import contract
from harness.collector import Collector
from harness.reload import change
from harness.service import Service, apple_like, google_like, provider
from harness.tokens import assemble, b64url, ec_key, jws, now, parts, rsa_key

PATH = "/v1/notifications/verify"
LOGOUT = "http://schemas.openid.net/event/backchannel-logout"
RISC = "https://schemas.openid.net/secevent/risc/event-type/"


@pytest.fixture(scope="module")
def apple(shared_server):
    return shared_server.issuer("notifying-apple", rsa_key("apple"))


@pytest.fixture(scope="module")
def google(shared_server):
    return shared_server.issuer("notifying-google", rsa_key("google"))


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("notifying", rsa_key("op"), rsa_key("weak", bits=1024))


@pytest.fixture(scope="module")
def down(shared_server):
    issuer = shared_server.issuer("notifying-down", ec_key("down"))
    issuer.jwks.status = 500
    return issuer


@pytest.fixture(scope="module")
def service(apple, google, issuer, down):
    # Google's real issuer, because the preset knows its other spellings.
    as_google = google_like(google, jwks_uri=google.jwks_uri, notifications=["security_event"])
    del as_google["issuer"]
    providers = [
        apple_like(apple, notifications=["apple"]),
        as_google,
        provider(issuer, notifications=["logout", "security_event"], notifications_max_age="1h"),
        provider(down, "down", optional=True, notifications=["logout"]),
    ]
    with Service(*providers) as service:
        service.wait_until_ready()
        yield service


@pytest.fixture(scope="module")
def silent(shared_server):
    return shared_server.issuer("silent", rsa_key("silent"))


def apple_notification(apple, event=None, **claims) -> str:
    event = {"type": "consent-revoked", "sub": "001234.5678", "event_time": 1_700_000_000_123} if event is None else event
    usual = {"sub": None, "jti": "j1", "events": json.dumps(event)}
    return jws(apple.keys[0], apple.claims(**(usual | claims)), typ=None)


def logout_token(issuer, header=None, **claims) -> str:
    usual = {"jti": "l1", "sid": "s1", "events": {LOGOUT: {}}}
    return jws(issuer.keys[0], issuer.claims(**(usual | claims)), **({"typ": "logout+jwt"} | (header or {})))


def verify(service, token=None, **members):
    return service.api.post(PATH, ({} if token is None else {"token": token}) | members)


def accepted(service, token=None, **members) -> dict:
    response = verify(service, token, **members)
    assert response.status == 200, response
    return response.json


def refused(response, code: str, claim: str | None = None) -> None:
    assert contract.assert_code(response, code).get("claim") == claim


def test_apples_body_can_be_forwarded_unchanged(service, apple):
    token = apple_notification(apple)
    answers = [
        accepted(service, payload=token),
        accepted(service, payload={"payload": token}, provider="apple"),
        accepted(service, token),
    ]
    for answer in answers:
        assert answer["notification"] == {
            "provider": "apple", "issuer": apple.url, "kind": "apple", "id": "j1",
            "issued_at": answer["notification"]["issued_at"],
        }  # fmt: skip
        assert answer["events"] == [
            {
                "type": "consent_revoked", "subject": "001234.5678", "session_id": None, "email": None,
                "is_private_email": None, "occurred_at": 1_700_000_000, "reason": None, "data": {},
            }
        ]  # fmt: skip
        assert answer["keys"]["source"] == "network"


@pytest.mark.parametrize("type", ["account-delete", "account-deleted"])
@pytest.mark.parametrize("form", [json.dumps, lambda event: event, lambda event: [event]])
def test_every_form_of_apples_events_is_accepted(service, apple, type, form):
    event = {"type": type, "sub": "1", "event_time": 1_700_000_000}
    events = accepted(service, apple_notification(apple, events=form(event)))["events"]
    assert [(each["type"], each["occurred_at"]) for each in events] == [("account_deleted", 1_700_000_000)]
    two = apple_notification(apple, events=[event, event])
    refused(verify(service, two), "claim_invalid", "events")


def test_relay_events_have_email_and_is_private_email(service, apple):
    event = {"type": "email-disabled", "sub": "1", "email": "a@privaterelay.appleid.com", "is_private_email": "true"}
    answer = accepted(service, apple_notification(apple, event))["events"][0]
    assert (answer["type"], answer["email"], answer["is_private_email"]) == ("email_relay_disabled", event["email"], True)


def test_a_logout_token_is_verified(service, issuer):
    answer = accepted(service, logout_token(issuer))
    assert answer["notification"]["kind"] == "logout"
    event = answer["events"][0]
    assert (event["type"], event["subject"], event["session_id"]) == ("logged_out", "user-1", "s1")


@pytest.mark.parametrize("spelling", ["https://accounts.google.com", "https://accounts.google.com/", "accounts.google.com"])
def test_googles_security_events_are_verified(service, google, spelling):
    subject = {"subject_type": "iss-sub", "iss": spelling, "sub": "7375626A656374"}
    events = {RISC + "account-disabled": {"subject": subject, "reason": "hijacking"}}
    claims = google.claims(iss=spelling, sub=None, exp=None, jti="g1", events=events)
    answer = accepted(service, jws(google.keys[0], claims, typ=None))
    assert answer["notification"]["issuer"] == "https://accounts.google.com"
    event = answer["events"][0]
    assert (event["type"], event["subject"], event["reason"]) == ("account_disabled", "7375626A656374", "hijacking")
    # For ID Tokens, only the preset's spellings are accepted.
    if spelling.endswith("/"):
        service.reject(jws(google.keys[0], google.claims(iss=spelling)), "provider_unknown")


def test_a_token_may_have_several_and_unknown_events(service, issuer):
    stranger = {"format": "iss_sub", "iss": "https://elsewhere.example", "sub": "user-1"}
    events = {RISC + "sessions-revoked": {}, "https://e.example/new": {"a": 1, "b": [None]}}
    token = jws(
        issuer.keys[0],
        issuer.claims(sub=None, exp=None, jti="e1", events=events, sub_id=stranger, txn="t", unknown={}),
        typ="secevent+jwt",
    )
    first, second = accepted(service, token)["events"]
    assert (first["type"], first["subject"], first["data"]) == ("sessions_revoked", None, {"sub_id": stranger})
    assert second["type"] == "other"
    assert second["data"] == {"https://e.example/new": {"sub_id": stranger, "a": 1, "b": [None]}}


# By code: changes to a logout token, and the claim that the problem names.
REFUSALS = {
    "header_unsupported": ({"header": {"typ": "at+jwt"}}, None),
    "key_not_found": ({"header": {"kid": "another"}}, None),
    "key_unsuitable": ({"header": {"kid": "weak"}}, None),
    "issuer_mismatch": ({"iss": "https://elsewhere.example"}, None),
    "audience_mismatch": ({"aud": ["another"]}, None),
    "token_expired": ({"exp": 1}, None),
    "token_not_yet_valid": ({"iat": 1 << 40}, None),
    "claim_missing": ({"jti": None}, "jti"),
    "claim_invalid": ({"nonce": "n"}, "nonce"),
}


@pytest.mark.parametrize("code", REFUSALS)
def test_each_refusal_has_its_code(service, issuer, code):
    claims, claim = REFUSALS[code]
    refused(verify(service, logout_token(issuer, **claims), provider="oidc"), code, claim)


def test_malformed_or_incomplete_notifications_are_refused(service, issuer):
    good = logout_token(issuer)
    header, payload, _ = parts(good)
    refused(verify(service, "no token", provider="oidc"), "token_malformed")
    refused(verify(service, good + "." + good), "token_malformed")
    refused(verify(service, assemble({"alg": "none"}, issuer.claims(), b"")), "algorithm_not_allowed")
    refused(verify(service, f"{header}.{payload}.{b64url(bytes(256))}"), "signature_invalid")
    refused(verify(service, logout_token(issuer, iat=now() - 3700)), "token_too_old")
    refused(verify(service, logout_token(issuer, iat=None)), "claim_missing", "iat")
    refused(verify(service, logout_token(issuer, exp=None)), "claim_missing", "exp")
    refused(verify(service, logout_token(issuer, sub=None, sid=None)), "claim_missing", "sub")


def test_a_kind_that_is_not_listed_is_refused(service, apple, issuer):
    event = {"type": "consent-revoked", "sub": "1"}
    of_apple = jws(issuer.keys[0], issuer.claims(jti="1", events=json.dumps(event)))
    refused(verify(service, of_apple), "claim_invalid", "events")
    refused(verify(service, jws(apple.keys[0], apple.claims(jti="1", events={LOGOUT: {}}))), "claim_invalid", "events")


def test_id_tokens_and_notifications_are_not_interchangeable(service, apple, issuer):
    for each in (apple, issuer):
        refused(verify(service, each.token(jti="1")), "claim_missing", "events")
    assert service.reject(apple_notification(apple, sub="1"), "claim_invalid")["claim"] == "events"
    assert service.reject(logout_token(issuer, header={"typ": "JWT"}), "claim_invalid")["claim"] == "events"
    service.reject(logout_token(issuer), "header_unsupported")


def test_an_invalid_request_is_refused(service):
    """`NotificationRequestTests` tests every member."""
    refused(service.api.post(PATH, b'{"token": "a", "payload": "b"}'), "request_invalid")
    refused(service.api.post(PATH, b'{"token": "a", "token": "b"}'), "request_invalid")
    response = service.api.post(PATH, b"{}", {"Content-Type": "application/secevent+jwt"})
    refused(response, "content_type_unsupported")
    refused(service.api.post(PATH, b" " * 70_000), "request_too_large")
    assert service.api.get(PATH).code == "method_not_allowed"


def test_an_unknown_provider_or_issuer_is_refused(service, issuer):
    refused(verify(service, logout_token(issuer), provider="nobody"), "provider_unknown")
    refused(verify(service, logout_token(issuer, iss="https://elsewhere.example")), "provider_unknown")


def test_unavailable_keys_are_retryable(service, down):
    response = verify(service, logout_token(down))
    refused(response, "keys_unavailable")
    assert int(response.header("Retry-After")) >= 1
    # No key could make this token valid.
    refused(verify(service, jws(down.keys[0], down.claims(), typ="at+jwt")), "header_unsupported")


def test_a_rotated_key_is_found(server):
    issuer = server.issuer("rotating", rsa_key("old"))
    with Service(provider(issuer, notifications=["logout"])) as service:
        service.wait_until_ready()
        accepted(service, logout_token(issuer))
        fetched = issuer.jwks.count
        issuer.rotate(rsa_key("new"), rsa_key("old"))
        # A notification that would be refused anyway causes no fetch.
        for hopeless in ({"aud": "another"}, {"exp": now() - 3600}, {"iat": 1}, {"events": {"x": {}}}):
            refused(verify(service, logout_token(issuer, **hopeless), provider="oidc"), "key_not_found")
        assert issuer.jwks.count == fetched
        accepted(service, logout_token(issuer))
        assert issuer.jwks.count == fetched + 1


def test_what_keycloaks_and_orys_logout_tokens_have_of_their_own(server):
    realm, hydra = server.issuer("realm", rsa_key("realm")), server.issuer("hydra", rsa_key("hydra"))
    providers = [provider(realm, "realm", preset="keycloak", notifications=["logout"]),
                 provider(hydra, "hydra", preset="ory", notifications=["logout"])]  # fmt: skip
    with Service(*providers) as service:
        service.wait_until_ready()
        # Keycloak's client may ask to revoke offline access: a member beside the event.
        events = {LOGOUT: {}, "revoke_offline_access": True}
        answer = accepted(service, logout_token(realm, events=events))
        assert [(each["type"], each["data"]) for each in answer["events"]] == [("logged_out", {"revoke_offline_access": True})]
        # Ory sends neither exp nor sub.
        answer = accepted(service, logout_token(hydra, exp=None, sub=None))
        assert [(each["subject"], each["session_id"]) for each in answer["events"]] == [(None, "s1")]
        refused(verify(service, logout_token(hydra, exp=None, iat=now() - 8 * 86_400)), "token_too_old")
        problem = verify(service, logout_token(realm, exp=None))
        refused(problem, "claim_missing", "exp")
        assert "preset ory" in problem.json["detail"]


def test_the_endpoint_exists_once_a_provider_lists_kinds(server, silent):
    issuer = server.issuer("listing", rsa_key("listing"))
    quiet = provider(silent, "silent")
    with Service(provider(issuer), quiet) as service:
        service.wait_until_ready()
        assert verify(service, logout_token(issuer)).code == "not_found"
        assert "notifications" not in service.admin.get("/v1/verdicts").json
        assert "assay_notifications_total" not in service.admin.get("/metrics").body.decode()
        change(service, provider(issuer, notifications=["logout"]), quiet)
        accepted(service, logout_token(issuer))
        refused(verify(service, logout_token(silent)), "notifications_not_configured")
        refused(verify(service, "no token", provider="silent"), "notifications_not_configured")
        change(service, provider(issuer), quiet)
        assert verify(service, logout_token(issuer)).code == "not_found"


def test_notifications_are_counted_and_logged(server):
    issuer = server.issuer("counted", rsa_key("counted"))
    with Service(provider(issuer, notifications=["logout"])) as service:
        service.wait_until_ready()
        assert service.wait_for_entry(message="features enabled")["features"] == ["notifications"]
        accepted(service, logout_token(issuer))
        verify(service, logout_token(issuer, jti=None))
        lines = service.admin.get("/metrics").body.decode().splitlines()
        counts = sorted(line for line in lines if line.startswith("assay_notifications_total{"))
        assert counts == [
            'assay_notifications_total{provider="oidc",kind="",code="claim_missing"} 1',
            'assay_notifications_total{provider="oidc",kind="logout",code="ok"} 1',
        ]
        counted = service.admin.get("/v1/verdicts").json["notifications"]
        assert sorted(counted, key=lambda each: each["code"]) == [
            {"provider": "oidc", "kind": None, "code": "claim_missing", "count": 1},
            {"provider": "oidc", "kind": "logout", "code": "ok", "count": 1},
        ]
        entry = service.wait_for(lambda: service.entries(message="request", route=PATH, status=422))[0]
        assert (entry["code"], entry["provider"]) == ("claim_missing", "oidc")
        # The log contains nothing from the notification.
        service.hides("user-1")
        assert "s1" not in json.dumps(entry)


def test_each_request_has_a_span(server):
    issuer = server.issuer("traced", rsa_key("traced"))
    with (
        Collector() as collector,
        Service(provider(issuer, notifications=["logout"]), tracing=collectors.settings(collector)) as service,
    ):
        service.wait_until_ready()
        accepted(service, logout_token(issuer))
        verify(service, logout_token(issuer, jti=None))
        spans = collector.wait_for(2, name="POST " + PATH)
        assert sorted(span.attributes["assay.code"] for span in spans) == ["claim_missing", "ok"]
        assert {span.attributes["assay.provider"] for span in spans} == {"oidc"}


@pytest.mark.parametrize("form", ["text", "object", "array"])
def test_notifications_from_apples_double_are_verified(form):
    types = {
        "consent-revoked": "consent_revoked", "account-delete": "account_deleted", "account-deleted": "account_deleted",
        "email-disabled": "email_relay_disabled", "email-enabled": "email_relay_enabled", "made-up": "other",
    }  # fmt: skip
    with Apple() as apple:
        team, ada = apple.team("com.example.app"), apple.user("Ada", is_private_email=True)
        settings = apple.settings(audiences=["com.example.app"], notifications=["apple"])
        del settings["endpoints"]
        with Service(settings) as service:
            service.wait_until_ready()
            for sent, expected in types.items():
                body = apple.notification(sent, "com.example.app", ada, form=form)
                event = service.api.post(PATH, body).json["events"][0]
                assert (event["type"], event["subject"]) == (expected, ada.subject(team.id))
                if sent.startswith("email-"):
                    assert (event["email"], event["is_private_email"]) == (ada.email_for(team.id), True)
