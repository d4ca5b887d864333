"""A client for your own tests, without Assay."""

from __future__ import annotations

import json
from typing import Any

from .client import Assay
from .codes import EXAMPLES
from .transport import NoAnswer, Reply

PATHS = {
    "/v1/sign-ins": "begin", "/v1/sign-ins/finish": "finish", "/v1/grants/refresh": "refresh", "/v1/grants/revoke": "revoke",
    "/v1/verify": "verify", "/v1/notifications/verify": "verify_notification",
    "/v1/access-tokens/verify": "verify_access_token", "/v1/sign-outs": "sign_out", "/v1/grants/proof": "proof",
}  # fmt: skip


class FakeAssay(Assay):
    """A client whose answers your test writes. All rules of the real one apply; waiting takes no time.

        assay = FakeAssay()
        assay.will("finish", identity={"subject": "user-1"})
        assay.will_fail("finish", 422, "token_expired")
        assay.will_not_answer("finish", sent=True)

    Answers are used in their order, for each call. A call without one fails with `AssertionError`.
    """

    def __init__(self, **options: Any):
        self._fake = _Fake()
        super().__init__(transport=self._fake, **options)

    def will(self, call: str, **members: Any) -> None:
        """`call` succeeds. `members` change an example: `identity={"subject": "user-1"}` keeps its other members."""
        name = call.removesuffix("_code")
        answer = b"" if name == "revoke" else json.dumps(_merged(json.loads(EXAMPLES)[name], members)).encode()
        status = {"begin": 201, "begin_in_browser": 201, "revoke": 204}.get(name, 200)
        self._fake.add(name, Reply(status, answer))

    def will_fail(self, call: str, status: int, code: str, *, retry_after: int | None = None, **members: Any) -> None:
        """`call` fails with this problem, for example with `spent=True`."""
        problem = {"status": status, "code": code, "detail": "scripted", "request_id": "fake", **members}
        self._fake.add(call.removesuffix("_code"), Reply(status, json.dumps(problem).encode(), retry_after))

    def will_not_answer(self, call: str, *, sent: bool) -> None:
        """The connection fails: after the request was sent, or before."""
        self._fake.add(call.removesuffix("_code"), NoAnswer(sent))

    @property
    def requests(self) -> list[tuple[str, dict[str, Any]]]:
        """Every request that would have been sent: its call and its members."""
        return self._fake.requests

    @property
    def waited(self) -> float:
        """Seconds that the client would have waited before it sent a request again."""
        return self._fake.waited


class _Fake:
    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.waited = 0.0
        self._answers: dict[str, list[Reply | NoAnswer]] = {}

    def add(self, call: str, answer: Reply | NoAnswer) -> None:
        self._answers.setdefault(call, []).append(answer)

    def send(self, path: str, body: bytes, headers: dict[str, str], timeout: float, once: bool) -> Reply:
        members = json.loads(body)
        call = PATHS[path]
        if "redirect_uri" in members and call == "begin" or "response" in members:
            call += "_in_browser"
        self.requests.append((call, members))
        if not self._answers.get(call):
            raise AssertionError(f"no answer is left for {call}: call will({call!r}, …) first")
        answer = self._answers[call].pop(0)
        if isinstance(answer, NoAnswer):
            raise answer
        return answer

    def now(self) -> float:
        return self.waited

    def sleep(self, seconds: float) -> None:
        self.waited += seconds


def _merged(example: Any, changes: Any) -> Any:
    if not isinstance(example, dict) or not isinstance(changes, dict):
        return changes
    return example | {name: _merged(example.get(name), value) for name, value in changes.items()}
