"""Writes an image as an archive that every engine loads: archive.py DIRECTORY NAME:TAG FILE

DIRECTORY is what `buildah push dir:` writes. The archive is an OCI image layout with gzipped layers, and has the manifest.json of
`docker load`. The configuration stays as it is, so it keeps the health check, which buildah drops from images in the OCI format. The
same image gives the same bytes.
"""

import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile

OCI = "application/vnd.oci.image"


def main(directory: str, name: str, output: str) -> None:
    source = pathlib.Path(directory)
    built = json.loads((source / "manifest.json").read_bytes())
    files: dict[str, bytes] = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}'}

    def keep(content: bytes, kind: str) -> dict:
        digest = hashlib.sha256(content).hexdigest()
        files[f"blobs/sha256/{digest}"] = content
        return {"mediaType": f"{OCI}.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    def layer(digest: str) -> dict:
        content = (source / digest.removeprefix("sha256:")).read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        return keep(gzip.compress(content, mtime=0), "layer.v1.tar+gzip")

    config_bytes = (source / built["config"]["digest"].removeprefix("sha256:")).read_bytes()
    config = keep(config_bytes, "config.v1+json")
    layers = [layer(each["digest"]) for each in built["layers"]]
    manifest = keep(written({"schemaVersion": 2, "mediaType": f"{OCI}.manifest.v1+json", "config": config, "layers": layers}), "manifest.v1+json")
    details = json.loads(config_bytes)
    manifest |= {
        "annotations": {"org.opencontainers.image.ref.name": name.rpartition(":")[2], "io.containerd.image.name": name},
        "platform": {"architecture": details["architecture"], "os": details["os"]},
    }
    files["index.json"] = written({"schemaVersion": 2, "mediaType": f"{OCI}.index.v1+json", "manifests": [manifest]})
    paths = [path_of(each) for each in layers]
    files["manifest.json"] = written([{"Config": path_of(config), "RepoTags": [name], "Layers": paths}])

    with tarfile.open(output, "w", format=tarfile.USTAR_FORMAT) as archive:
        for path, content in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))


def path_of(descriptor: dict) -> str:
    return "blobs/" + descriptor["digest"].replace(":", "/")


def written(value) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


if __name__ == "__main__":
    main(*sys.argv[1:])
