"""The backend's side where Apple answers by a form (`response_mode=form_post`): Android, and pages that redirect.

    begin     from the app, which keeps `sign_in` in memory; `url` is Apple's page
    callback  from the browser, as a form that Apple's page posts; the answer is a redirect (303) to the app link
    finish    from the app: the ticket of the app link, and the `sign_in` that it kept; then it is signed in
"""

import itertools
import json
import secrets
import threading
import time
import urllib.parse
from dataclasses import dataclass, field

from assay import Assay, FinishedSignIn

LIFETIME_SECONDS = 600


@dataclass
class Entry:
    """A sign-in that was begun, then Apple's form. It has no `sign_in`, which only the app keeps."""

    id_token: str = field(default="", repr=False)
    user: dict | None = field(default=None, repr=False)
    made_at: float = field(default_factory=time.monotonic)

    @property
    def is_late(self) -> bool:
        return time.monotonic() - self.made_at > LIFETIME_SECONDS


class AppleSignIns:
    """In memory; use a table for more than one process."""

    def __init__(self, assay: Assay, client_id: str, redirect_uri: str, app_link: str):
        """`client_id`: the Services ID, one of the provider's `audiences`. `redirect_uri`: where `callback` is reached, as
        registered at Apple. `app_link`: an https address that only the app opens."""
        self._assay, self._client_id, self._app_link = assay, client_id, app_link
        self._parameters = {"client_id": client_id, "redirect_uri": redirect_uri, "scope": "name email"}
        self._parameters |= {"response_type": "code id_token", "response_mode": "form_post"}
        self._lock = threading.Lock()
        self._begun: dict[str, Entry] = {}
        self._forms: dict[str, Entry] = {}

    def begin(self) -> dict:
        """Raises `AssayError`."""
        begun = self._assay.begin("apple", audience=self._client_id, expires_in=LIFETIME_SECONDS)
        state = secrets.token_urlsafe()
        self._put(self._begun, state, Entry())
        parameters = self._parameters | {"state": state, "nonce": begun.nonce_sha256}
        url = "https://appleid.apple.com/auth/authorize?" + urllib.parse.urlencode(parameters)
        return {"sign_in": begun.sign_in, "url": url}

    def callback(self, body: bytes) -> str:
        """Returns the URL to redirect to. Anyone can post a form, so it signs nobody in: its token is for `finish`, which needs the
        `sign_in` of the token's nonce. `state` only keeps out unsolicited forms."""
        form = dict(urllib.parse.parse_qsl(body.decode("ascii", "replace"), max_num_fields=16))
        if self._take(self._begun, form.get("state", "")) is None:
            return self._link(error="sign_in_unknown")
        if "error" in form:
            return self._link(error="cancelled" if form["error"] == "user_cancelled_authorize" else "refused")
        ticket = secrets.token_urlsafe()
        self._put(self._forms, ticket, Entry(form.get("id_token", ""), apple_user(form.get("user"))))
        return self._link(ticket=ticket)

    def finish(self, ticket: str, sign_in: str) -> FinishedSignIn | None:
        """Returns who signed in; `None` if there is no such ticket, or it has expired. Raises `AssayError`.

        The form is kept after an error, so that the same finish may be sent again if the error is not `spent`."""
        form = self._forms.get(ticket)
        if form is None or form.is_late:
            return None
        finished = self._assay.finish(sign_in, form.id_token, user=form.user)
        self._take(self._forms, ticket)
        return finished

    def _link(self, **query: str) -> str:
        return f"{self._app_link}?{urllib.parse.urlencode(query)}"

    def _put(self, entries: dict[str, Entry], key: str, entry: Entry) -> None:
        with self._lock:
            # The oldest come first.
            late = itertools.takewhile(lambda each: each[1].is_late, entries.items())
            for old in [each for each, _ in late]:
                del entries[old]
            entries[key] = entry

    def _take(self, entries: dict[str, Entry], key: str) -> Entry | None:
        with self._lock:
            entry = entries.pop(key, None)
        return None if entry is None or entry.is_late else entry


def apple_user(text: str | None) -> dict | None:
    """Apple's form field `user`, as Assay takes it: the names and nothing else. `None` after the first sign-in."""
    try:
        name = json.loads(text or "{}")["name"]
        names = {part: name[part] for part in ("firstName", "lastName") if isinstance(name.get(part), str)}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return {"name": names} if names else None
