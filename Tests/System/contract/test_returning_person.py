"""`subject`, `issuer` and `authenticated_after`: verifies that a known user has returned.

`ExpectedSubjectTests`, `SessionRevocationTests` and `VerifyRequestTests` have all combinations.
"""

from harness.tokens import now


def test_only_the_expected_user_may_sign_in(service, oidc):
    token = oidc.token(sub="user-1")
    service.accept(token, subject="user-1", issuer=oidc.url)
    service.accept(token, subject="user-1")
    service.reject(token, "subject_mismatch", subject="user-2")
    service.reject(token, "subject_mismatch", subject="user-1", issuer="https://elsewhere.example")


def test_a_token_from_before_a_revocation_is_refused(service, oidc):
    time = now() - 100
    service.accept(oidc.token(auth_time=time), authenticated_after=time)
    service.reject(oidc.token(auth_time=time), "session_revoked", authenticated_after=time + 1)
    service.reject(oidc.token(iat=time), "session_revoked", authenticated_after=time + 1)


def test_a_null_value_does_not_disable_its_check(service, oidc):
    for member in ("subject", "issuer", "authenticated_after"):
        service.reject(oidc.token(), "request_invalid", **{member: None})
    service.reject(oidc.token(), "request_invalid", issuer=oidc.url)


def test_the_members_apply_to_each_item_of_a_batch(service, oidc):
    items = [{"id_token": oidc.token(sub="a"), "subject": person} for person in ("a", "b")]
    good, bad = service.api.post("/v1/verify/batch", {"items": items}).json["results"]
    assert good["identity"]["subject"] == "a" and bad["error"]["code"] == "subject_mismatch"
