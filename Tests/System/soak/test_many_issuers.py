"""A soak test of an open entry: issuers that rotate, fail, hang and appear, beside one with an entry of its own.

Every response must be the expected one: no issuer's fault may refuse another's token. Memory must not grow.
ASSAY_SOAK_MINUTES sets the duration, by default 3; from an hour on, there are 2,000 issuers.
"""

import itertools
import random
import threading
import time

from harness import contract
from harness.issuer import Issuer, KeyServer
from harness.load import Load
from harness.service import Service, provider
from harness.tokens import ec_key
from soak.running import MEMORY_GROWTH_KIB, MINUTES, Background, Sample, check_growth, sample

ENTRY = "connections"
ISSUERS = 2_000 if MINUTES >= 60 else 200
# So many tokens are sent at once.
GROUP = 50
HANGING, FAILING = 5, 20
# Seconds between two events.
PERIOD = 0.5
NETWORK = {"allow_http": True, "allow_private_addresses": True}


def lasting(issuer: Issuer, **claims) -> str:
    """A token that lasts longer than the test."""
    return issuer.token(exp=issuer.claims()["iat"] + 86_400, **claims)


class Connections:
    """The connections of a product, each with an issuer."""

    def __init__(self, server: KeyServer):
        self._server, self._numbers = server, itertools.count()

    def add(self) -> Issuer:
        return self._server.issuer(f"i{next(self._numbers)}", ec_key("first"))

    def request(self, issuer: Issuer, token: str | None = None) -> dict:
        """The request that the backend sends for a token of this connection."""
        token = token or lasting(issuer)
        named = {"provider": ENTRY, "connection": issuer.name, "issuer": issuer.url, "audience": "client"}
        return named | {"id_token": token}


class Events:
    """One event after the other."""

    def __init__(self, connections: Connections, good: list[Issuer], load: Load):
        self.connections, self.good, self.load = connections, good, load
        self._chance, self._rotations = random.Random(1), itertools.count()
        self._next = itertools.cycle([self.rotate, self.appear, self.appear, self.rotate, self.appear])

    def next(self) -> None:
        next(self._next)()

    def rotate(self) -> None:
        """An issuer rotates, and signs at once with the key that has not been fetched."""
        index = self._chance.randrange(len(self.good))
        issuer = self.good[index]
        issuer.rotate(ec_key(f"later-{next(self._rotations)}"), *issuer.keys[:1])
        number = index // GROUP
        self.load.change(f"good-{number}", rounds(self.connections, self.good)[f"good-{number}"])

    def appear(self) -> None:
        """New customers sign in."""
        self.load.change("new", [(self.connections.request(self.connections.add()), None) for _ in range(3)])


def rounds(connections: Connections, good: list[Issuer]) -> dict[str, list[tuple[dict, str | None]]]:
    parts = [good[first : first + GROUP] for first in range(0, len(good), GROUP)]
    return {f"good-{number}": [(connections.request(each), None) for each in part] for number, part in enumerate(parts)}


def attacks(connections: Connections, good: list[Issuer]) -> list[tuple[dict, str | None]]:
    """Tokens of one customer's issuer at another's connection. All `kid`s are the same at first."""
    one, other = good[0], good[1]
    look_alike = connections.request(other) | {"issuer": other.url + "/"}
    return [
        (connections.request(other, lasting(one)), "issuer_mismatch"),
        (connections.request(one, lasting(one, aud="another")), "audience_mismatch"),
        # No such issuer: its document is not found.
        (look_alike | {"id_token": lasting(other, iss=other.url + "/")}, "keys_unavailable|issuer_mismatch"),
        ({name: value for name, value in connections.request(one).items() if name != "connection"}, "request_invalid"),
    ]


def test_hours_of_customers_disturb_nobody_and_cause_no_leak():
    samples: list[Sample] = []
    with KeyServer() as server:
        connections = Connections(server)
        good = [connections.add() for _ in range(ISSUERS)]
        failing = [connections.add() for _ in range(FAILING)]
        hanging = [connections.add() for _ in range(HANGING)]
        for issuer in failing:
            issuer.discovery.status = 500
        for issuer in hanging:
            issuer.jwks.hold()
        calm = server.issuer("calm", ec_key("calm"))
        # Customers that appear once make room for each other, and for nobody who is still there.
        entry = {"id": ENTRY, "issuers": "any", "max_issuers": ISSUERS + 100, "network": NETWORK}
        with Service(provider(calm, "calm"), entry, log={"requests": False}) as service:
            service.wait_until_ready()
            everybody = rounds(connections, good) | {
                "new": [(connections.request(connections.add()), None)],
                "failing": [(connections.request(issuer), "keys_unavailable") for issuer in failing],
                "attacks": attacks(connections, good),
                "calm": [(lasting(calm), None)] * 5,
            }
            load = Load(service.api.address, everybody, threads=3)
            # These wait, so that they have a connection of their own.
            waiting = Load(
                service.api.address,
                {"hanging": [(connections.request(issuer), "keys_unavailable") for issuer in hanging]},
                threads=1,
            )
            events = Events(connections, good, load)

            def watch() -> None:
                assert service.admin.get("/readyz").status == 200
                assert len(service.admin.get("/metrics").text) < 100_000

            with load, waiting, Background(watch) as watching:
                end, pause = time.monotonic() + MINUTES * 60, threading.Event()
                while time.monotonic() < end:
                    events.next()
                    pause.wait(PERIOD)
                    samples.append(sample(service))
                    # An hour of responses would take gigabytes.
                    contract.recording.clear()
                    surprises = {name: wrong[:3] for each in (load, waiting) for name, wrong in each.surprises.items() if wrong}
                    assert not surprises, surprises
                    watching.check()
                for name in ("new", "calm", "attacks", "failing", "good-0"):
                    load.passes(name)
            assert watching.times > 0
            assert not service.entries(level="error"), service.entries(level="error")[:3]
    print(f"{MINUTES:g} minutes: {load.verified + waiting.verified} responses as expected; ", end="")
    # Issuers that appear fill their table at first.
    check_growth(samples, MEMORY_GROWTH_KIB + 1024)
