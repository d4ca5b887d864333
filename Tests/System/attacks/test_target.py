"""The assertions that all cases share can fail."""

import json
import types

import pytest

from attacks.target import Target
from harness.client import Response
from harness.contract import STATUS

SECRET = "eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYSJ9"
TOKEN = f"{SECRET}.{SECRET[::-1]}.{SECRET.lower()}"


def problem(code: str = "signature_invalid", detail: str = "No.") -> Response:
    body = json.dumps({"code": code, "detail": detail, "status": STATUS[code], "request_id": "r"}).encode()
    return Response(STATUS[code], [("Content-Type", "application/problem+json")], body)


def accepted(**more) -> Response:
    return Response(
        200, [("Content-Type", "application/json")], json.dumps({"identity": {"subject": "s"}} | more).encode()
    )


def batch(*results: Response) -> Response:
    items = [result.json if result.status == 200 else {"error": result.json} for result in results]
    return Response(200, [("Content-Type", "application/json")], json.dumps({"results": items}).encode())


def explained(code: str | None, **more) -> Response:
    body = {"code": code, "valid": code is None} | more
    return Response(200, [("Content-Type", "application/json")], json.dumps(body).encode())


def target(
    single: Response,
    together: Response | None = None,
    explanation: Response | None = None,
    *,
    exit_code: int | None = None,
    log=(),
    page="",
) -> Target:
    """A target whose service always returns this answer."""
    explanation = explanation or explained(single.code)
    answers = {"/v1/verify": single, "/v1/verify/batch": together or batch(single, accepted())}
    service = types.SimpleNamespace(
        api=types.SimpleNamespace(post=lambda path, body: answers[path]),
        admin=types.SimpleNamespace(
            get=lambda path: Response(200, [], page.encode()), post=lambda path, body: explanation
        ),
        process=types.SimpleNamespace(poll=lambda: exit_code),
        log=list(log),
        output=[],
    )
    return Target(service, lambda: "good.good.good")


def test_a_correct_answer_passes():
    refusing = target(problem(), log=["an honest line"])
    refusing.expect(TOKEN, "signature_invalid")
    refusing.assert_log_is_discreet()
    refusing.assert_pages_are_discreet()
    accepting = target(accepted())
    accepting.expect(TOKEN, None)
    accepting.assert_unharmed()


FAULTS = {
    "another code": target(problem("token_expired")),
    "accepted": target(accepted()),
    "a part of the token in the answer": target(problem(detail=f"The header {SECRET} is bad.")),
    "another code in a batch": target(problem(), batch(problem("token_expired"), accepted())),
    "another detail in a batch": target(problem(), batch(problem(detail="Yes and no."), accepted())),
    "accepted in a batch": target(problem(), batch(accepted(), accepted())),
    "the neighbour in a batch refused": target(problem(), batch(problem(), problem())),
    "another code in an explanation": target(problem(), explanation=explained("token_expired")),
    "valid in an explanation": target(problem(), explanation=explained("signature_invalid", valid=True)),
    "a part of the token in an explanation": target(problem(), explanation=explained("signature_invalid", found=SECRET)),
    "a problem in place of an explanation": target(problem(), explanation=problem()),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_answer_is_caught(name):
    with pytest.raises(AssertionError):
        FAULTS[name].expect(TOKEN, "signature_invalid")


@pytest.mark.parametrize("secret", [TOKEN, SECRET, SECRET[5:37], TOKEN[60:]])
def test_a_part_of_a_token_in_the_log_is_caught(secret):
    leaking = target(problem(), log=["an honest line", json.dumps({"message": f"refused {secret}"})])
    leaking.expect(TOKEN, "signature_invalid")
    with pytest.raises(AssertionError):
        leaking.assert_log_is_discreet()


def test_a_nonce_on_a_page_for_operators_is_caught():
    leaking = target(problem(), page='x_total{nonce="a nonce of this very sign-in"} 1')
    leaking.expect({"id_token": TOKEN, "nonce": "a nonce of this very sign-in"}, "signature_invalid")
    with pytest.raises(AssertionError):
        leaking.assert_pages_are_discreet()


@pytest.mark.parametrize("harmed", [target(accepted(), exit_code=-11), target(problem("overloaded"))])
def test_a_harmed_service_is_caught(harmed):
    with pytest.raises(AssertionError):
        harmed.assert_unharmed()
