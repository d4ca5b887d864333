"""The backend's side where Apple answers by a form (`response_mode=form_post`): Android, and pages that redirect.

    begin     from the app: the SHA-256 of its verifier; the answer is the address of Apple's page
    callback  from the browser, as a form that Apple's page posts; the answer is a redirect (303) to the app link
    finish    from the app: the code of the app link, and the verifier; then it is signed in
"""

import base64
import hashlib
import hmac
import itertools
import json
import secrets
import threading
import time
import urllib.parse
from dataclasses import dataclass

from assay import Assay, Identity, Refused, Unavailable, Verified

LIFETIME_SECONDS = 600


@dataclass
class SignIn:
    challenge: str
    nonce: str
    begun_at: float
    identity: Identity | None = None

    @property
    def is_late(self) -> bool:
        return time.monotonic() - self.begun_at > LIFETIME_SECONDS


class AppleSignIns:
    """In memory; use a table for more than one process. Each entry is taken once."""

    def __init__(self, assay: Assay, client_id: str, redirect_uri: str, app_link: str):
        """`client_id`: the Services ID, one of the provider's `audiences`. `redirect_uri`: where `callback` is reached, as
        registered at Apple. `app_link`: an https address that only the app opens."""
        self._assay, self._app_link = assay, app_link
        self._parameters = {"client_id": client_id, "redirect_uri": redirect_uri, "scope": "name email"}
        self._parameters |= {"response_type": "code id_token", "response_mode": "form_post"}
        self._lock = threading.Lock()
        self._begun: dict[str, SignIn] = {}
        self._ended: dict[str, SignIn] = {}

    def begin(self, challenge: str) -> str:
        state, nonce = secrets.token_urlsafe(), secrets.token_urlsafe()
        self._put(self._begun, state, SignIn(challenge, nonce, time.monotonic()))
        hashed = hashlib.sha256(nonce.encode()).hexdigest()
        parameters = self._parameters | {"state": state, "nonce": hashed}
        return "https://appleid.apple.com/auth/authorize?" + urllib.parse.urlencode(parameters)

    def callback(self, body: bytes) -> str:
        """Where the browser goes next. Apple's page is another site, so no `SameSite` cookie comes with its form: `state`
        says which sign-in it is, and `finish` that it is the app's own."""
        form = dict(urllib.parse.parse_qsl(body.decode("ascii", "replace"), max_num_fields=16))
        sign_in = self._take(self._begun, form.get("state", ""))
        if sign_in is None:
            return self._link(error="sign_in_unknown")
        if "error" in form:
            return self._link(error="cancelled" if form["error"] == "user_cancelled_authorize" else "refused")
        more = {"user": name} if (name := apple_user(form.get("user"))) else {}
        match self._assay.verify("apple", form.get("id_token", ""), sign_in.nonce, **more):
            case Verified(identity):
                sign_in.identity, code = identity, secrets.token_urlsafe()
                self._put(self._ended, code, sign_in)
                return self._link(code=code)
            case Refused():
                return self._link(error="refused")
            case Unavailable():
                return self._link(error="unavailable")

    def finish(self, code: str, verifier: str) -> Identity | None:
        """Who signed in. `None`: nobody, since it was somebody else's sign-in, or too late."""
        sign_in = self._take(self._ended, code)
        digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
        if sign_in is None or not hmac.compare_digest(digest, sign_in.challenge.encode()):
            return None
        return sign_in.identity

    def _link(self, **query: str) -> str:
        return f"{self._app_link}?{urllib.parse.urlencode(query)}"

    def _put(self, entries: dict[str, SignIn], key: str, sign_in: SignIn) -> None:
        with self._lock:
            # The oldest come first.
            late = itertools.takewhile(lambda entry: entry[1].is_late, entries.items())
            for old in [each for each, _ in late]:
                del entries[old]
            entries[key] = sign_in

    def _take(self, entries: dict[str, SignIn], key: str) -> SignIn | None:
        with self._lock:
            sign_in = entries.pop(key, None)
        return None if sign_in is None or sign_in.is_late else sign_in


def apple_user(text: str | None) -> dict | None:
    """Apple's form field `user`, as Assay takes it: the names and nothing else. `None` after the first sign-in."""
    try:
        name = json.loads(text or "{}")["name"]
        names = {part: name[part] for part in ("firstName", "lastName") if isinstance(name.get(part), str)}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return {"name": names} if names else None
