import HTTP
import IDToken
import JOSE
import Keys
import NIOCore
import NIOEmbedded
import NIOHTTP1
import OpenSSL
import Replay
import Service
import SignIns
import Verification

/// From a request's head and body to its response, at the endpoints that do more than one verification: everything but
/// the socket.
let endpointBenchmarks = [
    Benchmark("begin") {
        let endpoints = try Endpoints()
        let request = try Request("POST", "/v1/sign-ins", ["provider": .string("p")])
        return { try endpoints.response(to: request).status.code == 201 }
    },
    Benchmark("finish-memory") {
        let endpoints = try Endpoints()
        // Each sign-in is finished once.
        var prepared: [Request] = []
        func prepare() throws {
            for _ in 0..<64 {
                let answer = try endpoints.object(
                    in: endpoints.response(to: Request("POST", "/v1/sign-ins", ["provider": .string("p")])))
                guard let handle = answer["sign_in"], let nonce = answer["nonce"] else { throw Mistake("no sign-in") }
                let body = ["sign_in": handle, "id_token": .string(try endpoints.idToken(nonce: nonce))]
                prepared.append(try Request("POST", "/v1/sign-ins/finish", body))
            }
        }
        try prepare()
        return {
            if prepared.isEmpty { try prepare() }
            return try endpoints.response(to: prepared.removeLast()).status == .ok
        }
    },
    Benchmark("verify-waiting") {
        let endpoints = try Endpoints()
        // The token names an unknown key, so the request waits; the stopped key store answers that it has no other.
        let body = ["provider": JSONTree.string("p"), "id_token": .string(try endpoints.idToken(keyID: "unknown"))]
        let request = try Request("POST", "/v1/verify", body)
        return { try endpoints.response(to: request).status == .serviceUnavailable }
    },
    Benchmark("batch-8") {
        let endpoints = try Endpoints()
        let item: JSONTree = .object(["provider": .string("p"), "id_token": .string(try endpoints.idToken())])
        let request = try Request(
            "POST", "/v1/verify/batch", ["items": .array(Array(repeating: item, count: 8))])
        return { try endpoints.response(to: request).body.count > 8 * shortestAnswer }
    },
    Benchmark("access-token") {
        let endpoints = try Endpoints()
        let request = try Request(
            "POST", "/v1/access-tokens/verify", ["token": .string(try endpoints.accessToken())])
        return { try endpoints.response(to: request).status == .ok }
    },
    Benchmark("notification") {
        let endpoints = try Endpoints()
        let request = try Request(
            "POST", "/v1/notifications/verify", ["token": .string(try endpoints.logoutToken())])
        return { try endpoints.response(to: request).status == .ok }
    },
]
