"""Writes what the program contains (deploy/parts --static), as SPDX 2.3 and CycloneDX 1.6: sbom.py VERSION EPOCH DIRECTORY

The same program gives the same bytes.
"""

import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The licences of Debian's packages, as SPDX expressions.
LICENSES = {
    "libssl-dev": "Apache-2.0",
    "libjansson-dev": "MIT",
    "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
}
APACHE = "Apache-2.0"


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def components() -> list[dict]:
    """Name, version, licence, package URL and source of each part, by name."""
    pins = {pin["identity"]: pin for pin in json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))["pins"]}
    found = []
    for line in output(str(ROOT / "deploy/parts"), "--static").splitlines():
        kind, name, version, _ = line.split("\t")
        if kind == "runtime":
            license = f"{APACHE} WITH Swift-exception"
            purl = f"pkg:swift/github.com/swiftlang/swift@{version}"
            source = f"git+https://github.com/swiftlang/swift@swift-{version}-RELEASE"
        elif kind == "swift":
            license = APACHE
            pin = pins[name.lower()]
            location = pin["location"].removesuffix(".git")
            purl = f"pkg:swift/{location.removeprefix('https://')}@{version}"
            source = f"git+{location}@{pin['state']['revision']}"
        else:
            license = LICENSES[name]
            purl = f"pkg:deb/debian/{name}@{version}?arch={output('dpkg', '--print-architecture')}&distro=bookworm"
            purl = purl.replace("+", "%2B")
            package, its_version = output("dpkg-query", "--show", "--showformat=${source:Package} ${source:Version}", name).split()
            source = f"https://snapshot.debian.org/package/{package}/{its_version}/"
        found.append({"name": name, "version": version, "license": license, "purl": purl, "source": source})
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


def main(version: str, epoch: str, directory: str) -> None:
    parts = components()
    time = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    for name, make in (("spdx", spdx), ("cdx", cyclonedx)):
        text = json.dumps(make(version, time, parts), indent=2) + "\n"
        (pathlib.Path(directory) / f"assay.{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
