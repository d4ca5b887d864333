"""The web backends of `docs/clients`, as processes, and browsers for them."""

import http.client
import json
import pathlib
import socket
import subprocess
import tempfile
import urllib.parse
from dataclasses import dataclass, field

from clients.languages import CLIENTS, PROXY, environment
from harness.waiting import free_port, poll

ORIGIN = "https://example.com"
# By language: how to turn the command for its example into the one for its web backend.
BACKENDS = {
    "python": lambda _: ["python3", CLIENTS / "python/web.py"],
    "typescript": lambda example: [*example[:-1], pathlib.Path(example[-1]).with_name("web.mjs")],
    "go": lambda example: [pathlib.Path(example[-1]).with_name("web")],
}


# No lengths, or more than one. Python's `int` takes some of them.
NO_LENGTHS = ["-1", "-0", "+5", "1_0", "0x5", "5.0", "junk", "\xb2", "5, 5", "5\r\nContent-Length: 6", "9" * 20, "9" * 5000]


def posted(address: str, path: str, *lines: str) -> int:
    """The status of a POST with these header lines as they are, and five bytes; 0 if the server closed the connection."""
    head = "\r\n".join([f"POST {path} HTTP/1.1", f"Host: {address}", *lines, "Connection: close", "", ""])
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), 15) as connection:
        connection.sendall(head.encode("latin-1") + b"a=b&c")
        answer = connection.makefile("rb").readline().split()
    return int(answer[1]) if answer else 0


class Backend:
    """A running web backend. `log` is its output."""

    def __init__(
        self, command: list, assay: str, audiences: dict[str, str], api_key: str = "", origin: str = ORIGIN, port: int = 0
    ):
        self.port = port or free_port()
        self.origin = origin
        self._log = tempfile.TemporaryFile()
        variables = {"http_proxy": PROXY, "PYTHONDONTWRITEBYTECODE": "1", "PORT": str(self.port), "ORIGIN": self.origin}
        variables |= {"AUDIENCES": json.dumps(audiences), "ASSAY_URL": assay, "ASSAY_API_KEY": api_key}
        self._process = subprocess.Popen(
            [str(part) for part in command], env=environment(**variables), stdout=self._log, stderr=self._log
        )
        poll(self._is_up, tells=lambda: self.log)

    @property
    def log(self) -> str:
        self._log.seek(0)
        return self._log.read().decode()

    def _is_up(self) -> bool:
        try:
            return Browser(self).get("/").status == 200
        except OSError:
            return False

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@dataclass(frozen=True)
class Page:
    status: int
    location: str | None
    # For each cookie that was set: its value and attributes.
    cookies: dict[str, tuple[str, set[str]]]
    body: str
    headers: object = field(repr=False)


class Browser:
    """Keeps cookies, also secure ones, since TLS ends before the backend. Does not follow redirects."""

    def __init__(self, backend: Backend):
        self._backend = backend
        self.cookies: dict[str, str] = {}

    def get(self, path: str, query: dict | list | None = None) -> Page:
        return self.request("GET", path + ("?" + urllib.parse.urlencode(query) if query else ""))

    def post(self, path: str, form: dict | None = None, origin: str | None = None, with_cookies: str = "") -> Page:
        """Posts a form. `with_cookies` is a prefix: only cookies with it are sent, as from another site."""
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": origin or self._backend.origin}
        return self.request("POST", path, urllib.parse.urlencode(form or {}), headers, with_cookies)

    def request(self, method: str, path: str, body: str = "", headers: dict | None = None, with_cookies: str = "") -> Page:
        connection = http.client.HTTPConnection("127.0.0.1", self._backend.port, timeout=30)
        sent = "; ".join(f"{name}={value}" for name, value in self.cookies.items() if name.startswith(with_cookies))
        connection.request(method, path, body, (headers or {}) | ({"Cookie": sent} if sent else {}))
        response = connection.getresponse()
        page = Page(
            response.status, response.headers["Location"], dict(map(_parsed, response.headers.get_all("Set-Cookie", []))),
            response.read().decode(), response.headers,
        )  # fmt: skip
        connection.close()
        for name, (value, attributes) in page.cookies.items():
            if "Max-Age=0" in attributes:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return page


def _parsed(line: str) -> tuple[str, tuple[str, set[str]]]:
    pair, *attributes = line.split("; ")
    name, _, value = pair.partition("=")
    return name, (value, set(attributes))
