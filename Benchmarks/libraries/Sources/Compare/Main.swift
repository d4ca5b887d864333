import CCompare
import Foundation
import IDToken
import JOSE
import JWTKit

/// Prints the CPU time and the allocations of a verification by each library, and of its signature check alone.
///
/// jwt-kit's type for Apple's tokens checks issuer and expiry. Audience and nonce are added, as its users must, so that both do the
/// same work that a sign-in needs; the library does more (`azp`, times, types, the identity).
///
/// The contenders take turns of a few milliseconds, so that other load on the machine disturbs all of them alike. The
/// time is that of the whole process, all threads included.
@main
struct Compare {
    static let rounds = 3
    /// In a round, of each contender.
    static let turns = 100
    /// In a turn.
    static let calls = 100

    static func main() async throws {
        print(
            """
            # Last comparison of the libraries

            Written by `scripts/bench --libraries`; do not edit. CPU time of one verification: the median of \(rounds) rounds,
            in each of which the contenders take \(turns) turns of \(calls) verifications. Allocations: the mean of the last turn.

            """)
        for token in [try Token.rs256(), try Token.es256()] {
            guard let key = compareReadKey(token.pem), let kept = compareContexts(key) else { throw Failure() }
            defer {
                compareFree(kept)
                EVP_PKEY_free(key)
            }
            var all = try await contenders(for: token, key, kept)
            for index in all.indices { _ = try await all[index].run(calls: 500) }
            for round in 0..<rounds {
                for _ in 0..<turns {
                    for index in all.indices { try await all[index].measure(in: round) }
                }
            }
            print(
                """
                ## \(token.name), \(token.text.utf8.count) bytes

                | | µs | lowest – highest | × its signature check | allocations |
                |---|--:|--:|--:|--:|
                """)
            for contender in all { print(contender.row(above: all[contender.floor])) }
            print()
        }
    }

    static func contenders(
        for token: Token, _ key: OpaquePointer, _ kept: OpaquePointer
    ) async throws -> [Contender] {
        let jwks = #"{"keys":[\#(token.jwk)]}"#
        let keys = try JWKSet(Array(jwks.utf8))
        var policy = ProviderPreset.apple.policy(id: "apple", audiences: [Token.audience])
        policy.algorithms = nil
        policy.nonce.accepted = [.plain]
        let verifier = try ProviderVerifier(policy)
        let parameters = VerificationParameters(nonce: Token.nonce)
        let collection = JWTKeyCollection()
        try await collection.add(jwksJSON: jwks)
        return [
            Contender("signature check by OpenSSL, contexts kept", floor: 0) {
                compareVerifyWith(
                    kept, token.signature, token.signature.count, token.signingInput, token.signingInput.count) == 1
            },
            Contender("signature check by OpenSSL, a context for each", floor: 0) {
                compareVerify(
                    key, token.signature, token.signature.count, token.signingInput, token.signingInput.count) == 1
            },
            Contender("**IDToken**", floor: 0) {
                let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))
                return try verifier.verify(token.text, with: keys, expecting: parameters, now: now)
                    .identity.isPrivateEmail == true
            },
            Contender("signature check by swift-crypto", floor: 3) { token.isValidBySwiftCrypto() },
            Contender("jwt-kit", floor: 3) {
                let claims = try await collection.verify(token.text, as: AppleIdentityToken.self)
                try claims.audience.verifyIntendedAudience(includes: Token.audience)
                return claims.nonce == Token.nonce && claims.isPrivateEmail?.value == true
            },
        ]
    }

    struct Failure: Error {}
}

/// One way to verify a token, and its figures.
struct Contender {
    let name: String
    /// The index of its bare signature check.
    let floor: Int
    let isValid: () async throws -> Bool
    /// In microseconds, of each round.
    var times = [Double](repeating: 0, count: Compare.rounds)
    /// Of one verification: the mean of the last turn.
    var allocations = 0.0

    init(_ name: String, floor: Int, isValid: @escaping () async throws -> Bool) {
        self.name = name
        self.floor = floor
        self.isValid = isValid
    }

    /// Returns the CPU time in microseconds.
    func run(calls: Int) async throws -> Double {
        let start = Self.processTime()
        for _ in 0..<calls { guard try await isValid() else { throw Compare.Failure() } }
        return Self.processTime() - start
    }

    /// Takes a turn.
    mutating func measure(in round: Int) async throws {
        let before = compareAllocations()
        times[round] += try await run(calls: Compare.calls) / Double(Compare.calls * Compare.turns)
        allocations = Double(compareAllocations() - before) / Double(Compare.calls)
    }

    var median: Double { times.sorted()[times.count / 2] }

    func row(above bare: Contender) -> String {
        let ratios = zip(times, bare.times).map { $0 / $1 }.sorted()
        let figures = String(
            format: "%.1f | %.1f – %.1f | %.2f | %.0f", median, times.min() ?? 0, times.max() ?? 0,
            ratios[ratios.count / 2], allocations)
        return "| \(name) | \(figures) |"
    }

    private static func processTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}
