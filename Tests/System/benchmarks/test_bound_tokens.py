"""The tokens and proofs of the benchmark, read by a library of others."""

import http.server
import threading

import jwcrypto.jwk
import jwcrypto.jws
import pytest

import mint
import pools
from harness.proofs import Proof

URL = "https://api.example.com/orders/17"


@pytest.fixture(scope="module")
def client():
    return mint.ProofKey()


def test_a_proof_is_one_for_its_request_and_token(client):
    token = mint.Key("ES256", "k").token(mint.access_claims(1, "https://auth.example.com", "https://api.example.com"), typ="at+jwt")
    proof = Proof.of(client.proof("GET", URL, token), "GET", URL, token)
    assert proof.jkt == client.thumbprint
    assert client.proof("GET", URL, token) != proof.text


def test_a_token_has_the_type_of_access_tokens():
    key = mint.Key("ES256", "k")
    signed = jwcrypto.jws.JWS()
    signed.deserialize(key.token({"sub": "1"}, typ="at+jwt"), jwcrypto.jwk.JWK(**key.jwk))
    assert signed.jose_header == {"kid": "k", "alg": "ES256", "typ": "at+jwt"}


def test_header_fields_are_sent_as_such(tmp_path):
    class Answering(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers["Authorization"], self.headers["DPoP"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    asked: list[tuple] = []
    file = tmp_path / "pool"
    file.write_text("Authorization: DPoP a\tDPoP: b\n")
    pool = pools.Pool(file, path="/x", has_fields=True)
    with http.server.HTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        assert pools.ask(server.server_port, pool, pool.lines(1)[0])[0] == 200
    assert asked == [("/x", "DPoP a", "b")]
