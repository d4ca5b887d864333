"""Each language's client with a server that is not Assay, or does not answer: no user is signed in by accident."""

import pytest

from clients.languages import LANGUAGES, without_nulls
from harness.stranger import IDENTITY, Stranger, answer, nowhere
from harness.waiting import poll

SIGN_IN = {"provider": "oidc", "id_token": "the.secret.token", "nonce": "the-secret-nonce"}
GOOD = answer(200, {"identity": IDENTITY, "token": {}, "keys": {}})
HTML = "<html>Welcome!</html>"
REFRESH = {"provider": "oidc", "refresh_token": "the-secret-refresh-token", "subject": "user-1"}
# The calls of two programs in each language.
WITHOUT_ANSWER = [
    [
        ("verify", SIGN_IN, {"unavailable": 1}),
        ("revoke", {"provider": "oidc", "token": "the-secret-token"}, {"error": 0, "spent": False}),
    ],
    [
        ("finish", {"sign_in": "the-secret-handle", "id_token": SIGN_IN["id_token"]}, {"error": 0, "spent": True}),
        ("refresh", REFRESH, {"error": 0, "spent": True}),
    ],
]


@pytest.mark.parametrize(
    "octets",
    [
        answer(200, HTML),
        answer(200, ""),
        answer(200, []),
        answer(200, "null"),
        answer(200, {}),
        answer(200, {"identity": None}),
        answer(200, {"identity": {}}),
        answer(200, {"identity": IDENTITY | {"subject": None}}),
        answer(200, {"identity": {name: value for name, value in IDENTITY.items() if name != "issuer"}}),
        answer(422, HTML),
        answer(422, {}),
        answer(500, HTML),
        answer(502, HTML),
        answer(404, []),
    ],
    ids=lambda octets: repr(octets[9:12] + octets.partition(b"\r\n\r\n")[2][:40]),
)
def test_responses_that_assay_never_sends_are_errors(program, octets):
    with Stranger(octets) as stranger:
        said = program(stranger.url).verify(**SIGN_IN)
        assert {name: member for name, member in said.items() if member} == {"error": int(octets[9:12])}


def test_a_client_does_not_follow_redirects_with_the_token(program):
    with Stranger(GOOD) as elsewhere, Stranger(answer(307, "", Location=elsewhere.url)) as stranger:
        assert program(stranger.url).verify(**SIGN_IN)["error"] == 307
        assert (stranger.requests, elsewhere.connections) == (1, 0)


@pytest.mark.parametrize(("headers", "seconds"), [({}, 1), ({"Retry_After": "7"}, 7), ({"retry_after": "30"}, 30)])
def test_unavailable_says_when_to_retry(program, headers, seconds):
    with Stranger(answer(503, HTML, **headers)) as stranger:
        assert program(stranger.url).verify(**SIGN_IN) == {"unavailable": seconds}


def test_a_refused_connection_is_unavailable(program):
    assert program(nowhere()).verify(**SIGN_IN) == {"unavailable": 1}


def test_unknown_members_are_ignored(program):
    later = {"identity": IDENTITY | {"shoe_size": 38}, "token": {}, "keys": {}, "weather": "fine"}
    with Stranger(answer(200, later)) as stranger:
        assert program(stranger.url).verify(**SIGN_IN)["verified"].items() >= without_nulls(IDENTITY).items()


def test_one_connection_serves_many_requests(program):
    with Stranger(GOOD) as stranger:
        asking = program(stranger.url)
        for _ in range(5):
            assert "verified" in asking.verify(**SIGN_IN)
        assert (stranger.requests, stranger.connections) == (5, 1)


def test_a_connection_that_was_closed_while_idle_is_reopened(program):
    # Repeated, because the client may notice before, while or after it writes the next request.
    times = 50
    with Stranger(GOOD, closes=True) as stranger:
        asking = program(stranger.url)
        for _ in range(times):
            assert "verified" in asking.verify(**SIGN_IN)
            stranger.wait_until_closed()
        assert (stranger.requests, stranger.connections) == (times, times)


def test_a_connection_that_is_closed_during_a_request_is_reopened(program):
    with Stranger(GOOD, drops=True) as stranger:
        asking = program(stranger.url)
        for _ in range(3):
            assert "verified" in asking.verify(**SIGN_IN)
        assert (stranger.requests, stranger.connections) == (3, 3)


def test_a_timeout_is_unavailable(built):
    """The programs run at once, because each waits for the full timeout. Calls that involve the provider have a longer one."""
    with Stranger(None) as stranger:
        programs = []
        for language in LANGUAGES:
            for calls in WITHOUT_ANSWER:
                program = language.start(built(language), stranger.url)
                for call, members, _ in calls:
                    program.send(**{call: members})
                programs.append((program, calls))
        for program, calls in programs:
            assert [program.said() for _ in calls] == [said for *_, said in calls]
            program.finish()
        poll(lambda: len(stranger.waits) == 2 * len(programs))
        for path, seconds in stranger.waits:
            assert seconds > (5 if path == "/v1/verify" else 11), (path, seconds)
