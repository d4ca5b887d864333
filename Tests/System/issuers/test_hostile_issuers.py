"""One customer's provider, slow, hostile or huge, must not reach, slow, evict or speak for another."""

import concurrent.futures
import time

import pytest

from harness.client import Client
from harness.many import accept, connection, listed, open_entry, reject
from harness.service import NETWORK, Service, provider
from harness.tokens import Key, ec_key

KEY = ec_key("good")


@pytest.fixture
def good(server):
    return server.issuer("good", KEY)


@pytest.fixture
def bad(server):
    return server.issuer("bad", ec_key("bad"))


def last_error(service, issuer, id: str = "connections") -> dict:
    failing = service.provider_state(id)["failing"]
    return next(each["last_error"] for each in failing if each["issuer"] == issuer)


def test_a_document_that_redirects_is_not_followed(good, bad):
    target = good.url + "/.well-known/openid-configuration"
    bad.discovery.status, bad.discovery.headers = 302, {"Location": target}
    with Service(open_entry()) as service:
        reject(service, bad, "keys_unavailable")
        assert good.discovery.count == 0
        assert "redirect" in last_error(service, bad.url)["message"]


def test_a_document_of_another_issuer_lends_no_keys(good, bad):
    bad.discovery.body = good.discovery_document
    with Service(open_entry()) as service:
        reject(service, bad, "keys_unavailable", token=good.token(iss=bad.url))
        assert good.jwks.count == 0
        assert last_error(service, bad.url)["phase"] == "parse"


def test_the_keys_of_another_issuer_verify_only_tokens_that_it_signed(good, bad):
    """An attacker's document may name anybody's keys. The token's issuer is still the attacker's."""
    bad.discovery.body = bad.discovery_document(jwks_uri=good.jwks_uri)
    with Service(open_entry()) as service:
        accept(service, good)
        reject(service, bad, "issuer_mismatch", token=good.token())
        reject(service, good, "issuer_mismatch", "signature_invalid", "key_not_found", token=bad.token())


@pytest.mark.parametrize(
    "issuer", ["https://localhost", "https://127.0.0.1", "https://169.254.169.254", "https://[::1]", "https://10.0.0.1"]
)
def test_addresses_inside_are_not_reached(good, issuer):
    with Service(open_entry(network=None)) as service:
        reject(service, good, "keys_unavailable", token=good.token(iss=issuer), issuer=issuer)
        assert last_error(service, issuer)["phase"] == "address"


@pytest.mark.parametrize("look_alike", ["/", "//", "/.", "%2f"])
def test_a_look_alike_is_another_issuer(good, look_alike):
    with Service(open_entry()) as service:
        accept(service, good)
        issuer = good.url + look_alike
        reject(service, good, "issuer_mismatch", "keys_unavailable", issuer=issuer)
        reject(service, good, "issuer_mismatch", "keys_unavailable", token=good.token(iss=issuer))


@pytest.mark.parametrize("kind", ["1 MiB", "10,000 keys", "deep", "not json", "nothing"])
def test_huge_and_broken_sets_fail_alone(good, bad, kind):
    bad.jwks.body = {
        "1 MiB": {"keys": [bad.keys[0].jwk()], "filler": "x" * (1 << 20)},
        "10,000 keys": {"keys": [{"kty": "EC", "crv": "P-256", "x": "A", "y": "B", "kid": str(n)} for n in range(10_000)]},
        "deep": b'{"keys":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        "not json": b"\xff",
        "nothing": b"",
    }[kind]
    with Service(open_entry()) as service:
        reject(service, bad, "keys_unavailable")
        assert accept(service, good)["identity"]["connection"] == "good"


def test_more_keys_than_any_provider_has_are_refused(bad):
    keys = [bad.keys[0].jwk() | {"kid": str(number)} for number in range(200)]
    bad.jwks.body = {"keys": keys + [bad.keys[0].jwk()]}
    with Service(open_entry()) as service:
        reject(service, bad, "keys_unavailable")
        assert "more than" in last_error(service, bad.url)["message"]


def test_issuers_that_hang_delay_neither_each_other_nor_a_provider_of_the_settings(server, good):
    hanging = [server.issuer(f"hanging-{number}", KEY) for number in range(80)]
    for issuer in hanging:
        issuer.discovery.hold()
    own = server.issuer("own", ec_key("own"))
    entry = provider(own, "own", network=dict(NETWORK))
    with Service(open_entry(), listed(good), entry, keys={"max_fetches": 8}, limits={"keys_timeout": "1s"}) as service:
        service.wait_until_ready()
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            pending = [
                pool.submit(
                    Client(service.api.address).post, "/v1/verify", {"id_token": each.token()} | connection(each)
                )
                for each in hanging
            ]
            service.wait_until(lambda: sum(each.discovery.count for each in hanging) >= 4)
            started = time.monotonic()
            service.accept(own.token())
            # The first use of another entry's issuer: its fetch has slots of its own.
            service.accept(good.token(), provider="customers")
            own.rotate(ec_key("next"))
            service.accept(own.token())
            assert time.monotonic() - started < 5
            assert sum(each.discovery.count for each in hanging) <= 4
            for each in hanging:
                each.discovery.release()
            assert {each.result().code for each in pending} <= {"keys_unavailable", None}


def test_a_flood_of_names_evicts_no_good_issuer_and_asks_none_twice(server, good):
    """Names that do not exist, at one address: each is asked for once."""
    with Service(open_entry(max_issuers=1), keys={"max_fetches": 16}) as service:
        accept(service, good)
        for number in range(300):
            name = server.url + f"/nobody-{number}"
            reject(service, good, "keys_unavailable", token=good.token(iss=name), issuer=name)
        accept(service, good)
        assert good.jwks.count == 1
        assert service.provider_state("connections")["states"]["unavailable"] == 300


def test_newcomers_take_no_proven_issuers_place(server, good):
    """More issuers than there is room for: those whose tokens held stay, and junk comes and goes."""
    junk = [server.issuer(f"junk-{number}", KEY) for number in range(8)]
    with Service(open_entry(max_issuers=2)) as service:
        accept(service, good)
        for issuer in junk:
            # The keys are fetched, but no signature of them holds.
            forged = Key(ec_key("forged").private, "good")
            issuer.keys, published = [forged], issuer.keys
            token = issuer.token()
            issuer.keys = published
            reject(service, issuer, "signature_invalid", token=token)
        service.wait_until(lambda: sum(service.provider_state("connections")["states"].values()) <= 2)
        accept(service, good)
        assert good.jwks.count == 1


def test_the_issuer_used_longest_ago_goes_and_comes_back(server):
    issuers = [server.issuer(f"op-{number}", KEY) for number in range(3)]
    with Service(open_entry(max_issuers=2)) as service:
        for issuer in issuers:
            accept(service, issuer)
        service.wait_until(lambda: service.provider_state("connections")["states"]["ready"] == 2)
        accept(service, issuers[0])
        assert issuers[0].jwks.count == 2
        assert issuers[2].jwks.count == 1


def test_idle_issuers_are_dropped(good):
    with Service(open_entry(), keys={"idle_for": "1s"}) as service:
        accept(service, good)
        service.wait_until(lambda: service.provider_state("connections")["states"]["ready"] == 0)
        accept(service, good)
        assert good.jwks.count == 2


def test_what_a_restart_lost_is_read_from_the_disk(tmp_path, good):
    with Service(open_entry(), cache_directory=str(tmp_path)) as service:
        accept(service, good)
        service.wait_until(lambda: list(tmp_path.glob("connections.issuers/*.keys")))
    good.discovery.hold()
    with Service(open_entry(), cache_directory=str(tmp_path)) as service:
        answer = accept(service, good)
        assert answer["keys"]["source"] == "disk"
        good.discovery.release()
        service.wait_until(lambda: accept(service, good)["keys"]["source"] == "network")
    [file] = tmp_path.glob("connections.issuers/*.keys")
    assert good.name not in file.name and len(file.stem) == 64
