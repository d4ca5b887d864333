"""Does what `kubectl kustomize` does for our own kustomizations: resources, components, JSON patches, and replacements
of the part of a text before a delimiter. Nothing else is supported.
"""

import pathlib

import jsonpatch
import yaml

API = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
COMPONENT_API = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component"}
LOCAL = "config.kubernetes.io/local-config"


def build(directory: pathlib.Path) -> list[dict]:
    """The objects of a kustomization, patched."""
    objects = accumulate(directory, [], API)
    return [object for object in objects if LOCAL not in object["metadata"].get("annotations", {})]


def accumulate(directory: pathlib.Path, before: list[dict], api: dict) -> list[dict]:
    """The given objects and those of a kustomization or component, after its changes."""
    kustomization = load(directory / "kustomization.yaml")
    assert {name: kustomization.pop(name) for name in api} == api
    objects = list(before)
    for name in kustomization.pop("resources"):
        place = directory / name
        objects += accumulate(place, [], API) if place.is_dir() else load_all(place)
    for name in kustomization.pop("components", []):
        objects = accumulate(directory / name, objects, COMPONENT_API)
    for patch in kustomization.pop("patches", []):
        matching = [object for object in objects if is_target(object, **patch["target"])]
        assert matching, f"{directory}: {patch['path']} is a patch of nothing"
        for object in matching:
            objects[objects.index(object)] = jsonpatch.apply_patch(object, load(directory / patch["path"]))
    for replacement in kustomization.pop("replacements", []):
        replace(objects, **replacement)
    assert kustomization == {}, f"{directory}: more than is understood here"
    return objects


def replace(objects: list[dict], source: dict, targets: list[dict]) -> None:
    path = source.pop("fieldPath")
    [value] = [found for object in objects if is_target(object, **source) for found in values(object, path.split("."))]
    for target in targets:
        assert target["options"] == {"delimiter": "#", "index": 0}, "no other is understood here"
        for object in [object for object in objects if is_target(object, **target["select"])]:
            for path in target["fieldPaths"]:
                change(object, path.split("."), lambda text: "#".join([value, *text.split("#")[1:]]))


def values(place, path: list[str]) -> list:
    """The values at a path, in which `*` stands for every item of a list; empty if the path leads nowhere."""
    found = []
    change(place, path, lambda value: (found.append(value), value)[1])
    return found


def change(place, path: list[str], made) -> None:
    if path[0] == "*":
        for item in place:
            change(item, path[1:], made)
    elif path[0] in place:
        if len(path) == 1:
            place[path[0]] = made(place[path[0]])
        else:
            change(place[path[0]], path[1:], made)


def is_target(object: dict, version: str, kind: str, name: str, group: str | None = None) -> bool:
    api_version = f"{group}/{version}" if group else version
    return (object["apiVersion"], object["kind"], object["metadata"]["name"]) == (api_version, kind, name)


def files(directory: pathlib.Path) -> set[pathlib.Path]:
    """The files of a kustomization, including those of its bases."""
    kustomization = load(directory / "kustomization.yaml")
    patches = {directory / patch["path"] for patch in kustomization.get("patches", [])}
    found = {directory / "kustomization.yaml"} | patches
    for name in [*kustomization["resources"], *kustomization.get("components", [])]:
        place = (directory / name).resolve()
        found |= files(place) if place.is_dir() else {place}
    return found


def load(file: pathlib.Path):
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def load_all(file: pathlib.Path) -> list[dict]:
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
