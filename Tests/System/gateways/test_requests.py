"""What each gateway sends in Assay's place: a recorder that allows everything and names nobody."""

import dataclasses

import pytest

from gateways.backend import Backend, Received
from gateways.gateways import NAMES
from gateways.site import IDENTITY, KEY, Site


@dataclasses.dataclass
class Asked:
    site: Site
    recorder: Backend

    def decided(self, *arguments, **named) -> tuple[Received, Received]:
        """The question about a request that passes, and the request as the backend receives it."""
        before = len(self.recorder.received)
        passed = self.site.passes(*arguments, **named)
        # HAProxy probes as well.
        (question,) = [each for each in self.recorder.received[before:] if each.target != "/livez"]
        return question, passed


@pytest.fixture(scope="module", params=NAMES)
def asked(request, tmp_path_factory):
    with (
        Backend() as recorder,
        Site(request.param, recorder.address, tmp_path_factory.mktemp(request.param)) as site,
    ):
        yield Asked(site, recorder)


def test_the_policy_and_the_key_are_the_gateway_s(asked):
    question, passed = asked.decided("a-token", ("X-Assay-Key", "guessed"), target="/orders?page=2")
    appended = "//orders?page=2" if asked.site.name == "envoy" else ""
    # Caddy keeps the query. Assay ignores it.
    query = "?page=2" if asked.site.name == "caddy" else ""
    assert question.target == f"/v1/forward-auth/api{appended}{query}"
    assert question.values("X-Assay-Key") == [KEY]
    assert question.values("Authorization") == ["Bearer a-token"]
    assert passed.target == "/orders?page=2"
    assert KEY not in passed.values("X-Assay-Key")


@pytest.mark.parametrize("framing", ["a length", "chunks"])
def test_the_body_goes_to_the_backend_alone(asked, framing):
    body = "x" * 100_000
    named = {
        "a length": {"fields": ("Content-Length", str(len(body))), "body": body},
        "chunks": {"fields": ("Transfer-Encoding", "chunked"), "body": f"{len(body):x}\r\n{body}\r\n0\r\n\r\n"},
    }[framing]
    question, passed = asked.decided("a-token", named["fields"], method="POST", body=named["body"])
    assert question.body == b""
    assert question.values("Content-Length") in ([], ["0"])
    assert question.values("Transfer-Encoding") == []
    assert passed.body == body.encode()


def test_a_header_that_assay_does_not_send_is_not_the_client_s(asked):
    """A policy may have fewer headers than the gateway's configuration."""
    _, passed = asked.decided("a-token", *((name, "admin") for name in IDENTITY))
    values = [value for name in IDENTITY for value in passed.values(name)]
    # Caddy 2.6 passes on the name of a placeholder; later versions pass on nothing.
    assert {value for value in values if not value.startswith("{http.reverse_proxy.header.")} <= {""}


def test_all_tokens_of_a_request_are_shown_to_assay(asked):
    """Otherwise the backend could take another one than Assay has seen."""
    twice = [("Authorization", "Bearer one"), ("Authorization", "Bearer two")]
    if asked.site.name == "nginx":
        asked.site.denies(400, None, *twice)
    else:
        question, passed = asked.decided(None, *twice)
        assert ",".join(question.values("Authorization")) == "Bearer one,Bearer two"
        assert passed.values("Authorization") == question.values("Authorization")
    cookies = "session=three; session=four"
    question, passed = asked.decided(None, ("Cookie", cookies))
    assert question.values("Cookie") == passed.values("Cookie") == [cookies]


def test_connections_to_assay_are_reused(asked):
    before = asked.recorder.connections
    for _ in range(20):
        asked.site.passes("a-token")
    # Both of nginx's workers have their own, and HAProxy's health checks.
    assert asked.recorder.connections - before < 10
