"""A backend that signs its users in at one of the providers and has Assay verify what it gets."""

from harness.service import NETWORK, Service
from providers.sign_in import SignIn


def trusting(provider, id: str, audiences: list[str], **settings) -> dict:
    """Settings for Assay that trust a provider on loopback for these clients."""
    return {"id": id, "issuer": provider.issuer, "audiences": audiences, "network": dict(NETWORK)} | settings


def accept(service: Service, sign_in: SignIn, **members) -> dict:
    """Verifies a sign-in, nonce and all, that must be accepted; returns the answer."""
    return service.accept(sign_in.id_token, **_expectations(sign_in) | members)


def reject(service: Service, sign_in: SignIn, problem: str, /, **members) -> dict:
    """Verifies a sign-in that must be refused with this problem's code; returns the problem."""
    return service.reject(sign_in.id_token, problem, **_expectations(sign_in) | members)


def _expectations(sign_in: SignIn) -> dict:
    return {} if sign_in.nonce is None else {"nonce": sign_in.nonce}
