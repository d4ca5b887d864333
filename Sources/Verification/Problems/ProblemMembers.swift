private import Bytes
internal import IDToken
package import JOSE
package import OAuth

extension Problem {
    /// - Parameter audience: the one that the token was expected to be for, which is configured.
    package func naming(_ audience: String?) -> Problem {
        guard case .rejected(.audienceNotExpected, _) = self, let audience else { return self }
        return .audienceNotExpected(audience)
    }

    /// The problem for a failed call to a provider's endpoint.
    package init(_ failure: CallFailure) {
        self =
            switch failure {
            case .notSent(.credential): .rejected(.cryptographyUnavailable)
            case .notSent: .providerUnavailable(retryAfterSeconds: Self.usualRetryAfter)
            case .unavailable(_, let seconds): .providerUnavailable(retryAfterSeconds: seconds ?? Self.usualRetryAfter)
            case .grantInvalid(let name, _): .grantInvalid(name)
            case .clientRejected(let name): .clientRejected(name)
            case .refused(let name): .providerRefused(name)
            case .answerInvalid(let fault): .providerAnswerInvalid(fault)
            }
    }

    /// An endpoint is not known yet, because the discovery document has not been read.
    package static let endpointUnknown = Problem.providerUnavailable(retryAfterSeconds: usualRetryAfter)
    /// All of a provider's `max_calls` are in flight.
    package static let callsFull = Problem.providerUnavailable(retryAfterSeconds: 1, limit: "max_calls")

    private static let usualRetryAfter: Int64 = 2
}

extension Problem {
    /// Writes the problem as a JSON object.
    ///
    /// - Parameters:
    ///   - spent: whether this call used something up, or may have; `nil` for calls that never do.
    ///   - challenge: how to answer the API's client; `nil` unless the request named a resource.
    ///   - proofNonce: what the client's next DPoP proof must repeat; `nil`: proofs need no nonce.
    package func write(
        to json: inout JSONWriter, requestID: String, spent: Bool? = nil, challenge: Challenge? = nil,
        proofNonce: String? = nil
    ) {
        json.beginObject()
        json.member("type", "urn:assay:problem:" + code)
        json.member("title", title)
        json.member("status", Int64(status))
        json.member("detail", detail)
        json.member("code", code)
        if let claim { json.member("claim", claim) }
        if let providerError { json.member("provider_error", providerError.rawValue) }
        if let context { json.member("context", context) }
        if let spent { json.member("spent", spent) }
        if let challenge {
            json.name("challenge")
            challenge.write(to: &json)
        }
        if let proofNonce { json.member("dpop_nonce", proofNonce) }
        json.member("request_id", requestID)
        json.endObject()
    }

    /// The setting whose limit was reached, if any.
    package var limit: String? {
        switch self {
        case .overloaded(let limit): limit
        case .providerUnavailable(_, let limit): limit
        default: nil
        }
    }

    /// The claim that caused the rejection. The name is known from the code or the settings.
    var claim: String? {
        if case .rejected(let rejection, _) = self { rejection.claim?.string } else { nil }
    }

    /// The registered name of the provider's error, if that is the reason.
    private var providerError: OAuthErrorName? {
        switch self {
        case .grantInvalid(let name), .clientRejected(let name), .providerRefused(let name),
            .signInRefused(let name, _):
            name
        default: nil
        }
    }

    /// The sign-in's context, if the provider ended the sign-in in the browser. Not to be logged.
    private var context: String?? {
        switch self {
        case .signInDenied(let context), .signInRefused(_, let context): .some(context)
        default: nil
        }
    }
}

/// Generates request IDs. Confined to one event loop.
package struct RequestIDs {
    /// IDs need to be unique, not unpredictable.
    private var numbers = SplitMix64(seed: .random(in: .min ... .max))

    package init() {}

    /// A new ID of 32 hexadecimal digits.
    package mutating func makeID() -> String { String(hexadecimal: numbers.next(), numbers.next()) }
}
