"""ID Tokens of oidc-provider-mock: no key ID, and a new key after each start."""

import pytest

from harness.service import Service
from providers import independent
from providers.browser import Browser
from providers.mock_provider import MockProvider
from providers.relying_party import accept, reject, sign_in_once, trusting


@pytest.fixture(scope="module")
def provider():
    with MockProvider() as running:
        yield running


@pytest.fixture
def service(provider):
    with Service(trusting(provider, "mock", [provider.client_id]), sign_ins={}) as running:
        yield running.wait_until_ready()


def test_a_token_without_a_key_id_verifies(provider, service):
    sign_in = provider.sign_in()
    keys = independent.published_keys(provider.issuer)
    assert independent.is_signed_by_any(sign_in.id_token, keys)
    assert "kid" not in independent.header(sign_in.id_token)
    assert not {"alg", "use"} & keys[0].keys()

    answer = accept(service, sign_in, access_token=sign_in.access_token)

    identity, token = answer["identity"], answer["token"]
    assert (identity["issuer"], identity["subject"]) == (provider.issuer, provider.subject)
    assert (identity["email"], identity["email_verified"]) == ("maria@example.com", True)
    assert identity["email_trust"] == "verified"
    assert identity["name"] == "Maria Muster"
    assert (token["algorithm"], token["key_id"]) == ("RS256", None)
    assert token["audience"] == [provider.client_id]
    assert token["nonce_match"] == "plain"


def test_a_sign_in_can_be_finished_once(provider, service):
    answer = sign_in_once(service, "mock", provider.client_id, provider.sign_in)
    assert answer["identity"]["name"] == "Maria Muster"


def test_signing_out(provider):
    back = "http://127.0.0.1/signed-out"
    client = {"id": provider.client_id, "auth": "none", "post_logout_redirect_uris": [back]}
    with Service(trusting(provider, "mock", [provider.client_id], clients=[client])) as service:
        service.wait_until_ready()
        request = {"provider": "mock", "id_token_hint": provider.sign_in().id_token, "post_logout_redirect_uri": back}
        signed_out = service.api.post("/v1/sign-outs", request).json
        assert signed_out["endpoint"] == f"{provider.issuer}/oauth2/end_session"
        browser = Browser()
        for page in (browser.get(signed_out["logout_url"]), browser.post_form(signed_out["endpoint"], signed_out["parameters"])):
            text = page.expect().body.decode()
            assert "id_token_hint</code> not set" not in text
            # The page's form has the address that the browser comes back to.
            comes_back = f"{back}?state={signed_out['state']}"
            assert f'value="{comes_back}"' in text
        page = browser.post_form(f"{provider.issuer}/oauth2/end_session/confirm", {"redirect_uri": comes_back})
        assert page.redirect_parameters == {"state": signed_out["state"]}


def test_a_wrong_nonce_audience_or_access_token_is_refused(provider, service):
    sign_in, other = provider.sign_in(), provider.sign_in()

    reject(service, sign_in, "nonce_mismatch", nonce=other.nonce)
    reject(service, sign_in, "at_hash_mismatch", access_token=other.access_token)
    reject(service, sign_in, "c_hash_missing", code=sign_in.code)
    with Service(trusting(provider, "mock", ["another-client"])) as other_client:
        reject(other_client.wait_until_ready(), sign_in, "audience_mismatch")


def test_an_alias_is_reported_as_the_configured_issuer(provider):
    """The provider's issuer has the host of the request: `localhost` for Assay, and `127.0.0.1` for the browser."""
    issuer = provider.issuer.replace("127.0.0.1", "localhost")
    settings = trusting(provider, "mock", [provider.client_id], issuer_aliases=[provider.issuer]) | {"issuer": issuer}
    with Service(settings) as aliased:
        answer = accept(aliased.wait_until_ready(), provider.sign_in())
    with Service(trusting(provider, "mock", [provider.client_id]) | {"issuer": issuer}) as strict:
        reject(strict.wait_until_ready(), provider.sign_in(), "issuer_mismatch", provider="mock")

    assert answer["identity"]["issuer"] == issuer


def test_a_recent_login_satisfies_max_age(provider, service):
    accept(service, provider.sign_in(), max_age=60)


def test_an_unannounced_key_is_found_with_its_first_token(provider, service):
    """Without a key ID, only a bad signature indicates a new key."""
    accept(service, provider.sign_in())

    # Twice, because Assay must not give up on tokens without a key ID after the first time.
    for _ in range(2):
        old_keys = independent.published_keys(provider.issuer)
        provider.restart()
        sign_in = provider.sign_in()
        assert not independent.is_signed_by_any(sign_in.id_token, old_keys)
        accept(service, sign_in)


def test_a_forged_token_is_refused_after_any_fetch(provider, service):
    sign_in, other = provider.sign_in(), provider.sign_in()
    signed, _, _ = sign_in.id_token.rpartition(".")
    _, _, signature = other.id_token.rpartition(".")

    for _ in range(5):
        service.reject(f"{signed}.{signature}", "signature_invalid", nonce=sign_in.nonce)
    accept(service, sign_in)
