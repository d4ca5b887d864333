"""`POST /v1/sign-ins` and `POST /v1/sign-ins/finish`: a complete native sign-in, finished once."""

import hashlib
import re
import threading
import time

import pytest

from harness import client, reload
from harness.clock import WallClock
from harness.service import Service, apple_like, provider, run

from .calls import ON, begin, finish, refused


BROWSER = {"redirect_uri": "https://app.example/callback"}


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("sign-ins")


@pytest.fixture(scope="module")
def apple(shared_server):
    return shared_server.issuer("sign-ins-apple")


@pytest.fixture(scope="module")
def signing(shared_server, issuer, apple):
    providers = [
        provider(issuer, audiences=["client", "other-client"]),
        apple_like(apple, audiences=["com.example.app"]),
        provider(shared_server.issuer("sign-ins-loose"), "loose", nonce={"check": "off"}),
    ]
    with Service(*providers, **ON) as service:
        service.wait_until_ready()
        yield service


def test_a_sign_in_is_begun_and_finished_once(signing, issuer):
    begun = begin(signing, context="/basket")
    assert begun["state"] is None and begun["authorization_url"] is None
    assert begun["nonce_sha256"] == hashlib.sha256(begun["nonce"].encode()).hexdigest()
    assert re.fullmatch(r"[A-Za-z0-9_-]{64,2048}", begun["sign_in"])
    assert 590 <= begun["expires_at"] - time.time() <= 601
    token = issuer.token(nonce=begun["nonce"])
    response = finish(signing, begun, token)
    assert response.status == 200, response
    answer = response.json
    verified = signing.accept(token, nonce=begun["nonce"])
    assert answer == verified | {"context": "/basket", "grant": None, "keys": answer["keys"]}
    refused(finish(signing, begun, token), "sign_in_replayed", spent=True)


def test_apple_gets_the_nonces_hash_and_the_app_may_send_a_name(signing, apple):
    begun = begin(signing, "apple")
    token = apple.token(aud="com.example.app", nonce=begun["nonce_sha256"])
    user = {"name": {"firstName": "Ada", "lastName": None}, "email": None}
    response = finish(signing, begun, token, user=user)
    assert response.status == 200 and response.json["identity"]["given_name"] == "Ada", response
    # A token with the plain nonce is refused, because the app sends the hash.
    again = begin(signing, "apple")
    plain = apple.token(aud="com.example.app", nonce=again["nonce"])
    refused(finish(signing, again, plain), "nonce_mismatch")


def test_a_failed_finish_uses_nothing_up(signing, issuer):
    begun = begin(signing)
    good = issuer.token(nonce=begun["nonce"])
    refused(finish(signing, begun, issuer.token(nonce="another")), "nonce_mismatch")
    refused(finish(signing, begun, issuer.token()), "nonce_missing")
    refused(finish(signing, begun, good[:-4] + "AAAA"), "signature_invalid")
    refused(finish(signing, begun, good, access_token="x"), "at_hash_missing")
    refused(finish(signing, begun, good, response={"state": "x"}), "request_invalid")
    for response in ("x", [None], {"state": 1}, {str(number): "x" for number in range(33)}):
        refused(finish(signing, begun, good, response=response), "request_invalid")
    refused(finish(signing, begun, good, redirect_uri="https://app.example/callback"), "client_not_configured")
    refused(finish(signing, begun, None, code="x"), "client_not_configured")
    refused(finish(signing, begun, None), "request_invalid")
    refused(signing.api.post("/v1/sign-ins/finish", {"id_token": good}), "request_invalid")
    refused(signing.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "nonse": "x"}), "request_invalid")
    assert finish(signing, begun, good).status == 200


def test_a_code_must_match_its_hash_in_the_token(signing, issuer):
    begun = begin(signing)
    assert finish(signing, begun, issuer.token(nonce=begun["nonce"]), code="a code").status == 200
    begun = begin(signing)
    refused(finish(signing, begun, issuer.token(nonce=begun["nonce"], c_hash="AAAA"), code="a code"), "c_hash_mismatch")


def test_a_sign_in_accepts_only_its_own_audience_and_provider(signing, issuer, apple):
    begun = begin(signing, audience="other-client")
    refused(finish(signing, begun, issuer.token(nonce=begun["nonce"], aud="client")), "audience_mismatch")
    other = apple.token(aud="com.example.app", nonce=begun["nonce_sha256"])
    refused(finish(signing, begun, other), "issuer_mismatch")
    assert finish(signing, begun, issuer.token(nonce=begun["nonce"], aud="other-client")).status == 200


@pytest.mark.parametrize(
    ("audiences", "is_kept"), [(["new", "client"], True), (["new"], False), (["client-2", "clien"], False)], ids=str
)
def test_a_reload_may_invalidate_a_sign_in(issuer, audiences, is_kept):
    with Service(provider(issuer), **ON) as service:
        service.wait_until_ready()
        begun = begin(service)
        token = issuer.token(nonce=begun["nonce"])
        reload.change(service, provider(issuer, audiences=audiences), **ON)
        if not is_kept:
            refused(finish(service, begun, token), "sign_in_invalid")
            reload.change(service, provider(issuer), **ON)
        assert finish(service, begun, token).status == 200


def test_a_handle_does_not_accept_another_users_token(signing, issuer):
    """Login CSRF: the attacker's token in the victim's sign-in, and the reverse."""
    mine, theirs = begin(signing), begin(signing)
    refused(finish(signing, mine, issuer.token(nonce=theirs["nonce"])), "nonce_mismatch")
    refused(finish(signing, theirs, issuer.token(nonce=mine["nonce"])), "nonce_mismatch")


def test_re_authentication_must_be_recent_and_by_the_same_user(signing, issuer):
    begun = begin(signing, subject="user-1", max_age=0)
    now = int(time.time())
    refused(finish(signing, begun, issuer.token(nonce=begun["nonce"], sub="user-2")), "subject_mismatch")
    refused(finish(signing, begun, issuer.token(nonce=begun["nonce"], auth_time=now - 3600)), "auth_time_too_old")
    assert finish(signing, begun, issuer.token(nonce=begun["nonce"], auth_time=now)).status == 200


@pytest.mark.parametrize(
    ("members", "status", "code"),
    [
        ({"provider": "nobody"}, 404, "provider_unknown"),
        ({"audience": "nobody"}, 400, "audience_not_configured"),
        ({"redirect_uri": "https://app.example/callback"}, 400, "client_not_configured"),
        ({"provider": "loose"}, 400, "sign_in_not_supported"),
        ({"expires_in": 59}, 400, "request_invalid"),
        ({"expires_in": 3601}, 400, "request_invalid"),
        ({"expires_in": "600"}, 400, "request_invalid"),
        ({"context": "c" * 513}, 400, "request_invalid"),
        ({"context": "ü" * 257}, 400, "request_invalid"),
        ({"subject": None}, 400, "request_invalid"),
        ({"issuer": "https://op.example"}, 400, "request_invalid"),
        ({"max_age": -1}, 400, "request_invalid"),
        ({"nonce": "mine"}, 400, "request_invalid"),
        ({"scopes": ["email"]}, 400, "request_invalid"),
        ({"scopes": None}, 400, "request_invalid"),
        ({"prompt": "login"}, 400, "request_invalid"),
        ({"login_hint": "ada@example.com"}, 400, "request_invalid"),
        ({"ui_locales": "de"}, 400, "request_invalid"),
        ({"acr_values": "1"}, 400, "request_invalid"),
        ({"response_mode": "query"}, 400, "request_invalid"),
        (BROWSER | {"scopes": "email"}, 400, "request_invalid"),
        (BROWSER | {"scopes": ["e mail"]}, 400, "request_invalid"),
        (BROWSER | {"scopes": [1]}, 400, "request_invalid"),
        (BROWSER | {"prompt": "p" * 256}, 400, "request_invalid"),
        (BROWSER | {"response_mode": "fragment"}, 400, "request_invalid"),
        (BROWSER | {"scopes": ["openid", "email"], "prompt": "login", "login_hint": None}, 400, "client_not_configured"),
        ({"provider": None}, 400, "request_invalid"),
        ({"context": "c" * 512, "subject": "ü" * 255, "issuer": "i" * 1024}, 400, "request_invalid"),
    ],
)
def test_an_invalid_begin_is_refused_with_its_code(signing, members, status, code):
    response = signing.api.post("/v1/sign-ins", {"provider": "oidc"} | members)
    assert response.status == status and response.code == code, response
    assert "spent" not in response.json


@pytest.mark.parametrize("handle", ["", "x", "e30.e30.", "A" * 2048, "A" * 60_000], ids=len)
def test_a_string_that_is_not_a_handle_is_refused(signing, issuer, handle):
    refused(finish(signing, handle, issuer.token()), "sign_in_invalid")


def test_a_changed_handle_is_refused(signing, issuer):
    begun = begin(signing)
    handle = begun["sign_in"]
    for place in range(0, len(handle), 7):
        changed = handle[:place] + ("A" if handle[place] != "A" else "B") + handle[place + 1 :]
        refused(finish(signing, changed, issuer.token(nonce=begun["nonce"])), "sign_in_invalid")


def test_only_one_of_many_concurrent_finishes_succeeds(signing, issuer):
    begun = begin(signing)
    token = issuer.token(nonce=begun["nonce"])
    statuses = []

    def one() -> None:
        api = client.Client(signing.api.address)
        body = {"sign_in": begun["sign_in"], "id_token": token}
        statuses.append(api.post("/v1/sign-ins/finish", body).status)
        api.close()

    threads = [threading.Thread(target=one) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] + [422] * 31


def test_a_sign_in_expires(server, tmp_path):
    clock = WallClock(tmp_path)
    issuer = server.issuer("expiring")
    with Service(provider(issuer), variables=clock.variables, **ON) as service:
        service.wait_until_ready()
        begun = begin(service, expires_in=60)
        clock.shift(61)
        refused(finish(service, begun, issuer.token(nonce=begun["nonce"])), "sign_in_expired")
        # Once the clock is corrected, the sign-in is valid again, but still single-use.
        clock.shift(0)
        token = issuer.token(nonce=begun["nonce"])
        assert finish(service, begun, token).status == 200
        clock.shift(86400)
        refused(finish(service, begun, token), "sign_in_expired")
        clock.shift(0)
        refused(finish(service, begun, token), "sign_in_replayed", spent=True)
        # A handle from a clock that is far ahead would outlive its claim.
        clock.shift(310)
        begun = begin(service)
        clock.shift(0)
        refused(finish(service, begun, issuer.token(nonce=begun["nonce"])), "sign_in_invalid")


def test_without_the_setting_the_endpoints_do_not_exist(service):
    for path in ("/v1/sign-ins", "/v1/sign-ins/finish"):
        assert service.api.post(path, {"provider": "oidc"}).code == "not_found"
        assert service.api.get(path).code == "not_found"


def test_processes_with_a_common_key_finish_each_others_sign_ins(server, tmp_path):
    issuer = server.issuer("replicas")
    old, new = tmp_path / "old.key", tmp_path / "new.key"
    for file in (old, new):
        made = run("key", "new")
        assert made.returncode == 0 and re.fullmatch(rb"[A-Za-z0-9+/]{43}=\n", made.stdout)
        file.write_bytes(made.stdout)

    def service(*files) -> Service:
        return Service(provider(issuer), sign_ins={"key_files": [str(file) for file in files]})

    with service(old) as one, service(old, new) as both, service(new) as other:
        for each in (one, both, other):
            each.wait_until_ready()
        begun = begin(one)
        token = issuer.token(nonce=begun["nonce"])
        refused(finish(other, begun, token), "sign_in_invalid")
        assert finish(both, begun, token).status == 200


def test_handle_keys_can_be_rotated_without_a_restart(server, tmp_path):
    issuer = server.issuer("rotation")
    old, new = tmp_path / "old.key", tmp_path / "new.key"
    for file in (old, new):
        file.write_bytes(run("key", "new").stdout)
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(old.read_bytes())
    second.write_bytes(new.read_bytes())
    sign_ins = {"key_files": [str(first), str(second)]}
    with Service(provider(issuer), sign_ins=sign_ins) as service, Service(
        provider(issuer), sign_ins={"key_files": [str(new)]}
    ) as newer:
        begun = [begin(service) for _ in range(2)]
        tokens = [issuer.token(nonce=each["nonce"]) for each in begun]
        # An invalid file has no effect.
        first.write_text("half of a k")
        reason = service.wait_for_entry(message="sign-in files invalid, still using the previous ones")["reason"]
        assert reason.startswith(f"sign_ins.key_files: {first}: ")
        assert finish(service, begun[0], tokens[0]).status == 200
        # The keys swap places: the new one encrypts, and the old one still decrypts.
        second.write_bytes(old.read_bytes())
        first.write_bytes(new.read_bytes())
        service.wait_for_entry(message="sign-in keys changed")
        assert finish(service, begun[1], tokens[1]).status == 200
        fresh = begin(service)
        assert finish(newer, fresh, issuer.token(nonce=fresh["nonce"])).status == 200
