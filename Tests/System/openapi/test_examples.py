"""Every example in openapi.yaml matches its schema, and the schemas reject slightly wrong values."""

import copy

import pytest

from openapi.documented import PROBLEM, document

contents = [operation.request for operation in document().operations if operation.request]
bodies = {content.schema: content for content in contents}
responses = {
    (response.pointer, response.status): response
    for operation in document().operations
    for response in (*operation.responses.values(), document().not_found, document().method_not_allowed)
}
bodies |= {content.schema: content for response in responses.values() for content in response.contents.values()}

examples = [(content, name) for content in bodies.values() for name in content.examples]
refusals = [response for response in responses.values() if PROBLEM in response.contents]
verified = document().operation("verify").responses[200].content


def place(entry) -> str:
    content, name = entry
    return f"{content.schema.removesuffix('/schema')}:{name}"


@pytest.mark.parametrize("entry", examples, ids=place)
def test_examples_match_their_schemas(entry):
    content, name = entry
    assert document().errors(content.examples[name], content.schema) == []


def test_every_body_has_an_example():
    """A problem's example is the one of its code."""
    assert [schema for schema, content in bodies.items() if not content.examples and content.media_type != PROBLEM] == []


def test_every_code_has_an_example_of_its_name_that_says_when_it_occurs_and_what_to_do():
    assert list(document().problems) == document().codes
    for example in document()["/components/examples"].values():
        assert example["summary"]
        developer, *operator = example["description"].split(" Operator: ")
        assert len(operator) <= 1 and all(part.endswith(".") for part in (developer, *operator))


@pytest.mark.parametrize("code", document().codes)
def test_examples_of_problems_match_their_code(code):
    example = document().problems[code]
    assert example["code"] == code
    assert example["type"] == "urn:assay:problem:" + code
    assert "\n" not in example["detail"] and example["detail"].endswith((".", "?"))
    if "claim" in example:
        assert example["claim"] in example["detail"]


def test_headers_and_parameters_have_matching_examples():
    checked = 0
    for pointer, value in document().walk():
        if isinstance(value, dict) and "example" in value:
            assert document().errors(value["example"], pointer + "/schema") == [], pointer
            checked += 1
    assert checked == len(document()["/components/headers"]) + len(
        ["X-Request-Id", "traceparent", "id of a provider", "id of a resource", "Retry-After of /readyz", "Retry-After of a decision"]
    )


def test_the_examples_of_requests_and_responses_have_the_same_names():
    for id in ("verify", "verifyBatch"):
        operation = document().operation(id)
        assert operation.request.examples.keys() == operation.responses[200].content.examples.keys()


def members(value, path=()):
    """The path of every member of every object in a value."""
    for name, member in value.items() if isinstance(value, dict) else ():
        yield (*path, name)
        yield from members(member, (*path, name))


def changed(value, path, change):
    """A copy of a value, in which `change` is applied to the member at a path."""
    result = copy.deepcopy(value)
    holder = result
    for name in path[:-1]:
        holder = holder[name]
    change(holder, path[-1])
    return result


answer = verified.examples["apple"]


@pytest.mark.parametrize("path", members(answer), ids=".".join)
def test_an_answer_without_one_of_its_members_is_invalid(path):
    assert document().errors(changed(answer, path, lambda holder, name: holder.pop(name)), verified.schema)


@pytest.mark.parametrize("path", members(answer), ids=".".join)
def test_an_answer_with_a_member_of_another_type_is_invalid(path):
    assert document().errors(changed(answer, path, lambda holder, name: holder.update({name: [1]})), verified.schema)


@pytest.mark.parametrize("part", ["identity", "token", "keys"])
def test_an_answer_with_an_additional_member_is_invalid(part):
    assert document().errors(answer | {part: answer[part] | {"more": None}}, verified.schema)
    assert document().errors(answer | {"more": None}, verified.schema)


@pytest.mark.parametrize("path", [("identity", "subject"), ("token", "issued_at"), ("token", "amr"), ("keys", "stale")])
def test_members_that_are_always_known_cannot_be_null(path):
    assert document().errors(changed(answer, path, lambda holder, name: holder.update({name: None})), verified.schema)


def test_a_problem_has_a_claim_exactly_if_its_code_is_about_one():
    schema = "/components/schemas/Problem"
    for code, example in document().problems.items():
        is_about_claim = code in ("claim_missing", "claim_invalid")
        with_claim = example | {"claim": "email"}
        without = {name: value for name, value in example.items() if name != "claim"}
        assert (document().errors(with_claim, schema) == []) is is_about_claim, code
        assert (document().errors(without, schema) == []) is not is_about_claim, code


@pytest.mark.parametrize("code", document().codes)
def test_a_problem_matches_only_responses_with_its_code(code):
    # Some responses require `spent`, and none forbids it.
    example = document().problems[code] | {"spent": False}
    for response in refusals:
        fits = response.problem_errors(example) == []
        assert fits is (code in response.problem_codes), response.pointer


request = document().operation("verify").request
REFUSED = {
    "no token": {"nonce": "n"},
    "a token that is no string": {"id_token": 1},
    "a misspelt member": {"id_token": "t", "nonse": "n"},
    "a member in another case": {"id_token": "t", "Nonce": "n"},
    "an empty nonce": {"id_token": "t", "nonce": ""},
    "a long nonce": {"id_token": "t", "nonce": "n" * 513},
    "a null nonce": {"id_token": "t", "nonce": None},
    "a negative age": {"id_token": "t", "max_age": -1},
    "an age that is text": {"id_token": "t", "max_age": "60"},
    "a boolean that is text": {"id_token": "t", "include_claims": "true"},
    "a user that is text": {"id_token": "t", "user": '{"name":{}}'},
    "an unknown member of the user": {"id_token": "t", "user": {"names": {}}},
    "an unknown name of the user": {"id_token": "t", "user": {"name": {"givenName": "Ada"}}},
    "no object": ["t"],
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_a_wrong_request_is_invalid(body):
    assert document().errors(body, request.schema)
    assert document().errors({"items": [body]}, document().operation("verifyBatch").request.schema)


@pytest.mark.parametrize("count", [0, 257])
def test_a_batch_with_too_few_or_too_many_items_is_invalid(count):
    assert document().errors({"items": [{"id_token": "t"}] * count}, document().operation("verifyBatch").request.schema)
