"""Writes how the files of a release were made, as an in-toto statement with SLSA provenance 1.0: provenance.py VERSION DIRECTORY

It is not signed; a forge signs it (deploy/ci). It has no times, so the same commit gives the same bytes.
"""

import hashlib
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout.strip()


def main(version: str, directory: str) -> None:
    folder = pathlib.Path(directory)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    subjects = [
        {"name": str(file.relative_to(folder)), "digest": {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}}
        for file in files
    ]
    resolved = json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))["pins"]
    dependencies = [{"uri": "git+assay", "digest": {"gitCommit": output("git", "rev-parse", "HEAD")}}]
    dependencies += [
        {"uri": f"git+{pin['location']}@{pin['state']['version']}", "digest": {"gitCommit": pin["state"]["revision"]}}
        for pin in resolved
    ]
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:assay:scripts/release",
                "externalParameters": {"command": ["scripts/release", version]},
                "internalParameters": {
                    "swift": output("swift", "--version").splitlines()[0],
                    "debian": output("sh", "-c", '. /etc/os-release && echo "$PRETTY_NAME"'),
                    "libssl-dev": output("dpkg-query", "--show", "--showformat=${Version}", "libssl-dev"),
                },
                "resolvedDependencies": dependencies,
            },
            "runDetails": {"builder": {"id": "urn:assay:scripts/release"}},
        },
    }
    (folder / "provenance.intoto.json").write_text(json.dumps(statement, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
