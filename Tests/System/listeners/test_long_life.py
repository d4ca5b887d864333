"""Leak tests: repeats operations of a long-running service thousands of times within seconds.

Each test repeats an operation until memory use is steady, and then again to measure its growth. A leak of a few hundred
bytes per operation shows. Changed settings cause fetches, each time with URLs that have not been fetched before.
"""

import contextlib
import http.server
import itertools
import pathlib
import re
import socket
import ssl
import threading

import pytest

from harness.certificates import Authority, server_context
from harness.client import Connection, request_bytes
from harness.collector import Collector
from harness.issuer import KeyServer, QuietServer
from harness.reload import change, hang_up
from harness.service import Service, provider
from harness.tokens import Key, ec_key, jws, rsa_key

MEGABYTE = 1024 * 1024


def held(service: Service) -> int:
    """The private memory of the process in bytes. Excludes the program's own pages, which are loaded on first use.

    Polls until two readings are equal, for at most five seconds: under load, the service lags behind its last clients.
    """
    pause, before = threading.Event(), None
    for _ in range(50):
        status = pathlib.Path(f"/proc/{service.process.pid}/status").read_text()
        now = int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) * 1024
        if now == before:
            break
        before = now
        pause.wait(0.1)
    return now


def assert_nothing_left_behind(service: Service, once, warm_up: int, times: int, limit: int) -> None:
    """Asserts that repeating an operation makes the process grow by fewer bytes than the limit, after a warm-up.

    The process keeps freed memory, so its size is a high-water mark. Under load, a bounded queue of spans or log lines may
    fill for the first time and raise the mark once, while a leak raises it every time. So up to three measurements are
    taken, and the smallest growth counts.
    """
    for _ in range(warm_up):
        once()
    grown = []
    while len(grown) < 3 and min(grown, default=limit) >= limit:
        start = held(service)
        for _ in range(times):
            once()
        grown.append(held(service) - start)
        print(f"{start // 1024} KiB, {grown[-1] // 1024} KiB more")
    assert min(grown) < limit, f"grown by {grown} bytes"


class Keys:
    """Serves a JWK Set or a failure, depending on the first part of the path. Each response has a new key."""

    def __init__(self, context: ssl.SSLContext | None = None):
        self.count = 0
        keys = self
        numbers = itertools.count()
        jwk = {name: value for name, value in ec_key("long-life").jwk().items() if name != "kid"}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                keys.count += 1
                status, headers, body = 200, {}, b""
                match self.path.split("/")[1]:
                    case "good":
                        members = ", ".join(f'"{name}": "{value}"' for name, value in jwk.items())
                        body = f'{{"keys": [{{{members}, "kid": "key-{next(numbers)}"}}]}}'.encode()
                    case "moved":
                        status, headers = 302, {"Location": "/good"}
                    case "missing":
                        status = 404
                    case "nonsense":
                        body = b'{"keys": [' * 100
                    case "cut":
                        headers = {"Content-Length": "1000", "Connection": "close"}
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(body))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        if context:
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("stranger"), "A stranger")


def network(authority: Authority) -> dict:
    return {"allow_http": True, "allow_private_addresses": True, "ca_file": str(authority.certificate_file)}


def tenant(number: int, jwks_uri: str, authority: Authority) -> dict:
    """Settings of a provider with keys at a URL."""
    return {
        "id": f"provider-{number}",
        "issuer": f"https://issuer-{number}.example",
        "audiences": ["client"],
        "jwks_uri": jwks_uri,
        "network": network(authority),
    }


def test_a_tls_provider_takes_only_kilobytes(authority):
    """The system's CA certificates take a megabyte, and are loaded only once."""
    with Keys(authority.server_context()) as keys:

        def resident(count: int) -> int:
            providers = [tenant(number, f"{keys.url}/good/{number}", authority) for number in range(count)]
            with Service(*providers) as service:
                service.wait_until_ready()
                return held(service)

        assert resident(30) - resident(1) < 5 * MEGABYTE


KINDS = ["good"] * 4 + ["moved", "missing", "nonsense", "cut"]


def test_fetches_do_not_leak(authority, stranger):
    with contextlib.ExitStack() as stack:
        secure = stack.enter_context(Keys(authority.server_context()))
        refused = stack.enter_context(Keys(stranger.server_context()))
        expired = stack.enter_context(Keys(server_context(authority.server_file(ends=-1))))
        plain = stack.enter_context(Keys())
        places = [f"{server.url}/{kind}" for server in (secure, plain) for kind in KINDS]
        places += [f"{refused.url}/good", f"{expired.url}/good", "http://127.0.0.1:1/good"]
        rounds = itertools.count()

        def providers() -> list[dict]:
            number = next(rounds)
            return [tenant(index, f"{place}/{number}", authority) for index, place in enumerate(places)]

        service = stack.enter_context(Service(*providers(), log={"requests": False}))
        descriptors = service.descriptors()
        assert_nothing_left_behind(service, lambda: change(service, *providers()), 8, 32, 4 * MEGABYTE)
        assert secure.count >= 40 * len(KINDS) and plain.count >= 40 * len(KINDS)
        assert refused.count == expired.count == 0
        service.wait_until(lambda: service.descriptors() <= descriptors + 4)


@pytest.fixture(scope="module")
def lived_in(authority):
    """A service with TLS, a request log and tracing."""
    collector = Collector()
    with KeyServer() as server:
        issuer = server.issuer("op", ec_key("long-life"))
        file = str(authority.server_file())
        listener = {"listen": "127.0.0.1:0", "tls": {"certificate_file": file, "key_file": file}}
        with Service(
            provider(issuer),
            admin=listener,
            admin_context=authority.client_context(),
            tracing={"otlp_endpoint": collector.endpoint},
            # Under load, the service may wait longer for a processor than it lets requests wait.
            limits={"queue_timeout": "30s"},
        ) as service:
            service.wait_until_ready()
            yield service, issuer, collector


def test_connections_and_handshakes_do_not_leak(lived_in, authority):
    service, _, _ = lived_in
    context = authority.client_context()

    def connections() -> None:
        for _ in range(100):
            with Connection(service.api.address) as connection:
                connection.send(request_bytes("GET", "/livez"))
                assert connection.response("GET", "/livez").status == 200

    def handshakes() -> None:
        for _ in range(20):
            with Connection(service.admin.address, context=context) as connection:
                connection.send(request_bytes("GET", "/livez"))
                assert connection.response("GET", "/livez").status == 200
                # A TLS library keeps the connection until close_notify arrives.
                with contextlib.suppress(ssl.SSLEOFError):
                    connection.socket.unwrap()
            # A handshake that fails.
            with socket.create_connection(service.admin.address.rsplit(":", 1)) as connection:
                connection.sendall(b"\x16\x03\x01\x00\x02\x01\x00")

    assert_nothing_left_behind(service, connections, 5, 20, MEGABYTE)
    assert_nothing_left_behind(service, handshakes, 5, 20, MEGABYTE)


def test_requests_spans_and_log_lines_do_not_leak(lived_in):
    service, issuer, collector = lived_in
    body = b'{"id_token":"' + issuer.token().encode() + b'"}'
    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    octets = request_bytes("POST", "/v1/verify", body, trace) * 64
    asked = itertools.count(start=1)

    def requests() -> None:
        with Connection(service.api.address) as connection:
            for _ in range(8):
                connection.send(octets)
                for _ in range(64):
                    assert connection.unchecked_response().status == 200
        # An incomplete batch of spans waits for the next round.
        spans = (next(asked) - 1) * 512
        service.wait_until(lambda: len(collector.spans) >= spans)
        collector.bodies.clear()
        service.log.clear()

    assert_nothing_left_behind(service, requests, 20, 40, MEGABYTE)


def test_key_rotations_do_not_leak(server):
    """A key in use takes some kilobytes on each event loop, which must be released with it."""
    keys = [rsa_key(f"rotated-{number}") for number in range(3)]
    numbers = itertools.count()
    issuer = server.issuer("rotating", *keys)
    place = server.document("/rotating/next/0", b"")

    def settings() -> dict:
        number = next(numbers)
        address = f"/rotating/next/{number}"
        rotated = [Key(key.private, f"{key.kid}-{number}") for key in keys * 4]
        rotated = [Key(key.private, f"{key.kid}-{index}") for index, key in enumerate(rotated)]
        issuer.rotate(*rotated)
        server.documents[address] = place
        place.reset(issuer.jwk_set())
        return provider(issuer, jwks_uri=server.url + address)

    # The verified-token cache would grow up to its limit.
    usual = {"verified_token_cache": {"entries": 0}, "log": {"requests": False}}
    with Service(settings(), **usual) as service:

        def rotations() -> None:
            change(service, settings(), **usual)
            # Enough requests that every event loop uses each key.
            for key in issuer.keys:
                token = jws(key, issuer.claims())
                octets = request_bytes("POST", "/v1/verify", b'{"id_token":"' + token.encode() + b'"}')
                for _ in range(3):
                    with Connection(service.api.address) as connection:
                        connection.send(octets)
                        assert connection.unchecked_response().status == 200

        service.wait_until_ready()
        assert_nothing_left_behind(service, rotations, 10, 40, MEGABYTE)


def test_reloads_do_not_leak(lived_in):
    service, _, _ = lived_in
    skews = itertools.cycle(["30s", "60s"])
    text = service.config.read_text()

    def changes() -> None:
        for _ in range(10):
            service.config.write_text(text + f"\nclock_skew: {next(skews)}\n")
            assert hang_up(service)

    assert_nothing_left_behind(service, changes, 4, 8, MEGABYTE)
