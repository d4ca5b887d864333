"""W. HTTP towards the service: crowds of clients that are slow, silent, greedy or gone, and a well-behaved one."""

import contextlib
import json
import random
import resource
import selectors
import socket
import threading
import time

import pytest

from attacks.siege import assert_sound, besieged, unharmed
from attacks.wire_cases import CHUNKED, GET, HOST, JSON, POST, head
from attacks.wire_results import WireResults
from harness.client import request_bytes
from harness.contract import assert_code
from harness.issuer import KeyServer
from harness.load import Load
from harness.tokens import ec_key
from harness.wire import (
    KIB, MIB, Crowd, Reader, answers, connect, gauges, many_descriptors, read_exactly, read_to_end, reset, send_to_all,
)  # fmt: skip

SEED = 20260108
LIVE = request_bytes("GET", "/livez")
# The smallest possible request, with an answer about ten times its size.
TINY = b"GET / HTTP/1.1\r\nHost:\r\n\r\n"
HALF_HEAD = POST + b"Host: x\r\nX: y"
HALF_BODY = head(HOST, JSON, b"Content-Length: 16\r\n") + b'{"id_tok'
REST_OF_BODY = b'en":"x"}'


@pytest.fixture(scope="module")
def results(request):
    return WireResults.register(request.config)


@pytest.fixture(scope="module", autouse=True)
def allowed(results):
    """How many file descriptors this process and each service may have."""
    with many_descriptors() as count:
        yield count


@pytest.fixture(scope="module")
def issuer():
    with KeyServer() as server:
        yield server.issuer("wire", ec_key("wire"))


@pytest.fixture
def alone(issuer):
    """Creates services without other connections."""
    with contextlib.ExitStack() as stack:

        def make(**settings):
            service = stack.enter_context(besieged(issuer, **settings)).wait_until_ready()
            service.api.close()
            service.wait_until(lambda: gauges(service)[0] == 0)
            return service

        yield make


def everyone_gone(service) -> bool:
    return gauges(service)[0] == 0


# idle


def test_ten_thousand_idle_connections_are_cheap_and_delay_no_requests(issuer, allowed, results):
    count = min(10_000, allowed * 4 // 5)
    limits = {"max_connections": count + 10, "request_timeout": "2s"}
    with besieged(issuer, limits=limits) as service, unharmed(service.wait_until_ready(), issuer):
        before = service.resident()
        with Crowd(service.api.address, count) as crowd:
            service.wait_until(lambda: gauges(service)[0] >= count)
            idle = service.resident()
            crowd.send(LIVE)
            assert all(answer.startswith(b"HTTP/1.1 200 ") for answer in crowd.first_bytes())
            used = service.resident()
            crowd.send(HALF_HEAD)
            # All connections time out at about the same time.
            assert all(answer.startswith(b"HTTP/1.1 408 ") for answer in crowd.first_bytes())
            late = service.resident()
        service.wait_until(lambda: gauges(service)[0] <= 2)
    results.measured(
        idle_connections=count,
        rss_before=before,
        rss_with_idle_connections=idle,
        rss_with_used_connections=used,
        rss_with_late_connections=late,
        bytes_per_idle_connection=(idle - before) // count,
        bytes_per_used_connection=(used - before) // count,
    )
    assert (idle - before) / count < 16 * KIB
    assert (used - before) / count < 32 * KIB
    assert (late - before) / count < 64 * KIB


@pytest.mark.parametrize("limit", [1, 16, 200])
def test_exactly_max_connections_are_served(alone, limit):
    """Further connections are rejected or closed, and affect no other. Closing some makes room again."""
    service = alone(limits={"max_connections": limit})
    idle = service.descriptors()
    for _ in range(2):
        with Crowd(service.api.address, limit) as crowd:
            crowd.send(LIVE)
            assert all(answer.startswith(b"HTTP/1.1 200 ") for answer in crowd.first_bytes())
            with Crowd(service.api.address, 60) as excess:
                excess.send(LIVE)
                assert {answer[:13] for answer in excess.first_bytes()} <= {b"HTTP/1.1 503 ", b""}
                assert gauges(service)[0] == limit
                crowd.send(LIVE)
                assert all(answer.startswith(b"HTTP/1.1 200 ") for answer in crowd.first_bytes())
        service.wait_until(lambda: everyone_gone(service) and service.descriptors() <= idle)
    assert_sound(service)


def test_incomplete_requests_do_not_count_towards_max_in_flight(alone):
    """They are limited by the bytes they hold."""
    service = alone(limits={"max_in_flight": 1})
    with Crowd(service.api.address, 30) as crowd:
        crowd.send(HALF_BODY)
        service.wait_until(lambda: gauges(service)[1] == 30)
        assert service.verify("x").code == "token_malformed"
        crowd.send(REST_OF_BODY)
        assert {answer[:13] for answer in crowd.first_bytes()} == {b"HTTP/1.1 422 "}
    assert_sound(service)


def test_the_service_survives_running_out_of_descriptors(issuer):
    """Meanwhile, existing connections are served. Afterwards, new ones are accepted again."""
    with besieged(issuer) as service, unharmed(service.wait_until_ready(), issuer):
        limit = service.descriptors() + 40
        resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
        with Crowd(service.api.address, 120):
            service.wait_until(lambda: service.descriptors() >= limit)
            for _ in range(100):
                service.accept(issuer.token())
        with service.api.connect() as late:
            late.send(LIVE)
            assert late.response("GET", "/livez").status == 200


def test_thousands_of_reset_connections_do_not_leak(alone, issuer):
    service = alone()
    idle = service.descriptors()
    whole = request_bytes("POST", "/v1/verify", b'{"id_token":"x"}')
    with Load(service.api.address, {"good": [(issuer.token(), None)]}, threads=1) as load:
        load.passes("good")
        before = service.resident()
        for number in range(3000):
            connection = connect(service.api.address)
            connection.send(whole[: number % (len(whole) + 1)])
            reset(connection)
        load.passes("good")
    service.wait_until(lambda: everyone_gone(service) and service.descriptors() <= idle)
    assert service.resident() < before + 16 * MIB
    assert_sound(service)


# slow


def body_of(*lines: bytes) -> bytes:
    return head(HOST, JSON, *lines)


# The first part arrives at once. The second is repeated octet by octet; `None` sends nothing more.
SLOW = {
    "a method": (b"P", None),
    "a target": (b"GET /", b"x"),
    "a field": (POST + HOST + b"X: ", b"y"),
    "fields": (POST + HOST, b"X: y\r\n"),
    "blank lines": (b"", b"\r\n"),
    "a body": (body_of(b"Content-Length: 60000\r\n"), b" "),
    "no body": (body_of(b"Content-Length: 100\r\n"), None),
    "no body though invited": (body_of(b"Content-Length: 100\r\nExpect: 100-continue\r\n"), None),
    "no body behind another request": (LIVE + body_of(b"Content-Length: 100\r\n"), None),
    "chunks": (body_of(CHUNKED), b"1\r\n \r\n"),
    "a chunk size": (body_of(CHUNKED), b"0"),
    "an extension": (body_of(CHUNKED) + b"1;", b"x"),
    "trailers": (body_of(CHUNKED) + b"2\r\n{}\r\n0\r\n", b"X: y\r\n"),
    "no end of trailers": (body_of(CHUNKED) + b"2\r\n{}\r\n0\r\n", None),
}


def test_slow_clients_in_a_crowd_gain_no_time(alone, issuer):
    """Thirty clients at once for each kind of slowness."""
    service = alone(limits={"request_timeout": "1s"})
    idle = service.descriptors()
    with unharmed(service, issuer), contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        received: dict[socket.socket, bytearray] = {}
        names: dict[socket.socket, str] = {}
        for name, (octets, _) in SLOW.items():
            crowd = stack.enter_context(Crowd(service.api.address, 30))
            crowd.send(octets)
            for connection in crowd.sockets:
                received[connection], names[connection] = bytearray(), name
                selector.register(connection, selectors.EVENT_READ)
        deadline, turn = time.monotonic() + 60, 0
        while selector.get_map():
            waiting = {names[key.fileobj] for key in selector.get_map().values()}
            assert time.monotonic() < deadline, f"not timed out: {waiting}"
            for key in list(selector.get_map().values()):
                if more := SLOW[names[key.fileobj]][1]:
                    with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                        key.fileobj.send(more[turn % len(more) :][:1])
            turn += 1
            for key, _ in selector.select(0.05):
                octets = b""
                with contextlib.suppress(ConnectionResetError):
                    octets = key.fileobj.recv(64 * KIB)
                received[key.fileobj] += octets
                if not octets:
                    selector.unregister(key.fileobj)
        for connection, octets in received.items():
            assert answers(bytes(octets))[-1].code == "request_timeout", names[connection]
    service.api.close()
    service.wait_until(lambda: everyone_gone(service) and service.descriptors() <= idle)


ENDINGS = {
    "resets": reset,
    "closes": lambda connection: connection.close(),
    "closes its half": lambda connection: connection.shutdown(socket.SHUT_WR),
    "closes both halves": lambda connection: connection.shutdown(socket.SHUT_RDWR),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_clients_that_leave_midway_do_not_leak(alone, issuer, ending):
    service = alone()
    idle = service.descriptors()
    with unharmed(service, issuer), contextlib.ExitStack() as stack:
        crowds = [stack.enter_context(Crowd(service.api.address, 20)) for _ in SLOW]
        for crowd, (octets, _) in zip(crowds, SLOW.values(), strict=True):
            crowd.send(octets)
            for connection in crowd.sockets:
                with contextlib.suppress(OSError):
                    ENDINGS[ending](connection)
        # Their connections are closed at once, not at their timeout.
        service.wait_until(lambda: gauges(service)[0] <= 1)
    service.api.close()
    service.wait_until(lambda: everyone_gone(service) and service.descriptors() <= idle)


def test_urgent_data_does_no_harm(alone, issuer):
    service, source = alone(), random.Random(SEED)
    with unharmed(service, issuer):
        for _ in range(400):
            connection = connect(service.api.address)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError, OSError):
                for _ in range(source.randrange(1, 5)):
                    flags = source.choice([0, socket.MSG_OOB])
                    connection.send(LIVE[: source.randrange(1, len(LIVE) + 1)], flags)
                source.choice(list(ENDINGS.values()))(connection)
            connection.close()


# greedy


def test_a_flood_of_unread_responses_is_bounded(alone, issuer, results):
    """Each client fills the system's buffers, which take several megabytes, and reads nothing."""
    service, count = alone(), 20
    with unharmed(service, issuer):
        before = service.resident()
        with Crowd(service.api.address, count, receive_buffer=4 * KIB) as crowd:
            taken = crowd.send(TINY * 1_000_000)
            grown = (service.resident() - before) // count
    results.measured(flood_bytes_taken=max(taken), rss_per_connection_that_reads_nothing=grown)
    assert max(taken) < len(TINY) * 1_000_000, "the service read everything"
    assert grown < 12 * MIB


PIPELINES = {
    "more than fits into any buffer": (TINY, 40_000, [404], 4 * KIB),
    "as fast as it goes": (request_bytes("POST", "/v1/verify", b'{"id_token":"x"}') + LIVE, 5000, [422, 200], None),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_thousands_of_pipelined_requests_are_answered_once_the_client_reads(alone, issuer, name):
    octets, count, answered, receive_buffer = PIPELINES[name]
    service = alone()
    with unharmed(service, issuer), contextlib.closing(connect(service.api.address, receive_buffer)) as connection:
        [taken] = send_to_all([connection], octets * count)
        connection.settimeout(60)
        # The rest is sent while the answers are read.
        sending = threading.Thread(target=connection.sendall, args=((octets * count)[taken:],))
        sending.start()
        reader = Reader(connection)
        for _ in range(count):
            assert [reader.unchecked_response().status for _ in answered] == answered
        sending.join()


def test_a_stop_is_clean_with_any_clients_connected(alone):
    service = alone(shutdown_grace="2s")
    address = service.api.address
    with contextlib.ExitStack() as stack:
        for count, octets in [
            (200, b""),
            (200, HALF_HEAD),
            (100, HALF_BODY),
            (100, head(HOST, b"Connection: close\r\n", first=GET)),
            (20, TINY * 5000),
            (20, request_bytes("GET", "/openapi.yaml") * 200),
        ]:
            stack.enter_context(Crowd(address, count, 4 * KIB)).send(octets, silence=0.2)
        service.wait_until(lambda: gauges(service)[0] >= 500)
        service.admin.close()
        service.terminate()
        assert service.wait(timeout=60) == 0


def test_a_client_that_reads_no_responses_is_disconnected_at_the_timeout(alone):
    service = alone(limits={"request_timeout": "1s"})
    with Crowd(service.api.address, 1, receive_buffer=4 * KIB) as crowd:
        crowd.send(request_bytes("GET", "/openapi.yaml") * 2000)
        service.wait_until(lambda: everyone_gone(service), timeout=5)


def test_an_incomplete_head_after_a_request_times_out(alone):
    service = alone(limits={"request_timeout": "1s"})
    with service.api.connect(timeout=5) as connection:
        connection.send(LIVE + HALF_HEAD)
        assert connection.response("GET", "/livez").status == 200
        assert_code(connection.response("POST", "/v1/verify"), "request_timeout")


def test_requests_after_unread_responses_are_bounded_in_memory(alone):
    service = alone(limits={"max_buffered": "1MiB"})
    before = service.resident()
    with Crowd(service.api.address, 40, receive_buffer=4 * KIB) as crowd:
        crowd.send(TINY * 400_000)
        assert service.resident() < before + 64 * MIB


def test_a_response_that_is_read_slowly_arrives_whole(alone, issuer):
    read_late(alone, issuer, {})


def test_a_last_response_that_is_read_slowly_arrives_whole(alone, issuer):
    read_late(alone, issuer, {"Connection": "close"})


def read_late(alone, issuer, headers: dict) -> None:
    """Asserts that a client which reads part of a large response in time receives the rest.

    It continues after the first request timeout has passed, and before the second has. Only a small part of the
    response fits into the socket's buffers.
    """
    service = alone(limits={"request_timeout": "3s", "idle_timeout": "4s"})
    item = {"id_token": issuer.token(filler="x" * 11_900), "include_claims": True}
    batch = request_bytes("POST", "/v1/verify/batch", json.dumps({"items": [item] * 250}).encode(), headers)
    before = request_bytes("GET", "/openapi.yaml")
    with contextlib.closing(connect(service.api.address, 4 * KIB)) as late:
        # In parallel: the service reads the batch only after it has written the first response.
        sending = threading.Thread(target=late.sendall, args=(before + batch,))
        sending.start()
        part = read_exactly(late, MIB)
        sending.join()
        with contextlib.closing(connect(service.api.address)) as clock:
            assert read_to_end(clock) == b""
        if not headers:
            late.sendall(request_bytes("GET", "/livez", headers={"Connection": "close"}))
        found = answers(part + read_to_end(late))
        assert len(found) == (2 if headers else 3)
        assert len(found[1].json["results"]) == 250


def test_a_last_response_in_kernel_buffers_arrives_whole_when_read_slowly(alone):
    """The service has written everything, and delays the close by the request timeout."""
    service = alone(limits={"idle_timeout": "5s"})
    with contextlib.closing(connect(service.api.address, 4 * KIB)) as late:
        get = request_bytes("GET", "/openapi.yaml")
        late.sendall(get + request_bytes("GET", "/openapi.yaml", headers={"Connection": "close"}))
        part = read_exactly(late, 180 * KIB)
        with contextlib.closing(connect(service.api.address)) as clock:
            assert read_to_end(clock) == b""
        assert len(answers(part + read_to_end(late))) == 2


@pytest.mark.parametrize("large", [False, True], ids=["small answers", "large answers"])
def test_a_half_closed_client_gets_every_response_however_slowly_it_reads(alone, large):
    service = alone()
    count, octets = (200, request_bytes("GET", "/openapi.yaml")) if large else (100, LIVE)
    with contextlib.closing(connect(service.api.address, 4 * KIB)) as connection:
        connection.sendall(octets * count)
        connection.shutdown(socket.SHUT_WR)
        assert len(answers(read_to_end(connection))) == count
