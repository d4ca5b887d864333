"""Clients that authenticate by the certificate of their connections (`auth: tls_client_auth`, RFC 8705), and tokens that are bound to it."""

import json
import ssl

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from harness.certificates import Authority
from harness.proofs import ProofEndpoint
from harness.service import NETWORK, Service, provider, run, write_config
from harness.token_endpoint import REVOCATION, TOKEN, USER_INFO, TokenEndpoint, answered, error, grant

from .grants import refresh, refused, revoke, secret_file

ON = {"sign_ins": {}}
REDIRECT = "https://app.example/callback"


class Identity:
    """A client's certificate and key, in two files."""

    def __init__(self, authority: Authority, directory, name: str = "client", host: str = "client.example"):
        self.certificate_file, self.key_file = directory / f"{name}.pem", directory / f"{name}.key"
        self._host = host
        self.renew(authority)

    def renew(self, authority: Authority) -> None:
        pem = authority.client_file(self._host).read_bytes()
        key, _, rest = pem.partition(b"-----BEGIN CERTIFICATE-----")
        self.key_file.write_bytes(key)
        self.key_file.chmod(0o600)
        self.certificate_file.write_bytes(b"-----BEGIN CERTIFICATE-----" + rest)
        certificate = x509.load_pem_x509_certificate(self.certificate_file.read_bytes())
        self.der = certificate.public_bytes(serialization.Encoding.DER)

    def client(self, id: str = "client", **more) -> dict:
        files = {"certificate_file": str(self.certificate_file), "key_file": str(self.key_file)}
        return {"id": id, "auth": "tls_client_auth", "redirect_uris": [REDIRECT]} | files | more


class Certified(TokenEndpoint):
    """A token endpoint that records the certificate of each call, and demands one if `required`."""

    def __init__(self, authority: Authority, required: bool = True):
        context = authority.server_context()
        context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL
        context.load_verify_locations(authority.certificate_file)
        self.certificates: list[tuple[str, bytes | None]] = []
        super().__init__(context)
        self.choose(self.note)

    def note(self, call) -> None:
        self.certificates.append((call.path, call.connection.getpeercert(binary_form=True)))

    def heal(self) -> None:
        super().heal()
        self.choose(self.note)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def mutual(authority):
    with Certified(authority) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def plain(authority):
    """The endpoints for clients without a certificate, which take one too."""
    with Certified(authority, required=False) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def identity(authority, tmp_path_factory):
    return Identity(authority, tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="module")
def issuer(shared_server, mutual, plain):
    issuer = shared_server.issuer("certificates")
    names = {"token_endpoint": TOKEN, "revocation_endpoint": REVOCATION, "userinfo_endpoint": USER_INFO}
    document = {name: plain.url + path for name, path in names.items()}
    aliases = {name: mutual.url + path for name, path in names.items()}
    issuer.discovery.body = issuer.discovery_document(**document, mtls_endpoint_aliases=aliases)
    return issuer


def settings(issuer, authority, *clients: dict, **more) -> dict:
    """A provider whose endpoints are those of the document."""
    network = NETWORK | {"ca_file": str(authority.certificate_file)}
    audiences = [client["id"] for client in clients]
    endpoints = {"authorization": "https://idp.example/authorize"}
    return provider(issuer, **({"clients": list(clients), "audiences": audiences, "network": network, "endpoints": endpoints} | more))


def signed_in(service, issuer, *endpoints: TokenEndpoint, audience: str = "client", **members):
    """A sign-in in the browser, whose code one of the endpoints redeems."""
    begun = service.api.post("/v1/sign-ins", {"provider": "oidc", "audience": audience, "redirect_uri": REDIRECT}).json
    for endpoint in endpoints:
        endpoint.play(grant(id_token=issuer.token(aud=audience, nonce=begun["nonce"]), **members))
    response = {"state": begun["state"], "code": "c1"}
    return service.api.post("/v1/sign-ins/finish", {"sign_in": begun["sign_in"], "response": response})


@pytest.fixture(autouse=True)
def fresh(mutual, plain):
    for endpoint in (mutual, plain):
        endpoint.heal()
        endpoint.forget()
        endpoint.certificates.clear()


def test_every_call_presents_the_certificate_at_the_aliases(issuer, authority, mutual, plain, identity):
    with Service(settings(issuer, authority, identity.client()), **ON) as service:
        service.wait_until_ready()
        response = signed_in(service, issuer, mutual)
        assert response.status == 200, response
        assert "binding" not in response.json["grant"] and response.json["grant"]["token_type"] == "Bearer"
        assert refresh(service).status == 200
        assert revoke(service, token="t1").status == 204
    assert mutual.certificates == [(TOKEN, identity.der), (TOKEN, identity.der), (REVOCATION, identity.der)]
    for call in mutual.calls:
        assert call.form["client_id"] == "client" and "authorization" not in call.headers
        assert not {"client_secret", "client_assertion"} & call.form.keys()
    assert not plain.calls


def test_other_clients_do_not(issuer, authority, mutual, plain, identity, tmp_path):
    """Nor do they get a connection on which another client is known."""
    other = {"id": "other", "auth": "client_secret_post", "secret_file": secret_file(tmp_path), "redirect_uris": [REDIRECT]}
    second = Identity(authority, tmp_path, "second")
    with Service(settings(issuer, authority, identity.client(), other, second.client("second")), **ON) as service:
        service.wait_until_ready()
        for audience in ("client", "other", "second", "client", "other", "second"):
            assert refresh(service, audience=audience).status == 200, audience
    assert [certificate for _, certificate in mutual.certificates] == [identity.der, second.der, identity.der, second.der]
    assert plain.certificates == [(TOKEN, None)] * 2
    assert mutual.connections >= 2


def test_endpoints_of_the_settings_come_before_the_aliases(issuer, authority, mutual, plain, identity):
    endpoints = {"token": plain.url + TOKEN}
    with Service(settings(issuer, authority, identity.client(), endpoints=endpoints)) as service:
        service.wait_until_ready()
        assert refresh(service).status == 200
    assert plain.certificates == [(TOKEN, identity.der)] and not mutual.calls


@pytest.mark.parametrize("is_bound", [True, False])
def test_user_info_needs_the_certificate_only_for_bound_tokens(issuer, authority, mutual, plain, identity, is_bound):
    client = identity.client(**({"sender_constraint": "certificate"} if is_bound else {}))
    with Service(settings(issuer, authority, client, user_info=True), **ON) as service:
        service.wait_until_ready()
        for endpoint in (mutual, plain):
            endpoint.play(answered({"sub": "user-1", "name": "Ada"}), path=USER_INFO)
        response = signed_in(service, issuer, mutual)
        assert response.status == 200 and response.json["identity"]["name"] == "Ada", response
    assert (mutual.certificates + plain.certificates) == [(TOKEN, identity.der), (USER_INFO, identity.der if is_bound else None)]
    assert [call.path for call in plain.calls] == ([] if is_bound else [USER_INFO])


def test_a_renewed_certificate_is_presented_without_a_restart(issuer, authority, mutual, identity, tmp_path):
    own = Identity(authority, tmp_path)
    with Service(settings(issuer, authority, own.client())) as service:
        service.wait_until_ready()
        assert refresh(service).status == 200
        before = own.der
        own.renew(authority)
        service.wait_until(lambda: refresh(service).status == 200 and mutual.certificates[-1][1] == own.der)
    assert mutual.certificates[0][1] == before != own.der


def test_a_certificate_that_the_provider_does_not_know_sends_nothing_that_it_reads(issuer, authority, mutual, tmp_path):
    stranger = Identity(Authority(tmp_path, "A stranger"), tmp_path)
    with Service(settings(issuer, authority, stranger.client()), limits={"provider_timeout": "2s"}) as service:
        service.wait_until_ready()
        response = refresh(service)
        assert response.json["code"] == "provider_unavailable", response
    assert not mutual.calls


def test_both_proofs_may_be_needed(issuer, authority, mutual, identity):
    server = ProofEndpoint(mutual)

    def choose(call):
        mutual.note(call)
        return server.act(call)

    mutual.choose(choose)
    with Service(settings(issuer, authority, identity.client(sender_constraint="dpop")), **ON) as service:
        service.wait_until_ready()
        response = signed_in(service, issuer, mutual, token_type="DPoP")
        assert response.status == 200, response
        assert refresh(service, binding=response.json["grant"]["binding"]).status == 200
    assert len(server.proofs) == 2 and {certificate for _, certificate in mutual.certificates} == {identity.der}


def test_opaque_tokens_are_asked_about_with_the_certificate(shared_server, authority, mutual, plain, identity):
    issuer = shared_server.issuer("certified-opaque")
    issuer.discovery.body = issuer.discovery_document(
        introspection_endpoint=plain.url + "/introspect", mtls_endpoint_aliases={"introspection_endpoint": mutual.url + "/introspect"}
    )
    network = NETWORK | {"ca_file": str(authority.certificate_file)}
    client = {name: value for name, value in identity.client().items() if name != "redirect_uris"}
    entry = provider(issuer, "opaque", tokens="opaque", audiences=["https://api.example"], clients=[client], network=network)
    with Service(entry) as service:
        service.wait_until(lambda: service.api.post("/v1/access-tokens/verify", {"provider": "opaque", "token": "t1"}).json["code"] == "token_inactive")
    assert set(mutual.certificates) == {("/introspect", identity.der)} and not plain.calls


# The settings.


def test_the_client_is_registered_by_its_certificate(issuer, authority, identity, tmp_path):
    def registered(**more) -> dict:
        entry = settings(issuer, authority, identity.client(**more))
        file = write_config(tmp_path, {"providers": [entry]} | ON)
        done = run("client-registration", "--config", str(file), "--base-url", "https://app.example", "oidc")
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    metadata = registered(sender_constraint="certificate")
    assert metadata["token_endpoint_auth_method"] == "tls_client_auth"
    assert metadata["tls_client_certificate_bound_access_tokens"] is True and "dpop_bound_access_tokens" not in metadata
    metadata = registered(sender_constraint="dpop")
    assert metadata["dpop_bound_access_tokens"] is True and "tls_client_certificate_bound_access_tokens" not in metadata


def test_a_live_check_presents_the_certificate(issuer, authority, mutual, plain, identity, tmp_path):
    mutual.play(error("invalid_grant"))
    file = write_config(tmp_path, {"providers": [settings(issuer, authority, identity.client())]})
    checked = run("config", "check", "--live", "--config", str(file))
    assert b"accepts the client" in checked.stdout, checked
    assert mutual.certificates == [(TOKEN, identity.der)] and not plain.calls


def fault(tmp_path, entry: dict) -> str:
    checked = run("config", "check", "--config", str(write_config(tmp_path, {"providers": [entry]} | ON)))
    assert checked.returncode != 0, checked
    return (checked.stdout + checked.stderr).decode()


def test_the_files_must_fit(issuer, authority, identity, tmp_path):
    other = Identity(authority, tmp_path, "other")
    assert "another key" in fault(tmp_path, settings(issuer, authority, identity.client(key_file=str(other.key_file))))
    assert "no PEM certificate" in fault(tmp_path, settings(issuer, authority, identity.client(certificate_file=str(identity.key_file))))
    for name in ("certificate_file", "key_file"):
        client = {key: value for key, value in identity.client().items() if key != name}
        assert f"tls_client_auth needs {name}" in fault(tmp_path, settings(issuer, authority, client))


def test_what_has_no_effect_is_refused(issuer, authority, identity, tmp_path):
    unbound = {"id": "client", "auth": "none", "sender_constraint": "certificate"}
    assert "needs auth: tls_client_auth" in fault(tmp_path, settings(issuer, authority, unbound))
    assert "key_id only has an effect" in fault(tmp_path, settings(issuer, authority, identity.client(key_id="k1")))
    assert "needs https" in fault(tmp_path, settings(issuer, authority, identity.client(), endpoints={"token": "http://127.0.0.1:1/token"}))
    origins = identity.client(dpop_origins=["https://api.example"])
    assert "dpop_origins only has an effect" in fault(tmp_path, settings(issuer, authority, origins))


def test_an_http_endpoint_gets_nothing(shared_server, authority, endpoint, identity):
    """It could not ask for the certificate, so the code would come from anybody."""
    issuer = shared_server.issuer("certified-http")
    issuer.discovery.body = issuer.discovery_document(token_endpoint=endpoint.url + TOKEN)
    endpoint.forget()
    with Service(settings(issuer, authority, identity.client())) as service:
        service.wait_until_ready()
        refused(refresh(service), "provider_unavailable", False)
    assert not endpoint.calls
