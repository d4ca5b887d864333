"""The framework adapters of the packages: a whole sign-in in the browser with each, and what attackers and outages make of it."""

import json
import subprocess
import urllib.parse

import pytest

from client_packages.packages import PACKAGES, SITES, environment
from client_packages.world import API_KEY
from harness.stranger import nowhere

BY_NAME = {package.name: package for package in PACKAGES}


class Site:
    """A site, and a browser with its cookies."""

    def __init__(self, command: list, url: str):
        self.cookies: dict[str, str] = {}
        self._process = subprocess.Popen(
            [str(part) for part in [*command, url, API_KEY]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
        )

    def request(self, path: str, form: dict | list | None = None, cookie: str | None = None) -> dict:
        sent = "; ".join(f"{name}={value}" for name, value in self.cookies.items()) if cookie is None else cookie
        body = "" if form is None else urllib.parse.urlencode(form)
        asked = {"method": "GET" if form is None else "POST", "path": path, "cookie": sent, "body": body}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline())
        for line in said["cookies"]:
            pair, *attributes = line.strip().split("; ")
            name, _, value = pair.partition("=")
            attributes = {each.lower() for each in attributes}
            assert {"path=/", "secure", "httponly"} <= attributes and name.startswith("__Host-"), line
            if "max-age=0" in attributes:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return said

    def begin(self, provider: str = "oidc", return_to: str = "/basket?id=1") -> dict:
        """Begins a sign-in; returns the parameters of the authorization URL."""
        said = self.request(f"/sign-in/{provider}?" + urllib.parse.urlencode({"return_to": return_to}))
        assert said["status"] == 303, said
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(said["location"]).query))

    def stop(self) -> None:
        self._process.stdin.close()
        self._process.wait(30)


@pytest.fixture(scope="module", params=SITES)
def command(request, installed):
    name, site = SITES[request.param]
    return site(installed(BY_NAME[name]))


@pytest.fixture(scope="module")
def running(command, world):
    site = Site(command, world.client("assay")["url"])
    yield site
    site.stop()


@pytest.fixture
def site(running, world):
    world.endpoint.heal()
    running.cookies.clear()
    return running


def callback(**parameters: str) -> str:
    return "/callback/oidc?" + urllib.parse.urlencode(parameters)


def grants(world, sent: dict) -> None:
    world.script([{"grant": {"id_token": world.issuers["oidc"].token(nonce=sent["nonce"])}}], {})


def test_a_user_signs_in(site, world):
    sent = site.begin()
    assert (sent["redirect_uri"], sent["client_id"]) == ("https://example.com/callback/oidc", "client")
    assert set(site.cookies) == {f"__Host-sign-in-{sent['state']}"}
    grants(world, sent)
    said = site.request(callback(state=sent["state"], code="the-code"))
    assert said["status"] == 200, said
    assert json.loads(said["body"]) == {"subject": "user-1", "context": "/basket?id=1"}
    assert site.cookies == {}


def test_a_provider_may_post_its_response(site, world):
    sent = site.begin()
    grants(world, sent)
    said = site.request("/callback/oidc", {"state": sent["state"], "code": "the-code"})
    assert json.loads(said["body"])["subject"] == "user-1"


def test_another_browser_cannot_finish(site):
    sent = site.begin()
    name, value = next(iter(site.cookies.items()))
    for cookie in ("", f"{name}={value}; {name}={value}", f"x{name}={value}", f"\xa0{name}={value}"):
        assert site.request(callback(state=sent["state"], code="the-code"), cookie=cookie)["status"] == 400
    twice = f"/callback/oidc?state={sent['state']}&code=a&code=b"
    assert site.request(twice)["status"] == 400
    assert site.request(callback(state="another", code="c"))["status"] == 400


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "/\\evil.example", "basket", "/a b", "/ü"])
def test_a_user_returns_only_to_this_site(site, world, elsewhere):
    sent = site.begin(return_to=elsewhere)
    grants(world, sent)
    said = site.request(callback(state=sent["state"], code="the-code"))
    assert json.loads(said["body"])["context"] == "/"


def test_a_user_who_cancels_goes_back(site):
    sent = site.begin()
    said = site.request(callback(state=sent["state"], error="access_denied"))
    assert (said["status"], said["location"], site.cookies) == (303, "/basket?id=1", {})


def test_a_refused_code_ends_the_sign_in(site, world):
    sent = site.begin()
    world.script([{"error": "invalid_grant"}], {})
    said = site.request(callback(state=sent["state"], code="the-code"))
    assert (said["status"], site.cookies) == (400, {})
    assert world.endpoint_requests() == 1


def test_unknown_providers_have_no_page(site):
    assert site.request("/sign-in/unheard-of")["status"] == 404
    assert site.request("/callback/unheard-of?state=a")["status"] == 400


def test_while_assay_is_down_the_cookie_stays(command, site):
    sent = site.begin()
    cookies = dict(site.cookies)
    site = Site(command, nowhere())
    site.cookies = dict(cookies)
    assert site.request("/sign-in/oidc")["status"] == 503
    assert site.request(callback(state=sent["state"], code="the-code"))["status"] == 503
    assert site.cookies == cookies
    site.stop()
