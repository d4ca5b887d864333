"""The contract's promises about every response. All responses to tests are checked here and kept in `recording`."""

import contextlib
import json
import os
import pathlib
import re

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
# Every code with its only status, as in the examples of openapi.yaml. No test may receive `internal`.
_EXAMPLES = re.findall(r"\bstatus: (\d{3}), code: (\w+)", (REPOSITORY / "openapi.yaml").read_text(encoding="utf-8"))
STATUS = {code: int(status) for status, code in _EXAMPLES if code != "internal"}
# No time mends a request that is not known: the gateway's configuration is wrong.
RETRY_AFTER = {code for code, status in STATUS.items() if status == 503} - {"request_unknown"}
NAMES_ERROR = {"grant_invalid", "client_rejected", "provider_refused"}
NAMES_CLAIM = {"claim_missing", "claim_invalid"}
# Documents that do not depend on who asks.
PUBLIC = ("/v1/resources/", "/.well-known/oauth-protected-resource", "/v1/jwks")
PROBLEM_MEMBERS = {"type", "title", "status", "detail", "code", "request_id"}

STRING, INTEGER, BOOLEAN, NULL = str, int, bool, type(None)
IDENTITY = {
    "provider": {STRING},
    "issuer": {STRING},
    "subject": {STRING},
    "email": {STRING, NULL},
    "email_verified": {BOOLEAN, NULL},
    "email_trust": {"authoritative", "verified", "unverified", None},
    "is_private_email": {BOOLEAN, NULL},
    "name": {STRING, NULL},
    "given_name": {STRING, NULL},
    "family_name": {STRING, NULL},
    "name_source": {"token", "client", "user_info", None},
    "preferred_username": {STRING, NULL},
    "picture": {STRING, NULL},
    "locale": {STRING, NULL},
    "real_user_status": {"unsupported", "unknown", "likely_real", None},
    "transfer_subject": {STRING, NULL},
    "tenant": {STRING, NULL},
    "hosted_domain": {STRING, NULL},
}
TOKEN = {
    "audience": {list},
    "authorized_party": {STRING, NULL},
    "issued_at": {INTEGER},
    "expires_at": {INTEGER},
    "not_before": {INTEGER, NULL},
    "auth_time": {INTEGER, NULL},
    "token_id": {STRING, NULL},
    "session_id": {STRING, NULL},
    "acr": {STRING, NULL},
    "amr": {list},
    "algorithm": {STRING},
    "key_id": {STRING, NULL},
    "nonce_match": {"sha256_hex", "sha256_base64url", "plain", None},
}
KEYS = {"source": {"network", "disk", "file"}, "age_seconds": {INTEGER}, "stale": {BOOLEAN}}

NOTIFICATION = {
    "provider": {STRING},
    "issuer": {STRING},
    "kind": {"apple", "logout", "security_event"},
    "id": {STRING},
    "issued_at": {INTEGER},
}
EVENT_TYPES = {
    "consent_revoked", "account_deleted", "email_relay_disabled", "email_relay_enabled", "logged_out",
    "sessions_revoked", "tokens_revoked", "account_disabled", "account_enabled", "credential_change_required",
    "identifier_changed", "identifier_recycled", "verification", "other",
}  # fmt: skip
EVENT = {
    "type": {STRING},
    "subject": {STRING, NULL},
    "session_id": {STRING, NULL},
    "email": {STRING, NULL},
    "is_private_email": {BOOLEAN, NULL},
    "occurred_at": {INTEGER, NULL},
    "reason": {STRING, NULL},
    "data": {dict},
}

# Every (method, path, status, code, body) received, for comparison with openapi.yaml.
recording: list[dict] = []


def unique_members(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"duplicate member in a response: {names}"
    return dict(pairs)


def strict_json(text: bytes):
    return json.loads(text.decode("utf-8"), object_pairs_hook=unique_members)


def check(method: str, path: str, response, request_id: str | None = None) -> None:
    """Records a response and checks it against the contract."""
    _record(method, path, response)
    assert_promised(method, path, response, request_id)


def assert_promised(method: str, path: str, response, request_id: str | None = None) -> None:
    """Asserts the promises about every response. `request_id` is the one in the request, if any."""
    ids = response.all("X-Request-Id")
    assert len(ids) == 1, f"one X-Request-Id expected, not {ids}"
    assert re.fullmatch(r"[\x21-\x7e]{1,128}", ids[0]), ids
    if request_id is not None and re.fullmatch(r"[\x21-\x7e]{1,128}", request_id):
        assert ids[0] == request_id
    is_public = response.status == 200 and path.startswith(PUBLIC)
    assert response.all("Cache-Control") == ["max-age=3600" if is_public else "no-store"], response.headers
    assert response.status != 500, response

    if path.startswith("/v1/forward-auth/") and response.status in (200, 401, 403):
        check_decision(response)
        return
    content_type = (response.header("Content-Type") or "").split(";")[0].strip()
    if response.status >= 400 and method != "HEAD":
        if path.split("?")[0] == "/readyz" and response.status == 503 and content_type == "application/json":
            strict_json(response.body)
            return
        assert content_type == "application/problem+json", response.headers
        problem = check_problem(strict_json(response.body), response.status)
        assert problem["request_id"] == ids[0]
        _check_headers(response, problem["code"])
    elif response.status == 200 and path == "/v1/verify":
        assert content_type == "application/json"
        check_success(strict_json(response.body))
    elif response.status == 200 and path == "/v1/notifications/verify":
        assert content_type == "application/json"
        check_notification(strict_json(response.body))
    elif response.status == 200 and path == "/v1/verify/batch":
        assert content_type == "application/json"
        batch = strict_json(response.body)
        assert set(batch) == {"results"}
        for result in batch["results"]:
            if "error" in result:
                assert set(result) == {"error"}
                assert check_problem(result["error"])["request_id"] == ids[0]
            else:
                check_success(result)


ALGORITHMS = 'DPoP algs="[A-Za-z0-9 ]+"'
PROVING = f'DPoP (error="(invalid_request|invalid_token|invalid_dpop_proof|use_dpop_nonce)", )?{ALGORITHMS[5:]}'


def check_decision(response) -> None:
    """Checks the promises about every decision for a gateway, which consists of status and header fields alone."""
    assert (response.body, response.header("Content-Type")) == (b"", None), response
    challenges = response.all("WWW-Authenticate")
    if response.status == 200:
        assert challenges == [], response.headers
        return
    of_proof = re.compile(f'(Bearer(?: error="(invalid_request|invalid_token)")?(, {ALGORITHMS})?|{PROVING})')
    assert len(response.all("DPoP-Nonce")) <= 1, response.headers
    # A policy with a resource adds the address of its metadata.
    of_resource = re.compile(r'(?:Bearer|DPoP) (error="\w+", )?(scope="[^"\\]+", )?resource_metadata="[^"\\]+"(, .*)?')
    if len(challenges) == 1 and of_resource.fullmatch(challenges[0]):
        return
    if response.status == 401:
        (challenge,) = challenges
        assert of_proof.fullmatch(challenge), response.headers
    elif challenges:
        (challenge,) = challenges
        insufficient = r'error="insufficient_scope", scope="[^"\\]+"'
        assert re.fullmatch(f"(Bearer {insufficient}(, {ALGORITHMS})?|DPoP {insufficient}, algs=.*)", challenge), response.headers


def check_problem(problem: dict, status: int | None = None) -> dict:
    code = problem.get("code")
    assert code in STATUS, problem
    expected = PROBLEM_MEMBERS | ({"claim"} if code in NAMES_CLAIM else set())
    expected = expected | ({"provider_error"} if code in NAMES_ERROR else set())
    # If the provider ended a sign-in in the browser.
    if code == "sign_in_denied" or (code == "provider_refused" and "context" in problem):
        expected = expected | {"context"}
        assert type(problem["context"]) in (str, NULL), problem
    # For calls that use something up.
    if "spent" in problem:
        expected = expected | {"spent"}
        assert isinstance(problem["spent"], bool), problem
    # For a request that names a resource.
    if "challenge" in problem:
        assert problem["status"] == 422, problem
        expected = expected | {"challenge"}
        challenge = problem["challenge"]
        assert set(challenge) == {"status", "www_authenticate"} and challenge["status"] in (401, 403), problem
        assert challenge["www_authenticate"].startswith(("Bearer ", "DPoP ")), problem
    # For calls whose DPoP proofs need a nonce.
    if "dpop_nonce" in problem:
        expected = expected | {"dpop_nonce"}
    assert set(problem) == expected, problem
    assert problem["type"] == "urn:assay:problem:" + code
    assert problem["status"] == STATUS[code], problem
    assert status is None or problem["status"] == status, problem
    assert all(isinstance(problem[name], str) and problem[name] for name in expected - {"status", "spent", "context", "challenge"}), problem
    assert "\n" not in problem["detail"] and problem["detail"].endswith(".") and not problem["title"].endswith("."), problem
    if "claim" in expected:
        assert problem["claim"] in problem["detail"], problem
    return problem


def _check_headers(response, code: str) -> None:
    if code in RETRY_AFTER:
        assert re.fullmatch(r"[1-9]\d{0,4}", response.header("Retry-After") or ""), response.headers
    if code == "method_not_allowed":
        assert re.fullmatch(r"[A-Z]+(, ?[A-Z]+)*", response.header("Allow") or ""), response.headers


def check_success(answer: dict) -> None:
    """Checks that a 200 response to a single verify has exactly its members, with the right types."""
    assert set(answer) - {"claims"} == {"identity", "token", "keys"}, answer
    identity = dict(answer["identity"])
    # A member that only answers of entries with `issuers: any` have.
    assert type(identity.pop("connection", "")) is str
    _check_members(identity, IDENTITY)
    token = dict(answer["token"])
    # A member that only answers for encrypted tokens have.
    encryption = token.pop("encryption", None)
    assert encryption is None or set(encryption) == {"algorithm", "content", "key_id"}
    _check_members(token, TOKEN)
    _check_members(answer["keys"], KEYS)
    assert all(type(entry) is str for entry in answer["token"]["audience"])
    assert all(type(entry) is str for entry in answer["token"]["amr"])
    assert answer["keys"]["age_seconds"] >= 0
    assert 1 <= len(identity["subject"]) <= 255
    assert (identity["email"] is None) == (identity["email_trust"] is None)


def check_notification(answer: dict) -> None:
    """Checks that a 200 response to a notification has exactly its members, with the right types."""
    assert set(answer) == {"notification", "events", "keys"}, answer
    _check_members(answer["notification"], NOTIFICATION)
    _check_members(answer["keys"], KEYS)
    assert 1 <= len(answer["events"]) <= 16
    for event in answer["events"]:
        _check_members(event, EVENT)
        assert event["type"] in EVENT_TYPES, event


def _check_members(members: dict, expected: dict) -> None:
    assert set(members) == set(expected), members
    for name, allowed in expected.items():
        value = members[name]
        assert type(value) in allowed or (type(value) in (str, NULL) and value in allowed), (name, value)


def _record(method: str, path: str, response) -> None:
    if path.startswith("/v1/forward-auth/"):
        # All methods and subpaths are one operation. A response to HEAD has no content to compare.
        if method == "HEAD":
            return
        method, path = "GET", "/".join(path.split("?")[0].split("/")[:4])
    code, body = None, response.body.decode("utf-8", "replace")
    with contextlib.suppress(ValueError, AttributeError):
        answer = json.loads(body)
        # An explanation also has a code, but is not a problem.
        code = answer.get("code") if "type" in answer else None
    recording.append({"method": method, "path": path, "status": response.status, "code": code, "body": body})


def dump_recording() -> None:
    """If ASSAY_RECORD is set, writes the recording as JSON lines to a file in that folder."""
    if folder := os.environ.get("ASSAY_RECORD"):
        lines = [json.dumps(entry) + "\n" for entry in recording]
        pathlib.Path(folder, f"{os.getpid()}.jsonl").write_text("".join(lines), encoding="utf-8")


def recorded(folder: str) -> list[dict]:
    """The recordings of other runs in a folder."""
    return [
        json.loads(line)
        for file in sorted(pathlib.Path(folder).glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def assert_code(response, *codes: str) -> dict:
    """Asserts that a response is a problem with one of these codes; returns the problem."""
    assert response.code in codes, f"expected {' or '.join(codes)}: {response}"
    return response.json


def minimal_identity(issuer: str) -> dict:
    """The identity of a token with only the required claims."""
    return dict.fromkeys(IDENTITY) | {"provider": "oidc", "issuer": issuer, "subject": "user-1"}
