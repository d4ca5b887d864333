"""`scripts/release`: the files of `dist/` are complete and consistent, and install as `docs/installing.md` says.

With ASSAY_DEEP=1, as in `scripts/deep`, it also makes the release a second time, and tries the binary and the package on every
release of Debian that the page names.
"""

import contextlib
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import time

import pytest
import yaml

from deploy.containers import Engine
from deploy.roots import PAGE, Root, blocks
from deploy.test_compose import PIPES
from harness.service import REPOSITORY, run
from harness.waiting import free_port, poll

DIST = REPOSITORY / "dist"
VERSION = run("--version").stdout.decode().split()[1]
FILES = {
    "LICENSE",
    "README.md",
    "SHA256SUMS",
    "THIRD-PARTY-NOTICES",
    "apt",
    f"assay-{VERSION}.tgz",
    "assay-image-linux-amd64.tar",
    "assay-linux-amd64.tar.gz",
    "assay.cdx.json",
    "assay.spdx.json",
    "assay.yaml",
    "compose.yaml",
    "provenance.intoto.json",
}
IMAGE_LIMIT = 31_900_000
deep = pytest.mark.skipif("ASSAY_DEEP" not in os.environ, reason="takes minutes; scripts/deep runs it")


def output(*command, **options) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY, **options).stdout.strip()


def release() -> None:
    output("scripts/release", "--rehearse", VERSION, timeout=600)


def digests(folder: pathlib.Path) -> dict[str, str]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.fixture(scope="module")
def dist():
    release()
    return DIST


@pytest.fixture(scope="module")
def binary(dist, tmp_path_factory):
    """The binary in the archive."""
    directory = tmp_path_factory.mktemp("archive")
    with tarfile.open(dist / "assay-linux-amd64.tar.gz") as archive:
        archive.extractall(directory, filter="data")
    return directory / f"assay-{VERSION}/assay"


# The files.


def test_the_files_are_those_of_the_page(dist):
    assert {file.name for file in dist.iterdir()} == FILES
    page = PAGE.read_text()
    assert [name for name in FILES - {"LICENSE", "README.md"} if name not in page] == []
    assert VERSION in page
    readme = (dist / "README.md").read_text()
    assert all(block in readme for heading in ("Binary", "Debian package") for block in blocks(heading))
    assert not re.search(r"\]\((?!#|http)", readme)


def test_every_file_has_its_sum(dist):
    sums = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text().splitlines())
    found = digests(dist)
    del found["SHA256SUMS"]
    assert sums == found
    statement = json.loads((dist / "provenance.intoto.json").read_text())
    del found["provenance.intoto.json"]
    assert {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]} == found
    commit = output("git", "rev-parse", "HEAD")
    dependencies = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert dependencies[0]["digest"]["gitCommit"] == commit


def test_the_archive_has_the_binary_and_what_goes_with_it(dist):
    epoch = int(output("git", "log", "-1", "--format=%ct"))
    with tarfile.open(dist / "assay-linux-amd64.tar.gz") as archive:
        members = archive.getmembers()
    names = ["LICENSE", "THIRD-PARTY-NOTICES", "assay", "assay.1", "assay.service", "assay.yaml"]
    assert [member.name for member in members] == [f"assay-{VERSION}", *(f"assay-{VERSION}/{name}" for name in names)]
    assert {(member.uid, member.gid, member.mtime) for member in members} == {(0, 0, epoch)}


def test_the_binary_needs_only_glibc(binary):
    needed = set(re.findall(r"NEEDED.*\[(.*?)\.so", output("readelf", "--dynamic", "--wide", binary)))
    assert needed <= {"libc", "libm", "libdl", "libpthread", "libutil", "libgcc_s", "ld-linux-x86-64"}
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", output("objdump", "--dynamic-syms", binary))
    assert max((int(major), int(minor)) for major, minor in versions) <= (2, 31)
    content = binary.read_bytes()
    assert str(REPOSITORY).encode() not in content
    assert b".symtab" not in content and b".debug_info" not in content
    assert VERSION in output(binary, "--version")


def test_the_licences_are_complete(dist):
    notices = (dist / "THIRD-PARTY-NOTICES").read_text()
    for name in ("swift-nio", "Swift's standard library and Foundation", "libssl-dev", "libjansson-dev", "libstdc++-12-dev"):
        assert re.search(rf"(?m)^{re.escape(name)}( \S+(, of Debian)?)?$", notices), name


# The lists of parts.


def test_both_lists_name_the_same_parts(dist):
    spdx = json.loads((dist / "assay.spdx.json").read_text())
    cyclonedx = json.loads((dist / "assay.cdx.json").read_text())
    parts = {(each["name"], each["versionInfo"]) for each in spdx["packages"]} - {("assay", VERSION)}
    assert parts == {(each["name"], each["version"]) for each in cyclonedx["components"]}
    names = {name for name, _ in parts}
    assert {"swift-nio", "swift-nio-ssl", "swift-argument-parser", "swift-runtime", "libssl-dev", "libjansson-dev"} <= names
    # Packages that only the tests use.
    assert not {"Yams", "async-http-client"} & names
    pins = dict(line.split()[:2] for line in (REPOSITORY / "Package.versions").read_text().splitlines())
    assert {name: version for name, version in parts if name in pins}.items() <= pins.items()


def test_the_lists_are_well_formed(dist):
    spdx = json.loads((dist / "assay.spdx.json").read_text())
    identifiers = [each["SPDXID"] for each in spdx["packages"]]
    assert len(identifiers) == len(set(identifiers))
    assert all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", each) for each in identifiers)
    assert {each["relatedSpdxElement"] for each in spdx["relationships"]} == set(identifiers)
    cyclonedx = json.loads((dist / "assay.cdx.json").read_text())
    references = {each["bom-ref"] for each in cyclonedx["components"]}
    assert set(cyclonedx["dependencies"][0]["dependsOn"]) == references
    assert all(each["purl"].startswith("pkg:") for each in cyclonedx["components"])


# The image.


@pytest.fixture(scope="module")
def layout(dist):
    """The files of the image's archive."""
    with tarfile.open(dist / "assay-image-linux-amd64.tar") as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


def blob(layout: dict, descriptor: dict) -> bytes:
    algorithm, digest = descriptor["digest"].split(":")
    content = layout[f"blobs/{algorithm}/{digest}"]
    assert (hashlib.sha256(content).hexdigest(), len(content)) == (digest, descriptor["size"])
    return content


def test_the_image_is_an_oci_layout_of_less_than_32_mb(layout):
    assert json.loads(layout["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    [descriptor] = json.loads(layout["index.json"])["manifests"]
    manifest = json.loads(blob(layout, descriptor))
    config = json.loads(blob(layout, manifest["config"]))
    layers = [gzip.decompress(blob(layout, each)) for each in manifest["layers"]]
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(each).hexdigest()}" for each in layers]
    sizes = [member.size for layer in layers for member in tarfile.open(fileobj=io.BytesIO(layer))]
    assert sum(sizes) < IMAGE_LIMIT
    assert config["config"]["User"] == "65532:65532"
    assert config["config"]["Healthcheck"]["Test"] == ["CMD", "/usr/local/bin/assay", "healthcheck"]
    assert config["config"]["Labels"]["org.opencontainers.image.version"] == VERSION
    [docker] = json.loads(layout["manifest.json"])
    assert docker["RepoTags"] == [f"localhost/assay:{VERSION}"]
    assert {docker["Config"], *docker["Layers"]} <= set(layout)


@pytest.fixture(scope="module")
def engine(dist):
    """An engine with the release's image."""
    with Engine() as engine:
        engine.output("podman", "load", "--input", str(dist / "assay-image-linux-amd64.tar"))
        yield engine


def test_the_loaded_image_has_the_name_of_the_page(engine):
    said = engine.output("podman", "run", "--rm", "--network=none", f"localhost/assay:{VERSION}", "--version")
    assert said.startswith(f"assay {VERSION} ")


def test_compose_starts_from_the_image_to_a_verified_token(dist, engine, tmp_path):
    socket = engine.directory / "podman.sock"
    ports = {port: free_port() for port in (8080, 9090, 9400)}
    text = (dist / "compose.yaml").read_text()
    for port, free in ports.items():
        text = text.replace(f"127.0.0.1:{port}:{port}", f"127.0.0.1:{free}:{port}")
    (tmp_path / "compose.yaml").write_text(text)
    shutil.copy(dist / "assay.yaml", tmp_path)
    environment = engine.environment | {"DOCKER_HOST": f"unix://{socket}", "COMPOSE_PROJECT_NAME": "released"}
    podman = subprocess.Popen(["podman", "system", "service", "--time=0", f"unix://{socket}"], env=engine.environment, **PIPES)
    try:
        poll(socket.exists)
        up = ["docker-compose", "up", "--detach", "dev"]
        subprocess.run(up, cwd=tmp_path, env=environment, check=True, timeout=120, capture_output=True)
        [script] = blocks("Verify a first token")
        for port, free in ports.items():
            script = script.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free}")

        def verified():
            done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30, check=False)
            with contextlib.suppress(ValueError):
                return json.loads(done.stdout).get("identity")

        assert poll(verified, timeout=60)["provider"] == "apple"
    finally:
        engine.run("podman", "rm", "--all", "--force", "--time=0")
        podman.terminate()
        podman.communicate(timeout=15)


def test_the_compose_file_is_valid(dist):
    services = yaml.safe_load((dist / "compose.yaml").read_text())["services"]
    assert services["assay"]["image"].endswith(f":{VERSION}}}")
    result = subprocess.run(["docker-compose", "config", "--quiet"], cwd=dist, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr


# Installing it.

# Starts the stand-ins, verifies a token as the page says, and ends them.
WALK = """
assay dev > /tmp/dev.log 2>&1 & started=$!
for attempt in $(seq 100); do curl -sf -o /dev/null http://127.0.0.1:8080/readyz && break; sleep 0.2; done
{}
kill $started; wait $started
"""


def walk(root: Root, dist: pathlib.Path) -> None:
    [install] = blocks("Binary")
    [verify] = blocks("Verify a first token")
    printed = root.run(dist, install + WALK.format(verify), alone=True)
    assert printed.startswith(f"assay {VERSION} ")
    assert json.loads(printed[printed.index("{") :])["identity"]["provider"] == "apple"


def apt(root: Root, dist: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Installs the package as the page says, upgrades it, goes back, and removes it."""
    [install] = blocks("Debian package")
    successor = tmp_path / "apt-dist"
    [package] = dist.glob("apt/pool/main/a/assay/*.deb")
    tree = tmp_path / "tree"
    output("dpkg-deb", "--raw-extract", package, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub("^Version: .*", "Version: 99-1", control.read_text(), flags=re.MULTILINE))
    output("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, tmp_path / "assay_99-1_amd64.deb")
    output("scripts/apt-repository", package, tmp_path / "assay_99-1_amd64.deb", successor)
    shutil.copytree(successor / "apt", dist_with(tmp_path, dist) / "newer")
    version = "dpkg-query --show --showformat='${Version}\\n' assay"
    script = f"""
{install}
assay --version
{version}
cp -r newer/. /srv/assay-apt && apt-get update && apt-get upgrade --yes && {version}
apt-get install --yes --allow-downgrades assay={VERSION}-1 && {version}
apt-get remove --yes assay && test ! -e /usr/bin/assay && test -e /etc/assay/assay.yaml
apt-get purge --yes assay && test ! -e /etc/assay/assay.yaml && echo purged
"""
    printed = root.run(dist_with(tmp_path, dist), script)
    assert [line for line in printed.splitlines() if re.fullmatch(r"\d[\d.]*-1|purged", line)] == [
        f"{VERSION}-1",
        "99-1",
        f"{VERSION}-1",
        "purged",
    ]


def dist_with(tmp_path: pathlib.Path, dist: pathlib.Path) -> pathlib.Path:
    """A copy of dist, to which files may be added."""
    copied = tmp_path / "dist"
    if not copied.exists():
        shutil.copytree(dist, copied)
    return copied


def test_debian_12_runs_the_binary_and_installs_the_package(dist, tmp_path):
    with Root("bookworm", "curl") as root:
        walk(root, dist)
        root.run(dist, "rm /usr/local/bin/assay")
        apt(root, dist, tmp_path)


@deep
def test_debian_13_runs_the_binary_and_installs_the_package(dist, tmp_path):
    with Root("trixie", "curl") as root:
        walk(root, dist)
        root.run(dist, "rm /usr/local/bin/assay")
        apt(root, dist, tmp_path)


@deep
def test_debian_11_runs_the_binary(dist):
    with Root("bullseye", "curl") as root:
        walk(root, dist)


def test_apt_checks_a_signed_repository(dist, tmp_path, monkeypatch):
    monkeypatch.setenv("GNUPGHOME", str(tmp_path / "gpg"))
    (tmp_path / "gpg").mkdir(mode=0o700)
    address = "releases@example.com"
    output("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", address, "default", "sign", "never")
    [package] = dist.glob("apt/pool/main/a/assay/*.deb")
    output("scripts/apt-repository", package, tmp_path, env=os.environ | {"ASSAY_APT_KEY": address})

    def update(more: str = "") -> subprocess.CompletedProcess:
        state = tmp_path / "state"
        shutil.rmtree(state, ignore_errors=True)
        (state / "lists/partial").mkdir(parents=True)
        (state / "sources").write_text(f"deb [signed-by={tmp_path}/apt/assay.asc] file:{tmp_path}/apt stable main\n")
        options = [f"Dir::State={state}", f"Dir::Etc::SourceList={state}/sources", "Dir::Etc::SourceParts=/dev/null"]
        options += [f"Dir::Cache={state}", "APT::Sandbox::User=root"]
        return subprocess.run(["apt-get", "update", *(f"-o{each}" for each in options)], capture_output=True, text=True, check=False)

    assert "W:" not in update().stderr
    signed = tmp_path / "apt/dists/stable/InRelease"
    signed.write_text(signed.read_text().replace("Origin: Assay", "Origin: Other"))
    assert update().returncode != 0
    output("gpgconf", "--kill", "all")


# Publishing it.


@pytest.fixture
def registry(tmp_path):
    """The address of a registry on loopback, with a path."""
    port = free_port()
    settings = {"version": "0.1", "storage": {"filesystem": {"rootdirectory": str(tmp_path / "registry")}}, "http": {"addr": f"127.0.0.1:{port}"}}
    (tmp_path / "registry.yaml").write_text(json.dumps(settings))
    process = subprocess.Popen(["docker-registry", "serve", tmp_path / "registry.yaml"], **PIPES)
    try:
        poll(lambda: subprocess.run(["curl", "--silent", f"http://127.0.0.1:{port}/v2/"], check=False, capture_output=True).returncode == 0)
        yield f"127.0.0.1:{port}/identity"
    finally:
        process.terminate()
        process.communicate(timeout=15)


def test_image_and_chart_are_pushed(dist, layout, registry, tmp_path):
    image = output("scripts/publish", "--plain-http", registry)
    [manifest] = json.loads(layout["index.json"])["manifests"]
    assert image == f"{registry}/assay@{manifest['digest']}"
    helm = REPOSITORY / ".venv/bin/helm"
    output(helm, "pull", "--plain-http", f"oci://{registry}/charts/assay", "--version", VERSION, "--destination", tmp_path)
    assert (tmp_path / f"assay-{VERSION}.tgz").read_bytes() == (dist / f"assay-{VERSION}.tgz").read_bytes()


# Making it.


def test_a_release_needs_its_version_everywhere():
    done = subprocess.run([REPOSITORY / "scripts/release", "99.0.0"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"AssayCommand.swift says {VERSION} instead of 99.0.0" in done.stderr


@deep
def test_a_second_release_has_the_same_bytes(dist):
    before = digests(dist)
    time.sleep(1.1)
    release()
    assert digests(dist) == before
