"""The proxies of `deploy/proxies`, with the shipped configuration files."""

import shutil
import subprocess

from harness.service import REPOSITORY


class Proxy:
    """A proxy with its configuration from deploy/proxies, on the test's ports."""

    _commands = {
        "haproxy.cfg": lambda file, directory: ["haproxy", "-db", "-f", file],
        "nginx.conf": lambda file, directory: [
            "nginx", "-p", directory, "-c", file, "-e", "stderr",
            "-g", f"daemon off; pid {directory}/pid; error_log stderr;",
        ],
    }  # fmt: skip

    def __init__(self, name: str, port: int, ports: list[int], directory, changed: dict[str, str] | None = None):
        """Starts a proxy for two instances. `changed` has replacements in the shipped file."""
        file = directory / name
        file.write_text(text(name, port, ports, directory, changed or {}))
        self.address = f"127.0.0.1:{port}"
        command = self._commands[name](str(file), str(directory))
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)


def text(name: str, port: int, ports: list[int], directory, changed: dict[str, str]) -> str:
    """The file, with these ports and changes."""
    assert shutil.which(name.split(".")[0]), "not installed: run scripts/bootstrap deploy"
    text = (REPOSITORY / "deploy/proxies" / name).read_text()
    shipped = {"127.0.0.1:8000": port, "127.0.0.1:8081": ports[0], "127.0.0.1:8082": ports[1]}
    for old, new in (changed | {address: f"127.0.0.1:{port}" for address, port in shipped.items()}).items():
        assert old in text
        text = text.replace(old, new)
    # Directories for nginx's buffers.
    directories = {"nginx.conf": ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]}.get(name, [])
    if directories:
        paths = "".join(f"    {each}_temp_path {directory}/{each};\n" for each in directories)
        text = text.replace("http {\n", f"http {{\n    access_log off;\n{paths}")
    return text
