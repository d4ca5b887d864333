package import HTTP
package import IDToken
package import JOSE

/// The result of verifying a token.
package enum Verdict<Answer> {
    /// - Parameter provider: the provider's number.
    case verified(Answer, provider: Int)
    case refused(Problem, provider: Int?)

    /// The answer to a verified token.
    package var answer: Answer? { if case .verified(let answer, _) = self { answer } else { nil } }

    /// Why it was rejected; `nil` if it was not.
    package var problem: Problem? { if case .refused(let problem, _) = self { problem } else { nil } }

    /// The number of the provider; `nil` if there is none.
    package var provider: Int? {
        switch self {
        case .verified(_, let provider): provider
        case .refused(_, let provider): provider
        }
    }

    /// The same verdict, unless another check has found a problem.
    package func unless(_ problem: Problem?) -> Verdict { problem.map { .refused($0, provider: provider) } ?? self }

    /// The problem's code, or `ok`.
    package var code: String { problem?.code ?? "ok" }
}

extension Verdict: Sendable where Answer: Sendable {}

/// The answer to a verified token.
package protocol TokenAnswer: Sendable {
    /// Writes the answer as a JSON object that always has every member.
    func write(to json: inout JSONWriter)
}

/// The parts of a verified token that responses contain, whatever its kind.
protocol VerifiedToken {
    /// `aud`.
    var audiences: [String] { get }
    /// `azp`.
    var authorizedParty: String? { get }
    /// `iat`; `nil` if the token has none.
    var issuedAtSeconds: Int64? { get }
    /// `exp`; `nil` if the token has none.
    var expiresAtSeconds: Int64? { get }
    /// `nbf`.
    var notBefore: UnixTime? { get }
    /// `auth_time`.
    var authTime: UnixTime? { get }
    /// `jti`.
    var tokenID: String? { get }
    /// `sid`.
    var sessionID: String? { get }
    /// `acr`.
    var authenticationContextClass: String? { get }
    /// `amr`.
    var authenticationMethods: [String] { get }
    /// The signature algorithm; `nil` for an opaque token.
    var algorithmName: String? { get }
    /// The header's `kid`.
    var keyID: String? { get }
    /// How the nonce matched; `nil` if no nonce was expected.
    var nonceMatch: NonceMatch? { get }
}

// Declared here, and not beside the types, so that `write(to:)` reads their members directly: calls to witnesses in
// other modules cost 400 instructions per response.
extension VerifiedIDToken: VerifiedToken {
    @inline(__always)
    var issuedAtSeconds: Int64? { issuedAt.seconds }
    @inline(__always)
    var expiresAtSeconds: Int64? { expiresAt.seconds }
    @inline(__always)
    var algorithmName: String? { algorithm.rawValue }
}

extension VerifiedAccessToken: VerifiedToken {
    var issuedAtSeconds: Int64? { issuedAt?.seconds }
    var expiresAtSeconds: Int64? { expiresAt.seconds }
    var algorithmName: String? { algorithm.rawValue }
}

extension IntrospectedToken: VerifiedToken {
    var issuedAtSeconds: Int64? { issuedAt?.seconds }
    var expiresAtSeconds: Int64? { expiresAt?.seconds }
    var algorithmName: String? { nil }
    var keyID: String? { nil }
    var nonceMatch: NonceMatch? { nil }
}

/// The time of a verification, on both clocks.
package struct VerificationTime {
    /// For comparison with the age of keys.
    package let monotonic: MonotonicTime
    /// For comparison with the token's times.
    package let wall: UnixTime

    package static func now() -> VerificationTime {
        VerificationTime(
            monotonic: SystemClocks.monotonic(), wall: UnixTime(seconds: SystemClocks.unixSeconds()))
    }
}
