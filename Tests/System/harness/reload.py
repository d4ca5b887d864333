"""Changes the settings of a running service as operators and their tools do."""

import os
import pathlib
import signal

from . import yaml
from .metrics import Metrics
from .service import Service

REFUSED = "configuration rejected, still using the previous one"
LISTENERS = {"service": {"listen": "127.0.0.1:0"}, "admin": {"listen": "127.0.0.1:0"}}


def metrics(service: Service) -> Metrics:
    return Metrics(service.admin.get("/metrics").text)


def reloads(service: Service) -> tuple[float, float]:
    """How often the file was accepted and rejected."""
    found = metrics(service)
    name = "assay_configuration_reloads_total"
    return found.value(name, result="success"), found.value(name, result="failure")


def text(*providers: dict, **settings) -> str:
    return yaml.dump(LISTENERS | settings | {"providers": list(providers)}) + "\n"


def replace(file: pathlib.Path, content: str | bytes) -> None:
    """Replaces the file as editors do, by renaming another one."""
    other = file.with_suffix(".new")
    other.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.replace(other, file)


def hang_up(service: Service) -> bool:
    """Sends SIGHUP; returns whether the file was accepted."""
    taken, refused = reloads(service)
    service.process.send_signal(signal.SIGHUP)
    service.wait_until(lambda: reloads(service) != (taken, refused))
    assert sum(reloads(service)) == taken + refused + 1
    return reloads(service)[0] > taken


def change(service: Service, *providers: dict, **settings) -> None:
    """Makes the service use other settings."""
    replace(service.config, text(*providers, **settings))
    assert hang_up(service), service.log[-5:]


def refuse(service: Service, content: str | bytes) -> str:
    """Makes the service read a file that it must reject; returns the reason it reports."""
    replace(service.config, content)
    assert not hang_up(service)
    return service.wait_for(lambda: service.entries(message=REFUSED))[-1]["reason"]


class ConfigMap:
    """A folder as kubelet mounts a ConfigMap: the file is a link through the link `..data`, which is replaced."""

    def __init__(self, folder: pathlib.Path, content: str):
        self.folder = folder
        self._count = 0
        self.update(content)
        self.file = folder / "assay.yaml"
        self.file.symlink_to("..data/assay.yaml")

    def update(self, content: str) -> None:
        self._count += 1
        version = self.folder / f"..version_{self._count}"
        version.mkdir()
        (version / "assay.yaml").write_text(content)
        link = self.folder / "..data_tmp"
        link.symlink_to(version.name)
        os.replace(link, self.folder / "..data")

