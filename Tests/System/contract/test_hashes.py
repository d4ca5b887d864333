"""`at_hash` and `c_hash` over HTTP. `Tests/IDTokenTests/TokenHashesTests.swift` tests algorithms and near misses."""

import pytest

from harness.tokens import half_hash


@pytest.mark.parametrize(("member", "claim"), [("access_token", "at_hash"), ("code", "c_hash")])
def test_a_value_must_match_its_hash(service, oidc, member, claim):
    service.accept(oidc.token(**{claim: half_hash("é 漢 🐈", "RS256")}), **{member: "é 漢 🐈"})
    service.reject(oidc.token(**{claim: half_hash("value", "RS256")}), claim + "_mismatch", **{member: "valuf"})
    service.reject(oidc.token(), claim + "_missing", **{member: "value"})
    assert service.reject(oidc.token(**{claim: 5}), "claim_invalid", **{member: "value"})["claim"] == claim
    service.accept(oidc.token(**{claim: "nonsense"}))


def test_both_hashes_are_checked_if_both_values_are_given(service, oidc):
    good = {"at_hash": half_hash("a", "RS256"), "c_hash": half_hash("c", "RS256")}
    service.accept(oidc.token(**good), access_token="a", code="c")
    service.reject(oidc.token(**good), "at_hash_mismatch", access_token="c", code="a")
    service.reject(oidc.token(**good), "c_hash_mismatch", access_token="a", code="a")
