"""`deploy/ci`: the recipes satisfy the forges' schemas, and run `.ci/run` in the service's build image."""

import re
import subprocess
import sys

import pytest
import yaml

from harness.service import REPOSITORY

FOLDER = REPOSITORY / "deploy/ci"
COMMANDS = ["deploy/ci/swift", ".ci/run"]
SCHEMAS = {"github.yaml": "vendor.github-workflows", "gitlab.yaml": "vendor.gitlab-ci"}


def found(file, schema: str) -> int:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, file]
    return subprocess.run(command, capture_output=True, check=False).returncode


@pytest.mark.parametrize("name, schema", SCHEMAS.items())
def test_the_recipe_satisfies_the_forges_schema(name, schema):
    assert found(FOLDER / name, schema) == 0


@pytest.mark.parametrize("name, schema", SCHEMAS.items())
def test_the_schema_check_detects_a_typo(tmp_path, name, schema):
    slip = tmp_path / name
    slip.write_text((FOLDER / name).read_text().replace("image:", "imagee:"))
    assert found(slip, schema) != 0


def test_every_recipe_is_tested_and_listed_in_the_readme():
    assert {file.name for file in FOLDER.glob("*.yaml")} == set(SCHEMAS)
    page = (FOLDER / "README.md").read_text()
    assert all(f"]({name})" in page for name in SCHEMAS)


def test_the_recipes_run_the_ci_commands_in_the_build_image():
    [image] = re.findall(r"^FROM (\S+) AS build$", (REPOSITORY / "deploy/container/Containerfile").read_text(), re.MULTILINE)
    job = yaml.safe_load((FOLDER / "github.yaml").read_text())["jobs"]["ci"]
    assert job["container"]["image"] == image
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert [re.sub(r"PATH=\S+ ", "", command).split()[0] for command in commands[1:]] == COMMANDS
    assert job["steps"][0]["with"]["fetch-depth"] == 0
    [version] = re.findall(r"^version=(\S+)$", (FOLDER / "swift").read_text(), re.MULTILINE)
    assert image.startswith(f"swift:{version}-")
    recipe = yaml.safe_load((FOLDER / "gitlab.yaml").read_text())
    assert recipe["ci"]["image"] == image
    assert [re.sub(r"PATH=\S+ ", "", command).split()[0] for command in recipe["ci"]["script"]] == COMMANDS
    assert recipe["variables"]["GIT_DEPTH"] == "0"
