"""`deploy/container`: the image contains what the service needs and no more, and runs with minimal privileges."""

import json
import os
import pathlib
import re
import stat
import tarfile

import pytest

from deploy.containers import HARDENED, Container
from harness.client import Client, request_bytes
from harness.contract import assert_code
from harness.issuer import KeyServer
from harness.pages import shell_blocks
from harness.service import REPOSITORY, provider
from harness.tokens import ec_key, jws
from harness.waiting import free_port, poll

MEGABYTE = 1_000_000
# The maximum size of the image and of its parts, in megabytes. Review what has grown before raising it.
SIZES = {
    "usr/local/bin/assay": 26.4,
    "libraries": 3.3,
    "everything else": 0.7,
}
SIZE = 30


@pytest.fixture(scope="module")
def inspected(engine, image):
    return engine.inspect("image", "inspect", image)


@pytest.fixture(scope="module")
def server():
    with KeyServer() as server:
        yield server


@pytest.fixture(scope="module")
def issuer(server):
    return server.issuer("op", ec_key("op"))


@pytest.fixture(scope="module")
def container(engine, image, issuer):
    with Container(engine, image, provider(issuer)) as container:
        yield container


@pytest.fixture(scope="module")
def files(engine, image):
    """The image's files by path, from its only layer."""
    archive = engine.directory / "image.tar"
    engine.output("podman", "save", "--output", str(archive), image)
    with tarfile.open(archive) as outer:
        manifest = json.load(outer.extractfile("manifest.json"))
        layers = [tarfile.open(fileobj=outer.extractfile(name)) for name in manifest[0]["Layers"]]
        found = {}
        for layer in layers:
            for member in layer:
                content = layer.extractfile(member).read() if member.isfile() else b""
                found[member.name.rstrip("/")] = (member, content)
    archive.unlink()
    for path, (member, _) in found.items():
        if member.issym():
            found[path] = (member, found[os.path.normpath(os.path.join(os.path.dirname(path), member.linkname))][1])
    return found


def verify(container, token: str, **members):
    return container.api.post("/v1/verify", {"id_token": token} | members)


def test_the_image_verifies_tokens(container, issuer):
    answer = verify(container, issuer.token(nonce="n-1"), nonce="n-1")
    assert answer.status == 200, answer
    assert answer.json["identity"]["subject"] == "user-1"
    assert_code(verify(container, issuer.token(nonce="n-1"), nonce="n-2"), "nonce_mismatch")
    assert_code(verify(container, jws(ec_key("another"), issuer.claims(), kid="op")), "signature_invalid")
    assert container.admin.get("/metrics").status == 200


def test_the_container_runs_without_privileges(container):
    process = pathlib.Path(f"/proc/{container.state['Pid']}")
    status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines())
    assert status["NSpid"].split()[-1] == "1"
    assert set(status["Uid"].split() + status["Gid"].split()) == {"65532"}
    assert {int(status[f"Cap{of}"], 16) for of in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {0}
    assert status["NoNewPrivs"] == "1"
    mounts = [line.split() for line in (process / "mounts").read_text().splitlines()]
    (root,) = [options for _, place, _, options, *_ in mounts if place == "/"]
    assert "ro" in root.split(",")


def test_64_mib_are_enough(container, issuer, engine):
    assert engine.inspect("inspect", container.id)["HostConfig"]["Memory"] == 64 * 1024 * 1024
    before = container.state
    for number in range(20):
        items = [{"id_token": issuer.token(sub=f"user-{number}-{item}")} for item in range(50)]
        results = container.api.post("/v1/verify/batch", {"items": items}).json["results"]
        assert [result["identity"]["subject"] for result in results] == [f"user-{number}-{item}" for item in range(50)]
        if number % 5 == 0:
            engine.output("podman", "healthcheck", "run", container.id)
    after = container.state
    assert (after["Pid"], after["OOMKilled"]) == (before["Pid"], False)


def test_the_health_check_detects_a_hanging_service(engine, image, issuer):
    with Container(engine, image, provider(issuer)) as container:
        engine.output("podman", "healthcheck", "run", container.id)
        assert container.state["Health"]["Status"] == "healthy"
        container.signal("STOP")
        assert engine.run("podman", "healthcheck", "run", container.id).returncode == 1
        assert "unhealthy: no answer" in container.state["Health"]["Log"][-1]["Output"]


def test_a_stop_finishes_requests_in_flight(engine, image, server):
    old, new = ec_key("old"), ec_key("new")
    issuer = server.issuer("stopping", old)
    with Container(engine, image, provider(issuer), limits={"keys_timeout": "10s"}) as container:
        issuer.rotate(new, old)
        issuer.jwks.hold()
        body = json.dumps({"id_token": issuer.token(sub="parked")}).encode()
        with container.api.connect() as parked:
            parked.send(request_bytes("POST", "/v1/verify", body))
            # Once the fetch has begun, the request is in flight.
            issuer.jwks.wait_for(2)
            container.signal("TERM")
            poll(lambda: container.admin.get("/readyz").status == 503)
            assert container.state["Running"]
            issuer.jwks.release()
            assert parked.response().json["identity"]["subject"] == "parked"
        assert container.wait() == 0


def test_archived_keys_outlive_the_container_in_a_volume(engine, image, server):
    issuer = server.issuer("kept", ec_key("kept"))
    settings = {"options": ("--volume=keys:/var/lib/assay",), "cache_directory": "/var/lib/assay"}
    with Container(engine, image, provider(issuer), **settings) as container:
        assert verify(container, issuer.token()).json["keys"]["source"] == "network"
        kept = pathlib.Path(engine.output("podman", "volume", "inspect", "keys", "--format={{.Mountpoint}}"))
        poll(lambda: list(kept.glob("*.keys")))
        container.signal("TERM")
        assert container.wait() == 0
    issuer.discovery.status = issuer.jwks.status = 503
    with Container(engine, image, provider(issuer), **settings) as container:
        assert verify(container, issuer.token()).json["keys"]["source"] == "disk"


def test_without_settings_the_error_names_the_missing_file(engine, image):
    result = engine.run("podman", "run", "--rm", *HARDENED, image)
    assert result.returncode not in (0, 137, 139)
    assert "there is no settings file at /etc/assay/assay.yaml" in result.stderr


def test_the_image_has_no_other_executables(engine, image, files):
    executable = {path for path, (member, _) in files.items() if member.isfile() and member.mode & 0o111}
    assert {path for path in executable if not re.match(r"lib(64)?/ld-linux", path)} == {"usr/local/bin/assay"}
    assert len(executable) == 2
    scripts = [path for path, (_, content) in files.items() if content.startswith(b"#!")]
    assert scripts == []
    for shell in ("sh", "/bin/sh", "/bin/bash", "/busybox/sh"):
        assert engine.run("podman", "run", "--rm", f"--entrypoint={shell}", image, "-c", ":").returncode == 127


def test_only_root_can_change_the_images_files(files):
    for path, (member, _) in files.items():
        assert member.isfile() or member.isdir() or member.issym(), path
        if path == "var/lib/assay":
            assert (member.uid, member.gid, stat.S_IMODE(member.mode)) == (65532, 65532, 0o700)
            continue
        assert (member.uid, member.gid) == (0, 0), path
        assert not member.mode & (stat.S_ISUID | stat.S_ISGID), path
        assert path == "tmp" or member.issym() or not member.mode & 0o022, path


def test_the_image_contains_no_secrets_or_build_artifacts(files):
    binary = files["usr/local/bin/assay"][1]
    assert b".symtab" not in binary and b".debug_info" not in binary
    assert {path for path in files if path.startswith("etc/")} == {
        "etc/assay",
        "etc/group",
        "etc/nsswitch.conf",
        "etc/os-release",
        "etc/passwd",
        "etc/ssl",
        "etc/ssl/certs",
        "etc/ssl/certs/ca-certificates.crt",
    }


def test_the_image_lists_its_packages_and_licenses(files, engine):
    packages = {path.rsplit("/", 1)[1] for path in files if path.startswith("var/lib/dpkg/status.d/")}
    linked = {"libssl-dev", "libjansson-dev", "libstdc++-12-dev"}
    assert packages == linked | {"libc6", "libgcc-s1", "ca-certificates"}
    for package in packages:
        assert re.search(rb"(?m)^Version: \S+$", files[f"var/lib/dpkg/status.d/{package}"][1]), package
        copyright = files[f"usr/share/doc/{package}/copyright"][1].decode("utf-8", "replace")
        for license in re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", copyright):
            assert f"usr/share/common-licenses/{license}" in files, (package, license)
    assert b"Debian" in files["etc/os-release"][1]
    notices = files["usr/share/doc/assay/THIRD-PARTY-NOTICES"][1].decode()
    parts = [line.split("\t")[:3] for line in engine.output("deploy/parts").splitlines()]
    assert ["swift", "swift-nio"] in [part[:2] for part in parts]
    for kind, name, version in parts:
        line = "Swift's standard library and Foundation" if kind == "runtime" else f"{name} {version}"
        assert re.search(rf"(?m)^{re.escape(line)}$", notices), name
    # Packages that only the tests use.
    assert not re.search(r"(?m)^(Yams|async-http-client) ", notices)
    assert files["usr/share/doc/assay/copyright"][1] == (REPOSITORY / "LICENSE").read_bytes()


def test_the_images_labels_and_settings_are_complete(engine, inspected):
    settings = inspected["Config"]
    assert settings["User"] == "65532:65532"
    assert settings["StopSignal"] == "SIGTERM"
    assert settings["Entrypoint"] == ["/usr/local/bin/assay"]
    assert settings["Cmd"] == ["serve"]
    assert inspected["Healthcheck"]["Test"] == ["CMD", "/usr/local/bin/assay", "healthcheck"]
    assert "Volumes" not in settings or not settings["Volumes"]
    labels = {name.removeprefix("org.opencontainers.image."): text for name, text in settings["Labels"].items()}
    assert labels["title"] == "assay"
    assert labels["licenses"] == "Apache-2.0"
    assert labels["revision"] == engine.output("git", "rev-parse", "HEAD")
    said = engine.output("podman", "run", "--rm", *HARDENED, inspected["Id"], "--version")
    assert said.startswith(f"assay {labels['version']} ")


def test_the_images_size_is_bounded(files):
    sizes = dict.fromkeys(SIZES, 0)
    for path, (member, _) in files.items():
        part = path if path in sizes else "libraries" if path.startswith("lib") else "everything else"
        sizes[part] += member.size
    assert {part: size / MEGABYTE for part, size in sizes.items() if size > SIZES[part] * MEGABYTE} == {}
    assert sum(sizes.values()) < SIZE * MEGABYTE


def test_the_image_is_built_and_started_as_pasted(engine, image):
    """The fixture has built it from the same file, without a registry."""
    [script] = [each for each in shell_blocks("docs/getting-started.md") if each.startswith("docker build")]
    build, start = script.replace("docker ", "podman ").splitlines()
    assert build.replace("podman", "docker") in (REPOSITORY / "deploy/container/Containerfile").read_text()
    engine.output("podman", "tag", image, "localhost/assay:latest")
    port = free_port()
    started = start.replace("127.0.0.1:8080:", f"127.0.0.1:{port}:").replace(":9090:", f":{free_port()}:")
    started = started.replace(":9400:", f":{free_port()}:").replace("run ", "run --detach --name=pasted ")
    engine.output("bash", "-euc", started)
    try:
        poll(lambda: answers(port), timeout=60)
    finally:
        engine.run("podman", "rm", "--force", "--time=0", "pasted")


def answers(port: int) -> bool:
    """A port of a container accepts connections before the service listens."""
    try:
        return Client(f"127.0.0.1:{port}").get("/readyz").status == 200
    except OSError:
        return False


def test_image_builds_are_reproducible(engine, image, inspected):
    again = engine.inspect("image", "inspect", engine.image())
    assert (again["Digest"], again["Id"]) == (inspected["Digest"], inspected["Id"])
