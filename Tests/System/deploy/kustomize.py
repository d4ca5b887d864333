"""The part of `kubectl kustomize` that our kustomizations need: resources, components, ConfigMaps from files, JSON and
strategic merge patches, image names, and replacements of text before a delimiter.
"""

import pathlib

import jsonpatch
import yaml

API = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
COMPONENT_API = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component"}
LOCAL = "config.kubernetes.io/local-config"
NAMES_STAY = {"disableNameSuffixHash": True}
# The member that identifies the items of lists that a strategic merge patch merges. Other lists are replaced.
KEYS = {"containers": "name", "initContainers": "name", "volumes": "name", "env": "name"}
KEYS |= {"ports": "containerPort", "volumeMounts": "mountPath"}


def build(directory: pathlib.Path) -> list[dict]:
    """The objects of a kustomization."""
    objects = accumulate(directory, [], API)
    return [object for object in objects if LOCAL not in object["metadata"].get("annotations", {})]


def accumulate(directory: pathlib.Path, before: list[dict], api: dict) -> list[dict]:
    """The given objects and those of a kustomization or component, after its changes."""
    kustomization = load(directory / "kustomization.yaml")
    assert {name: kustomization.pop(name) for name in api} == api
    objects = list(before)
    for name in kustomization.pop("resources", []):
        place = directory / name
        objects += accumulate(place, [], API) if place.is_dir() else load_all(place)
    for entry in kustomization.pop("configMapGenerator", []):
        generate(directory, objects, **entry)
    assert kustomization.pop("generatorOptions", NAMES_STAY) == NAMES_STAY
    for name in kustomization.pop("components", []):
        objects = accumulate(directory / name, objects, COMPONENT_API)
    for patch in kustomization.pop("patches", []):
        matching = [object for object in objects if is_target(object, **patch["target"])]
        assert matching, f"{directory}: {patch['path']} matches no object"
        for object in matching:
            objects[objects.index(object)] = patched(object, load(directory / patch["path"]))
    for replacement in kustomization.pop("replacements", []):
        replace(objects, **replacement)
    images = {image["name"]: image["newName"] for image in kustomization.pop("images", [])}
    for path in ("containers", "initContainers"):
        for object in objects:
            change(object, ["spec", "template", "spec", path, "*", "image"], lambda image: renamed(image, images))
    assert kustomization == {}, f"{directory}: unsupported members"
    return objects


def generate(directory: pathlib.Path, objects: list[dict], name: str, files: list[str], behavior="create", options=None) -> None:
    """Creates a ConfigMap from files, or replaces the data of an existing one."""
    data = {file: (directory / file).read_text(encoding="utf-8") for file in files}
    there = [object for object in objects if is_target(object, version="v1", kind="ConfigMap", name=name)]
    if behavior == "create":
        assert there == []
        metadata = {"name": name} | (options or {})
        objects.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    else:
        assert behavior == "replace" and options is None
        [object] = there
        object["data"] = data


def patched(object: dict, patch) -> dict:
    if isinstance(patch, list):
        return jsonpatch.apply_patch(object, patch)
    changes = {member: value for member, value in patch.items() if member not in ("apiVersion", "kind", "metadata")}
    return merged(object, changes)


def merged(value, patch, name: str = ""):
    """A strategic merge: merges maps, merges lists in `KEYS` by key with new items first, and replaces anything else."""
    if isinstance(patch, dict) and isinstance(value, dict):
        return value | {member: merged(value.get(member), change, member) for member, change in patch.items()}
    if name in KEYS and value is not None:
        key, changes = KEYS[name], {item[KEYS[name]]: item for item in patch}
        kept = [merged(item, changes.pop(item[key], {})) for item in value]
        return [*changes.values(), *kept]
    return patch


def renamed(image: str, names: dict[str, str]) -> str:
    name, _, tag = image.rpartition(":")
    return f"{names.get(name, name)}:{tag}"


def replace(objects: list[dict], source: dict, targets: list[dict]) -> None:
    path = source.pop("fieldPath")
    [value] = [found for object in objects if is_target(object, **source) for found in values(object, path.split("."))]
    for target in targets:
        assert target["options"] == {"delimiter": "#", "index": 0}, "no other options are supported here"
        for object in [object for object in objects if is_target(object, **target["select"])]:
            for path in target["fieldPaths"]:
                change(object, path.split("."), lambda text: "#".join([value, *text.split("#")[1:]]))


def values(place, path: list[str]) -> list:
    """The values at a path, in which `*` stands for every item of a list. Empty if the path does not exist."""
    found = []
    change(place, path, lambda value: (found.append(value), value)[1])
    return found


def change(place, path: list[str], made) -> None:
    if path[0] == "*":
        for item in place:
            change(item, path[1:], made)
    elif isinstance(place, dict) and path[0] in place:
        if len(path) == 1:
            place[path[0]] = made(place[path[0]])
        else:
            change(place[path[0]], path[1:], made)


def is_target(object: dict, version: str, kind: str, name: str = "", group: str = "", labelSelector: str = "") -> bool:
    api_version = f"{group}/{version}" if group else version
    metadata = object["metadata"]
    wanted = dict([labelSelector.split("=")]) if labelSelector else {}
    labelled = wanted.items() <= metadata.get("labels", {}).items()
    return (object["apiVersion"], object["kind"]) == (api_version, kind) and name in ("", metadata["name"]) and labelled


def files(directory: pathlib.Path) -> set[pathlib.Path]:
    """The files of a kustomization, including those of its bases."""
    kustomization = load(directory / "kustomization.yaml")
    patches = {directory / patch["path"] for patch in kustomization.get("patches", [])}
    generated = {directory / file for entry in kustomization.get("configMapGenerator", []) for file in entry["files"]}
    found = {directory / "kustomization.yaml"} | patches | generated
    for name in [*kustomization.get("resources", []), *kustomization.get("components", [])]:
        place = (directory / name).resolve()
        found |= files(place) if place.is_dir() else {place}
    return found


def load(file: pathlib.Path):
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def load_all(file: pathlib.Path) -> list[dict]:
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
