"""Responses and faults of providers' endpoints: which problem each becomes, and how often each request is sent."""

import concurrent.futures
import json
import pathlib
import time

import pytest

from harness import client, contract
from harness.issuer import KeyServer
from harness.metrics import Metrics
from harness.service import Service, provider
from harness.token_endpoint import FAULTS, REVOCATION, ROWS, TokenEndpoint, answered, endlessly, error, grant
from harness.tokens import ec_key
from harness.waiting import poll

TIMEOUT = 2
MAXIMUM = 3
SECRET = "a client's secret, 100 % +&="


@pytest.fixture(scope="module")
def service(endpoint, tmp_path_factory):
    secret = tmp_path_factory.mktemp("clients") / "secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    clients = [{"id": "client", "auth": "client_secret_post", "secret_file": str(secret)}]
    with KeyServer() as server:
        issuer = server.issuer("op", ec_key("op"))
        other = server.issuer("other", ec_key("other"))
        configured = provider(issuer, clients=clients, endpoints=called(endpoint), max_calls=MAXIMUM)
        with Service(configured, provider(other, "other"), limits={"provider_timeout": f"{TIMEOUT}s"}) as running:
            running.wait_until_ready()
            running.issuer = issuer
            running.other = other
            yield running


@pytest.fixture(autouse=True)
def healed(endpoint):
    yield
    endpoint.heal()


def called(endpoint: TokenEndpoint) -> dict:
    """The endpoints for the provider's settings."""
    return {name: endpoint.endpoints[name] for name in ("token", "revocation")}


def refresh(service, **members) -> client.Response:
    body = {"provider": "oidc", "refresh_token": "r/1", "subject": "user-1"}
    return service.api.post("/v1/grants/refresh", body | members)


def revoke(service, **members) -> client.Response:
    return service.api.post("/v1/grants/revoke", {"provider": "oidc", "token": "r/1"} | members)


def check(response, row, *, spent: bool) -> None:
    problem = contract.assert_code(response, row.code)
    assert problem["spent"] is spent, problem
    if row.error:
        known = row.error if row.error != "made_up_here" else "other"
        assert problem["provider_error"] == known, problem
    if row.retry_after:
        assert response.header("Retry-After") == str(row.retry_after)


def is_spent(name: str, row) -> bool:
    """Whether the token may have been used. It was not if the request was refused, or answered with 429 or 503."""
    return row.code not in ("client_rejected", "provider_refused") and not name.startswith(("status 429", "status 503"))


@pytest.mark.parametrize("name", ROWS)
def test_every_response_to_a_refresh_becomes_its_code(service, endpoint, name):
    row = ROWS[name]
    endpoint.play(row.act)
    response = refresh(service)
    assert endpoint.received() == 1
    sent = endpoint.last().form
    assert sent == {
        "grant_type": "refresh_token",
        "refresh_token": "r/1",
        "client_id": "client",
        "client_secret": SECRET,
    }
    if row.code is None:
        assert response.status == 200, response
        assert response.json["grant"]["access_token"] == "an access token"
        assert response.json["identity"] is None and response.json["problem"] is None
    else:
        check(response, row, spent=is_spent(name, row))


@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_sends_a_refresh_token_twice(service, endpoint, name):
    row = FAULTS[name]
    endpoint.play(row.act)
    begun = time.monotonic()
    check(refresh(service), row, spent=True)
    assert time.monotonic() - begun < TIMEOUT + 5
    assert endpoint.received() == 1
    # The next one is served.
    assert refresh(service).status == 200
    assert endpoint.received() == 2


@pytest.mark.parametrize("name", FAULTS)
def test_a_revocation_with_an_unknown_outcome_is_retried(service, endpoint, name):
    row = FAULTS[name]
    endpoint.always(row.act, REVOCATION)
    check(revoke(service), row, spent=False)
    tries = endpoint.received(REVOCATION)
    assert tries == 1 if row.slow or row.code == "provider_answer_invalid" else tries == 3
    assert endpoint.received() == 0
    endpoint.heal()
    assert revoke(service).status == 204


def test_a_revocation_succeeds_on_its_third_try(service, endpoint):
    busy = answered(b"", "503 Service Unavailable")
    endpoint.play(busy, busy, path=REVOCATION)
    assert revoke(service, token_type_hint="refresh_token").status == 204
    forms = [call.form for call in endpoint.to(REVOCATION)]
    assert forms == [
        {"token": "r/1", "token_type_hint": "refresh_token", "client_id": "client", "client_secret": SECRET}
    ] * 3


def test_an_already_revoked_token_is_a_success_and_a_refusal_is_not(service, endpoint):
    for act, code in [
        (error("invalid_token"), None),
        (answered(b"whatever"), None),
        (answered(b"", "204 No Content", {"Content-Length": None}), None),
        (error("invalid_client", "401 Unauthorized"), "client_rejected"),
        (error("unsupported_token_type"), "provider_refused"),
        (error("invalid_grant"), "grant_invalid"),
        (answered(b"", "302 Found", {"Location": "/"}), "provider_answer_invalid"),
    ]:
        endpoint.forget()
        endpoint.play(act, path=REVOCATION)
        response = revoke(service)
        if code is None:
            assert response.status == 204, response
        else:
            assert contract.assert_code(response, code)["spent"] is False
        assert endpoint.received(REVOCATION) == 1


def open_connections(endpoint: TokenEndpoint) -> list[str]:
    """The connections to an endpoint that the client has not closed."""
    established, closed_by_peer = "01", "08"
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]]
    return [
        row[1]
        for row in rows
        if int(row[2].partition(":")[2], 16) == endpoint.port and row[3] in (established, closed_by_peer)
    ]


def test_open_connections_are_reused_and_closed_ones_are_not(service, endpoint):
    refresh(service)
    before = endpoint.connections
    for _ in range(5):
        assert refresh(service).status == 200
    assert endpoint.connections == before
    endpoint.close_connections()
    poll(lambda: not open_connections(endpoint))
    assert refresh(service).status == 200
    assert endpoint.connections == before + 1
    assert endpoint.received() == 7


def test_an_idle_connection_is_closed(service, endpoint):
    assert refresh(service).status == 200
    assert open_connections(endpoint)
    poll(lambda: not open_connections(endpoint))


def test_a_hanging_provider_holds_at_most_max_calls_and_delays_no_others(service, endpoint):
    endpoint.always(FAULTS["silence"].act)
    callers = [client.Client(service.api.address) for _ in range(2 * MAXIMUM)]
    body = {"provider": "oidc", "refresh_token": "r", "subject": "user-1"}
    with concurrent.futures.ThreadPoolExecutor(len(callers)) as pool:
        answers = [pool.submit(caller.post, "/v1/grants/refresh", body) for caller in callers]
        endpoint.wait_for(lambda: endpoint.received() == MAXIMUM)
        begun = time.monotonic()
        for issuer, name in ((service.issuer, "oidc"), (service.other, "other")):
            assert service.accept(issuer.token())["identity"]["provider"] == name
        assert time.monotonic() - begun < TIMEOUT
        problems = [contract.assert_code(answer.result(), "provider_unavailable") for answer in answers]
    assert sorted(problem["spent"] for problem in problems) == [False] * MAXIMUM + [True] * MAXIMUM
    assert endpoint.received() == MAXIMUM

    def value(name: str) -> float:
        return Metrics(service.admin.get("/metrics").text).value(name, provider="oidc")

    poll(lambda: value("assay_provider_calls_in_flight") == 0)
    assert value("assay_provider_calls_full_total") >= MAXIMUM


def test_calls_end_before_clients_time_out(tmp_path):
    """Clients wait for 12 s, even if provider_timeout is longer."""
    with TokenEndpoint() as silent, KeyServer() as server:
        silent.always(endlessly)
        silent.always(endlessly, REVOCATION)
        issuer = server.issuer("op", ec_key("op"))
        clients = [{"id": "client", "auth": "none"}]
        settings = provider(issuer, clients=clients, endpoints=called(silent))
        with Service(settings, limits={"provider_timeout": "30s"}, sign_ins={}) as running:
            running.wait_until_ready()
            sign_in = running.api.post("/v1/sign-ins", {"provider": "oidc"}).json["sign_in"]
            bodies = [
                ("/v1/sign-ins/finish", {"sign_in": sign_in, "code": "c"}, True),
                ("/v1/grants/refresh", {"provider": "oidc", "refresh_token": "r", "subject": "user-1"}, True),
                ("/v1/grants/revoke", {"provider": "oidc", "token": "t"}, False),
                ("/v1/grants/revoke", {"provider": "oidc", "code": "c"}, True),
            ]
            begun = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor() as pool:
                callers = [client.Client(running.api.address) for _ in bodies]
                answers = [pool.submit(caller.post, *body[:2]) for caller, body in zip(callers, bodies, strict=True)]
                for answer, (_, _, spent) in zip(answers, bodies, strict=True):
                    assert contract.assert_code(answer.result(), "provider_unavailable")["spent"] is spent
            assert time.monotonic() - begun < 12


def test_a_refused_connection_sends_nothing(tmp_path):
    with TokenEndpoint() as closed, KeyServer() as server:
        closed.refuse_connections()
        issuer = server.issuer("op", ec_key("op"))
        clients = [{"id": "client", "auth": "none"}]
        with Service(provider(issuer, clients=clients, endpoints=called(closed))) as running:
            running.wait_until_ready()
            assert contract.assert_code(refresh(running), "provider_unavailable")["spent"] is False
            assert contract.assert_code(revoke(running), "provider_unavailable")["spent"] is False
            assert running.accept(issuer.token())
            metrics = Metrics(running.admin.get("/metrics").text)
            calls = "assay_provider_calls_total"
            assert metrics.value(calls, provider="oidc", endpoint="token", outcome="unreachable") == 1
            assert metrics.value(calls, provider="oidc", endpoint="revocation", outcome="unreachable") == 3
            assert metrics.value("assay_provider_connections_total", provider="oidc", outcome="failed") == 4
            running.wait_for(lambda: any("provider calls fail" in line for line in running.log))


@pytest.mark.parametrize(
    "members",
    [
        {"token_type": "Bearer\r\nX-User: 1"},
        {"token_type": "Bearer x"},
        {"access_token": "a\nb"},
        {"refresh_token": "a\u007f"},
        {"scope": "a\tb"},
        {"id_token": "a\r\nb"},
    ],
)
def test_no_member_of_a_grant_has_characters_that_it_cannot_have(service, endpoint, members):
    endpoint.play(grant(**members))
    problem = contract.assert_code(refresh(service), "provider_answer_invalid")
    (name,) = members
    assert f": {name} is missing, or its type, characters, length or value are not allowed" in problem["detail"]
    line = service.wait_for_entry(message="request", code="provider_answer_invalid", request_id=problem["request_id"])
    assert line["reason"].startswith(f"{name} is missing")


def test_the_log_has_the_providers_explanation_without_what_was_sent(service, endpoint):
    assert refresh(service).status == 200  # Ends earlier rejections, of which one line was logged.
    token = "a-refresh-token-0123456789"
    explanation = f"AADSTS7000215: Invalid secret {SECRET!r}\r\nfor {token} and {token[:12]}\x01."
    endpoint.play(error("invalid_client", "401 Unauthorized", error_description=explanation))
    assert contract.assert_code(refresh(service, refresh_token=token), "client_rejected")["provider_error"] == "invalid_client"
    shown = poll(lambda: next((line for line in service.log if "AADSTS7000215" in line), None))
    line = json.loads(shown)
    assert line["message"] == "provider rejects the client" and line["client"] == "client"
    assert line["provider_description"].startswith("AADSTS7000215: Invalid") and "[removed]" in line["provider_description"]
    service.hides(token[:12], SECRET[:12])


def test_calls_are_counted_by_their_outcome(service, endpoint):
    def count(outcome: str) -> float:
        metrics = Metrics(service.admin.get("/metrics").text)
        return metrics.value("assay_provider_calls_total", provider="oidc", endpoint="token", outcome=outcome)

    for act, outcome in [
        (grant(access_token="canary a", refresh_token="canary r"), "ok"),
        (error("invalid_grant"), "grant_invalid"),
        (error("invalid_client"), "client_rejected"),
        (error("invalid_scope"), "provider_refused"),
        (answered(b""), "answer_invalid"),
        (answered(b"", "500 Internal Server Error"), "unavailable"),
    ]:
        before = count(outcome)
        endpoint.play(act)
        refresh(service)
        assert count(outcome) == before + 1, outcome
    service.wait_for(lambda: any("provider rejects the client" in line for line in service.log))
    service.hides(SECRET, "canary")
