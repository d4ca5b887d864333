"""TLS on the listeners: versions, trusted certificates, changed files, misbehaving clients."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import ssl
import threading
import warnings

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from harness import commands
from harness.certificates import Authority
from harness.client import Client, Connection, ConnectionClosed, request_bytes
from harness.freezing import frozen
from harness.load import Load
from harness.metrics import Metrics
from harness.service import Service, provider, run, write_config
from harness.tokens import ec_key

HOUR = 1 / 24
FAILURES = "assay_tls_handshake_failures_total"


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("access-tls", ec_key("access-tls"))


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"), "Servers")


def tls(file: pathlib.Path, **settings) -> dict:
    """Settings of a listener whose certificate and key are in one file."""
    return {"listen": "127.0.0.1:0", "tls": {"certificate_file": str(file), "key_file": str(file), **settings}}


@pytest.fixture(scope="module")
def service(issuer, authority):
    listener = tls(authority.server_file())
    context = authority.client_context()
    with Service(
        provider(issuer),
        service=listener,
        admin=listener,
        context=context,
        admin_context=context,
        limits={"request_timeout": "1s"},
    ) as service:
        yield service.wait_until_ready()


def metric(service, name: str, **labels) -> float:
    return Metrics(service.admin.get("/metrics").text).value(name, **labels)


def handshake_fails(address: str, context: ssl.SSLContext) -> None:
    """Asserts that a client with this context gets no answer."""
    # In TLS 1.3, a client notices a rejection only when it reads.
    with pytest.raises((ssl.SSLError, ConnectionClosed, ConnectionResetError, BrokenPipeError)):
        with Connection(address, context=context) as connection:
            connection.send(request_bytes("GET", "/livez"))
            connection.unchecked_response("GET")


# TLS versions


def test_tokens_are_verified_over_tls(service, issuer):
    service.accept(issuer.token())
    service.reject(issuer.token(aud="nobody"), "audience_mismatch")


def test_the_admin_listener_may_use_tls(service):
    assert service.admin.get("/metrics").status == 200
    assert service.admin.get("/v1/providers").status == 200


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_tls_1_2_and_1_3_are_supported(service, authority, version):
    context = authority.client_context()
    context.minimum_version = context.maximum_version = version
    with Connection(service.api.address, context=context) as connection:
        assert connection.socket.version() == version.name.replace("_", ".")
        connection.send(request_bytes("GET", "/readyz"))
        assert connection.response("GET", "/readyz").status == 200


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
def test_older_versions_are_refused(service, authority, version):
    context = authority.client_context()
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        # Using an outdated version is intended here.
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = version
    with pytest.raises(ssl.SSLError, match="PROTOCOL_VERSION"):
        Connection(service.api.address, context=context)


@pytest.mark.parametrize(
    ("ciphers", "is_spoken"),
    [
        ("ECDHE-ECDSA-AES128-GCM-SHA256", True),
        ("ECDHE-ECDSA-CHACHA20-POLY1305", True),
        ("ECDHE-ECDSA-AES128-SHA256", False),
        ("ECDHE-ECDSA-AES256-SHA", False),
        ("AES128-SHA:AES256-GCM-SHA384", False),
    ],
)
def test_ciphers_need_forward_secrecy_and_authenticated_encryption(
    service, authority, ciphers, is_spoken
):
    context = authority.client_context()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(ciphers + ":@SECLEVEL=0")
    if is_spoken:
        with Connection(service.api.address, context=context) as connection:
            assert connection.socket.cipher()[0] == ciphers
    else:
        with pytest.raises(ssl.SSLError, match="HANDSHAKE_FAILURE"):
            Connection(service.api.address, context=context)


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [(["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"), (["h2"], None), ([], None)],
)
def test_alpn_negotiates_http_1_1(service, authority, offered, chosen):
    context = authority.client_context()
    if offered:
        context.set_alpn_protocols(offered)
    with Connection(service.api.address, context=context) as connection:
        assert connection.socket.selected_alpn_protocol() == chosen
        connection.send(request_bytes("GET", "/livez"))
        assert connection.response("GET", "/livez").status == 200


@pytest.mark.parametrize("kind", ["rsa", "P-384", "ed25519"])
def test_rsa_ecdsa_and_ed25519_keys_are_supported(issuer, authority, kind):
    key = {
        "rsa": lambda: rsa.generate_private_key(65537, 2048),
        "P-384": lambda: ec.generate_private_key(ec.SECP384R1()),
        "ed25519": ed25519.Ed25519PrivateKey.generate,
    }[kind]()
    client = authority.client_file(key=key)
    listener = tls(authority.server_file(key=key), client_ca_file=str(authority.certificate_file))
    with Service(provider(issuer), service=listener, context=authority.client_context(client)) as service:
        assert service.api.get("/livez").status == 200


def test_large_requests_and_responses_arrive_whole(service, issuer):
    items = [{"id_token": issuer.token(sub=f"user-{number}"), "include_claims": True} for number in range(256)]
    results = service.api.post("/v1/verify/batch", {"items": items}).json["results"]
    assert [result["identity"]["subject"] for result in results] == [f"user-{number}" for number in range(256)]


def test_pipelined_requests_are_answered_in_order(service, issuer):
    with service.api.connect() as connection:
        paths = ["/livez", "/nothing", "/readyz"] * 50
        connection.send(b"".join(request_bytes("GET", path) for path in paths))
        statuses = [connection.response("GET", path).status for path in paths]
        assert statuses == [200, 404, 200] * 50


def test_connection_close_ends_the_tls_session_cleanly(service):
    with service.api.connect() as connection:
        last = request_bytes("GET", "/readyz", headers={"Connection": "close"})
        connection.send(request_bytes("GET", "/livez") + last)
        assert connection.response("GET", "/livez").status == 200
        assert connection.response("GET", "/readyz").status == 200
        # The service sends close_notify.
        assert connection.socket.recv(1) == b""
        connection.socket.unwrap().close()


def test_common_clients_can_connect(service, authority, tmp_path):
    host, port = service.api.address.rsplit(":", 1)
    connection = http.client.HTTPSConnection(host, int(port), context=authority.client_context(), timeout=15)
    connection.request("GET", "/openapi.yaml")
    assert b"openapi: 3.1" in connection.getresponse().read()
    connection.close()
    url = f"https://{service.api.address}/readyz"
    shell = f"curl -sf --cacert {authority.certificate_file} {url} {url}"
    assert commands.run_shell(shell).stdout.count('"ready"') >= 2


def test_a_unix_socket_may_use_tls(issuer, authority, tmp_path_factory):
    listener = tls(authority.server_file()) | {"listen": f"unix:{tmp_path_factory.mktemp('t')}/a.sock"}
    with Service(provider(issuer), service=listener, context=authority.client_context()) as service:
        service.wait_until_ready()
        service.accept(issuer.token())
        assert run("healthcheck", "--config", str(service.config), "--service").returncode == 0


# misbehaving clients


def test_plain_http_gets_no_answer_and_counts_as_a_failed_handshake(service):
    before = metric(service, FAILURES, listener="service")
    lines = len(service.log)
    for _ in range(20):
        with Connection(service.api.address) as connection:
            connection.send_tolerantly(request_bytes("GET", "/livez"))
            received = b""
            with contextlib.suppress(ConnectionResetError):
                while octets := connection.socket.recv(4096):
                    received += octets
        assert b"HTTP" not in received
    service.wait_until(lambda: metric(service, FAILURES, listener="service") == before + 20)

    def failed() -> list[dict]:
        new = [json.loads(line) for line in service.log[lines:]]
        return [line for line in new if line["message"] == "TLS handshake failed"]

    # The log is rate limited, and may be written after the count.
    service.wait_until(lambda: len(failed()) >= 10)
    assert len(failed()) == 10
    assert {(line["level"], line["listener"], line["reason"]) for line in failed()} == {
        ("warning", "service", "the client uses plain HTTP")
    }
    assert service.api.get("/livez").status == 200


# The start of a ClientHello of 16 KiB.
HELLO = b"\x16\x03\x01\x40\x00\x01\x00\x3f\xfc"


@pytest.mark.parametrize("said", [b"", HELLO[:3], HELLO + b"x" * 100])
def test_a_stalled_handshake_times_out(service, said):
    before = metric(service, FAILURES, listener="service")
    with Connection(service.api.address) as connection:
        connection.send(said)
        # The client's timeout is fifteen times the service's.
        with contextlib.suppress(ConnectionResetError):
            while connection.socket.recv(4096):
                pass
    service.wait_until(lambda: metric(service, FAILURES, listener="service") == before + 1)


def test_a_slow_handshake_times_out(service):
    before = metric(service, FAILURES, listener="service")
    with Connection(service.api.address) as connection:
        connection.send(HELLO)
        tick = threading.Event()
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            # At this rate, the ClientHello would not be complete in an hour.
            for _ in range(15 * 20):
                tick.wait(0.05)
                connection.socket.sendall(b"x")
            pytest.fail("the service has not closed the connection")
    service.wait_until(lambda: metric(service, FAILURES, listener="service") == before + 1)


def test_a_port_scan_does_not_count_as_failed_handshakes(service):
    before = metric(service, FAILURES, listener="service")
    for _ in range(20):
        Connection(service.api.address).close()
    with Connection(service.api.address) as connection:
        connection.send(HELLO[:4])
    service.wait_until(lambda: metric(service, "assay_connections") <= 1)
    assert metric(service, FAILURES, listener="service") == before


def test_unfinished_handshakes_count_as_connections_until_they_time_out(issuer, authority):
    context = authority.client_context()
    limits = {"max_connections": 2, "request_timeout": "1s"}
    with Service(provider(issuer), service=tls(authority.server_file()), context=context, limits=limits) as service:
        with Connection(service.api.address), Connection(service.api.address):
            service.wait_until(lambda: metric(service, "assay_connections") == 2)
            assert Client(service.api.address, context).get("/livez").code == "overloaded"
            service.wait_until(lambda: metric(service, "assay_connections") == 0)
            assert service.api.get("/livez").status == 200


def test_a_connection_without_close_notify_is_closed(service):
    with service.api.connect() as connection:
        connection.send(request_bytes("GET", "/livez"))
        assert connection.response("GET", "/livez").status == 200
        # Without close_notify, an attacker may have truncated the rest.
        connection.socket.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while connection.socket.recv(4096):
                pass
    service.wait_until(lambda: metric(service, "assay_connections") <= 1)


def test_a_request_before_a_missing_close_notify_is_answered(service):
    for _ in range(5):
        with service.api.connect() as connection:
            # The service then reads the request and the end of the connection together.
            with frozen(service.process.pid):
                connection.send(request_bytes("GET", "/livez"))
                # Python's own socket would drop its TLS state here.
                with socket.socket(fileno=os.dup(connection.socket.fileno())) as plain:
                    plain.shutdown(socket.SHUT_WR)
            assert connection.response("GET", "/livez").status == 200


def test_data_after_the_services_close_notify_is_ignored(issuer, authority):
    """The client may send more data before its own close_notify."""
    context = authority.client_context()
    limits = {"idle_timeout": "1s"}
    with Service(provider(issuer), service=tls(authority.server_file()), context=context, limits=limits) as service:
        with service.api.connect() as connection:
            assert connection.socket.recv(1) == b""
            with contextlib.suppress(ssl.SSLError, BrokenPipeError, ConnectionResetError):
                connection.send(request_bytes("GET", "/openapi.yaml"))
            service.wait_until(lambda: metric(service, "assay_connections") == 0)
        assert metric(service, "assay_http_requests_total", route="/openapi.yaml") == 0


def test_a_stop_does_not_wait_for_silent_clients(issuer, authority):
    context = authority.client_context()
    with Service(provider(issuer), service=tls(authority.server_file()), context=context) as service:
        with service.api.connect() as idle, Connection(service.api.address) as silent:
            service.wait_until(lambda: metric(service, "assay_connections") == 2)
            service.stop()
            assert idle.closed() and silent.closed()


# clients' certificates


@pytest.fixture(scope="module")
def clients(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("clients"), "Clients")


@pytest.fixture(scope="module")
def mutual(issuer, authority, clients):
    listener = tls(authority.server_file(), client_ca_file=str(clients.certificate_file))
    context = authority.client_context(clients.client_file())
    with Service(provider(issuer), service=listener, context=context) as service:
        yield service.wait_until_ready()


def test_a_client_with_a_valid_certificate_is_accepted(mutual, issuer):
    mutual.accept(issuer.token())


def test_a_client_certificate_may_come_from_an_intermediate_ca(mutual, authority, clients, tmp_path):
    intermediate = Authority(tmp_path, "Between", parent=clients)
    context = authority.client_context(intermediate.client_file(sent_along=[intermediate]))
    assert Client(mutual.api.address, context).get("/livez").status == 200


STRANGERS = {
    "none": lambda clients, directory: None,
    "expired": lambda clients, directory: clients.client_file(ends=-HOUR),
    "not yet valid": lambda clients, directory: clients.client_file(begins=HOUR),
    "by another authority": lambda clients, directory: Authority(directory).client_file(),
    "by a namesake of the authority": lambda clients, directory: Authority(directory, "Clients").client_file(),
    "self-signed": lambda clients, directory: Authority(directory, "Clients").client_file(is_self_signed=True),
    "a server's": lambda clients, directory: clients.client_file(usage=ExtendedKeyUsageOID.SERVER_AUTH),
    "by one that is no authority": lambda clients, directory: Authority(
        directory, "A client", parent=clients, is_authority=False
    ).client_file(),
    "by an authority that has expired": lambda clients, directory: (
        lambda between: between.client_file(sent_along=[between])
    )(Authority(directory, "Between", parent=clients, ends=-HOUR)),
}


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_client_without_a_valid_certificate_is_refused(mutual, authority, clients, tmp_path, stranger, version):
    before = metric(mutual, FAILURES, listener="service")
    context = authority.client_context(STRANGERS[stranger](clients, tmp_path))
    context.minimum_version = context.maximum_version = version
    handshake_fails(mutual.api.address, context)
    mutual.wait_until(lambda: metric(mutual, FAILURES, listener="service") == before + 1)


def test_without_client_ca_file_no_client_certificate_is_requested(service, authority, clients):
    context = authority.client_context(clients.client_file())
    assert Client(service.api.address, context).get("/livez").status == 200


# changed files


def names(issued: pathlib.Path) -> int:
    """The certificate's serial number."""
    return x509.load_pem_x509_certificate(issued.read_bytes()).serial_number


def shown(service) -> int:
    """The serial number of the certificate that a new connection receives."""
    with service.api.connect() as connection:
        return x509.load_der_x509_certificate(connection.socket.getpeercert(binary_form=True)).serial_number


def ends(issued: pathlib.Path) -> float:
    return x509.load_pem_x509_certificate(issued.read_bytes()).not_valid_after_utc.timestamp()


def reloads(service, result: str) -> float:
    return metric(service, "assay_tls_reloads_total", listener="service", result=result)


def renamed(directory: pathlib.Path, issued: pathlib.Path) -> None:
    """Replaces the file as certbot and editors do."""
    shutil.copy(issued, directory / "new")
    os.replace(directory / "new", directory / "tls.pem")


def overwritten(directory: pathlib.Path, issued: pathlib.Path) -> None:
    (directory / "tls.pem").write_bytes(issued.read_bytes())


def linked(directory: pathlib.Path, issued: pathlib.Path) -> None:
    """Replaces the file as Kubernetes does: the file is a link through `..data`, which is then changed."""
    version = directory / f"..{names(issued)}"
    version.mkdir()
    shutil.copy(issued, version / "tls.pem")
    (directory / "..data_tmp").symlink_to(version.name)
    os.replace(directory / "..data_tmp", directory / "..data")
    if not (directory / "tls.pem").exists():
        (directory / "tls.pem").symlink_to("..data/tls.pem")


@pytest.mark.parametrize("put", [renamed, overwritten, linked])
def test_a_new_certificate_is_used_without_failing_requests(issuer, authority, tmp_path, put):
    files = [authority.server_file(ends=days) for days in (1, 2, 3)]
    put(tmp_path, files[0])
    context = authority.client_context()
    with Service(provider(issuer), service=tls(tmp_path / "tls.pem"), context=context) as service:
        service.wait_until_ready()
        expiry = "assay_tls_certificate_expiry_timestamp_seconds"
        assert metric(service, expiry, listener="service") == ends(files[0])
        with Load(service.api.address, {"op": [(issuer.token(), None)]}, context=context) as load:
            load.passes("op")
            for count, file in enumerate(files[1:], start=1):
                put(tmp_path, file)
                service.wait_until(lambda file=file: shown(service) == names(file))
                assert metric(service, expiry, listener="service") == ends(file)
                assert (reloads(service, "success"), reloads(service, "failure")) == (count, 0)
                load.passes("op")

        def logged():
            return [entry["expires_at"] for entry in service.entries(message="certificate reloaded", listener="service")]

        service.wait_until(lambda: len(logged()) == len(files) - 1)
        assert logged() == [ends(file) for file in files[1:]]


def key_of(file: pathlib.Path) -> bytes:
    pem = file.read_bytes()
    return pem[: pem.index(b"-----BEGIN CERTIFICATE")]


def certificate_of(file: pathlib.Path) -> bytes:
    return file.read_bytes().removeprefix(key_of(file))


def encrypted(file: pathlib.Path) -> bytes:
    key = serialization.load_pem_private_key(key_of(file), None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"passphrase"),
    )


# The contents of the certificate and key files, and the expected message.
BAD_FILES = {
    "no certificate": (lambda one, other: (b"", key_of(one)), "c.pem: it contains no PEM certificate"),
    "no PEM": (lambda one, other: (b"\x30\x82" * 500, key_of(one)), "c.pem: it contains no PEM certificate"),
    "half a certificate": (
        lambda one, other: (certificate_of(one)[:300], key_of(one)),
        "c.pem: it contains no PEM certificate",
    ),
    "the key first": (lambda one, other: (key_of(one), key_of(one)), "c.pem: it contains no PEM certificate"),
    "no key": (lambda one, other: (certificate_of(one), b""), "k.pem: it contains no PEM private key"),
    "a certificate for a key": (
        lambda one, other: (certificate_of(one), certificate_of(one)),
        "k.pem: it contains no PEM private key",
    ),
    "half a key": (
        lambda one, other: (certificate_of(one), key_of(one)[:100]),
        "k.pem: it contains no PEM private key",
    ),
    "an encrypted key": (lambda one, other: (certificate_of(one), encrypted(one)), "k.pem: the key is encrypted"),
    "another's key": (
        lambda one, other: (certificate_of(one), key_of(other)),
        "k.pem: this is not the key of the certificate in",
    ),
    "a certificate that is gone": (lambda one, other: (None, key_of(one)), "c.pem: there is no such file"),
    "a key that is gone": (lambda one, other: (certificate_of(one), None), "k.pem: there is no such file"),
    "a flood": (lambda one, other: (b"x" * 2_000_000, key_of(one)), "c.pem: the file is larger than"),
}


def put_pair(directory: pathlib.Path, certificate: bytes | None, key: bytes | None) -> dict:
    for name, content in (("c.pem", certificate), ("k.pem", key)):
        (directory / name).unlink(missing_ok=True)
        if content is not None:
            (directory / name).write_bytes(content)
    return {"certificate_file": str(directory / "c.pem"), "key_file": str(directory / "k.pem")}


@pytest.mark.parametrize("fault", BAD_FILES)
def test_an_unusable_file_prevents_the_start_and_is_named(issuer, authority, tmp_path, fault):
    make, message = BAD_FILES[fault]
    one, other = authority.server_file(), authority.server_file()
    for listener in ("service", "admin"):
        settings = {"listen": "127.0.0.1:0", "tls": put_pair(tmp_path, *make(one, other))}
        config = write_config(tmp_path, {listener: settings, "providers": [provider(issuer)]})
        for arguments in (commands.config_check(config), ["serve", "--config", str(config)]):
            result = run(*arguments)
            assert result.returncode == 1, result
            assert message.encode() in result.stderr, result.stderr
            for line in key_of(one).splitlines()[1:-1] + key_of(other).splitlines()[1:-1]:
                assert line not in result.stderr + result.stdout


@pytest.mark.parametrize("content", [None, b"", b"nothing"])
def test_an_unusable_client_ca_file_is_named(issuer, authority, tmp_path, content):
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)
    settings = {"service": tls(authority.server_file(), client_ca_file=str(file)), "providers": [provider(issuer)]}
    result = run(*commands.config_check(write_config(tmp_path, settings)))
    assert result.returncode == 1
    assert str(file).encode() in result.stderr


def test_config_check_accepts_valid_files(issuer, authority, tmp_path):
    file = authority.server_file()
    settings = {"tls": put_pair(tmp_path, certificate_of(file), key_of(file))}
    config = write_config(tmp_path, {"service": settings, "admin": settings, "providers": [provider(issuer)]})
    result = run(*commands.config_check(config))
    assert result.returncode == 0, result


@pytest.mark.parametrize("fault", ["no certificate", "another's key", "a key that is gone", "half a certificate"])
def test_files_that_become_invalid_are_logged_once_and_not_used(issuer, authority, tmp_path, fault):
    make, message = BAD_FILES[fault]
    first, second, third = (authority.server_file() for _ in range(3))
    pair = put_pair(tmp_path, certificate_of(first), key_of(first))
    listener = {"listen": "127.0.0.1:0", "tls": pair}
    with Service(provider(issuer), service=listener, context=authority.client_context()) as service:
        service.wait_until_ready()
        put_pair(tmp_path, *make(second, third))
        entry = service.wait_for_entry(message="certificate can't be reloaded", listener="service")
        assert message in entry["reason"]
        assert shown(service) == names(first)
        service.accept(issuer.token())
        # Between the two writes, the service may read several inconsistent pairs.
        failures = reloads(service, "failure")
        assert failures >= 1
        assert reloads(service, "success") == 0
        put_pair(tmp_path, certificate_of(third), key_of(third))
        service.wait_until(lambda: shown(service) == names(third))
        assert reloads(service, "success") == 1
        failures = reloads(service, "failure")
        service.stop()
        assert len(service.entries(message="certificate can't be reloaded")) == failures


def test_a_changed_client_ca_file_takes_effect(issuer, authority, clients, tmp_path):
    other = Authority(tmp_path, "Others")
    file = tmp_path / "ca.pem"
    shutil.copy(clients.certificate_file, file)
    listener = tls(authority.server_file(), client_ca_file=str(file))
    old, new = (authority.client_context(by.client_file()) for by in (clients, other))
    with Service(provider(issuer), service=listener, context=old) as service:
        service.wait_until_ready()
        handshake_fails(service.api.address, new)
        # Clients can move one by one while both CAs are trusted.
        file.write_bytes(clients.certificate_file.read_bytes() + other.certificate_file.read_bytes())
        service.wait_until(lambda: reloads(service, "success") == 1)
        assert Client(service.api.address, old).get("/livez").status == 200
        assert Client(service.api.address, new).get("/livez").status == 200
        file.write_bytes(other.certificate_file.read_bytes())
        service.wait_until(lambda: reloads(service, "success") == 2)
        assert Client(service.api.address, new).get("/livez").status == 200
        handshake_fails(service.api.address, old)


def test_a_session_cannot_be_resumed_once_its_ca_is_removed(issuer, authority, clients, tmp_path):
    other = Authority(tmp_path, "Others")
    file = tmp_path / "ca.pem"
    shutil.copy(clients.certificate_file, file)
    context = authority.client_context(clients.client_file())
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    listener = tls(authority.server_file(), client_ca_file=str(file))

    def ask(service, session=None):
        with socket.create_connection(("127.0.0.1", int(service.api.address.rsplit(":", 1)[1])), 15) as plain:
            with context.wrap_socket(plain, server_hostname="127.0.0.1", session=session) as speaking:
                return speaking.session

    with Service(provider(issuer), service=listener, context=context) as service:
        session = ask(service)
        file.write_bytes(other.certificate_file.read_bytes())
        service.wait_until(lambda: reloads(service, "success") == 1)
        with pytest.raises((ssl.SSLError, ConnectionResetError)):
            ask(service, session)


def test_an_expired_certificate_is_logged(issuer, authority):
    with Service(provider(issuer), service=tls(authority.server_file(ends=-HOUR))) as service:
        entry = service.wait_for_entry(message="certificate has expired", listener="service")
        assert entry["level"] == "warning"


# clients' names

SPIFFE = "spiffe://example.org/ns/shop/sa/backend"


@pytest.fixture(scope="module")
def narrowed(issuer, authority, clients):
    names = [SPIFFE, "Backend.example.org"]
    listener = tls(authority.server_file(), client_ca_file=str(clients.certificate_file), client_names=names)
    context = authority.client_context(clients.client_file(uris=["urn:x", SPIFFE]))
    with Service(
        provider(issuer), service=listener, admin=listener, context=context, admin_context=context
    ) as service:
        yield service.wait_until_ready()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("listener", ["api", "admin"])
@pytest.mark.parametrize(
    ("host", "uris", "name"),
    [
        ("other.example", [SPIFFE], SPIFFE),
        ("BACKEND.example.org", [], "Backend.example.org"),
        ("client.example", [], None),
        ("a.backend.example.org", [], None),
        ("*.example.org", [], None),
        ("client.example", [SPIFFE + "/x"], None),
        ("client.example", [SPIFFE.upper()], None),
        ("client.example", ["spiffe://example.org"], None),
    ],
)
def test_a_client_must_have_a_configured_name(narrowed, authority, clients, listener, host, uris, name, version):
    context = authority.client_context(clients.client_file(host, uris=uris))
    context.minimum_version = context.maximum_version = version
    address = getattr(narrowed, listener).address
    labels = {"listener": {"api": "service", "admin": "admin"}[listener]}
    if name:
        counted = metric(narrowed, "assay_client_certificate_requests_total", client=name, **labels)
        headers = {"X-Request-Id": f"named-{listener}-{version}-{host}"}
        assert Client(address, context).request("GET", "/nowhere", None, headers).status == 404
        line = narrowed.wait_for_entry(message="request", request_id=headers["X-Request-Id"])
        assert line["client_certificate"] == name
        after = metric(narrowed, "assay_client_certificate_requests_total", client=name, **labels)
        # On the admin listener, reading the metrics counts too.
        assert after >= counted + 1
    else:
        before = metric(narrowed, FAILURES, **labels)
        handshake_fails(address, context)
        narrowed.wait_until(lambda: metric(narrowed, FAILURES, **labels) == before + 1)
        reason = "the client's certificate has none of the names in tls.client_names"
        narrowed.wait_for_entry(message="TLS handshake failed", reason=reason, **labels)


def test_the_name_is_checked_when_a_session_is_resumed(narrowed, authority, clients):
    """The certificate is not sent again. With TLS 1.2, Python resumes sessions at once."""
    context = authority.client_context(clients.client_file(uris=[SPIFFE]))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    host, port = narrowed.api.address.rsplit(":", 1)
    session = None
    for number in range(2):
        with socket.create_connection((host, int(port)), 15) as plain:
            with context.wrap_socket(plain, server_hostname=host, session=session) as connection:
                session = connection.session
                assert connection.session_reused == (number == 1)
                headers = {"X-Request-Id": f"resumed-{number}", "Connection": "close"}
                connection.sendall(request_bytes("GET", "/nowhere", None, headers))
                assert connection.recv(4096).startswith(b"HTTP/1.1 404")
        line = narrowed.wait_for_entry(message="request", request_id=f"resumed-{number}")
        assert line["client_certificate"] == SPIFFE


def test_logs_and_metrics_name_the_client_after_its_certificate(issuer, authority, clients):
    listener = tls(authority.server_file(), client_ca_file=str(clients.certificate_file))
    for uris, name in (["urn:first", "urn:second"], "urn:first"), ([], "client.example"):
        context = authority.client_context(clients.client_file(uris=uris))
        with Service(provider(issuer), service=listener, context=context) as service:
            service.wait_until_ready()
            service.accept(issuer.token())
            line = service.wait_for_entry(message="request", route="/v1/verify")
            assert line["client_certificate"] == name
            assert metric(service, "assay_client_certificate_requests_total", client=name, listener="service") >= 1


@pytest.mark.parametrize(
    ("who", "reason"),
    [
        ("nobody", "the client sent no certificate"),
        ("a stranger", "the client certificate is invalid"),
        ("one who is late", "the client certificate is invalid"),
    ],
)
def test_the_log_says_why_a_handshake_failed(mutual, authority, clients, tmp_path, who, reason):
    file = {
        "nobody": lambda: None,
        "a stranger": lambda: Authority(tmp_path).client_file(),
        "one who is late": lambda: clients.client_file(ends=-HOUR),
    }[who]()
    handshake_fails(mutual.api.address, authority.client_context(file))
    mutual.wait_for(
        lambda: [line for line in mutual.entries(message="TLS handshake failed") if line["reason"].startswith(reason)]
    )


# healthcheck


def test_healthcheck_learns_from_the_settings_that_tls_is_used(issuer, authority, tmp_path):
    # `healthcheck` only checks that the service answers, so it accepts an expired certificate for another name.
    listener = tls(authority.server_file("assay.example", ends=-HOUR))
    with Service(provider(issuer), service=listener) as service:
        address = service.api.address
        settings = {"service": listener | {"listen": address}, "providers": [provider(issuer)]}
        config = write_config(tmp_path, settings)
        healthcheck = ("healthcheck", "--config", str(config), "--service", "--ready")
        service.wait_until(lambda: run(*healthcheck).returncode == 0)
        assert run(*commands.healthcheck(address, "--tls")).returncode == 0
        assert run(*commands.healthcheck(address)).returncode == 1
        assert run(*commands.healthcheck(service.admin.address, "--tls")).returncode == 1


def test_healthcheck_can_present_a_client_certificate(mutual, clients, tmp_path):
    address = mutual.api.address

    def check(file) -> int:
        return run(
            *commands.healthcheck(address, "--tls", "--client-certificate", str(file), "--client-key", str(file))
        ).returncode

    assert check(clients.client_file()) == 0
    assert check(Authority(tmp_path).client_file()) == 1
    assert check(tmp_path / "nothing.pem") == 1
    assert run(*commands.healthcheck(address, "--tls")).returncode == 1
