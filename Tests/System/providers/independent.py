"""Checks of tokens without Assay, using other code and the provider's published keys."""

import json

from .browser import Browser
from .jwk import decode, signature_holds


def header(token: str) -> dict:
    return json.loads(decode(token.split(".")[0]))


def claims(token: str) -> dict:
    return json.loads(decode(token.split(".")[1]))


def published_keys(issuer: str) -> list[dict]:
    """The keys of an issuer, found by discovery."""
    metadata = Browser().get(f"{issuer}/.well-known/openid-configuration").expect().json
    return keys_at(metadata["jwks_uri"])


def keys_at(jwks_uri: str) -> list[dict]:
    return Browser().get(jwks_uri).expect().json["keys"]


def is_signed_by_any(token: str, keys: list[dict]) -> bool:
    """Whether one of the keys, with the token's `kid` if it has one, signed the token."""
    signed, _, signature = token.rpartition(".")
    token_header = header(token)
    meant = [key for key in keys if token_header.get("kid") in (None, key.get("kid"))]
    return any(signature_holds(key, token_header["alg"], decode(signature), signed.encode()) for key in meant)
