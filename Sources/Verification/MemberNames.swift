internal import IDToken
package import JSON

/// Names of members that several kinds of requests share.
package enum MemberNames {
    package static let idToken: JSONName = "id_token"
    package static let provider: JSONName = "provider"
    static let nonce: JSONName = "nonce"
    package static let audience: JSONName = "audience"
    package static let maxAge: JSONName = "max_age"
    package static let accessToken: JSONName = "access_token"
    package static let code: JSONName = "code"
    package static let user: JSONName = "user"
    package static let includeClaims: JSONName = "include_claims"
    package static let subject: JSONName = "subject"
    package static let issuer: JSONName = "issuer"
    static let authenticatedAfter: JSONName = "authenticated_after"

    static let ofMostRequests = [idToken, nonce, provider]
    static let ofVerifyRequest = [
        idToken, provider, nonce, audience, maxAge, accessToken, code, user, includeClaims, subject, issuer,
        authenticatedAfter,
    ]
}

/// The permitted lengths of these members, in Unicode scalars.
package enum MemberBounds {
    package static var provider: ClosedRange<Int> { 1...255 }
    static var nonce: ClosedRange<Int> { 1...512 }
    package static var audience: ClosedRange<Int> { 1...1024 }
    package static var accessToken: ClosedRange<Int> { 1...16_384 }
    package static var code: ClosedRange<Int> { 1...16_384 }
    static var subject: ClosedRange<Int> { 1...ProviderPolicy.maximumWorkloadLength }
    static var issuer: ClosedRange<Int> { 1...1024 }
}
