"""L. Sign-ins: nobody finishes another user's sign-in, or the same one twice. Q06: a token presented twice."""

import base64
import concurrent.futures
import hashlib
import secrets
import time

import pytest

from attacks.catalogue import rows
from harness.client import Client, contract
from harness.clock import WallClock
from harness.issuer import KeyServer
from harness.service import Service, apple_like, provider, run
from harness.store import Store
from harness.tokens import jws, rsa_key


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def begin(service: Service, id: str = "op", **members) -> dict:
    response = service.api.post("/v1/sign-ins", {"provider": id} | members)
    assert response.status == 201, response
    return response.json


def finish(service: Service, handle, token, headers: dict | None = None, **members):
    body = {"sign_in": handle["sign_in"] if isinstance(handle, dict) else handle, "id_token": token} | members
    return service.api.post("/v1/sign-ins/finish", body, headers)


class Scene:
    """Two providers and two replicas with shared keys."""

    def __init__(self, server: KeyServer, replicas: list[Service]):
        self.op, self.other, self.apple = (server.issuer(id, rsa_key(f"{id}-1")) for id in ("op", "other", "apple"))
        self.replicas = replicas

    @property
    def service(self) -> Service:
        return self.replicas[0]


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scene")
    key = folder / "sign-ins.key"
    key.write_bytes(run("key", "new").stdout)
    key.chmod(0o600)
    with KeyServer() as server, Store(folder / "store") as store:
        replicas: list[Service] = []
        scene = Scene(server, replicas)
        providers = [
            provider(scene.op, "op", audiences=["client", "another-client"]),
            provider(scene.other, "other", nonce={"single_use": True}),
            apple_like(scene.apple, audiences=["client"], nonce={"single_use": True, "match": ["sha256_hex", "plain"]}),
        ]
        sign_ins = {"key_files": [str(key)], "store": {"url": store.url}}
        with Service(*providers, sign_ins=sign_ins) as one, Service(*providers, sign_ins=sign_ins) as another:
            replicas += [one, another]
            for each in replicas:
                each.wait_until_ready()
                each.wait_until(lambda each=each: each.api.get("/readyz").json["store"]["state"] == "ok")
            yield scene


def refused(response, code: str, spent: bool = False) -> None:
    assert contract.assert_code(response, code)["spent"] is spent


@pytest.mark.parametrize("mine", rows(("L01", "the victim's handle, the attacker's token", True), ("L01", "the other way round", False)))
def test_a_sign_in_cannot_be_finished_by_another_user(scene, mine):
    """Login CSRF: the attacker plants a handle or a token, and the nonces do not match."""
    victims, attackers = begin(scene.service), begin(scene.service)
    handle, nonce = (victims, attackers["nonce"]) if mine else (attackers, victims["nonce"])
    refused(finish(scene.service, handle, scene.op.token(nonce=nonce)), "nonce_mismatch")
    for begun in (victims, attackers):
        assert finish(scene.service, begun, scene.op.token(nonce=begun["nonce"])).status == 200


MISPLACED = rows(
    ("L02", "the handle as state", lambda begun: {"state": begun["sign_in"]}, "request_invalid"),
    ("L02", "the handle as the token", lambda begun: {"id_token": begun["sign_in"]}, "token_malformed"),
    ("L02", "the handle as the response", lambda begun: {"response": {"state": begun["sign_in"]}}, "request_invalid"),
    ("L02", "the nonce as the handle", lambda begun: {"sign_in": begun["nonce"]}, "sign_in_invalid"),
    ("L02", "the nonce beside the handle", lambda begun: {"nonce": begun["nonce"]}, "request_invalid"),
    ("L02", "another audience beside the handle", lambda begun: {"audience": "another-client"}, "request_invalid"),
    ("L02", "another provider beside the handle", lambda begun: {"provider": "other"}, "request_invalid"),
)


@pytest.mark.parametrize(("change", "code"), MISPLACED)
def test_handles_nonces_and_states_are_not_interchangeable(scene, change, code):
    begun = begin(scene.service)
    token = scene.op.token(nonce=begun["nonce"])
    body = {"sign_in": begun["sign_in"], "id_token": token} | change(begun)
    refused(scene.service.api.post("/v1/sign-ins/finish", body), code)
    assert finish(scene.service, begun, token).status == 200


@pytest.mark.parametrize("count", rows(("L04", "one after the other", 1), ("L04", "at once, at both replicas", 16)))
def test_a_shared_request_id_does_not_make_a_finish_repeatable(scene, count):
    begun = begin(scene.service)
    body = {"sign_in": begun["sign_in"], "id_token": scene.op.token(nonce=begun["nonce"])}
    headers = {"X-Request-Id": f"shared-{secrets.token_hex(4)}"}

    def send(number: int) -> int:
        api = Client(scene.replicas[number % 2].api.address)
        status = api.post("/v1/sign-ins/finish", body, headers).status
        api.close()
        return status

    with concurrent.futures.ThreadPoolExecutor(count) as threads:
        statuses = list(threads.map(send, range(count + 1)))
    assert sorted(statuses) == [200] + [422] * count


@pytest.mark.parametrize("other", rows(("L05", "at the same replica", 0), ("L05", "at another replica", 1)))
def test_a_finish_cannot_be_repeated(scene, other):
    begun = begin(scene.service)
    token = scene.op.token(nonce=begun["nonce"])
    assert finish(scene.service, begun, token).status == 200
    refused(finish(scene.replicas[other], begun, token), "sign_in_replayed", spent=True)
    fresh = scene.op.token(nonce=begun["nonce"], iat=int(time.time()) - 1)
    refused(finish(scene.replicas[other], begun, fresh), "sign_in_replayed", spent=True)


@pytest.mark.parametrize("replica", rows(("Q06", "at the same replica", 0), ("Q06", "at another replica", 1)))
def test_a_token_cannot_be_presented_twice(scene, replica):
    nonce = secrets.token_urlsafe()
    token = scene.other.token(nonce=nonce)
    scene.service.accept(token, nonce=nonce)
    scene.replicas[replica].reject(token, "nonce_replayed", nonce=nonce)


def test_a_hashed_nonce_cannot_be_used_as_a_plain_one(scene):
    """L07: a token reveals the hash, which is a valid plain nonce if both forms are accepted."""
    begun = begin(scene.service, "apple")
    refused(finish(scene.service, begun, scene.apple.token(nonce=digest(begun["nonce_sha256"]))), "nonce_mismatch")
    nonce = secrets.token_urlsafe()
    token = scene.apple.token(nonce=digest(nonce))
    scene.service.accept(token, nonce=nonce)
    for replica in scene.replicas:
        replica.reject(token, "nonce_replayed", nonce=digest(nonce))
        replica.reject(scene.apple.token(nonce=nonce), "nonce_replayed", nonce=nonce)


FOREIGN = rows(
    ("L08", "another provider", lambda scene, nonce: scene.other.token(nonce=nonce), "key_not_found"),
    (
        "L08", "another provider, by a key of the right one",
        lambda scene, nonce: jws(scene.op.keys[0], scene.other.claims(nonce=nonce)), "issuer_mismatch",
    ),
    ("L08", "another provider's key", lambda scene, nonce: scene.other.token(nonce=nonce, iss=scene.op.url), "key_not_found"),
    ("L08", "another client", lambda scene, nonce: scene.op.token(nonce=nonce, aud="another-client"), "audience_mismatch"),
    (
        "L08", "another client too", lambda scene, nonce: scene.op.token(nonce=nonce, aud=["client", "stranger"]), "audience_mismatch"
    ),
    ("L08", "another person", lambda scene, nonce: scene.op.token(nonce=nonce, sub="another"), "subject_mismatch"),
)  # fmt: skip


@pytest.mark.parametrize(("make", "code"), FOREIGN)
def test_a_token_of_another_provider_client_or_user_is_refused(scene, make, code):
    begun = begin(scene.service, audience="client", subject="user-1")
    refused(finish(scene.service, begun, make(scene, begun["nonce"])), code)
    assert finish(scene.service, begun, scene.op.token(nonce=begun["nonce"])).status == 200


def test_clock_jumps_around_the_expiry_allow_no_second_finish(tmp_path):
    """L10: jumps forwards and backwards, and a handle from the future."""
    clock = WallClock(tmp_path)
    with KeyServer() as server:
        issuer = server.issuer("clock")
        with Service(provider(issuer, clock_skew="300s"), variables=clock.variables, sign_ins={}) as service:
            service.wait_until_ready()
            begun = begin(service, "oidc", expires_in=60)
            token = issuer.token(nonce=begun["nonce"], exp=int(time.time()) + 7200)
            assert finish(service, begun, token).status == 200
            for seconds, code in ((30, "sign_in_replayed"), (61, "sign_in_expired"), (3600, "sign_in_expired"), (0, "sign_in_replayed")):
                clock.shift(seconds)
                refused(finish(service, begun, token), code, spent=code == "sign_in_replayed")
            clock.shift(-200)
            refused(finish(service, begun, token), "sign_in_replayed", spent=True)
            # The clock skew is for the provider's tokens, and does not extend a handle.
            clock.shift(0)
            begun = begin(service, "oidc", expires_in=60)
            clock.shift(61)
            refused(finish(service, begun, issuer.token(nonce=begun["nonce"])), "sign_in_expired")
            clock.shift(600)
            ahead = begin(service, "oidc")
            clock.shift(0)
            refused(finish(service, ahead, issuer.token(nonce=ahead["nonce"])), "sign_in_invalid")


def octets(handle: str) -> bytes:
    return base64.urlsafe_b64decode(handle + "=" * (-len(handle) % 4))


def text(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


# Changes to two handles. The first 25 octets are version, key ID and salt.
CHANGED = rows(
    ("L12", "another version", lambda one, other: b"\2" + one[1:]),
    ("L12", "no version", lambda one, other: one[1:]),
    ("L12", "another key's id", lambda one, other: one[:1] + bytes(8) + one[9:]),
    ("L12", "another handle's salt", lambda one, other: one[:9] + other[9:25] + one[25:]),
    ("L12", "another handle's content", lambda one, other: one[:25] + other[25:]),
    ("L12", "another handle's tag", lambda one, other: one[:-16] + other[-16:]),
    ("L12", "one octet changed", lambda one, other: one[:40] + bytes([one[40] ^ 1]) + one[41:]),
    ("L12", "cut", lambda one, other: one[:-1]),
    ("L12", "longer", lambda one, other: one + b"\0"),
    ("L12", "twice", lambda one, other: one + one),
    ("L12", "nothing", lambda one, other: b""),
)


@pytest.mark.parametrize("change", CHANGED)
def test_a_changed_handle_does_not_open(scene, change):
    one, other = begin(scene.service), begin(scene.service)
    changed = text(change(octets(one["sign_in"]), octets(other["sign_in"])))
    for begun in (one, other):
        refused(finish(scene.service, changed, scene.op.token(nonce=begun["nonce"])), "sign_in_invalid")
        assert finish(scene.service, begun, scene.op.token(nonce=begun["nonce"])).status == 200
