"""Sign-ins in the browser for Django.

    urlpatterns = [*sign_ins(Assay(), "https://example.com", {"apple": "com.example.web"}, signed_in)]
"""

from __future__ import annotations

from typing import Any, Callable, Mapping

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods

from .client import Assay
from .models import FinishedSignIn
from .web import LARGEST_FORM, Answer, SignIns


def sign_ins(
    assay: Assay,
    origin: str,
    providers: Mapping[str, str],
    signed_in: Callable[[HttpRequest, FinishedSignIn], HttpResponse],
    **options: Any,
) -> list[URLPattern]:
    """URLs for `/sign-in/{provider}?return_to=/path` and `/callback/{provider}`. `signed_in` returns a response.

    See `assay_client.web.SignIns`.
    """
    core = SignIns(assay, origin, providers, **options)

    @require_GET
    def begin(request: HttpRequest, provider: str) -> HttpResponse:
        return _with(HttpResponse(), core.begin(provider, request.GET.get("return_to", "/")))

    # The provider's page posts the form. The cookie, and the response's state, protect it as a token would.
    @csrf_exempt
    @require_http_methods(["GET", "POST"])
    def finish(request: HttpRequest, provider: str) -> HttpResponse:
        if int(request.META.get("CONTENT_LENGTH") or 0) > LARGEST_FORM:
            return HttpResponse(status=413)
        posted = request.body.decode("ascii", "replace")
        parameters = posted if request.method == "POST" else request.META.get("QUERY_STRING", "")
        answer = core.finish(provider, parameters, request.headers.get("Cookie", ""))
        return _with(HttpResponse() if answer.finished is None else signed_in(request, answer.finished), answer)

    return [path("sign-in/<str:provider>", begin), path("callback/<str:provider>", finish)]


def _with(response: HttpResponse, answer: Answer) -> HttpResponse:
    if answer.finished is None:
        response.status_code, response.content = answer.status, answer.text
    for name, value in answer.headers:
        if name == "Set-Cookie":
            cookie_name, _, rest = value.partition("=")
            content, *attributes = rest.split("; ")
            every = dict(each.split("=") for each in attributes if "=" in each)
            response.set_cookie(
                cookie_name, content, int(every["Max-Age"]), secure=True, httponly=True, samesite=every["SameSite"]
            )
        else:
            response.headers[name] = value
    return response
