"""Files that grant trust or are secrets: `config check` and the start warn of each that other users can read or write."""

import os

import pytest

from harness import commands
from harness.certificates import Authority
from harness.service import Process, run

READ = "other users, or a group that this process is not in, can read it (mode {})"
WRITE = "its group or other users of this machine can change it (mode {})"
REPLACE = "other users of this machine can replace it, because they can write to {} (mode {})"


@pytest.fixture
def files(tmp_path):
    """A file for each setting that names one, and the settings file. None is exposed."""
    authority = Authority(tmp_path)
    pair = authority.server_file("localhost")
    found = {
        "service.tls.certificate_file": pair.rename(tmp_path / "tls.crt"),
        "service.tls.key_file": tmp_path / "tls.key",
        "service.tls.client_ca_file": authority.certificate_file,
        "tracing.headers_file": tmp_path / "headers",
        "tracing.ca_file": tmp_path / "collector-ca",
        "sign_ins.key_files": tmp_path / "handles.key",
        "sign_ins.store.password_file": tmp_path / "password",
        "sign_ins.store.ca_file": tmp_path / "store-ca",
        "provider p: jwks_file": tmp_path / "keys.json",
        "provider p: network.ca_file": tmp_path / "provider-ca",
        "provider p: clients.secret_file": tmp_path / "secret",
    }
    found["service.tls.key_file"].write_bytes(found["service.tls.certificate_file"].read_bytes())
    for name, file in found.items():
        if name.endswith("ca_file"):
            file.write_bytes(authority.certificate_file.read_bytes())
    found["tracing.headers_file"].write_text("x: y\n")
    found["sign_ins.key_files"].write_bytes(run("key", "new").stdout)
    for name in ("sign_ins.store.password_file", "provider p: clients.secret_file"):
        found[name].write_text("secret\n")
    found["provider p: jwks_file"].write_text('{"keys":[]}')
    found["the settings"] = tmp_path / "assay.yaml"
    found["the settings"].write_text(
        f"""\
service:
  listen: "127.0.0.1:0"
  tls:
    certificate_file: {found["service.tls.certificate_file"]}
    key_file: {found["service.tls.key_file"]}
    client_ca_file: {found["service.tls.client_ca_file"]}
admin: {{ listen: "127.0.0.1:0" }}
tracing:
  otlp_endpoint: "https://127.0.0.1:4318"
  headers_file: {found["tracing.headers_file"]}
  ca_file: {found["tracing.ca_file"]}
sign_ins:
  key_files: [{found["sign_ins.key_files"]}]
  store:
    url: "rediss://127.0.0.1:6379"
    password_file: {found["sign_ins.store.password_file"]}
    ca_file: {found["sign_ins.store.ca_file"]}
providers:
  - id: p
    issuer: https://op.example
    audiences: [a]
    nonce: {{ required: true }}
    jwks_file: {found["provider p: jwks_file"]}
    network: {{ ca_file: {found["provider p: network.ca_file"]} }}
    endpoints: {{ token: "https://op.example/token" }}
    clients:
      - {{ id: a, auth: client_secret_basic, secret_file: {found["provider p: clients.secret_file"]} }}
"""
    )
    for file in found.values():
        file.chmod(0o600)
    return found


def warnings(files) -> list[str]:
    result = run(*commands.config_check(files["the settings"]))
    assert result.returncode == 0, result
    return [line.removeprefix("warning: ") for line in result.stdout.decode().splitlines() if line.startswith("warning: ")]


SECRETS = [
    "service.tls.key_file",
    "tracing.headers_file",
    "sign_ins.key_files",
    "sign_ins.store.password_file",
    "provider p: clients.secret_file",
]


def test_every_file_is_looked_at(files):
    assert warnings(files) == []
    for file in files.values():
        file.chmod(0o644)
    assert sorted(line.split(f": {READ.format(644)}")[0] for line in warnings(files)) == sorted(
        f"{name}: {files[name]}" for name in SECRETS
    )
    for file in files.values():
        file.chmod(0o622)
    assert sorted(line.split(f": {WRITE.format(622)}")[0] for line in warnings(files)) == sorted(
        f"{name}: {file}" for name, file in files.items()
    )


def test_a_group_of_our_own_may_read_a_secret(files):
    files["sign_ins.key_files"].chmod(0o440)
    assert warnings(files) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file to another group")
def test_another_group_may_not(files):
    secret = files["sign_ins.key_files"]
    secret.chmod(0o440)
    os.chown(secret, -1, 54321)
    (warning,) = warnings(files)
    assert warning.startswith(f"sign_ins.key_files: {secret}: {READ.format(440)}")


def test_a_mounted_secret_is_followed_to_its_file(files, tmp_path):
    """Kubernetes: the file is a link to `..data`, which is a link to a directory; the mount itself is sticky."""
    mount, secret = tmp_path / "mount", files["sign_ins.key_files"]
    content = mount / "..2026_11_26"
    content.mkdir(parents=True)
    (mount / "..data").symlink_to(content.name)
    mount.chmod(0o1777)
    target = secret.rename(content / "handles.key")
    secret.symlink_to(mount / "..data" / "handles.key")
    for mode in (0o400, 0o440):
        target.chmod(mode)
        assert warnings(files) == []
    target.chmod(0o444)
    (warning,) = warnings(files)
    assert warning.startswith(f"sign_ins.key_files: {secret}: {READ.format(444)}")
    target.chmod(0o440)
    mount.chmod(0o777)
    (warning,) = warnings(files)
    assert warning.startswith(f"sign_ins.key_files: {secret}: {REPLACE.format(mount, 777)}")


def test_the_start_warns_too(files):
    files["provider p: jwks_file"].chmod(0o666)
    process = Process("serve", "--config", str(files["the settings"]))
    try:
        (warning,) = process.wait_for(lambda: process.entries(message="configuration warning"))
        assert warning["setting"].startswith(f"provider p: jwks_file: {files['provider p: jwks_file']}: {WRITE.format(666)}")
    finally:
        process.kill()
