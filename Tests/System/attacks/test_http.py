"""W. HTTP towards the service: requests that parsers may interpret differently, or not at all."""

import json
import random
import re
import threading

import pytest

from attacks.siege import assert_sound, besieged, unharmed
from attacks.vectors import json_suite
from attacks.wire_cases import (
    CLEAR, GET, HOST, JSON, LAST, POST, REFUSED, SECOND, SMUGGLED, STRANGERS, coded, cut_up, head,
    measured, mutants, of_length,
)  # fmt: skip
from attacks.wire_results import WireResults
from harness.client import request_bytes
from harness.contract import assert_code, check
from harness.issuer import KeyServer
from harness.service import Service, provider
from harness.tokens import ec_key, sha256_hex
from harness.wire import answers, exchange, gauges, read_to_end, reset

SEED = 20260107
REFUSALS = {400, 413, 431}
# Every status that a caller can cause without a valid token.
POSSIBLE = {100, 200, 400, 404, 405, 413, 415, 422, 431}


@pytest.fixture(scope="module")
def results(request):
    return WireResults.register(request.config)


@pytest.fixture(scope="module", autouse=True)
def _counted(results):
    """Registers the counter before the first case."""


@pytest.fixture(scope="module")
def server():
    with KeyServer() as key_server:
        yield key_server


@pytest.fixture(scope="module")
def issuer(server):
    return server.issuer("wire", ec_key("wire"))


@pytest.fixture(scope="module")
def shared(issuer):
    with besieged(issuer) as service:
        yield service.wait_until_ready()


@pytest.fixture
def service(shared, issuer):
    with unharmed(shared, issuer):
        yield shared


def table(rows: list[tuple]) -> list:
    """Parameters with the names of the catalogue's cases: rows are `(id, variant, value, …)`."""
    return [pytest.param(*values, id=f"{id}-{variant}") for id, variant, *values in rows]


# framing


def refusal(service, octets: bytes, cuts=()):
    """The only answer to a request that is rejected together with everything after it; `None` if there is none."""
    found = answers(exchange(service.api.address, octets, cuts))
    assert len(found) <= 1, f"a later request was answered: {found}"
    for response in found:
        check("POST", "/v1/verify", response)
        assert response.status in REFUSALS, response
        assert response.header("Connection") == "close"
        assert response.header("X-Request-Id") != "smuggled"
    return found[0] if found else None


@pytest.mark.parametrize("octets", table(REFUSED))
def test_an_ambiguous_request_is_refused_with_everything_after_it(service, octets):
    """The result does not depend on how the bytes are split."""
    for cuts in cut_up(octets + SMUGGLED, SEED):
        assert refusal(service, octets + SMUGGLED, cuts) is not None, cuts


@pytest.mark.parametrize("status, octets", table(CLEAR))
def test_an_unusual_but_unambiguous_request_is_read_exactly_to_its_end(service, status, octets):
    method = octets.split(b" ")[0].decode().strip()
    for cuts in cut_up(octets + SECOND, SEED):
        first, second = answers(exchange(service.api.address, octets + SECOND, cuts), method)
        assert first.status == status, first
        assert first.header("X-Request-Id") != "smuggled"
        assert (second.status, second.header("X-Request-Id")) == (200, "second")


@pytest.mark.parametrize("status, octets", table(LAST))
def test_nothing_after_the_last_request_is_answered(service, status, octets):
    for cuts in cut_up(octets + SMUGGLED, SEED):
        [answer] = answers(exchange(service.api.address, octets + SMUGGLED, cuts))
        assert answer.status == status, answer
        assert answer.header("Connection") == "close"
        assert answer.header("X-Request-Id") != "smuggled"


@pytest.mark.parametrize("length", [65_537, 2**63 - 1, 2**63, 2**64 - 1], ids=lambda length: f"W06-{length}")
def test_a_body_that_is_too_large_is_refused_by_its_content_length(issuer, length):
    with besieged(issuer, limits={"request_timeout": "1s"}) as service, service.api.connect() as connection:
        connection.send(head(HOST, JSON, b"Content-Length: %d\r\n" % length))
        assert_code(connection.response("POST", "/v1/verify"), "request_too_large")


@pytest.mark.parametrize("name", STRANGERS)
def test_a_client_of_another_protocol_is_refused_or_times_out(service, name):
    found = answers(exchange(service.api.address, STRANGERS[name]))
    assert [answer.status for answer in found] in ([], [400], [431]), found


def test_random_bytes_do_no_harm(service):
    source = random.Random(SEED)
    for _ in range(300):
        found = answers(exchange(service.api.address, source.randbytes(source.randrange(1, 3000))))
        assert [answer.status for answer in found] in ([], [400], [431]), found


def test_requests_with_random_faults_do_no_harm(service, results):
    before, count, seen = service.resident(), 2000, set()
    for octets, cuts in mutants(SEED, count):
        found = exchange(service.api.address, octets, cuts)
        seen |= {int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", found)}
        assert seen <= POSSIBLE, f"{seen}: {octets!r} cut at {cuts}"
    # Some faults leave a request valid.
    assert {200, 400, 422} <= seen
    results.measured(mutants=count, mutants_grew_bytes=service.resident() - before)
    assert service.resident() < before + 16 * 2**20


# bodies


def test_no_text_of_the_json_suite_is_a_valid_request(service):
    """W08: neither as the body nor as the token."""
    bodies = [
        (name, body, codes)
        for name, text in json_suite().items()
        for body, codes in [
            (text, {"request_invalid"}),
            (b'{"id_token":' + text + b"}", {"request_invalid", "token_malformed"}),
        ]
        if len(body) <= 64 * 1024
    ]
    assert len(bodies) > 400
    for name, body, codes in bodies:
        assert service.api.post("/v1/verify", body).code in codes, name


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "TRACE", "DELETE"])
def test_a_body_with_another_method_is_not_the_next_request(service, method):
    """W09: an override does not change the method, either."""
    headers = {"X-HTTP-Method-Override": "POST", "Content-Length": str(len(SMUGGLED))}
    octets = request_bytes(method, "/v1/verify", None, headers) + SMUGGLED + SECOND
    first, second = answers(exchange(service.api.address, octets))
    assert_code(first, "method_not_allowed")
    assert second.header("X-Request-Id") == "second"


# heads


def test_a_trailer_has_no_effect_on_authorization_or_request_id(issuer):
    key = "a-key-that-is-good-enough"
    body = json.dumps({"id_token": issuer.token()}).encode()
    trailers = f"Authorization: Bearer {key}\r\nX-Request-Id: trailer\r\nContent-Type: text/plain\r\n".encode()
    octets = head(HOST, JSON, b"Transfer-Encoding: chunked\r\n") + b"%x\r\n%s\r\n0\r\n" % (len(body), body)
    with Service(provider(issuer), api_keys=[sha256_hex(key)]) as service:
        [answer] = answers(exchange(service.api.address, octets + trailers + b"\r\n"))
        assert_code(answer, "caller_unauthenticated")
        assert answer.header("X-Request-Id") != "trailer"
        assert service.verify(issuer.token(), {"Authorization": f"Bearer {key}"}).status == 200


EXPECTATIONS = {
    "a body that is too large": (head(HOST, JSON, b"Expect: 100-continue\r\nContent-Length: 70000\r\n"), 413),
    "two hosts": (head(HOST, HOST, JSON, b"Expect: 100-continue\r\nContent-Length: 16\r\n"), 400),
    "two lengths": (head(HOST, JSON, b"Expect: 100-continue\r\nContent-Length: 16\r\nContent-Length: 2\r\n"), 400),
    "HTTP/1.0": (measured(b"Expect: 100-continue\r\n", first=POST.replace(b"1.1", b"1.0")), 422),
}


@pytest.mark.parametrize("name", EXPECTATIONS)
def test_no_100_continue_for_refused_or_http_1_0_requests(service, name):
    octets, status = EXPECTATIONS[name]
    with service.api.connect() as connection:
        connection.send(octets)
        received = read_to_end(connection.socket)
    assert received.startswith(b"HTTP/1.1 %d " % status), received


def test_100_continue_keeps_its_place_between_responses(service):
    octets = head(HOST, first=GET) + measured(b"Expect: 100-continue\r\n")
    found = exchange(service.api.address, octets * 200)
    assert [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", found)] == [200, 100, 422] * 200


def test_the_admin_listener_is_equally_strict(service):
    for id, variant, octets in REFUSED:
        found = answers(exchange(service.admin.address, octets + SMUGGLED))
        assert [answer.status in REFUSALS for answer in found] == [True], f"{id} {variant}: {found}"


# connections


def test_thousands_of_requests_on_one_connection_do_not_leak(service):
    octets = request_bytes("GET", "/livez")
    with service.api.connect() as connection:

        def ask(count: int) -> None:
            for _ in range(count):
                connection.send(octets)
                assert connection.unchecked_response().status == 200

        ask(500)
        before = service.resident()
        ask(3000)
    assert service.resident() < before + 4 * 2**20


class Waiting:
    """Requests that wait for keys, each on its own connection, until `release`."""

    def __init__(self, server: KeyServer, count: int):
        old, new = ec_key("waited-for-1"), ec_key("waited-for-2")
        self.issuer = server.issuer("slow", old)
        self.service = besieged(self.issuer, limits={"keys_timeout": "30s"})
        self.service.wait_until_ready()
        self.issuer.rotate(new, old)
        self.issuer.jwks.hold()
        body = json.dumps({"id_token": self.issuer.token()}).encode()
        self.connections = [self.service.api.connect() for _ in range(count)]
        for connection in self.connections:
            connection.send(request_bytes("POST", "/v1/verify", body))
        self.service.wait_until(lambda: gauges(self.service)[1] == count)

    def release(self) -> None:
        self.issuer.jwks.release()

    def __enter__(self):
        self.service.__enter__()
        return self

    def __exit__(self, *exception):
        for connection in self.connections:
            connection.close()
        self.service.__exit__(*exception)


def named(count: int) -> bytes:
    return b"".join(request_bytes("GET", "/livez", headers={"X-Request-Id": str(n)}) for n in range(count))


def assert_named_answers(connection, count: int) -> None:
    for number in range(count):
        assert connection.unchecked_response().header("X-Request-Id") == str(number)


@pytest.mark.parametrize("count", [5, 500, 10_000])
def test_a_request_that_waits_is_answered_before_later_ones(server, count):
    with Waiting(server, 1) as waiting:
        [connection] = waiting.connections
        sending = threading.Thread(target=connection.send, args=(named(count),))
        sending.start()
        waiting.release()
        assert connection.response("POST", "/v1/verify").json["identity"]["subject"] == "user-1"
        assert_named_answers(connection, count)
        sending.join()
        assert_sound(waiting.service)


@pytest.mark.parametrize("count", [0, 5, 500])
def test_a_malformed_request_after_one_that_waits_is_refused_in_turn(server, count):
    with Waiting(server, 1) as waiting:
        [connection] = waiting.connections
        connection.send(named(count) + b"nonsense\r\n\r\n" + SMUGGLED)
        waiting.release()
        assert connection.response("POST", "/v1/verify").status == 200
        assert_named_answers(connection, count)
        assert_code(connection.response("POST", "/v1/verify"), "request_invalid")
        assert connection.closed()
        assert_sound(waiting.service)


@pytest.mark.parametrize("count", [5, 500])
def test_a_half_closed_client_gets_every_response(server, count):
    with Waiting(server, 1) as waiting:
        [connection] = waiting.connections
        connection.send(named(count))
        connection.finish_sending()
        waiting.release()
        assert connection.response("POST", "/v1/verify").status == 200
        assert_named_answers(connection, count)
        assert connection.closed()


def test_clients_that_leave_while_they_wait_for_keys_do_not_leak(server):
    with Waiting(server, 90) as waiting:
        for number, connection in enumerate(waiting.connections):
            if number % 3 == 0:
                reset(connection.socket)
            elif number % 3 == 1:
                connection.close()
            else:
                connection.finish_sending()
        waiting.release()
        for connection in waiting.connections[2::3]:
            assert connection.response("POST", "/v1/verify").status == 200
            assert connection.closed()
        assert_sound(waiting.service)
        waiting.service.api.close()
        waiting.service.wait_until(lambda: gauges(waiting.service)[0] == 0)


def test_every_form_of_a_length_is_read_the_same(service):
    """W01: pipelines the same body with a length, in chunks, and with leading zeros in the length."""
    octets = measured() + coded(b" chunked") + of_length(b"0016") + SECOND
    found = answers(exchange(service.api.address, octets))
    assert [answer.status for answer in found] == [422, 422, 422, 200]
