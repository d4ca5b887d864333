"""A provider's keys as the service keeps them on disk: a line with a format name and a checksum, then a JSON object."""

import hashlib
import json
import pathlib

from .tokens import b64url


class KeptFile:
    """One provider's file in a cache directory, with the content it had when this was made."""

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
        """In place: the file's owner and mode stay."""
        self.path.write_bytes(content)

    def forge(self, text: bytes | None = None, **members) -> None:
        """Writes a text, or the members with these changed or left out (`None`), under a checksum that is right."""
        if text is None:
            changed = {name: value for name, value in (self.members | members).items() if value is not None}
            text = json.dumps(changed).encode()
        self.write(f"{self.format} {b64url(hashlib.sha256(text).digest())}\n".encode() + text)
