import Bytes
import HTTP
import IDToken
import JOSE
import NIOHTTP1
import OpenSSL

/// `POST /v1/access-tokens/verify` for tokens that need more than their signature: from a request's head and body to its
/// response, like ``endpointBenchmarks``.
let accessTokenBenchmarks = [
    Benchmark("access-token") {
        let endpoints = try Endpoints()
        let request = try Request(path, ["token": .string(try endpoints.accessToken())])
        return { try endpoints.response(to: request).status == .ok }
    },
    Benchmark("access-token-dpop") {
        let endpoints = try Endpoints(takesProofs: true)
        let signer = try ProofSigner(try SigningKey(generating: .ellipticCurve(.p256)))
        let token = try endpoints.accessToken(boundTo: ["jkt": .string(signer.thumbprint)])
        // Each proof passes once.
        var prepared: [Request] = []
        func prepare() throws {
            for _ in 0..<64 {
                let proof = try signer.proof(
                    method: "GET", url: url, accessToken: token, nonce: nil, now: SystemClocks.unixSeconds())
                let dpop: [String: JSONTree] = [
                    "proof": .string(proof), "method": .string("GET"), "url": .string(url), "scheme": .string("DPoP"),
                ]
                prepared.append(try Request(path, ["token": .string(token), "dpop": .object(dpop)]))
            }
        }
        try prepare()
        return {
            if prepared.isEmpty { try prepare() }
            return try endpoints.response(to: prepared.removeLast()).status == .ok
        }
    },
    Benchmark("access-token-certificate") { try verification(showing: thumbprint()) },
    Benchmark("access-token-certificate-pem") { try verification(showing: percentEncoded(certificate)) },
    Benchmark("access-token-certificate-der") {
        try verification(showing: certificate.split(separator: "\n").dropFirst().dropLast().joined())
    },
    Benchmark("introspection-known") {
        let token = "9f2c7d51b0e84a36a1c5d8e7f4b39260"
        let endpoints = try Endpoints(knowing: [
            token: .object([
                "active": .bool(true), "aud": .string("https://api.example"), "client_id": .string("client"),
                "scope": .string("read write"), "sub": .string("user-1"), "exp": .integer(4_102_444_800),
            ])
        ])
        let request = try Request(path, ["token": .string(token), "provider": .string("legacy")])
        return { try endpoints.response(to: request).status == .ok }
    },
]

private let (path, url) = ("/v1/access-tokens/verify", "https://api.example/orders/17")

extension Request {
    fileprivate init(_ path: String, _ members: [String: JSONTree]) throws { try self.init("POST", path, members) }
}

/// - Parameter shown: the certificate that the token is bound to, in one of its forms.
private func verification(showing shown: String) throws -> Benchmark.Iteration {
    let endpoints = try Endpoints()
    let token = try endpoints.accessToken(boundTo: ["x5t#S256": .string(thumbprint())])
    let request = try Request(path, ["token": .string(token), "certificate": .string(shown)])
    return { try endpoints.response(to: request).status == .ok }
}

private func thumbprint() throws -> String {
    guard let thumbprint = CertificateThumbprint(certificate) else { throw Mistake("no certificate") }
    return thumbprint.text
}

/// Of a client with a key on P-256, signed by itself.
private let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBnjCCAUOgAwIBAgIUQS6SLDBD5j0BZX/esiuUeqaZWWswCgYIKoZIzj0EAwIw
    IzEQMA4GA1UECgwHRXhhbXBsZTEPMA0GA1UEAwwGY2xpZW50MCAXDTI2MTEyODE5
    MjY0OVoYDzIxMjYxMTA0MTkyNjQ5WjAjMRAwDgYDVQQKDAdFeGFtcGxlMQ8wDQYD
    VQQDDAZjbGllbnQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARJPwghxNjYRzX0
    URSRqVMJowbi3Hqs6XDcK65dkv6ZOrSicRM9F46cpBn1kEPuQ0kz2PFg7b3/eBq3
    ovy/D4DPo1MwUTAdBgNVHQ4EFgQUZ7cndmGGxL/6x+Fn0C7Whk5HRaEwHwYDVR0j
    BBgwFoAUZ7cndmGGxL/6x+Fn0C7Whk5HRaEwDwYDVR0TAQH/BAUwAwEB/zAKBggq
    hkjOPQQDAgNJADBGAiEA6JpZd0TinTwU3aAvZd2Ni+XXWAgKrBLKNr4W4WH/bBAC
    IQCc+FUxpUxTjcr5FVWF4CCx+ilUzfBT+QGpHyqFb2SuHQ==
    -----END CERTIFICATE-----
    """
