"""Schemathesis hooks: checks of every response, and known values for generated requests.

Schemathesis loads this file through SCHEMATHESIS_HOOKS.
"""

import json
import os
import pathlib
import zlib

import schemathesis

from openapi.documented import document, problem_code

# By request member: values that the service knows, and that random generation would never find.
KNOWN = json.loads(pathlib.Path(os.environ["ASSAY_FUZZ_VALUES"]).read_text(encoding="utf-8"))
# Members that are valid for few tokens.
OPTIONAL = ("access_token", "code", "max_age")
# The default of `limits.max_body`.
LARGEST = 64 * 1024
ITEM = "/components/schemas/VerifyRequest"


@schemathesis.hook
def map_body(context, body):
    """Puts known tokens and providers into most requests, chosen by the request's own bytes.

    Keeps invalid members, because they test error handling.
    """
    items = body.get("items") if isinstance(body, dict) else None
    schema = ITEM if isinstance(items, list) else document().find(context.operation.method, context.operation.path).request.schema
    members = f"{document().present(document().resolve(schema))}/properties"
    for item in items if isinstance(items, list) else [body]:
        if isinstance(item, dict):
            seed = zlib.crc32(json.dumps(item, sort_keys=True).encode())
            for place, name in enumerate((*KNOWN, *OPTIONAL)):
                # Two bits per member, so that one member in four stays as generated.
                is_left = seed >> 2 * place & 3 == 0
                if is_left or name not in item or name not in document()[members]:
                    continue
                if document().errors(item[name], f"{members}/{name}"):
                    continue
                if name in OPTIONAL:
                    del item[name]
                else:
                    item[name] = KNOWN[name][(seed >> 16) % len(KNOWN[name])]
    return body


@schemathesis.check
def the_answer_is_documented(context, response, case):
    if response.request.method == "OPTIONS" and problem_code(response.content) == "resource_unknown":
        # As to GET, which is the documented method.
        return
    headers = [(name, value) for name, values in response.headers.items() for value in values]
    target = response.request.path_url
    faults = document().faults(response.request.method, target, response.status_code, response.content, headers)
    assert not faults, faults


@schemathesis.check
def a_request_is_invalid_exactly_where_its_schema_says_so(context, response, case):
    operation = document().find(response.request.method, response.request.path_url)
    code = problem_code(response.content)
    if operation is None or operation.request is None or code == "content_type_unsupported":
        return
    if code == "request_too_large":
        # Schemas can't express the maximum size of a body.
        assert len(response.request.body) > LARGEST
        return
    if any(name in (response.request.body or b"") for name in (b'"claim_values"', b'"connection"')):
        # Whether a connection is valid depends on the settings, and generators of clients can't express the types of `claim_values`.
        return
    if operation.id in ("verify", "verifyNotification"):
        assert (code == "request_invalid") is not fits(response.request.body, operation.request.schema)
    elif operation.id in ("verifyAccessToken", "explain", "beginSignIn", "finishSignIn", "signOut", "refreshGrant", "revokeGrant", "proveGrant"):
        # Schemas can't express conditions on the settings (providers, policies), the handle, the size in UTF-8, or what
        # a certificate is.
        assert code == "request_invalid" or fits(response.request.body, operation.request.schema)
    elif operation.id == "refreshProvider":
        # Its body is optional, and only for providers with many issuers.
        return
    elif response.status_code == 200:
        items = read(response.request.body)["items"]
        results = json.loads(response.content)["results"]
        assert len(results) == len(items)
        schema = document().operation("verify").request.schema
        for item, result in zip(items, results, strict=True):
            is_invalid = result.get("error", {}).get("code") == "request_invalid"
            assert is_invalid is (document().errors(item, schema) != []), (item, result)
    else:
        assert code == "request_invalid"
        assert not fits(response.request.body, operation.request.schema)


def fits(body: bytes | str | None, schema: str) -> bool:
    try:
        return document().errors(read(body), schema) == []
    except ValueError:
        return False


def read(body: bytes | str | None):
    # JSON Schema treats 60.0 as an integer, but the service does not, so a float matches no type here.
    return json.loads(body or b"", object_pairs_hook=unique_members, parse_float=lambda _: object())


def unique_members(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("duplicate member")
    return dict(pairs)
