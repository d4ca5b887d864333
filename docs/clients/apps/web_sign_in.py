"""The backend's side of a sign-in in a web page: between the two calls, the browser has `sign_in` in a cookie.

    begin     from the page, by POST; the response sets the cookie
    finish    from the page, by POST; the browser sends the cookie
"""

from assay import Assay, FinishedSignIn


class WebSignIns:
    def __init__(self, assay: Assay, audiences: dict[str, str]):
        """`audiences`: of each provider, the client ID that the page signs in to."""
        self._assay, self._audiences = assay, audiences

    def begin(self, provider: str) -> tuple[dict, str]:
        """Returns the JSON for the page, and `Set-Cookie`. Raises `KeyError` for an unknown provider, and `AssayError`."""
        begun = self._assay.begin(provider, audience=self._audiences[provider])
        return {"nonce": begun.nonce, "nonce_sha256": begun.nonce_sha256}, cookie(provider, begun.sign_in, 600)

    def finish(self, cookies: str, message: dict) -> tuple[FinishedSignIn, str]:
        """Returns who signed in, and `Set-Cookie`. Raises `KeyError` if the browser has begun no such sign-in, and `AssayError`.

        `cookies` is the request's `Cookie`; `message` is what the page sends: `provider`, `id_token` and perhaps `user`.
        """
        provider = message["provider"]
        sign_in = cookie_value(cookies, cookie_name(provider))
        if sign_in is None:
            raise KeyError(provider)
        finished = self._assay.finish(sign_in, message["id_token"], user=message.get("user"))
        return finished, cookie(provider, "", 0)


def cookie_value(header: str, name: str) -> str | None:
    """Returns a cookie's value, byte for byte as the browser sent it (RFC 6265bis). More lenient parsers let other sites plant a
    `__Host-` cookie. Two cookies of one name count as none, because one of them may be an attacker's."""
    pairs = (pair.strip(" \t").partition("=") for pair in header.split(";"))
    values = [value for each, equals, value in pairs if equals and each == name]
    return values[0] if len(values) == 1 else None


def cookie_name(provider: str) -> str:
    return f"__Host-sign-in-{provider}"


def cookie(provider: str, value: str, seconds: int) -> str:
    """Only for this host and over https, for no script, and with no POST of another site."""
    return f"{cookie_name(provider)}={value}; Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite=Lax"
