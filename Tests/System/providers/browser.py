"""HTTP for a browser and a client: cookies, forms, JSON. Redirects are returned, not followed."""

import base64
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from http.cookiejar import CookieJar


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


@dataclass(frozen=True)
class Page:
    """A response with any status."""

    status: int
    headers: object
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def redirect_parameters(self) -> dict[str, str]:
        """The query of the URL to which this response redirects."""
        location = self.headers.get("Location")
        if location is None:
            raise RuntimeError(f"no redirect but {self.status}: {self.body[:500]!r}")
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(location).query))

    def expect(self, status: int = 200) -> "Page":
        if self.status != status:
            raise RuntimeError(f"status {self.status} where {status} was due: {self.body[:500]!r}")
        return self


class Browser:
    """Keeps cookies, and never uses a proxy, because everything is on loopback. `context` is that of TLS."""

    def __init__(self, context: ssl.SSLContext | None = None):
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context),
            urllib.request.HTTPCookieProcessor(CookieJar()), _NoRedirects,
        )  # fmt: skip

    def get(self, url: str, **query: str) -> Page:
        return self.request("GET", with_query(url, query))

    def post_form(self, url: str, form: dict, basic: tuple[str, str] | None = None) -> Page:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if basic:
            headers["Authorization"] = "Basic " + base64.b64encode(":".join(basic).encode()).decode()
        return self.request("POST", url, urllib.parse.urlencode(form).encode(), headers)

    def send_json(self, method: str, url: str, value=None, headers: dict | None = None) -> Page:
        body = None if value is None else json.dumps(value).encode()
        return self.request(method, url, body, {"Content-Type": "application/json"} | (headers or {}))

    def request(self, method: str, url: str, body: bytes | None = None, headers: dict | None = None) -> Page:
        request = urllib.request.Request(url, body, headers or {}, method=method)
        try:
            with self._opener.open(request, timeout=10) as response:
                return Page(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            with error:
                return Page(error.code, error.headers, error.read())


def with_query(url: str, query: dict[str, str]) -> str:
    return f"{url}?{urllib.parse.urlencode(query)}" if query else url
