"""Settings that are commented out in a file. Each must work when its lines are uncommented."""

import collections
import pathlib
import re
import subprocess

from harness.certificates import Authority
from harness.service import run

BEGINNING = re.compile(r"( *)# ((?:- )?[a-z_]+):(?: |$)")


def choices(text: str) -> dict[str, str]:
    """For each commented setting, by name: the file with this setting uncommented, in place of any other of its name.

    Further settings with the same name are numbered.
    """
    lines, found, seen = text.splitlines(), {}, collections.Counter()
    for first, line in enumerate(lines):
        if not (begins := BEGINNING.match(line)):
            continue
        indentation, name = begins.groups()
        more = f"{indentation}#   "
        last = first
        while last + 1 < len(lines) and lines[last + 1].startswith(more):
            last += 1
        chosen = [indentation + line[len(indentation) + 2 :] for line in lines[first : last + 1]]
        others = [lines[:first], lines[last + 1 :]]
        if not name.startswith("- "):
            others = [without(part, name) for part in others]
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} {seen[name]}"] = "\n".join([*others[0], *chosen, *others[1]]) + "\n"
    return found


def without(lines: list[str], name: str) -> list[str]:
    """The lines without those of a top-level setting."""
    kept, inside = [], False
    for line in lines:
        inside = line.startswith(f"{name}:") or (inside and line.startswith((" ", "-")))
        kept += [] if inside else [line]
    return kept


def paths(settings: str) -> list[str]:
    """The files that settings name outside of comments."""
    return re.findall(r"(?<=[ \[])/etc/[^] ,}]+", re.sub(r"^ *#.*", "", settings, flags=re.MULTILINE))


def check(settings: str, directory: pathlib.Path, **variables: str) -> subprocess.CompletedProcess:
    """Runs `assay config check`, with existing files, a digest and a group in place of those in the settings."""
    authority = Authority(directory)
    server = authority.server_file("localhost").read_text()
    contents = {"tls.crt": server, "tls.key": server, "ca.crt": authority.certificate_file.read_text()}
    contents["sign-ins.key"] = run("key", "new").stdout.decode()
    for path in paths(settings):
        file = directory / path.replace("/", "-")
        file.write_text(contents.get(pathlib.Path(path).name, "a-long-enough-secret"))
        file.chmod(0o600)
        settings = settings.replace(path, str(file))
    settings = re.sub(r"<[^<>]*digest[^<>]*>", "5a" * 32, settings)
    # A group that exists on every machine.
    settings = re.sub(r"group: \w+", "group: root", settings)
    (directory / "chosen.yaml").write_text(settings)
    return run("config", "check", "--config", str(directory / "chosen.yaml"), variables=variables)
