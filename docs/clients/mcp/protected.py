"""The same MCP server, which asks Assay about each request: uvicorn protected:app"""

import json
import os

import httpx2
from starlette.requests import Request
from starlette.responses import Response

import server

ASSAY = os.environ.get("ASSAY", "http://127.0.0.1:8080")
KEY = os.environ.get("ASSAY_KEY")
RESOURCE = "mcp"
NEEDED = "notes:use"
# What a tool needs in addition.
NEEDED_BY = {"forget": ["notes:delete"]}
METADATA = "/.well-known/oauth-protected-resource"


def scopes(body: bytes) -> list[str]:
    """The scopes that a message needs."""
    try:
        messages = json.loads(body or b"[]")
    except ValueError:
        return [NEEDED]
    names = [
        message["params"].get("name")
        for message in (messages if isinstance(messages, list) else [messages])
        if isinstance(message, dict) and message.get("method") == "tools/call" and isinstance(message.get("params"), dict)
    ]
    more = [scope for name in names if isinstance(name, str) for scope in NEEDED_BY.get(name, [])]
    return list(dict.fromkeys([NEEDED, *more]))


def token(request: Request) -> str | None:
    """The bearer token; `None` if there is none. Two of them are no token at all."""
    values = request.headers.getlist("authorization")
    if len(values) != 1:
        return "" if values else None
    scheme, _, value = values[0].partition(" ")
    return value.strip(" ") if scheme.lower() == "bearer" else None


class Protected:
    """Passes a request on if Assay accepts its token; otherwise answers with Assay's challenge."""

    def __init__(self, app):
        self.app = app
        headers = {"Authorization": f"Bearer {KEY}"} if KEY else {}
        self.assay = httpx2.AsyncClient(base_url=ASSAY, headers=headers, timeout=12)

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        if request.url.path.startswith(METADATA):
            response = await self.metadata(request)
            await response(scope, receive, send)
            return
        body = await request.body()
        question = {"resource": RESOURCE, "token": token(request), "scopes": scopes(body)}
        answer = await self.assay.post("/v1/access-tokens/verify", json=question)
        if answer.status_code != 200:
            challenge = answer.json().get("challenge")
            # Without a challenge, Assay could not decide.
            response = Response(status_code=challenge["status"] if challenge else 503)
            if challenge:
                response.headers["WWW-Authenticate"] = challenge["www_authenticate"]
            await response(scope, receive, send)
            return
        subject = answer.json()["identity"]["subject"]
        # The client's own header is removed: only Assay says who calls.
        headers = [(name, value) for name, value in scope["headers"] if name != b"x-auth-subject"]
        scope = scope | {"headers": [*headers, (b"x-auth-subject", subject.encode())]}

        # The body has been read, and is given to the server once more.
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again():
            return next(messages, None) or await receive()

        await self.app(scope, again, send)

    async def metadata(self, request: Request) -> Response:
        """The document that says where to get a token, from Assay by the host that the client names."""
        headers = {"Host": request.headers["host"]}
        answer = await self.assay.request(request.method, request.url.path, headers=headers)
        kept = ("content-type", "cache-control", "access-control-")
        headers = {name: value for name, value in answer.headers.items() if name.startswith(kept)}
        return Response(answer.content, answer.status_code, headers)


app = Protected(server.app)
