"""What a backend does for its apps, with the Python client: it begins a sign-in, and finishes it."""

import logging

from assay import Assay, AssayError

assay = Assay()


def begin(provider: str) -> dict:
    """Returns the response to the app, which keeps `sign_in` in memory and gives the provider one of the two nonces."""
    begun = assay.begin(provider)
    return {"sign_in": begun.sign_in, "nonce": begun.nonce, "nonce_sha256": begun.nonce_sha256}


def finish(message: dict) -> tuple[int, dict]:
    """Returns the status and the body of the response. The app sends `sign_in`, `id_token` and perhaps `user`."""
    try:
        finished = assay.finish(message["sign_in"], message["id_token"], user=message.get("user"))
    except AssayError as error:
        logging.warning("sign-in: %s", error)
        if error.status in (0, 503) and not error.spent:
            return 503, {"error": "try again later"}
        if error.status in (0, 422, 503):
            return 401, {"error": "start a new sign-in"}
        return 500, {"error": "internal error"}
    # Find or create the user with these two, and start a session.
    return 200, {"issuer": finished.identity.issuer, "subject": finished.identity.subject}
