"""The MCP server of `docs/clients/mcp`, in both ways that `docs/mcp.md` shows, and a client of the official SDK.

The client goes the whole way by itself: from the first 401 over the metadata to the authorization server (`assay dev`), where it
registers, and back with a token; then to a token with more scopes.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
import urllib.parse

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata, OAuthToken

from clients.quotes import CLIENTS
from gateways.gateways import _prepared_for_nginx
from harness.commands import Dev
from harness.service import environment
from harness.tokens import unb64url
from harness.waiting import free_ports, poll

FOLDER = CLIENTS / "mcp"
URL = "http://127.0.0.1:8000/mcp"
WHERE = 'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource/mcp"'


class Program:
    """A program that listens, with its output in a file."""

    def __init__(self, command: list[str], port: int, directory, **variables):
        self._log = directory / "log"
        with open(self._log, "wb") as log:
            self.process = subprocess.Popen(command, env=environment(**variables), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            # Importing the SDK takes a while.
            poll(lambda: self._is_up(port), 60, tells=lambda: self._log.read_text(errors="replace")[-2000:])
        except BaseException:
            self.stop()
            raise

    def _is_up(self, port: int) -> bool:
        assert self.process.poll() is None, self._log.read_text(errors="replace")[-2000:]
        with contextlib.suppress(httpx2.TransportError):
            return bool(httpx2.get(f"http://127.0.0.1:{port}/"))
        return False

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


@pytest.fixture(scope="module")
def port():
    return free_ports(1)[0]


@pytest.fixture(scope="module")
def dev(port, tmp_path_factory):
    """`assay dev` with the settings of the page, but another port."""
    settings = tmp_path_factory.mktemp("dev") / "assay.yaml"
    settings.write_text((FOLDER / "assay.yaml").read_text().replace(":8000", f":{port}"))
    with Dev("--config", str(settings), "--listen", "127.0.0.1:0") as dev:
        yield dev


def uvicorn(app: str, port: int) -> list[str]:
    return [sys.executable, "-m", "uvicorn", f"{app}:app", "--app-dir", str(FOLDER), "--port", str(port), "--log-level", "warning"]


@pytest.fixture(scope="module", params=["server", "nginx"])
def protected(request, dev, port, tmp_path_factory):
    """The MCP server, protected by a question of its own or by nginx. Its URL."""
    with contextlib.ExitStack() as programs:
        if request.param == "server":
            directory = tmp_path_factory.mktemp("server")
            programs.enter_context(Program(uvicorn("protected", port), port, directory, ASSAY=f"http://{dev.api.address}"))
        else:
            backend = free_ports(1)[0]
            programs.enter_context(Program(uvicorn("server", backend), backend, tmp_path_factory.mktemp("backend")))
            directory = tmp_path_factory.mktemp("nginx")
            text = (FOLDER / "nginx.conf").read_text()
            for old, new in {"listen 8000": f"listen 127.0.0.1:{port}", "127.0.0.1:8080": dev.api.address, ":8001": f":{backend}"}.items():
                assert old in text
                text = text.replace(old, new)
            file = directory / "nginx.conf"
            file.write_text(_prepared_for_nginx(text, directory, None))
            command = ["nginx", "-p", str(directory), "-e", "stderr", "-g", "daemon off; error_log stderr;", "-c", str(file)]
            programs.enter_context(Program(command, port, directory))
        yield request.param, URL.replace(":8000", f":{port}")


class Storage:
    """What the client remembers."""

    def __init__(self, tokens: OAuthToken | None = None):
        self.tokens, self.client = tokens, None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Person:
    """Signs in without a page, as `prompt=none` lets scripts do."""

    def __init__(self, name: str):
        self.name = name
        self.asked: list[dict[str, str]] = []
        self._answer = None

    async def open(self, url: str) -> None:
        self.asked.append(dict(urllib.parse.parse_qsl(urllib.parse.urlparse(url).query)))
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(f"{url}&prompt=none&login_hint={self.name}")
        self._answer = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(answer.headers["location"]).query))

    async def come_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**{name: self._answer.get(name) for name in ("code", "state", "iss")})


class Visit:
    """A client of the SDK, and what it saw."""

    def __init__(self, url: str, person: Person, storage: Storage | None = None):
        self.url, self.person, self.storage = url, person, storage or Storage()
        self.seen: list[tuple[int, str, str | None]] = []

    def call(self, *calls: tuple[str, dict]) -> list[str]:
        return asyncio.run(self._call(calls))

    async def _call(self, calls) -> list[str]:
        metadata = OAuthClientMetadata(client_name="tests", redirect_uris=["http://127.0.0.1:9/callback"])
        auth = OAuthClientProvider(
            self.url, metadata, self.storage, redirect_handler=self.person.open, callback_handler=self.person.come_back
        )

        async def note(response):
            self.seen.append((response.status_code, response.request.url.path, response.headers.get("www-authenticate")))

        async with httpx2.AsyncClient(auth=auth, event_hooks={"response": [note]}, timeout=15) as http:
            async with Client(streamable_http_client(self.url, http_client=http)) as client:
                results = [await client.call_tool(name, arguments) for name, arguments in calls]
        assert not any(result.is_error for result in results), results
        return [result.content[0].text for result in results]

    def challenges(self) -> list[tuple[int, str]]:
        return [(status, challenge) for status, _, challenge in self.seen if challenge]


def where(url: str) -> str:
    return WHERE.replace(":8000", ":" + url.split(":")[2].split("/")[0])


def claims(token: str) -> dict:
    return json.loads(unb64url(token.split(".")[1]))


def test_a_client_finds_its_way_from_the_first_refusal_to_a_tool(protected, dev):
    way, url = protected
    person = Person("robin")
    visit = Visit(url, person)
    subject, kept = visit.call(("whoami", {}), ("remember", {"note": "milk"}))
    assert kept == "1 notes"
    assert visit.challenges()[0] == (401, f'Bearer scope="notes:use", {where(url)}')
    paths = [path for _, path, _ in visit.seen]
    assert "/.well-known/oauth-protected-resource/mcp" in paths
    assert "/.well-known/oauth-authorization-server/auth" in paths
    assert paths.index("/auth/register") < paths.index("/auth/token")
    assert (person.asked[0]["resource"], person.asked[0]["scope"], person.asked[0]["code_challenge_method"]) == (url, "notes:use", "S256")
    granted = claims(visit.storage.tokens.access_token)
    assert (granted["aud"], granted["sub"], granted["client_id"]) == (url, subject, visit.storage.client.client_id)


def test_a_client_steps_up_where_a_scope_is_missing(protected, dev):
    way, url = protected
    person = Person("robin")
    if way == "server":
        # A tool needs more than the others.
        visit = Visit(url, person)
        assert visit.call(("whoami", {}), ("forget", {}))[1].endswith("notes deleted")
        expected = 'scope="notes:use notes:delete"'
    else:
        # The gateway does not read the message, but the client comes with a token for something else.
        token = dev.token("auth", claims={"scope": "profile", "aud": url})["token"]
        visit = Visit(url, person, Storage(OAuthToken(access_token=token, scope="profile")))
        visit.call(("whoami", {}))
        expected = 'scope="notes:use"'
    status, challenge = next(each for each in visit.challenges() if each[0] == 403)
    assert challenge == f'Bearer error="insufficient_scope", {expected}, {where(url)}'
    asked = person.asked[-1]["scope"].split()
    assert set(asked) >= set(expected.split('"')[1].split())
    assert claims(visit.storage.tokens.access_token)["scope"].split() == asked


def test_only_tokens_for_the_server_pass(protected, dev):
    way, url = protected
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"Accept": "application/json, text/event-stream", "X-Auth-Subject": "somebody"}

    def post(token):
        return httpx2.post(url, json=ask, headers=headers | ({"Authorization": f"Bearer {token}"} if token else {}))

    good = dev.token("auth", claims={"scope": "notes:use", "aud": url})["token"]
    assert post(good).status_code == 200
    other = dev.token("auth", claims={"scope": "notes:use", "aud": "https://other.example"})["token"]
    for token in (other, good[:-4] + "AAAA", "opaque"):
        response = post(token)
        assert response.status_code == 401
        assert response.headers.get_list("www-authenticate") == [f'Bearer error="invalid_token", scope="notes:use", {where(url)}']


def test_two_people_have_their_own_notes(protected):
    way, url = protected
    first, second = (Visit(url, Person(name)).call(("whoami", {}))[0] for name in ("robin", "alex"))
    assert first != second
