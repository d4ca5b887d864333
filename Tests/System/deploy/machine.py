"""A Debian machine in a directory: a minimal installation of this machine's release, with systemd, booted by
systemd-nspawn.

It shares this machine's network, so that it can reach the tests' key servers, and the tests its services. Its files, about
400 MB, are in memory, because dpkg syncs every file to disk.
"""

import os
import pathlib
import platform
import shutil
import signal
import socket
import subprocess
import tempfile

from harness.service import REPOSITORY
from harness.waiting import poll

DEADLINE = 60


class Machine:
    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="assay-machine-"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1g,mode=755", "tmpfs", self.directory], check=True)
        self.root = self.directory / "root"
        # May contain only letters, digits and hyphens, unlike a temporary directory's name.
        self._name = f"assay-{os.getpid()}"
        self._nspawn: subprocess.Popen | None = None
        try:
            self._install()
            self._boot()
        except BaseException:
            self.close()
            raise

    def _install(self) -> None:
        release = platform.freedesktop_os_release()["VERSION_CODENAME"]
        # Keeps the package lists for later installations.
        command = ["mmdebstrap", "--quiet", "--variant=minbase", "--include=systemd-sysv", "--skip=cleanup/apt"]
        mirror = subprocess.run([REPOSITORY / "scripts/debian-mirror"], check=True, stdout=subprocess.PIPE, text=True).stdout
        subprocess.run([*command, release, str(self.root), mirror.strip()], check=True)

    def _boot(self) -> None:
        environment = dict(os.environ)
        if not os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            environment["SYSTEMD_NSPAWN_UNIFIED_HIERARCHY"] = "0"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications:
            environment["NOTIFY_SOCKET"] = str(self.directory / "notify")
            notifications.bind(environment["NOTIFY_SOCKET"])
            notifications.settimeout(DEADLINE)
            with open(self.directory / "console", "wb") as console:
                self._nspawn = subprocess.Popen(
                    ["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--notify-ready=yes"]
                    + [f"--machine={self._name}", f"--directory={self.root}"],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=console,
                    stderr=console,
                )
            told: dict[str, str] = {}
            while told.get("READY") != "1":
                try:
                    lines = notifications.recv(4096).decode().splitlines()
                except TimeoutError:
                    raise AssertionError("the machine does not boot:\n" + (self.directory / "console").read_text()) from None
                told |= dict(line.split("=", 1) for line in lines if "=" in line)
        self._leader = told["X_NSPAWN_LEADER_PID"]
        self.wait_until(lambda: self.run("systemctl", "is-system-running", check=False) in ("running", "degraded"))

    def run(self, *command: str, check: bool = True, stdin: str = "", **variables: str) -> str:
        """Runs a command in the machine as root; returns its standard output."""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
        environment["DEBIAN_FRONTEND"] = "noninteractive"
        done = subprocess.run(
            ["nsenter", f"--target={self._leader}", "--all", "--wd=/", *command],
            env=environment | variables,
            input=stdin,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=5 * DEADLINE,
            check=False,
        )
        assert done.returncode == 0 or not check, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout.strip()

    def path(self, path: str) -> pathlib.Path:
        """The path of one of the machine's files, as seen from outside."""
        return self.root / path.lstrip("/")

    def files(self) -> set[str]:
        """All files of the machine, except those in memory, logs, caches and package lists."""
        left_out = "/proc /sys /dev /run /tmp /var/tmp /var/log /var/cache /var/lib/apt /var/lib/dpkg /var/lib/systemd"
        pruned = " -o ".join(f"-path {path}" for path in left_out.split())
        return set(self.run("sh", "-c", rf"find / \( {pruned} \) -prune -o -print").splitlines())

    def wait_until(self, condition, timeout: float = DEADLINE):
        return poll(condition, timeout)

    def close(self) -> None:
        if self._nspawn is not None:
            # Shuts the machine down cleanly.
            self._nspawn.send_signal(signal.SIGTERM)
            try:
                self._nspawn.wait(DEADLINE)
            except subprocess.TimeoutExpired:
                self._nspawn.kill()
                self._nspawn.wait()
        subprocess.run(["umount", self.directory], check=True)
        self.directory.rmdir()
        # systemd-nspawn leaves these behind.
        shutil.rmtree(f"/run/systemd/nspawn/propagate/{self._name}", ignore_errors=True)
