"""Providers that go down and come back with other keys, while tokens are verified."""

import pytest

from harness.keys import refresh
from harness.load import Load
from harness.service import Service
from providers.authlib_provider import AuthlibProvider
from providers.glewlwyd import Glewlwyd
from providers.mock_provider import MockProvider
from providers.relying_party import accept, reject, trusting


class RestartingAuthlib(AuthlibProvider):
    audiences = [AuthlibProvider.client_id]
    # The key ID of tokens after a restart, and the code for earlier ones once their key is dropped.
    new_key_id, refused_as = "second", "key_not_found"

    def come_back(self) -> None:
        self.start("second")


class RestartingGlewlwyd(Glewlwyd):
    new_key_id, refused_as = "es256-1", "key_not_found"

    def __init__(self):
        super().__init__(["ES256"])

    @property
    def audiences(self) -> list[str]:
        return self.client_ids

    def sign_in(self):
        return super().sign_in("ES256")

    def stop(self) -> None:
        # glewlwyd can change its keys only while it runs. Assay does not fetch them before the outage.
        self.rotate()
        super().stop()

    def come_back(self) -> None:
        self.start()


class RestartingMock(MockProvider):
    audiences = [MockProvider.client_id]
    # Without a key ID, a token whose key is gone just has a bad signature.
    new_key_id, refused_as = None, "signature_invalid"

    def come_back(self) -> None:
        self.start()


@pytest.fixture(params=[RestartingAuthlib, RestartingGlewlwyd, RestartingMock])
def provider(request):
    with request.param() as running:
        yield running


@pytest.mark.parametrize("is_noticed", [True, False], ids=["noticed", "unnoticed"])
def test_no_valid_token_is_refused_if_a_provider_comes_back_with_new_keys(provider, is_noticed):
    """If the service notices the outage, it retries by itself. Otherwise, the first new token causes a fetch."""
    before = [provider.sign_in() for _ in range(4)]
    settings = trusting(provider, "op", provider.audiences, nonce={"check": "off"})
    # Does not log the requests in the background.
    with Service(settings, log={"requests": False}) as service:
        service.wait_until_ready()
        with Load(service.api.address, {"known": [(sign_in.id_token, None) for sign_in in before]}) as load:
            load.passes("known")

            provider.stop()
            load.passes("known")
            if is_noticed:
                state = refresh(service, "op")
                assert state["state"] in ("ready", "stale")
                assert state["last_error"]["phase"] == "connect"
            load.passes("known")

            provider.come_back()
            first = provider.sign_in()
            answer = accept(service, first)
            assert (answer["token"]["key_id"], answer["keys"]["source"]) == (provider.new_key_id, "network")
            assert answer["keys"]["stale"] is False
            # One response has omitted their key, which is not enough to drop it.
            assert [key["omitted"] for key in service.provider_state("op")["keys"]].count(True) == 1
            load.passes("known")
            accept(service, provider.sign_in())
            load.passes("known")
        assert load.verified > 100

        state = refresh(service, "op")
        assert (state["state"], state["last_error"]) == ("ready", None)
        assert not any(key["omitted"] for key in state["keys"])
        for sign_in in before:
            reject(service, sign_in, provider.refused_as)
        accept(service, first)


def test_archived_keys_are_used_until_a_provider_is_back(tmp_path):
    with RestartingAuthlib() as provider:
        before = provider.sign_in()
        settings = trusting(provider, "op", provider.audiences)
        with Service(settings, cache_directory=str(tmp_path)) as service:
            service.wait_until_ready()
            service.wait_until(lambda: list(tmp_path.glob("*.keys")))
        provider.stop()
        with Service(settings, cache_directory=str(tmp_path)) as service:
            assert accept(service, before)["keys"]["source"] == "disk"

            provider.come_back()
            answer = accept(service, provider.sign_in())
            assert (answer["token"]["key_id"], answer["keys"]["source"]) == ("second", "network")
            accept(service, before)
            refresh(service, "op")
            reject(service, before, "key_not_found")
