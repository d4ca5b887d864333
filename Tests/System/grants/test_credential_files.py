"""Clients' key files of every kind, and the protection of secrets from core dumps."""

import base64
import os
import pathlib
import resource
import signal
import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat, PublicFormat
from joserfc import jwt
from joserfc.jwk import ECKey

from harness import commands, reload
from harness.service import BINARY, Service, environment, provider, run, write_config
from harness.token_endpoint import TokenEndpoint
from sign_ins.connected import entry

from .grants import SECRET, refresh, with_client

P256, P384 = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP384R1())
RSA, SMALL = rsa.generate_private_key(65537, 2048), rsa.generate_private_key(65537, 1024)


def pem(key, form=PrivateFormat.PKCS8, password: bytes | None = None) -> bytes:
    return key.private_bytes(Encoding.PEM, form, BestAvailableEncryption(password) if password else NoEncryption())


def der(key) -> bytes:
    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def public(key) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


TRADITIONAL = PrivateFormat.TraditionalOpenSSL
# Valid contents of key files, for Apple and for other clients.
GOOD = {
    "as Apple sends it": ("apple", pem(P256).strip()),
    "with Windows line ends": ("apple", pem(P256).replace(b"\n", b"\r\n")),
    "with Windows line ends, and blank lines around": ("apple", b"\r\n" + pem(P256).replace(b"\n", b"\r\n") + b"\r\n\r\n"),
    "RSA": ("private_key_jwt", pem(RSA)),
    "RSA with Windows line ends": ("private_key_jwt", pem(RSA).replace(b"\n", b"\r\n")),
    # Through an environment variable or JSON.
    "line feeds as two characters": ("apple", pem(P256).replace(b"\n", rb"\n")),
    "line ends as four characters": ("apple", pem(P256).replace(b"\n", rb"\r\n")),
    "in quotation marks": ("apple", b'"' + pem(P256).strip() + b'"\n'),
    "in quotation marks, with line feeds as two characters": ("apple", b"'" + pem(P256).replace(b"\n", rb"\n") + b"'"),
    "indented": ("apple", b"".join(b"  \t" + line for line in pem(P256).splitlines(keepends=True))),
    "Ed25519": ("private_key_jwt", pem(ed25519.Ed25519PrivateKey.generate())),
}
BAD = {
    "not there": ("apple", None, "there is no such file"),
    "empty": ("apple", b"", "it holds no private key"),
    "junk": ("apple", b"junk", "it holds no private key"),
    "a public key": ("apple", public(P256), "it holds a public key or a certificate"),
    "in base64 again": ("apple", base64.b64encode(pem(P256)), "encoded in base64 once more; decode it with `base64 -d`"),
    "base64 of the key alone": ("apple", b"\n".join(pem(P256).splitlines()[1:-1]), "it holds only the base64 of a key"),
    "all in one line": ("apple", pem(P256).replace(b"\n", b" "), "are not lines of their own, or one is missing"),
    "without its end": ("apple", pem(P256)[:-30], "are not lines of their own, or one is missing"),
    "backslashes": ("apple", pem(P256).replace(b"\n", b"\\"), "are not lines of their own, or one is missing"),
    "another escape": ("apple", pem(P256)[:60] + rb"\t" + pem(P256)[60:], "the private key is damaged"),
    "encrypted": ("apple", pem(P256, password=b"secret"), "the private key is encrypted"),
    "encrypted, with Windows line ends": (
        "apple", pem(P256, password=b"secret").replace(b"\n", b"\r\n"), "the private key is encrypted"
    ),
    "SEC 1": ("apple", pem(P256, TRADITIONAL), "the format `EC PRIVATE KEY`; PKCS#8 is expected"),
    "DER": ("apple", der(P256), "it is not a PEM file"),
    "another curve": ("apple", pem(P384), "the key is not on the curve P-256"),
    "RSA for Apple": ("apple", pem(RSA), "the key is not on the curve P-256"),
    "damaged": ("apple", pem(P256)[:60] + b"!" + pem(P256)[61:], "the private key is damaged"),
    "two keys": ("apple", pem(P256) + pem(P256), "it holds more than one PEM block"),
    "too large": ("apple", pem(P256) + b" " * 20_000, "larger than 16384 bytes"),
    "PKCS#1": ("private_key_jwt", pem(RSA, TRADITIONAL), "the format `RSA PRIVATE KEY`; PKCS#8 is expected"),
    "PKCS#1, encrypted": ("private_key_jwt", pem(RSA, TRADITIONAL, b"secret"), "PKCS#8 is expected"),
    "1,024 bits": ("private_key_jwt", pem(SMALL), "the RSA key has 1024 bits; at least 2048 are needed"),
}  # fmt: skip


@pytest.fixture
def check(tmp_path):
    """Runs `assay config check` for a client with a key file."""

    def call(auth: str, contents: bytes | None, path: str = "key") -> tuple[int, str]:
        file = tmp_path / path
        if contents is not None:
            file.write_bytes(contents)
            file.chmod(0o600)
        client = {"id": "client", "auth": auth, "key_id": "ABCDE12345", "key_file": str(file)}
        if auth == "apple":
            client["team_id"] = "ABCDE12345"
        settings = {"id": "op", "issuer": "https://op.example", "audiences": ["client"], "clients": [client]}
        ended = run(*commands.config_check(write_config(tmp_path, {"providers": [settings]})))
        text = ended.stdout.decode() + ended.stderr.decode()
        assert "MIG" not in text and "MII" not in text
        return ended.returncode, text

    return call


@pytest.mark.parametrize("name", GOOD)
def test_valid_key_files_are_accepted(check, name):
    status, text = check(*GOOD[name])
    assert status == 0, text


@pytest.mark.parametrize("name", BAD)
def test_an_invalid_key_file_is_reported_with_a_fix(check, name):
    auth, contents, told = BAD[name]
    status, text = check(auth, contents)
    assert status == 1 and "provider op: client client: key_file: " in text and told in text, text


def test_an_unreadable_key_file_is_reported(check, tmp_path):
    (tmp_path / "file").touch()
    for path, told in ((".", "it is not a regular file"), ("file/key", "the file can't be read: Not a directory")):
        status, text = check("apple", None, path)
        assert status == 1 and told in text, text


def test_a_key_file_may_have_windows_line_ends(tmp_path):
    file = tmp_path / "AuthKey_XYZ123ABCD.p8"
    file.write_bytes(GOOD["with Windows line ends"][1])
    ids = ["--team-id", "ABCDE12345", "--key-id", "XYZ123ABCD", "--client-id", "com.example.app"]
    secret = run("apple", "client-secret", "--key-file", str(file), *ids).stdout.decode().strip()
    claims = jwt.decode(secret, ECKey.import_key(public(P256)), algorithms=["ES256"]).claims
    assert claims["sub"] == "com.example.app"


# Core dumps.


@pytest.fixture
def crash(tmp_path, monkeypatch):
    """Crashes a process; returns whether the kernel wrote a core dump."""
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text(encoding="utf-8").strip()
    if "/" in pattern or pattern.startswith("|"):
        pytest.skip("core dumps don't go to the process's directory on this machine")
    monkeypatch.chdir(tmp_path)

    def call(process: subprocess.Popen) -> bool:
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        process.send_signal(signal.SIGABRT)
        _, status = os.waitpid(process.pid, 0)
        assert os.WIFSIGNALED(status)
        process.returncode = -os.WTERMSIG(status)
        files = list(tmp_path.glob(pattern.partition("%")[0] + "*"))
        for file in files:
            file.unlink()
        assert os.WCOREDUMP(status) == bool(files)
        return bool(files)

    return call


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("dumped")


def test_a_service_with_secrets_leaves_no_core_dump(crash, issuer, tmp_path):
    with TokenEndpoint() as endpoint:
        # Without secrets, there is a core dump, so this machine's kernel writes them.
        with Service(provider(issuer), variables={"SWIFT_BACKTRACE": "enable=no"}) as service:
            assert crash(service.process)
        with Service(with_client(issuer, endpoint, tmp_path)) as service:
            service.wait_until_ready()
            assert refresh(service).status == 200 and endpoint.last().basic == ("client", SECRET)
            assert not crash(service.process)
            service.wait()
            # Swift's backtraces would show registers and the memory that they point to.
            assert not any("Registers" in line for line in service.log)
        # A reload adds the first secret.
        with Service(provider(issuer)) as service:
            service.wait_until_ready()
            reload.change(service, with_client(issuer, endpoint, tmp_path))
            assert not crash(service.process)


def test_a_command_with_secrets_leaves_no_core_dump(crash, issuer, tmp_path):
    with TokenEndpoint() as endpoint:
        endpoint.always(lambda call: call.hold())
        config = write_config(tmp_path, {"providers": [with_client(issuer, endpoint, tmp_path)]})
        process = subprocess.Popen([BINARY, *commands.config_check(config), "--live"], env=environment())
        # By now, the command has read the secret and waits for a response.
        endpoint.wait_for(lambda: endpoint.received() == 1)
        assert not crash(process)


def test_a_service_whose_requests_have_secrets_leaves_no_core_dump(crash, issuer, tmp_path):
    without_key = entry(tmp_path)
    without_key["clients"] = {"from": "request", "auth": ["client_secret_post"]}
    with Service(without_key, sign_ins={}) as service:
        service.wait_until_ready()
        assert not crash(service.process)
    # A reload adds the entry.
    with Service(provider(issuer), sign_ins={}) as service:
        service.wait_until_ready()
        reload.change(service, provider(issuer), without_key, sign_ins={})
        assert not crash(service.process)
