"""Access control: modes and groups of sockets, listeners without access control, and keys from `assay api-key`."""

import contextlib
import grp
import os
import pathlib
import re
import socket
import stat
import tempfile

import pytest

from harness import commands
from harness.contract import assert_code
from harness.metrics import Metrics
from harness.service import Process, Service, provider, run, write_config
from harness.tokens import ec_key, sha256_hex

DIGEST = sha256_hex("key")


@pytest.fixture
def issuer(server):
    return server.issuer("op", ec_key("access"))


@pytest.fixture
def place():
    """A socket's path in a directory that other users can reach. Pytest makes its own directory inaccessible to them."""
    with tempfile.TemporaryDirectory(prefix="s-") as directory:
        os.chmod(directory, 0o755)
        yield pathlib.Path(directory) / "a.sock"


# sockets


def mode(path: pathlib.Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def connects(path: pathlib.Path, user: int, group: int) -> bool:
    """Whether a process with exactly this user and group can connect."""
    child = os.fork()
    if child == 0:
        # This is a child process: it must not return to the tests.
        outcome = 2
        try:
            os.setgroups([])
            os.setgid(group)
            os.setuid(user)
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
            outcome = 0
        except PermissionError:
            outcome = 1
        finally:
            os._exit(outcome)
    outcome = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert outcome in (0, 1)
    return outcome == 0


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, 0o600), ({"mode": "0660"}, 0o660), ({"mode": "0666"}, 0o666), ({"mode": "700"}, 0o700)],
)
@pytest.mark.parametrize("umask", [0, 0o077])
def test_a_sockets_mode_does_not_depend_on_the_umask(issuer, place, settings, expected, umask):
    usual = os.umask(umask)
    try:
        listener = {"listen": f"unix:{place}"} | ({"socket": settings} if settings else {})
        with Service(provider(issuer), service=listener) as service:
            assert mode(place) == expected
            service.wait_until_ready()
    finally:
        os.umask(usual)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the user")
def test_mode_and_group_decide_who_may_connect_to_a_socket(issuer, place):
    user, group, other = 65501, 65502, 65503
    shared = {"listen": f"unix:{place}", "socket": {"mode": "0660", "group": str(group)}}
    with Service(provider(issuer), service=shared):
        assert place.lstat().st_gid == group
        assert connects(place, user, group)
        assert not connects(place, user, other)
    with Service(provider(issuer), service={"listen": f"unix:{place}"}):
        assert not connects(place, user, os.getegid())
    with Service(provider(issuer), service=shared | {"socket": {"mode": "0666"}}):
        assert connects(place, user, other)


def test_a_sockets_group_may_be_a_name(issuer, place):
    group = grp.getgrgid(os.getegid())
    settings = {"listen": f"unix:{place}", "socket": {"mode": "0660", "group": group.gr_name}}
    with Service(provider(issuer), admin=settings) as service:
        assert (mode(place), place.lstat().st_gid) == (0o660, group.gr_gid)
        assert service.admin.get("/livez").status == 200


def test_an_unknown_group_prevents_the_start(issuer, place, tmp_path):
    listener = {"listen": f"unix:{place}", "socket": {"group": "no-such-group"}}
    config = write_config(tmp_path, {"service": listener, "providers": [provider(issuer)]})
    for arguments in (commands.config_check(config), ["serve", "--config", str(config)]):
        result = run(*arguments)
        assert result.returncode == 1, result
        assert b"no group no-such-group" in result.stderr
    assert not place.exists()


def test_the_socket_of_a_dead_process_is_replaced(issuer, place):
    listener = {"listen": f"unix:{place}"}
    service = Service(provider(issuer), service=listener)
    service.kill()
    assert place.is_socket()
    with Service(provider(issuer), service=listener) as service:
        service.wait_until_ready()
        service.accept(issuer.token())


def serve_fails(issuer, directory: pathlib.Path, listen: str) -> bytes:
    settings = {"service": {"listen": listen}, "admin": {"listen": "127.0.0.1:0"}, "providers": [provider(issuer)]}
    result = run("serve", "--config", str(write_config(directory, settings)))
    assert result.returncode == 1, result
    return result.stderr


def test_the_socket_of_a_running_process_is_not_replaced(issuer, place, tmp_path):
    with Service(provider(issuer), service={"listen": f"unix:{place}"}) as service:
        service.wait_until_ready()
        before = place.lstat()
        assert b"the address is in use" in serve_fails(issuer, tmp_path, f"unix:{place}")
        assert (place.lstat().st_ino, place.lstat().st_mode) == (before.st_ino, before.st_mode)
        service.accept(issuer.token())


def test_a_socket_with_a_full_backlog_is_not_replaced(issuer, place, tmp_path):
    with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as waiting:
        busy.bind(str(place))
        busy.listen(0)
        waiting.connect(str(place))
        assert b"the address is in use" in serve_fails(issuer, tmp_path, f"unix:{place}")
        assert place.is_socket()


@pytest.mark.parametrize("kind", ["file", "directory", "link", "link to nothing", "pipe", "datagrams"])
def test_only_stale_sockets_are_removed(issuer, place, tmp_path, kind):
    target = place.with_name("target")
    held = None
    match kind:
        case "file":
            place.write_text("precious")
        case "directory":
            place.mkdir()
        case "pipe":
            os.mkfifo(place)
        case "link":
            with socket.socket(socket.AF_UNIX) as stale:
                stale.bind(str(target))
            place.symlink_to(target)
        case "link to nothing":
            place.symlink_to(target)
        case "datagrams":
            held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            held.bind(str(place))
    before = place.lstat()
    error = serve_fails(issuer, tmp_path, f"unix:{place}")
    assert (b"the address is in use" if kind == "datagrams" else b"is not a socket") in error
    assert (place.lstat().st_ino, place.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert kind != "link" or target.is_socket()
    if held:
        held.close()


# addresses that other machines can reach

RESTRICTED = {
    "keys": ({"api_keys": [DIGEST]}, {}),
    "keys of its own": ({}, {"api_keys": [DIGEST]}),
    "on purpose": ({"allow_insecure_listen": True}, {}),
}


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
@pytest.mark.parametrize("listener", ["service", "admin"])
def test_a_listener_reachable_from_other_machines_needs_access_control(issuer, tmp_path, listener, address):
    settings = {listener: {"listen": address}, "providers": [provider(issuer)]}
    config = write_config(tmp_path, settings)
    for arguments in (commands.config_check(config), ["serve", "--config", str(config)]):
        result = run(*arguments)
        assert result.returncode == 1, result
        assert f"line 2: {listener}.listen is reachable from other machines".encode() in result.stderr
        assert b"allow_insecure_listen" in result.stderr


@pytest.mark.parametrize(
    ("listener", "how"), [("service", "keys"), ("service", "on purpose"), *(("admin", how) for how in RESTRICTED)]
)
def test_a_listener_with_access_control_may_use_any_address(issuer, listener, how):
    general, own = RESTRICTED[how]
    with Service(provider(issuer), **{listener: {"listen": "0.0.0.0:0"} | own}, **general) as service:
        warnings = [entry["setting"] for entry in service.entries(message="configuration warning")]
        about = {"service": "the service", "admin": "the admin listener"}[listener] + " is reachable from other machines"
        lacking = "without API key or client certificate" if how == "on purpose" else "without TLS"
        assert any(warning.startswith(about) and lacking in warning for warning in warnings), warnings


def test_a_name_that_looks_like_loopback_counts_as_reachable(issuer, tmp_path):
    settings = {"service": {"listen": "127.0.0.1.example.com:80"}, "providers": [provider(issuer)]}
    result = run(*commands.config_check(write_config(tmp_path, settings)))
    assert result.returncode == 1
    assert b"service.listen is reachable from other machines" in result.stderr


# assay api-key


def api_key() -> tuple[str, str]:
    result = run("api-key")
    assert result.returncode == 0, result
    key, digest = re.fullmatch(r"key     ([\w-]{43})\ndigest  ([0-9a-f]{64})\n", result.stdout.decode()).groups()
    return key, digest


def test_a_generated_key_authenticates_callers(issuer):
    key, digest = api_key()
    assert digest == sha256_hex(key)
    with Service(provider(issuer), api_keys=[digest]) as service:
        service.wait_until_ready()
        assert service.verify(issuer.token(), {"Authorization": f"Bearer {key}"}).status == 200
        assert_code(service.verify(issuer.token(), {"Authorization": f"Bearer {key[:-1]}"}), "caller_unauthenticated")


def test_generated_keys_are_unique():
    assert len({api_key() for _ in range(5)}) == 5


# assay healthcheck


def test_healthcheck_calls_the_admin_listener_by_default(issuer, tmp_path):
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        settings = {
            "service": {"listen": "127.0.0.1:1"},
            "admin": {"listen": service.admin.address},
            "providers": [provider(issuer)],
        }
        config = str(write_config(tmp_path, settings))
        assert run("healthcheck", "--config", config, "--ready").returncode == 0
        assert run("healthcheck", "--config", config, "--service").returncode == 1


def test_probes_succeed_while_callers_hold_all_connections(issuer, tmp_path):
    """Otherwise, an orchestrator would restart a healthy instance."""
    with Service(provider(issuer), limits={"max_connections": 4}) as service:
        service.wait_until_ready()
        service.api.close()
        addresses = {
            "service": {"listen": service.api.address},
            "admin": {"listen": service.admin.address},
        }
        config = str(write_config(tmp_path, addresses | {"providers": [provider(issuer)]}))
        with contextlib.ExitStack() as idle:
            # Closed connections may still be counted.
            def is_full() -> bool:
                idle.enter_context(service.api.connect())
                return Metrics(service.admin.get("/metrics").text).value("assay_connections") == 4

            service.wait_until(is_full)
            assert run("healthcheck", "--config", config, "--service").returncode == 1
            assert run("healthcheck", "--config", config).returncode == 0
            assert run("healthcheck", "--config", config, "--ready").returncode == 0


@pytest.mark.parametrize(
    "options",
    [
        ["--service", "--address", "127.0.0.1:1"],
        ["--address", "127.0.0.1:1", "--client-certificate", "/c"],
        ["--address", "127.0.0.1:1", "--client-key", "/k"],
    ],
)
def test_healthcheck_refuses_contradictory_options(options):
    assert run("healthcheck", *options).returncode == 64


def test_healthcheck_reads_the_sockets_path_from_the_settings(issuer, place):
    with Service(provider(issuer), admin={"listen": f"unix:{place}", "socket": {"mode": "0660"}}) as service:
        service.wait_until_ready()
        result = run("healthcheck", "--config", str(service.config), "--ready")
        assert result.returncode == 0, result


def test_dev_listens_on_loopback_only():
    process = Process("dev", "--listen", "127.example.com:0")
    assert process.wait() == 64
