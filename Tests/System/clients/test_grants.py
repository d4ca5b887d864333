"""Browser sign-ins, codes and grants in each language: what is sent, what is read, and what is never sent twice."""

import subprocess

import pytest

from clients.languages import CLIENTS, environment, without_nulls
from harness.stranger import IDENTITY, Stranger, answer, nowhere
from openapi.documented import document

BEGIN, FINISH, VERIFY = "/v1/sign-ins", "/v1/sign-ins/finish", "/v1/verify"
REFRESH, REVOKE = "/v1/grants/refresh", "/v1/grants/revoke"
HANDLE, TOKEN, CODE = "the-handle-of-a-sign-in", "the.secret.token", "the-secret-code"
STATE, URL = "the-secret-state", "https://op.example/authorize?state=the-secret-state"
ACCESS, OLD, NEW = "the-access-token", "the-old-refresh-token", "the-new-refresh-token"
CALLBACK = "https://example.com/callback/oidc"
CONTEXT = "/basket?für=✓"
SIGN_IN = {"provider": "oidc", "id_token": TOKEN, "nonce": "the-secret-nonce"}

GRANT = {
    "access_token": ACCESS,
    "token_type": "Bearer",
    "expires_at": 1_700_000_600,
    "refresh_token": NEW,
    "scopes": ["openid", "email"],
    "id_token": TOKEN,
}
SMALLEST = dict.fromkeys(GRANT) | {"access_token": ACCESS, "token_type": "Bearer"}
BEGUN = {"sign_in": HANDLE, "nonce": None, "nonce_sha256": None, "expires_at": 1_700_000_600}
BEGUN |= {"state": STATE, "authorization_url": URL}
FINISHED = {"identity": IDENTITY, "token": {}, "keys": {}, "context": CONTEXT, "grant": GRANT}
REFRESHED = {"grant": GRANT, "identity": IDENTITY, "token": {}, "keys": {}, "problem": None}
NO_KEYS = {"type": "urn:assay:problem:keys_unavailable", "title": "t", "status": 503, "code": "keys_unavailable"}

FINISH_REQUEST = {"sign_in": HANDLE, "response": {"code": CODE, "state": STATE}, "redirect_uri": CALLBACK}
REFRESH_REQUEST = {"provider": "oidc", "refresh_token": OLD, "subject": "user-1"}
REVOKE_REQUEST = {"provider": "oidc", "token": OLD}
CODE_REQUEST = {"provider": "oidc", "code": CODE}
# Each call: its path, a request, the response, and the example's output.
CALLS = {
    "begin_in_browser": (
        BEGIN, {"provider": "oidc", "redirect_uri": CALLBACK}, answer(201, BEGUN), {"begun_in_browser": BEGUN},
    ),
    "finish_in_browser": (FINISH, FINISH_REQUEST, answer(200, FINISHED), {"finished": FINISHED}),
    "finish": (FINISH, {"sign_in": HANDLE, "code": CODE}, answer(200, FINISHED), {"finished": FINISHED}),
    "refresh": (REFRESH, REFRESH_REQUEST, answer(200, REFRESHED), {"refreshed": REFRESHED}),
    "revoke": (REVOKE, REVOKE_REQUEST, answer(204, ""), {"revoked": True}),
    "revoke_by_code": (REVOKE, CODE_REQUEST, answer(204, ""), {"revoked": True}),
}  # fmt: skip
ONCE = ["finish_in_browser", "finish", "refresh", "revoke", "revoke_by_code"]
USES_UP = [name for name in ONCE if name != "revoke"]


def said_of(name: str) -> dict:
    """The example's output for a call, without members of the response that clients omit."""
    said = {what: members if members is True else dict(members) for what, members in CALLS[name][3].items()}
    for members in said.values():
        if members is not True:
            for left_out in ("token", "keys"):
                members.pop(left_out, None)
    return without_nulls(said)


# MARK: What is sent and read


MEMBERS = [
    ("begin_in_browser", {"audience": "client", "max_age": 600, "subject": "user-1", "issuer": "https://op.example"}),
    ("begin_in_browser", {"context": CONTEXT, "expires_in": 60, "scopes": ["openid", "email"], "prompt": "login"}),
    ("begin_in_browser", {"login_hint": "ada", "ui_locales": "de en", "acr_values": "a", "response_mode": "form_post"}),
    ("finish", {"id_token": TOKEN, "access_token": ACCESS, "redirect_uri": CALLBACK}),
    ("refresh", {"issuer": "https://op.example", "audience": "client", "scopes": ["openid"]}),
    ("revoke", {"token_type_hint": "refresh_token", "audience": "client"}),
    ("revoke_by_code", {"redirect_uri": CALLBACK, "audience": "client", "subject": "user-1", "issuer": "https://op.example"}),
    *((name, {}) for name in CALLS),
]


def test_each_call_sends_its_members_and_reads_the_response(program):
    with Stranger(lambda _: current) as stranger:
        asking = program(stranger.url)
        for name, more in MEMBERS:
            path, request, current, _ = CALLS[name]
            assert asking.call(name, **request | more) == said_of(name), name
            assert without_nulls(stranger.members[-1]) == request | more, name
            assert stranger.paths[path] > 0
        assert stranger.requests == len(MEMBERS)


OPERATIONS = {"refresh": "refreshGrant", "revoke": "revokeGrant", "revoke_by_code": "revokeGrant"}
OPERATIONS |= {"begin_in_browser": "beginSignIn", "finish": "finishSignIn", "finish_in_browser": "finishSignIn"}


def test_the_requests_and_grants_follow_the_contract():
    """The other tests compare clients with these."""
    contract = document()
    for name, more in MEMBERS:
        schema = contract.operation(OPERATIONS[name]).request.schema
        assert contract.errors(CALLS[name][1] | more, schema) == [], name
    for grant in (GRANT, SMALLEST):
        assert contract.errors(grant, "/components/schemas/Grant") == []


def test_optional_members_of_a_grant_may_be_absent(program):
    answers = [
        ("finish", FINISHED | {"grant": SMALLEST}, {"finished": {"grant": SMALLEST}}),
        ("refresh", REFRESHED | {"grant": SMALLEST, "identity": None}, {"refreshed": {"grant": SMALLEST, "identity": None}}),
        ("refresh", REFRESHED | {"identity": None, "problem": NO_KEYS}, {"refreshed": {"identity": None, "problem": "keys_unavailable"}}),
    ]  # fmt: skip
    with Stranger(lambda _: current) as stranger:
        asking = program(stranger.url)
        for name, members, changed in answers:
            current = answer(200, members)
            said = CALLS[name][3]
            expected = {what: {**value, **changed[what]} for what, value in said.items()}
            for value in expected.values():
                value.pop("token"), value.pop("keys")
            assert asking.call(name, **CALLS[name][1]) == without_nulls(expected)


def test_unknown_members_are_ignored(program):
    later = {"weather": "fine"}
    grant = GRANT | later
    answers = {
        "begin_in_browser": answer(201, BEGUN | later),
        "finish": answer(200, FINISHED | later | {"grant": grant}),
        "refresh": answer(200, REFRESHED | later | {"grant": grant, "identity": IDENTITY | later}),
    }
    with Stranger(lambda _: current) as stranger:
        asking = program(stranger.url)
        for name, current in answers.items():
            said = asking.call(name, **CALLS[name][1])
            assert without_weather(said) == said_of(name)


def without_weather(value):
    """Removes the unknown member, because TypeScript returns the response as it is."""
    if isinstance(value, list):
        return [without_weather(element) for element in value]
    if not isinstance(value, dict):
        return value
    return {name: without_weather(member) for name, member in value.items() if name != "weather"}


# MARK: Problems


def problem(status: int, code: str, **members) -> bytes:
    return answer(status, {"code": code, "request_id": "r-1"} | members, Retry_After="7")


def test_an_error_has_the_providers_error_and_the_context(program):
    with Stranger(problem(422, "sign_in_denied", provider_error="access_denied", context=CONTEXT, spent=False)) as stranger:
        said = program(stranger.url).call("finish_in_browser", **FINISH_REQUEST)
    assert said == {
        "error": 422, "code": "sign_in_denied", "spent": False, "provider_error": "access_denied", "context": CONTEXT,
    }  # fmt: skip


def test_each_error_says_whether_something_is_spent(program):
    problems = [("grant_invalid", 422), ("client_rejected", 502), ("provider_unavailable", 503), ("request_invalid", 400)]
    with Stranger(lambda _: current) as stranger:
        asking = program(stranger.url)
        for name in CALLS:
            for code, status in problems:
                for spent in (False, True):
                    current = problem(status, code, spent=spent)
                    said = asking.call(name, **CALLS[name][1])
                    assert said == {"error": status, "code": code, "spent": spent and name in USES_UP}, name


def test_responses_that_assay_never_sends_are_errors(program):
    html = "<html>Welcome!</html>"
    nothing = [html, "", [], "null", {}]
    strange = {
        "begin_in_browser": [(201, BEGUN | {"authorization_url": None}), (201, BEGUN | {"state": None}), (200, BEGUN)],
        "finish_in_browser": [(200, FINISHED | {"grant": {}}), (200, FINISHED | {"identity": None}), (201, FINISHED)],
        "refresh": [(200, REFRESHED | {"grant": None}), (200, REFRESHED | {"identity": {}}), (204, "")],
        "revoke": [(200, REFRESHED), (202, "")],
        "revoke_by_code": [(200, {})],
    }
    with Stranger(lambda _: answer(*current)) as stranger:
        asking = program(stranger.url)
        for name, answers in strange.items():
            right = {"begin_in_browser": 201}.get(name, 200)
            for current in answers + [(right, body) for body in nothing] + [(502, html), (404, []), (422, {})]:
                said = asking.call(name, **CALLS[name][1])
                said.pop("context", None)
                assert said == {"error": current[0], "spent": name in USES_UP}, (name, current)


# MARK: Retries


def test_a_refused_connection_spends_nothing(program):
    asking = program(nowhere())
    for name in CALLS:
        assert asking.call(name, **CALLS[name][1]) == {"error": 0, "spent": False}


@pytest.mark.parametrize("name", ONCE)
def test_calls_are_sent_once_even_if_the_connection_closes(program, name):
    path, request, _, _ = CALLS[name]
    good = answer(200, {"identity": IDENTITY, "token": {}, "keys": {}})
    with Stranger(lambda asked: b"" if asked == path else good) as stranger:
        asking = program(stranger.url)
        for times in range(1, 4):
            # Opens a connection that works.
            assert "verified" in asking.verify(**SIGN_IN)
            assert asking.call(name, **request) == {"error": 0, "spent": name in USES_UP}
            assert stranger.paths == {VERIFY: times, path: times}


@pytest.mark.parametrize("name", ONCE)
def test_calls_are_sent_once_whatever_the_response(program, name):
    with Stranger(lambda _: current) as stranger:
        asking = program(stranger.url)
        for times, status in enumerate((500, 502, 503), start=1):
            current = problem(status, "provider_unavailable", spent=False)
            said = asking.call(name, **CALLS[name][1])
            assert said == {"error": status, "code": "provider_unavailable", "spent": False}
            assert stranger.requests == times


def test_a_begin_is_retried(program):
    _, request, good, _ = CALLS["begin_in_browser"]
    verified = answer(200, {"identity": IDENTITY, "token": {}, "keys": {}})
    octets = iter([verified, b"", good])
    with Stranger(lambda _: next(octets)) as stranger:
        asking = program(stranger.url)
        assert "verified" in asking.verify(**SIGN_IN)
        assert asking.call("begin_in_browser", **request) == said_of("begin_in_browser")
        assert stranger.requests == 3


# MARK: Secrets


PRINTED = {
    "python": [
        "import sys; sys.path.insert(0, 'python')",
        "from assay import Assay",
        "assay = Assay(sys.argv[1])",
        "begun = assay.begin_in_browser('oidc', 'r')",
        "finished = assay.finish_in_browser('handle', {})",
        "refreshed = assay.refresh('oidc', 'r', 's')",
        "print(begun, [begun], finished, [finished], refreshed)",
    ],
}
ANSWERS = {BEGIN: answer(201, BEGUN), FINISH: answer(200, FINISHED), REFRESH: answer(200, REFRESHED)}


@pytest.mark.parametrize("name", PRINTED)
def test_printed_objects_contain_no_secrets(name):
    commands = {"python": ["python3", "-B", "-c"]}
    program = ";\n".join(PRINTED[name]) + ";"
    with Stranger(ANSWERS.get) as stranger:
        command = [*commands[name], program, stranger.url]
        result = subprocess.run(command, cwd=CLIENTS, env=environment(), capture_output=True, text=True, check=False)
    said = result.stdout + result.stderr
    assert result.returncode == 0 and "user-1" in said, said
    assert [secret for secret in (HANDLE, STATE, URL, ACCESS, NEW, TOKEN) if secret in said] == []
