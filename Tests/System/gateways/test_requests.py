"""What each gateway asks Assay. A recorder takes Assay's place, and allows everything without an identity."""

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
        """Sends a request that passes; returns the gateway's question, and the request as it arrived at the backend."""
        before = len(self.recorder.received)
        passed = self.site.passes(*arguments, **named)
        # HAProxy also sends probes.
        (question,) = [each for each in self.recorder.received[before:] if each.target != "/livez"]
        return question, passed


@pytest.fixture(scope="module", params=NAMES)
def asked(request, tmp_path_factory):
    with (
        Backend() as recorder,
        Site(request.param, recorder.address, tmp_path_factory.mktemp(request.param)) as site,
    ):
        yield Asked(site, recorder)


def test_policy_and_key_come_from_the_gateway(asked):
    question, passed = asked.decided("a-token", ("X-Assay-Key", "guessed"), target="/orders?page=2")
    appended = "//orders?page=2" if asked.site.name == "envoy" else ""
    # Caddy keeps the query, which Assay ignores.
    query = "?page=2" if asked.site.name == "caddy" else ""
    assert question.target == f"/v1/forward-auth/api{appended}{query}"
    assert question.values("X-Assay-Key") == [KEY]
    assert question.values("Authorization") == ["Bearer a-token"]
    assert passed.target == "/orders?page=2"
    assert KEY not in passed.values("X-Assay-Key")


@pytest.mark.parametrize("framing", ["a length", "chunks"])
def test_only_the_backend_receives_the_body(asked, framing):
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


def test_a_header_that_assay_omits_never_comes_from_the_client(asked):
    """A policy may have fewer headers than the gateway's configuration."""
    _, passed = asked.decided("a-token", *((name, "admin") for name in IDENTITY))
    values = [value for name in IDENTITY for value in passed.values(name)]
    # Caddy 2.6 sends the name of a placeholder, and later versions send nothing.
    assert {value for value in values if not value.startswith("{http.reverse_proxy.header.")} <= {""}


def test_assay_sees_all_tokens_of_a_request(asked):
    """Otherwise, the backend could use a token that Assay has not seen."""
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
    """Except by Caddy, which would ask again if one ended without an answer."""
    if asked.site.name == "caddy":
        return
    before = asked.recorder.connections
    for _ in range(20):
        asked.site.passes("a-token")
    # nginx's workers and HAProxy's health checks have their own connections.
    assert asked.recorder.connections - before < 10
