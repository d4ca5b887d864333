"""Bare Debian installations, in which a release's files are tried as its page says."""

import pathlib
import re
import shutil
import subprocess
import tempfile

from harness.service import REPOSITORY

PAGE = REPOSITORY / "docs/installing.md"
# Runs a script in a root, with a directory at /dist, which it may change without changing ours. Nothing else is mounted outside.
ENTER = """
root=$1 dist=$2
mkdir -p "$root/dist" "$root/proc" "$root/dev"
mount -t tmpfs tmpfs "$root/dist" && cp -r "$dist/." "$root/dist"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
if [ -n "$3" ]; then ip link set lo up; fi
exec chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \\
    bash -euo pipefail -c "cd /dist; $4"
"""


def blocks(heading: str, language: str = "sh") -> list[str]:
    """The blocks below a heading of the page: its shell commands, or those in another language."""
    [section] = re.findall(rf"(?ms)^## {heading}\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"))
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", section)


class Root:
    """A minimal installation of a release of Debian."""

    def __init__(self, release: str, *packages: str):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="assay-root-"))
        mirror = subprocess.run([REPOSITORY / "scripts/debian-mirror"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        # Without syncing every file to disk.
        quick = ["--dpkgopt=force-unsafe-io", "--skip=cleanup/apt"]
        command = ["mmdebstrap", "--quiet", "--variant=minbase", *quick, f"--include={','.join(packages)}"]
        try:
            subprocess.run([*command, release, self.directory / "root", f"deb {mirror} {release} main"], check=True)
        except BaseException:
            self.close()
            raise

    def run(self, dist: pathlib.Path, script: str, alone: bool = False) -> str:
        """Runs commands as root, in a copy of dist; returns what they print. `alone`: without this machine's network."""
        unshare = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", *(["--net"] if alone else [])]
        command = [*unshare, "bash", "-euc", ENTER, "bash", self.directory / "root", dist, "alone" if alone else "", script]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def close(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
