"""Faults of a development provider: each causes the code that the panel names."""

import json
import urllib.parse

import pytest


from harness.contract import STATUS, assert_code

FAULTS = [
    "down", "slow", "no_keys", "thin_keys", "wrong_issuer", "clock_ahead", "clock_behind", "expired_tokens", "spent_codes",
    "refused_clients", "dpop_nonces",
]  # fmt: skip




def switch(dev, fault: str, provider: str = "google", **more):
    answer = dev.ask_issuer("POST", "/faults", {"provider": provider, "fault": fault} | more)
    assert answer.status == 200, answer
    return answer.json


def exchange(dev, provider: str = "google"):
    begun = dev.api.post("/v1/sign-ins", {"provider": provider}).json
    code = dev.token(provider, nonce=begun["nonce"], code=True)["code"]
    return dev.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "code": code})


def verify(dev, provider: str = "google", **request):
    return dev.api.post("/v1/verify", {"provider": provider} | dev.token(provider, **request))


def test_each_fault_is_listed_with_what_it_causes(dev):
    listed = dev.ask_issuer("GET", "/faults").json
    assert [fault["fault"] for fault in listed] == FAULTS
    assert all(fault["title"] and fault["causes"] and fault["on"] == [] for fault in listed)
    on = {fault["fault"]: fault["on"] for fault in switch(dev, "down")}
    assert on["down"] == ["google"] and on["slow"] == []
    switch(dev, "down", on=False)
    assert verify(dev).status == 200


def test_the_codes_in_the_list_are_codes_of_the_contract(dev):
    for fault in dev.ask_issuer("GET", "/faults").json:
        words = fault["causes"].replace(",", " ").replace(":", " ").replace(".", " ").split()
        named = [word for word in words if "_" in word and word != "clock_skew"]
        assert all(word in STATUS for word in named), fault


@pytest.mark.parametrize(
    ("fault", "code"),
    [("wrong_issuer", "issuer_mismatch"), ("clock_ahead", "token_not_yet_valid"), ("clock_behind", "token_expired"),
     ("expired_tokens", "token_expired")],
)  # fmt: skip
def test_faults_can_spoil_tokens(dev, fault, code):
    assert verify(dev).status == 200
    switch(dev, fault)
    assert_code(verify(dev), code)
    assert verify(dev, "apple").status == 200


@pytest.mark.parametrize(
    ("fault", "code"), [("down", "provider_unavailable"), ("spent_codes", "grant_invalid"), ("refused_clients", "client_rejected")]
)
def test_faults_can_make_endpoints_fail(dev, fault, code):
    assert exchange(dev).status == 200
    switch(dev, fault)
    assert_code(exchange(dev), code)
    assert exchange(dev, "oidc").status == 200


def test_a_fault_can_slow_the_provider_down(dev):
    switch(dev, "slow", seconds=1)
    assert exchange(dev).status == 200
    # By default, longer than limits.provider_timeout.
    switch(dev, "slow")
    assert_code(exchange(dev), "provider_unavailable")


def test_keys_rotated_in_place_are_refused_until_they_are_fetched(dev):
    assert verify(dev).status == 200
    assert dev.ask_issuer("POST", "/rotate", {"provider": "google", "in_place": True}).status == 200
    assert_code(verify(dev), "signature_invalid")
    assert dev.admin.post("/v1/providers/google/refresh").status == 200
    assert verify(dev).status == 200


def test_tokens_are_refused_if_the_key_set_lacks_the_new_key(dev):
    assert dev.ask_issuer("POST", "/rotate", {"provider": "oidc"}).status == 200
    assert verify(dev, "oidc").status == 200
    switch(dev, "thin_keys", "oidc")
    assert dev.ask_issuer("POST", "/rotate", {"provider": "oidc"}).status == 200
    assert_code(verify(dev, "oidc"), "key_not_found")


def test_removing_the_app_ends_the_grant(dev):
    finished = exchange(dev, "apple").json
    grant, subject = finished["grant"], finished["identity"]["subject"]
    refresh = {"provider": "apple", "refresh_token": grant["refresh_token"], "subject": subject}
    assert dev.api.post("/v1/grants/refresh", refresh).status == 200
    assert dev.ask_issuer("POST", "/people", {"provider": "apple", "revoke": "alex"}).json == {"revoked": "alex"}
    assert dev.api.post("/v1/grants/refresh", refresh).status == 200
    assert dev.ask_issuer("POST", "/people", {"provider": "apple", "revoke": "kim"}).json == {"revoked": "kim"}
    assert_code(dev.api.post("/v1/grants/refresh", refresh), "grant_invalid")


def test_a_code_can_be_used_once(dev):
    begun = [dev.api.post("/v1/sign-ins", {"provider": "google"}).json for _ in range(2)]
    code = dev.token("google", nonce=begun[0]["nonce"], code=True)["code"]
    first, second = (dev.api.post("/v1/sign-ins/finish", {"sign_in": each["sign_in"], "code": code}) for each in begun)
    assert first.status == 200
    assert_code(second, "grant_invalid")


def test_a_reset_removes_users_but_keeps_keys(dev):
    keys = dev.ask_issuer("GET", "/google/keys").json
    added = dev.ask_issuer("POST", "/people", {"name": "Ada Lovelace", "email": "ada@example.net"}).json
    assert [person["id"] for person in added] == ["kim", "alex", "robin", "ada@example.net"]
    assert verify(dev, person="ada@example.net").json["identity"]["name"] == "Ada Lovelace"
    assert dev.ask_issuer("POST", "/reset").json == {"reset": True}
    assert len(dev.ask_issuer("GET", "/people").json) == 3
    assert dev.ask_issuer("GET", "/google/keys").json == keys


def test_apple_sends_the_name_once(dev):
    def user():
        begun = dev.api.post(
            "/v1/sign-ins",
            {"provider": "apple", "redirect_uri": "http://localhost:8000/callback/apple", "prompt": "none"},
        ).json
        page = dev.ask_issuer("GET", begun["authorization_url"].split(dev.issuer_address)[1]).body.decode()
        return "user" in urllib.parse.unquote(page) and "firstName" in page

    assert user() and not user()
    dev.ask_issuer("POST", "/people", {"revoke": "kim"})
    assert user()


def test_forms_redirect_back_to_the_panel(dev):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = dev.ask_issuer("POST", "/faults", b"provider=google&fault=down", form)
    assert (answer.status, answer.header("Location")) == (303, "/")
    assert dev.ask_issuer("GET", "/google/keys").status == 503
    dev.ask_issuer("POST", "/faults", b"provider=google&off=down", form)
    assert dev.ask_issuer("GET", "/google/keys").status == 200
    assert json.loads(dev.ask_issuer("GET", "/google/keys").body)["keys"]
