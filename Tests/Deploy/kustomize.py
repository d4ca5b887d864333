"""What `kubectl kustomize` makes of kustomizations as we write them: resources and JSON patches, nothing else."""

import pathlib

import jsonpatch
import yaml

API = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}


def build(directory: pathlib.Path) -> list[dict]:
    """The objects of a kustomization, patched."""
    kustomization = load(directory / "kustomization.yaml")
    assert {name: kustomization.pop(name) for name in API} == API
    objects = []
    for name in kustomization.pop("resources"):
        place = directory / name
        objects += build(place) if place.is_dir() else load_all(place)
    for patch in kustomization.pop("patches", []):
        matching = [object for object in objects if is_target(object, **patch["target"])]
        assert matching, f"{directory}: {patch['path']} is a patch of nothing"
        for object in matching:
            objects[objects.index(object)] = jsonpatch.apply_patch(object, load(directory / patch["path"]))
    assert kustomization == {}, f"{directory}: more than is understood here"
    return objects


def is_target(object: dict, version: str, kind: str, name: str, group: str | None = None) -> bool:
    api_version = f"{group}/{version}" if group else version
    return (object["apiVersion"], object["kind"], object["metadata"]["name"]) == (api_version, kind, name)


def files(directory: pathlib.Path) -> set[pathlib.Path]:
    """The files that a kustomization is made of, those of its bases among them."""
    kustomization = load(directory / "kustomization.yaml")
    patches = {directory / patch["path"] for patch in kustomization.get("patches", [])}
    found = {directory / "kustomization.yaml"} | patches
    for name in kustomization["resources"]:
        place = (directory / name).resolve()
        found |= files(place) if place.is_dir() else {place}
    return found


def load(file: pathlib.Path):
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def load_all(file: pathlib.Path) -> list[dict]:
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
