"""503 responses (overloaded, keys unavailable, shutting down), and graceful shutdown."""

import contextlib
import json
import select
import signal
from datetime import datetime, timedelta

import pytest

from harness.client import Connection, ConnectionClosed, request_bytes
from harness.contract import assert_code
from harness.metrics import Metrics, overloaded
from harness.service import Service, provider
from harness.tokens import ec_key

OLD, NEW = ec_key("old"), ec_key("new")


def verify_bytes(token: str) -> bytes:
    return request_bytes("POST", "/v1/verify", json.dumps({"id_token": token}).encode())


@pytest.fixture
def issuer(server):
    return server.issuer("op", OLD)


def test_requests_beyond_max_in_flight_are_refused_at_once(issuer):
    """Three requests wait for keys, but only two may. The service chooses which one to reject."""
    issuer.jwks.hold()
    with Service(provider(issuer), limits={"max_in_flight": 2, "keys_timeout": "10s"}) as service:
        connections = [service.api.connect() for _ in range(3)]
        for connection in connections:
            connection.send(verify_bytes(issuer.token()))
        readable, _, _ = select.select([connection.socket for connection in connections], [], [], 10)
        assert len(readable) == 1
        refused = next(connection for connection in connections if connection.socket in readable)
        problem = assert_code(refused.response("POST", "/v1/verify"), "overloaded")
        assert "limits.max_in_flight" in problem["detail"]
        assert overloaded(service) == {"max_in_flight": 1}
        assert service.wait_for_entry(message="request", code="overloaded")["limit"] == "limits.max_in_flight"
        # Monitoring must still work.
        assert service.admin.get("/livez").status == 200
        assert service.admin.get("/readyz").status == 503
        issuer.jwks.release()
        for connection in connections:
            if connection is not refused:
                assert connection.response("POST", "/v1/verify").status == 200
            connection.close()
        service.wait_until_ready()
        for _ in range(5):
            service.accept(issuer.token())


def test_each_waiting_item_of_a_batch_counts(issuer):
    issuer.jwks.hold()
    limits = {"max_in_flight": 5, "keys_timeout": "10s"}
    with Service(provider(issuer), limits=limits) as service, service.api.connect() as connection:
        items = [{"id_token": issuer.token(sub=f"user-{n}")} for n in range(5)]
        assert_code(service.api.post("/v1/verify/batch", {"items": [*items, items[0]]}), "overloaded")
        connection.send(request_bytes("POST", "/v1/verify/batch", json.dumps({"items": items}).encode()))
        issuer.jwks.wait_for(1)
        issuer.jwks.release()
        results = connection.response("POST", "/v1/verify/batch").json["results"]
        assert [result["identity"]["subject"] for result in results] == [f"user-{n}" for n in range(5)]


def test_an_item_of_a_batch_without_keys_fails_alone(server, issuer):
    down = server.issuer("down", OLD)
    down.jwks.status = 500
    with Service(provider(issuer, "up"), provider(down, "down")) as service:
        service.wait_until(lambda: service.provider_state("up")["state"] == "ready")
        items = [{"id_token": issuer.token()}, {"id_token": down.token()}, {"id_token": issuer.token()}]
        results = service.api.post("/v1/verify/batch", {"items": items}).json["results"]
        assert [result.get("error", {}).get("code") for result in results] == [None, "keys_unavailable", None]


class Stop:
    """A service that is about to be stopped while a request waits for keys."""

    def __init__(self, service, issuer):
        self.service = service
        self.issuer = issuer
        self.idle = service.api.connect()
        self.idle_admin = service.admin.connect()
        for connection in (self.idle, self.idle_admin):
            connection.send(request_bytes("GET", "/readyz"))
            assert connection.response("GET", "/readyz").status == 200
        self.parked = service.api.connect()
        self.before = issuer.token()
        issuer.rotate(NEW, OLD)
        issuer.jwks.hold()
        self.parked.send(verify_bytes(issuer.token(sub="parked")))
        # Once the fetch has begun, the request is in flight.
        issuer.jwks.wait_for(2)


@pytest.fixture
def stop(issuer):
    with Service(provider(issuer), limits={"keys_timeout": "10s"}) as service:
        service.wait_until_ready()
        service.api.close()
        stopping = Stop(service, issuer)
        yield stopping
        for connection in (stopping.idle, stopping.idle_admin, stopping.parked):
            connection.close()


def answer_on_a_new_connection(address: str, octets: bytes):
    """The response; `None` if the service refuses or closes the connection."""
    method, path, _ = octets.decode().split(" ", 2)
    try:
        with Connection(address) as connection:
            connection.send_tolerantly(octets)
            return connection.response(method, path)
    except (ConnectionClosed, ConnectionRefusedError):
        return None


def test_a_stop_finishes_requests_in_flight_and_refuses_new_ones(stop):
    service = stop.service
    service.terminate()

    def is_unready(address):
        response = answer_on_a_new_connection(address, request_bytes("GET", "/readyz"))
        assert response is not None, "connection refused while a request was in flight"
        return response.status == 503

    for listener in (service.api, service.admin):
        service.wait_until(lambda listener=listener: is_unready(listener.address))
    refused = answer_on_a_new_connection(service.api.address, verify_bytes(stop.before))
    assert refused is not None
    assert_code(refused, "shutting_down")
    # Connections that were already open get the same responses.
    stop.idle.send(verify_bytes(stop.before))
    assert_code(stop.idle.response("POST", "/v1/verify"), "shutting_down")
    stop.idle_admin.send(request_bytes("GET", "/readyz"))
    assert stop.idle_admin.response("GET", "/readyz").status == 503
    assert service.process.poll() is None

    stop.issuer.jwks.release()
    response = stop.parked.response("POST", "/v1/verify")
    assert response.json["identity"]["subject"] == "parked"
    assert service.wait() == 0


def test_a_request_whose_body_is_still_arriving_is_finished(stop):
    service = stop.service
    octets = verify_bytes(stop.before)
    with service.api.connect() as slow:
        slow.send(octets[:-1])
        service.wait_until(lambda: Metrics(service.admin.get("/metrics").text).value("assay_requests_in_flight") == 2)
        service.terminate()
        service.wait_until(lambda: service.admin.get("/readyz").status == 503)
        slow.send(octets[-1:])
        assert slow.response("POST", "/v1/verify").status == 200
    stop.issuer.jwks.release()
    assert service.wait() == 0


def test_livez_stays_200_while_stopping(stop):
    stop.service.terminate()
    response = answer_on_a_new_connection(stop.service.admin.address, request_bytes("GET", "/livez"))
    assert response is not None and response.status == 200
    stop.issuer.jwks.release()
    assert stop.service.wait() == 0


def test_sigint_stops_the_service_gracefully(stop):
    stop.service.process.send_signal(signal.SIGINT)
    stop.issuer.jwks.release()
    assert stop.parked.response("POST", "/v1/verify").status in (200, 503)
    assert stop.service.wait() == 0


def test_a_stop_takes_no_longer_than_shutdown_grace(server, issuer):
    settings = {"shutdown_grace": "1s", "limits": {"keys_timeout": "30s"}}
    with Service(provider(issuer), **settings) as service:
        service.wait_until_ready()
        service.api.close()
        stopping = Stop(service, issuer)
        service.terminate()
        assert service.wait(timeout=8) == 0
        with contextlib.suppress(ConnectionClosed):
            assert_code(stopping.parked.response("POST", "/v1/verify"), "shutting_down", "keys_unavailable")
        for connection in (stopping.idle, stopping.idle_admin, stopping.parked):
            connection.close()


def test_during_shutdown_delay_requests_are_answered_and_connections_closed(issuer):
    with Service(provider(issuer), shutdown_delay="300s") as service:
        service.wait_until_ready()
        kept = service.api.connect()
        service.terminate()
        # `/readyz` tells load balancers to send no more, but connections are still accepted.
        service.wait_until(lambda: service.api.get("/readyz").status == 503)
        assert service.api.get("/readyz").json["status"] == "shutting_down"
        assert service.admin.get("/livez").status == 200
        token = issuer.token()
        kept.send(verify_bytes(token))
        answer = kept.response("POST", "/v1/verify")
        assert (answer.status, answer.header("Connection")) == (200, "close")
        assert kept.closed()
        for _ in range(3):
            assert answer_on_a_new_connection(service.api.address, verify_bytes(token)).status == 200
        service.kill()


def test_the_service_stops_after_shutdown_delay(issuer):
    with Service(provider(issuer), shutdown_delay="1s") as service:
        service.wait_until_ready()
        service.terminate()
        assert service.wait() == 0
        stopping, stopped = (
            datetime.fromisoformat(service.entries(message=message)[0]["time"]) for message in ("stopping", "stopped")
        )
        # The log uses the wall clock, and the delay a monotonic one.
        assert stopped - stopping >= timedelta(seconds=0.9)


@pytest.mark.parametrize(("first", "second"), [("SIGTERM", "SIGTERM"), ("SIGTERM", "SIGINT"), ("SIGINT", "SIGINT")])
def test_a_second_signal_ends_the_delay(issuer, first, second):
    with Service(provider(issuer), shutdown_delay="300s") as service:
        service.wait_until_ready()
        service.process.send_signal(signal.Signals[first])
        service.wait_until(lambda: service.admin.get("/readyz").status == 503)
        assert service.accept(issuer.token())
        service.process.send_signal(signal.Signals[second])
        assert service.wait() == 0
        assert service.entries(message="shutdown_delay cut short by a second signal")


def test_a_stop_with_nothing_in_flight_is_quick(issuer):
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        connections = [service.api.connect() for _ in range(3)]
        service.terminate()
        assert service.wait(timeout=5) == 0
        for connection in connections:
            assert connection.closed()


def test_a_stop_during_the_first_fetch_is_clean(issuer):
    issuer.discovery.hold()
    with Service(provider(issuer)) as service:
        issuer.discovery.wait_for(1)
        service.terminate()
        assert service.wait(timeout=12) == 0


def test_a_stop_while_keys_arrive_is_clean(server):
    """Another thread may still be reading keys when the process exits."""
    for number in range(20):
        issuer = server.issuer(f"late-{number}", OLD)
        issuer.jwks.hold()
        with Service(provider(issuer)) as service:
            issuer.jwks.wait_for(1)
            issuer.jwks.release()
            service.terminate()


def test_a_stop_is_logged_as_info(issuer):
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        before = len(service.log)
        service.stop()
        assert any(json.loads(line)["level"] == "info" for line in service.log[before:])
        assert not service.entries(level="error")
