"""Encrypted ID Tokens and notifications: every algorithm, by three other implementations, each refusal, and what explanations hide."""

import concurrent.futures
import itertools
import json
import os
import stat
import subprocess
import tempfile

import pytest
from harness import reload
from harness.client import contract
from harness.service import Service, provider, run, write_config
from harness.tokens import b64url, ec_key, now, unb64url
from harness.waiting import poll
from joserfc import jwe as joserfc_jwe
from joserfc import jwk as joserfc_jwk
from jwcrypto import jwe as jwcrypto_jwe
from jwcrypto import jwk as jwcrypto_jwk

AGREEMENTS = ["ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A192KW", "ECDH-ES+A256KW"]
WRAPPINGS = ["RSA-OAEP", "RSA-OAEP-256"]
CONTENTS = ["A128GCM", "A192GCM", "A256GCM", "A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512"]
CURVES = ["P-256", "P-384", "P-521", "X25519"]
LOGOUT = "http://schemas.openid.net/event/backchannel-logout"


def write_key(directory, key: jwcrypto_jwk.JWK, name: str) -> str:
    path = directory / f"{name}.pem"
    path.write_bytes(key.export_to_pem(private_key=True, password=None))
    path.chmod(0o600)
    return str(path)


def made(directory, algorithm: str, name: str) -> str:
    """A key file made by `assay key new`."""
    path = directory / f"{name}.pem"
    done = run("key", "new", "--algorithm", algorithm, str(path))
    assert done.returncode == 0, done.stderr
    return str(path)


@pytest.fixture(scope="module")
def keys():
    keys = {curve: jwcrypto_jwk.JWK.generate(kty="EC" if curve.startswith("P") else "OKP", crv=curve) for curve in CURVES}
    return keys | {"RSA": jwcrypto_jwk.JWK.generate(kty="RSA", size=2048)}


@pytest.fixture(scope="module")
def issuer(shared_server):
    return shared_server.issuer("encrypting", ec_key("op"))


@pytest.fixture(scope="module")
def strict(shared_server):
    return shared_server.issuer("encrypting-strictly", ec_key("strict"))


@pytest.fixture(scope="module")
def plain(shared_server):
    return shared_server.issuer("encrypting-never", ec_key("plain"))


@pytest.fixture(scope="module")
def service(issuer, strict, plain, keys, tmp_path_factory):
    directory = tmp_path_factory.mktemp("client-keys")
    client_keys = [
        {"id": f"enc-{name}", "use": "encryption", "key_file": write_key(directory, key, name),
         "algorithms": WRAPPINGS if name == "RSA" else AGREEMENTS}
        for name, key in keys.items()
    ]  # fmt: skip
    client_keys.append({"id": "sig", "use": "signature", "key_file": made(directory, "ES256", "sig"), "algorithm": "ES256"})
    providers = [
        provider(issuer, encryption={}, notifications=["logout"]),
        provider(
            strict, "strict", notifications=["logout"],
            encryption={
                "keys": ["enc-P-256"], "algorithms": ["ECDH-ES"], "content": ["A256GCM"], "required": ["id_token", "notification"],
            },
        ),
        provider(plain, "plain"),
    ]  # fmt: skip
    policies = [{"id": "web", "providers": ["oidc", "strict"]}]
    with Service(*providers, client_keys=client_keys, forward_auth={"policies": policies}) as service:
        service.wait_until_ready()
        yield service


def encrypted(text: str, key, alg: str = "ECDH-ES+A256KW", enc: str = "A256GCM", **header) -> str:
    """A JWE by jwcrypto, whose checks of the header are lenient."""
    members = {name: value for name, value in ({"alg": alg, "enc": enc, "cty": "JWT"} | header).items() if value is not None}
    token = jwcrypto_jwe.JWE(text.encode(), json.dumps(members), algs=[alg, enc])
    token.add_recipient(jwcrypto_jwk.JWK.from_json(key.export_public()))
    return token.serialize(compact=True)


def by_joserfc(text: str, key, alg: str, enc: str, **header) -> str:
    registry = joserfc_jwe.JWERegistry(algorithms=[alg, enc])
    public = joserfc_jwk.import_key(json.loads(key.export_public()))
    return joserfc_jwe.encrypt_compact({"alg": alg, "enc": enc, "cty": "JWT"} | header, text.encode(), public, registry=registry)


def by_jose(text: str, key, alg: str, enc: str, **header) -> str:
    """By the command of José, in C: Debian's has neither X25519 nor a working RSA-OAEP."""
    template = {"protected": {"alg": alg, "enc": enc, "cty": "JWT"} | header}
    with tempfile.NamedTemporaryFile("w") as public:
        public.write(key.export_public())
        public.flush()
        command = ["jose", "jwe", "enc", "-i", json.dumps(template), "-I", "-", "-k", public.name, "-c"]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.strip()


def cases(curves: list[str] = CURVES, wrappings: list[str] = WRAPPINGS):
    for alg, enc, curve in itertools.product(AGREEMENTS, CONTENTS, curves):
        yield alg, enc, curve
    for alg, enc in itertools.product(wrappings, CONTENTS):
        yield alg, enc, "RSA"


@pytest.mark.parametrize(
    ("encrypt", "cases"), [(encrypted, cases()), (by_joserfc, cases()), (by_jose, cases(["P-256", "P-384", "P-521"], []))],
    ids=["jwcrypto", "joserfc", "jose"],
)  # fmt: skip
def test_each_algorithm_is_opened(service, issuer, keys, encrypt, cases):
    for alg, enc, name in cases:
        token = encrypt(issuer.token(nonce="n"), keys[name], alg, enc, kid=f"enc-{name}")
        answer = service.accept(token, provider="oidc", nonce="n")
        assert answer["token"]["encryption"] == {"algorithm": alg, "content": enc, "key_id": f"enc-{name}"}, (alg, enc, name)


def test_a_plain_token_has_no_encryption_in_the_answer(service, issuer):
    assert "encryption" not in service.accept(issuer.token())["token"]
    assert "encryption" not in service.accept(issuer.token(), include_claims=True)["token"]


def test_the_whole_answer(service, issuer, keys):
    token = issuer.token(sub="user-1")
    plain = service.accept(token, include_claims=True)
    answer = service.accept(encrypted(token, keys["P-256"], kid="enc-P-256"), provider="oidc", include_claims=True)
    encryption = answer["token"].pop("encryption")
    assert encryption == {"algorithm": "ECDH-ES+A256KW", "content": "A256GCM", "key_id": "enc-P-256"}
    for one in (answer, plain):
        one.pop("keys")
    assert answer == plain


def test_apu_and_apv_go_into_the_derivation(service, issuer, keys):
    token = encrypted(issuer.token(), keys["P-384"], "ECDH-ES", kid="enc-P-384", apu=b64url(b"Alice"), apv=b64url(b"Bob"))
    service.accept(token, provider="oidc")


@pytest.mark.parametrize("content_type", [None, "JWT", "jwt", "Jwt"])
def test_the_content_type_may_be_absent_or_in_any_case(service, issuer, keys, content_type):
    service.accept(encrypted(issuer.token(), keys["P-256"], kid="enc-P-256", cty=content_type), provider="oidc")


def test_without_kid_the_only_key_that_fits_opens(service, issuer, keys):
    for name in CURVES:
        answer = service.accept(encrypted(issuer.token(), keys[name]), provider="oidc")
        assert answer["token"]["encryption"]["key_id"] is None
    service.accept(encrypted(issuer.token(), keys["RSA"], "RSA-OAEP"), provider="oidc")


def test_what_is_inside_is_verified_as_ever(service, issuer, keys):
    for members, code in [
        ({"aud": "another"}, "audience_mismatch"), ({"exp": now() - 3600}, "token_expired"),
        ({"iss": "https://x.example"}, "issuer_mismatch"),
    ]:  # fmt: skip
        token = encrypted(issuer.token(**members), keys["P-256"], kid="enc-P-256")
        service.reject(token, code, provider="oidc")
    token = encrypted(issuer.token(nonce="n"), keys["P-256"], kid="enc-P-256")
    service.reject(token, "nonce_mismatch", provider="oidc", nonce="m")
    forged = issuer.token()[:-6] + "AAAAAA"
    service.reject(encrypted(forged, keys["P-256"], kid="enc-P-256"), "signature_invalid", provider="oidc")


def changed(token: str, part: int, change) -> str:
    parts = token.split(".")
    parts[part] = b64url(change(unb64url(parts[part])))
    return ".".join(parts)


def with_header(token: str, **members) -> str:
    def change(octets: bytes) -> bytes:
        header = json.loads(octets) | members
        return json.dumps({name: value for name, value in header.items() if value is not None}).encode()

    return changed(token, 0, change)


def test_every_failure_is_one_answer(service, issuer, keys):
    good = {alg: encrypted(issuer.token(), keys["P-256"], alg, kid="enc-P-256") for alg in ("ECDH-ES", "ECDH-ES+A128KW")}
    good["RSA-OAEP"] = encrypted(issuer.token(), keys["RSA"], "RSA-OAEP", kid="enc-RSA")
    good["CBC"] = encrypted(issuer.token(), keys["P-256"], enc="A128CBC-HS256", kid="enc-P-256")
    other = jwcrypto_jwk.JWK.generate(kty="EC", crv="P-256")
    tokens = [encrypted(issuer.token(), other, kid="enc-P-256")]
    tokens += [encrypted(issuer.token(), keys["P-256"], kid=kid) for kid in ("unknown", "enc-P-384", "ENC-P-256", "sig")]
    for token in good.values():
        for part in range(1, 5):
            if token.split(".")[part]:
                tokens.append(changed(token, part, lambda octets: bytes([octets[0] ^ 1]) + octets[1:]))
                tokens += [changed(token, part, lambda octets, n=n: octets[:-n]) for n in (1, 4, 8)]
                tokens.append(changed(token, part, lambda octets: b""))
            tokens.append(changed(token, part, lambda octets: octets + b"\0"))
        tokens.append(with_header(token, typ="JWT"))
    for epk in [
        {"kty": "EC", "crv": "P-256", "x": "A" * 43, "y": "A" * 43},
        {"kty": "EC", "crv": "P-384", "x": "A" * 64, "y": "A" * 64},
        {"kty": "OKP", "crv": "X25519", "x": "A" * 43},
        {"kty": "EC"}, {}, None,
    ]:  # fmt: skip
        tokens.append(with_header(good["ECDH-ES"], epk=epk))
    problems = set()
    for token in tokens:
        problem = service.reject(token, "decryption_failed", provider="oidc")
        problem.pop("request_id")
        problems.add(json.dumps(problem, sort_keys=True))
    assert len(problems) == 1, problems


@pytest.mark.parametrize("alg", ["RSA1_5", "dir", "A128KW", "A256GCMKW", "PBES2-HS256+A128KW", "none", "rsa-oaep"])
def test_other_algorithms_are_not_allowed(service, issuer, keys, alg):
    token = with_header(encrypted(issuer.token(), keys["RSA"], "RSA-OAEP", kid="enc-RSA"), alg=alg)
    service.reject(token, "algorithm_not_allowed", provider="oidc")


def test_the_header_is_read_strictly(service, issuer, keys):
    token = encrypted(issuer.token(), keys["P-256"], kid="enc-P-256")
    service.reject(with_header(token, enc="A128CTR"), "algorithm_not_allowed", provider="oidc")
    for members in [{"zip": "DEF"}, {"crit": ["exp"]}, {"cty": "json"}, {"cty": "application/jwt"}]:
        service.reject(with_header(token, **members), "header_unsupported", provider="oidc")
    for members in [{"kid": 1}, {"apu": "a="}, {"epk": "x"}, {"cty": 1}]:
        service.reject(with_header(token, **members), "token_malformed", provider="oidc")
    for other in [token + "=", token.replace(".", "..", 1), "." + token, token.split(".", 1)[1], "*" + token]:
        service.reject(other, "token_malformed", provider="oidc")


def test_only_one_signed_token_may_be_inside(service, issuer, keys):
    inner = encrypted(issuer.token(), keys["P-256"], kid="enc-P-256")
    service.reject(encrypted(inner, keys["P-256"], kid="enc-P-256"), "header_unsupported", provider="oidc")
    for text in ['{"iss": "x"}', "", "a.b", issuer.token() + "."]:
        service.reject(encrypted(text, keys["P-256"], kid="enc-P-256"), "token_malformed", provider="oidc")
    unsigned = b64url(b'{"alg":"none"}') + "." + issuer.token().split(".")[1] + "."
    service.reject(encrypted(unsigned, keys["P-256"], kid="enc-P-256"), "algorithm_not_allowed", provider="oidc")


def test_an_encrypted_token_needs_a_provider_with_encryption(service, issuer, keys):
    token = encrypted(issuer.token(), keys["P-256"], kid="enc-P-256", iss=issuer.url)
    service.reject(token, "request_invalid")
    service.reject(token, "provider_unknown", provider="nobody")
    assert "encryption" in service.reject(token, "token_malformed", provider="plain")["detail"]


def test_what_an_entry_lists(service, strict, keys):
    good = encrypted(strict.token(), keys["P-256"], "ECDH-ES", kid="enc-P-256")
    assert service.accept(good, provider="strict")["token"]["encryption"]["algorithm"] == "ECDH-ES"
    for alg, enc in [("ECDH-ES+A256KW", "A256GCM"), ("ECDH-ES", "A128GCM")]:
        service.reject(encrypted(strict.token(), keys["P-256"], alg, enc, kid="enc-P-256"), "algorithm_not_allowed", provider="strict")
    service.reject(encrypted(strict.token(), keys["P-384"], "ECDH-ES", kid="enc-P-384"), "decryption_failed", provider="strict")


def test_required_encryption(service, strict, issuer):
    service.reject(strict.token(), "encryption_required", provider="strict")
    service.reject(strict.token(), "encryption_required")
    service.reject(strict.token() + "x.", "token_malformed", provider="strict")
    service.accept(issuer.token())


def test_gateways_take_no_encrypted_tokens(service, issuer, strict, keys):
    def ask(token: str) -> int:
        return service.api.get("/v1/forward-auth/web", {"Authorization": f"Bearer {token}"}).status

    assert ask(issuer.token()) == 200
    assert ask(encrypted(issuer.token(), keys["P-256"], kid="enc-P-256")) == 401
    assert ask(strict.token()) == 401
    assert ask(encrypted(strict.token(), keys["P-256"], "ECDH-ES", kid="enc-P-256")) == 401


def test_batches(service, issuer, strict, keys):
    good = encrypted(issuer.token(), keys["P-256"], kid="enc-P-256")
    items = [
        {"id_token": issuer.token()}, {"id_token": good, "provider": "oidc"}, {"id_token": good},
        {"id_token": changed(good, 4, lambda octets: octets[:-1]), "provider": "oidc"}, {"id_token": strict.token()},
    ]  # fmt: skip
    results = service.api.post("/v1/verify/batch", {"items": items * 20}).json["results"]
    codes = [result.get("error", {}).get("code", "ok") for result in results]
    assert codes == ["ok", "ok", "request_invalid", "decryption_failed", "encryption_required"] * 20
    assert "encryption" in results[1]["token"] and "encryption" not in results[0]["token"]


def logout(issuer, **members) -> str:
    return issuer.token(
        header={"typ": "logout+jwt"}, events={LOGOUT: {}}, jti="j", sub="user-1", nonce=None, exp=now() + 120, **members
    )


def test_notifications(service, issuer, strict, keys):
    path = "/v1/notifications/verify"
    token = encrypted(logout(issuer), keys["P-256"], kid="enc-P-256")
    assert service.api.post(path, {"token": token, "provider": "oidc"}).status == 200
    contract.assert_code(service.api.post(path, {"token": token}), "request_invalid")
    broken = changed(token, 4, lambda octets: octets[:-1])
    contract.assert_code(service.api.post(path, {"token": broken, "provider": "oidc"}), "decryption_failed")
    contract.assert_code(service.api.post(path, {"token": logout(strict), "provider": "strict"}), "encryption_required")
    contract.assert_code(service.api.post(path, {"token": logout(strict)}), "encryption_required")
    token = encrypted(logout(strict), keys["P-256"], "ECDH-ES", kid="enc-P-256")
    assert service.api.post(path, {"token": token, "provider": "strict"}).status == 200


def test_an_explanation_shows_the_outer_header_and_the_results_alone(service, issuer, keys):
    secret = {"sub": "a-secret-subject", "email": "secret@example.com", "nonce": "a-secret-nonce"}
    token = encrypted(issuer.token(**secret), keys["P-256"], kid="enc-P-256")
    answers = []
    for guess in [{}, {"subject": "a-secret-subject"}, {"subject": "another"}, {"nonce": "a-secret-nonce"}, {"nonce": "another"}]:
        response = service.admin.post("/v1/explain", {"id_token": token, "provider": "oidc"} | guess)
        assert response.status == 200, response
        text = json.dumps(response.json)
        for value in secret.values():
            assert value not in text and value.split("@")[0] not in text
        # Seconds pass between the requests.
        answers.append({name: value for name, value in response.json.items() if name not in ("keys", "time")})
    assert all(answer == answers[0] for answer in answers)
    answer = answers[0]
    assert answer["valid"] is True and answer["provider"] == "oidc"
    assert answer["token"]["claims"] == []
    assert {member["name"] for member in answer["token"]["header"]} == {"alg", "enc", "cty", "kid", "epk"}
    states = {check["name"]: check["state"] for check in answer["checks"]}
    assert states["signature"] == "passed" and states["nonce"] == "not_asked" and states["subject"] == "passed"
    assert all(check["found"] is None and check["expected"] is None for check in answer["checks"])
    expired = encrypted(issuer.token(exp=now() - 3600, **secret), keys["P-256"], kid="enc-P-256")
    answer = service.admin.post("/v1/explain", {"id_token": expired, "provider": "oidc"}).json
    assert answer["valid"] is False and answer["code"] == "token_expired"


def test_an_explanation_of_a_token_that_is_not_opened(service, issuer, strict, keys):
    token = encrypted(issuer.token(), keys["P-256"], kid="unknown")
    answer = service.admin.post("/v1/explain", {"id_token": token, "provider": "oidc"}).json
    assert (answer["valid"], answer["code"]) == (False, "decryption_failed")
    assert {member["name"] for member in answer["token"]["header"]} >= {"alg", "enc", "kid"}
    answer = service.admin.post("/v1/explain", {"id_token": with_header(token, zip="DEF"), "provider": "oidc"}).json
    assert answer["code"] == "header_unsupported"
    answer = service.admin.post("/v1/explain", {"id_token": strict.token(), "provider": "strict"}).json
    assert (answer["valid"], answer["code"]) == (False, "encryption_required")


def test_the_command_line_shows_all(service, issuer, keys, tmp_path):
    token = encrypted(issuer.token(sub="user-1"), keys["P-256"], kid="enc-P-256")
    file = write_key(tmp_path, keys["P-256"], "own")
    arguments = ("explain", "--config", str(service.config), "--provider", "oidc", "--json")
    done = run(*arguments, "--decryption-key", file, "--show-values", stdin=token)
    answer = json.loads(done.stdout)
    assert answer["valid"] is True, done.stderr
    assert {"name": "sub", "value": "user-1", "masked": False} in answer["token"]["claims"]
    answer = json.loads(run(*arguments, stdin=token).stdout)
    assert answer["valid"] is True and answer["token"]["claims"] == []
    other = write_key(tmp_path, jwcrypto_jwk.JWK.generate(kty="EC", crv="P-256"), "other")
    done = run(*arguments, "--decryption-key", other, stdin=token)
    assert done.returncode != 0 and b"can't be opened" in done.stderr
    done = run("verify", "--config", str(service.config), "--provider", "oidc", stdin=token)
    assert json.loads(done.stdout)["token"]["encryption"]["key_id"] == "enc-P-256"


def test_a_burst_of_junk(service, issuer, keys):
    """However many decryptions wait, each request is answered: the token verified, or the instance overloaded."""
    junk = changed(encrypted(issuer.token(), keys["RSA"], "RSA-OAEP", kid="enc-RSA"), 4, lambda octets: octets[:-1])
    body = {"id_token": junk, "provider": "oidc"}
    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        codes = {response.json["code"] for response in threads.map(lambda _: service.api.post("/v1/verify", body), range(300))}
    assert codes <= {"decryption_failed", "overloaded"}
    service.accept(issuer.token())


# The keys


def test_the_key_set(service, keys):
    response = service.api.get("/v1/jwks")
    assert response.status == 200
    assert response.all("Cache-Control") == ["max-age=3600"]
    published = {key["kid"]: key for key in response.json["keys"]}
    assert set(published) == {f"enc-{name}" for name in keys} | {"sig"}
    for name, key in keys.items():
        public = json.loads(key.export_public())
        public.pop("kid", None)
        assert {**public, "kid": f"enc-{name}", "use": "enc", "alg": "RSA-OAEP" if name == "RSA" else "ECDH-ES"} == published[f"enc-{name}"]
    assert published["sig"]["use"] == "sig" and published["sig"]["alg"] == "ES256"
    assert all("d" not in key for key in published.values())


def test_the_key_set_needs_no_api_key_and_exists_only_with_keys(issuer, tmp_path):
    digest = "a" * 64
    key = {"id": "sig", "use": "signature", "key_file": made(tmp_path, "EdDSA", "sig"), "algorithm": "EdDSA"}
    with Service(provider(issuer), client_keys=[key], api_keys=[digest]) as service:
        assert service.api.get("/v1/jwks").json["keys"][0]["crv"] == "Ed25519"
        assert service.api.post("/v1/jwks", {}).status == 405
    with Service(provider(issuer)) as service:
        contract.assert_code(service.api.get("/v1/jwks"), "not_found")


def test_a_replaced_key_still_opens_and_files_are_read_again(issuer, keys, tmp_path):
    old, new = write_key(tmp_path, keys["P-256"], "old"), write_key(tmp_path, keys["P-384"], "new")
    entries = [
        {"id": "new", "use": "encryption", "key_file": new, "algorithms": ["ECDH-ES"]},
        {"id": "old", "use": "encryption", "key_file": old, "algorithms": ["ECDH-ES"], "published": False},
    ]  # fmt: skip
    with Service(provider(issuer, encryption={}), client_keys=entries) as service:
        service.wait_until_ready()
        assert [key["kid"] for key in service.api.get("/v1/jwks").json["keys"]] == ["new"]
        for kid, name in [("old", "P-256"), ("new", "P-384")]:
            service.accept(encrypted(issuer.token(), keys[name], "ECDH-ES", kid=kid), provider="oidc")
        write_key(tmp_path, keys["P-521"], "new")
        token = encrypted(issuer.token(), keys["P-521"], "ECDH-ES", kid="new")
        poll(lambda: service.verify(token, provider="oidc").status == 200)
        assert service.api.get("/v1/jwks").json["keys"][0]["crv"] == "P-521"
        (tmp_path / "new.pem").write_text("no key")
        service.wait_for(lambda: any("client_keys" in line and "warning" in line for line in service.log))
        service.accept(token, provider="oidc")


@pytest.mark.parametrize("algorithm", ["ES256", "RS256", "PS256", "EdDSA", "ECDH-ES", "RSA-OAEP-256"])
def test_key_new(tmp_path, algorithm):
    path = tmp_path / "key.pem"
    assert run("key", "new", "--algorithm", algorithm, str(path)).returncode == 0
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    done = run("key", "new", "--algorithm", algorithm, str(path))
    assert done.returncode != 0 and b"exists" in done.stderr
    printed = run("key", "new", "--algorithm", algorithm).stdout
    assert printed.startswith(b"-----BEGIN PRIVATE KEY-----\n") and printed != path.read_bytes()
    assert jwcrypto_jwk.JWK.from_pem(path.read_bytes()).has_private
    assert run("key", "new", "--algorithm", "HS256").returncode != 0


def check(issuer, tmp_path, client_keys: list, **more) -> str:
    config = write_config(tmp_path, {"client_keys": client_keys, "providers": [provider(issuer, **more)]})
    done = run("config", "check", "--config", str(config))
    return "" if done.returncode == 0 else done.stderr.decode()


def test_faults_of_the_settings(issuer, keys, tmp_path):
    ec, signing = write_key(tmp_path, keys["P-256"], "ec"), made(tmp_path, "ES256", "sig")
    long = write_key(tmp_path, jwcrypto_jwk.JWK.generate(kty="RSA", size=4096), "long")
    enc = {"id": "enc", "use": "encryption", "key_file": ec, "algorithms": ["ECDH-ES"]}
    sig = {"id": "sig", "use": "signature", "key_file": signing, "algorithm": "ES256"}
    assert check(issuer, tmp_path, [enc, sig], encryption={}) == ""
    assert "one use" in check(issuer, tmp_path, [enc, sig | {"key_file": ec}])
    copy = write_key(tmp_path, keys["P-256"], "copy")
    assert "other use" in check(issuer, tmp_path, [enc, sig | {"key_file": copy}])
    assert "listed twice" in check(issuer, tmp_path, [enc, enc])
    assert "4096 bits" in check(issuer, tmp_path, [enc | {"key_file": long, "algorithms": ["RSA-OAEP"]}])
    assert "does not fit" in check(issuer, tmp_path, [enc | {"algorithms": ["ECDH-ES", "RSA-OAEP"]}])
    assert "can't sign" in check(issuer, tmp_path, [sig | {"algorithm": "RS256"}])
    assert "algorithms" in check(issuer, tmp_path, [enc | {"algorithms": ["RSA1_5"]}])
    assert "needs algorithm" in check(issuer, tmp_path, [{k: v for k, v in sig.items() if k != "algorithm"}])
    assert "use: encryption" in check(issuer, tmp_path, [sig], encryption={})
    assert "names other" in check(issuer, tmp_path, [enc], encryption={"keys": ["other"]})
    assert "verifies access tokens" in check(issuer, tmp_path, [enc], encryption={}, tokens="access")
    assert "required" in check(issuer, tmp_path, [enc], encryption={"required": ["everything"]})


def test_no_key_is_ever_logged(service):
    assert reload.metrics(service) is not None
    service.hides("PRIVATE KEY")
