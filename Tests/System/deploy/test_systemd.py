"""The systemd unit: systemd accepts every line, and rates its exposure as low. `test_debian.py` runs it."""

import pathlib
import shutil
import subprocess

import pytest

from harness.service import REPOSITORY

UNIT = REPOSITORY / "deploy/systemd/assay.service"
# The exposure according to `systemd-analyze security`, in tenths, of at most 100. Most of it is the network.
EXPOSURE = 14


def verify(unit: str, root: pathlib.Path) -> str:
    """The output of `systemd-analyze verify` for a unit's text; empty if it is valid."""
    folder = root / "lib/systemd/system"
    if not folder.exists():
        shutil.copytree("/lib/systemd/system", folder, symlinks=True)
        for command in ("usr/bin/assay", "bin/kill"):
            (root / command).parent.mkdir(parents=True)
            (root / command).touch(0o755)
    (folder / "assay.service").write_text(unit)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", f"--root={root}", "assay.service"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return "\n".join(line for line in done.stdout.splitlines() if "assay" in line)


def exposure_is_at_most(unit: pathlib.Path, tenths: int) -> bool:
    command = ["systemd-analyze", "security", "--offline=yes", f"--threshold={tenths}", unit]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def test_systemd_accepts_every_line(tmp_path):
    assert verify(UNIT.read_text(), tmp_path) == ""


@pytest.mark.parametrize(
    "line, slip",
    [
        ("ProtectSystem=strict", "ProtectSystem=strickt"),
        ("NoNewPrivileges=yes", "NoNewPrivilege=yes"),
        ("ExecReload=/bin/kill", "ExecReload=/bin/kil"),
        ("ExecStart=/usr/bin/assay", "ExecStart=/usr/sbin/assay"),
    ],
)
def test_mistakes_are_detected(tmp_path, line, slip):
    unit = UNIT.read_text()
    assert line in unit
    assert verify(unit.replace(line, slip), tmp_path) != ""


def test_the_units_exposure_is_low():
    assert exposure_is_at_most(UNIT, EXPOSURE)


@pytest.mark.parametrize(
    "line", ["CapabilityBoundingSet=", "SystemCallFilter=~@privileged @resources", "RestrictNamespaces=yes"]
)
def test_a_missing_restriction_is_detected(tmp_path, line):
    lines = UNIT.read_text().splitlines()
    assert line in lines
    unit = tmp_path / "assay.service"
    unit.write_text("\n".join(kept for kept in lines if kept != line) + "\n")
    assert not exposure_is_at_most(unit, EXPOSURE)
