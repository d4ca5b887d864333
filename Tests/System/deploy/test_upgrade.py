"""Two versions side by side, and one after the other, in both directions: an upgrade and a rollback.

`ASSAY_PREVIOUS_BINARY` is the other version. Without it, the version under test takes both parts, which shows that nothing
depends on the process that wrote it.
"""

import os

import pytest

from harness.issuer import KeyServer
from harness.service import BINARY, Service, provider, run
from harness.store import Store
from harness.tokens import ec_key
from sign_ins.calls import begin, finish, refused

PREVIOUS = os.environ.get("ASSAY_PREVIOUS_BINARY", BINARY)


@pytest.fixture(params=[(PREVIOUS, BINARY), (BINARY, PREVIOUS)], ids=["upgrade", "rollback"])
def versions(request):
    return request.param


@pytest.fixture
def issuer():
    with KeyServer() as server:
        yield server.issuer("op", ec_key("op"))


@pytest.fixture
def instances(versions, issuer, tmp_path):
    """One instance of each version, with the same settings and one store: what a rolling restart has for a while."""
    key = tmp_path / "sign-ins.key"
    key.write_bytes(run("key", "new").stdout)
    key.chmod(0o600)
    with Store(tmp_path) as store:
        sign_ins = {"key_files": [str(key)], "store": {"url": store.url}}
        once = provider(issuer, nonce={"required": True, "single_use": True})
        first, second = (Service(once, sign_ins=sign_ins, binary=binary) for binary in versions)
        with first, second:
            for instance in (first, second):
                instance.wait_until(lambda: signs_in(instance, instance, issuer))
            yield first, second


def signs_in(beginning: Service, finishing: Service, issuer) -> bool:
    begun = begin(beginning)
    return finish(finishing, begun, issuer.token(nonce=begun["nonce"])).status == 200


def test_a_sign_in_of_one_version_is_finished_by_the_other(instances, issuer):
    assert signs_in(*instances, issuer)


def test_a_sign_in_that_one_version_finished_is_spent_for_the_other(instances, issuer):
    first, second = instances
    begun = begin(first)
    token = issuer.token(nonce=begun["nonce"])
    assert finish(first, begun, token).status == 200
    refused(finish(second, begun, token), "sign_in_replayed", spent=True)


def test_a_nonce_that_one_version_verified_is_spent_for_the_other(instances, issuer):
    first, second = instances
    token = issuer.token(nonce="n-1")
    first.accept(token, nonce="n-1")
    second.reject(token, "nonce_replayed", nonce="n-1")


def test_keys_on_disk_of_one_version_serve_the_other(versions, issuer, tmp_path):
    before, after = versions
    with Service(provider(issuer), cache_directory=str(tmp_path), binary=before) as service:
        service.wait_until(lambda: (tmp_path / "oidc.keys").exists())
    issuer.discovery.status = issuer.jwks.status = 503
    with Service(provider(issuer), cache_directory=str(tmp_path), binary=after) as service:
        service.wait_until_ready()
        assert service.accept(issuer.token())["keys"]["source"] == "disk"
