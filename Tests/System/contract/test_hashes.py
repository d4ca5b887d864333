"""`at_hash` and `c_hash`: the access token and the code that belong to an ID Token."""

import pytest

from harness.tokens import ALGORITHMS, half_hash, jws

CASES = [("access_token", "at_hash"), ("code", "c_hash")]


@pytest.mark.parametrize(("member", "claim"), CASES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_hash_is_that_of_the_algorithm(service, oidc, algorithm, member, claim):
    kind = ALGORITHMS[algorithm]
    claims = oidc.claims(**{claim: half_hash("secret value", algorithm, kind)})
    token = jws(oidc.key(kind), claims, algorithm=algorithm)
    service.accept(token, **{member: "secret value"})
    service.reject(token, claim + "_mismatch", **{member: "secret valuf"})


@pytest.mark.parametrize(("member", "claim"), CASES)
class TestEitherHash:
    def test_a_token_without_the_hash_does_not_vouch_for_the_value(self, service, oidc, member, claim):
        service.reject(oidc.token(), claim + "_missing", **{member: "value"})

    def test_a_hash_that_nobody_asks_about_is_not_checked(self, service, oidc, member, claim):
        service.accept(oidc.token(**{claim: "nonsense"}))

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: "",
            lambda text: text + "=",
            lambda text: text + "==",
            lambda text: text[:-1],
            lambda text: text + "A",
            str.swapcase,
            lambda text: " " + text,
        ],
    )
    def test_the_hash_is_compared_in_full(self, service, oidc, member, claim, change):
        token = oidc.token(**{claim: change(half_hash("value", "RS256"))})
        service.reject(token, claim + "_mismatch", claim + "_missing", **{member: "value"})

    def test_the_whole_digest_or_another_one_is_no_half_hash(self, service, oidc, member, claim):
        for algorithm in ("RS384", "RS512"):
            service.reject(
                oidc.token(**{claim: half_hash("value", algorithm)}), claim + "_mismatch", **{member: "value"}
            )

    @pytest.mark.parametrize("value", [5, True, ["x"], {}], ids=repr)
    def test_a_hash_that_is_no_string_is_invalid(self, service, oidc, member, claim, value):
        problem = service.reject(oidc.token(**{claim: value}), "claim_invalid", **{member: "value"})
        assert problem["claim"] == claim

    @pytest.mark.parametrize("value", ["x", "é 漢 🐈", "x" * 4000])
    def test_any_text_can_be_hashed(self, service, oidc, member, claim, value):
        service.accept(oidc.token(**{claim: half_hash(value, "RS256")}), **{member: value})


def test_both_hashes_are_checked_where_both_values_are_given(service, oidc):
    good = {"at_hash": half_hash("a", "RS256"), "c_hash": half_hash("c", "RS256")}
    service.accept(oidc.token(**good), access_token="a", code="c")
    service.reject(oidc.token(**good), "at_hash_mismatch", access_token="c", code="c")
    service.reject(oidc.token(**good), "c_hash_mismatch", access_token="a", code="a")
    service.reject(oidc.token(**good), "at_hash_mismatch", access_token="c", code="a")
