"""The faulty key server does what it is told, and the checks that use it detect failures."""

import socket

import pytest

from harness.client import request_bytes
from harness.fault_table import FAULTS, held, reply, reset_after
from harness.faults import Fault, FaultServer
from harness.load import Load
from harness.tokens import ec_key

KEY = ec_key("op")


@pytest.fixture
def server():
    with FaultServer("op", KEY) as fault_server:
        yield fault_server


def ask(server, path: str = "/op/keys") -> socket.socket:
    connection = socket.create_connection((server.host, server.port), 15)
    connection.sendall(request_bytes("GET", path))
    return connection


def answer(connection: socket.socket) -> bytes:
    octets = b""
    while more := connection.recv(65536):
        octets += more
    return octets


def test_the_server_is_honest_by_default(server):
    assert b'"kid": "op"' in answer(ask(server))
    server.misbehave(Fault(reply(status="500 Internal Server Error")))
    assert answer(ask(server)).startswith(b"HTTP/1.1 500 ")
    assert answer(ask(server, "/op/.well-known/openid-configuration")).startswith(b"HTTP/1.1 200 ")
    server.heal(ec_key("other"))
    assert b'"kid": "other"' in answer(ask(server))
    assert server.connections == len(server.requests) == 4


def test_held_exchanges_end_with_the_fault(server):
    server.misbehave(Fault(held()))
    connection = ask(server)
    server.wait_for(server.requests.__len__)
    assert server.holds()
    server.heal()
    assert answer(connection) == b""
    assert server.given_up == 0


def test_a_client_that_gives_up_is_counted(server):
    server.misbehave(Fault(held()))
    connection = ask(server)
    server.wait_for(server.requests.__len__)
    connection.close()
    server.wait_for(lambda: server.given_up == 1)
    assert not server.holds()


def test_a_reset_closes_the_connection_with_rst(server):
    server.misbehave(Fault(reset_after(b"HTTP/1.1 200 OK\r\n")))
    with pytest.raises(ConnectionResetError):
        answer(ask(server))


def test_concurrent_requests_are_counted_until_their_clients_leave(server):
    server.misbehave(Fault(held()))
    first = ask(server)
    server.wait_for(lambda: server.connections == 1)
    first.close()
    second = ask(server)
    server.wait_for(lambda: server.connections == 2)
    assert server.most_at_once == 1
    third = ask(server)
    server.wait_for(lambda: server.connections == 3)
    assert server.most_at_once == 2
    second.close()
    third.close()


@pytest.mark.parametrize(
    ("name", "expected"), [("connection refused", ConnectionRefusedError), ("connection not accepted", TimeoutError)]
)
def test_a_misbehaving_listener_accepts_no_connections(server, name, expected):
    server.misbehave(FAULTS[name])
    with pytest.raises(expected):
        socket.create_connection((server.host, server.port), 0.2)
    server.heal()
    assert b'"kid": "op"' in answer(ask(server))


@pytest.mark.parametrize("code", [None, "token_expired"])
def test_load_detects_an_unexpected_response(world, code):
    """An invalid token is expected to pass, and a valid one to be rejected."""
    token = world.oidc.token() if code else world.oidc.token(aud="someone else")
    with Load(world.service.api.address, {"good": [(world.oidc.token(), None)], "bad": [(token, code)]}) as load:
        load.passes("good")
        with pytest.raises(AssertionError):
            load.passes("bad")
