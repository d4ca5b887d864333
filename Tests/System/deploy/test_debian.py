"""The Debian package: built, checked by lintian, and installed, used and purged on a machine of its own."""

import hashlib
import json
import os
import pathlib
import re
import subprocess

import pytest

from deploy.machine import Machine
from harness.client import Client
from harness.issuer import KeyServer
from harness.service import BINARY, REPOSITORY, provider
from harness.tokens import ec_key
from harness.yaml import dump

CONTENTS = {
    "./etc/assay/assay.yaml": "-rw-r--r--",
    "./lib/systemd/system/assay.service": "-rw-r--r--",
    "./usr/bin/assay": "-rwxr-xr-x",
    "./usr/share/doc/assay/NOTICE.gz": "-rw-r--r--",
    "./usr/share/doc/assay/changelog.Debian.gz": "-rw-r--r--",
    "./usr/share/doc/assay/changelog.gz": "-rw-r--r--",
    "./usr/share/doc/assay/copyright": "-rw-r--r--",
    "./usr/share/lintian/overrides/assay": "-rw-r--r--",
    "./usr/share/man/man1/assay.1.gz": "-rw-r--r--",
}


def output(*command) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def make(directory: pathlib.Path) -> pathlib.Path:
    """Builds the package, with relative paths and into a directory that does not exist yet."""
    binary = pathlib.Path(BINARY).resolve()
    command = [REPOSITORY / "scripts/debian-package", "--binary", binary.name, os.path.relpath(directory / "new", binary.parent)]
    made = subprocess.run(command, cwd=binary.parent, check=True, stdout=subprocess.PIPE, text=True).stdout
    return pathlib.Path(made.strip())


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return make(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def successor(package, tmp_path_factory):
    """The same package with the next version number."""
    directory = tmp_path_factory.mktemp("successor")
    output("dpkg-deb", "--raw-extract", package, directory / "tree")
    control = directory / "tree/DEBIAN/control"
    control.write_text(re.sub("^Version: .*", "Version: 99-1", control.read_text(), flags=re.MULTILINE))
    output("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", directory / "tree", directory / "next.deb")
    return directory / "next.deb"


def test_lintian_finds_no_fault_and_needs_every_override(package):
    # Its exit code also counts overridden tags.
    found = subprocess.run(
        ["lintian", "--allow-root", "--show-overrides", package], stdout=subprocess.PIPE, text=True, check=False
    ).stdout.splitlines()
    assert [line for line in found if not line.startswith(("N: ", "O: "))] == []
    written = (REPOSITORY / "deploy/debian/lintian-overrides").read_text().splitlines()
    overrides = [line for line in written if not line.startswith("#")]
    for tag, context in (re.fullmatch(r"assay: (\S+) (\w*).*", line).groups() for line in overrides):
        assert any(line.startswith(f"O: assay: {tag} {context}") for line in found), tag


def test_the_package_has_exactly_these_files(package):
    found = [line.split() for line in output("dpkg-deb", "--contents", package).splitlines()]
    assert {entry[1] for entry in found} == {"root/root"}
    assert {entry[5]: entry[0] for entry in found if not entry[0].startswith("d")} == CONTENTS


def test_package_builds_are_reproducible(package, tmp_path):
    assert hashlib.sha256(make(tmp_path).read_bytes()).digest() == hashlib.sha256(package.read_bytes()).digest()


def test_the_packages_version_is_that_of_the_binary(package):
    version = output(BINARY, "--version").split()[1]
    assert output("dpkg-deb", "--field", package, "Version").rsplit("-", 1)[0] == version


def test_the_manual_names_every_command_and_option():
    manual = output(REPOSITORY / "deploy/debian/manual", BINARY)
    plain = re.sub(r"\\(-|&|f.)", lambda match: "-" if match[1] == "-" else "", manual)

    def look(command: dict, path: tuple = ()) -> None:
        for child in command.get("subcommands", []):
            look(child, (*path, child["commandName"]))
        if path and path != ("help",) and not command.get("subcommands"):
            section = plain.split(f".SS {' '.join(path)}\n")[1].split("\n.S")[0]
            for argument in command["arguments"]:
                if argument["kind"] == "positional":
                    assert f".TP\n{argument['valueName']}\n" in section, (path, argument)
                else:
                    name = argument["preferredName"]["name"]
                    assert f".BR --{name}" in section or name in ("version", "help"), (path, name)

    look(json.loads(output(BINARY, "--experimental-dump-help"))["command"])


class Host:
    """A machine with the package's dependencies, on which the package can be installed."""

    def __init__(self, machine: Machine, package: pathlib.Path):
        self.machine = machine
        depends = output("dpkg-deb", "--field", package, "Depends")
        machine.run("apt-get", "satisfy", "--yes", "--quiet", "--no-install-recommends", depends)

    def install(self, package: pathlib.Path) -> None:
        self.machine.path("/root/assay.deb").write_bytes(package.read_bytes())
        self.machine.run("dpkg", "--install", "/root/assay.deb")

    def configure(self, *providers: dict, **settings) -> None:
        """Configures the service as an operator does after the installation, on free ports."""
        usual = {"service": {"listen": "127.0.0.1:0"}, "admin": {"listen": "127.0.0.1:0"}}
        usual |= {"cache_directory": "/var/lib/assay", "providers": list(providers)}
        self.machine.path("/etc/assay/assay.yaml").write_text(dump(usual | settings) + "\n")
        self.machine.run("assay", "config", "check")

    def properties(self, *names: str) -> dict[str, str]:
        shown = self.machine.run("systemctl", "show", "assay", *(f"--property={name}" for name in names))
        return dict(line.split("=", 1) for line in shown.splitlines())

    def state(self) -> tuple[str, str]:
        """Whether the service runs, and whether it is enabled at boot."""
        run = self.machine.run
        return run("systemctl", "is-active", "assay", check=False), run("systemctl", "is-enabled", "assay", check=False)

    def log(self) -> list[dict]:
        """What the running process has logged to the journal."""
        process = self.properties("MainPID")["MainPID"]
        lines = self.machine.run("journalctl", "--output=cat", f"_PID={process}").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def client(self, listener: str = "service") -> Client:
        def address():
            return [entry["address"] for entry in self.log() if entry.get("listener") == listener]

        return Client(self.machine.wait_until(address)[0])

    def accept(self, token: str) -> dict:
        """Verifies a token that must be accepted as soon as there are keys."""
        client = self.client()
        self.machine.wait_until(lambda: client.get("/readyz").status == 200)
        response = client.post("/v1/verify", {"id_token": token})
        assert response.status == 200, response
        return response.json

    def goes_on_with_its_keys(self, issuer) -> None:
        """Asserts that the current process uses archived keys of the previous one, while the provider is down."""
        assert self.accept(issuer.token())["keys"]["source"] == "disk"

    def process_status(self) -> dict[str, str]:
        process = self.properties("MainPID")["MainPID"]
        lines = self.machine.run("cat", f"/proc/{process}/status").splitlines()
        return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


@pytest.fixture(scope="module")
def machine():
    machine = Machine()
    yield machine
    machine.close()


@pytest.fixture(scope="module")
def bare(machine, package):
    return Host(machine, package)


@pytest.fixture
def host(bare, package):
    """A machine with the package installed. It is purged after the test."""
    bare.install(package)
    yield bare
    bare.machine.run("dpkg", "--purge", "assay")


@pytest.fixture
def issuer():
    with KeyServer() as server:
        yield server.issuer("op", ec_key("op"))


@pytest.fixture
def running(host, issuer):
    """A machine on which the service has been configured for the issuer and started."""
    host.configure(provider(issuer))
    host.machine.run("systemctl", "enable", "--now", "assay")
    return host


def provider_fails_once_keys_are_kept(host: Host, issuer) -> None:
    host.accept(issuer.token())
    host.machine.wait_until(lambda: host.machine.run("ls", "/var/lib/assay/") == "oidc.keys")
    issuer.discovery.status = 503


def test_an_installation_starts_nothing(host):
    assert host.state() == ("inactive", "disabled")
    assert "the configuration is valid" in host.machine.run("assay", "config", "check")


def test_an_enabled_service_verifies_tokens_and_archives_keys(running, issuer):
    assert running.state() == ("active", "enabled")
    assert running.accept(issuer.token())["keys"]["source"] == "network"
    provider_fails_once_keys_are_kept(running, issuer)
    running.machine.run("systemctl", "restart", "assay")
    running.goes_on_with_its_keys(issuer)


def test_the_service_runs_as_an_unprivileged_user(running, issuer):
    running.accept(issuer.token())
    status = running.process_status()
    assert int(status["Uid"].split()[0]) not in (0, 65534)
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert running.machine.run("stat", "--format=%a", "/var/lib/private/assay") == "700"
    assert running.properties("MemoryMax") == {"MemoryMax": str(384 * 1024 * 1024)}


def test_the_sandbox_forbids_nothing_that_the_service_needs(running, issuer):
    running.accept(issuer.token())
    assert running.client("admin").get("/metrics").status == 200
    # The tests' settings cause these warnings, because the key server is on loopback without TLS, and no nonce is required.
    deserved = ("(allow_http)", "(allow_private_addresses)", "an access token could pass as an ID Token")
    warnings = [entry for entry in running.log() if entry["level"] not in ("info", "debug")]
    assert [entry for entry in warnings if not any(text in entry.get("setting", "") for text in deserved)] == []


def test_the_service_may_listen_on_a_socket_in_its_runtime_directory(host, issuer):
    host.configure(provider(issuer), service={"listen": "unix:/run/assay/assay.sock"})
    host.machine.run("systemctl", "start", "assay")
    host.machine.wait_until(lambda: host.machine.run("assay", "healthcheck", "--service", "--ready", check=False) == "")
    assert host.machine.run("test", "-S", "/run/assay/assay.sock") == ""
    host.machine.run("systemctl", "stop", "assay")
    assert host.machine.run("sh", "-c", "test -e /run/assay || echo gone") == "gone"


def test_a_socket_may_belong_to_a_supplementary_group(host, issuer):
    host.configure(provider(issuer), service={"listen": "unix:/run/assay/assay.sock"})
    # ExecStartPost runs with the service's privileges.
    give = "until chgrp www-data /run/assay/assay.sock; do sleep 0.1; done"
    host.machine.run("mkdir", "-p", "/run/systemd/system/assay.service.d")
    conf = f"[Service]\nSupplementaryGroups=www-data\nExecStartPost=timeout 10 sh -c '{give}'\n"
    host.machine.run("tee", "/run/systemd/system/assay.service.d/group.conf", stdin=conf)
    host.machine.run("systemctl", "daemon-reload")
    try:
        host.machine.run("systemctl", "start", "assay")
        assert host.machine.run("stat", "--format=%G", "/run/assay/assay.sock") == "www-data"
    finally:
        host.machine.run("rm", "-r", "/run/systemd/system/assay.service.d")
        host.machine.run("systemctl", "daemon-reload")


def test_the_service_gets_secrets_that_only_root_can_read(host, issuer):
    secret = host.machine.path("/etc/assay/secrets/sign-ins.key")
    assert secret.parent.stat().st_mode & 0o777 == 0o700
    secret.write_text(host.machine.run("assay", "key", "new") + "\n")
    secret.chmod(0o600)
    file = "/run/credentials/assay.service/secrets_sign-ins.key"
    host.machine.path("/etc/assay/assay.yaml").write_text(
        dump(
            {
                "service": {"listen": "127.0.0.1:0"},
                "admin": {"listen": "127.0.0.1:0"},
                "providers": [provider(issuer)],
                "sign_ins": {"key_files": [file]},
            }
        )
    )
    try:
        host.machine.run("systemctl", "start", "assay")
        assert host.client().post("/v1/sign-ins", {"provider": "oidc"}).status == 201
        others = host.machine.run("setpriv", "--reuid=65534", "--clear-groups", "cat", file, check=False)
        assert others == ""
    finally:
        secret.unlink()


def test_the_service_starts_without_a_directory_of_secrets(host, issuer):
    host.configure(provider(issuer))
    host.machine.run("rmdir", "/etc/assay/secrets")
    host.machine.run("systemctl", "start", "assay")
    host.accept(issuer.token())


def test_the_environment_file_overrides_settings(host, issuer):
    host.configure(provider(issuer))
    host.machine.path("/etc/default/assay").write_text("ASSAY_LOG_LEVEL=nonsense\n")
    host.machine.run("systemctl", "start", "assay", check=False)
    host.machine.wait_until(
        lambda: "ASSAY_LOG_LEVEL must be" in host.machine.run("journalctl", "--unit=assay", "--output=cat")
    )


def test_a_stop_is_clean(running, issuer):
    running.accept(issuer.token())
    running.machine.run("systemctl", "stop", "assay")
    assert running.properties("Result", "ExecMainCode", "ExecMainStatus") == {
        "Result": "success",
        "ExecMainCode": "1",
        "ExecMainStatus": "0",
    }


def test_a_reload_applies_changed_settings(running, issuer):
    running.accept(issuer.token())
    before = running.properties("MainPID")
    running.configure(provider(issuer), api_keys=["0" * 64])
    running.machine.run("systemctl", "reload", "assay")
    client = running.client()
    running.machine.wait_until(lambda: client.post("/v1/verify", {"id_token": issuer.token()}).status == 401)
    assert running.properties("MainPID") == before


def test_a_killed_service_is_restarted_with_its_keys(running, issuer):
    provider_fails_once_keys_are_kept(running, issuer)
    before = running.properties("MainPID")["MainPID"]
    running.machine.run("systemctl", "kill", "--signal=KILL", "assay")
    running.machine.wait_until(lambda: running.properties("MainPID")["MainPID"] not in ("0", before))
    running.goes_on_with_its_keys(issuer)


def test_invalid_settings_prevent_the_start_until_they_are_fixed(host, issuer):
    file = host.machine.path("/etc/assay/assay.yaml")
    file.write_text("providers: []\n")
    host.machine.run("systemctl", "start", "assay", check=False)
    # systemd keeps trying.
    host.machine.wait_until(lambda: int(host.properties("NRestarts")["NRestarts"]) >= 2)
    host.configure(provider(issuer))
    host.machine.wait_until(lambda: host.state()[0] == "active")
    host.accept(issuer.token())


def test_an_upgrade_keeps_the_settings_and_restarts_a_running_service(running, issuer, successor):
    provider_fails_once_keys_are_kept(running, issuer)
    before = running.properties("MainPID")["MainPID"]
    settings = running.machine.path("/etc/assay/assay.yaml").read_text()
    running.install(successor)
    assert running.machine.path("/etc/assay/assay.yaml").read_text() == settings
    assert running.state() == ("active", "enabled")
    assert running.properties("MainPID")["MainPID"] != before
    running.goes_on_with_its_keys(issuer)


def test_an_upgrade_does_not_start_a_stopped_service(host, successor):
    host.install(successor)
    assert host.state() == ("inactive", "disabled")


def test_a_reinstalled_package_continues_with_its_settings_and_keys(running, issuer, package):
    provider_fails_once_keys_are_kept(running, issuer)
    running.machine.run("dpkg", "--remove", "assay")
    assert running.state()[0] == "inactive"
    assert not running.machine.path("/usr/bin/assay").exists()
    running.install(package)
    running.machine.run("systemctl", "start", "assay")
    assert running.state() == ("active", "enabled")
    running.goes_on_with_its_keys(issuer)


def test_a_purge_leaves_nothing_behind(bare, issuer, package):
    # systemd creates this directory for the first dynamic user and keeps it.
    bare.machine.run("mkdir", "-p", "-m", "700", "/var/lib/private")
    before = bare.machine.files()
    bare.install(package)
    bare.configure(provider(issuer))
    bare.machine.path("/etc/default/assay").write_text("ASSAY_LOG_LEVEL=debug\n")
    bare.machine.run("systemctl", "enable", "--now", "assay")
    bare.accept(issuer.token())
    assert bare.machine.files() > before
    bare.machine.run("dpkg", "--purge", "assay")
    assert bare.state() == ("inactive", "")
    assert bare.machine.files() - {"/root/assay.deb"} == before - {"/root/assay.deb"}
    assert bare.machine.run("dpkg-query", "--list", "assay", check=False) == ""
