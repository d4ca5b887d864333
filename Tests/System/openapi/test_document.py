"""openapi.yaml is valid, agrees with the contract, and is strict."""

import re
import sys

import openapi_spec_validator
import pytest

from harness import contract
from harness.service import REPOSITORY
from openapi.documented import PROBLEM, document

sys.path.insert(0, str(REPOSITORY / "docs/site"))
import endpoints  # noqa: E402

SERVICE, ADMIN = "http://127.0.0.1:8080", "http://127.0.0.1:9090"

ROUTES = endpoints.routes()

# Of the examples. The harness checks responses against the same table, but never accepts 500.
STATUSES = contract.STATUS | {"internal": 500}
OF_GRANTS = {"binding_invalid", "grant_invalid", "provider_refused"}
OF_ACCESS_TOKENS = {"binding_required", "binding_missing", "binding_mismatch", "dpop_proof_invalid", "dpop_nonce_required", "dpop_proof_replayed", "scope_missing", "token_inactive", "token_missing"}
OF_BROWSERS = {"state_mismatch", "redirect_uri_mismatch", "response_issuer_mismatch", "response_invalid", "acr_mismatch"}
REJECTIONS = {
    code
    for code, status in STATUSES.items()
    if status == 422 and not code.startswith("sign_in_") and code not in OF_GRANTS | OF_BROWSERS | OF_ACCESS_TOKENS
}

# Optional members of responses: (schema, member).
OPTIONAL = {
    ("/components/schemas/BeginAnswer", "request_expires_at"),
    ("/components/schemas/VerifyAnswer", "claims"),
    ("/components/schemas/Identity", "connection"),
    ("/components/schemas/Event", "issuer"),
    ("/components/schemas/FinishAnswer", "claims"),
    ("/components/schemas/FinishAnswer", "unverified_claims"),
    ("/components/schemas/RefreshAnswer", "claims"),
    *(("/components/schemas/SignOutAnswer/properties/parameters", name)
      for name in ("id_token_hint", "logout_hint", "post_logout_redirect_uri", "state", "ui_locales")),
    ("/components/schemas/Token", "encryption"),
    ("/components/schemas/Grant", "binding"),
    *(("/components/schemas/PublicKey", name) for name in ("crv", "x", "y", "n", "e")),
    ("/components/schemas/Problem", "provider_error"),
    ("/components/schemas/Problem", "claim"),
    ("/components/schemas/Problem", "context"),
    ("/components/schemas/Problem", "spent"),
    ("/components/schemas/Problem", "challenge"),
    ("/components/schemas/Problem", "dpop_nonce"),
    ("/components/schemas/Readiness", "store"),
    ("/components/schemas/Readiness", "proof_store"),
    ("/components/schemas/AccessTokenAnswer", "dpop_nonce"),
    ("/components/schemas/VerdictList", "notifications"),
    ("/components/schemas/VerdictList", "access_tokens"),
    ("/components/schemas/VerdictList", "forward_auth"),
    ("/components/schemas/AccessTokenAnswer", "claims"),
    ("/components/schemas/AccessTokenAnswer", "introspection"),
    ("/components/schemas/VerdictList", "sign_ins"),
    ("/components/schemas/VerdictList", "store"),
}
# Members of requests that enable a check. They must not be null, so that a backend that has lost a value gets an error.
CHECKS = {"nonce", "subject", "issuer", "authenticated_after", "scopes", "resource", "connection", "claim_values"}
# Responses to methods without an operation.
OF_NO_OPERATION = {"/components/responses/MethodNotAllowed"}
REQUEST_SCHEMAS = {"AccessTokenExplanationRequest", "IDTokenExplanationRequest", "NotificationExplanationRequest", "VerifyRequest", "AppleUser", "AppleUserName", "BatchRequest", "BeginRequest", "ConnectionClient", "FinishRequest", "NotificationRequest", "AccessTokenRequest", "PolicyExplanationRequest", "ApplePayload", "ProofRequest", "RefreshRequest", "RevokeRequest", "SignOutRequest", "RefreshedIssuer"}

responses = [response for operation in document().operations for response in operation.responses.values()]
responses += [document().not_found, document().method_not_allowed]
problems = [response for response in responses if PROBLEM in response.contents]


def test_the_document_is_valid_openapi():
    assert document().tree["openapi"].startswith("3.1.")
    openapi_spec_validator.validate(document().tree)


def test_the_endpoints_and_their_listeners_are_those_of_the_service():
    found = {(operation.method, operation.path): operation.servers for operation in document().operations}
    servers = {"service": SERVICE, "admin": ADMIN}
    # A path that accepts any method is documented for one.
    assert found == {(route.method or "get", route.path): {servers[name] for name in route.listeners} for route in ROUTES}


def test_every_code_has_an_example():
    assert len(document().codes) == len(set(document().codes))
    assert set(document().codes) == set(STATUSES)


def test_every_code_has_one_status():
    found = {(code, response.status) for response in problems for code in response.problem_codes}
    assert found == set(STATUSES.items())


def test_all_problems_have_the_same_schema():
    """In a generated client, every other schema would become another type."""
    for response in responses:
        assert (PROBLEM in response.contents) is bool(response.problem_codes), response.pointer
    for response in problems:
        assert document()[response.contents[PROBLEM].schema] == {"$ref": "#/components/schemas/Problem"}, response.pointer


def test_rejections_are_listed_in_the_order_of_the_checks():
    rejections = [code for code in document().codes if code in REJECTIONS]
    assert document()["/components/responses/TokenRejected/x-codes"] == rejections
    assert document()["/components/schemas/CheckCode/enum"][: len(rejections)] == rejections


def test_verify_documents_every_status():
    assert set(document().operation("verify").responses) == {200, 400, 401, 403, 404, 408, 413, 415, 422, 431, 500, 503}


def test_operations_that_can_be_off_document_the_404_for_that():
    found = {operation.path for operation in document().operations if (404, "not_found") in operation.answers}
    assert found == {route.path for route in ROUTES if route.feature}


def test_an_item_has_the_codes_of_a_single_verify_except_for_transport_errors():
    whole = {
        "caller_unauthenticated", "caller_forbidden", "request_timeout", "request_too_large",
        "content_type_unsupported", "headers_too_large", "shutting_down",
    }  # fmt: skip
    single = {code for _, code in document().operation("verify").answers if code} - whole
    assert set(document()["/components/schemas/BatchError/x-codes"]) == single


def test_the_keys_that_an_operation_needs_are_those_of_its_route():
    secured = {
        operation.id: document()[operation.pointer]["security"]
        for operation in document().operations
        if "security" in document()[operation.pointer]
    }
    schemes = {"keys": "apiKey", "unrestrictedKeys": "apiKey", "gateways": "gatewayKey"}
    of_routes = {route.path: schemes[route.access] for route in ROUTES if route.access != "anyone"}
    assert secured == {
        operation.id: [{}, {of_routes[operation.path]: []}]
        for operation in document().operations
        if operation.path in of_routes
    }
    assert {operation.id for operation in document().operations if 401 in operation.responses} == set(secured)


@pytest.mark.parametrize("response", responses, ids=lambda response: response.pointer)
def test_every_response_documents_its_headers(response):
    expected = {"x-request-id", "cache-control"}
    expected |= {302: {"location"}, 401: {"www-authenticate"}, 405: {"allow"}}.get(response.status, set())
    if response.status == 503:
        expected |= {"retry-after"}
    if response.pointer.endswith("/ResourceMetadata"):
        expected |= {"access-control-allow-origin"}
    of_proofs = {"dpop-nonce"} if "forward-auth" in response.pointer else set()
    assert set(response.headers) == expected | of_proofs
    optional = {name for name, place in response.headers.items() if not document()[place]["required"]}
    # A service that is not ready may not know when it will be, and a gateway that does not name the request never will.
    is_open = response.status == 503 and (None in response.codes or "request_unknown" in response.codes)
    assert optional == ({"retry-after"} if is_open else set()) | of_proofs


def test_every_operation_accepts_a_request_id():
    for operation in document().operations:
        item = document()[operation.pointer.rsplit("/", 1)[0]]
        assert {"$ref": "#/components/parameters/RequestID"} in item["parameters"], operation.id


def object_schemas():
    for pointer, value in document().walk("/components/schemas"):
        if isinstance(value, dict) and "object" in str(value.get("type", "")) and "properties" in value:
            yield pointer, value


def test_objects_have_no_additional_members():
    found = dict(object_schemas())
    assert len(found) > 12
    for pointer, schema in found.items():
        assert schema.get("additionalProperties") is False, pointer


def test_members_of_responses_are_required():
    for pointer, schema in object_schemas():
        if pointer.split("/")[3] in REQUEST_SCHEMAS:
            continue
        optional = {name for name in schema["properties"] if (pointer, name) in OPTIONAL}
        assert set(schema.get("required", [])) == set(schema["properties"]) - optional, pointer


def test_only_claims_and_event_data_are_free_objects():
    free = {
        pointer
        for pointer, value in document().walk("/components/schemas")
        if isinstance(value, dict) and value.get("type") == "object" and "properties" not in value
    }
    expected = {f"/components/schemas/{answer}/properties/claims" for answer in ("VerifyAnswer", "FinishAnswer", "RefreshAnswer", "AccessTokenAnswer")}
    assert free == expected | {f"/components/schemas/{each}" for each in ("NotifiedEvent/properties/data", "ResourceMetadata", "ConnectionClaimValues")}


def test_every_request_member_has_a_type_and_a_description():
    for pointer, schema in object_schemas():
        if pointer.split("/")[3] not in REQUEST_SCHEMAS:
            continue
        for name in schema["properties"]:
            place = document().resolve(f"{pointer}/properties/{name}")
            types = document().types(place) - {"null"}
            # An empty string is allowed for `dpop`: no proof came.
            assert len(types) == 1 or ("/Notification" in pointer and name == "payload") or name == "dpop", place
            assert document()[place].get("description"), place


def test_request_members_may_be_null_unless_required_or_enabling_a_check():
    for pointer, schema in object_schemas():
        if pointer.split("/")[3] not in REQUEST_SCHEMAS:
            continue
        for name in schema["properties"]:
            is_nullable = "null" in document().types(f"{pointer}/properties/{name}")
            # `as` is null in a request that does not say what it is; without it, the request has another schema.
            is_optional = name not in schema.get("required", []) or (name == "as" and "/Notification" not in pointer)
            # A request without a token, to a resource.
            is_optional = is_optional or (pointer, name) == ("/components/schemas/AccessTokenRequest", "token")
            # Of an authorization request; elsewhere, it is what a token must be for.
            is_check = name in CHECKS and (pointer, name) != ("/components/schemas/BeginRequest", "resource")
            assert is_nullable == (is_optional and not is_check), (pointer, name)


def test_references_name_components():
    """Client generators ignore references to parts of schemas, and everything that depends on them."""
    for pointer, value in document().walk():
        if isinstance(value, dict) and isinstance(value.get("$ref"), str):
            assert re.fullmatch(r"#/components/\w+/[\w-]+", value["$ref"]), pointer


def test_every_reference_resolves_and_every_component_is_used():
    used = set()
    for _, value in document().walk():
        if isinstance(value, dict) and isinstance(value.get("$ref"), str):
            target = value["$ref"].removeprefix("#")
            document()[target]
            used.add(target)
    # A code names its example.
    used |= {f"/components/examples/{code}" for code in document().codes}
    used |= {f"/components/securitySchemes/{name}" for name in document()["/components/securitySchemes"]}
    declared = {f"/components/{kind}/{name}" for kind, members in document()["/components"].items() for name in members}
    assert declared - used == OF_NO_OPERATION
