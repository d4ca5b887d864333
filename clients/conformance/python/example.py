import logging

from assay_client import Assay, AssayError, Refused


def finish(assay: Assay, sign_in: str, id_token: str, user: dict | None = None) -> tuple[int, dict]:
    """Finishes an app's sign-in: the status and the body of the response."""
    try:
        finished = assay.finish(sign_in, id_token, user=user)
    except AssayError as error:
        logging.warning("sign-in: %s", error)
        if error.may_retry:
            return 503, {"error": "try again later"}
        if error.spent or isinstance(error, Refused):
            return 401, {"error": "start a new sign-in"}
        return 500, {"error": "internal error"}
    # Find or create the user with these two, and start a session.
    return 200, {"issuer": finished.identity.issuer, "subject": finished.identity.subject}
