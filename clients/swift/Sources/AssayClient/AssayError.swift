import Foundation

/// A call that failed. Its description is for the log: it has no token, no handle and no nonce.
///
/// If it is neither `isRefused` nor `isUnavailable`, the caller, the settings or the provider is at fault: raise an alert.
public struct AssayError: Error, Sendable, CustomStringConvertible, CustomReflectable {
    /// The HTTP status; 0 if there was no answer.
    public let status: Int
    /// Whether the sign-in, code, token, nonce or proof is, or may be, used up. Never send it again.
    public let spent: Bool
    /// Seconds before the same request may succeed.
    public let retryAfter: Int?
    /// The whole problem, for members that this version does not know.
    public let members: [String: JSONValue]

    init(status: Int, spent: Bool, retryAfter: Int? = nil, members: [String: JSONValue] = [:]) {
        self.status = status
        self.spent = spent
        self.retryAfter = retryAfter
        self.members = members
    }

    /// One of `Code`; `nil` if there was no answer, or if it was not Assay's.
    public var code: String? { members["code"]?.string }
    /// For people; it may change.
    public var detail: String? { members["detail"]?.string }
    /// The same as in Assay's log.
    public var requestID: String? { members["request_id"]?.string }
    /// The claim that is missing or invalid.
    public var claim: String? { members["claim"]?.string }
    /// The provider's error code.
    public var providerError: String? { members["provider_error"]?.string }
    /// The begin call's, if the user or the provider ended the sign-in. Don't log it.
    public var context: String? { members["context"]?.string }
    /// How to answer the client that sent an access token; only for a call with `resource`.
    public var challenge: Challenge? {
        guard let challenge = members["challenge"], let text = try? JSONEncoder().encode(challenge) else { return nil }
        return try? JSONDecoder().decode(Challenge.self, from: text)
    }
    /// What the next proof of this client must have, as `DPoP-Nonce` of your response.
    public var dpopNonce: String? { members["dpop_nonce"]?.string }

    /// Sign nobody in: the same request will be refused again. Show users one message for all codes.
    ///
    /// A refusal without a code is not Assay's.
    public var isRefused: Bool { status == 422 && code != nil }

    /// Nobody can decide now. Unless `spent`, the same request may succeed later.
    public var isUnavailable: Bool { status == 0 || status == 503 }

    /// Whether the same request may be sent again, after `retryAfter` seconds. The client did so, for as long as it may.
    public var mayRetry: Bool { !spent && isUnavailable }

    public var description: String {
        if status == 0 {
            return "Assay did not answer" + (spent ? ", but may have got the request" : "")
                + (detail.map { ": \($0)" } ?? "")
        }
        guard let code else { return "The answer with status \(status) is not one of Assay's" }
        return "Assay answered \(status) \(code): \(detail ?? "") (request \(requestID ?? ""))"
    }

    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
