"""What is remembered of a provider's answers, and how many questions many requests cost."""

import concurrent.futures
import threading

import pytest

from harness.issuer import KeyServer
from harness.metrics import Metrics
from harness.reload import change
from harness.service import Service, provider
from harness.token_endpoint import INTROSPECTION, answered
from harness.tokens import ec_key, now
from harness.waiting import poll

from .opaque import accepted, active, many, members, opaque, refused, token, verify

MAXIMUM = 8


@pytest.fixture(scope="module")
def issuer():
    with KeyServer() as server:
        yield server.issuer("op", ec_key("op"))


@pytest.fixture(scope="module")
def entries(issuer, endpoint, tmp_path_factory):
    directory = tmp_path_factory.mktemp("clients")
    return [
        opaque(issuer, endpoint, directory, introspection={"cache": "10m"}, max_calls=MAXIMUM),
        provider(issuer),
    ]


@pytest.fixture(scope="module")
def service(entries):
    with Service(*entries, introspection={"entries": 50}, limits={"provider_timeout": "10s"}) as running:
        running.wait_until_ready()
        yield running


@pytest.fixture(autouse=True)
def healed(endpoint):
    endpoint.usually(active(), INTROSPECTION)
    yield
    endpoint.heal()


def asked(endpoint) -> int:
    return endpoint.received(INTROSPECTION)


def test_an_active_token_is_asked_about_once(service, endpoint):
    text = token()
    assert accepted(service, text)["introspection"]["cached"] is False
    again = accepted(service, text)
    assert again["introspection"]["cached"] is True and again["introspection"]["age_seconds"] >= 0
    assert asked(endpoint) == 1
    page = Metrics(service.admin.get("/metrics").text)
    assert page.value("assay_introspections_total", provider="legacy", source="cache") >= 1
    assert page.value("assay_provider_calls_total", provider="legacy", endpoint="introspection", outcome="ok") >= 1


def test_every_check_is_made_on_each_use(service, endpoint):
    text = token()
    accepted(service, text)
    refused(verify(service, text, scopes=["orders:write"]), "scope_missing")
    refused(verify(service, text, subject="user-2"), "subject_mismatch")
    refused(verify(service, text, authenticated_after=now() + 60), "session_revoked")
    refused(verify(service, text, audience="https://other.example/"), "audience_not_configured")
    assert accepted(service, text, scopes=["orders:read"])["introspection"]["cached"] is True
    assert asked(endpoint) == 1


def test_a_token_s_key_is_proven_on_each_use(service, endpoint):
    endpoint.always(active(cnf={"x5t#S256": "A" * 43}), INTROSPECTION)
    text = token()
    for _ in range(2):
        answer = accepted(service, text, certificate="A" * 43)
        assert answer["authorization"]["binding"] == {"method": "certificate", "thumbprint": "A" * 43}
        refused(verify(service, text), "binding_required")
        refused(verify(service, text, certificate="E" * 43), "binding_mismatch")
    assert answer["introspection"]["cached"] is True and asked(endpoint) == 1


def test_a_known_token_s_response_differs_only_in_how_it_came(service, endpoint):
    endpoint.usually(active(name='A "B"', groups=["g"], jti="t", nbf=now() - 5), INTROSPECTION)
    text = token()
    asking = {"scopes": ["openid"], "include_claims": True}
    first, *others = [accepted(service, text, **asking) for _ in range(3)]
    assert first.pop("introspection")["cached"] is False
    assert [answer.pop("introspection")["cached"] for answer in others] == [True, True]
    assert others == [first, first] and first["identity"]["name"] == 'A "B"'
    without = accepted(service, text)
    assert without["introspection"]["cached"] is True and "claims" not in without


def test_an_answer_is_not_used_past_the_token_s_expiry(service, endpoint):
    # Within the clock skew it still passes, but only by a new answer each time.
    endpoint.always(active(exp=now() - 1), INTROSPECTION)
    text = token()
    assert accepted(service, text)["introspection"]["cached"] is False
    assert accepted(service, text)["introspection"]["cached"] is False
    assert asked(endpoint) == 2


def test_junk_displaces_no_answer_about_a_good_token(service, endpoint):
    good = token()
    accepted(service, good)
    endpoint.always(answered({"active": False}), INTROSPECTION)
    for _ in range(120):
        refused(verify(service), "token_inactive")
    assert accepted(service, good)["introspection"]["cached"] is True


def test_the_oldest_answers_make_room(service, endpoint):
    first = token()
    accepted(service, first)
    for _ in range(60):
        last = token()
        accepted(service, last)
    assert accepted(service, last)["introspection"]["cached"] is True
    assert accepted(service, first)["introspection"]["cached"] is False


def test_all_that_wait_share_one_question(service, endpoint):
    text = token()
    held = Gate()
    endpoint.always(held.act(members()), INTROSPECTION)
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        waiting = many(service, [text] * 20, pool)
        endpoint.wait_for(lambda: asked(endpoint) == 1)
        poll(lambda: in_flight(service) >= 20)
        held.open()
        assert [answer.result().status for answer in waiting] == [200] * 20
    assert asked(endpoint) == 1


def test_more_questions_than_max_calls_are_refused_at_once(service, endpoint):
    held = Gate()
    endpoint.always(held.act(members()), INTROSPECTION)
    with concurrent.futures.ThreadPoolExecutor(MAXIMUM) as pool:
        waiting = many(service, [token() for _ in range(MAXIMUM)], pool)
        endpoint.wait_for(lambda: asked(endpoint) == MAXIMUM)
        problem = refused(verify(service), "provider_unavailable")
        assert "max_calls" in problem["detail"]
        held.open()
        assert [answer.result().status for answer in waiting] == [200] * MAXIMUM


def test_questions_hold_up_nobody_else(service, endpoint, issuer):
    held = Gate()
    endpoint.always(held.act(members()), INTROSPECTION)
    with concurrent.futures.ThreadPoolExecutor(MAXIMUM) as pool:
        waiting = many(service, [token() for _ in range(MAXIMUM)], pool)
        endpoint.wait_for(lambda: asked(endpoint) == MAXIMUM)
        for _ in range(100):
            assert service.verify(issuer.token()).status == 200
        held.open()
        assert [answer.result().status for answer in waiting] == [200] * MAXIMUM


def test_other_settings_of_the_entry_forget_its_answers(entries, endpoint):
    entry, other = entries
    with Service(*entries) as running:
        running.wait_until_ready()
        text = token()
        accepted(running, text)
        change(running, entry, other | {"clock_skew": "30s"})
        assert accepted(running, text)["introspection"]["cached"] is True
        shorter = entry | {"introspection": entry["introspection"] | {"cache": "5m"}}
        change(running, shorter, other)
        assert accepted(running, text)["introspection"]["cached"] is False
        access = {name: value for name, value in entry.items() if name not in ("clients", "max_calls", "introspection")}
        change(running, access | {"tokens": "access"}, other)
        refused(verify(running, text), "token_malformed")
        change(running, entry, other)
        accepted(running, text)


class Gate:
    """Holds answers until it is opened."""

    def __init__(self):
        self._event = threading.Event()

    def act(self, body):
        def answer(call):
            assert self._event.wait(30)
            return body

        return answered(answer)

    def open(self):
        self._event.set()


def in_flight(service) -> int:
    return Metrics(service.admin.get("/metrics").text).value("assay_requests_in_flight")
