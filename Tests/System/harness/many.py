"""Settings of entries with many issuers, and requests for them."""

import pathlib

from .service import NETWORK, Service


def listed(*issuers, id: str = "customers", **settings) -> dict:
    """An entry with a list of issuers of the tests' key server."""
    usual = {
        "id": id,
        "issuers": [issuer.url for issuer in issuers],
        "audiences": ["client"],
        "network": dict(NETWORK),
    }
    return {name: value for name, value in (usual | settings).items() if value is not None}


def in_file(path: pathlib.Path, id: str = "customers", **settings) -> dict:
    """An entry with the list of issuers of a file."""
    return listed(id=id, issuers_file=str(path), **({"issuers": None} | settings))


def open_entry(id: str = "connections", **settings) -> dict:
    """An entry whose issuers the requests name."""
    usual = {"id": id, "issuers": "any", "network": dict(NETWORK)}
    return {name: value for name, value in (usual | settings).items() if value is not None}


def connection(whose, /, id: str | None = None, provider: str = "connections", **members) -> dict:
    """The members of a request that name a connection; `None` removes one."""
    usual = {"provider": provider, "connection": id or whose.name, "issuer": whose.url, "audience": "client"}
    return {name: value for name, value in (usual | members).items() if value is not None}


def accept(service: Service, whose, /, token: str | None = None, **members) -> dict:
    """Verifies a token of a connection that must be accepted; returns the answer."""
    return service.accept(token or whose.token(), **connection(whose, **members))


def reject(service: Service, whose, /, *codes: str, token: str | None = None, **members) -> dict:
    """Verifies a token of a connection that must be refused with one of these codes; returns the problem."""
    return service.reject(token or whose.token(), *codes, **connection(whose, **members))
