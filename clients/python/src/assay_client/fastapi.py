"""Sign-ins in the browser for FastAPI.

    app.include_router(sign_ins(Assay(), "https://example.com", {"apple": "com.example.web"}, signed_in))
"""

from __future__ import annotations

from typing import Any, Callable, Mapping

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from .client import Assay
from .models import FinishedSignIn
from .web import LARGEST_FORM, Answer, SignIns


def sign_ins(
    assay: Assay,
    origin: str,
    providers: Mapping[str, str],
    signed_in: Callable[[Request, FinishedSignIn], Response],
    **options: Any,
) -> APIRouter:
    """A router with `/sign-in/{provider}?return_to=/path` and `/callback/{provider}`. `signed_in` returns a response.

    It is called on a thread, so it may block. See `assay_client.web.SignIns`.
    """
    core, router = SignIns(assay, origin, providers, **options), APIRouter()

    def begin(request: Request) -> Response:
        return _response(core.begin(request.path_params["provider"], request.query_params.get("return_to", "/")))

    async def finish(request: Request) -> Response:
        parameters = request.url.query
        if request.method == "POST":
            body = b""
            async for part in request.stream():
                body += part
                if len(body) > LARGEST_FORM:
                    return Response(status_code=413)
            parameters = body.decode("ascii", "replace")
        return await run_in_threadpool(end, request, parameters)

    def end(request: Request, parameters: str) -> Response:
        cookies = ";".join(request.headers.getlist("cookie"))
        answer = core.finish(request.path_params["provider"], parameters, cookies)
        if answer.finished is None:
            return _response(answer)
        return _with(signed_in(request, answer.finished), answer)

    # Plain routes: the parameters are the provider's, and no part of the API's description.
    router.add_route("/sign-in/{provider}", begin, methods=["GET"])
    router.add_route("/callback/{provider}", finish, methods=["GET", "POST"])
    return router


def _response(answer: Answer) -> Response:
    return _with(Response(answer.text, answer.status), answer)


def _with(response: Response, answer: Answer) -> Response:
    for name, value in answer.headers:
        if name == "Set-Cookie":
            response.headers.append(name, value)
        else:
            response.headers[name] = value
    return response
