"""Every example in openapi.yaml matches its schema, and the schemas reject slightly wrong values."""

import copy

import pytest

from openapi.documented import PROBLEM, document

contents = [operation.request for operation in document().operations if operation.request]
bodies = {content.schema: content for content in contents}
responses = {
    response.pointer: response for operation in document().operations for response in operation.responses.values()
} | {response.pointer: response for response in (document().not_found, document().method_not_allowed)}
bodies |= {content.schema: content for response in responses.values() for content in response.contents.values()}

examples = [(content, name) for content in bodies.values() for name in content.examples]
refusals = [response for response in responses.values() if PROBLEM in response.contents]
verified = document().operation("verify").responses[200].content


def place(entry) -> str:
    content, name = entry
    return f"{content.schema.removesuffix('/schema')}:{name}"


@pytest.mark.parametrize("entry", examples, ids=place)
def test_an_example_fits_its_schema(entry):
    content, name = entry
    assert document().errors(content.examples[name], content.schema) == []


def test_every_body_has_an_example():
    assert [schema for schema, content in bodies.items() if not content.examples] == []


def test_every_code_has_one_example_named_for_it():
    assert list(document().problems) == document().codes


@pytest.mark.parametrize("response", refusals, ids=lambda response: response.pointer)
def test_a_response_shows_examples_of_its_own_codes(response):
    """Not each of them: each is shown where it is at home."""
    shown = response.contents[PROBLEM].examples
    assert shown and all(example == document().problems[code] for code, example in shown.items())
    mentions_spent = "x-required" in document()[response.pointer] or "`spent`" in document()[response.pointer]["description"]
    for example in shown.values():
        assert response.problem_errors(example) == []
        assert mentions_spent or "spent" not in example


def test_every_example_is_shown_once_at_least():
    assert {code for response in refusals for code in response.contents[PROBLEM].examples} == set(document().codes)


@pytest.mark.parametrize("code", document().codes)
def test_a_problems_example_is_about_its_code(code):
    example = document().problems[code]
    assert example["code"] == code
    assert example["type"] == "urn:assay:problem:" + code
    assert "\n" not in example["detail"] and example["detail"].endswith((".", "?"))
    if "claim" in example:
        assert example["claim"] in example["detail"]


def test_a_header_and_a_parameter_have_examples_that_fit():
    checked = 0
    for pointer, value in document().walk():
        if isinstance(value, dict) and "example" in value:
            assert document().errors(value["example"], pointer + "/schema") == [], pointer
            checked += 1
    assert checked == len(document()["/components/headers"]) + len(
        ["X-Request-Id", "traceparent", "id", "Retry-After of /readyz"]
    )


def test_the_answers_to_verify_have_the_requests_names():
    for id in ("verify", "verifyBatch"):
        operation = document().operation(id)
        assert operation.request.examples.keys() == operation.responses[200].content.examples.keys()


def members(value, path=()):
    """Every member of every object in a value, as a path."""
    for name, member in value.items() if isinstance(value, dict) else ():
        yield (*path, name)
        yield from members(member, (*path, name))


def changed(value, path, change):
    """A copy in which `change` was applied to the object with the member at a path."""
    result = copy.deepcopy(value)
    holder = result
    for name in path[:-1]:
        holder = holder[name]
    change(holder, path[-1])
    return result


answer = verified.examples["apple"]


@pytest.mark.parametrize("path", members(answer), ids=".".join)
def test_an_answer_without_one_of_its_members_does_not_fit(path):
    assert document().errors(changed(answer, path, lambda holder, name: holder.pop(name)), verified.schema)


@pytest.mark.parametrize("path", members(answer), ids=".".join)
def test_an_answer_with_a_member_of_another_type_does_not_fit(path):
    assert document().errors(changed(answer, path, lambda holder, name: holder.update({name: [1]})), verified.schema)


@pytest.mark.parametrize("part", ["identity", "token", "keys"])
def test_an_answer_with_a_member_more_does_not_fit(part):
    assert document().errors(answer | {part: answer[part] | {"more": None}}, verified.schema)
    assert document().errors(answer | {"more": None}, verified.schema)


@pytest.mark.parametrize("path", [("identity", "subject"), ("token", "issued_at"), ("token", "amr"), ("keys", "stale")])
def test_what_is_always_known_is_never_null(path):
    assert document().errors(changed(answer, path, lambda holder, name: holder.update({name: None})), verified.schema)


def test_a_problem_has_a_claim_exactly_where_its_code_is_about_one():
    schema = "/components/schemas/Problem"
    for code, example in document().problems.items():
        is_about_claim = code in ("claim_missing", "claim_invalid")
        with_claim = example | {"claim": "email"}
        without = {name: value for name, value in example.items() if name != "claim"}
        assert (document().errors(with_claim, schema) == []) is is_about_claim, code
        assert (document().errors(without, schema) == []) is not is_about_claim, code


@pytest.mark.parametrize("code", document().codes)
def test_a_problem_fits_no_response_of_another_code(code):
    # Some responses need `spent`, and none forbids it.
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
def test_a_wrong_request_does_not_fit(body):
    assert document().errors(body, request.schema)
    assert document().errors({"items": [body]}, document().operation("verifyBatch").request.schema)


@pytest.mark.parametrize("count", [0, 257])
def test_a_batch_of_too_few_or_too_many_does_not_fit(count):
    assert document().errors({"items": [{"id_token": "t"}] * count}, document().operation("verifyBatch").request.schema)
