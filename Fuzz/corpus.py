"""Writes the seed inputs of the fuzz targets, extracted from the conformance vectors.

usage: corpus.py DIRECTORY

DIRECTORY/<target>/ then has one file per seed, named after its hash.
"""
import base64
import hashlib
import json
import pathlib
import re
import sys

VECTORS = pathlib.Path(__file__).parent.parent / "Tests/Conformance/Vectors"
# Files that contain only bare signatures, with nothing to parse.
SKIPPED = "wycheproof/primitives/"
TOKEN = re.compile(r"[\w-]*(\.[\w-]*){2,4}", re.ASCII)


def decoded(part):
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except ValueError:
        return b""


def objects(value):
    """Every object and every string in a JSON value, including those in strings that contain JSON."""
    if isinstance(value, str):
        yield value
        if value.startswith("{"):
            try:
                yield from objects(json.loads(value))
            except ValueError:
                pass
    elif isinstance(value, list):
        for element in value:
            yield from objects(element)
    elif isinstance(value, dict):
        yield value
        for element in value.values():
            yield from objects(element)


def text(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def seeds(value):
    """The seeds in one object or string, as pairs of target and input."""
    if isinstance(value, str):
        if len(value) > 20 and TOKEN.fullmatch(value):
            yield from seeds_of_token(value)
        return
    if "kty" in value:
        yield "JWKSet", text({"keys": [value]})
    if isinstance(value.get("keys"), list):
        yield "JWKSet", text(value)
        yield "JSON", text(value)
    if "issuer" in value and "jwks_uri" in value:
        # The target's issuer, so that the rest of the document is read.
        yield "Discovery", text(value | {"issuer": "https://a.example"})
        yield "Discovery", value["jwks_uri"].encode()
        yield "JSON", text(value)
    if isinstance(value.get("x5c"), list):
        for certificate in value["x5c"]:
            yield "Certificate", base64.b64decode(certificate)
    if isinstance(value.get("headers"), list):
        fields = {name.lower(): field for name, field in value["headers"]}
        names = ("cache-control", "age", "expires", "date")
        yield "CacheControl", "\n".join(fields.get(name, "") for name in names).encode()


def seeds_of_token(token):
    parts = token.split(".")
    yield "CompactJWS", token.encode()
    for part in parts:
        yield "Base64URL", part.encode()
    yield "JOSEHeader", decoded(parts[0])
    yield "JSON", decoded(parts[0])
    if len(parts) == 3 and decoded(parts[1]).startswith(b"{"):
        yield "Claims", decoded(parts[1])
        yield "JSON", decoded(parts[1])
        yield "RequestBody", text({"id_token": token})


def main(directory):
    for path in sorted(VECTORS.rglob("*.json")):
        name = str(path.relative_to(VECTORS))
        if name.startswith("json-test-suite/"):
            found = [("JSON", path.read_bytes())]
        elif name.startswith(SKIPPED):
            continue
        else:
            found = [seed for value in objects(json.loads(path.read_bytes())) for seed in seeds(value)]
        for target, octets in found:
            folder = pathlib.Path(directory) / target
            folder.mkdir(parents=True, exist_ok=True)
            (folder / hashlib.sha256(octets).hexdigest()[:16]).write_bytes(octets)


main(sys.argv[1])
