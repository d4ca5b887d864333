"""`deploy/platforms`: untried recipes, whose form, image and settings are those of this version."""

import json
import re
import tomllib

import pytest
import yaml

from harness.service import REPOSITORY, run

FOLDER = REPOSITORY / "deploy/platforms"
FILES = sorted(file.name for file in FOLDER.iterdir() if file.suffix != ".md")
DIGEST = "5a" * 32


def read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def checked(**variables: str) -> None:
    """Asserts that Assay accepts the settings with a platform's variables."""
    result = run("config", "check", "--config", str(FOLDER / "assay.yaml"), variables=variables)
    assert result.returncode == 0, result.stderr


def test_every_recipe_is_listed_as_untried():
    page = read("README.md")
    assert [name for name in FILES if f"]({name})" not in page] == []
    for line in page.splitlines():
        assert line.endswith("| *untried* |") or not re.search(r"\]\((?!assay\.yaml)[\w.-]+\.(json|toml|yaml|hcl)\)", line), line


@pytest.mark.parametrize("name", [name for name in FILES if name not in ("assay.yaml", "ecs-task.tf")])
def test_the_image_has_this_version(name):
    version = run("--version").stdout.decode().split()[1]
    assert set(re.findall(r"[/-]assay:([\d.]+)", read(name))) == {version}


def test_ecs():
    [assay, backend] = json.loads(read("ecs-task.json"))["containerDefinitions"]
    assert assay["healthCheck"]["command"] == ["CMD", "/usr/local/bin/assay", "healthcheck"]
    assert backend["dependsOn"] == [{"containerName": assay["name"], "condition": "HEALTHY"}]
    checked()


def test_fly():
    app = tomllib.loads(read("fly.toml"))
    checked(**app["env"], ASSAY_API_KEYS=DIGEST)
    ports = {app["http_service"]["internal_port"], app["metrics"]["port"], app["checks"]["ready"]["port"]}
    assert ports == {int(app["env"][f"ASSAY_{each}_LISTEN"].rpartition(":")[2]) for each in ("SERVICE", "ADMIN")}
    [file] = app["files"]
    assert (FOLDER / file["local_path"]).exists()


def test_cloud_run():
    service = yaml.safe_load(read("cloud-run.yaml"))
    [_, assay] = service["spec"]["template"]["spec"]["containers"]
    variables = {each["name"]: each["value"] for each in assay["env"]}
    checked(**variables)
    assert variables["ASSAY_ADMIN_LISTEN"].endswith(f":{assay['startupProbe']['httpGet']['port']}")
    volumes = {each["name"] for each in service["spec"]["template"]["spec"]["volumes"]}
    assert {each["name"] for each in assay["volumeMounts"]} == volumes


def test_nomad():
    job = read("assay.nomad.hcl")
    assert job.count("{") == job.count("}")
    assert "/etc/assay/assay.yaml" in job and (FOLDER / "assay.yaml").exists()
