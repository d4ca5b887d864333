"""`begin` and `finish` in each language: a complete sign-in, finished once and sent once."""

import json
import subprocess

import pytest

from clients.languages import API_KEY, CLIENTS, LANGUAGES, environment, without_nulls
from harness.stranger import IDENTITY, Stranger, answer, nowhere
from harness.contract import STATUS

CONTEXT = "/basket?für=✓"
BEGIN, FINISH, VERIFY = "/v1/sign-ins", "/v1/sign-ins/finish", "/v1/verify"
HANDLE, TOKEN, NONCE = "the-handle-of-a-sign-in", "the.secret.token", "the-secret-nonce"
SIGN_IN = {"provider": "oidc", "id_token": TOKEN, "nonce": NONCE}
BEGUN = {"sign_in": HANDLE, "nonce": NONCE, "nonce_sha256": "0" * 64, "state": None, "expires_at": 1_700_000_600}
WHOLE = {
    BEGIN: answer(201, BEGUN),
    FINISH: answer(200, {"identity": IDENTITY, "token": {}, "keys": {}, "context": CONTEXT, "grant": None}),
    VERIFY: answer(200, {"identity": IDENTITY, "token": {}, "keys": {}}),
}
FINISHED = {"finished": {"identity": without_nulls(IDENTITY), "context": CONTEXT}}
NO_ANSWER = {"error": 0, "spent": True}


# MARK: Against a running Assay


@pytest.mark.parametrize(("provider", "form"), [("apple", "nonce_sha256"), ("google", "nonce"), ("oidc", "nonce")])
def test_a_sign_in_is_finished_once(program, world, provider, form):
    asking = program(world.url, API_KEY)
    begun = asking.begin_sign_in(provider, context=CONTEXT)["begun"]
    token = getattr(world, provider).token(nonce=begun[form])
    identity = world.identity(provider=provider, id_token=token, nonce=begun["nonce"])
    finished = asking.finish_sign_in(begun["sign_in"], token)
    assert finished == {"finished": {"identity": without_nulls(identity), "context": CONTEXT}}
    again = asking.finish_sign_in(begun["sign_in"], token)
    assert again == {"error": 422, "code": "sign_in_replayed", "spent": True}
    # The log contains neither handle nor nonce.
    world.service.wait_for_entry(code="sign_in_replayed")
    world.service.hides(begun["sign_in"], begun["nonce"])


@pytest.mark.parametrize("name", ["python", "go"])
def test_the_pages_command_begins_a_sign_in(world, name):
    """The other languages' commands need a compiler, and are covered by building the examples."""
    page = (CLIENTS / name / "README.md").read_text()
    command = page.partition("```sh\n")[2].partition("```")[0]
    variables = {"ASSAY_URL": world.url, "ASSAY_API_KEY": API_KEY, "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=CLIENTS / name,
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert list(json.loads(result.stdout)["begun"]) == ["sign_in", "nonce", "nonce_sha256", "expires_at"], result.stderr


def test_begin_and_finish_send_their_members(program, world):
    asking = program(world.url, API_KEY)
    issuer = world.identity(provider="oidc", id_token=world.oidc.token(nonce="n"), nonce="n")["issuer"]
    members = {"audience": "client", "max_age": 600, "subject": "user-1", "issuer": issuer, "expires_in": 60}
    begun = asking.begin_sign_in("oidc", **members)["begun"]
    refused = {
        "subject_mismatch": {"sub": "user-2"},
        "auth_time_too_old": {"auth_time": begun["expires_at"] - 3600},
        "audience_mismatch": {"aud": "another-client"},
        "nonce_mismatch": {"nonce": "another-sign-in's"},
    }
    for code, claims in refused.items():
        token = world.oidc.token(**{"nonce": begun["nonce"]} | claims)
        assert asking.finish_sign_in(begun["sign_in"], token) == {"error": 422, "code": code, "spent": False}
    token = world.oidc.token(nonce=begun["nonce"])
    said = asking.finish_sign_in(begun["sign_in"], token, access_token="the-access-token")
    assert said == {"error": 422, "code": "at_hash_missing", "spent": False}
    # The sign-in is still unused.
    finished = asking.finish_sign_in(begun["sign_in"], token, code="the-code")["finished"]
    assert (finished["identity"]["subject"], "context" in finished) == ("user-1", False)

    user = {"name": {"firstName": "Ada", "lastName": "Lovelace"}, "email": "ada@example.com"}
    begun = asking.begin_sign_in("apple")["begun"]
    token = world.apple.token(nonce=begun["nonce_sha256"])
    finished = asking.finish_sign_in(begun["sign_in"], token, user=user)["finished"]
    assert finished["identity"]["name"] == "Ada Lovelace"


def test_a_refused_begin_is_an_error(program, world):
    asking = program(world.url, API_KEY)
    unknown = {"error": 404, "code": "provider_unknown", "spent": False}
    assert asking.begin_sign_in("unheard-of") == unknown
    for members in ({"expires_in": 1}, {"audience": "a-stranger's"}):
        code = "request_invalid" if "expires_in" in members else "audience_not_configured"
        assert asking.begin_sign_in("oidc", **members) == {"error": 400, "code": code, "spent": False}


def test_a_string_that_is_not_a_handle_is_an_error(program, world):
    said = program(world.url, API_KEY).finish_sign_in("made-up-by-somebody", world.oidc.token())
    assert said == {"error": 422, "code": "sign_in_invalid", "spent": False}


def test_an_unauthenticated_caller_gets_an_error(program, world):
    asking = program(world.url, "a-wrong-one")
    said = {"error": 401, "code": "caller_unauthenticated", "spent": False}
    assert asking.begin_sign_in("oidc") == said
    assert asking.finish_sign_in(HANDLE, TOKEN) == said


@pytest.mark.parametrize(
    "language", [each for each in LANGUAGES if each.speaks_unix], ids=lambda language: language.name, indirect=True
)
def test_a_unix_domain_socket_can_be_used(program, unix_world):
    asking = program(unix_world.url, API_KEY)
    begun = asking.begin_sign_in("google")["begun"]
    token = unix_world.google.token(nonce=begun["nonce"])
    assert asking.finish_sign_in(begun["sign_in"], token)["finished"]["identity"]["subject"] == "user-1"


# MARK: Against other or failing servers


def test_each_error_says_whether_the_sign_in_is_spent(program):
    problems = [(code, status, spent) for code, status in STATUS.items() for spent in (False, True)]
    bodies = iter([
        answer(status, {"code": code, "spent": spent, "request_id": "r-1"}, Retry_After="7")
        for code, status, spent in problems
    ])  # fmt: skip
    with Stranger(lambda _: next(bodies)) as stranger:
        asking = program(stranger.url)
        for code, status, spent in problems:
            assert asking.finish_sign_in(HANDLE, TOKEN) == {"error": status, "code": code, "spent": spent}
        assert stranger.requests == len(problems)


def test_an_incomplete_response_is_an_error(program):
    html = "<html>Welcome!</html>"
    nobody = [html, "", [], "null", {}, {"identity": None}, {"identity": IDENTITY | {"subject": None}}]
    strange = [(200, body) for body in nobody] + [(422, html), (422, {}), (500, html), (502, html), (503, html), (404, [])]
    bodies = iter([answer(status, body) for status, body in strange for _ in "bf"])
    with Stranger(lambda _: next(bodies)) as stranger:
        asking = program(stranger.url)
        for status, _ in strange:
            assert asking.begin_sign_in("oidc") == {"error": status, "spent": False}
            # The outcome is unknown, so the sign-in may be spent.
            assert asking.finish_sign_in(HANDLE, TOKEN) == {"error": status, "spent": True}


def test_an_incomplete_begin_is_an_error(program):
    with Stranger(answer(201, {"expires_at": 1_700_000_600})) as stranger:
        assert program(stranger.url).begin_sign_in("oidc") == {"error": 201, "spent": False}


def test_a_client_does_not_follow_redirects_with_the_handle(program):
    with Stranger(WHOLE.get) as elsewhere, Stranger(answer(307, "", Location=elsewhere.url + FINISH)) as stranger:
        assert program(stranger.url).finish_sign_in(HANDLE, TOKEN) == {"error": 307, "spent": True}
        assert (stranger.requests, elsewhere.connections) == (1, 0)


def test_a_refused_connection_spends_nothing(program):
    asking = program(nowhere())
    assert asking.begin_sign_in("oidc") == {"error": 0, "spent": False}
    assert asking.finish_sign_in(HANDLE, TOKEN) == {"error": 0, "spent": False}


# MARK: Retries


def test_a_finish_is_sent_once_even_if_the_connection_closes(program):
    with Stranger(lambda path: b"" if path == FINISH else WHOLE[path]) as stranger:
        asking = program(stranger.url)
        for times in range(1, 4):
            # Opens a connection that works.
            assert "verified" in asking.verify(**SIGN_IN)
            assert asking.finish_sign_in(HANDLE, TOKEN) == NO_ANSWER
            assert stranger.paths == {VERIFY: times, FINISH: times}


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_finish_is_sent_once_whatever_the_response(program, status):
    with Stranger(answer(status, {"code": "overloaded", "spent": False, "request_id": "r-1"}, Retry_After="0")) as stranger:
        said = program(stranger.url).finish_sign_in(HANDLE, TOKEN)
        assert said == {"error": status, "code": "overloaded", "spent": False}
        assert stranger.requests == 1


def test_a_finish_on_a_closed_connection_is_sent_at_most_once(program, language):
    with Stranger(WHOLE.get, closes=True) as stranger:
        asking = program(stranger.url)
        for times in range(1, 21):
            assert "verified" in asking.verify(**SIGN_IN)
            stranger.wait_until_closed()
            said = asking.finish_sign_in(HANDLE, TOKEN)
            if said == FINISHED:
                stranger.wait_until_closed()
            else:
                assert said == NO_ANSWER
                assert not language.finishes_over_new_connections
            assert stranger.paths.get(FINISH, 0) <= times


def test_a_finish_uses_a_new_connection_where_the_language_can(program, language):
    with Stranger(WHOLE.get) as stranger:
        asking = program(stranger.url)
        for _ in range(3):
            assert "verified" in asking.verify(**SIGN_IN)
            assert asking.finish_sign_in(HANDLE, TOKEN) == FINISHED
        assert stranger.connections == (4 if language.finishes_over_new_connections else 1)


def hung_up_once(path: str):
    """A server that closes the connection during the second request, and answers the others."""
    octets = iter([WHOLE[VERIFY], b"", WHOLE[path]])
    return lambda _: next(octets)


@pytest.mark.parametrize("path", [BEGIN, VERIFY])
def test_calls_that_use_nothing_up_are_retried(program, path):
    with Stranger(hung_up_once(path)) as stranger:
        asking = program(stranger.url)
        assert "verified" in asking.verify(**SIGN_IN)
        said = asking.begin_sign_in("oidc") if path == BEGIN else asking.verify(**SIGN_IN)
        assert "begun" in said or "verified" in said
        assert stranger.requests == 3


def test_a_single_use_nonce_is_sent_once(program):
    with Stranger(hung_up_once(VERIFY)) as stranger:
        asking = program(stranger.url)
        assert "verified" in asking.verify(**SIGN_IN)
        assert asking.verify(**SIGN_IN, single_use=True) == {"unavailable": 1}
        assert stranger.requests == 2
        assert "verified" in asking.verify(**SIGN_IN, single_use=True)


# MARK: Secrets


UNCAUGHT = {
    "python": [
        "import sys; sys.path.insert(0, 'python')",
        "from assay import Assay",
        "begun = Assay(sys.argv[1]).begin('oidc')",
        "print(begun, repr(begun), [begun])",
        "Assay(sys.argv[2]).finish(*sys.argv[3:])",
    ],
}


@pytest.mark.parametrize("name", UNCAUGHT)
def test_printed_objects_and_errors_contain_no_secrets(name):
    """The program prints a sign-in, and an uncaught error with its stack trace."""
    commands = {"python": ["python3", "-B", "-c"]}
    program = ";\n".join(UNCAUGHT[name]) + ";"
    with Stranger(WHOLE.get) as good, Stranger(answer(500, {"code": "internal"})) as bad:
        command = [*commands[name], program, good.url, bad.url, HANDLE, TOKEN]
        result = subprocess.run(command, cwd=CLIENTS, env=environment(), capture_output=True, text=True, check=False)
    said = result.stdout + result.stderr
    assert result.returncode != 0 and "Assay answered 500 internal" in said, said
    assert [secret for secret in (HANDLE, TOKEN, NONCE) if secret in said] == []
