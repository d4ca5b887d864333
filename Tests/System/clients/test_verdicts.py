"""Each language's client with a running Assay: identities, refusals, configuration errors, and unavailable keys."""

import pytest

from clients.languages import API_KEY, LANGUAGES, without_nulls
from harness.tokens import now, sha256_hex

NONCE = "kVJ0y3SpyPmNEXlXnTXTjQ"


def apple(world, **claims) -> dict:
    """A first sign-in with Apple, with the nonce hashed by the app."""
    claims = {
        "nonce": sha256_hex(NONCE),
        "email": "ada@privaterelay.appleid.com",
        "email_verified": "true",
        "real_user_status": 2,
        "transfer_sub": "moved-1",
    } | claims
    user = {"name": {"firstName": "Ada", "lastName": "Lovelace"}, "email": "ada@privaterelay.appleid.com"}
    return {"provider": "apple", "id_token": world.apple.token(**claims), "nonce": NONCE, "user": user}


def google(world, **claims) -> dict:
    claims = {
        "nonce": NONCE,
        "email": "zoë@example.com",
        "email_verified": True,
        "hd": "example.com",
        "name": "Zoë ✓",
        "given_name": "Zoë",
        "family_name": "✓",
        "picture": "https://images.example.com/zoë.png",
        "locale": "en",
    } | claims
    return {"provider": "google", "id_token": world.google.token(**claims), "nonce": NONCE}


def oidc(world, **claims) -> dict:
    claims = {"nonce": NONCE, "preferred_username": "ada", "tid": "tenant-1"} | claims
    return {"provider": "oidc", "id_token": world.oidc.token(**claims), "nonce": NONCE}


SIGN_INS = [apple, google, oidc]


@pytest.mark.parametrize("sign_in", SIGN_INS)
def test_a_valid_token_returns_an_identity(program, world, sign_in):
    request = sign_in(world)
    said = program(world.url, API_KEY).verify(**request)
    assert said == {"verified": without_nulls(world.identity(**request))}


def test_the_tested_sign_ins_cover_every_member(world):
    identities = [world.identity(**sign_in(world)) for sign_in in SIGN_INS]
    assert [name for name in identities[0] if all(identity[name] is None for identity in identities)] == []


@pytest.mark.parametrize(
    ("code", "claims", "members"),
    [
        ("token_expired", {"exp": now() - 3600, "iat": now() - 7200}, {}),
        ("audience_mismatch", {"aud": "another-client"}, {}),
        ("nonce_mismatch", {}, {"nonce": "another-sign-in's"}),
        ("claim_missing", {"sub": None}, {}),
        ("auth_time_too_old", {"auth_time": now() - 3600}, {"max_age": 600}),
        ("at_hash_missing", {}, {"access_token": "access"}),
        ("c_hash_missing", {}, {"code": "code"}),
    ],
)
def test_an_invalid_token_is_refused_with_its_code(program, world, code, claims, members):
    request = oidc(world, **claims) | members
    assert program(world.url, API_KEY).verify(**request) == {"refused": code}


def test_a_bad_signature_is_refused(program, world):
    request = oidc(world) | {"id_token": world.oidc.token(nonce=NONCE)[:-8] + "AAAAAAAA"}
    assert program(world.url, API_KEY).verify(**request) == {"refused": "signature_invalid"}


def test_a_nonce_is_optional(program, world):
    request = oidc(world) | {"nonce": None}
    asking = program(world.url, API_KEY)
    assert asking.verify(**request) == {"refused": "nonce_required"}
    request["id_token"] = world.oidc.token()
    assert asking.verify(**request)["verified"]["subject"] == "user-1"


@pytest.mark.parametrize(
    ("status", "code", "members"),
    [
        (400, "request_invalid", {"nonce": ""}),
        (400, "audience_not_configured", {"audience": "another-client"}),
        (404, "provider_unknown", {"provider": "unheard-of"}),
    ],
)
def test_a_mistake_in_the_request_is_an_error(program, world, status, code, members):
    request = oidc(world) | members
    assert program(world.url, API_KEY).verify(**request) == {"error": status, "code": code}


@pytest.mark.parametrize("api_key", [None, "a-wrong-one"])
def test_an_unauthenticated_caller_gets_an_error(program, world, api_key):
    said = program(world.url, api_key).verify(**oidc(world))
    assert said == {"error": 401, "code": "caller_unauthenticated"}


def test_without_keys_the_call_is_unavailable(program, world):
    asking = program(world.url, API_KEY)
    said = asking.verify(provider="down", id_token=world.down.token(nonce=NONCE), nonce=NONCE)
    assert list(said) == ["unavailable"]
    assert said["unavailable"] >= 1
    # Other providers are not affected.
    assert "verified" in asking.verify(**oidc(world))


@pytest.mark.parametrize(
    "language", [each for each in LANGUAGES if each.speaks_unix], ids=lambda language: language.name, indirect=True
)
def test_a_unix_domain_socket_can_be_used(program, unix_world):
    request = apple(unix_world)
    asking = program(unix_world.url, API_KEY)
    for _ in range(2):
        assert asking.verify(**request) == {"verified": without_nulls(unix_world.identity(**request))}
