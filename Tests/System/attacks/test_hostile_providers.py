"""R. Colliding providers, and a clock that jumps."""

import pytest

from attacks.catalogue import ACCEPTED, rows
from attacks.target import attacked
from harness import commands
from harness.clock import WallClock
from harness.service import Service, provider, run, write_config
from harness.tokens import ec_key, jws, now

OLD, NEW = ec_key("old"), ec_key("new")
DAY = 86_400


def settings_of(issuer: str, id: str, **more) -> dict:
    return {"id": id, "issuer": issuer, "audiences": ["client"]} | more


FIRST, SECOND = "https://first.example.com", "https://second.example.com"


@pytest.mark.parametrize(
    "providers",
    rows(
        ("R15", "one issuer twice", [settings_of(FIRST, "a"), settings_of(FIRST, "b")]),
        ("R15", "one id twice", [settings_of(FIRST, "a"), settings_of(SECOND, "a")]),
        (
            "R15",
            "an alias that is an issuer",
            [settings_of(FIRST, "a"), settings_of(SECOND, "b", issuer_aliases=[FIRST])],
        ),
        (
            "R15",
            "an issuer that is an alias",
            [settings_of(FIRST, "a", issuer_aliases=[SECOND]), settings_of(SECOND, "b")],
        ),
        (
            "R15",
            "one alias twice",
            [settings_of(n, n[8], issuer_aliases=["https://old.example.com"]) for n in (FIRST, SECOND)],
        ),
        (
            "R15",
            "Google's alias",
            [
                {"id": "google", "preset": "google", "audiences": ["x"]},
                settings_of("accounts.google.com", "b", jwks_uri=FIRST),
            ],
        ),
    ),
)
def test_providers_that_could_be_confused_are_invalid_settings(tmp_path, providers):
    file = write_config(tmp_path, {"providers": providers})
    result = run(*commands.config_check(file))
    assert result.returncode != 0, result
    assert b"assay.yaml" in result.stderr + result.stdout or b"line" in result.stderr, result


@pytest.mark.parametrize("shared", [pytest.param(True, id="R15-one jwks_uri for two issuers")])
def test_issuers_that_share_keys_are_verified_separately(server, shared):
    first, second = server.issuer("first", OLD), server.issuer("second", NEW)
    service = Service(
        provider(first, "first", jwks_uri=first.jwks_uri),
        provider(second, "second", jwks_uri=first.jwks_uri, audiences=["second-client"]),
    )
    with attacked(service, first.token) as target:
        service.wait_until_ready()
        target.expect(jws(OLD, second.claims(aud="second-client")), ACCEPTED)
        target.expect(jws(OLD, second.claims()), "audience_mismatch")
        target.expect(jws(OLD, first.claims(aud="second-client")), "audience_mismatch")
        target.expect({"id_token": first.token(), "provider": "second"}, "issuer_mismatch")
        target.expect(jws(NEW, second.claims(aud="second-client")), "key_not_found")


@pytest.mark.parametrize("days", [pytest.param(days, id=f"R17-{days:+d} days") for days in (-400, -1, 1, 400)])
def test_a_clock_jump_affects_tokens_but_not_keys(server, tmp_path, days):
    issuer = server.issuer("op", OLD)
    clock = WallClock(tmp_path)
    jump = days * DAY

    def token(by: int) -> str:
        return issuer.token(iat=now() + by, exp=now() + by + 600)

    with attacked(Service(provider(issuer), variables=clock.variables), lambda: token(0)) as target:
        target.service.wait_until_ready()
        target.expect(token(0), ACCEPTED)
        clock.shift(jump)
        assert target.ask(token(0)).code == ("token_expired" if jump > 0 else "token_not_yet_valid")
        answer = target.ask(token(jump)).json
        assert answer["keys"]["stale"] is False and answer["keys"]["age_seconds"] < DAY, answer
        assert target.service.provider_state("oidc")["state"] == "ready"
        assert target.service.api.get("/readyz").status == 200
        assert (issuer.discovery.count, issuer.jwks.count) == (1, 1)
        clock.shift(0)
        target.expect(token(0), ACCEPTED)
