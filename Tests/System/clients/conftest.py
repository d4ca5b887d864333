
import pytest

from clients.languages import API_KEY, LANGUAGES
from harness.issuer import KeyServer
from harness.service import Service, apple_like, google_like, provider
from harness.tokens import ec_key, rsa_key, sha256_hex


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The command of a language's example, which is built once."""
    commands = {}

    def command(language):
        if language.name not in commands:
            commands[language.name] = language.build(tmp_path_factory.mktemp(language.name))
        return commands[language.name]

    return command


@pytest.fixture(params=LANGUAGES, ids=lambda language: language.name)
def language(request):
    return request.param


@pytest.fixture
def program(language, built):
    """Starts the language's example for a URL. Output on standard error fails the test."""
    programs = []

    def start(url: str, api_key: str | None = None):
        programs.append(language.start(built(language), url, api_key))
        return programs[-1]

    yield start
    for started in programs:
        started.finish()


class World:
    """A running service with an API key and a URL, and the issuers that it trusts."""

    def __init__(self, key_server: KeyServer, listen: str = "127.0.0.1:0"):
        self.apple = key_server.issuer("apple", rsa_key("apple"))
        self.google = key_server.issuer("google", rsa_key("google"))
        self.oidc = key_server.issuer("oidc", ec_key("oidc"))
        self.down = key_server.issuer("down", ec_key("down"))
        self.down.jwks.status = 500
        self.service = Service(
            apple_like(self.apple, notifications=["apple"]),
            google_like(self.google),
            provider(self.oidc, notifications=["logout", "security_event"]),
            provider(self.down, "down", optional=True, notifications=["logout"]),
            service={"listen": listen},
            api_keys=[sha256_hex(API_KEY)],
            sign_ins={},
        )
        self.url = listen if listen.startswith("unix:") else f"http://{self.service.api.address}"

    def identity(self, **sign_in) -> dict:
        """The user's identity, as reported by Assay."""
        return self._post("/v1/verify", 200, sign_in)["identity"]

    def begin(self, provider: str, **members) -> dict:
        return self._post("/v1/sign-ins", 201, {"provider": provider} | members)

    def finish(self, begun: dict, id_token: str, **members) -> dict:
        """Finishes a sign-in; returns the user's identity."""
        request = {"sign_in": begun["sign_in"], "id_token": id_token} | members
        return self._post("/v1/sign-ins/finish", 200, request)["identity"]

    def _post(self, path: str, status: int, request: dict) -> dict:
        answer = self.service.api.post(path, request, {"Authorization": f"Bearer {API_KEY}"})
        assert answer.status == status, answer
        return answer.json


@pytest.fixture(scope="session")
def world():
    with KeyServer() as key_server:
        shared = World(key_server)
        with shared.service:
            shared.service.wait_until_ready()
            yield shared


@pytest.fixture(scope="session")
def unix_world(tmp_path_factory):
    """The same service on a Unix domain socket."""
    with KeyServer() as key_server:
        shared = World(key_server, f"unix:{tmp_path_factory.mktemp('unix')}/assay.sock")
        with shared.service:
            shared.service.wait_until_ready()
            yield shared
