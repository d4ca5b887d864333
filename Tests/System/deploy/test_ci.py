"""`deploy/ci`: the recipes satisfy the forges' schemas, and run the repository's own scripts in the service's build image."""

import re
import subprocess
import sys

import pytest
import yaml

from harness.service import REPOSITORY

FOLDER = REPOSITORY / "deploy/ci"
COMMANDS = ["deploy/ci/swift", ".ci/run"]
SCHEMAS = {
    "github.yaml": "vendor.github-workflows",
    "github-release.yaml": "vendor.github-workflows",
    "github-updates.yaml": "vendor.github-workflows",
    "gitlab.yaml": "vendor.gitlab-ci",
    "gitlab-release.yaml": "vendor.gitlab-ci",
    "dependabot.yaml": "vendor.dependabot",
}
# What the recipes may call beside the repository's scripts: what sets the forge's machine up, logs in, and publishes.
OTHERS = {"apt-get", "echo", "for", "gh", "git", "python3", "tar"}


def found(file, schema: str) -> int:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, file]
    return subprocess.run(command, capture_output=True, check=False).returncode


@pytest.mark.parametrize("name, schema", SCHEMAS.items())
def test_the_recipe_satisfies_the_forges_schema(name, schema):
    assert found(FOLDER / name, schema) == 0


@pytest.mark.parametrize("name, schema", SCHEMAS.items())
def test_the_schema_check_detects_a_typo(tmp_path, name, schema):
    slip = tmp_path / name
    text = (FOLDER / name).read_text()
    slip.write_text(text.replace("image:", "imagee:").replace("directory:", "directry:"))
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


def commands(name: str) -> list[str]:
    """The commands of a recipe's steps, by line."""
    recipe = yaml.safe_load((FOLDER / name).read_text())
    if name.startswith("gitlab"):
        return [line for job in recipe.values() if isinstance(job, dict) for line in job.get("script", [])]
    steps = [step for job in recipe["jobs"].values() for step in job["steps"]]
    return [step["run"].strip() for step in steps if "run" in step]


@pytest.mark.parametrize("name", [name for name in SCHEMAS if name != "dependabot.yaml"])
def test_a_recipe_only_calls_scripts_that_run_here(name):
    for command in commands(name):
        program = re.sub(r"^PATH=\S+ ", "", command).split()[0]
        assert program in OTHERS or (REPOSITORY / program).is_file() or program == ".venv/bin/helm", command


@pytest.mark.parametrize("name", ["github-release.yaml", "gitlab-release.yaml"])
def test_a_release_is_made_and_published_by_its_scripts(name):
    text = " ".join(commands(name))
    assert re.search(r"deploy/ci/swift .*scripts/bootstrap deploy .*scripts/release .*scripts/publish ", text, re.DOTALL)


@pytest.mark.parametrize("name", ["github.yaml", "github-release.yaml", "github-updates.yaml"])
def test_actions_are_pinned_to_commits(name):
    uses = re.findall(r"uses: (.*)", (FOLDER / name).read_text())
    assert uses and all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # \d+\.\d+\.\d+", use) for use in uses)
