"""Encrypted ID Tokens of grants and sign-ins, and clients that sign with a key of `client_keys`."""

import json

import pytest
from harness.service import Service, run, write_config
from harness.token_endpoint import REVOCATION, grant
from harness.tokens import ec_key
from jwcrypto import jwe, jwk, jws
from sign_ins.calls import ON, begin, finish

from .grants import refresh, refused, revoke, with_client


def write_key(directory, key: jwk.JWK, name: str) -> str:
    path = directory / f"{name}.pem"
    path.write_bytes(key.export_to_pem(private_key=True, password=None))
    path.chmod(0o600)
    return str(path)


@pytest.fixture(scope="module")
def key():
    return jwk.JWK.generate(kty="EC", crv="P-256")


@pytest.fixture(scope="module")
def signing():
    return {"first": jwk.JWK.generate(kty="EC", crv="P-256"), "second": jwk.JWK.generate(kty="RSA", size=2048)}


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("grants-encrypted", ec_key("op"))


@pytest.fixture(scope="module")
def service(shared_server, issuer, endpoint, key, signing, tmp_path_factory):
    directory = tmp_path_factory.mktemp("clients")
    client_keys = [
        {"id": "enc", "use": "encryption", "key_file": write_key(directory, key, "enc"), "algorithms": ["ECDH-ES+A256KW"]},
        {"id": "first", "use": "signature", "key_file": write_key(directory, signing["first"], "first"), "algorithm": "ES256"},
        {"id": "second", "use": "signature", "key_file": write_key(directory, signing["second"], "second"), "algorithm": "PS256"},
    ]
    named = {"id": "client", "auth": "private_key_jwt", "signing_key": "second"}
    providers = [
        with_client(issuer, endpoint, directory, auth="private_key_jwt", encryption={"required": ["id_token"]}),
        with_client(shared_server.issuer("grants-named"), endpoint, directory, "named", clients=[named]),
    ]
    with Service(*providers, client_keys=client_keys, limits={"provider_timeout": "2s"}, **ON) as service:
        service.wait_until_ready()
        yield service


def encrypted(text: str, key: jwk.JWK, kid: str = "enc") -> str:
    token = jwe.JWE(text.encode(), json.dumps({"alg": "ECDH-ES+A256KW", "enc": "A256GCM", "cty": "JWT", "kid": kid}))
    token.add_recipient(jwk.JWK.from_json(key.export_public()))
    return token.serialize(compact=True)


def test_a_refresh(service, endpoint, issuer, key):
    token = encrypted(issuer.token(sub="user-1"), key)
    endpoint.play(grant(id_token=token))
    answer = refresh(service).json
    assert answer["identity"]["subject"] == "user-1"
    assert answer["token"]["encryption"] == {"algorithm": "ECDH-ES+A256KW", "content": "A256GCM", "key_id": "enc"}
    assert answer["grant"]["id_token"] == token


REFUSED = {
    "decryption_failed": lambda issuer, key: encrypted(issuer.token(), key, kid="another"),
    "encryption_required": lambda issuer, key: issuer.token(),
}


@pytest.mark.parametrize("code", REFUSED)
def test_refusals(service, endpoint, issuer, key, code):
    bad = grant(id_token=REFUSED[code](issuer, key))
    endpoint.play(bad, bad)
    refused(refresh(service), code, True)
    refused(revoke(service, code="c1", subject="user-1"), code, True)
    assert endpoint.received(REVOCATION) == 0
    begun = begin(service)
    refused(finish(service, begun, REFUSED[code](issuer, key)), code, False)


def test_a_revocation(service, endpoint, issuer, key):
    endpoint.play(grant(id_token=encrypted(issuer.token(sub="user-1"), key)))
    assert revoke(service, code="c1", subject="user-1").status == 204


def test_a_native_sign_in(service, issuer, key):
    begun = begin(service)
    token = encrypted(issuer.token(nonce=begun["nonce"]), key)
    response = finish(service, begun, token)
    assert response.status == 200, response
    assert response.json["token"]["encryption"]["key_id"] == "enc"
    refused(finish(service, begun, token), "sign_in_replayed", True)


def test_a_code_of_a_native_sign_in(service, endpoint, issuer, key):
    begun = begin(service)
    endpoint.play(grant(id_token=encrypted(issuer.token(nonce=begun["nonce"]), key)))
    response = finish(service, begun, None, code="c1")
    assert response.status == 200, response
    assert response.json["token"]["encryption"]["algorithm"] == "ECDH-ES+A256KW"


@pytest.mark.parametrize("id, kid, algorithm", [("oidc", "first", "ES256"), ("named", "second", "PS256")])
def test_a_client_signs_with_the_first_key_or_the_one_it_names(service, endpoint, signing, shared_server, id, kid, algorithm):
    assert refresh(service, id).status == 200
    form = endpoint.last().form
    assert form["client_id"] == "client"
    token = jws.JWS()
    token.deserialize(form["client_assertion"], jwk.JWK.from_json(signing[kid].export_public()))
    assert token.jose_header["kid"] == kid and token.jose_header["alg"] == algorithm
    claims = json.loads(token.payload)
    issuer = shared_server.issuer("grants-encrypted" if id == "oidc" else "grants-named")
    assert claims["aud"] == issuer.url and claims["iss"] == claims["sub"] == "client"


def test_faults_of_clients(shared_server, issuer, endpoint, key, signing, tmp_path):
    enc = {"id": "enc", "use": "encryption", "key_file": write_key(tmp_path, key, "enc"), "algorithms": ["ECDH-ES"]}
    sig = {"id": "sig", "use": "signature", "key_file": write_key(tmp_path, signing["first"], "sig"), "algorithm": "ES256"}

    def check(client_keys: list, **client) -> str:
        entry = with_client(issuer, endpoint, tmp_path, clients=[{"id": "client", "auth": "private_key_jwt"} | client])
        config = write_config(tmp_path, {"client_keys": client_keys, "providers": [entry]})
        done = run("config", "check", "--config", str(config))
        return "" if done.returncode == 0 else done.stderr.decode()

    assert check([sig]) == "" and check([sig], signing_key="sig") == ""
    assert "use: signature" in check([enc])
    assert "names other" in check([sig], signing_key="other")
    assert "key_file" in check([sig], assertion_audience="token_endpoint")
    assert "key_file" in check([sig], key_id="k")
    assert "key_id" in check([sig], key_file=sig["key_file"])
    assert "one use" in check([enc], key_id="k", key_file=enc["key_file"])
    assert "no effect" in check([sig], signing_key="sig", key_id="k", key_file=sig["key_file"])


def test_client_registration(service):
    arguments = ("client-registration", "--config", str(service.config), "--base-url", "https://app.example/assay/")
    done = run(*arguments, "oidc")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "redirect_uris": ["https://app.example/callback"], "response_types": ["code"],
        "grant_types": ["authorization_code", "refresh_token"], "jwks_uri": "https://app.example/assay/v1/jwks",
        "token_endpoint_auth_method": "private_key_jwt", "token_endpoint_auth_signing_alg": "ES256",
        "id_token_encrypted_response_alg": "ECDH-ES+A256KW", "id_token_encrypted_response_enc": "A128GCM",
    }  # fmt: skip
    assert json.loads(run(*arguments, "named").stdout)["token_endpoint_auth_signing_alg"] == "PS256"
    assert run(*arguments, "nobody").returncode != 0
    assert run("client-registration", "--config", str(service.config), "--base-url", "http://x", "oidc").returncode != 0
