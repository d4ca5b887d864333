"""Misbehaving key servers: valid tokens pass, invalid ones fail, and later keys are found.

All faults occur at once, each at its own provider, in a service under load. Each scenario runs on its own thread, and
each test waits for one scenario.
"""

import concurrent.futures
import contextlib
import secrets
import time

import pytest

from harness.client import Client, Connection, Response
from harness.contract import assert_code, assert_promised
from harness.fault_table import DISCOVERY, FAULTS
from harness.faults import FaultServer
from harness.load import Load
from harness.metrics import Metrics
from harness.service import Service, provider
from harness.tokens import ec_key, jws, now

STRANGER, FORGER = ec_key("stranger"), ec_key("forger")
NETWORK = {"allow_http": True, "allow_addresses": ["127.0.0.1"]}
# Each case has its own operator.
ADMIN = {"listen": "127.0.0.1:0", "max_connections": 1000}
# A machine that runs other tests too may stop a process for half a second, and then the service would shed load.
PATIENT = {"queue_timeout": "30s"}
UNKNOWN_KEY_FETCHES, WINDOW, LEAST_PAUSE = 2, 30, 0.5
# The data in flight when a body turns out too long, in kernel buffers and in the service.
MOST_SENT = 16 * 1024 * 1024


class QuietConnection(Connection):
    """Does not record answers, because there are thousands of identical ones."""

    def response(self, method: str = "POST", path: str = "", *, request_id: str | None = None) -> Response:
        response = self.unchecked_response(method)
        assert_promised(method, path, response, request_id)
        return response


class QuietClient(Client):
    """A client with a long timeout, because some fetches take the maximum time."""

    def connect(self, timeout: float = 60) -> QuietConnection:
        return QuietConnection(self.address, timeout)


class Case:
    """A fault, a key server with it, and the provider that uses this key server."""

    def __init__(self, name: str):
        self.name = name
        self.id = name.replace(" ", "-")
        self.fault = FAULTS[name]
        self.old, self.other, self.new, self.newer = (ec_key(f"{name} {n}") for n in ("1", "2", "3", "4"))
        self.server = FaultServer("op", self.old, self.other)
        self.issuer = self.server.issuer
        self.refreshes = 0

    def settings(self) -> dict:
        uri = None if self.name in DISCOVERY else self.issuer.jwks_uri
        return provider(self.issuer, self.id, jwks_uri=uri, network=NETWORK)

    def meet(self, service) -> None:
        self.service = service
        self.api, self.admin = QuietClient(service.api.address), QuietClient(service.admin.address)

    def part(self) -> None:
        self.api.close()
        self.admin.close()

    def round(self) -> list[tuple[str, str | None]]:
        """The load for this provider: tokens that never need a fetch."""
        old, claims = self.old, self.issuer.claims
        return [
            (jws(old, claims()), None),
            (jws(FORGER, claims(aud="someone else"), kid=old.kid), "signature_invalid"),
            (jws(old, claims(exp=now() - 3600, iat=now() - 7200)), "token_expired"),
            (jws(old, claims(aud="someone else")), "audience_mismatch"),
            (jws(STRANGER, claims(aud="someone else")), "key_not_found"),
        ]

    # The steps of a scenario.

    def misbehave(self) -> None:
        self.began, self.before = time.monotonic(), self.server.connections
        self.server.misbehave(self.fault)

    def heal(self, *keys) -> None:
        self.server.heal(*keys)
        # A fetch that is already in flight may still fail.
        self.service.wait_until(lambda: self.state()["next_fetch_at"] is not None)

    def verify(self, token: str):
        return self.api.post("/v1/verify", {"id_token": token})

    def accept(self, key) -> dict:
        response = self.verify(jws(key, self.issuer.claims()))
        assert response.status == 200, (response, self.state()["last_error"])
        assert response.json["token"]["key_id"] == key.kid
        return response.json

    def refuse_a_stranger(self, code: str = "key_not_found") -> None:
        """Sends a token that is valid except for its unknown key, so it may cause a fetch."""
        token = jws(STRANGER, self.issuer.claims(), kid=secrets.token_hex(8))
        assert_code(self.verify(token), code)

    def refresh(self) -> dict:
        self.refreshes += 1
        response = self.admin.post(f"/v1/providers/{self.id}/refresh")
        assert response.status == 200, response
        return response.json

    def state(self) -> dict:
        providers = self.admin.get("/v1/providers").json["providers"]
        return next(entry for entry in providers if entry["id"] == self.id)

    @staticmethod
    def omitted(state: dict) -> set[str]:
        return {key["kid"] for key in state["keys"] if key["omitted"]}

    def assert_failed(self, state: dict) -> None:
        """Asserts that the keys are unchanged and that the operator sees the reason."""
        assert state["state"] == "ready"
        assert {self.old.kid, self.other.kid} <= {key["kid"] for key in state["keys"]}
        error = state["last_error"]
        assert error and error["phase"] in self.fault.phases and error["message"], error
        assert "secret" not in error["message"]
        if state["next_fetch_at"] is not None:
            self.assert_put_off(state["next_fetch_at"] - error["at"])

    def assert_fetched(self, state: dict) -> None:
        assert (state["state"], state["last_error"]) == ("ready", None)
        self.assert_put_off(state["next_fetch_at"] - state["fetched_at"])

    def assert_put_off(self, seconds: int) -> None:
        """Allows for the rounding of both times to whole seconds."""
        least, most = self.fault.put_off
        assert least - 2 <= seconds <= most + 2

    def assert_frugal(self) -> None:
        """Asserts that connections to the key server stay within their limits, however long the fault lasted."""
        elapsed = time.monotonic() - self.began
        fetches = UNKNOWN_KEY_FETCHES * (1 + elapsed // WINDOW) + self.refreshes
        if self.fault.effect == "refused":
            fetches += 1 + elapsed / LEAST_PAUSE
        each = max(self.fault.connections, 2 if self.name in DISCOVERY else 1)
        assert self.server.connections - self.before <= fetches * each
        if self.fault.at == "discovery" and self.fault.connections == 1:
            befallen = [request for request in self.server.requests if request.fault]
            assert befallen and not any(request.path.endswith("/keys") for request in befallen)
        assert self.server.most_at_once <= 1
        assert self.server.most_sent <= MOST_SENT


# Faults from the start.


class Dark:
    """A service in which all key servers but one misbehave from the start."""

    def __init__(self, stack: contextlib.ExitStack):
        self.cases = {name: Case(name) for name, fault in FAULTS.items() if fault.effect == "refused"}
        for case in self.cases.values():
            stack.enter_context(case.server)
            case.misbehave()
        self.bright = stack.enter_context(FaultServer("bright", ec_key("bright-1")))
        settings = [case.settings() for case in self.cases.values()]
        settings.append(provider(self.bright.issuer, "bright", network=NETWORK))
        self.service = stack.enter_context(
            Service(*settings, limits={"keys_timeout": "5s"} | PATIENT, log={"requests": False}, admin=ADMIN)
        )
        self.admin = QuietClient(self.service.admin.address)
        stack.callback(self.admin.close)
        self.service.wait_until(self.has_tried_all)
        self.pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(len(self.cases)))
        for case in self.cases.values():
            case.meet(self.service)
            stack.callback(case.part)


    def has_tried_all(self) -> bool:
        """Whether every first fetch has ended, except those with slow faults."""
        slow = {case.id for case in self.cases.values() if case.fault.slow}
        entries = self.admin.get("/v1/providers").json["providers"]
        return all(entry["id"] in slow or entry["last_error"] or entry["fetched_at"] for entry in entries)


@pytest.fixture(scope="module")
def dark():
    with contextlib.ExitStack() as stack:
        yield Dark(stack)


def test_a_service_starts_without_keys_and_readyz_names_those_providers(dark):
    response = dark.service.api.get("/readyz")
    assert response.status == 503
    states = {entry["id"]: entry["state"] for entry in response.json["providers"]}
    assert states == {case.id: "unavailable" for case in dark.cases.values()} | {"bright": "ready"}
    assert dark.service.api.get("/livez").status == 200


def test_other_providers_faults_do_not_affect_a_healthy_provider(dark):
    """While other fetches hang, its tokens pass and new keys are found at the first attempt."""
    service, bright = dark.service, dark.bright
    held = [case.server for case in dark.cases.values() if case.fault.slow and case.fault.at != "listener"]
    service.wait_until(lambda: all(server.holds() for server in held))
    for number in (2, 3):
        service.accept(bright.issuer.token())
        bright.issuer.rotate(ec_key(f"bright-{number}"), *bright.issuer.keys)
        assert service.accept(bright.issuer.token())["token"]["key_id"] == f"bright-{number}"
    bright.issuer.rotate(ec_key("bright-4"), *bright.issuer.keys)
    assert service.admin.post("/v1/providers/bright/refresh").json["last_error"] is None
    service.accept(bright.issuer.token())
    assert any(server.holds() for server in held)
    assert len(bright.asked("/keys")) == 4
    assert bright.most_at_once == 1


def dawn(case: Case) -> None:
    response = case.verify(jws(case.old, case.issuer.claims()))
    assert_code(response, "keys_unavailable")
    assert 1 <= int(response.header("Retry-After")) <= 300
    assert_code(case.verify(jws(case.old, case.issuer.claims(), alg="none")), "algorithm_not_allowed")
    state = case.state()
    assert state["state"] == "unavailable" and state["keys"] == []
    case.heal()
    assert case.refresh()["state"] == "ready"
    case.accept(case.old)
    case.accept(case.other)
    assert_code(case.verify(jws(FORGER, case.issuer.claims(), kid=case.old.kid)), "signature_invalid")
    case.assert_frugal()


@pytest.fixture(scope="module")
def dawns(dark):
    return {name: dark.pool.submit(dawn, case) for name, case in dark.cases.items()}


# Faults while there are valid keys, under load.


def live_through_refused_answers(case: Case, load: Load) -> None:
    case.misbehave()
    case.refuse_a_stranger("keys_unavailable")
    case.assert_failed(case.state())
    load.passes(case.id)
    if case.fault.slow:
        case.server.wait_for(lambda: case.fault.at == "listener" or case.server.given_up)
    else:
        case.assert_failed(case.refresh())

    case.heal(case.new, case.old, case.other)
    case.accept(case.new)
    assert case.state()["last_error"] is None

    if not case.fault.slow:
        case.server.misbehave(case.fault)
        case.assert_failed(case.refresh())
        for _ in range(5):
            case.refuse_a_stranger("keys_unavailable")
        case.accept(case.new)
        case.heal(case.newer, case.new, case.old, case.other)
        case.refresh()
        case.accept(case.newer)


def live_with_strange_answers(case: Case, load: Load) -> None:
    case.misbehave()
    case.refuse_a_stranger()
    case.assert_fetched(case.state())
    case.issuer.rotate(case.new, case.old, case.other)
    case.accept(case.new)
    case.issuer.rotate(case.newer, case.new, case.old, case.other)
    case.assert_fetched(case.refresh())
    case.accept(case.newer)


def live_through_an_omission(case: Case, load: Load) -> None:
    case.misbehave()
    case.refuse_a_stranger()
    state = case.state()
    case.assert_fetched(state)
    assert case.old.kid in case.omitted(state)
    load.passes(case.id)
    case.heal(case.new, case.old, case.other)
    case.accept(case.new)
    assert case.old.kid not in case.omitted(case.state())


LIVES = {
    "refused": live_through_refused_answers,
    "read": live_with_strange_answers,
    "omits": live_through_an_omission,
}


def live(case: Case, load: Load) -> None:
    with contextlib.closing(case.server):
        load.passes(case.id)
        LIVES[case.fault.effect](case, load)
        load.passes(case.id)
        case.assert_frugal()
        case.part()


class Storm:
    """All faults at once, in one service with valid keys and under load."""

    def __init__(self, stack: contextlib.ExitStack):
        cases = [Case(name) for name in FAULTS]
        settings = {"limits": {"keys_timeout": "30s"} | PATIENT, "log": {"requests": False}, "admin": ADMIN}
        self.service = stack.enter_context(Service(*(case.settings() for case in cases), **settings))
        self.service.wait_until_ready()
        self.began = time.monotonic()
        self.load = stack.enter_context(Load(self.service.api.address, {case.id: case.round() for case in cases}))
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(len(cases)))
        for case in cases:
            case.meet(self.service)
        self.stories = {case.name: pool.submit(live, case, self.load) for case in cases}


@pytest.fixture(scope="module")
def storm(dawns):
    """Runs in parallel with the dawns, because both mostly wait for hanging fetches."""
    with contextlib.ExitStack() as stack:
        yield Storm(stack)


@pytest.mark.parametrize("name", FAULTS)
def test_keys_survive_every_fault(storm, name):
    storm.stories[name].result()


def test_no_fault_changes_the_verdict_on_any_token(storm):
    concurrent.futures.wait(storm.stories.values())
    assert storm.load.verified >= 10 * len(FAULTS)
    assert {name: surprises for name, surprises in storm.load.surprises.items() if surprises} == {}


def test_unknown_keys_stay_within_their_fetch_budget(storm):
    concurrent.futures.wait(storm.stories.values())
    metrics = Metrics(storm.service.admin.get("/metrics").text)
    allowed = UNKNOWN_KEY_FETCHES * (1 + (time.monotonic() - storm.began) // WINDOW)
    for name in FAULTS:
        spent = metrics.value("assay_unknown_key_fetches_total", provider=name.replace(" ", "-"))
        assert 1 <= spent <= allowed, name


# After the faults.


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.effect == "refused"])
def test_a_refresh_finds_the_keys_of_a_provider_that_had_none(dawns, name):
    dawns[name].result()


def test_the_service_is_ready_when_every_provider_has_keys(dark, dawns):
    concurrent.futures.wait(dawns.values())
    dark.service.wait_until_ready()
