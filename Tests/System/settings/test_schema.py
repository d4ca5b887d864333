"""`docs/assay.schema.json`, which editors use to check settings: valid files pass, and invalid ones fail."""

import copy
import json
import re

import jsonschema
import pytest
import yaml
from settings.examples import examples
from settings.test_configuration import EXAMPLE

from harness.service import REPOSITORY, run

SCHEMA = json.loads((REPOSITORY / "docs/assay.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


class Loader(yaml.SafeLoader):
    """Parses YAML 1.2, as editors do: `on` and `off` are strings, and `0660` is not octal."""


Loader.yaml_implicit_resolvers = copy.deepcopy(yaml.SafeLoader.yaml_implicit_resolvers)
for first in "yYnNoO":
    Loader.yaml_implicit_resolvers[first] = [
        (tag, pattern)
        for tag, pattern in Loader.yaml_implicit_resolvers.get(first, [])
        if tag != "tag:yaml.org,2002:bool"
    ]


def load(text: str):
    return yaml.load(text, Loader)


EXAMPLES = {"the contract's": EXAMPLE} | examples()


def test_the_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_command_prints_the_schema():
    assert json.loads(run("config", "schema").stdout) == SCHEMA


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_valid(name):
    VALIDATOR.validate(load(EXAMPLES[name]))


# A part of the contract's example, and its replacement.
FAULTS = {
    "an unknown key": ("clock_skew: 60s\n", "clock_skw: 60s\n"),
    "an unknown key of a provider": ("required_claims", "require_claims"),
    "a duration without a unit": ("clock_skew: 60s", "clock_skew: 60"),
    "a size of another unit": ("64KiB", "64KB"),
    "a count of zero": ("max_in_flight: 1024", "max_in_flight: 0"),
    "a scalar for a list": ("audiences: [my-client-id]", "audiences: my-client-id"),
    "a word for a boolean": ("optional: true", "optional: perhaps"),
    "an unknown algorithm": ("[RS256, ES256]", "[RS257]"),
    "an unknown preset": ("preset: google", "preset: goggle"),
    "an unknown match": ("match: [plain]", "match: [md5]"),
    "a key in the clear": ("api_keys: []", "api_keys: [my-secret-key]"),
    "no id": ("  - id: google\n    preset", "  - preset"),
    "an id with a space": ("id: google", 'id: "go ogle"'),
}


@pytest.mark.parametrize("name", FAULTS)
def test_invalid_files_are_rejected(name):
    piece, fault = FAULTS[name]
    assert piece in EXAMPLE
    assert not VALIDATOR.is_valid(load(EXAMPLE.replace(piece, fault, 1)))


def test_providers_are_required():
    assert not VALIDATOR.is_valid({"clock_skew": "60s"})
