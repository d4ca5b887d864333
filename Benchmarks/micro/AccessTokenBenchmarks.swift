import HTTP
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
    Benchmark("access-token-certificate") {
        let endpoints = try Endpoints()
        let thumbprint = JSONTree.string(String(repeating: "A", count: 43))
        let token = try endpoints.accessToken(boundTo: ["x5t#S256": thumbprint])
        let request = try Request(path, ["token": .string(token), "certificate": thumbprint])
        return { try endpoints.response(to: request).status == .ok }
    },
]

private let (path, url) = ("/v1/access-tokens/verify", "https://api.example/orders/17")

extension Request {
    fileprivate init(_ path: String, _ members: [String: JSONTree]) throws { try self.init("POST", path, members) }
}
