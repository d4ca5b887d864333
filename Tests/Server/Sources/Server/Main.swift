import Foundation
import Hummingbird
import IDToken
import RemoteKeys
import SignInMiddleware

/// A server through an outage of its provider: the provider fails, the server restarts, the provider is back.
///
///     usage: Server TOKENS.json JWKS.json
@main
struct Server {
    struct Vectors: Decodable {
        struct Token: Decodable {
            let jwt: String
            let verify_at: Int64
        }

        let issuer: String
        let audience: String
        let tokens: [Token]
    }

    let vectors: Vectors
    let providerPort: Int
    var token: String { vectors.tokens[0].jwt }

    static func main() async throws {
        let arguments = CommandLine.arguments
        let vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: URL(filePath: arguments[1])))
        let provider = Provider(keys: try String(contentsOf: URL(filePath: arguments[2]), encoding: .utf8))
        let directory = FileManager.default.temporaryDirectory.appending(path: "keys-\(getpid())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await serve(provider.router) { providerPort in
            let server = Server(vectors: vectors, providerPort: providerPort)
            try await server.run(keepingKeysIn: directory.path()) { port, _ in
                try await server.expect(200, "with keys from the provider", port)
                try await server.expect(401, "with another signature", port, server.token.dropLast(4) + "AAAA")
                provider.fail()
                try await server.expect(200, "while the provider fails", port)
                while try FileManager.default.contentsOfDirectory(atPath: directory.path()).isEmpty { await pause() }
            }
            try await server.run(keepingKeysIn: directory.path()) { port, _ in
                try await server.expect(200, "after a restart while the provider fails", port)
            }
            try await server.run(keepingKeysIn: nil) { port, keys in
                try await server.expect(503, "after a restart without keys", port)
                provider.recover()
                while keys.state != .ready { await pause() }
                try await server.expect(200, "after the outage", port)
            }
        }
        print("passed")
    }

    /// Runs the server while `body` runs.
    func run(
        keepingKeysIn directory: String?, _ body: @Sendable (_ port: Int, RemoteKeySet) async throws -> Void
    ) async throws {
        var options = RemoteKeySet.Options()
        options.allowsHTTP = true
        options.allowedAddresses = ["127.0.0.1"]
        options.cacheDirectory = directory
        let keys = try RemoteKeySet(
            .jwkSet("http://127.0.0.1:\(providerPort)/keys"), issuer: vectors.issuer, options: options
        ) { print("    \($0)") }
        let policy = ProviderPreset.apple.policy(id: "apple", issuer: vectors.issuer, audiences: [vectors.audience])
        let router = Router(context: SignedInContext.self)
        router.add(
            middleware: SignInMiddleware(
                try ProviderVerifier(policy), keys, now: UnixTime(seconds: vectors.tokens[0].verify_at)))
        router.get("me") { _, context in context.identity?.subject ?? "" }
        try await serve(router, with: keys) { try await body($0, keys) }
    }

    /// Asks the server whose token it is.
    func expect(_ status: Int, _ occasion: String, _ port: Int, _ other: String? = nil) async throws {
        let found = try await get("/me", port, bearer: other ?? token)
        print("\(occasion): \(found)")
        guard found == status else {
            print("expected \(status)")
            exit(1)
        }
    }
}
