"""A service under attack. Its answers and its log are searched for secrets that were sent to it."""

import contextlib
import json
import re

from attacks.catalogue import ACCEPTED
from harness.client import Response
from harness.service import Service

# Secrets are searched for in pieces of this length, to find parts of them too.
WINDOW = 16


class Target:
    """A service, and a function that makes tokens which it must still accept after any attack."""

    def __init__(self, service: Service, good):
        self.service = service
        self.good = good
        self._pieces: set[str] = set()

    def ask(self, made) -> Response:
        """Sends a token, a request, or a raw body. Asserts that the answer does not repeat the caller's secrets."""
        body = made if isinstance(made, bytes | dict) else {"id_token": made}
        secrets = self._secrets(body)
        self.keep_secret(*secrets)
        response = self.service.api.post("/v1/verify", body)
        if response.status != 200:
            assert not [secret for secret in secrets if secret in response.text], response
        return response

    def expect(self, made, *codes: str | None) -> dict:
        """Asserts that the answer has one of these codes, alone and in a batch, where another, valid item must pass."""
        response = self.ask(made)
        assert response.status == 200 or response.code, response
        assert response.code in codes, f"expected {' or '.join(map(str, codes))}: {response}"
        if not isinstance(made, bytes) and response.status != 413:
            item = made if isinstance(made, dict) else {"id_token": made}
            self._assert_same_in_a_batch(item, response)
            self._assert_same_in_an_explanation(item, response)
        return response.json

    def _assert_same_in_a_batch(self, item: dict, single: Response) -> None:
        response = self.service.api.post("/v1/verify/batch", {"items": [item, {"id_token": self.good()}]})
        assert response.status == 200, response
        result, neighbour = response.json["results"]
        assert "identity" in neighbour, neighbour
        if single.code is ACCEPTED:
            assert result.get("identity") == single.json["identity"]
        else:
            assert _lasting(result.get("error", {})) == _lasting(single.json)

    def _assert_same_in_an_explanation(self, item: dict, single: Response) -> None:
        response = self.service.admin.post("/v1/explain", item)
        if response.status == 200:
            assert response.json["code"] == single.code
            assert response.json["valid"] is (single.status == 200)
            assert not [secret for secret in self._secrets(item) if secret in response.text], response
        else:
            # Errors in the request rather than in its token.
            assert single.status in (400, 404)
            explained = _lasting(response.json)
            # The list of known members, which an explanation has one more of.
            explained["detail"] = explained["detail"].replace(", as, ", ", ")
            assert explained == _lasting(single.json)

    def assert_unharmed(self) -> None:
        """Asserts that the service runs, and that the next valid token passes."""
        code = self.service.process.poll()
        assert code is None, f"the service ended with {code}:\n" + "\n".join(self.service.log[-10:])
        response = self.ask(self.good())
        assert response.status == 200, response

    def keep_secret(self, *texts: str) -> None:
        """Registers secrets. No piece of them may ever appear in output."""
        for text in texts:
            pieces = (text[start : start + WINDOW] for start in range(0, len(text), WINDOW))
            self._pieces.update(piece for piece in pieces if len(piece) == WINDOW)

    def assert_pages_are_discreet(self) -> None:
        """Asserts that no page for operators contains a registered secret."""
        for path in ("/metrics", "/v1/providers", "/readyz", "/livez"):
            self._assert_no_secret(self.service.admin.get(path).text)

    def assert_log_is_discreet(self) -> None:
        """Asserts that the log contains no registered secret. Call this after the service has stopped and written everything."""
        for line in self.service.log + self.service.output:
            self._assert_no_secret(line)

    def _assert_no_secret(self, text: str) -> None:
        windows = {text[start : start + WINDOW] for start in range(len(text) - WINDOW + 1)}
        assert not windows & self._pieces, text

    @staticmethod
    def _secrets(body) -> list[str]:
        """The secrets in a request: the parts of its token, the nonce, the other tokens."""
        if isinstance(body, bytes):
            return [word.decode() for word in re.findall(rb"[\w-]{%d,}" % WINDOW, body)]
        texts = [body.get(name) for name in ("nonce", "access_token", "code")]
        token = body.get("id_token")
        texts += token.split(".", 8) if isinstance(token, str) else []
        return [text for text in texts if isinstance(text, str) and len(text) >= WINDOW]


def _lasting(problem: dict) -> dict:
    """A problem without the members that differ from request to request."""
    return {name: value for name, value in problem.items() if name != "request_id"}


@contextlib.contextmanager
def attacked(service: Service, good):
    """A service for one test. Asserts at the end that it is unharmed and has leaked nothing."""
    with service:
        target = Target(service, good)
        yield target
        target.assert_unharmed()
        target.assert_pages_are_discreet()
    target.assert_log_is_discreet()


def published_secrets(jwks) -> list[str]:
    """The key material in a JWK Set. It must not be logged."""
    keys = [key for key in jwks if isinstance(key, dict)]
    return [key[name] for key in keys for name in ("n", "x", "y", "k", "d") if isinstance(key.get(name), str)]


def raw(token: str, members: str = "") -> bytes:
    """A body with extra JSON text after the token."""
    return f'{{"id_token":{json.dumps(token)}{members}}}'.encode()
