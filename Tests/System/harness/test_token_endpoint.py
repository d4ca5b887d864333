"""The scripted token endpoint plays what it is told, and records what it receives."""

import http.client
import json
import socket
import urllib.parse

import pytest

from harness.token_endpoint import (
    FAULTS,
    GRANT,
    REVOCATION,
    REVOCATION_ROWS,
    ROWS,
    TOKEN,
    USER_INFO,
    USER_INFO_ROWS,
    TokenEndpoint,
    error,
    grant,
)

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def endpoint():
    with TokenEndpoint() as token_endpoint:
        yield token_endpoint


def connect(endpoint) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=15)


def ask(connection, path: str = TOKEN, headers: dict | None = None, **form: str) -> tuple[int, bytes]:
    connection.request("POST", path, urllib.parse.urlencode(form), FORM | (headers or {}))
    response = connection.getresponse()
    return response.status, response.read()


def test_the_endpoint_grants_by_default_and_keeps_connections_open(endpoint):
    connection = connect(endpoint)
    assert ask(connection, code="a") == (200, json.dumps(GRANT).encode())
    endpoint.play(error("invalid_grant"), grant(refresh_token=None, id_token=lambda call: "for " + call.form["code"]))
    assert ask(connection) == (400, b'{"error": "invalid_grant"}')
    assert json.loads(ask(connection, code="b")[1])["id_token"] == "for b"
    endpoint.always(error("slow_down"))
    assert [ask(connection)[0] for _ in range(3)] == [400] * 3
    endpoint.heal()
    assert ask(connect(endpoint), REVOCATION) == (200, b"")
    assert json.loads(ask(connect(endpoint), USER_INFO)[1]) == {"sub": "user-1"}
    assert ask(connect(endpoint), "/elsewhere")[0] == 404
    assert endpoint.received() == 6
    assert {call.connection_number for call in endpoint.to(TOKEN)} == {1}


def test_requests_are_recorded(endpoint):
    ask(connect(endpoint), headers={"Authorization": "Basic YSUzQWI6YytkJTI1"}, grant_type="refresh_token", scope="a b")
    call = endpoint.last()
    assert call.is_whole and call.method == "POST"
    assert call.parameters == [("grant_type", "refresh_token"), ("scope", "a b")]
    assert call.form["scope"] == "a b"
    assert call.basic == ("a:b", "c d%")
    endpoint.forget()
    assert endpoint.received() == 0


def test_an_incomplete_request_is_recorded_as_such(endpoint):
    with socket.create_connection(("127.0.0.1", endpoint.port)) as connection:
        connection.sendall(b"POST /token HTTP/1.1\r\nContent-Length: 10\r\n\r\ncode=")
        connection.shutdown(socket.SHUT_WR)
        endpoint.wait_for(lambda: endpoint.received() == 1)
    assert not endpoint.last().is_whole


@pytest.mark.parametrize(
    ("path", "row"),
    [
        pytest.param(path, row, id=f"{path} {name}")
        for path, rows in [(TOKEN, ROWS), (REVOCATION, REVOCATION_ROWS), (USER_INFO, USER_INFO_ROWS)]
        for name, row in rows.items()
    ],
)
def test_every_row_is_a_complete_response(endpoint, path, row):
    endpoint.play(row.act, path=path)
    connection = connect(endpoint)
    status, _ = ask(connection, path)
    assert 200 <= status < 600
    # The connection can still be used.
    assert ask(connection)[0] == 200


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if not fault.slow])
def test_every_fault_is_played(endpoint, name):
    endpoint.play(FAULTS[name].act)
    with socket.create_connection(("127.0.0.1", endpoint.port), 15) as connection:
        connection.sendall(b"POST /token HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
        received = 0
        try:
            while received < 200_000 and (octets := connection.recv(65536)):
                received += len(octets)
        except ConnectionError:
            pass
    assert endpoint.received() == 1
    # Later requests are answered.
    assert ask(connect(endpoint))[0] == 200


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.slow])
def test_held_requests_end_when_the_endpoint_is_healed(endpoint, name):
    endpoint.play(FAULTS[name].act)
    with socket.create_connection(("127.0.0.1", endpoint.port), 15) as connection:
        connection.sendall(b"POST /token HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
        endpoint.wait_for(lambda: endpoint.received() == 1)
        endpoint.heal()
        while connection.recv(65536):
            pass


def test_connections_can_be_refused(endpoint):
    endpoint.refuse_connections()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", endpoint.port))


def test_there_are_at_least_thirty_faults():
    assert len(FAULTS) >= 30
