import Foundation
import Hummingbird
import IDToken
import RemoteKeys
import SignInMiddleware

/// A server through outages of its provider: it starts in one, gets keys, loses the provider, finds a new key, and starts
/// again in another outage, with the keys on disk and without them.
///
///     usage: Server TOKENS.json JWKS.json
@main
struct Server {
    struct Vectors: Decodable {
        struct Token: Decodable {
            let jwt: String
        }

        let issuer: String
        let audience: String
        /// The first two are ID Tokens, by different keys.
        let tokens: [Token]
    }

    let vectors: Vectors
    let provider: Provider
    let providerPort: Int

    /// Of the keys that sign the first and the second token.
    static let (oldKey, newKey) = ("YuyXoY", "eXaunmL")

    static func main() async throws {
        let arguments = CommandLine.arguments
        let vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: URL(filePath: arguments[1])))
        let provider = try Provider(Data(contentsOf: URL(filePath: arguments[2])))
        let directory = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await serve(provider.router) { port in
            let server = Server(vectors: vectors, provider: provider, providerPort: port)
            try await server.testOutages(keepingKeysIn: directory)
        }
        print("passed")
    }

    func testOutages(keepingKeysIn directory: URL) async throws {
        let (old, new) = (vectors.tokens[0].jwt, vectors.tokens[1].jwt)
        try await run(keepingKeysIn: directory) { me in
            try await expect(503, "started while the provider fails", me(old))
            try provider.publish([Self.oldKey])
            try await expect(200, "keys have arrived") { try await me(old) }
            try await expect(401, "another signature", me(old.dropLast(4) + "AAAA"))
            provider.fail()
            try await expect(200, "the provider fails again", me(old))
            try await expect(503, "a token by a key that nobody can fetch", me(new))
            try provider.publish([Self.oldKey, Self.newKey])
            try await expect(200, "the provider is back, with a new key") { try await me(new) }
            try await expect(200, "the old key", me(old))
            provider.fail()
            while try !hasNewKey(directory) { await pause() }
        }
        try await run(keepingKeysIn: directory) { me in
            try await expect(200, "started again while the provider fails, with keys on disk", me(old))
            try await expect(200, "the new key", me(new))
        }
        try await run(keepingKeysIn: nil) { me in
            try await expect(503, "started again without them", me(old))
        }
    }

    /// Runs the server while `body` sends requests to it.
    func run(
        keepingKeysIn directory: URL?,
        _ body: @Sendable (_ me: @Sendable (_ token: String) async throws -> Int) async throws -> Void
    ) async throws {
        var options = RemoteKeySet.Options()
        options.allowsHTTP = true
        options.allowedAddresses = ["127.0.0.1"]
        options.cacheDirectory = directory?.path()
        let keys = try RemoteKeySet(
            .jwkSet("http://127.0.0.1:\(providerPort)/keys"), issuer: vectors.issuer, options: options
        ) { print("    \($0)") }
        var policy = ProviderPreset.apple.policy(id: "apple", issuer: vectors.issuer, audiences: [vectors.audience])
        // The tokens are real ones, and have expired.
        policy.clockSkewSeconds = 100 * 365 * 86400
        let router = Router(context: SignedInContext.self)
        router.add(middleware: SignInMiddleware(try ProviderVerifier(policy), keys))
        router.get("me") { _, context in context.identity?.subject ?? "" }
        try await serve(router, with: keys) { port in
            try await body { token in try await status(of: "/me", at: port, bearer: token) }
        }
    }

    private func hasNewKey(_ directory: URL) throws -> Bool {
        try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .contains { try String(contentsOf: $0, encoding: .utf8).contains(Self.newKey) }
    }
}

/// Ends the program if a status is another one.
func expect(_ expected: Int, _ occasion: String, _ found: Int) throws {
    print("\(occasion): \(found)")
    guard found == expected else { throw Unexpected(expected: expected, found: found, occasion: occasion) }
}

/// The same, but while the provider's keys are on their way, the status may still be 503.
func expect(_ expected: Int, _ occasion: String, _ found: () async throws -> Int) async throws {
    var status = try await found()
    while status == 503 {
        await pause()
        status = try await found()
    }
    try expect(expected, occasion, status)
}

struct Unexpected: Error {
    let expected: Int
    let found: Int
    let occasion: String
}
