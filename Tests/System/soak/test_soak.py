"""A soak test: valid and invalid sign-ins, misbehaving clients, rotations, outages and reloads, all at once.

Every response must be the expected one, and memory and descriptors must not grow. ASSAY_SOAK_MINUTES sets the duration,
by default 3.
"""

import itertools
import json
import random
import signal
import threading
import time

from harness import contract
from harness.client import Client, Connection, request_bytes
from harness.issuer import Issuer, KeyServer
from harness.load import Load
from harness.metrics import Metrics
from harness.service import Service, provider
from harness.tokens import ec_key, ed_key, jws, rsa_key
from soak.running import MINUTES, Background, Sample, check_growth, sample

# Seconds between two events. One of nine events needs a fetch, of which tokens may cause two per half minute.
PERIOD = 2.5
# While the last fetch has failed, it is unknown whether a missing key exists.
UNKNOWN = "key_not_found|keys_unavailable"


class Rounds:
    """The sign-ins of one provider. The load uses new ones after each rotation."""

    def __init__(self, issuer: Issuer, spends_fetches: bool):
        """`spends_fetches`: whether invalid tokens cause fetches, which leaves none for a rotation."""
        self.issuer = issuer
        self.spends_fetches = spends_fetches
        self.stranger = rsa_key("stranger")

    def requests(self) -> list[tuple[str, str | None]]:
        issuer, key = self.issuer, self.issuer.keys[0]
        good = [(issuer.token(sub=f"user-{number}"), None) for number in range(12)]
        by_the_key_before = [(jws(old, issuer.claims()), None) for old in issuer.keys[1:2]]
        forged = issuer.token()
        bad = [
            (issuer.token(exp=1), "token_expired"),
            (issuer.token(aud="another"), "audience_mismatch"),
            (issuer.token(aud=["client", "another"]), "audience_mismatch"),
            (issuer.token(nbf=issuer.claims()["exp"]), "token_not_yet_valid"),
            (jws(key, issuer.claims(), header={"alg": "none", "kid": key.kid}), "algorithm_not_allowed"),
            ("x" * 3000, "token_malformed"),
            (issuer.token(sub=None), "claim_missing"),
        ]
        if self.spends_fetches:
            bad.append((jws(self.stranger, issuer.claims(), kid=f"unknown-{random.random()}"), UNKNOWN))
            bad.append((forged[:-10] + ("A" if forged[-10] != "A" else "B") + forged[-9:], "signature_invalid"))
        return good + by_the_key_before + bad


class Conductor:
    """Causes events, one after the other, in a loop. Rotations keep the previous key for sign-ins in progress."""

    def __init__(self, service: Service, by_kid: Rounds, by_refresh: Rounds, load: Load):
        self.service = service
        self.by_kid, self.by_refresh = by_kid, by_refresh
        self.load = load
        self.rotations = itertools.count()
        self.events = itertools.cycle(
            [
                self.rotate_and_sign_at_once,
                self.fail,
                self.recover,
                self.hang,
                self.recover,
                self.rotate_and_tell,
                self.answer_nonsense,
                self.recover,
                self.reload,
            ]
        )

    def next(self) -> None:
        next(self.events)()

    def rotate_and_sign_at_once(self) -> None:
        """Rotates, and signs at once with a key that has not been fetched."""
        self.by_kid.issuer.rotate(ec_key(f"kid-{next(self.rotations)}"), *self.by_kid.issuer.keys[:2])
        self.load.change("by-kid", self.by_kid.requests())

    def rotate_and_tell(self) -> None:
        """Rotates, and has an operator refresh before the new key is used."""
        issuer = self.by_refresh.issuer
        issuer.rotate(rsa_key(f"told-{next(self.rotations)}"), *issuer.keys[:2])
        answer = self.service.admin.post("/v1/providers/by-refresh/refresh?drop_omitted=true")
        assert issuer.keys[0].kid in [key["kid"] for key in answer.json["keys"]], answer.json
        self.load.change("by-refresh", self.by_refresh.requests())

    def fail(self) -> None:
        self.by_refresh.issuer.jwks.status = 500
        self.service.admin.post("/v1/providers/by-refresh/refresh")

    def hang(self) -> None:
        self.by_refresh.issuer.jwks.hold()

    def answer_nonsense(self) -> None:
        self.by_refresh.issuer.jwks.body = b'{"keys": [{"kty": "RSA"'
        self.service.admin.post("/v1/providers/by-refresh/refresh")

    def recover(self) -> None:
        jwks = self.by_refresh.issuer.jwks
        jwks.reset(self.by_refresh.issuer.jwk_set)
        jwks.release()

    def reload(self) -> None:
        self.service.process.send_signal(signal.SIGHUP)


def rough(service: Service, token: str):
    """Clients that disconnect, send nonsense, send too much, or stall until they time out."""
    whole = request_bytes("POST", "/v1/verify", json.dumps({"id_token": token}).encode())
    chance = random.Random(1)

    def once() -> None:
        manner = chance.choice(["break off", "nonsense", "too much", "dawdle", "not JSON"])
        with Connection(service.api.address, timeout=30) as connection:
            match manner:
                case "break off":
                    connection.send(whole[: chance.randrange(len(whole))])
                case "nonsense":
                    connection.send_tolerantly(chance.randbytes(chance.randrange(1, 3000)) + b"\r\n\r\n")
                case "too much":
                    connection.send_tolerantly(request_bytes("POST", "/v1/verify", b" " * 100_000))
                    assert connection.response("POST", "/v1/verify").code == "request_too_large"
                case "dawdle":
                    connection.send(whole[:-1])
                    assert connection.response("POST", "/v1/verify").code == "request_timeout"
                case "not JSON":
                    connection.send(request_bytes("POST", "/v1/verify", b'{"id_token": '))
                    assert connection.response("POST", "/v1/verify").code == "request_invalid"

    return once


def operator(service: Service, token: str):
    """A client that sends batches, scrapes metrics, and probes."""
    batch = {"items": [{"id_token": token}, {"id_token": "x"}] * 20}
    api, admin = Client(service.api.address), Client(service.admin.address)

    def once() -> None:
        results = api.post("/v1/verify/batch", batch).json["results"]
        assert [result.get("error", {}).get("code") for result in results] == [None, "token_malformed"] * 20
        assert admin.get("/readyz").status == 200
        Metrics(admin.get("/metrics").text)
        assert len(admin.get("/v1/providers").json["providers"]) == 3

    return once


def test_hours_of_events_cause_no_wrong_response_and_no_leak():
    samples: list[Sample] = []
    with KeyServer() as server:
        by_kid = Rounds(server.issuer("by-kid", ec_key("kid"), ec_key("kid-before")), spends_fetches=False)
        by_refresh = Rounds(server.issuer("by-refresh", rsa_key("told"), rsa_key("told-before")), spends_fetches=True)
        calm = Rounds(server.issuer("calm", ed_key("calm")), spends_fetches=False)
        settings = [provider(rounds.issuer, rounds.issuer.name) for rounds in (by_kid, by_refresh, calm)]
        # A small verified-token cache, so that entries are evicted.
        usual = {"limits": {"request_timeout": "1s"}, "log": {"requests": False}}
        with Service(*settings, verified_token_cache={"entries": 50}, **usual) as service:
            service.wait_until_ready()
            rounds = {rounds.issuer.name: rounds.requests() for rounds in (by_kid, by_refresh, calm)}
            token = calm.issuer.token(exp=calm.issuer.claims()["iat"] + 86_400)
            load = Load(service.api.address, rounds, threads=3)
            conductor = Conductor(service, by_kid, by_refresh, load)
            with load, Background(rough(service, token)) as rougher, Background(operator(service, token)) as operating:
                end = time.monotonic() + MINUTES * 60
                pause = threading.Event()
                while time.monotonic() < end:
                    conductor.next()
                    pause.wait(PERIOD)
                    samples.append(sample(service))
                    # An hour of responses would take gigabytes.
                    contract.recording.clear()
                    load.change("calm", calm.requests())
                    surprises = {name: wrong[:3] for name, wrong in load.surprises.items() if wrong}
                    assert not surprises, surprises
                    rougher.check()
                    operating.check()
                conductor.recover()
                for name in rounds:
                    load.passes(name)
            rougher.check()
            operating.check()
            assert min(rougher.times, operating.times) > 0
            assert not service.entries(level="error"), service.entries(level="error")[:3]
            counted = Metrics(service.admin.get("/metrics").text)
            served = sum(counted.value("assay_verifications_total", provider=name, code="ok") for name in rounds)
    print(f"{MINUTES:g} minutes: {load.verified} responses as expected, {served:.0f} tokens accepted; ", end="")
    check_growth(samples)
