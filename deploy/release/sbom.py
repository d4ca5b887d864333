"""Writes what the program contains, as SPDX 2.3 and CycloneDX 1.6: sbom.py VERSION EPOCH OBJECTS DIRECTORY

OBJECTS is the linker's list of object files (Objects.LinkFileList). The Swift packages are those with a module in it, at their resolved
versions; the libraries are those of this Debian that scripts/static links. The same program gives the same bytes.
"""

import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECKOUTS = ROOT / ".build/checkouts"
# Debian's packages from which scripts/static links, with their licences as SPDX expressions.
LIBRARIES = {
    "libssl-dev": "Apache-2.0",
    "libjansson-dev": "MIT",
    "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
}
APACHE = "Apache-2.0"


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def linked_packages(objects: pathlib.Path) -> set[str]:
    """The checkouts of which a module is linked."""
    modules = set(re.findall(r"/(\w+)\.build/", objects.read_text(encoding="utf-8")))
    found = set()
    for package in CHECKOUTS.iterdir():
        if modules & {each.name for each in (package / "Sources").iterdir() if each.is_dir()}:
            found.add(package.name)
    return found


def components(objects: pathlib.Path) -> list[dict]:
    """Name, version, licence, package URL and source of each part, by name."""
    linked = {name.lower() for name in linked_packages(objects)}
    found = []
    for pin in json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))["pins"]:
        if pin["identity"] in linked:
            version, location = pin["state"]["version"], pin["location"].removesuffix(".git")
            purl = f"pkg:swift/{location.removeprefix('https://')}@{version}"
            source = f"git+{location}@{pin['state']['revision']}"
            name = location.rpartition("/")[2]
            found.append({"name": name, "version": version, "license": APACHE, "purl": purl, "source": source})
    swift = re.search(r"Swift version (\S+)", output("swift", "--version"))[1]
    source = f"git+https://github.com/swiftlang/swift@swift-{swift}-RELEASE"
    license = f"{APACHE} WITH Swift-exception"
    purl = f"pkg:swift/github.com/swiftlang/swift@{swift}"
    found.append({"name": "swift-runtime", "version": swift, "license": license, "purl": purl, "source": source})
    for package, license in LIBRARIES.items():
        query = "${source:Package} ${source:Version} ${Version}"
        name, source_version, version = output("dpkg-query", "--show", f"--showformat={query}", package).split()
        purl = f"pkg:deb/debian/{package}@{version}?arch={output('dpkg', '--print-architecture')}&distro=bookworm"
        purl = purl.replace("+", "%2B")
        source = f"https://snapshot.debian.org/package/{name}/{source_version}/"
        found.append({"name": package, "version": version, "license": license, "purl": purl, "source": source})
    return sorted(found, key=lambda each: each["name"])


def identifier(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", text)


def spdx(version: str, time: str, parts: list[dict]) -> dict:
    def package(name: str, version: str, license: str, source: str, purl: str) -> dict:
        return {
            "SPDXID": f"SPDXRef-{identifier(name)}",
            "name": name,
            "versionInfo": version,
            "downloadLocation": source,
            "filesAnalyzed": False,
            "licenseConcluded": license,
            "licenseDeclared": license,
            "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}],
        }

    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-assay")]
    relations += [("SPDXRef-assay", "CONTAINS", f"SPDXRef-{identifier(part['name'])}") for part in parts]
    packages = [package("assay", version, APACHE, "NOASSERTION", f"pkg:generic/assay@{version}")]
    packages += [package(part["name"], part["version"], part["license"], part["source"], part["purl"]) for part in parts]
    # Names the content, so that the same document has the same name.
    content = hashlib.sha256(json.dumps(packages).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"assay-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/assay-{version}-{content}",
        "creationInfo": {"created": time, "creators": ["Tool: assay-scripts-release"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations
        ],
    }


def cyclonedx(version: str, time: str, parts: list[dict]) -> dict:
    root = {"type": "application", "bom-ref": "assay", "name": "assay", "version": version}
    root |= {"purl": f"pkg:generic/assay@{version}", "licenses": [{"license": {"id": APACHE}}]}
    entries = [
        {
            "type": "library",
            "bom-ref": part["purl"],
            "name": part["name"],
            "version": part["version"],
            "licenses": [{"expression": part["license"]}],
            "purl": part["purl"],
            "externalReferences": [{"type": "vcs" if part["source"].startswith("git+") else "distribution", "url": part["source"]}],
        }
        for part in parts
    ]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"timestamp": time, "component": root},
        "components": entries,
        "dependencies": [{"ref": "assay", "dependsOn": [entry["bom-ref"] for entry in entries]}],
    }


def main(version: str, epoch: str, objects: str, directory: str) -> None:
    parts = components(pathlib.Path(objects))
    time = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    for name, make in (("spdx", spdx), ("cdx", cyclonedx)):
        text = json.dumps(make(version, time, parts), indent=2) + "\n"
        (pathlib.Path(directory) / f"assay.{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
