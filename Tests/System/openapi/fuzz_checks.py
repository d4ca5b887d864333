"""What Schemathesis asks of every answer, and what it puts into the requests that it makes up.

Loaded by Schemathesis itself, through SCHEMATHESIS_HOOKS.
"""

import json
import os
import pathlib
import zlib

import schemathesis

from openapi.documented import document, problem_code

# By member of a request, values that the service knows: a text that is made up is never one.
KNOWN = json.loads(pathlib.Path(os.environ["ASSAY_FUZZ_VALUES"]).read_text(encoding="utf-8"))
# Members that few tokens have anything to say of.
OPTIONAL = ("access_token", "code", "max_age")
# What `limits.max_body` is unless the settings say otherwise.
LARGEST = 64 * 1024
MEMBERS = "/components/schemas/VerifyRequest/properties"


@schemathesis.hook
def map_body(context, body):
    """Makes most requests about tokens and providers that exist, chosen by the request's own bytes.

    Members that don't fit stay as they are: being wrong is their purpose.
    """
    items = body.get("items") if isinstance(body, dict) else None
    for item in items if isinstance(items, list) else [body]:
        if isinstance(item, dict):
            seed = zlib.crc32(json.dumps(item, sort_keys=True).encode())
            for place, name in enumerate((*KNOWN, *OPTIONAL)):
                # Each member has two bits of its own, so that one in four stays as made up.
                is_left = seed >> 2 * place & 3 == 0
                if is_left or name not in item or document().errors(item[name], f"{MEMBERS}/{name}"):
                    continue
                if name in OPTIONAL:
                    del item[name]
                else:
                    item[name] = KNOWN[name][(seed >> 16) % len(KNOWN[name])]
    return body


@schemathesis.check
def the_answer_is_documented(context, response, case):
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
        # How large a body may be, no schema says.
        assert len(response.request.body) > LARGEST
        return
    if operation.id in ("verify", "explain"):
        assert (code == "request_invalid") is not fits(response.request.body, operation.request.schema)
    elif operation.id in ("beginSignIn", "finishSignIn"):
        # What only the provider's settings, the handle or the size of UTF-8 decide, no schema says.
        assert code == "request_invalid" or fits(response.request.body, operation.request.schema)
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
    # To JSON Schema 60.0 is an integer; the document wants max_age without a fraction, so that here it is of no type.
    return json.loads(body or b"", object_pairs_hook=unique_members, parse_float=lambda _: object())


def unique_members(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("duplicate member")
    return dict(pairs)
