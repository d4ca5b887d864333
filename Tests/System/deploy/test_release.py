"""`scripts/release`: the files of `dist/` are complete and consistent. With ASSAY_DEEP=1, as in `scripts/deep`, it also makes the
release a second time."""

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

from deploy.released import VERSION, deep, output, release
from deploy.roots import PAGE, blocks
from deploy.test_compose import PIPES
from harness.service import REPOSITORY
from harness.waiting import free_port, poll

FILES = {
    "LICENSE",
    "README.md",
    "SHA256SUMS",
    "THIRD-PARTY-NOTICES",
    "apt",
    f"assay-{VERSION}.tgz",
    f"assay-docs-{VERSION}.tar.gz",
    f"assay-kubernetes-{VERSION}.tar.gz",
    "assay-image-linux-amd64.tar",
    "assay-linux-amd64.tar.gz",
    "assay.cdx.json",
    "assay.spdx.json",
    "assay.yaml",
    "clients",
    "compose.yaml",
    "provenance.intoto.json",
}
IMAGE_LIMIT = 30_000_000


def digests(folder: pathlib.Path) -> dict[str, str]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


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
    with tarfile.open(dist / f"assay-docs-{VERSION}.tar.gz") as pages:
        assert set(re.findall(r"\(`(\S+\.html)`\)", readme)) <= set(pages.getnames())


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
        unit = archive.extractfile(f"assay-{VERSION}/assay.service").read().decode()
    names = ["LICENSE", "THIRD-PARTY-NOTICES", "assay", "assay.1", "assay.service", "assay.yaml"]
    assert [member.name for member in members] == [f"assay-{VERSION}", *(f"assay-{VERSION}/{name}" for name in names)]
    assert {(member.uid, member.gid, member.mtime) for member in members} == {(0, 0, epoch)}
    [installed] = re.findall(r"install -m 755 \S+ (\S+)", blocks("Binary")[0])
    assert f"\nExecStart={installed} serve " in unit


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
    parts = [(each["name"], each["version"]) for each in json.loads((dist / "assay.cdx.json").read_text())["components"]]
    assert {"swift-nio", "swift-runtime", "libssl-dev", "libjansson-dev", "libstdc++-12-dev"} <= {name for name, _ in parts}
    for name, version in parts:
        line = "Swift's standard library and Foundation" if name == "swift-runtime" else f"{name} {version}"
        assert re.search(rf"(?m)^{re.escape(line)}(, of Debian)?$", notices), name
    # Packages that only the tests use.
    assert not re.search(r"(?m)^(Yams|async-http-client) ", notices)


def test_each_language_has_its_client(dist):
    """`client_packages` installs the same files."""
    found = {str(file.relative_to(dist / "clients")) for file in (dist / "clients").iterdir()}
    names = {f"assay-client-{VERSION}.{suffix}" for suffix in ("gem", "jar", "pom", "tgz")}
    names |= {f"assay-client-php-{VERSION}.zip", f"assay-client-swift-{VERSION}.tar.gz", f"assay_client-{VERSION}-py3-none-any.whl"}
    assert found == names | {"go-proxy"}


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


def test_the_image_is_an_oci_layout_of_less_than_30_mb(layout):
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


def test_the_compose_file_is_valid(dist):
    services = yaml.safe_load((dist / "compose.yaml").read_text())["services"]
    assert services["assay"]["image"].endswith(f":{VERSION}}}")
    result = subprocess.run(["docker-compose", "config", "--quiet"], cwd=dist, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr


# The apt repository.


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


LANGUAGES = ("python", "typescript", "go", "ruby", "php", "kotlin", "swift")
VERSIONS = {
    "Sources/assay/Commands/AssayCommand.swift",
    "deploy/helm/assay/Chart.yaml",
    "deploy/debian/changelog",
    "clients/python/pyproject.toml",
    "clients/python/src/assay_client/__init__.py",
    "clients/typescript/package.json",
    "clients/ruby/assay-client.gemspec",
    "clients/php/composer.json",
    "clients/kotlin/pom.xml",
    *(f"clients/{language}/README.md" for language in LANGUAGES),
    "docs/installing.md",
    "clients/conformance/go/go.mod",
    "clients/conformance/php/composer.json",
    "docs/getting-started.md",
    "docs/libraries.md",
    "openapi.yaml",
    "deploy/README.md",
    *(f"deploy/{place}/README.md" for place in ("compose", "container", "helm", "kubernetes", "platforms", "systemd")),
    "deploy/compose/image.yaml",
    "deploy/helm/example/Chart.yaml",
    *(f"deploy/platforms/{file}" for file in ("assay.nomad.hcl", "cloud-run.yaml", "ecs-task.json", "fly.toml")),
    *(f"deploy/kubernetes/{place}/{file}.yaml" for place in ("components/sidecar", "base/shared") for file in ("kustomization", "deployment")),
}


def test_a_release_needs_its_version_everywhere():
    done = subprocess.run([REPOSITORY / "scripts/release", "--rehearse", "99.0.0"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert set(done.stderr.splitlines()) == {f"scripts/release: {file} says {VERSION} instead of 99.0.0" for file in VERSIONS}


def test_one_command_writes_the_version_everywhere(tmp_path):
    output("git", "clone", "--quiet", "--shared", REPOSITORY, tmp_path / "checkout")
    shutil.copy(REPOSITORY / "scripts/release", tmp_path / "checkout/scripts/release")
    output(tmp_path / "checkout/scripts/release", "--set", "99.0.0")
    changed = output("git", "-C", tmp_path / "checkout", "diff", "--name-only").splitlines()
    assert set(changed) - {"scripts/release"} == VERSIONS
    done = subprocess.run([tmp_path / "checkout/scripts/release", "99.0.0"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if " says " in line and "CHANGELOG" not in line] == []


def test_a_release_has_three_numbers():
    done = subprocess.run([REPOSITORY / "scripts/release", "99.0.0-rc.1"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "usage: scripts/release [--rehearse|--set] VERSION; VERSION is three numbers, such as 0.2.0; found 99.0.0-rc.1\n"
    )


@deep
def test_a_second_release_has_the_same_bytes(dist):
    before = digests(dist)
    time.sleep(1.1)
    release()
    assert digests(dist) == before
