"""Presets: the command that shows them, and the rules in them."""

import re

import pytest

from harness import commands
from harness.certificates import certificate
from harness.service import REPOSITORY, Service, google_like, provider, run
from harness.tokens import ec_key, jws, rsa_key

TENANT = "11111111-2222-3333-4444-55555555aaaa"
CONSUMERS = "9188040d-6c67-4c5b-b112-36a304b66dad"
TEMPLATE = "https://login.example/{tid}/v2.0"
LIST = run(*commands.presets()).stdout.decode().splitlines()
NAMES = [line.split()[0] for line in LIST]


def show(*arguments: str) -> str:
    result = run(*commands.presets(*arguments))
    assert result.returncode == 0, result
    return result.stdout.decode()


# The command


def test_the_command_lists_one_preset_per_line():
    assert NAMES == sorted(set(NAMES))
    for line in LIST:
        assert re.fullmatch(r"[a-z0-9.-]+ {2,}\S.*", line)
    assert {"apple", "microsoft", "firebase-session-cookie", "oidc"} < set(NAMES)


# These presets have rules that no setting expresses.
GATEWAYS = {
    "aws-alb": [
        "signer=arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/web/50dc6c495c0c9188",
        "client=my-client", "issuer=https://op.example",
    ],
    "cloudflare-access": ["domain=example.cloudflareaccess.com"],
    "google-iap": [],
    "pomerium": ["domain=app.example.com"],
}  # fmt: skip


@pytest.mark.parametrize("name", GATEWAYS)
def test_a_gateways_shown_preset_is_a_valid_configuration_that_uses_it(name, tmp_path):
    shown = show(name, *GATEWAYS[name])
    assert f"preset: {name}\n" in shown and "tokens: access\n" in shown and "nonce:" not in shown
    file = tmp_path / "assay.yaml"
    file.write_text(shown)
    result = run(*commands.config_check(file))
    assert result.returncode == 0, result


@pytest.mark.parametrize("name", [name for name in NAMES if name not in GATEWAYS])
def test_a_shown_preset_is_a_valid_configuration_that_does_not_use_it(name, tmp_path):
    shown = show(name)
    assert "preset:" not in shown
    file = tmp_path / "assay.yaml"
    # A URL with a placeholder as host is invalid.
    file.write_text("".join(re.sub("<[^>]*>", "x", line) if "://" in line else line for line in shown.splitlines(True)))
    result = run(*commands.config_check(file))
    assert result.returncode == 0, result
    assert result.stdout.decode().splitlines()[-1].endswith(f"providers: {name}")


@pytest.mark.parametrize("name", NAMES)
def test_both_tables_of_the_docs_have_each_preset(name):
    first, second = (REPOSITORY / "docs/providers.md").read_text().split("## Identity")
    assert f"\n| `{name}` |" in first
    assert re.search(rf"^\| [^|]*`{re.escape(name)}`[^|]* \|", second, re.M)


def test_parameters_appear_in_the_shown_preset():
    shown = show("microsoft", "tenant=organizations")
    assert "/organizations/v2.0/.well-known/openid-configuration" in shown
    assert f'excluded_tenants: ["{CONSUMERS}"]' in shown
    assert "<tenant>" not in shown
    assert "<tenant>" in show("microsoft")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["facebook"], "there is no preset facebook"),
        (["microsoft", "realm=x"], "takes tenant"),
        (["microsoft", "tenant"], "takes tenant"),
        (["microsoft", "tenant=contoso"], "tenant must be the tenant's UUID"),
        (["apple", "tenant=x"], "takes no parameter"),
    ],
)
def test_a_preset_that_cannot_be_shown_is_an_error(arguments, words):
    result = run(*commands.presets(*arguments))
    assert result.returncode not in (0, -4, -6, -11)
    assert words in result.stderr.decode()
    assert not result.stdout


def test_a_preset_whose_tokens_anyone_can_get_requires_a_claim_rule(tmp_path):
    file = tmp_path / "assay.yaml"
    lines = "providers:\n  - id: ci\n    preset: github-actions\n    audiences: [a]\n"
    for rule, good in [("", False), ("claim_values: { repository_owner_id: 65 }", True), ("claim_values: any", True)]:
        file.write_text(lines + f"    {rule}\n")
        result = run(*commands.config_check(file))
        assert (result.returncode == 0) == good, result
        assert good or "every repository at GitHub" in result.stderr.decode()


def test_google_service_accounts_are_refused(server):
    issuer = server.issuer("google", rsa_key())
    with Service(google_like(issuer)).wait_until_ready() as service:
        assert service.reject(issuer.token(azp="user-1"), "claim_invalid")["claim"] == "azp"
        robot = issuer.token(email="robot@project.iam.gserviceaccount.com")
        assert service.reject(robot, "claim_invalid")["claim"] == "email"
        service.accept(issuer.token(azp="client", email="a@gmail.com"))


# Tenants


def microsoft_like(issuer, **settings) -> dict:
    """Microsoft's rules with a test URL."""
    usual = {
        "issuer": TEMPLATE,
        "discovery_url": issuer.url + "/.well-known/openid-configuration",
        "discovery_issuer": issuer.url,
        "key_issuers": [TEMPLATE],
        "claim_values": {"ver": ["2.0"]},
        "email": {"verified_claim": "xms_edov"},
    }
    return provider(issuer, "microsoft") | usual | settings


def token(issuer, tenant=TENANT, key=None, **claims) -> str:
    usual = {"iss": TEMPLATE.replace("{tid}", tenant), "tid": tenant, "ver": "2.0"}
    return jws(key or issuer.keys[0], issuer.claims(**usual | claims))


def test_tenants_share_a_provider_but_keep_their_issuers(server):
    issuer = server.issuer("ms", ec_key("any"))
    with Service(microsoft_like(issuer)).wait_until_ready() as service:
        for tenant in (TENANT, CONSUMERS):
            identity = service.accept(token(issuer, tenant))["identity"]
            assert identity["issuer"] == TEMPLATE.replace("{tid}", tenant)
            assert identity["tenant"] == tenant
        other = token(issuer, tid=CONSUMERS)
        assert service.reject(other, "issuer_mismatch", provider="microsoft")
        assert service.reject(token(issuer, tid=None), "claim_missing")["claim"] == "tid"
        assert service.reject(token(issuer, ver="1.0"), "claim_invalid")["claim"] == "ver"
        service.reject(token(issuer, iss=TEMPLATE), "provider_unknown")
        unverified = service.accept(token(issuer, email="a@example.com"))["identity"]
        assert (unverified["email_verified"], unverified["email_trust"]) == (None, "unverified")
        verified = service.accept(token(issuer, email="a@example.com", xms_edov="1"))["identity"]
        assert (verified["email_verified"], verified["email_trust"]) == (True, "verified")


def test_tenants_that_are_not_allowed_are_refused(server):
    issuer = server.issuer("ms", ec_key("any"))
    with Service(microsoft_like(issuer, tenants=[TENANT])).wait_until_ready() as service:
        service.accept(token(issuer))
        service.reject(token(issuer, CONSUMERS), "provider_unknown")
        service.reject(token(issuer, CONSUMERS), "issuer_mismatch", provider="microsoft")


def test_a_key_of_one_tenant_does_not_sign_for_another(server):
    ofAny, ofConsumers = ec_key("any"), ec_key("consumers")
    issuer = server.issuer("ms", ofAny, ofConsumers)
    issuer.jwks.reset(
        {
            "keys": [
                ofAny.jwk(issuer=TEMPLATE.replace("{tid}", "{tenantid}")),
                ofConsumers.jwk(issuer=TEMPLATE.replace("{tid}", CONSUMERS)),
            ]
        }
    )
    with Service(microsoft_like(issuer)).wait_until_ready() as service:
        service.accept(token(issuer, TENANT, ofAny))
        service.accept(token(issuer, CONSUMERS, ofConsumers))
        service.reject(token(issuer, TENANT, ofConsumers), "issuer_mismatch")


def test_a_discovery_document_of_another_issuer_is_not_used(server):
    issuer = server.issuer("ms", ec_key("any"))
    settings = microsoft_like(issuer, discovery_issuer=TEMPLATE.replace("{tid}", "{tenantid}"))
    with Service(settings | {"optional": True}) as service:
        service.wait_until(lambda: "issuer" in str(service.provider_state("microsoft")["last_error"]))
        service.reject(token(issuer), "keys_unavailable")
        issuer.discovery.reset(issuer.discovery_document(issuer=TEMPLATE.replace("{tid}", "{tenantid}")))
        service.admin.post("/v1/providers/microsoft/refresh")
        service.accept(token(issuer))


# Certificates


def test_certificates_serve_as_keys_and_are_archived(server, tmp_path):
    first, second = rsa_key("first"), rsa_key("second")
    issuer = server.issuer("cookie", first, second)
    issuer.jwks.reset({key.kid: certificate(key) for key in (first, second)})
    settings = provider(issuer, certificates_uri=issuer.jwks_uri)
    with Service(settings, cache_directory=str(tmp_path)).wait_until_ready() as service:
        for key in (first, second):
            assert service.accept(jws(key, issuer.claims()))["keys"]["source"] == "network"
        service.reject(jws(first, issuer.claims(), kid="second"), "signature_invalid")
        service.reject(jws(first, issuer.claims(), kid="third"), "key_not_found")
        service.wait_until(lambda: list(tmp_path.glob("*.keys")))
    issuer.jwks.status = 500
    with Service(settings, cache_directory=str(tmp_path)).wait_until_ready() as service:
        assert service.accept(jws(second, issuer.claims()))["keys"]["source"] == "disk"


# Audiences, claims, members


def test_session_tokens_without_an_audience_are_identified_by_azp(server):
    issuer = server.issuer("clerk", rsa_key())
    settings = provider(
        issuer,
        audiences="none",
        authorized_parties=["https://app.example"],
        refused_claim_values={"sts": ["pending"]},
    )
    with Service(settings).wait_until_ready() as service:
        session = {"aud": None, "azp": "https://app.example"}
        answer = service.accept(issuer.token(**session))["token"]
        assert (answer["audience"], answer["authorized_party"]) == ([], "https://app.example")
        service.reject(issuer.token(**session | {"azp": "https://evil.example"}), "authorized_party_mismatch")
        assert service.reject(issuer.token(aud=None), "claim_missing")["claim"] == "azp"
        service.reject(issuer.token(azp="https://app.example"), "audience_mismatch")
        assert service.reject(issuer.token(**session, sts="pending"), "claim_invalid")["claim"] == "sts"
        service.reject(issuer.token(**session), "audience_not_configured", audience="client")


def test_a_rule_for_groups_cannot_be_checked_if_there_are_too_many_to_list(server):
    issuer = server.issuer("entra", rsa_key())
    with Service(provider(issuer, claim_values={"groups": ["staff"]})).wait_until_ready() as service:
        service.accept(issuer.token(groups=["others", "staff"]))
        assert service.reject(issuer.token(groups=["others"]), "claim_invalid")["claim"] == "groups"
        service.reject(issuer.token(hasgroups=True), "groups_overage")


def test_settings_choose_the_claims_of_identity_members(server):
    issuer = server.issuer("cognito", rsa_key())
    settings = provider(
        issuer,
        claim_values={"token_use": "id", "/org/active": True},
        identity={"preferred_username": "cognito:username", "tenant": "/org/id", "email": "emails"},
    )
    with Service(settings).wait_until_ready() as service:
        own = {
            "token_use": "id",
            "cognito:username": "ada",
            "org": {"id": "o1", "active": True},
            "emails": ["a@example.com", "b@example.com"],
        }
        identity = service.accept(issuer.token(**own))["identity"]
        assert identity["preferred_username"] == "ada"
        assert identity["tenant"] == "o1"
        assert identity["email"] == "a@example.com"
        access = own | {"token_use": "access"}
        assert service.reject(issuer.token(**access), "claim_invalid")["claim"] == "token_use"
        inactive = own | {"org": {"id": "o1"}}
        assert service.reject(issuer.token(**inactive), "claim_missing")["claim"] == "/org/active"
