"""Sign-ins in the browser for Flask.

    app.register_blueprint(sign_ins(Assay(), "https://example.com", {"apple": "com.example.web"}, signed_in))
"""

from __future__ import annotations

from typing import Any, Callable, Mapping

import flask

from .client import Assay
from .models import FinishedSignIn
from .web import LARGEST_FORM, Answer, SignIns


def sign_ins(
    assay: Assay,
    origin: str,
    providers: Mapping[str, str],
    signed_in: Callable[[FinishedSignIn], Any],
    **options: Any,
) -> flask.Blueprint:
    """A blueprint with `/sign-in/{provider}?return_to=/path` and `/callback/{provider}`. `signed_in` returns a response.

    See `assay_client.web.SignIns`.
    """
    core, blueprint = SignIns(assay, origin, providers, **options), flask.Blueprint("assay", __name__)

    @blueprint.get("/sign-in/<provider>")
    def begin(provider: str) -> flask.Response:
        return _response(core.begin(provider, flask.request.args.get("return_to", "/")))

    @blueprint.route("/callback/<provider>", methods=["GET", "POST"])
    def finish(provider: str) -> flask.Response:
        request = flask.request
        if request.method == "POST":
            if (request.content_length or 0) > LARGEST_FORM:
                flask.abort(413)
            parameters = request.get_data(cache=False).decode("ascii", "replace")
        else:
            parameters = request.query_string.decode("ascii", "replace")
        answer = core.finish(provider, parameters, request.headers.get("Cookie", ""))
        if answer.finished is None:
            return _response(answer)
        response = flask.make_response(signed_in(answer.finished))
        response.headers.extend(answer.headers)
        return response

    return blueprint


def _response(answer: Answer) -> flask.Response:
    return flask.Response(answer.text, answer.status, answer.headers)
