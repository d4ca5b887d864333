"""A provider's key archive on disk: a line with a format name and a checksum, then a JSON object."""

import hashlib
import json
import pathlib

from .tokens import b64url


class KeptFile:
    """A provider's file in a cache directory, with its content at the time when this object was created."""

    def __init__(self, directory: pathlib.Path, provider_id: str):
        self.path = directory / f"{provider_id}.keys"
        self.content = self.path.read_bytes()
        line, self.text = self.content.split(b"\n", 1)
        self.format, checksum = line.decode().split(" ")
        assert checksum == b64url(hashlib.sha256(self.text).digest())

    @property
    def members(self) -> dict:
        return json.loads(self.text)

    def write(self, content: bytes) -> None:
        """Writes in place, to keep owner and mode."""
        self.path.write_bytes(content)

    def forge(self, text: bytes | None = None, **members) -> None:
        """With a correct checksum, writes a text, or the object with changed or removed (`None`) members."""
        if text is None:
            changed = {name: value for name, value in (self.members | members).items() if value is not None}
            text = json.dumps(changed).encode()
        self.write(f"{self.format} {b64url(hashlib.sha256(text).digest())}\n".encode() + text)
