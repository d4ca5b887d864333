"""PyJWT in an ASGI application, for uvicorn and granian. Environment: KEYS, a JWK Set file."""

import hashlib
import json
import os
import pathlib

import jwt

ISSUER = "https://appleid.apple.com"
AUDIENCE = "com.example.app"
OPTIONS = {"require": ["exp", "iat", "iss", "aud", "sub"]}
KEYS = {key["kid"]: jwt.PyJWK(key) for key in json.loads(pathlib.Path(os.environ["KEYS"]).read_text())["keys"]}


def is_true(value) -> bool:
    return value is True or value == "true"


def verify(request: dict) -> dict:
    token = request["id_token"]
    key = KEYS[jwt.get_unverified_header(token)["kid"]]
    claims = jwt.decode(
        token, key.key, algorithms=[key.algorithm_name], audience=AUDIENCE, issuer=ISSUER, options=OPTIONS
    )
    nonce = request.get("nonce")
    if nonce and hashlib.sha256(nonce.encode()).hexdigest() != claims["nonce"]:
        raise ValueError("another sign-in's nonce")
    return {
        "issuer": claims["iss"],
        "subject": claims["sub"],
        "audience": [claims["aud"]],
        "expires_at": claims["exp"],
        "issued_at": claims["iat"],
        "email": claims.get("email"),
        "email_verified": is_true(claims.get("email_verified")),
        "is_private_email": is_true(claims.get("is_private_email")),
        "real_user_status": claims.get("real_user_status"),
    }


async def app(scope, receive, send) -> None:
    if scope["type"] != "http":
        return
    body, has_more = b"", True
    while has_more:
        message = await receive()
        body += message.get("body", b"")
        has_more = message.get("more_body", False)
    try:
        status, answer = 200, json.dumps(verify(json.loads(body))).encode()
    except (jwt.PyJWTError, ValueError, KeyError):
        status, answer = 401, b'{"error":"invalid_token"}'
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": answer})
