"""The browser's part of sign-ins, for any framework: two redirects and one cookie.

`assay_client.flask`, `.django` and `.fastapi` use it.
"""

from __future__ import annotations

import logging
import re
import urllib.parse
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping

from .client import Assay
from .errors import AssayError
from .models import FinishedSignIn

LARGEST_FORM = 65_536
log = logging.getLogger("assay_client")


@dataclass(frozen=True)
class Answer:
    """What to send to the browser. With `finished`, the user has signed in: start a session, and add `headers` to your response."""

    status: int
    headers: list[tuple[str, str]] = field(repr=False)
    text: str = ""
    finished: FinishedSignIn | None = None


class SignIns:
    """Begins and finishes sign-ins in the browser. The site needs HTTPS, or the host `localhost`.

    `origin` is the site's, such as `https://example.com`. `providers` has the client of each provider:
    `{"apple": "com.example.web"}`. The redirect URI of each, in Assay's settings and at the provider, is
    `{origin}/callback/{provider}`. `options` are more options of `Assay.begin_in_browser`, such as `scopes`.
    """

    def __init__(self, assay: Assay, origin: str, providers: Mapping[str, str], **options: Any):
        self._assay, self._origin, self._providers, self._options = assay, origin.rstrip("/"), dict(providers), options

    def begin(self, provider: str, return_to: str = "/") -> Answer:
        """Redirects to the provider. `return_to` becomes `finished.context`, if it is a path of this site, and else `/`."""
        if provider not in self._providers:
            return _answer(404, "Not found.")
        # A path that begins with two slashes would be another site's.
        context = return_to if re.fullmatch(r"/(?![/\\])[\x21-\x7e]{0,500}", return_to) else "/"
        audience = self._providers[provider]
        try:
            begun = self._assay.begin_in_browser(
                provider, self._redirect_uri(provider), audience=audience, context=context, **self._options
            )
        except AssayError as error:
            log.warning("begin: %s", error)
            return _answer(503 if error.may_retry else 500, "Signing in is not possible right now. Please try again later.")
        # The provider's page posts a form from another site, and browsers send no Lax cookie with it.
        # A request that was pushed or signed does not show how it is answered.
        posts = any(part in begun.authorization_url for part in ("response_mode=form_post", "request=", "request_uri="))
        kept = _cookie(f"__Host-sign-in-{begun.state}", begun.sign_in, 600, "None" if posts else "Lax")
        return _answer(303, "", ("Location", begun.authorization_url), ("Set-Cookie", kept))

    def finish(self, provider: str, parameters: str, cookies: str) -> Answer:
        """`parameters`: the query of a GET, or the form of a POST. `cookies`: the field `Cookie`."""
        every = urllib.parse.parse_qsl(parameters, keep_blank_values=True)
        response = dict(every)
        name = f"__Host-sign-in-{response.get('state', '')}"
        # The cookie binds the sign-in to this browser. Without it, another browser began the sign-in.
        sign_in = cookie_value(cookies, name)
        if provider not in self._providers or sign_in is None or len(response) != len(every):
            return _answer(400, "This sign-in was begun in another browser, or too long ago. Please sign in again.")
        done = ("Set-Cookie", _cookie(name, "", 0, "Lax"))
        try:
            finished = self._assay.finish_in_browser(sign_in, response, self._redirect_uri(provider))
        except AssayError as error:
            if error.code == "sign_in_denied":
                return _answer(303, "", ("Location", error.context or "/"), done)
            log.warning("finish: %s", error)
            if error.may_retry:
                # The cookie stays, so that reloading the page repeats the finish.
                return _answer(503, "Signing in takes longer than usual. Please reload this page in a moment.")
            status = 400 if error.status in (0, 422, 503) else 500
            return _answer(status, "That did not work. Please sign in again.", done)
        return Answer(200, [done, *COMMON], finished=finished)

    def _redirect_uri(self, provider: str) -> str:
        return f"{self._origin}/callback/{provider}"


# The URL of a callback contains a code, which no other site may see.
COMMON = [("Cache-Control", "no-store"), ("Referrer-Policy", "same-origin")]


def _answer(status: int, text: str, *headers: tuple[str, str]) -> Answer:
    return Answer(status, [("Content-Type", "text/plain; charset=utf-8"), *headers, *COMMON], text)


def _cookie(name: str, value: str, seconds: int, same_site: str) -> str:
    """Sent only to this host over HTTPS, and hidden from scripts."""
    return f"{name}={value}; Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite={same_site}"


def cookie_value(header: str, name: str) -> str | None:
    """A cookie's value, byte for byte as the browser sent it (RFC 6265bis).

    More lenient parsers let other sites plant a `__Host-` cookie. Two cookies of one name count as none, because one of them may
    be an attacker's.
    """
    pairs: Iterable[tuple[str, str, str]] = (pair.strip(" \t").partition("=") for pair in header.split(";"))
    values = [value for each, equals, value in pairs if equals and each == name]
    return values[0] if len(values) == 1 else None
