private import Bytes
internal import IDToken
package import JOSE
private import OAuth

/// The human-readable texts of problems.
extension Problem {
    /// A few words, the same for every occurrence.
    package var title: String {
        switch self {
        case .requestInvalid: "Invalid request"
        case .notFound, .featureOff, .policyUnknown, .notFoundByAdmin, .consoleOff: "Not found"
        case .methodNotAllowed: "Method not allowed"
        case .requestTimeout: "Request timed out"
        case .requestTooLarge: "Request too large"
        case .headersTooLarge: "Header fields too large"
        case .contentTypeUnsupported: "Unsupported content type"
        case .callerUnauthenticated: "Caller not authenticated"
        case .providerUnknown, .providerOfAccessTokens, .providerOfIDTokens: "Unknown provider"
        case .audienceNotConfigured: "Audience not configured"
        case .clientNotConfigured: "Client not configured"
        case .redirectURINotConfigured: "Redirect URI not configured"
        case .signInNotSupported: "Sign-in not supported"
        case .revocationNotSupported: "Revocation not supported"
        case .notificationsNotConfigured: "Notifications not configured"
        case .signInInvalid: "Invalid sign-in"
        case .signInExpired: "Sign-in expired"
        case .signInReplayed: "Sign-in already finished"
        case .nonceReplayed: "Nonce replayed"
        case .stateMismatch: "State mismatch"
        case .redirectURIMismatch: "Redirect URI mismatch"
        case .responseIssuerMismatch: "Response issuer mismatch"
        case .signInDenied: "Sign-in denied"
        case .storeUnavailable: "Store unavailable"
        case .rejected(let rejection, _): rejection.title
        case .audienceNotExpected: Rejection.audienceNotExpected.title
        case .grantInvalid: "Grant invalid"
        case .clientRejected: "Client rejected"
        case .signInRefused, .providerRefused: "Refused by the provider"
        case .providerAnswerInvalid: "Invalid provider response"
        case .providerUnavailable: "Provider unavailable"
        case .keysUnavailable: "Keys unavailable"
        case .overloaded: "Overloaded"
        case .shuttingDown: "Shutting down"
        }
    }

    /// Human-readable: what was found or expected, and what to do.
    package var detail: String {
        switch self {
        case .requestInvalid(let text): text
        case .notFound:
            "The service listener has no such path; /openapi.yaml lists the paths of both listeners."
        case .featureOff(let feature): feature.absence
        case .policyUnknown:
            "No policy of forward_auth has the id in the path, byte for byte; correct the gateway's path, or add the policy."
        case .notFoundByAdmin:
            "The admin listener has no such path; it has /livez, /readyz, /metrics, /v1/providers, "
                + "/v1/providers/{id}/refresh, /v1/explain, /v1/events and /v1/verdicts; tokens are verified on the service listener."
        case .consoleOff: "The console is off on this listener; set admin.console to true to turn it on."
        case .methodNotAllowed: "This path does not support this method; use one of those in the Allow header."
        case .requestTimeout:
            "The whole request did not arrive within limits.request_timeout; send it without pauses, or raise the limit."
        case .requestTooLarge:
            "The body exceeds limits.max_body (or limits.max_batch_body); send less, or raise the limit."
        case .headersTooLarge: "The header fields exceed limits.max_header; send fewer or shorter ones."
        case .contentTypeUnsupported:
            "The Content-Type is not application/json, or the body is compressed; send uncompressed JSON."
        case .callerUnauthenticated:
            "The API key is missing or wrong; send a valid key as Authorization: Bearer <key>."
        case .providerUnknown(nil):
            "No configured provider has this id or this issuer; correct the request, or add the provider to the settings."
        case .providerUnknown(let nearest?):
            "No configured provider has this id, and the nearest is \(nearest); correct the request, or add the provider to the settings."
        case .providerOfAccessTokens:
            "The provider with this id or issuer verifies access tokens, not ID Tokens; send access tokens to /v1/access-tokens/verify, or add a provider without tokens: access."
        case .providerOfIDTokens:
            "The provider with this id or issuer verifies ID Tokens, not access tokens; send ID Tokens to /v1/verify, or add a provider with tokens: access."
        case .audienceNotConfigured:
            "The request's audience is not one of the provider's audiences; correct the request, or add the audience to the provider."
        case .clientNotConfigured:
            "This audience has no client in the settings, but codes, redirect URIs and refresh tokens need one; add one to the provider's clients."
        case .redirectURINotConfigured:
            "The client does not list this redirect_uri, byte for byte; correct it, or add it to the client's redirect_uris."
        case .revocationNotSupported:
            "The provider has no revocation endpoint; delete the tokens, and let them expire."
        case .signInNotSupported:
            "A sign-in of this kind can't begin with this provider: nothing would tie the token to it, the provider issues no tokens for such sign-ins, or it has no audiences; call /v1/verify instead."
        case .notificationsNotConfigured:
            "This provider accepts no notifications; list the kinds that it sends under its setting notifications."
        case .signInInvalid:
            "sign_in was not made by this installation, was changed, or names a provider, audience or redirect URI that was removed; begin a new sign-in."
        case .signInExpired: "The sign-in took longer than its expires_in; begin a new one."
        case .signInReplayed: "The sign-in was finished before, and can be finished only once; begin a new one."
        case .stateMismatch:
            "The response's state is not this sign-in's, so it belongs to another browser or tab; begin a new sign-in."
        case .redirectURIMismatch:
            "The response arrived at an address other than the redirect_uri that this sign-in began with; begin a new sign-in."
        case .responseIssuerMismatch(.missing):
            "The response has this sign-in's state, but no iss, which the provider's discovery document promises; send all parameters that the redirect URI received, not code and state alone, and if iss is not among them, report it to the provider."
        case .responseIssuerMismatch(.notTheProviders):
            "The response's iss is not this provider's issuer, so another provider may have sent it; begin a new sign-in."
        case .responseIssuerMismatch(.notTheTokens):
            "The response's iss is not the issuer of the ID Token that its code was exchanged for; begin a new sign-in."
        case .signInDenied: "The user cancelled the sign-in; offer to begin a new one."
        case .nonceReplayed:
            "A token with this nonce was verified before, and a nonce can be used only once; begin a new sign-in."
        case .storeUnavailable(isSpent: false):
            "The sign-in store is full, can't be reached, is refused (/readyz says which of these), or rejects the record (then check its ACL, replicas and disk); nothing was used up; try again."
        case .storeUnavailable(isSpent: true):
            "The sign-in store did not confirm in time, so the sign-in or nonce may be used up; begin a new sign-in."
        case .rejected(let rejection, let kind): rejection.detail(of: kind)
        case .audienceNotExpected(let expected):
            "The sign-in or request is for the audience \(expected.quotedASCII(maximumLength: 255)), but the token is for another of the provider's audiences; set audience to the token's own (for a sign-in, when it begins)."
        case .grantInvalid:
            "The provider says that the code or token has expired, was used or revoked, or belongs to another client; have the user sign in again."
        case .clientRejected:
            "The provider refuses the client's credentials, or its redirect URI; correct the client in the settings."
        case .signInRefused, .providerRefused:
            "The provider refused the request; see provider_error, and correct the request or the client's settings at the provider."
        case .providerAnswerInvalid(let fault):
            "The provider's response does not conform to the protocol: \(fault.text); check the provider's endpoints in the settings, and try again later unless spent is true."
        case .providerUnavailable(_, nil):
            "The provider can't be reached, or can't respond now; try again, unless spent is true."
        case .providerUnavailable(_, let limit?):
            "This instance has reached \(limit): too many calls to the provider are in flight; try again."
        case .keysUnavailable:
            "The provider's keys can't be fetched now, so the token can't be verified; try again later."
        case .overloaded(let limit):
            "This instance has reached \(limit); try again later."
        case .shuttingDown: "This instance is stopping; send the request to another one, or again after the restart."
        }
    }
}

extension Problem {
    /// Writes the problem as a JSON object.
    ///
    /// - Parameter spent: whether this call used something up, or may have; `nil` for calls that never do.
    package func write(to json: inout JSONWriter, requestID: String, spent: Bool? = nil) {
        json.beginObject()
        json.member("type", "urn:assay:problem:" + code)
        json.member("title", title)
        json.member("status", Int64(status))
        json.member("detail", detail)
        json.member("code", code)
        if let claim {
            json.member("claim", claim)
        }
        if let providerError {
            json.member("provider_error", providerError.rawValue)
        }
        if let context {
            json.member("context", context)
        }
        if let spent {
            json.member("spent", spent)
        }
        json.member("request_id", requestID)
        json.endObject()
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
